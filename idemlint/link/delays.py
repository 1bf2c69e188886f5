"""How long a message waits before its task may run, as far as the call that sends it says so in plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from idemlint.catalog.rows import Method, Send
from idemlint.link.reading import Reading, slot_value
from idemlint.link.values import Known, Reference, Unknown, Value, seconds
from idemlint.program import Delay, LibraryType, Site
from idemlint.syntax import facts as f

Clock: TypeAlias = Callable[[f.Expr], bool]
"""Whether an expression is the time of the moment."""


def put_off(walk: Reading, row: Method | Send, expr: f.Call, is_clock: Clock) -> Delay | None:
    """The wait that a sending call asks for, in seconds from now or up to a moment; None if it asks for none or if that
    cannot be told."""
    countdown, moment = slot_value(row.countdown, expr), slot_value(row.moment, expr)
    given = countdown or moment
    if given is None:
        return None
    reader = _Reader(walk, dict(_bound_once(walk)), is_clock)
    value = reader.value(given) if countdown is not None else reader.from_now(given, frozenset())
    wait = seconds(value.value) if isinstance(value, Known) else None
    if wait is None:
        return None
    return Delay(wait, Site(walk.module.file.path, walk.piece, given.at), value.environment)


@dataclass(frozen=True, slots=True)
class _Reader:
    walk: Reading
    bound: Mapping[str, f.Expr]
    is_clock: Clock

    def from_now(self, expr: f.Expr, seen: frozenset[str]) -> Value:
        """How far ahead of the clock a moment is: `now() + pause`, also by a name that is bound once."""
        match expr:
            case f.Operation(operator="+", left=left, right=right):
                for now, pause in ((left, right), (right, left)):
                    if self.is_clock(self.bound.get(now.id, now) if isinstance(now, f.Name) else now):
                        return self.value(pause)
            case f.Name(id=name) if name in self.bound and name not in seen:
                return self.from_now(self.bound[name], seen | {name})
        return Unknown("it is no time from now")

    def value(self, expr: f.Expr) -> Value:
        """What a length of time is worth."""
        function = self.walk.function.fact if self.walk.function is not None else None
        names: dict[str, f.Expr | Value] = {}
        if isinstance(function, f.Function):
            names.update({name: self._named(name) for name, _ in _bindings(function.body)})
        if function is not None:
            names.update({parameter.name: Unknown("it is passed in") for parameter in function.parameters})
        return self.walk.linker.constants.evaluate(expr, self.walk.module, {**names, **self.bound})

    def _named(self, name: str) -> Value:
        """A local name that stands for no single expression: an import, or what is bound more than once."""
        kind = self.walk.env.get(name)
        if isinstance(kind, LibraryType):
            return Known(Reference(kind.path))
        return Unknown(f"{name} may be several things")


def _bound_once(walk: Reading) -> Iterator[tuple[str, f.Expr]]:
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
