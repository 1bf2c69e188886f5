"""One structural walk over what a root reaches. Facts are intersected at merges, arms that leave are dropped, what a
loop's body learns dies at its end, what a `try` body learns does not reach its handlers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from idemlint.domain.effect import Effect, Frame
from idemlint.domain.summary import EFFECTS, Caught, Dropped, Loop, Summary, Transaction
from idemlint.domain.value import CONSTANT, NOTHING, Fact, Facts, Object, Origin, Outcome, Value, derived, join
from idemlint.program import (
    Body,
    LibraryCall,
    LibraryInstance,
    LibraryType,
    ProjectCall,
    Site,
    TaskType,
)
from idemlint.summarize.calls import Given
from idemlint.summarize.documents import Documents
from idemlint.summarize.state import Activation, Snapshot
from idemlint.syntax import facts as f

REQUEST = "request"
"""How the transaction is opened that a setting puts around each request."""

CATCH_ALL = frozenset({"", "builtins.Exception", "builtins.BaseException"})


class Walk(Documents):
    """Follows one root."""

    def run(self) -> Summary:
        body = self.program.bodies[self.root.body]
        env = self.entry(body)
        self.stack.append(Activation(body, env, Frame(self._site(body), body.function, body.name)))
        if self.root.atomic is not None:
            self.in_transaction(body.at, REQUEST, lambda: self.in_contexts(body, body.contexts), self.root.atomic)
        else:
            self.in_contexts(body, body.contexts)
        for run in self.waiting.pop(None, []):
            run()
        self.stack.pop()
        effects = tuple(
            replace(effect, answered=effect.answered or effect.id in self.answered) for effect in self.effects[:EFFECTS]
        )
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
            swallows=self._swallows(body),
            capped=len(self.effects) > EFFECTS or self.steps >= self.limit,
        )

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

    def _swallows(self, body: Body) -> bool:
        """Whether every statement that can fail stands in a `try` that catches everything and goes on."""
        real = [
            statement
            for statement in body.statements
            if not isinstance(statement, f.Import | f.Return)
            and not (isinstance(statement, f.Evaluate) and isinstance(statement.value, f.Constant))
        ]
        if len(real) != 1 or not isinstance(real[0], f.Try):
            return False
        return any(
            self.exception_names(body, handler.exception) & CATCH_ALL and not _raises(handler.body)
            for handler in real[0].handlers
        )

    # --- statements

    def run_body(self, body: f.Body) -> bool:
        """Follow statements in order; True when every way through them leaves the function or the loop's turn."""
        pushed = 0
        leaves = False
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
                break
            if parted is not None:
                self.address.append(("seq", parted[0]))
                self.address.append(("arm", parted[1]))
                pushed += 2
        for _ in range(pushed):
            self.address.pop()
        return leaves

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
                found = self.evaluate(value) if value is not None else NOTHING
                self.here.outcomes.append(Outcome(found, self.facts))
                return True
            case f.Raise(exception=exception):
                if exception is not None:
                    self.evaluate(exception)
                    self.asked_again(exception)
                return True
            case f.Jump():
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
                from idemlint.domain.value import Closure

                kind = self.here.body.types.get(statement.at)
                self.here.env[name] = Value(CONSTANT, closure=Closure(tuple(sorted(self.here.env.items())), kind=kind))
            case f.If():
                return self.branch(statement)[0]
        return False

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

    def match(self, statement: f.Match) -> bool:
        subject = self.evaluate(statement.subject)
        arms: list[Snapshot] = []
        before = self.snapshot()
        complete = any(case.irrefutable for case in statement.cases)
        for case in statement.cases:
            self.restore(before)
            for name in case.binds:
                self.here.env[name] = Value(subject.origins)
            if case.guard is not None:
                self.learn(*self.condition(case.guard).true)
            else:
                self.learn(*self.opaque(subject, self.site(statement.at)).true)
            self.address.append(("arm", self.next()))
            if not self.run_body(case.body):
                arms.append(self.snapshot())
            self.address.pop()
        if not complete:
            self.restore(before)
            arms.append(self.snapshot())
        self.merge(arms)
        return not arms

    def loop(self, statement: f.For) -> bool:
        iterable = self.iterated(self.evaluate(statement.iterable))
        number = self.next()
        item = self.item(iterable, statement.iterable)
        self.open_loop(number, statement.at, iterable, item, items=not _counts(statement.iterable))
        self.turn(number, statement.body, lambda: self.bind_target(statement.target, item), _bound(statement))
        return self.run_body(statement.orelse) if statement.orelse else False

    def iterated(self, iterable: Value) -> Value:
        """What a loop goes over."""
        return iterable

    def repeat(self, statement: f.While) -> bool:
        number = self.next()
        self.loops[number] = Loop(number, self.site(statement.at))
        self.turn(number, statement.body, lambda: self.learn(*self.condition(statement.test).true), _bound(statement))
        endless = isinstance(statement.test, f.Constant) and statement.test.value is True
        return endless and not _breaks(statement.body) and bool(self.here.outcomes)

    def turn(self, number: int, body: f.Body, start: Callable[[], None], rebound: frozenset[str]) -> None:
        """One turn of a loop stands for all of them."""
        before = self.snapshot()
        self.address.append(("loop", number))
        self.loops_open.append(number)
        self.here.rebound.append(rebound)
        start()
        self.run_body(body)
        self.here.rebound.pop()
        self.loops_open.pop()
        self.address.pop()
        self.facts = before.facts
        after = self.snapshot()
        self.merge([before, after])

    # --- with

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
        return go_on(entered)

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

    def in_transaction(self, at: int, text: str, inside: Callable[[], bool], opened: Site | None = None) -> bool:
        number = self.next()
        self.transactions[number] = Transaction(
            number,
            opened or self.site(at),
            text,
            self.open[-1] if self.open else None,
            tuple(self.loops_open),
            self.frames(at)[-1],
        )
        self.open.append(number)
        self.address.append(("tx", number))
        leaves = inside()
        self.address.pop()
        if number in self.open:
            self.open.remove(number)
        if not self.open:
            for run in self.waiting.pop(number, []):
                run()
        return leaves

    def in_contexts(self, body: Body, contexts: tuple[tuple[object, int], ...]) -> bool:
        """A body inside the context managers that decorate it."""
        if not contexts:
            return self.run_body(body.statements)
        (target, at), *rest = contexts
        if isinstance(target, LibraryCall) and self.catalog.role(target.path) == "transaction":
            return self.in_transaction(at, target.path, lambda: self.in_contexts(body, tuple(rest)))
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

    # --- try

    def attempt(self, statement: f.Try) -> bool:
        before = self.snapshot()
        caught = [self.exception_names(self.here.body, handler.exception) for handler in statement.handlers]
        goes_on = tuple(
            name
            for names, handler in zip(caught, statement.handlers, strict=True)
            for name in names
            if not _raises(handler.body)
        )
        first = len(self.effects)
        self.address.append(("try", self.next()))
        self.handled.append(goes_on)
        body_leaves = self.run_body(statement.body)
        self.handled.pop()
        last = len(self.effects)
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
            if self.means(names, "conflict"):
                raises, leaves = _raises(handler.body), _ends(handler.body)
                self.caught.append(self.catching(handler.at, names, range(first, last), raises, leaves))
                inserted = self.inserted_in(first, last)
                self.learn(*(Fact("conflict", effect.id, site=self.site(handler.at)) for effect in inserted))
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

    def broken_off(self, before: Snapshot, middle: Snapshot) -> list[Snapshot]:
        """How things may stand where the body of a `try` is broken off."""
        return [before, middle]

    def inserted_in(self, first: int, last: int) -> list[Effect]:
        """The inserts that a `try` with the effects from `first` to `last` sends to the database."""
        return [effect for effect in self.effects[first:last] if effect.kind in ("insert", "get-or-insert")]

    def exception_names(self, body: Body, expr: f.Expr | None) -> frozenset[str]:
        """The exceptions a handler catches, by library path; "" for a bare one."""
        if expr is None:
            return frozenset({""})
        parts = expr.items if isinstance(expr, f.Display) else (expr,)
        return frozenset(getattr(body.types.get(part.at), "path", "?") for part in parts)

    def asked_again(self, exception: f.Expr) -> None:
        """An exception by which a task asks its framework for another run, where it has no call for that."""
        named = exception.function if isinstance(exception, f.Call) else exception
        path = getattr(self.here.body.types.get(named.at), "path", "")
        task = self.program.tasks.get(self.root.task or "")
        framework = self.catalog.framework(task.framework) if task is not None else None
        if framework is None or framework.method("retry") is not None or not path.startswith(framework.libraries):
            return
        if self.means(frozenset({path}), "retry"):
            self.record("retry", exception.at, path=path)

    def means(self, names: frozenset[str], meaning: str) -> bool:
        """Whether one of the exceptions has this meaning in the catalog."""
        rows = (self.catalog.exception(name) for name in names if name and name != "?")
        return any(row is not None and row.means == meaning for row in rows)

    def breaks(self, names: frozenset[str]) -> bool:
        """Whether one of the exceptions ends the transaction that it is raised in."""
        rows = (self.catalog.exception(name) for name in names if name and name != "?")
        return any(row is not None and row.means == "conflict" and not row.keeps_transaction for row in rows)

    # --- assignment

    def bind_target(self, target: f.Expr, value: Value, expr: f.Expr | None = None) -> None:
        match target:
            case f.Name(id=name):
                self.here.env[name] = value
            case f.Starred(value=inner):
                self.bind_target(inner, Value(value.origins))
            case f.Display(items=items):
                for position, item in enumerate(items):
                    known = value.items if value.items is not None and len(value.items) == len(items) else None
                    self.bind_target(item, known[position] if known else Value(value.origins, effect=value.effect))
            case f.Attribute(base=base, name=name):
                holder = self.evaluate(base)
                if holder.thing is not None:
                    self.set_attribute(holder.thing, name, value, target, expr)
            case f.Subscript(base=base, index=index):
                self.set_item(base, index, value, target)

    def set_attribute(self, thing: Object, name: str, value: Value, target: f.Attribute, expr: f.Expr | None) -> None:
        model = self.program.models.get(thing.model or "")
        if model is None:
            self.assign(thing, name, value, self.site(target.at))
            return
        column = model.column(name)
        step = self.from_itself(expr, value, model, column) if expr is not None else ""
        self.assign(thing, column, value, self.site(target.at), step)
        self.clean.get(thing.id, set()).discard(column)

    def set_item(self, base: f.Expr, index: f.Expr, value: Value, target: f.Expr) -> None:
        holder = self.evaluate(base)
        key = self.evaluate(index)
        if key.text is not None and "{}" not in key.text:
            if self.catalog.is_key_name(key.text):
                self.use_key(key.text, value, target.at, "")
            if holder.entries is not None and isinstance(base, f.Name):
                entries = dict(holder.entries)
                entries[key.text] = replace(value, site=self.site(target.at))
                self.here.env[base.id] = replace(
                    holder, entries=tuple(entries.items()), origins=derived([holder, value]).origins
                )
        if holder.thing is not None and key.text is not None and self.is_document(holder.thing):
            counted = "arithmetic" if value.step == (holder.thing.id, key.text) else ""
            self.assign(holder.thing, key.text, value, self.site(target.at), counted)
        if holder.column is not None:
            thing = self.things.get(holder.column[0])
            if thing is not None and thing.model is not None:
                self.assign(
                    thing, holder.column[1], Value(holder.origins, column=holder.column), self.site(target.at), "item"
                )

    def augment(self, statement: f.Augment) -> None:
        """`target += value`."""
        target = statement.target
        old = self.evaluate(target)
        added = self.evaluate(statement.value)
        text = None
        if statement.operator == "+" and (old.text is not None or added.text is not None):
            text = (old.text or "{}") + (added.text or "{}")
        step = old.column or old.step
        value = Value(derived([old, added]).origins, text=text, step=step)
        if isinstance(target, f.Attribute):
            holder = self.evaluate(target.base)
            if holder.thing is not None:
                model = self.program.models.get(holder.thing.model or "")
                column = model.column(target.name) if model is not None else target.name
                kind = "arithmetic" if step is not None and step[1] == column else ""
                self.assign(holder.thing, column, value, self.site(statement.at), kind)
                self.clean.get(holder.thing.id, set()).discard(column)
        elif isinstance(target, f.Name):
            self.here.env[target.id] = value if old.rows is None else old
        elif isinstance(target, f.Subscript):
            self.set_item(target.base, target.index, value, target)


