"""What is caught: handlers, what they learn, which exceptions they mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from idemlint.domain.effect import Effect
from idemlint.domain.summary import Caught, Dropped
from idemlint.domain.value import Fact, Facts, Value
from idemlint.program import Body, LibraryCall, ProjectCall
from idemlint.summarize.assigning import Assigning
from idemlint.summarize.shape import asks, ends, may_raise, plainly, raises
from idemlint.summarize.state import Snapshot
from idemlint.syntax import facts as f

CATCH_ALL = frozenset({"", "builtins.Exception", "builtins.BaseException"})


class Trying(Assigning):
    """The part of a walk that follows exceptions."""

    def attempt(self, statement: f.Try) -> bool:
        before = self.snapshot()
        caught = [self.exception_names(self.here.body, handler.exception) for handler in statement.handlers]
        goes_on = tuple(
            name
            for names, handler in zip(caught, statement.handlers, strict=True)
            for name in names
            if not raises(handler.body)
        )
        first, asked_back = len(self.effects), len(self.asked_back)
        if statement is self.ending and self.quiet is None:
            self.quiet = first
        self.address.append(("try", self.next()))
        self.handled.append(goes_on)
        body_leaves = self.run_body(statement.body)
        self.handled.pop()
        last, last_asked = len(self.effects), len(self.asked_back)
        middle = self.snapshot()
        if not body_leaves and statement.orelse:
            body_leaves = self.run_body(statement.orelse)
        self.address.pop()
        arms = [] if body_leaves else [self.snapshot()]
        for names, handler in zip(caught, statement.handlers, strict=True):
            self.restore(before)
            self.merge(self.broken_off(before, replace(middle, facts=before.facts)))
            self.learn(Fact("failed", site=self.site(handler.at)))
            if self.means(names, "missing"):
                sought = [effect for effect in self.effects[first:last] if effect.kind == "get"]
                for effect in sought[:1]:
                    self.learn(Fact("exists", effect.id, holds=False, model=effect.model, site=self.site(handler.at)))
                for model in self.asked_back[asked_back:last_asked] if not sought else ():
                    self.learn(Fact("exists", holds=False, model=model, site=self.site(handler.at)))
            if self.means(names, "conflict"):
                again, leaves = raises(handler.body), ends(handler.body)
                self.caught.append(self.catching(handler.at, names, range(first, last), again, leaves))
                inserted = self.inserted_in(first, last)
                conflicts = [Fact("conflict", effect.id, site=self.site(handler.at)) for effect in inserted]
                self.learn(*conflicts)
                self.note_dropped(frozenset(conflicts), handler.body)
            if handler.name:
                self.here.env[handler.name] = Value()
            self.address.append(("handler", self.next()))
            self.handling.append(tuple(sorted(names)))
            leaves = self.run_body(handler.body)
            self.handling.pop()
            self.address.pop()
            if not leaves:
                arms.append(replace(self.snapshot(), facts=self.facts - {Fact("failed", site=self.site(handler.at))}))
        self.merge(arms)
        if statement.final:
            if not arms:
                self.restore(before)
            # It also runs on the ways that leave the `try`, which know less.
            held = self.facts
            self.facts &= before.facts
            met = self.facts
            leaves = self.run_body(statement.final)
            self.facts |= held - met
            return leaves or not arms
        return not arms

    def note_dropped(self, facts: Facts, body: f.Body) -> None:
        """Keep a branch that does nothing but return because the work was done before."""
        conflict = next(
            (fact for fact in sorted(facts, key=lambda fact: fact.subject) if fact.kind == "conflict"), None
        )
        if conflict is not None and len(body) == 1 and isinstance(body[0], f.Return):
            value = body[0].value
            # A log line after the claim may be about the duplicate.
            if not isinstance(value, f.Call) and self.spoken <= conflict.subject:
                self.dropped.append(Dropped(self.site(body[0].at), conflict.subject, self.here.body.function))

    def broken_off(self, before: Snapshot, middle: Snapshot) -> list[Snapshot]:
        """How things may stand where the body of a `try` is broken off."""
        return [before, middle]

    def inserted_in(self, first: int, last: int) -> list[Effect]:
        """The inserts that a `try` with the effects from `first` to `last` sends to the database."""
        return [effect for effect in self.effects[first:last] if effect.kind in ("insert", "get-or-insert")]

    def suppressed(self, manager: f.Expr, inside: Callable[[], bool]) -> bool:
        """A block whose errors of the classes given are passed over, as by `except ...: pass`."""
        classes = [argument.value for argument in manager.arguments] if isinstance(manager, f.Call) else []
        names = frozenset(name for value in classes for name in self.exception_names(self.here.body, value))
        first = len(self.effects)
        self.handled.append(tuple(sorted(names)))
        leaves = inside()
        self.handled.pop()
        if self.means(names, "conflict"):
            self.caught.append(self.catching(manager.at, names, range(first, len(self.effects)), False, False))
        return leaves

    def catching(self, at: int, names: frozenset[str], effects: range, raises: bool, leaves: bool) -> Caught:
        """A handler of integrity errors as it stands here. The next turn of a loop comes back into the transaction
        unless that was opened inside the loop. Some databases give up the statement alone."""
        loops = set(self.loops_open)
        inside = set(self.transactions[self.open[-1]].loops) if self.open else loops
        return Caught(
            self.site(at),
            tuple(self.open) if self.breaks(names) else (),
            effects,
            raises,
            self.here.body.function,
            bool(loops - inside) and not leaves,
        )

    def exception_names(self, body: Body, expr: f.Expr | None) -> frozenset[str]:
        """The exceptions a handler catches, by library path; "" for a bare one."""
        if expr is None:
            return frozenset({""})
        parts = expr.items if isinstance(expr, f.Display) else (expr,)
        return frozenset(getattr(body.types.get(part.at), "path", "?") for part in parts)

    def asked_again(self, given: f.Expr, raised: bool) -> None:
        """What is raised or returned by which a task asks its framework for another run, or gives its message back."""
        named = given.function if isinstance(given, f.Call) else given
        path = getattr(self.here.body.types.get(named.at), "path", "")
        task = self.program.tasks.get(self.root.task or "")
        framework = self.catalog.framework(task.framework) if task is not None else None
        if framework is None or not path.startswith(framework.libraries):
            return
        if not raised:
            asks = self.catalog.role(path) == "again"
        elif self.means(frozenset({path}), "retry"):
            # Where there is a call for it, that one raises the exception.
            asks = framework.method("retry") is None
        else:
            asks = self.means(frozenset({path}), "reject")
        if asks:
            self.record("retry", given.at, path=self.catalog.canonical(path), arguments=self.named(given))

    def named(self, call: f.Expr) -> tuple[tuple[str, Value], ...]:
        """The arguments of a call by their names, or by `#0` and so on."""
        words = call.arguments if isinstance(call, f.Call) else ()
        plain = [word for word in words if not word.star]
        return tuple((word.name or f"#{index}", self.evaluate_quietly(word.value)) for index, word in enumerate(plain))

    def means(self, names: frozenset[str], meaning: str) -> bool:
        """Whether one of the exceptions has this meaning in the catalog."""
        rows = (self.catalog.exception(name) for name in names if name and name != "?")
        return any(row is not None and row.means == meaning for row in rows)

    def breaks(self, names: frozenset[str]) -> bool:
        """Whether one of the exceptions ends the transaction that it is raised in."""
        rows = (self.catalog.exception(name) for name in names if name and name != "?")
        return any(row is not None and row.means == "conflict" and not row.keeps_transaction for row in rows)

    def swallows(self, body: Body) -> bool:
        """Whether every statement that can fail stands in a `try` that catches everything and goes on."""
        failing = [statement for statement in plainly(body.statements) if self.can_fail(body, statement)]
        if len(failing) != 1:
            return False
        inner = self.handed_on(body, failing[0])
        return self.catches_all(body, failing[0]) or (inner is not None and self.swallows(inner))

    def goes_quiet(self, body: Body) -> f.Statement | None:
        """The last statement of a body that can fail, if it catches everything and goes on; be it in a function that
        does the rest."""
        last = next((each for each in reversed(plainly(body.statements)) if self.can_fail(body, each)), None)
        if last is None or self.catches_all(body, last):
            return last
        inner = self.handed_on(body, last)
        return self.goes_quiet(inner) if inner is not None else None

    def handed_on(self, body: Body, statement: f.Statement) -> Body | None:
        """The function that a statement calls and does nothing else, if that is called there alone."""
        call = statement.value if isinstance(statement, f.Evaluate | f.Return) else None
        call = call.value if isinstance(call, f.Await) else call
        if not isinstance(call, f.Call) or any(asks(argument.value) for argument in call.arguments):
            return None
        target = body.targets.get(call.at)
        if not isinstance(target, ProjectCall) or list(body.targets.values()).count(target) > 1:
            return None
        inner = self.program.bodies[target.body]
        return inner if not inner.contexts and not inner.is_generator else None

    def catches_all(self, body: Body, statement: f.Statement) -> bool:
        """Whether a statement is a `try` that no exception leaves; what is there to clean up does not count."""
        if not isinstance(statement, f.Try) or any(may_raise(handler.body) for handler in statement.handlers):
            return False
        caught = (self.exception_names(body, handler.exception) for handler in statement.handlers)
        return any(names & CATCH_ALL for names in caught) and not any(
            self.can_fail(body, each) for each in statement.orelse
        )

    def can_fail(self, body: Body, statement: f.Statement) -> bool:
        """Whether a statement can raise anything, as far as its shape says: definitions, plain values and logs do
        not."""
        match statement:
            case f.Import() | f.Function() | f.Jump() | f.Outer():
                return False
            case f.Return(value=value) | f.Assign(value=value):
                return value is not None and asks(value)
            case f.Evaluate(value=f.Call() as call):
                target = body.targets.get(call.at)
                return not isinstance(target, LibraryCall) or self.catalog.role(target.path) not in ("log", "metric")
            case f.Evaluate(value=value):
                return asks(value)
            case f.If(test=test, body=inner, orelse=orelse):
                return asks(test) or any(self.can_fail(body, each) for each in (*inner, *orelse))
        return True
