"""Calls of libraries: what they change outside, and what they give."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from idemlint.catalog import Effect as Row
from idemlint.domain.effect import Key
from idemlint.domain.guard import argument
from idemlint.domain.value import CONSTANT, NOTHING, UNKNOWN, Closure, Origin, Rows, Value, derived
from idemlint.link import calculation
from idemlint.link.values import Known
from idemlint.program import EitherType, LibraryCall, RoutineType
from idemlint.summarize.given import Given, arguments_of
from idemlint.summarize.holding import Holding
from idemlint.summarize.texts import METHODS, by_function, by_method
from idemlint.syntax import facts as f

OF_ITSELF = frozenset("append extend update copy get".split())
"""Methods of what a column holds after which, or with whose answer, it is still spoken of that column."""

CLAMPS = frozenset({"builtins.max", "builtins.min", "builtins.round", "builtins.abs", "builtins.int"})
"""What is still an old value plus something after these: `max(stock.quantity - sold, 0)`."""


NUMBERS = frozenset({"datetime.timedelta", "builtins.float", "builtins.int", "builtins.max", "builtins.min"})
"""Calls that give a number or a time, worked out where they are given literals."""

SEARCHES = frozenset({"builtins.any", "builtins.all", "builtins.next"})

COPIES = frozenset({"builtins.list", "builtins.set", "builtins.tuple", "builtins.sorted"})
"""What holds the same things after these."""

ASK_ATTRIBUTE = frozenset({"builtins.hasattr", "builtins.getattr"})


class Libraries(Holding):
    """The part of a walk that reads what the catalog says of a call."""

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
        if role == "enter-context" and given.positional:
            return self.enter_context(given.positional[0], expr)
        if role == "transaction" and given.positional and given.positional[0].closure is not None:
            return given.positional[0]
        self.by_hand(path, role, expr.at)
        given_by_queue = self.of_queue(path, holder, given, expr)
        if given_by_queue is not None:
            return given_by_queue
        if path == "builtins.getattr" and given.positional and isinstance(self.type_of(expr), RoutineType | EitherType):
            holder = given.positional[0]
            return replace(holder, closure=Closure(receiver=holder, kind=self.type_of(expr)), test=None)
        if path in ASK_ATTRIBUTE and (there := self.attribute_there(path, given, expr)) is not None:
            return there
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
        for place, callback in target.callbacks:
            if isinstance(callback, str):
                answer = self.enter(callback, self.handed(callback, role, given, place), expr.at)
                if path == "builtins.filter" and len(given.positional) == 2:
                    # What passes is of the things given, and the function has said yes to each.
                    return replace(given.positional[1], test=self.truth(answer, self.site(expr.at)))
        return self.result(path, callee, given, expr)

    def handed(self, callback: str, role: str | None, given: Given, place: int) -> dict[str, Value]:
        """What a function that a library calls is called with, as far as that is told."""
        if role != "submit" or given.places.get(0) != place:
            return {}
        return self.bound(
            self.program.bodies[callback], given.positional[0], Given(given.positional[1:], given.keywords)
        )

    def attribute_there(self, path: str, given: Given, expr: f.Call) -> Value | None:
        """`hasattr(order, "invoice")`, `getattr(order, "invoice", None)`, where that is a row which points back."""
        asked, name = (*given.positional, NOTHING, NOTHING)[:2]
        test = self.has(asked, name.text or "", self.site(expr.at))
        if test is None or asked.thing is None:
            return None
        found = self.of_thing(asked.thing, name.text or "", self.type_of(expr))
        return Value(found.origins, thing=found.thing if path == "builtins.getattr" else None, test=test)

    def enter_context(self, manager: Value, expr: f.Call) -> Value:
        """`stack.enter_context(atomic())`: open until the stack's own block ends."""
        asked = expr.arguments[0].value
        path = getattr(self.type_of(asked), "path", "")
        lock = self.lock_of(asked, manager)
        if path and self.catalog.role(path) == "transaction":
            self.by_hand(f"{path}.__enter__", None, expr.at)
        elif lock is not None:
            self.take(lock, expr.at)
        return manager

    def result(self, path: str, callee: Value, given: Given, expr: f.Call) -> Value:
        """What a library call without effect gives."""
        origin = self.library_origin(path, expr.at, len(given.positional) + len(given.keywords))
        if origin is not None:
            return Value(frozenset({origin}))
        if (part := self.part_of_message(callee, given, expr)) is not None:
            return part
        receiver = callee.closure.receiver if callee.closure else None
        number = _calculated(path, receiver, given)
        if number is not None:
            return Value(derived([*given.all(), *([receiver] if receiver is not None else [])]).origins, literal=number)
        if path == "builtins.dict.get" and receiver is not None and receiver.rows is not None:
            return self.looked_for(receiver.rows)
        if path == "builtins.bool" and given.positional:
            asked = given.positional[0]
            return Value(asked.origins, test=self.truth(asked, self.site(expr.at)))
        if path in SEARCHES and given.positional and given.positional[0].column is not None:
            # What a column holds is looked through for something.
            return Value(given.positional[0].origins, column=given.positional[0].column)
        if path == "builtins.dict":
            entries = dict(given.positional[0].entries or ()) if given.positional else {}
            entries.update(given.keywords)
            copied = given.positional[0].column if given.positional and not given.keywords else None
            return replace(derived(given.all()), entries=tuple(entries.items()), column=copied)
        if path.removeprefix("builtins.str.") in METHODS:
            return self.plain(callee, given, expr)
        if self.catalog.origin(path, len(given.positional)) == "arguments":
            values = [value for value in (receiver, *given.all()) if value is not None]
            whole = self._passed_on(path, values, expr.at)
            text = by_function(path, receiver, given)
            return whole if text is None else replace(whole, text=text)
        if self.catalog.role(path) == "transparent" and given.positional:
            return given.positional[0]
        if path.startswith("builtins."):
            for value in given.all():
                if value.rows is not None and value.rows.lock is not None:
                    self.fetch(value.rows, expr.at)
            return self.plain(callee, given, expr)
        if receiver is not None and receiver.effect is not None:
            return Value(receiver.origins, effect=receiver.effect, read=receiver.read)
        values = [value for value in (receiver, *given.all()) if value is not None and value.varies]
        kind = self.catalog.returns(path) or path
        made = kind if kind.rpartition(".")[2][:1].isupper() else ""
        parts = arguments_of(given) if made else None
        return Value(derived([Value(), *values]).origins if values else CONSTANT, entries=parts, made=made)

    def _passed_on(self, path: str, values: list[Value], at: int) -> Value:
        """The result of a pure function: `list(rows)` and `str(key)` keep what they were made of."""
        for value in values:
            if value.rows is not None and value.rows.lock is not None:
                self.fetch(value.rows, at)
        varying = [value for value in values if value.varies or value.read is not None]
        whole = derived(values)
        if len(varying) == 1:
            whole = replace(whole, read=varying[0].read, tally=varying[0].tally)
        if path in CLAMPS:
            return replace(whole, step=next((value.step for value in values if value.step is not None), None))
        if len(values) == 1:
            only = values[0]
            return replace(
                whole,
                text=only.text,
                rows=replace(only.rows, fetched=True)
                if only.rows is not None and path == "builtins.set"
                else only.rows,
                items=only.items,
                effect=only.effect,
                column=None,
                step=only.step,
                test=only.test if path in COPIES else None,
                entries=only.entries if only.made else None,
                made=only.made,
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
            key=self.key(row, given, expr) or self.key_of_client(row, receiver),
            arguments=(*arguments_of(given), *holder),
        )
        insists = argument(effect, row.http.heard) if row.http is not None else None
        if insists is not None and insists.literal not in ((False,), (None,)):
            self.answered.add(effect.id)
        if row.kind == "take":
            return Value(frozenset({Origin("taken", str(effect.id))}), effect=(effect.id, "result"))
        if row.replay == "natural":
            values = [value for value in (receiver, *given.all()) if value is not None]
            read = effect.id if row.kind == "read" else None
            return Value(derived([Value(), *values]).origins, effect=(effect.id, "result"), read=read)
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
        for slot in row.key:
            if slot.items[-1:] not in ((), ("*",)) and given.may_be_at(slot):
                return Key(slot.items[-1], Value(), self.site(expr.at))
        for name, value in given.keywords.items():
            if self.catalog.is_key_name(name) and value.literal != (None,):
                return Key(name, value, self.site(given.places.get(name, expr.at)))
            for inner, item in value.entries or ():
                if self.catalog.is_key_header(inner) and self.catalog.is_key_name(inner):
                    return Key(inner, item, item.site or self.site(expr.at))
        return None

    def key_of_client(self, row: Row, client: Value | None) -> Key | None:
        """The key among the headers that a client was made with and sends with each request."""
        headers = client.entry("headers") if client is not None and client.made and row.http is not None else None
        for name, sent in (headers.entries or ()) if headers is not None else ():
            if self.catalog.is_key_header(name) and sent.site is not None:
                return Key(name, sent, sent.site)
        return None

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
                if not receiver.partial and len(given.positional) > 1:
                    return given.positional[1]
        if name in ("append", "extend", "insert") and receiver is not None and receiver.column is not None:
            self.lengthen(receiver, expr)
        if name == "get" and receiver is not None and receiver.rows is not None:
            return self.looked_for(receiver.rows)
        values = [value for value in (receiver, *given.all()) if value is not None and value.varies]
        text = None
        if receiver is not None and receiver.text is not None:
            text = by_method(name, receiver.text, given.positional, given.keywords)
        result = derived(values, text)
        if name in ("get", "pop") and receiver is not None and receiver.entries is None and _mixed(receiver):
            # Which part of it this is nobody knows.
            return Value(result.origins - set(receiver.unstable) | {UNKNOWN})
        if receiver is not None and receiver.read is not None and name in OF_ITSELF:
            return replace(result, read=receiver.read)
        if receiver is not None and receiver.column is not None and name in OF_ITSELF:
            return replace(result, column=receiver.column)
        return result

    def lengthen(self, receiver: Value, expr: f.Call) -> None:
        """`order.history.append(line)`: the column gets longer with the next save."""
        assert receiver.column is not None
        thing = self.things.get(receiver.column[0])
        if thing is not None and thing.model is not None:
            value = Value(receiver.origins, column=receiver.column)
            self.assign(thing, receiver.column[1], value, self.site(expr.at), "append")

    def looked_for(self, rows: Rows) -> Value:
        """The row that is looked for among such as were read before, if it is there."""
        thing = self.thing(rows.model, lookup=rows.lookup, each=True)
        return Value(frozenset({Origin("row", rows.model)}), rows=replace(rows, values=True), thing=thing)


def _calculated(path: str, receiver: Value | None, given: Given) -> tuple[object] | None:
    """The number or time that a call of Python's own gives for literals: `timedelta(minutes=5).total_seconds()`."""
    held = receiver.literal[0] if receiver is not None and receiver.literal is not None else None
    if path == "datetime.timedelta.total_seconds" and isinstance(held, timedelta):
        return (held.total_seconds(),)
    if path not in NUMBERS or any(value.literal is None for value in given.all()):
        return None
    keywords = tuple((name, _known(value)) for name, value in given.keywords.items())
    found = calculation.call(path, calculation.Arguments(tuple(map(_known, given.positional)), keywords))
    told = found.value if isinstance(found, Known) else None
    return (told,) if isinstance(told, int | float | timedelta) else None


def _known(value: Value) -> Known:
    return Known(value.literal[0] if value.literal is not None else None)


def _mixed(value: Value) -> bool:
    """Whether only a part of it differs from run to run."""
    return 0 < len(value.unstable) < len(value.origins)
