"""What happens to names at the top of a module or class: each change in the order of the code, and what it hangs on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from idemlint.syntax import facts as f

Position: TypeAlias = tuple[int, int]
"""Index of the top-level statement in the file, ordinal in it."""


@dataclass(frozen=True, slots=True)
class Test:
    """The statement runs if the expression is true (`holds`) or if it is not."""

    expression: f.Expr
    holds: bool
    position: Position


@dataclass(frozen=True, slots=True)
class ImportFailed:
    """The statement runs if one of the imports fails."""

    imports: tuple[f.Import, ...]


@dataclass(frozen=True, slots=True)
class Sometimes:
    """The statement runs for reasons that are not looked into, such as a loop or an exception."""

    reason: str


Condition: TypeAlias = Test | ImportFailed | Sometimes


@dataclass(frozen=True, slots=True)
class Placed:
    """A simple statement (or definition), where it stands and all that it hangs on."""

    statement: f.Statement
    piece: int
    conditions: tuple[Condition, ...]

    @property
    def position(self) -> Position:
        return self.piece, self.statement.at


@dataclass(frozen=True, slots=True)
class Change:
    """A statement that binds a name or changes what is bound to it in place.

    `keys` is where in the value it does so (`NAME[key1][key2] = ...`), `element` which part of the statement's value
    the name takes when a tuple is unpacked (-1: it cannot be told).
    """

    name: str
    placed: Placed
    keys: tuple[f.Expr, ...] = ()
    element: int | None = None


def flatten(body: f.Body, piece: int, conditions: tuple[Condition, ...] = ()) -> Iterator[Placed]:
    """The statements of a body with those that `if`, `with`, `try`, loops and `match` hold in their place."""
    for statement in body:
        match statement:
            case f.If(at=at, test=test, body=inner, orelse=orelse):
                yield from flatten(inner, piece, (*conditions, Test(test, True, (piece, at))))
                yield from flatten(orelse, piece, (*conditions, Test(test, False, (piece, at))))
            case f.With(body=inner):
                yield from flatten(inner, piece, conditions)
            case f.Try(body=inner, handlers=handlers, orelse=orelse, final=final):
                yield from flatten(inner, piece, conditions)
                for handler in handlers:
                    yield from flatten(handler.body, piece, (*conditions, _failed(inner, handler)))
                yield from flatten((*orelse, *final), piece, conditions)
            case f.For(body=inner, orelse=orelse) | f.While(body=inner, orelse=orelse):
                yield from flatten((*inner, *orelse), piece, (*conditions, Sometimes("it is set in a loop")))
            case f.Match(cases=cases):
                for case in cases:
                    yield from flatten(case.body, piece, (*conditions, Sometimes("it is set in a match statement")))
            case _:
                yield Placed(statement, piece, conditions)


def changes(statements: Iterable[Placed]) -> dict[str, tuple[Change, ...]]:
    """The changes of each name, in order; those of `*` are the star imports."""
    found: dict[str, list[Change]] = {}
    for placed in statements:
        for change in _changes(placed):
            found.setdefault(change.name, []).append(change)
    return {name: tuple(list_) for name, list_ in found.items()}


def rooted(expr: f.Expr) -> tuple[str, tuple[f.Expr, ...]] | None:
    """`NAME[key1][key2]` as its name and keys; None for any other expression."""
    keys: list[f.Expr] = []
    while isinstance(expr, f.Subscript):
        keys.append(expr.index)
        expr = expr.base
    return (expr.id, tuple(reversed(keys))) if isinstance(expr, f.Name) else None


def _changes(placed: Placed) -> Iterator[Change]:
    match placed.statement:
        case f.Function(name=name) | f.Class(name=name) | f.Import(bind=name):
            yield Change(name, placed)
        case f.Assign(targets=targets, value=value) if value is not None:
            for target in targets:
                yield from _targets(target, placed)
        case f.Augment(target=target):
            yield from _place(target, placed)
        case f.Delete(targets=targets):
            for target in targets:
                yield from _place(target, placed)
        case f.Evaluate(value=f.Call(function=f.Attribute(base=base))):
            yield from _place(base, placed)


def _targets(target: f.Expr, placed: Placed) -> Iterator[Change]:
    if not isinstance(target, f.Display):
        yield from _place(target, placed)
        return
    starred = any(isinstance(item, f.Starred) for item in target.items)
    for element, item in enumerate(target.items):
        place = rooted(item.value if isinstance(item, f.Starred) else item)
        if place:
            yield Change(*place[:1], placed, place[1], -1 if starred else element)


def _place(expr: f.Expr, placed: Placed) -> Iterator[Change]:
    place = rooted(expr)
    if place:
        yield Change(place[0], placed, place[1])


def _failed(body: f.Body, handler: f.Handler) -> Condition:
    """What a handler hangs on: the failure of an import if it is there for that, and the body does nothing else."""
    imports = tuple(statement for statement in body if isinstance(statement, f.Import))
    named = handler.exception.items if isinstance(handler.exception, f.Display) else (handler.exception,)
    names = {expr.id for expr in named if isinstance(expr, f.Name)}
    if imports and len(imports) == len(body) and names & {"ImportError", "ModuleNotFoundError", "Exception"}:
        return ImportFailed(imports)
    return Sometimes("it is set where an exception is handled")
