"""Statements that a program runs as text: what they read, lock and write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from idemlint.catalog import Guard
from idemlint.domain.effect import Effect, Write
from idemlint.domain.value import (
    NOTHING,
    UNKNOWN,
    WHOLE,
    Fact,
    Lookup,
    Object,
    Origin,
    Rows,
    Test,
    Value,
    derived,
    origins_of,
)
from idemlint.orm import sql
from idemlint.program import Model
from idemlint.summarize.data import split_lookup
from idemlint.summarize.units import UnitWalk
from idemlint.summarize.values import constant
from idemlint.syntax import facts as f

UNTOLD = Value()

HELD = Guard((), "lock", "entered", expires="never")
"""A lock that a statement takes until it is given back."""


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a statement is given: parameters by position and by name, what its text has been filled with, and where
    those come from that nobody names: parts of one mapping or list."""

    positional: tuple[Value, ...] = ()
    named: tuple[tuple[str, Value], ...] = ()
    hole: Value = UNTOLD
    many: bool = False
    others: Value = UNTOLD

    def at(self, place: int | str) -> Value:
        if isinstance(place, int):
            return self.positional[place] if place < len(self.positional) else self.others
        return dict(self.named).get(place, self.others)


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement that was run, and the model of its rows."""

    command: sql.Command
    model: Model


class StatementWalk(UnitWalk):
    """A walk that follows statements given as text."""

    # Statements by the effect that they are.
    ran: dict[int, Asked]
    _tables: dict[str, str] | None = None

    def model_of_table(self, table: str) -> Model | None:
        if self._tables is None:
            self._tables = sql.by_table(self.program.models)
        return self.program.models.get(self._tables.get(table, ""))

    def outermost(self, at: int) -> int | None:
        """The transaction in which a statement runs; None where it commits alone."""
        if self.acting is not None:
            stack = self.use(self.acting, at)
            return stack[0] if stack else None
        return self.open[0] if self.open else None

    def perform(self, command: sql.Command, given: Arguments, expr: f.Call) -> Value:
        """Run a statement; what it gives is told by `effect`, for a query also by `rows`."""
        if command.verb in ("begin", "commit", "rollback"):
            self.control(command.verb, expr.at)
            return NOTHING
        if command.verb == "mutex":
            return self.exclude(command, expr)
        model = self.model_of_table(command.table)
        if model is None:
            return Value()
        match command.verb:
            case "select":
                effect = self.find(command, model, given, expr)
            case "insert":
                effect = self.put(command, model, given, expr)
            case _:
                effect = self.change(command, model, given, expr)
        self.ran[effect.id] = Asked(command, model)
        if command.verb != "select":
            return Value(frozenset({UNKNOWN}), effect=(effect.id, "count"))
        rows = Rows(model.name, effect.lookup, effect.lock, effect.opaque)
        return Value(frozenset({Origin("row", model.title)}), rows=rows, effect=(effect.id, "rows"))

    def control(self, verb: str, at: int) -> None:
        session = self.acting
        if session is None:
            return
        if verb == "begin":
            self.begin(session, at, explicit=True)
        elif verb == "commit":
            self.commit(session, at)
        else:
            self.rollback(session)

    def exclude(self, command: sql.Command, expr: f.Call) -> Value:
        """A lock that hangs on no row."""
        if command.scope == "transaction":
            outermost = self.outermost(expr.at)
            if outermost is not None:
                self.record("read", expr.at, lock=outermost, opaque=True)
            return Value()
        effect = self.record("lock", expr.at)
        self.effects[effect.id] = replace(effect, guard=HELD)
        self.learn(Fact("lock", effect.id, site=effect.site))
        return Value()

    # --- the three kinds

    def find(self, command: sql.Command, model: Model, given: Arguments, expr: f.Call) -> Effect:
        self.reads.add(model.name)
        tells = {part.tells for part in command.parts or ()}
        rows = self.selected(command.lookup, model, given, expr)
        if command.lookup.locks:
            rows = replace(rows, lock=self.outermost(expr.at))
        return self.query("exists" if tells & {"exists", "absent"} else "read", rows, (), model, expr)

    def change(self, command: sql.Command, model: Model, given: Arguments, expr: f.Call) -> Effect:
        self.reads.add(model.name)
        rows = self.selected(command.lookup, model, given, expr)
        if command.lookup.locks:
            rows = replace(rows, lock=self.outermost(expr.at))
        writes = tuple(self.written(command.values, model, given, expr))
        return self.query(command.verb, rows, (), model, expr, command.opaque and command.verb == "update", writes)

    def put(self, command: sql.Command, model: Model, given: Arguments, expr: f.Call) -> Effect:
        writes = tuple(self.written(command.values, model, given, expr))
        before = self.facts
        if command.absent is not None:
            rows = self.selected(command.absent, model, given, expr)
            there = self.query("exists", rows, (), model, expr)
            self.learn(Fact("exists", there.id, holds=False, model=model.name, site=there.site))
        effect = self.record(
            "insert",
            expr.at,
            model=model.name,
            writes=writes,
            many=command.many or given.many,
            opaque=command.opaque or len(writes) < len(command.values),
            conflict=command.conflict,
            conflict_on=tuple(model.column(name) for name in command.conflict_on),
            fresh="stored",
        )
        self.facts = before
        if not command.conflict:
            self.learn(Fact("inserted", effect.id, model=model.name, site=effect.site))
        counted = tuple(write for write in self.written(command.updates, model, given, expr) if write.from_itself)
        if counted:
            own = {write.column: write.value for write in writes}
            lookup = tuple(Lookup(name, "exact", own[name]) for name in effect.conflict_on if name in own)
            self.record("update", expr.at, model=model.name, lookup=lookup, writes=counted, many=True)
        return effect

    def selected(self, lookup: sql.Lookup, model: Model, given: Arguments, expr: f.Call) -> Rows:
        found: list[Lookup] = []
        for written, term in lookup.conditions:
            column, operator = split_lookup(written)
            found.append(Lookup(model.column(column), operator, self.worth_of(term, model, given, expr)))
        return Rows(model.name, tuple(found), opaque=not lookup.complete)

    def written(self, values: Iterable[sql.Assigned], model: Model, given: Arguments, expr: f.Call) -> Iterator[Write]:
        for assigned in values:
            name = _column(assigned.column, model)
            if name is None:
                continue
            column = model.column(name)
            value = self.worth_of(assigned.term, model, given, expr)
            itself = assigned.itself
            field = model.field(column)
            if itself == "join":
                # What is put behind an object or a vector may be there already.
                itself = "append" if field is not None and field.kind == "text" else ""
            if not itself and value.step is not None and value.step[1] == column:
                thing = self.things.get(value.step[0])
                itself = "arithmetic" if thing is not None and thing.model == model.name else ""
            yield Write(column, value, self.site(expr.at), itself)

    def worth_of(self, term: sql.Term, model: Model, given: Arguments, expr: f.Call) -> Value:
        """The value of an expression in a statement."""
        match term:
            case sql.Given(at=at):
                return given.at(at)
            case sql.Literal(value=value):
                return constant(value)
            case sql.Hole():
                return given.hole
            case sql.Column():
                return Value(frozenset({Origin("row", f"{model.title}.{term.name}")}))
            case sql.Query(select=select):
                name = select.tables[0].name if select.tables else ""
                other = self.model_of_table(name)
                title = other.title if other is not None else name
                whole = any(sql.sums(part) for part, _ in select.columns)
                return Value(frozenset({Origin("row", f"{title}{WHOLE}" if whole else title)}))
            case sql.Row(items=items):
                values = tuple(self.worth_of(item, model, given, expr) for item in items)
                return replace(derived(values), items=values)
            case sql.Apply(name=name, parts=parts):
                values = tuple(self.worth_of(part, model, given, expr) for part in parts)
                kind = sql.source(term)
                own = (Value(frozenset({Origin(kind, site=self.site(expr.at))})),) if kind else ()
                if len(values) == 1 and name.startswith("cast "):
                    return values[0]
                return derived([*own, *values])
        return Value()

    # --- what comes back

    def row(self, number: int, kind: str, *, each: bool = False) -> Value:
        """A row that a statement gave back: `kind` is "first" (or None where there is none), "get" (for sure), "value"
        or "only" for the first part of such a row."""
        asked = self.ran[number]
        command, model = asked.command, asked.model
        if command.verb == "select" and not command.one and not each:
            self.effects[number] = replace(self.effects[number], kind="get" if kind in ("get", "only") else "first")
        effect = self.effects[number]
        thing = self.thing_of(effect, model, each=each)
        parts = self.parts_of(command, effect, thing, model)
        test = self.there(effect) if command.verb == "select" and not command.one and not each else None
        part = _answer(effect)
        answer = (number, part) if part and not each else None
        row = frozenset({Origin("row", f"{model.title}{WHOLE}" if command.one else model.title)})
        if effect.kind == "insert" and not effect.conflict:
            row = frozenset({Origin("fresh", model.title, effect.site)})
        if kind in ("value", "only"):
            first = parts[0] if parts else Value(row)
            return first if command.one else replace(first, test=test, effect=answer)
        if parts is None:
            return Value(row, thing=thing, test=test if kind == "first" else None, effect=answer)
        names = [part.name for part in command.parts or ()]
        entries = tuple(zip(names, parts, strict=True))
        origins = origins_of(parts) if command.one else row
        return Value(
            origins,
            items=parts,
            entries=entries,
            thing=None if command.one else thing,
            test=test if kind == "first" else None,
            effect=answer,
        )

    def thing_of(self, effect: Effect, model: Model, *, each: bool) -> Object:
        if effect.kind != "insert":
            return self.thing(model.name, lookup=effect.lookup, lock=effect.lock, source=effect.id, each=each)
        thing = self.thing(model.name, fresh="maybe" if effect.conflict else "stored", source=effect.id, each=each)
        for write in effect.writes:
            self.assign_quietly(thing, write)
        return thing

    def parts_of(self, command: sql.Command, effect: Effect, thing: Object, model: Model) -> tuple[Value, ...] | None:
        """What a row is made of, None where its columns are not told."""
        parts = command.parts
        if parts is None:
            return None
        found: list[Value] = []
        for part in parts:
            match part.tells:
                case "exists" | "count":
                    test: Test | None = self.there(effect)
                case "absent":
                    test = self.there(effect).inverted()
                case _:
                    test = None
            if part.column:
                found.append(self.part(thing, model, (model.name, model.column(part.column))))
            else:
                origin = Origin("row", f"{model.title}{WHOLE}" if part.tells else model.title)
                found.append(Value(frozenset({origin}), test=test))
        return tuple(found)


def _answer(effect: Effect) -> str:
    """Which part of a change's answer it is that a row came back: none comes where nothing was changed."""
    if effect.kind in ("update", "delete"):
        return "count"
    if effect.kind == "insert":
        return "created" if effect.conflict == "ignore" else "result"
    return ""


def _column(name: str, model: Model) -> str | None:
    """A column by its name; `#0` is the first one of the table, if all of them are known."""
    if not name.startswith("#"):
        return name
    index = int(name[1:])
    return model.fields[index].name if model.seen and index < len(model.fields) else None
