"""Blocks that something is done around: transactions, locks, the project's own context managers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from idemlint.domain.value import NOTHING, Fact, Value
from idemlint.program import Body, LibraryCall, LibraryInstance, LibraryType, ProjectCall
from idemlint.summarize.given import Given
from idemlint.summarize.trying import Trying
from idemlint.syntax import facts as f


class Contexts(Trying):
    """The part of a walk that follows `with` and what decorates a function."""

    def managed(self, items: tuple[tuple[f.Expr, f.Expr | None], ...], body: f.Body, index: int) -> bool:
        if index == len(items):
            return self.run_body(body)
        manager, target = items[index]

        def go_on(entered: Value) -> bool:
            if target is not None:
                self.bind_target(target, entered)
            return self.managed(items, body, index + 1)

        reached = self.here.body.targets.get(manager.at)
        if isinstance(reached, ProjectCall) and isinstance(manager, f.Call):
            inner = self.program.bodies[reached.body]
            if inner.is_generator:
                callee = self.callee(manager.function)
                env = self.bound(inner, callee, self.given(manager))
                self.calls += 1
                return self.through(inner, env, manager.at, go_on)
        path = _path(reached, self.type_of(manager))
        role = self.catalog.role(path) if path else None
        if role == "transaction":
            if isinstance(manager, f.Call):
                self.given(manager)
            return self.in_transaction(manager.at, path, lambda: go_on(NOTHING))
        entered = self.evaluate(manager)
        lock = self.lock_of(manager, entered)
        if lock is not None:
            taken = self.take(lock, manager.at)
            leaves = go_on(entered)
            self.facts -= {taken}
            return leaves
        if role == "suppress":
            before = self.snapshot()
            leaves = self.suppressed(manager, lambda: go_on(entered))
            self.merge([before] if leaves else [before, self.snapshot()])
            return False
        if role == "exit-stack":
            return self.stacked(lambda: go_on(entered))
        leaves = go_on(entered)
        if self.intake is not None and path and self.catalog.acknowledges_at_end(path):
            self.acknowledged(path, manager.at)
        return leaves

    def stacked(self, inside: Callable[[], bool]) -> bool:
        """A block that ends what was entered in it: transactions, locks."""
        before, held = len(self.entered), self.facts
        leaves = inside()
        for number in reversed(self.entered[before:]):
            self.ended(number)
        del self.entered[before:]
        self.facts = frozenset(fact for fact in self.facts if fact.kind != "lock" or fact in held)
        return leaves

    def through(self, inner: Body, env: dict[str, Value], at: int, go_on: Callable[[Value], bool]) -> bool:
        """A block inside a project's own context manager: it runs where that one yields."""
        left: list[bool] = []
        outer = list(self.stack)

        def resume(value: Value) -> bool:
            manager = self.stack
            facts_inside = self.facts
            self.stack = outer
            left.append(go_on(value))
            self.stack = manager
            self.facts = self.facts if not left[-1] else facts_inside
            return left[-1]

        self.follow(inner, env, at, resume)
        if not left:
            left.append(go_on(NOTHING))
        return left[-1]

    def in_contexts(self, body: Body, contexts: tuple[tuple[object, int], ...]) -> bool:
        """A body inside the context managers that decorate it."""
        if not contexts:
            return self.run_body(body.statements)
        (target, at), *rest = contexts
        if isinstance(target, LibraryCall) and self.catalog.role(target.path) == "transaction":
            return self.in_transaction(at, target.path, lambda: self.in_contexts(body, tuple(rest)))
        if isinstance(target, LibraryCall) and self.catalog.role(target.path) == "memory":
            return self.remembered(at, lambda: self.in_contexts(body, tuple(rest)))
        if isinstance(target, LibraryCall) and (guard := self.catalog.guard(target.path)) is not None:
            effect = self.record("lock", at, path=target.path)
            self.effects[effect.id] = replace(effect, guard=guard)
            kinds = {"lock": "lock", "once": "claim", "claim": "claim"}
            if guard.guard in kinds:
                self.learn(Fact(kinds[guard.guard], effect.id, site=effect.site))
            return self.in_contexts(body, tuple(rest))
        if isinstance(target, ProjectCall):
            inner = self.program.bodies[target.body]
            env = self.bound(inner, Value(), Given((), {}))
            return self.through(inner, env, at, lambda _: self.in_contexts(body, tuple(rest)))
        return self.in_contexts(body, tuple(rest))

    def remembered(self, at: int, inside: Callable[[], bool]) -> bool:
        """A function whose results the process keeps: it runs where that has none yet, which says nothing of what its
        caller does next."""
        fresh = Fact("process", site=self.site(at))
        self.learn(fresh)
        leaves = inside()
        self.facts -= {fresh}
        outcomes = self.here.outcomes
        outcomes[:] = [replace(outcome, facts=outcome.facts - {fresh}) for outcome in outcomes]
        return leaves


def _path(target: object, kind: object) -> str:
    if isinstance(target, LibraryCall):
        return target.path
    return kind.path if isinstance(kind, LibraryType | LibraryInstance) else ""
