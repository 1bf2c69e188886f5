"""The several things an expression may stand for: the items of a list, the values of a dict, the turns of a loop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from idemlint.link.modules import Module
from idemlint.link.names import Definition, Found, Names
from idemlint.program import ModuleType
from idemlint.syntax import facts as f

# Lists of functions are short; what is longer is data.
_MOST = 200


@dataclass(frozen=True, slots=True)
class Place:
    """Where expressions stand: a statement at the top of a module, and the function in it, if any."""

    module: Module
    piece: int
    body: f.Body = ()
    names: Names | None = None


@dataclass(frozen=True, slots=True)
class Alternative:
    """One thing that an expression may stand for, and where it is written."""

    expr: f.Expr
    place: Place


def items(expr: f.Expr, place: Place, depth: int = 0) -> Iterator[Alternative]:
    """The items of a list as it is written: through names, `*spread`, `+`, `list()`, and a comprehension over one."""
    if depth > 8:
        return
    match expr:
        case f.Display(items=found):
            for item in found[:_MOST]:
                if isinstance(item, f.Starred):
                    yield from items(item.value, place, depth + 1)
                else:
                    yield Alternative(item, place)
        case f.Mapping(items=pairs):
            yield from (Alternative(value, place) for key, value in pairs[:_MOST] if key is not None)
        case f.Operation(operator="+", left=left, right=right):
            yield from items(left, place, depth + 1)
            yield from items(right, place, depth + 1)
        case f.Call(function=f.Name(id="list" | "tuple" | "set" | "sorted"), arguments=(f.Argument(value=inner), *_)):
            yield from items(inner, place, depth + 1)
        case f.Call(function=f.Attribute(base=base, name="values" | "items"), arguments=()):
            yield from items(base, place, depth + 1)
        case f.Comprehension(generators=(only,)):
            yield from items(only.iterable, place, depth + 1)
        case f.Name() | f.Attribute():
            found_there = _assigned(expr, place)
            if found_there is not None:
                yield from items(found_there.expr, found_there.place, depth + 1)


def mapping_in(expr: f.Expr) -> f.Mapping | None:
    """The dict that an expression is, or that a class is made of: `type("WorkerSettings", (), {...})`."""
    match expr:
        case f.Mapping():
            return expr
        case f.Call(function=f.Name(id="type"), arguments=(_, _, f.Argument(value=f.Mapping() as members))):
            return members
    return None


def alternatives(expr: f.Expr, place: Place, depth: int = 0) -> Iterator[Alternative]:
    """The expressions that `expr` may stand for, where it is a choice, a member of a dict, the target of a loop, or an
    attribute of one of these."""
    if depth > 8:
        return
    match expr:
        case f.Conditional(body=body, orelse=orelse):
            yield from (Alternative(body, place), Alternative(orelse, place))
        case f.Name(id=name):
            yield from _turns(name, place)
            for found in _named(expr, place):
                yield from alternatives(found.expr, found.place, depth + 1)
        case f.Attribute(base=base, name=name):
            for found in alternatives(base, place, depth + 1):
                yield from _attribute(found, name)
        case f.Subscript(base=base, index=f.Constant(value=str(key))):
            yield from _members(base, key, place)
        case f.Subscript(base=base):
            yield from _values(base, place)
        case f.Call(
            function=f.Attribute(base=base, name="get"), arguments=(f.Argument(value=f.Constant(value=str(key))), *_)
        ):
            yield from _members(base, key, place)
        case f.Call(function=f.Attribute(base=base, name="get")):
            yield from _values(base, place)


def _members(base: f.Expr, key: str, place: Place) -> Iterator[Alternative]:
    """What `base[key]` may be: of a dict, or of each dict that a loop goes over."""
    for found in (Alternative(base, place), *alternatives(base, place), *_named(base, place)):
        if isinstance(found.expr, f.Mapping):
            pairs = found.expr.items
            yield from (Alternative(value, found.place) for name, value in pairs if _is(name, key))
        elif isinstance(found.expr, f.Call):
            yield from _made(found.expr, key, found.place)


def _made(call: f.Call, key: str, place: Place) -> Iterator[Alternative]:
    """The same where the dict, or a record, is made by a call: `dict(run=f)`, `Job(run=f)`, `Job({"run": f})`."""
    for word in call.arguments:
        if word.name == key:
            yield Alternative(word.value, place)
        elif word.name is None and isinstance(word.value, f.Mapping):
            yield from _members(word.value, key, place)


def _attribute(of: Alternative, name: str) -> Iterator[Alternative]:
    """`of.name`: what a record was made with, or the attribute of whatever it is."""
    given = list(_made(of.expr, name, of.place)) if isinstance(of.expr, f.Call) else []
    yield from given or [Alternative(f.Attribute(of.expr.at, of.expr, name), of.place)]


def _values(base: f.Expr, place: Place) -> Iterator[Alternative]:
    for found in (Alternative(base, place), *_named(base, place)):
        if isinstance(found.expr, f.Mapping):
            yield from (Alternative(value, found.place) for key, value in found.expr.items if key is not None)
        elif isinstance(found.expr, f.Comprehension) and len(found.expr.generators) == 1:
            only = found.expr.generators[0]
            for item in items(only.iterable, found.place):
                yield from _each(found.expr.element, only.target, item)


def _each(element: f.Expr, target: f.Expr, item: Alternative) -> Iterator[Alternative]:
    """What the element of a comprehension is for one item: the item, a member or an attribute of it."""
    match element:
        case f.Name() if _is_same(element, target):
            yield item
        case f.Subscript(base=base, index=f.Constant(value=str(key))) if _is_same(base, target):
            yield from _members(item.expr, key, item.place)
        case f.Attribute(base=base, name=name) if _is_same(base, target):
            yield from _attribute(item, name)


def _is_same(one: f.Expr, other: f.Expr) -> bool:
    return isinstance(one, f.Name) and isinstance(other, f.Name) and one.id == other.id


def _turns(name: str, place: Place) -> Iterator[Alternative]:
    """What a loop's target stands for in each turn."""
    for target, iterable in _loops(place.body):
        position = _position(target, name)
        if position is None:
            continue
        for item in items(iterable, place):
            if position < 0:
                yield item
            elif isinstance(item.expr, f.Display) and position < len(item.expr.items):
                yield replace(item, expr=item.expr.items[position])
            elif position == 1 and not isinstance(item.expr, f.Display):
                # `for name, function in TABLE.items()`
                yield item


