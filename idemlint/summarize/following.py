"""The project's own functions: the names they start with, the ways out of them."""

from __future__ import annotations

from dataclasses import replace

from idemlint.domain.effect import Frame
from idemlint.domain.value import CONSTANT, NOTHING, Closure, Origin, Outcome, Value, derived, join, origins_of
from idemlint.program import Body, Construction, bind
from idemlint.summarize.given import Given, arguments_of
from idemlint.summarize.state import Activation
from idemlint.summarize.transactions import Transactions
from idemlint.summarize.values import constant
from idemlint.syntax import facts as f


class Following(Transactions):
    """The part of a walk that enters functions."""

    def run_body(self, body: f.Body) -> bool:
        raise NotImplementedError

    def in_contexts(self, body: Body, contexts: tuple[tuple[object, int], ...]) -> bool:
        raise NotImplementedError

    def bound(self, body: Body, callee: Value, given: Given) -> dict[str, Value]:
        """Names a function starts with: what it closes over, its receiver, its arguments and defaults."""
        closure = callee.closure or Closure()
        env = dict(closure.captured)
        parameters = body.parameters
        if body.receiver and parameters:
            env[parameters[0].name] = closure.receiver or callee
            parameters = parameters[1:]
        named, extra, spare = bind(parameters, given.positional, given.keywords)
        for parameter in parameters:
            if parameter.kind == "*":
                env[parameter.name] = replace(derived(extra), items=extra)
            elif parameter.kind == "**":
                env[parameter.name] = replace(derived(spare.values()), entries=tuple(spare.items()))
            elif parameter.name in named:
                env[parameter.name] = named[parameter.name]
            elif given.rest is not None and all(origin.kind == "argument" for origin in given.rest.origins):
                env[parameter.name] = Value(frozenset({Origin("argument", parameter.name)}))
            elif parameter.default is not None:
                env[parameter.name] = _default(body, parameter.default)
            else:
                env[parameter.name] = Value()
        return env

    def enter(self, key: str, env: dict[str, Value], at: int) -> Value:
        """Follow a function from its first line to its ways out."""
        body = self.program.bodies[key]
        if len(self.stack) >= self.depth or self.spent() or not self.worth(key):
            return Value(origins_of([Value(), *(value for value in env.values() if value.varies)]))
        if sum(1 for activation in self.stack if activation.body.function == body.function) > 1:
            return Value()
        if body.is_generator:
            return self._generated(body, env, at)
        return self.follow(body, env, at)

    def _generated(self, body: Body, env: dict[str, Value], at: int) -> Value:
        """A generator that is iterated over: its body runs, its elements are what it yields."""
        produced: list[Value] = []

        def take(value: Value) -> bool:
            produced.append(value)
            return False

        self.follow(body, env, at, take)
        if not produced:
            return Value(items=())
        return Value(origins_of(produced), items=tuple(produced))

    def follow(self, body: Body, env: dict[str, Value], at: int, resume: object = None) -> Value:
        """Walk a body with these names; its facts stay true for the caller as far as every way out agrees."""
        frame = Frame(self.site(at), self.here.body.function, self.here.body.name)
        activation = Activation(body, env, frame)
        if resume is not None:
            activation.resume = resume  # type: ignore[assignment]
        before = self.facts
        self.address.append(("call", self.next()))
        self.stack.append(activation)
        leaves = self.in_contexts(body, body.contexts)
        self.stack.pop()
        self.address.pop()
        if not leaves:
            activation.outcomes.append(Outcome(NOTHING, self.facts))
        ways = activation.outcomes
        if not ways:
            self.facts = before
            return Value()
        held = ways[0].facts
        result = ways[0].value
        for way in ways[1:]:
            held &= way.facts
            result = join(result, way.value)
        self.facts = held
        if len(ways) > 1:
            result = replace(
                result, outcomes=tuple(Outcome(way.value, way.facts - held) for way in ways), test=None, literal=None
            )
        return result

    def made(self, target: Construction, given: Given, expr: f.Call) -> Value:
        """An instance of a project class; its `__init__` runs, a dataclass keeps its fields."""
        thing = self.thing(None)
        value = Value(origins_of(given.all()), thing=thing)
        if target.body is not None:
            body = self.program.bodies[target.body]
            env = self.bound(body, Value(closure=Closure(receiver=value)), given)
            self.enter(target.body, env, expr.at)
        for base in target.library:
            guard = self.catalog.guard(base, given.literals())
            if guard is not None:
                effect = self.record("lock", expr.at, path=base, arguments=arguments_of(given))
                value = replace(value, effect=(effect.id, "result"))
                self.guarding(guard, value, expr)
        for name, argument in given.keywords.items():
            if name not in self.heap.get(thing.id, {}):
                self.assign(thing, name, argument, self.site(expr.at))
        return value


def _default(body: Body, default: f.Expr) -> Value:
    if isinstance(default, f.Constant):
        text = default.value if isinstance(default.value, str) else None
        return Value(CONSTANT, literal=(default.value,), text=text)
    return constant(body.constants[default.at]) if default.at in body.constants else Value(CONSTANT)
