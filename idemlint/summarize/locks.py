"""Locks and marks: what a call that lets one run pass says, how long a lock is held."""

from __future__ import annotations

from dataclasses import replace

from idemlint.catalog import Guard
from idemlint.domain.value import Fact, Test, Value
from idemlint.program import LibraryInstance, LibraryType
from idemlint.summarize.values import Values
from idemlint.syntax import facts as f

_KINDS = {"lock": "lock", "once": "claim", "claim": "claim"}


class Locks(Values):
    """The part of a walk that follows mutual exclusion."""

    def guarding(self, guard: Guard, value: Value, expr: f.Call) -> Value:
        """What a call that lets one run pass and stops another says when it is tested. A lock that is only made guards
        nothing yet: it is taken by `with` or by a call."""
        assert value.effect is not None
        number = value.effect[0]
        self.effects[number] = replace(self.effects[number], guard=guard)
        if guard.won == "entered" and guard.guard != "claim":
            return value
        fact = Fact("claim" if guard.guard == "claim" else "lock", number, site=self.site(expr.at))
        if guard.won == "entered":
            self.learn(fact)  # who does not win gets an exception
            return value
        won = Test(frozenset({fact}), frozenset({replace(fact, kind="conflict")}))
        return replace(value, effect=(number, "created"), test=won if guard.won == "truthy" else won.inverted())

    def lock_of(self, expr: f.Expr, value: Value) -> int | None:
        """The effect that stands for the lock an expression is, if it is one; an object of a module gets one here."""
        if value.effect is not None and self.effects[value.effect[0]].guard is not None:
            return value.effect[0]
        kind = self.type_of(expr)
        path = kind.path if isinstance(kind, LibraryInstance | LibraryType) else ""
        guard = self.catalog.guard(path) if path else None
        if guard is None or guard.won != "entered":
            return None
        effect = self.record("lock", expr.at, path=path)
        self.effects[effect.id] = replace(effect, guard=guard)
        return effect.id

    def take(self, lock: int, at: int) -> Fact:
        """The lock is held from here on."""
        guard = self.effects[lock].guard
        fact = Fact(_KINDS.get(guard.guard, "lock") if guard is not None else "lock", lock, site=self.site(at))
        self.learn(fact)
        return fact

    def acquire(self, receiver: f.Expr, value: Value, expr: f.Call) -> Value:
        """`lock.acquire()`: held after a call that waits; of one that may fail the outcome tells."""
        lock = self.lock_of(receiver, value)
        if lock is None:
            return Value()
        if not expr.arguments:
            self.take(lock, expr.at)
            return Value(effect=(lock, "result"))
        fact = Fact("lock", lock, site=self.site(expr.at))
        return Value(effect=(lock, "created"), test=Test(frozenset({fact}), frozenset()))

    def release(self, receiver: f.Expr, value: Value) -> None:
        """`lock.release()`: whatever follows is not under it."""
        if value.effect is not None:
            self.facts = frozenset(
                fact for fact in self.facts if not (fact.kind == "lock" and fact.subject == value.effect[0])
            )