def _loops(body: f.Body) -> Iterator[tuple[f.Expr, f.Expr]]:
    for statement in body:
        match statement:
            case f.For(target=target, iterable=iterable, body=inner, orelse=orelse):
                yield target, iterable
                yield from _loops((*inner, *orelse))
            case f.If(body=inner, orelse=orelse) | f.While(body=inner, orelse=orelse):
                yield from _loops((*inner, *orelse))
            case f.With(body=inner) | f.Function(body=inner):
                yield from _loops(inner)
            case f.Try(body=inner, handlers=handlers, orelse=orelse, final=final):
                yield from _loops((*inner, *orelse, *final))
                for handler in handlers:
                    yield from _loops(handler.body)


def _position(target: f.Expr, name: str) -> int | None:
    """Which part of a loop's target a name is: -1 for all of it, None for no part."""
    if isinstance(target, f.Name):
        return -1 if target.id == name else None
    if isinstance(target, f.Display):
        found = [index for index, item in enumerate(target.items) if isinstance(item, f.Name) and item.id == name]
        return found[0] if found else None
    return None


def _named(expr: f.Expr, place: Place) -> Iterator[Alternative]:
    found = _assigned(expr, place)
    if found is not None:
        yield found


def _assigned(expr: f.Expr, place: Place) -> Alternative | None:
    """What a module-level name is assigned, or a name of the function around."""
    if place.names is None:
        return None
    if isinstance(expr, f.Name):
        local = next((value for name, value in _assignments(place.body) if name == expr.id), None)
        if local is not None:
            return Alternative(local, place)
        found: Found | None = place.names.find(place.module, expr.id)
    elif isinstance(expr, f.Attribute) and isinstance(expr.base, f.Name):
        module = place.names.find(place.module, expr.base.id)
        found = None
        if isinstance(module, ModuleType):
            found = place.names.attribute(module, expr.name, place.module.file.path)
    else:
        return None
    fact = found.binding.fact if isinstance(found, Definition) else None
    if not isinstance(found, Definition) or not isinstance(fact, f.Assign) or fact.value is None:
        return None
    return Alternative(fact.value, replace(place, module=found.module, piece=found.binding.piece, body=()))


def _assignments(body: f.Body) -> Iterator[tuple[str, f.Expr]]:
    for statement in body:
        if isinstance(statement, f.Assign) and statement.value is not None:
            yield from ((target.id, statement.value) for target in statement.targets if isinstance(target, f.Name))


def _is(key: f.Expr | None, word: str) -> bool:
    return isinstance(key, f.Constant) and key.value == word
