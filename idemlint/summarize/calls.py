"""Calls: entering the project's functions, recording what libraries do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from idemlint.catalog import Arguments, Slot
from idemlint.catalog import Effect as Row
from idemlint.domain.effect import Effect, Frame, Key
from idemlint.domain.summary import Hook
from idemlint.domain.value import (
    CONSTANT,
    NOTHING,
    Closure,
    Origin,
    Outcome,
    Value,
    derived,
    join,
    origins_of,
)
from idemlint.program import (
    Body,
    Construction,
    DataCall,
    EnqueueCall,
    LibraryCall,
    PartialType,
    ProjectCall,
    RoutineType,
    SendingType,
    TaskMethodType,
    UnresolvedCall,
    bind,
)
from idemlint.summarize.locks import Locks
from idemlint.summarize.state import Activation
from idemlint.syntax import facts as f

ITEMS = 16
"""A list is followed up to so many elements that the code adds by name."""

CLAMPS = frozenset({"builtins.max", "builtins.min", "builtins.round", "builtins.abs", "builtins.int"})
"""What is still an old value plus something after these: `max(stock.quantity - sold, 0)`."""


class Given:
    """The arguments of one call as values, with the ordinals of the expressions they were written as."""

    def __init__(
        self,
        positional: Sequence[Value],
        keywords: Mapping[str, Value],
        places: Mapping[int | str, int] | None = None,
        rest: Value | None = None,
    ) -> None:
        """`rest` stands for what `*args` and `**kwargs` of the function around bring along, unseen."""
        self.positional = tuple(positional)
        self.keywords = dict(keywords)
        self.places = places or {}
        self.rest = rest

    def at(self, slots: Sequence[Slot]) -> Value | None:
        """The value at the first slot that is filled; an item of a dict where the slot names one."""
        for slot in slots:
            found = self._whole(slot)
            for item in slot.items:
                found = found.entry(item) if found is not None else None
            if found is not None:
                return found
        return None

    def place(self, slot: Slot) -> int | None:
        """The ordinal of the argument at a slot."""
        return self.places.get(slot.position if slot.position is not None else slot.name or "")

    def _whole(self, slot: Slot) -> Value | None:
        if slot.position is not None:
            return self.positional[slot.position] if slot.position < len(self.positional) else None
        return self.keywords.get(slot.name or "")

    def literals(self) -> Arguments:
        """As the catalog tests them: literals, `...` for what cannot be told."""
        found: dict[str, object] = {f"#{index}": _literal(value) for index, value in enumerate(self.positional)}
        found.update({name: _literal(value) for name, value in self.keywords.items()})
        return found

    def all(self) -> list[Value]:
        return [*self.positional, *self.keywords.values()]


class Calls(Locks):
    """The part of a walk that follows calls."""

    def data(self, target: DataCall, expr: f.Call, receiver: Value) -> Value:
        raise NotImplementedError

    def run_body(self, body: f.Body) -> bool:
        raise NotImplementedError

    def call(self, expr: f.Call) -> Value:
        callee = self.callee(expr.function)
        target = self.here.body.targets.get(expr.at)
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
        match target:
            case ProjectCall(body=key):
                self.calls += 1
                return self.enter(key, self.bound(self.program.bodies[key], callee, given), expr.at)
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
                return Value()
        return self.plain(callee, given, expr)

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

    # --- the project's own functions

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
                literal = parameter.default
                env[parameter.name] = (
                    Value(
                        CONSTANT,
                        literal=(literal.value,),
                        text=literal.value if isinstance(literal.value, str) else None,
                    )
                    if isinstance(literal, f.Constant)
                    else Value(CONSTANT)
                )
            else:
                env[parameter.name] = Value()
        return env

    def enter(self, key: str, env: dict[str, Value], at: int) -> Value:
        """Follow a function from its first line to its ways out."""
        body = self.program.bodies[key]
        if len(self.stack) >= self.depth or self.steps >= self.limit or not self.worth(key):
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

    def in_contexts(self, body: Body, contexts: tuple[tuple[object, int], ...]) -> bool:
        raise NotImplementedError

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

    # --- libraries

    def plain(self, callee: Value, given: Given, expr: f.Call) -> Value:
        """A method of a builtin, or a call whose target says nothing: it depends on its receiver and arguments."""
        for value in given.all():
            self.looked_at(value)
        name = expr.function.name if isinstance(expr.function, f.Attribute) else ""
        receiver = callee.closure.receiver if callee.closure else None
        if receiver is not None and receiver.entries is not None and given.positional:
            key = given.positional[0]
            if name in ("get", "pop") and key.text is not None:
                found = receiver.entry(key.text)
                if found is not None:
                    return found
        if name in ("append", "extend", "insert") and receiver is not None and receiver.column is not None:
            self.lengthen(receiver, expr)
        if name in ("append", "add", "extend") and given.positional and isinstance(expr.function, f.Attribute):
            self.grow(expr.function.base, name, given.positional[0])
        values = [value for value in (receiver, *given.all()) if value is not None and value.varies]
        text = (
            receiver.text if receiver is not None and name in ("format", "strip", "lower", "encode", "rstrip") else None
        )
        result = derived(values, text)
        if receiver is not None and receiver.column is not None and name in ("append", "extend", "update", "copy"):
            return replace(result, column=receiver.column)
        return result

    def lengthen(self, receiver: Value, expr: f.Call) -> None:
        """`order.history.append(line)`: the column gets longer with the next save."""
        assert receiver.column is not None
        thing = self.things.get(receiver.column[0])
        if thing is not None and thing.model is not None:
            value = Value(receiver.origins, column=receiver.column)
            self.assign(thing, receiver.column[1], value, self.site(expr.at), "append")

    def grow(self, base: f.Expr, method: str, added: Value) -> None:
        """`rows.append(row)`: what a list holds, as far as a bulk insert or update of it needs to know."""
        if not isinstance(base, f.Name):
            return
        held = self.here.env.get(base.id)
        if held is None or held.items is None or len(held.items) >= ITEMS:
            return
        more = (added.items or ()) if method == "extend" else (added,)
        origins = origins_of((held, *more)) if held.items else origins_of(more)
        self.here.env[base.id] = replace(held, items=(*held.items, *more)[:ITEMS], origins=origins)

    def library(self, target: LibraryCall, callee: Value, given: Given, expr: f.Call) -> Value:
        path = target.path
        role = self.catalog.role(path)
        if role == "on-commit":
            return self.on_commit(target, given, expr)
        if role == "partial" and given.positional:
            return self.partial(given)
        holder = callee.closure.receiver if callee.closure is not None else None
        if role in ("acquire", "release") and holder is not None and isinstance(expr.function, f.Attribute):
            if role == "acquire":
                return self.acquire(expr.function.base, holder, expr)
            self.release(expr.function.base, holder)
        if role in ("log", "metric"):
            self.spoken = len(self.effects)
        row = self.catalog.effect(path)
        guard = self.catalog.guard(path, given.literals())
        if row is not None:
            value = self.effect(row.given(given.literals()), path, callee, given, expr)
        elif guard is not None:
            for argument in given.all():
                self.looked_at(argument)
            effect = self.record("lock", expr.at, path=path, arguments=arguments_of(given))
            value = Value(effect=(effect.id, "result"))
        else:
            for argument in given.all():
                self.looked_at(argument)
            value = None
        if guard is not None and value is not None and value.effect is not None:
            return self.guarding(guard, value, expr)
        if value is not None:
            return value
        for _, callback in target.callbacks:
            if isinstance(callback, str):
                self.enter(callback, {}, expr.at)
        return self.result(path, callee, given, expr)

    def result(self, path: str, callee: Value, given: Given, expr: f.Call) -> Value:
        """What a library call without effect gives."""
        origin = self.library_origin(path, expr.at, len(given.positional) + len(given.keywords))
        if origin is not None:
            return Value(frozenset({origin}))
        receiver = callee.closure.receiver if callee.closure else None
        if path == "builtins.bool" and given.positional:
            asked = given.positional[0]
            return Value(asked.origins, test=self.truth(asked, self.site(expr.at)))
        if path == "builtins.dict":
            entries = dict(given.positional[0].entries or ()) if given.positional else {}
            entries.update(given.keywords)
            return replace(derived(given.all()), entries=tuple(entries.items()))
        if self.catalog.origin(path, len(given.positional)) == "arguments":
            values = [value for value in (receiver, *given.all()) if value is not None]
            return self._passed_on(path, values, expr.at)
        if path.startswith("builtins."):
            for value in given.all():
                if value.rows is not None and value.rows.lock is not None:
                    self.fetch(value.rows, expr.at)
            return self.plain(callee, given, expr)
        if receiver is not None and receiver.effect is not None:
            return Value(receiver.origins, effect=receiver.effect)
        values = [value for value in (receiver, *given.all()) if value is not None and value.varies]
        made = path if path.rpartition(".")[2][:1].isupper() else ""
        parts = arguments_of(given) if made else None
        return Value(derived([Value(), *values]).origins if values else CONSTANT, entries=parts, made=made)

    def _passed_on(self, path: str, values: list[Value], at: int) -> Value:
        """The result of a pure function: `list(rows)` and `str(key)` keep what they were made of."""
        for value in values:
            if value.rows is not None and value.rows.lock is not None:
                self.fetch(value.rows, at)
        whole = derived(values)
        if path in CLAMPS:
            return replace(whole, step=next((value.step for value in values if value.step is not None), None))
        if len(values) == 1:
            only = values[0]
            return replace(
                whole, text=only.text, rows=only.rows, items=only.items, effect=only.effect, column=None, step=only.step
            )
        return whole

    def partial(self, given: Given) -> Value:
        first = given.positional[0]
        closure = first.closure or Closure()
        return replace(
            first,
            closure=replace(
                closure,
                positional=(*closure.positional, *given.positional[1:]),
                keywords=(*closure.keywords, *given.keywords.items()),
            ),
        )

    def effect(self, row: Row, path: str, callee: Value, given: Given, expr: f.Call) -> Value:
        """A call that the catalog says changes or reads something outside."""
        verb, url = "", ""
        if row.http is not None:
            said = given.at(row.http.verb_argument) if row.http.verb_argument else None
            verb = row.http.verb or (str(said.literal[0]).upper() if said is not None and said.literal else "")
            address = given.at(row.http.url)
            url = address.text or "" if address is not None else ""
        for value in given.all():
            self.looked_at(value)
        receiver = callee.closure.receiver if callee.closure else None
        holder = (("self", receiver),) if receiver is not None and receiver.made else ()
        effect = self.record(
            "external",
            expr.at,
            row=row,
            path=path,
            verb=verb,
            url=url,
            key=self.key(row, given, expr),
            arguments=(*arguments_of(given), *holder),
        )
        if row.replay == "natural":
            values = [value for value in (receiver, *given.all()) if value is not None]
            return Value(derived([Value(), *values]).origins, effect=(effect.id, "result"))
        keyed = effect.key is not None and effect.key.value.stable
        origin = Origin("stored" if keyed else "response", path, effect.site)
        return Value(frozenset({replace(origin, site=None) if keyed else origin}), effect=(effect.id, "result"))

    def key(self, row: Row, given: Given, expr: f.Call) -> Key | None:
        """The idempotency key a call is given: where its row says, or in any header or parameter named like one."""
        for slot in row.key:
            if slot.items[-1:] == ("*",):
                whole = given.at([replace(slot, items=slot.items[:-1])])
                for header, sent in whole.entries or () if whole is not None else ():
                    if self.catalog.is_key_header(header):
                        return Key(header, sent, sent.site or self.site(expr.at))
                continue
            value = given.at([slot])
            if value is not None and value.literal != (None,):
                name = slot.items[-1] if slot.items else slot.name or ""
                at = given.place(slot)
                key = Key(name, value, self.site(expr.at if at is None else at))
                if not self.catalog.is_key_name(name):
                    self.use_key(name, value, expr.at if at is None else at, "")
                return key
        for name, value in given.keywords.items():
            if self.catalog.is_key_name(name) and value.literal != (None,):
                return Key(name, value, self.site(given.places.get(name, expr.at)))
            for inner, item in value.entries or ():
                if self.catalog.is_key_header(inner) and self.catalog.is_key_name(inner):
                    return Key(inner, item, item.site or self.site(expr.at))
        return None

    # --- sending tasks and commit hooks

    def enqueue(self, target: EnqueueCall, expr: f.Call) -> Effect:
        arguments = tuple((name, self.evaluate_quietly(value)) for name, value in target.arguments)
        for argument in expr.arguments:
            if not any(argument.value is value for _, value in target.arguments):
                self.evaluate(argument.value)
            elif not isinstance(argument.value, f.Name | f.Constant | f.Attribute):
                found = self.evaluate(argument.value)
                arguments = tuple(
                    (name, found if value is argument.value else known)
                    for (name, known), (_, value) in zip(arguments, target.arguments, strict=True)
                )
        kind = "retry" if target.does == "retry" else "enqueue"
        if kind == "retry":
            arguments = tuple((name, self.evaluate_quietly(value)) for name, value in target.options)
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


def arguments_of(given: Given) -> tuple[tuple[str, Value], ...]:
    """Arguments by name, positional ones as `#0`."""
    return (*((f"#{index}", value) for index, value in enumerate(given.positional)), *given.keywords.items())


def _literal(value: Value) -> object:
    return value.literal[0] if value.literal is not None else ...


def _free_names(fact: f.Lambda | f.Function) -> set[str]:
    """Names in the body of a function; defaults of parameters are worked out where it is made."""
    return {part.id for part in f.walk(fact.body) if isinstance(part, f.Name)}
