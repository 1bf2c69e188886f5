"""Calls with the dicts that are spread into them written out, as far as these can be read."""

from __future__ import annotations

from collections.abc import Iterator

from idemlint.link.history import changes, flatten
from idemlint.link.reading import Reading
from idemlint.link.values import Known
from idemlint.link.within import names_in
from idemlint.syntax import facts as f


def written_out(walk: Reading, call: f.Call) -> f.Call:
    """The call with `**{"countdown": 5}`, `**OPTIONS` and `**dict(OPTIONS, countdown=5)` as keywords: of one name the
    last one counts. A dict that cannot be read stays where it is."""
    if not any(argument.star == "**" for argument in call.arguments):
        return call
    plain: list[f.Argument] = []
    named: dict[str, f.Argument] = {}
    for argument in call.arguments:
        for each in _members(walk, argument.value) if argument.star == "**" else [argument]:
            if each.name is None:
                plain.append(each)
            else:
                named[each.name] = each
    return f.Call(call.at, call.function, (*plain, *named.values()))


def _members(walk: Reading, expr: f.Expr) -> Iterator[f.Argument]:
    """The items of a dict as keywords, and what is left of it to be spread."""
    match expr:
        case f.Mapping(items=items):
            for key, value in items:
                if key is None:
                    yield from _members(walk, value)
                elif isinstance(key, f.Constant) and isinstance(key.value, str):
                    yield f.Argument(value, key.value)
        case f.Call(function=f.Name(id="dict"), arguments=arguments) if "dict" not in walk.env:
            for word in arguments:
                if word.name is None:
                    yield from _members(walk, word.value)
                else:
                    yield word
        case f.Operation(operator="|", left=left, right=right):
            yield from _members(walk, left)
            yield from _members(walk, right)
        case f.Name(id=name) if (local := _bound(walk, name)) is not None:
            yield from _members(walk, local)
        case _ if names_in(expr).isdisjoint(walk.env):
            yield from _held(walk, expr)
        case _:
            yield f.Argument(expr, star="**")


def _held(walk: Reading, expr: f.Expr) -> Iterator[f.Argument]:
    """The same for a dict that is written elsewhere: each member stands where the dict is spread."""
    value = walk.linker.constants.evaluate(expr, walk.module)
    held = value.value if isinstance(value, Known) else None
    if not isinstance(held, dict) or ... in held:
        yield f.Argument(expr, star="**")
    for key in held if isinstance(held, dict) else ():
        if isinstance(key, str):
            yield f.Argument(f.Subscript(expr.at, expr, f.Constant(expr.at, key)), key)


def _bound(walk: Reading, name: str) -> f.Expr | None:
    """What the function around a call binds a name to, where it does so once and never changes it."""
    fact = walk.function.fact if walk.function is not None else None
    if not isinstance(fact, f.Function) or any(parameter.name == name for parameter in fact.parameters):
        return None
    events = changes(flatten(fact.body, 0)).get(name, ())
    only = events[0] if len(events) == 1 else None
    if only is None or only.keys or only.element is not None or only.placed.conditions:
        return None
    statement = only.placed.statement
    return statement.value if isinstance(statement, f.Assign) else None
