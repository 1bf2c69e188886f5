"""One structural walk over what a root reaches. Facts are intersected at merges, arms that leave are dropped, what a
loop's body learns dies at its end, what a `try` body learns does not reach its handlers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from idemlint.domain.effect import Frame
from idemlint.domain.summary import Loop, Summary, within_budget
from idemlint.domain.value import CONSTANT, NOTHING, SETTLED, TURN, Closure, Origin, Outcome, Test, Value, origins_of
from idemlint.program import Body, Site
from idemlint.summarize.conditions import NO_TEST, any_of
from idemlint.summarize.contexts import Contexts
from idemlint.summarize.messages import settled
from idemlint.summarize.shape import bound, breaks, counts, leaves
from idemlint.summarize.state import Activation, Snapshot
from idemlint.summarize.values import lacking
from idemlint.syntax import facts as f

AROUND = "around"
"""How the transaction is opened that a setting or a wrapper puts around a function."""


class Walk(Contexts):
    """Follows one root."""

    def run(self) -> Summary:
        body = self.program.bodies[self.root.body]
        self.ending = self.goes_quiet(body)
        self.start(body)
        self.wrapped(body, self.root.around)
        for run in self.waiting.pop(None, []):
            run()
        self.stack.pop()
        within = within_budget(self.effects)
        effects = tuple(replace(effect, answered=effect.answered or effect.id in self.answered) for effect in within)
        effects, early = settled(effects, self.intake) if self.intake is not None else (effects, False)
        return Summary(
            root=self.root,
            effects=effects,
            transactions=tuple(self.transactions.values()),
            loops=tuple(self.loops.values()),
            hooks=tuple(self.hooks),
            keys=tuple(self.keys),
            caught=tuple(self.caught),
            dropped=tuple(self.dropped),
            calls=self.calls,
            unresolved=tuple(sorted(self.unresolved.items())),
            reads=frozenset(self.reads),
            swallows=self.swallows(body),
            early=early,
            quiet=self.quiet,
            capped=len(self.effects) > len(within) or self.steps >= self.limit,
        )

    def start(self, body: Body) -> None:
        """Start with a body that nobody of the project calls."""
        self.stack = [Activation(body, self.entry(body), Frame(self._site(body), body.function, body.name))]

    def whole(self, body: Body) -> None:
        if self.root.atomic is not None:
            self.in_transaction(body.at, AROUND, lambda: self.in_contexts(body, body.contexts), self.root.atomic)
        else:
            self.in_contexts(body, body.contexts)

    def wrapped(self, body: Body, around: tuple[str, ...]) -> None:
        """A task inside what its class puts around it: it runs where that calls it, save on an error, where it does the
        same as it does without one."""
        if not around:
            self.whole(body)
            return
        ran = False

        def run() -> Value:
            nonlocal ran
            if self.handling:
                return Value()
            ran = True
            outer, self.stack, self.inner = self.stack, [], None
            self.start(body)
            self.wrapped(body, around[1:])
            self.stack, self.inner = outer, run
            return Value()

        outermost = self.program.bodies[around[0]]
        task, self.stack = self.stack, []
        self.inner = run
        self.start(outermost)
        self.in_contexts(outermost, outermost.contexts)
        self.stack, self.inner = task, None
        if not ran:
            self.wrapped(body, around[1:])

    def _site(self, body: Body) -> Site:
        return Site(body.path, body.piece, body.at)

    def entry(self, body: Body) -> dict[str, Value]:
        """What the root's parameters are: arguments, which a second run gets again."""
        env: dict[str, Value] = {}
        for index, parameter in enumerate(body.parameters):
            value = Value(frozenset({Origin("argument", parameter.name)}))
            kind = self._annotated(body, parameter)
            if body.receiver and index == 0:
                value = Value(CONSTANT, thing=self.thing(None))
            elif kind in self.program.models:
                value = replace(value, thing=self.thing(kind))
            env[parameter.name] = value
        return env

    def _annotated(self, body: Body, parameter: f.Parameter) -> str:
        kind = body.arguments.get(parameter.name)
        return getattr(kind, "name", "")

    def run_body(self, body: f.Body) -> bool:
        """Follow statements in order; True when every way through them leaves the function or the loop's turn."""
        pushed = 0
        leaves = False
        first = len(self.effects)
        for statement in body:
            self.steps += 1
            if self.steps > self.limit:
                break
            self.address.append(("seq", self.next()))
            if isinstance(statement, f.If):
                leaves, parted = self.branch(statement)
            else:
                leaves, parted = self.statement(statement), None
            self.address.pop()
            if leaves:
                self.done_with_loops(statement, first)
                break
            if parted is not None:
                self.address.append(("seq", parted[0]))
                self.address.append(("arm", parted[1]))
                pushed += 2
        for _ in range(pushed):
            self.address.pop()
        return leaves

    def done_with_loops(self, statement: f.Statement, first: int) -> None:
        """What happens in a body that ends by `break` or `return` happens in one turn of the loops that this ends."""
        inner = self.loops_open[len(self.loops_open) - len(self.here.rebound) :]
        if isinstance(statement, f.Jump) and statement.kind == "break":
            inner = inner[-1:]
        elif not isinstance(statement, f.Return):
            return
        for index in range(first, len(self.effects) if inner else first):
            effect = self.effects[index]
            self.effects[index] = replace(effect, loops=tuple(loop for loop in effect.loops if loop not in inner))

    def statement(self, statement: f.Statement) -> bool:
        match statement:
            case f.Assign(targets=targets, value=value):
                if value is not None:
                    found = self.evaluate(value)
                    for target in targets:
                        self.bind_target(target, found, value)
            case f.Augment():
                self.augment(statement)
            case f.Evaluate(value=value):
                self.evaluate(value)
            case f.Return(value=value):
                found = self.returned(value) if value is not None else NOTHING
                self.here.outcomes.append(Outcome(found, self.facts))
                return True
            case f.Raise(exception=exception):
                if exception is not None:
                    self.evaluate(exception)
                    self.asked_again(exception, raised=True)
                return True
            case f.Jump():
                self.jumps.append((len(self.loops_open), self.facts))
                return True
            case f.Assert(test=test):
                self.learn(*self.condition(test).true)
            case f.Delete(targets=targets):
                for target in targets:
                    if isinstance(target, f.Subscript):
                        self.evaluate(target)
            case f.For():
                return self.loop(statement)
            case f.While():
                return self.repeat(statement)
            case f.With():
                return self.managed(statement.items, statement.body, 0)
            case f.Try():
                return self.attempt(statement)
            case f.Match():
                return self.match(statement)
            case f.Function(name=name):
                self.here.nested[name] = statement
                kind = self.here.body.types.get(statement.at)
                self.here.env[name] = Value(CONSTANT, closure=Closure(tuple(sorted(self.here.env.items())), kind=kind))
            case f.If():
                return self.branch(statement)[0]
        return False

    def returned(self, expr: f.Expr) -> Value:
        """What is returned; by the task itself, or by what it returns the answer of, it may ask for another run."""
        last = len(self.stack) == self.tail
        self.tail += last
        found = self.evaluate(expr)
        self.tail -= last
        if last:
            self.asked_again(expr, raised=False)
        return found

    def branch(self, statement: f.If) -> tuple[bool, tuple[int, int] | None]:
        """An `if`. When one arm leaves, what follows belongs to the other: (leaves, the address of that other arm)."""
        decided = self.decided(statement.test)
        if decided is not None:
            return self.run_body(statement.body if decided else statement.orelse), None
        test = self.condition(statement.test)
        number = self.next()
        other = self.next()
        before = self.snapshot()
        self.learn(*test.true)
        self.address.append(("arm", number))
        one_leaves = self.run_body(statement.body)
        self.address.pop()
        self.note_dropped(test.true, statement.body)
        after = self.snapshot()
        self.restore(before)
        self.learn(*test.false)
        self.address.append(("arm", other))
        other_leaves = self.run_body(statement.orelse)
        self.address.pop()
        arms = [arm for arm, leaves in ((after, one_leaves), (self.snapshot(), other_leaves)) if not leaves]
        self.merge(arms)
        parted = None
        if one_leaves and not other_leaves:
            parted = (self.address[-1][1], other)
        elif other_leaves and not one_leaves:
            parted = (self.address[-1][1], number)
        return one_leaves and other_leaves, parted

    def match(self, statement: f.Match) -> bool:
        subject = self.evaluate(statement.subject)
        arms: list[Snapshot] = []
        before = self.snapshot()
        complete = any(case.irrefutable for case in statement.cases)
        for case in statement.cases:
            self.restore(before)
            for name in case.binds:
                self.here.env[name] = Value(subject.origins)
            test = self.fits(subject, case, self.site(statement.at))
            self.learn(*test.true)
            before = replace(before, facts=before.facts | (test.false if case.guard is None else frozenset()))
            if case.guard is not None:
                self.learn(*self.condition(case.guard).true)
            self.address.append(("arm", self.next()))
            if not self.run_body(case.body):
                arms.append(self.snapshot())
            self.address.pop()
        if not complete:
            self.restore(before)
            arms.append(self.snapshot())
        self.merge(arms)
        return not arms

    def fits(self, subject: Value, case: f.Case, site: Site) -> Test:
        """What it says that the subject of a `match` is what a case asks for: one of its values, or of a form that
        nobody can follow."""
        tests = [self.equals(subject, self.evaluate(value), site, "==") for value in case.values]
        if tests:
            return any_of(tests)
        return NO_TEST if case.irrefutable or case.guard is not None else self.opaque(subject, site)

    def loop(self, statement: f.For) -> bool:
        first = len(self.effects)
        iterable = self.iterated(self.evaluate(statement.iterable))
        number = self.next()
        item = self.item(iterable, statement.iterable)
        tries = breaks(statement.body) or leaves(statement.body)
        self.open_loop(number, statement.at, iterable, item, items=not counts(statement.iterable), tries=tries)
        queue = self.received_from(statement.iterable, first)

        def start() -> None:
            self.learn(*lacking(iterable))
            given = item if queue is None else self.received(queue, statement.at, iterable)
            self.bind_target(statement.target, given)

        self.turn(number, statement.body, start, bound(statement))
        nothing = self.truth(iterable, self.site(statement.at)).false if iterable.column is not None else frozenset()
        if leaves(statement.body) and not breaks(statement.body):
            # Who comes here has looked through all that the column holds and not found what makes a turn leave.
            self.learn(*nothing)
        if not statement.orelse:
            return False
        before = self.facts
        if breaks(statement.body):
            # Nothing that the column holds, and none of the rows, was the one that was looked for.
            self.learn(*nothing)
            if iterable.rows is not None:
                self.learn(*self.any_rows(iterable.rows, self.site(statement.iterable.at)).false)
        ended = self.run_body(statement.orelse)
        self.facts &= before
        return ended

    def iterated(self, iterable: Value) -> Value:
        """What a loop goes over."""
        return iterable

    def repeat(self, statement: f.While) -> bool:
        number = self.next()
        self.loops[number] = Loop(number, self.site(statement.at))
        self.turn(number, statement.body, lambda: self.learn(*self.condition(statement.test).true), bound(statement))
        endless = isinstance(statement.test, f.Constant) and statement.test.value is True
        return endless and not breaks(statement.body) and bool(self.here.outcomes)

    def turn(self, number: int, body: f.Body, start: Callable[[], None], rebound: frozenset[str]) -> None:
        """One turn of a loop stands for all of them."""
        before = self.snapshot()
        self.address.append(("loop", number))
        self.loops_open.append(number)
        self.here.rebound.append(rebound)
        for name in rebound & self.here.env.keys():
            # What the turn before left here.
            held = self.here.env[name]
            self.here.env[name] = replace(held, origins=origins_of((held, Value(frozenset({TURN})))))
        start()
        self.run_body(body)
        self.here.rebound.pop()
        self.loops_open.pop()
        self.address.pop()
        # What each turn acknowledges is settled after all of them; all else that a turn learns ends with it.
        kept = self.facts & {SETTLED}
        self.facts = before.facts
        after = self.snapshot()
        self.merge([before, after])
        self.learn(*kept)
