"""Cursors and results: which text runs with which parameters, and what is asked of it afterwards."""

from __future__ import annotations

from dataclasses import replace

from idemlint.catalog import Catalog
from idemlint.domain.effect import Effect
from idemlint.domain.value import UNKNOWN, Fact, Object, Origin, Test, Value
from idemlint.orm import sql
from idemlint.program import LibraryCall, Program, Root, Site, Type
from idemlint.summarize.connections import ConnectionWalk
from idemlint.summarize.given import Given
from idemlint.summarize.sessions import MAKES
from idemlint.summarize.state import Snapshot
from idemlint.summarize.statements import Arguments
from idemlint.summarize.weights import Weights
from idemlint.syntax import facts as f

RESULT = "#result"
"""The attribute of a cursor or connection that holds what the last statement gave."""

PARAMETERS = ("params", "parameters", "vars", "args", "values", "argslist", "seq_of_parameters")
TEXTS = ("query", "sql", "statement", "operation", "command")


class CursorWalk(ConnectionWalk):
    """A walk that follows what drivers of databases are given."""

    def __init__(self, program: Program, catalog: Catalog, root: Root, weights: Weights) -> None:
        super().__init__(program, catalog, root, weights)
        self.ran = {}
        # Results of which only the first part of each row is asked for.
        self.scalar: set[int] = set()

    # --- calls

    def library(self, target: LibraryCall, callee: Value, given: Given, expr: f.Call) -> Value:
        role = self.catalog.role(target.path)
        receiver = callee.closure.receiver if callee.closure and callee.closure.receiver else callee
        if role == "raw-sql":
            value = self.run_text(target.path, receiver, given, expr)
            return value if value is not None else super().library(target, callee, given, expr)
        if role == "cursor":
            return self.open_cursor(target.path, receiver, given, expr)
        method = target.path.rpartition(".")[2]
        asks = sql.ASKS.get(method)
        if asks is not None and self.gave(receiver) is not None:
            return self.ask_result(asks, receiver, expr)
        value = self.with_text(super().library(target, callee, given, expr), target.path, receiver, given)
        if target.path == "builtins.int" and len(given.positional) == 1 and _is_count(given.positional[0]):
            return replace(value, effect=given.positional[0].effect)
        connection = value if role in MAKES else receiver if method in sql.SETS_ALONE else None
        if connection is not None and connection.thing is not None and sql.commits_alone(given.literals()):
            self.alone.add(connection.thing.id)
        return value

    def open_cursor(self, path: str, receiver: Value, given: Given, expr: f.Call) -> Value:
        outer, self.driven = self.driven, self.drives(path)
        session = self.connection_of(path, receiver)
        self.driven = outer
        cursor = self.cursor(session)
        if given.positional and given.positional[0].text is not None:
            return self.run_text(path, cursor, given, expr) or cursor
        return cursor

    def cursor(self, session: int | None) -> Value:
        thing = self.thing(None)
        self.cursors[thing.id] = session
        return Value(frozenset({UNKNOWN}), thing=thing)

    def run_text(self, path: str, receiver: Value, given: Given, expr: f.Call) -> Value | None:
        """Run the statements in the text that a call is given; None where they cannot be read."""
        method = path.rpartition(".")[2]
        statement, index = _statement(given)
        # Some functions are given the cursor first.
        receiver = given.positional[0] if index == 1 else receiver
        for value in given.all():
            self.looked_at(value)
        found = sql.commands(statement.text) if statement is not None and statement.text is not None else None
        if found is None:
            self.unresolved[self.site(expr.at)] = path
            self.keep(receiver, Value())
            return None
        assert statement is not None
        style = next((command.style for command in found if command.style), "")
        arguments = _arguments(given, index, statement, style, method)
        outer = (self.driven, self.acting, self.once)
        self.driven = self.drives(path)
        session = self.connection_of(path, receiver)
        self.acting = session
        self.once = session in (self.lent, self.shared) and (style == "$" or self.by_itself(path))
        if session is not None:
            self.flush(session)
        value = Value()
        gave: list[Value] = []
        # What one statement does in several tables is there together.
        whole = any(command.follows for command in found) and session is not None
        if whole and session is not None and not self.sessions[session].stack:
            self.begin(session, expr.at, explicit=True)
        else:
            whole = False
        for command in found:
            held = self.facts
            # Without the rows of the commands that it needs, it does nothing.
            numbers = [effect[0] for place in command.follows if (effect := gave[place].effect) is not None]
            self.learn(*(Fact("claim", number, site=self.site(expr.at)) for number in numbers))
            # Where nobody can tell which rows these are, nobody can tell what is added up.
            hidden = any(self.effects[number].opaque for number in numbers)
            gave.append(self.perform(replace(command, updates=()) if hidden else command, arguments, expr))
            if command.follows:
                self.facts = held
            value = gave[-1] if command.gives else value
        if whole and session is not None:
            self.commit(session, expr.at)
        self.driven, self.acting, self.once = outer
        return self.answer_to(method, receiver, session, value, expr)

    def answer_to(self, method: str, receiver: Value, session: int | None, value: Value, expr: f.Call) -> Value:
        """What a call gives that ran a statement: a result to be asked, or at once what this was asked for."""
        cursor = receiver if receiver.thing is not None and receiver.thing.id in self.cursors else self.cursor(session)
        self.keep(receiver, value)
        self.keep(cursor, value)
        gives = sql.GIVES.get(method)
        if gives is not None:
            return self.ask_result(gives, cursor, expr)
        effect = self.effects[value.effect[0]] if value.effect is not None else None
        counted = effect is not None and effect.kind in ("insert", "update", "delete")
        return replace(cursor, effect=value.effect if counted else None)

    def with_text(self, value: Value, path: str, receiver: Value, given: Given) -> Value:
        """A statement that a function passes on: `sa.text("...")`, `sql.SQL("...")`, and what is added to that."""
        if value.text is not None or self.catalog.origin(path, len(given.positional)) != "arguments":
            return value
        first = given.positional[0] if given.positional else None
        if first is not None and len(given.all()) == 1 and not receiver.varies and receiver.text is None:
            # What it is called on is a module.
            return replace(value, text=first.text)
        for kept in (first, receiver):
            if kept is not None and kept.text is not None and sql.is_sql(kept.text):
                named = tuple(given.keywords.items()) if kept is receiver else ()
                return replace(value, text=kept.text, entries=named or kept.entries)
        return value

    def merge(self, arms: list[Snapshot]) -> None:
        """A statement to which one of the arms has added something begins the same after all of them."""
        super().merge(arms)
        env = self.here.env
        for name in env if len(arms) > 1 else ():
            texts = [arm.env[name].text or "" for arm in arms if name in arm.env]
            if env[name].text is None and all(texts) and sql.is_sql(texts[0]):
                env[name] = replace(env[name], text=_beginning(texts))

    # --- results

    def keep(self, receiver: Value, value: Value) -> None:
        self.assign(self.holder(receiver), RESULT, value, Site("", 0, 0))

    def holder(self, receiver: Value) -> Object:
        """What holds the result of a statement: the cursor or connection it ran through, or who stands for those that
        nobody can tell apart."""
        thing = receiver.thing
        if thing is not None and (thing.id in self.cursors or thing.id in self.sessions):
            return thing
        return self.things[self.lent]

    def gave(self, receiver: Value) -> Value | None:
        """What the last statement gave that ran through a cursor."""
        written = self.heap.get(self.holder(receiver).id, {}).get(RESULT)
        return written.value if written is not None else None

    def ask_result(self, asks: str, receiver: Value, expr: f.Call) -> Value:
        found = self.gave(receiver)
        number = found.effect[0] if found is not None and found.effect is not None else None
        if found is None or number is None or number not in self.ran:
            return Value()
        scalar = receiver.thing is not None and receiver.thing.id in self.scalar
        match asks:
            case "same" | "scalars":
                session = self.cursors.get(receiver.thing.id) if receiver.thing is not None else None
                cursor = self.cursor(session)
                assert cursor.thing is not None
                if asks == "scalars" or scalar:
                    self.scalar.add(cursor.thing.id)
                self.keep(cursor, found)
                return cursor
            case "rows":
                return replace(found, items=(self.row(number, "value", each=True),)) if scalar else found
            case "first" | "get" if scalar:
                return self.row(number, "value" if asks == "first" else "only")
        return self.row(number, asks)

    def of_thing(self, thing: Object, name: str, kind: Type | None) -> Value:
        """How many rows a statement found or changed; a column of a row that it gave."""
        if name in sql.COUNTS and thing.id in self.cursors:
            found = self.gave(Value(thing=thing))
            if found is not None and found.effect is not None and found.effect[0] in self.ran:
                return self.how_many(self.effects[found.effect[0]])
        if name in sql.MADE and thing.id in self.cursors:
            found = self.gave(Value(thing=thing))
            if found is not None and found.effect is not None and found.effect[0] in self.ran:
                effect = self.effects[found.effect[0]]
                title = self.ran[effect.id].model.title
                return Value(frozenset({Origin("fresh", f"{title}.id", effect.site)}))
        if thing.source in self.ran and thing.model is not None:
            written = self.heap.get(thing.id, {}).get(name)
            model = self.program.models[thing.model]
            if written is None and model.field(name) is None:
                return self.part(thing, model, (model.name, name))
        return super().of_thing(thing, name, kind)

    def how_many(self, effect: Effect) -> Value:
        if effect.changes_data:
            return Value(frozenset({UNKNOWN}), effect=(effect.id, "count"))
        return Value(frozenset({Origin("row", effect.model)}), test=self.there(effect))

    def subscript(self, base: Value, index: Value) -> Value:
        """`row["status"]` of a row whose columns nobody named."""
        thing = base.thing
        if thing is not None and thing.source in self.ran and index.text is not None and base.entries is None:
            model = self.program.models[thing.model or ""]
            return self.part(thing, model, (model.name, model.column(index.text)))
        return super().subscript(base, index)

    def iterated(self, iterable: Value) -> Value:
        """A loop over a cursor is one over its rows."""
        if iterable.thing is not None and iterable.thing.id in self.cursors:
            found = self.gave(iterable)
            if found is not None and iterable.thing.id in self.scalar and found.effect is not None:
                return replace(found, items=(self.row(found.effect[0], "value", each=True),))
            return found if found is not None else Value()
        return iterable

    def item(self, iterable: Value, expr: f.Expr) -> Value:
        found = self.iterated(iterable)
        if found.items is None and found.effect is not None and found.effect[0] in self.ran:
            return self.row(found.effect[0], "first", each=True)
        return super().item(found, expr)

    # --- tests

    def equals(self, one: Value, other: Value, site: Site, operator: str) -> Test:
        """`status == "UPDATE 0"`: how many rows were changed, told in words."""
        said = other.literal[0] if other.literal is not None else None
        if isinstance(said, str) and _is_count(one):
            number = said.rpartition(" ")[2]
            if number.isdecimal():
                test = self.truth(one, site)
                return test if int(number) else test.inverted()
        return super().equals(one, other, site, operator)

    def plain(self, callee: Value, given: Given, expr: f.Call) -> Value:
        receiver = callee.closure.receiver if callee.closure else None
        name = expr.function.name if isinstance(expr.function, f.Attribute) else ""
        if receiver is not None and _is_count(receiver):
            if name in ("split", "rsplit", "rpartition", "strip"):
                return Value(receiver.origins, effect=receiver.effect)
            if name == "endswith" and given.positional:
                test = self.equals(receiver, given.positional[0], self.site(expr.at), "==")
                return Value(receiver.origins, test=test)
        return super().plain(callee, given, expr)


