"""What expressions inside of a function are worth, as far as the names that it binds say so in plain values."""

from __future__ import annotations

from collections.abc import Iterator

from idemlint.link.reading import Reading
from idemlint.link.values import Known, Reference, Unknown, Value
from idemlint.program import LibraryType
from idemlint.syntax import facts as f


def worth(walk: Reading, expr: f.Expr) -> Value:
    """What an expression is worth where the walk is."""
    function = walk.function.fact if walk.function is not None else None
    names: dict[str, f.Expr | Value] = {}
    if isinstance(function, f.Function):
        names.update({name: _local(walk, name) for name, _ in _bindings(function.body)})
    if function is not None:
        names.update({each.name: Unknown(f"{each.name} is passed in") for each in function.parameters})
    return walk.linker.constants.evaluate(expr, walk.module, {**names, **dict(bound_once(walk))})


def _local(walk: Reading, name: str) -> Value:
    """A local name that stands for no single expression: an import, or what is bound more than once."""
    kind = walk.env.get(name)
    if isinstance(kind, LibraryType):
        return Known(Reference(kind.path))
    return Unknown(f"{name} may be several things")


def bound_once(walk: Reading) -> Iterator[tuple[str, f.Expr]]:
    """Names that the function around a call binds in one place only, and to what."""
    fact = walk.function.fact if walk.function is not None else None
    if not isinstance(fact, f.Function):
        return
    taken = {parameter.name for parameter in fact.parameters}
    found: dict[str, list[f.Expr | None]] = {}
    for name, value in _bindings(fact.body):
        found.setdefault(name, []).append(value)
    for name, values in found.items():
        if len(values) == 1 and values[0] is not None and name not in taken:
            yield name, values[0]


def _bindings(body: f.Body) -> Iterator[tuple[str, f.Expr | None]]:
    """The names that statements bind, and to what; None where that is no single expression."""
    for statement in body:
        match statement:
            case f.Assign(targets=targets, value=value) if value is not None:
                for target in targets:
                    yield from [(target.id, value)] if isinstance(target, f.Name) else _named(target)
            case f.Augment(target=target):
                yield from _named(target)
            case f.If(body=inner, orelse=orelse) | f.While(body=inner, orelse=orelse):
                yield from _bindings((*inner, *orelse))
            case f.For(target=target, body=inner, orelse=orelse):
                yield from _named(target)
                yield from _bindings((*inner, *orelse))
            case f.With(items=items, body=inner):
                for _, into in items:
                    yield from _named(into) if into is not None else ()
                yield from _bindings(inner)
            case f.Try(body=inner, handlers=handlers, orelse=orelse, final=final):
                yield from _bindings((*inner, *orelse, *final))
                for handler in handlers:
                    yield from _bindings(handler.body)
            case f.Match(cases=cases):
                for case in cases:
                    yield from ((name, None) for name in case.binds)
                    yield from _bindings(case.body)
            case f.Function(name=name) | f.Class(name=name) | f.Import(bind=name):
                yield name, None


def _named(target: f.Expr) -> Iterator[tuple[str, None]]:
    match target:
        case f.Name(id=name):
            yield name, None
        case f.Starred(value=value):
            yield from _named(value)
        case f.Display(items=items):
            for item in items:
                yield from _named(item)
