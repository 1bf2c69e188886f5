"""Calls: who is called with what."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from idemlint.domain.value import Closure, Origin, Value, join
from idemlint.program import (
    ChoiceCall,
    Construction,
    DataCall,
    EnqueueCall,
    LibraryCall,
    ProjectCall,
    Target,
    UnresolvedCall,
)
from idemlint.summarize.given import Given
from idemlint.summarize.holding import PUTS
from idemlint.summarize.libraries import Libraries
from idemlint.summarize.state import Snapshot
from idemlint.syntax import facts as f


class Calls(Libraries):
    """The part of a walk that tells calls apart."""

    def data(self, target: DataCall, expr: f.Call, receiver: Value) -> Value:
        raise NotImplementedError

    def call(self, expr: f.Call) -> Value:
        callee = self.callee(expr.function)
        target = self.here.body.targets.get(expr.at)
        return self.choose(target, callee, expr) if isinstance(target, ChoiceCall) else self.reach(target, callee, expr)

    def choose(self, choice: ChoiceCall, callee: Value, expr: f.Call) -> Value:
        """One of several is called: a branch with an arm for each."""
        outermost = choice.by_name and self.before is None
        if outermost:
            self.before = self.steps
        before = self.snapshot()
        arms: list[Snapshot] = []
        values: list[Value] = []
        self.address.append(("seq", self.next()))
        several = len(choice.targets) > 1
        self.unspelled += several
        for target in choice.targets:
            self.restore(before)
            self.address.append(("arm", self.next()))
            values.append(self.reach(target, callee, expr))
            self.address.pop()
            arms.append(self.snapshot())
        self.unspelled -= several
        self.address.pop()
        self.merge(arms)
        if outermost and self.before is not None:
            taken, self.before = self.steps - self.before, None
            self.aside -= taken
            self.limit += taken
        return reduce(join, values)

    def reach(self, target: Target | None, callee: Value, expr: f.Call) -> Value:
        """A call of this target."""
        if isinstance(target, DataCall):
            return self.data(
                target, expr, callee.closure.receiver if callee.closure and callee.closure.receiver else callee
            )
        given = self.given(expr)
        if callee.closure is not None:
            bound = callee.closure.positional
            places = {name + len(bound) if isinstance(name, int) else name: at for name, at in given.places.items()}
            keywords = {**dict(callee.closure.keywords), **given.keywords}
            given = Given([*bound, *given.positional], keywords, places, given.rest)
        if self.inner is not None and not isinstance(target, ProjectCall) and _runs_task(expr):
            return self.inner()
        if (known := self.asked_in_memory(expr)) is not None:
            return Value(frozenset({Origin("process")}), test=known)
        if isinstance(expr.function, f.Attribute) and expr.function.name in PUTS:
            self.put_into(expr.function.base, expr.function.name, given)
        if isinstance(target, LibraryCall | UnresolvedCall) and self.open and self.catalog.is_lock_name(_method(expr)):
            self.record("read", expr.at, lock=self.open[0], opaque=True)
        match target:
            case ProjectCall():
                return self.project(target, callee, given, expr)
            case Construction():
                return self.made(target, given, expr)
            case LibraryCall():
                return self.library(target, callee, given, expr)
            case EnqueueCall():
                self.enqueue(target, expr)
                return Value()
            case UnresolvedCall(name=name):
                self.unresolved[self.site(expr.at)] = name
                for value in given.all():
                    self.looked_at(value)
                return self.part_of_message(callee, given, expr) or Value()
        return self.plain(callee, given, expr)

    def project(self, target: ProjectCall, callee: Value, given: Given, expr: f.Call) -> Value:
        """A function of the project, and the transactions that it was wrapped in: `atomic(f)(order)`."""
        self.calls += 1
        opened = [self.opened(expr.at, path) for path in target.within]
        value = self.enter(target.body, self.bound(self.program.bodies[target.body], callee, given), expr.at)
        for number in reversed(opened):
            self.ended(number)
        return value

    def callee(self, function: f.Expr) -> Value:
        """What is called; a method brings its receiver along."""
        if isinstance(function, f.Attribute):
            receiver = self.evaluate(function.base)
            self.looked_at(receiver)
            kept = receiver.entry(function.name)
            if receiver.thing is not None:
                written = self.heap.get(receiver.thing.id, {}).get(function.name)
                kept = written.value if written is not None else kept
            if kept is not None and kept.closure is not None:
                return kept
            return replace(receiver, closure=Closure(receiver=receiver, kind=self.type_of(function)), test=None)
        return self.evaluate(function)

    def given(self, expr: f.Call) -> Given:
        positional: list[Value] = []
        keywords: dict[str, Value] = {}
        places: dict[int | str, int] = {}
        rest: Value | None = None
        for argument in expr.arguments:
            value = self.evaluate(argument.value)
            if argument.star and (value.items if argument.star == "*" else value.entries) is None:
                rest = value
            if argument.star == "*":
                positional.extend(value.items or ())
            elif argument.star == "**":
                keywords.update(value.entries or ())
            elif argument.name is not None:
                keywords[argument.name] = value
                places[argument.name] = argument.value.at
                if self.catalog.is_key_name(argument.name):
                    self.use_key(argument.name, value, argument.value.at, "")
            else:
                places[len(positional)] = argument.value.at
                positional.append(value)
        return Given(positional, keywords, places, rest)


def _runs_task(expr: f.Call) -> bool:
    """Whether a call runs the task that stands around it: `super().__call__(...)`, `self.run(...)`, or whatever it was
    kept as, given all that the wrapper was given: `original(*args, **kwargs)`."""
    named = isinstance(expr.function, f.Attribute) and expr.function.name in ("__call__", "run")
    return named or {argument.star for argument in expr.arguments} == {"*", "**"}


def _method(expr: f.Call) -> str:
    """The name of the method that is called; "" where it is none."""
    return expr.function.name if isinstance(expr.function, f.Attribute) else ""