def _counts(iterable: f.Expr) -> bool:
    """`range(3)`: a loop of attempts, not of items."""
    return isinstance(iterable, f.Call) and isinstance(iterable.function, f.Name) and iterable.function.id == "range"


def _path(target: object, kind: object) -> str:
    if isinstance(target, LibraryCall):
        return target.path
    return kind.path if isinstance(kind, LibraryType | LibraryInstance) else ""


def _raises(body: f.Body) -> bool:
    """Whether a handler ends by raising, so that the error is not swallowed."""
    for statement in body:
        if isinstance(statement, f.Raise):
            return True
        if isinstance(statement, f.If) and _raises(statement.body) and _raises(statement.orelse):
            return True
        if isinstance(statement, f.Evaluate | f.Return) and isinstance(statement.value, f.Call):
            function = statement.value.function
            if isinstance(function, f.Attribute) and function.name == "retry":
                return True
    return False


def _ends(body: f.Body) -> bool:
    """Whether a body ends the loop around it."""
    return bool(body) and (isinstance(body[-1], f.Return | f.Raise) or _breaks(body[-1:]))


def _breaks(body: f.Body) -> bool:
    for statement in body:
        if isinstance(statement, f.Jump) and statement.kind == "break":
            return True
        inner = [getattr(statement, name) for name in ("body", "orelse", "final") if hasattr(statement, name)]
        if not isinstance(statement, f.For | f.While | f.Function | f.Class) and any(_breaks(part) for part in inner):
            return True
    return False


