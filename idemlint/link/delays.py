"""How long a message waits before its task may run, as far as the call that sends it says so in plain values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from idemlint.catalog.rows import Method, Send
from idemlint.link.locally import bound_once, worth
from idemlint.link.reading import Reading, slot_value
from idemlint.link.values import Known, Unknown, Value, seconds
from idemlint.program import Delay, Site
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
    reader = _Reader(walk, dict(bound_once(walk)), is_clock)
    value = worth(walk, given) if countdown is not None else reader.from_now(given, frozenset())
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
                        return worth(self.walk, pause)
            case f.Name(id=name) if name in self.bound and name not in seen:
                return self.from_now(self.bound[name], seen | {name})
        return Unknown("it is no time from now")