def _is_count(value: Value) -> bool:
    """Whether a value says, in words or as a number, how many rows were changed."""
    return value.effect is not None and value.effect[1] == "count"


def _statement(given: Given) -> tuple[Value | None, int]:
    """The argument that is the statement, and its position (-1 where it has a name)."""
    for index, value in enumerate(given.positional[:2]):
        if value.text is not None and sql.is_sql(value.text):
            return value, index
    for name in TEXTS:
        if name in given.keywords:
            return given.keywords[name], -1
    return (given.positional[0], 0) if given.positional else (None, 0)


def _arguments(given: Given, index: int, statement: Value, style: str, method: str) -> Arguments:
    """The parameters beside a statement."""
    hole = Value(statement.origins) if statement.stable else Value()
    rest = given.positional[index + 1 :]
    many = method in sql.MANY
    if style == "$" and not many:
        return Arguments(rest, hole=hole)
    named = next((given.keywords[name] for name in PARAMETERS if name in given.keywords), None)
    beside = rest[0] if rest else named
    if beside is None:
        return Arguments((), statement.entries or (), hole)
    rows = [row for row in beside.items or () if row.items is not None or row.entries is not None]
    if many or (rows and beside.entries is None and style == ":"):
        first = rows[0] if rows else Value()
        return Arguments(first.items or (), first.entries or (), hole, True)
    if beside.items is None and beside.entries is None and len(rest) > 1:
        return Arguments(rest, hole=hole)
    told = beside.items is not None or beside.entries is not None
    return Arguments(beside.items or (), beside.entries or (), hole, others=Value() if told else Value(beside.origins))


def _beginning(texts: list[str]) -> str:
    """How several texts begin, up to the word in which they part, with `{}` for the rest."""
    length = next(
        (index for index, letters in enumerate(zip(*texts, strict=False)) if len(set(letters)) > 1),
        min(map(len, texts)),
    )
    same = texts[0][:length]
    whole = any(text[length : length + 1] in (" ", "\n", "") for text in texts)
    return f"{same} {{}}" if whole else f"{same[: max(same.rfind(' '), same.rfind(chr(10))) + 1]}{{}}"