def _bound(statement: f.For | f.While) -> frozenset[str]:
    """Names that each turn of a loop binds anew."""
    found: set[str] = set()
    todo: list[object] = [statement.body]
    if isinstance(statement, f.For):
        found |= _target_names(statement.target)
    while todo:
        part = todo.pop()
        if isinstance(part, tuple):
            todo.extend(part)
        elif isinstance(part, f.Assign):
            for target in part.targets:
                found |= _target_names(target)
        elif isinstance(part, f.Function | f.Class):
            found.add(part.name)
        elif isinstance(part, f.For):
            found |= _target_names(part.target)
            todo.extend((part.body, part.orelse))
        elif isinstance(part, f.With):
            for _, bound in part.items:
                found |= _target_names(bound) if bound is not None else set()
            todo.append(part.body)
        elif hasattr(part, "body"):
            todo.extend(
                getattr(part, name) for name in ("body", "orelse", "handlers", "final", "cases") if hasattr(part, name)
            )
    return frozenset(found)


def _target_names(target: f.Expr) -> set[str]:
    match target:
        case f.Name(id=name):
            return {name}
        case f.Display(items=items):
            return {name for item in items for name in _target_names(item)}
        case f.Starred(value=value):
            return _target_names(value)
    return set()


__all__ = ["TaskType", "Walk", "join"]
