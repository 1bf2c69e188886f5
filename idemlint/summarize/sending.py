"""Sending tasks and registering what waits for a commit."""

from __future__ import annotations

from dataclasses import replace

from idemlint.domain.effect import Effect
from idemlint.domain.summary import Hook
from idemlint.domain.value import NOTHING, Value
from idemlint.program import EnqueueCall, LibraryCall, PartialType, RoutineType, SendingType, TaskMethodType
from idemlint.summarize.following import Following
from idemlint.summarize.given import Given
from idemlint.syntax import facts as f


class Sending(Following):
    """The part of a walk that puts off work."""

    def enqueue(self, target: EnqueueCall, expr: f.Call) -> Effect:
        given = {argument.value.at: self.evaluate(argument.value) for argument in expr.arguments}
        kind = "retry" if target.does == "retry" else "enqueue"
        arguments = tuple(
            (name, given[value.at] if value.at in given else self.evaluate_quietly(value))
            for name, value in (target.options if kind == "retry" else target.arguments)
        )
        return self.record(kind, expr.at, enqueue=target, arguments=arguments, path=target.method)

    def on_commit(self, target: LibraryCall, given: Given, expr: f.Call) -> Value:
        """Register a hook: it runs once the outermost transaction has committed, or at once when there is none."""
        outermost = self.open[0] if self.open else None
        late = self.late_names(expr, outermost)
        if late:
            self.hooks.append(Hook(self.site(expr.at), late, tuple(self.open), self.here.body.function))
        facts = self.facts
        stack = list(self.stack)
        address = list(self.address)
        env = dict(self.here.env)
        loops = list(self.loops_open)

        def run() -> None:
            kept = (self.facts, self.stack, self.address, self.open, self.deferred, self.loops_open)
            self.facts, self.stack, self.open, self.deferred = facts, list(stack), [], True
            self.loops_open = loops
            self.address = [*kept[2], ("seq", self.next()), *address[len(kept[2]) :]]
            inner_env, self.here.env = self.here.env, env
            for argument in given.all():
                self.call_value(argument, expr.at)
            self.here.env = inner_env
            self.facts, self.stack, self.address, self.open, self.deferred, self.loops_open = kept

        if outermost is None:
            run()
        else:
            self.waiting.setdefault(outermost, []).append(run)
        return NOTHING

    def late_names(self, expr: f.Call, outermost: int | None) -> tuple[str, ...]:
        """Names that the hook looks up when it runs and that the loop around it binds anew until then."""
        rebound = frozenset(name for names in self.here.rebound for name in names)
        if not rebound:
            return ()
        if outermost is not None and set(self.loops_open) & set(self.transactions[outermost].loops) == set(
            self.loops_open
        ):
            return ()
        found: set[str] = set()
        for argument in expr.arguments:
            value = argument.value
            fact: object = value
            if isinstance(value, f.Name):
                fact = self.here.nested.get(value.id)
            if isinstance(fact, f.Lambda | f.Function):
                own = {parameter.name for parameter in fact.parameters}
                found |= (_free_names(fact) - own) & rebound
        return tuple(sorted(found))

    def call_value(self, value: Value, at: int) -> None:
        """Call a function that was kept as a value, without further arguments."""
        closure = value.closure
        if closure is None:
            return
        kind = closure.kind
        while isinstance(kind, PartialType):
            kind = kind.target
        if isinstance(kind, TaskMethodType):
            call = EnqueueCall(kind.framework, kind.task, kind.method, commit="deferred")
            self.record("enqueue", at, enqueue=call, path=kind.method)
        elif isinstance(kind, SendingType):
            self.record("enqueue", at, enqueue=replace(kind.call, commit="deferred"), path=kind.call.method)
        elif isinstance(kind, RoutineType):
            key = self.callbacks.get((self.here.body.key, at))
            if key is not None:
                body = self.program.bodies[key]
                self.calls += 1
                self.enter(key, self.bound(body, value, Given(closure.positional, dict(closure.keywords))), at)

    @property
    def callbacks(self) -> dict[tuple[str, int], str]:
        found: dict[tuple[str, int], str] = {}
        for at, target in self.here.body.targets.items():
            if isinstance(target, LibraryCall):
                for _, callback in target.callbacks:
                    if isinstance(callback, str):
                        found[self.here.body.key, at] = callback
        return found


def _free_names(fact: f.Lambda | f.Function) -> set[str]:
    """Names in the body of a function; defaults of parameters are worked out where it is made."""
    return {part.id for part in f.walk(fact.body) if isinstance(part, f.Name)}
