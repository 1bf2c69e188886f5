"""Layers whose sessions are units of work: statements that are put together and run, rows that are loaded, changed and
stored when the session commits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from idemlint import orm
from idemlint.catalog import Catalog
from idemlint.domain.effect import Effect, Write
from idemlint.domain.statement import Statement
from idemlint.domain.summary import Summary
from idemlint.domain.value import (
    NOTHING,
    UNKNOWN,
    Fact,
    Facts,
    Lookup,
    Object,
    Origin,
    Rows,
    Test,
    Value,
    origins_of,
)
from idemlint.program import (
    DataCall,
    DataMethodType,
    DataOperation,
    LibraryType,
    Model,
    Program,
    Root,
    RowsType,
    Site,
    Type,
)
from idemlint.summarize.sessions import SessionWalk
from idemlint.summarize.state import Snapshot
from idemlint.summarize.weights import Weights
from idemlint.syntax import facts as f

QUIET = frozenset({"new", "build", "narrow"})
"""What goes through no session."""


class UnitWalk(SessionWalk):
    """A walk that follows what sessions are given."""

    def __init__(self, program: Program, catalog: Catalog, root: Root, weights: Weights) -> None:
        super().__init__(program, catalog, root, weights)
        # New rows in a relation of one that is not in a session yet: they go there with it.
        self.hanging: dict[int, list[Object]] = {}
        # What held where a new row was made: it is only there to be stored where that did.
        self.made_under: dict[int, Facts] = {}
        # Rows of which a name holds one or another: what becomes of it becomes of each.
        self.twins: dict[int, set[int]] = {}
        # Rows put into a relation whose column could not be read.
        self.unread: set[int] = set()

    def run(self) -> Summary:
        found = super().run()
        return replace(found, effects=self.sealed(found.effects))

    def operate(self, target: DataCall, expr: f.Call, receiver: Value) -> Value:
        operation = target.operation
        if not orm.unit_of_work(target.layer):
            return self.operate_beside(target, expr, receiver)
        model = self.program.models.get(operation.model)
        if operation.kind == "build" and model is not None:
            return self.build(operation, model, receiver)
        if operation.kind in QUIET:
            return super().operate(target, expr, receiver)
        session = self.session_of(receiver)
        given = [self.evaluate(part) for part in (operation.statement, operation.objects) if part is not None]
        outer, self.acting = self.acting, session
        self.use(session, expr.at)
        value = self.act(target, expr, receiver, model, given)
        self.acting = outer
        return value

    def operate_beside(self, target: DataCall, expr: f.Call, receiver: Value) -> Value:
        """An operation of another layer; a statement given to a session as text commits with that one."""
        kind = self.type_of(expr.function)
        through = isinstance(kind, LibraryType) and self.on_session(kind.path)
        outer, self.acting = self.acting, self.session_of(receiver) if through else self.acting
        value = super().operate(target, expr, receiver)
        self.acting = outer
        return value

    def act(self, target: DataCall, expr: f.Call, receiver: Value, model: Model | None, given: list[Value]) -> Value:
        """An operation that goes through the acting session."""
        operation = target.operation
        first = given[0] if given else Value()
        match operation.kind:
            case "add":
                return self.add(first, model, operation.form == "many", expr)
            case "append":
                return self.append(operation, receiver, first, model, expr)
            case "remove":
                return self.remove(first, model, expr)
            case "mutex":
                self.record("read", expr.at, lock=self.in_force()[0], opaque=True)
                return Value()
        if model is None:
            return Value()
        match operation.kind:
            case "merge":
                return self.store_over(first, model, expr)
            case "refresh":
                return self.reload(first, model, operation.locks, expr)
            case "bulk":
                return self.bulk(first, model, operation.force, expr)
            case "run":
                self.flush_before_query()
                return self.run_statement(operation, first, given[1] if len(given) > 1 else None, model, expr)
        self.flush_before_query()
        return self.ask(target, expr, receiver, model)

    def in_force(self) -> tuple[int, ...]:
        """The transaction of the acting session."""
        assert self.acting is not None
        return self.sessions[self.acting].stack

    def flush_before_query(self) -> None:
        assert self.acting is not None
        self.flush(self.acting)

    # --- putting together

    def build(self, operation: DataOperation, model: Model, receiver: Value) -> Value:
        """A statement begun, or one more part of it."""
        rows = receiver.rows if receiver.rows is not None and receiver.rows.model == model.name else None
        if rows is None:
            inner = self.evaluate(operation.statement).rows if operation.statement is not None else None
            rows = inner if inner is not None else Rows(model.name)
            if operation.form == "query":
                rows = replace(rows, session=self.session_of(receiver))
        rows = replace(
            rows,
            lookup=(*rows.lookup, *self.lookups(operation, model)),
            locks=rows.locks or operation.locks,
            opaque=rows.opaque or (operation.opaque and bool(operation.lookup or not operation.verb)),
        )
        verb = operation.verb if operation.verb != "select" else ""
        statement = rows.statement or (Statement(verb) if verb else None)
        if statement is not None:
            rows = replace(rows, statement=self.with_part(statement, operation, model))
        return Value(frozenset({Origin("row", model.title)}), rows=rows)

    def with_part(self, statement: Statement, operation: DataOperation, model: Model) -> Statement:
        writes = self.writes(operation, model, None)
        many = operation.form == "many"
        opaque = operation.opaque
        if operation.objects is not None:
            more, several, known = self.dict_writes(self.evaluate(operation.objects), model, operation.objects)
            writes, many, opaque = (*writes, *more), many or several, opaque or not known
        updates = self.writes(replace(operation, values=operation.updates), model, None)
        return replace(
            statement,
            writes=(*statement.writes, *writes),
            conflict=operation.conflict or statement.conflict,
            conflict_on=tuple(model.column(name) for name in operation.conflict_on) or statement.conflict_on,
            updates=(*statement.updates, *updates),
            many=statement.many or many,
            opaque=statement.opaque or opaque,
        )

    def dict_writes(self, given: Value, model: Model, expr: f.Expr) -> tuple[tuple[Write, ...], bool, bool]:
        """The columns that a dict, or a list of dicts, stores; whether it is a list; whether they are known."""
        items = given.items if given.items is not None else (given,)
        dicts = [item.entries for item in items if item.entries is not None]
        writes = (
            Write(model.column(name), value, value.site or self.site(expr.at))
            for entries in dicts
            for name, value in entries
        )
        return tuple(writes), given.entries is None, bool(dicts)

    # --- running

    def run_statement(
        self, operation: DataOperation, statement: Value, beside: Value | None, model: Model, expr: f.Call
    ) -> Value:
        rows = statement.rows
        if rows is None or rows.model != model.name:
            rows = Rows(model.name, opaque=True)
        rows = replace(rows, session=self.acting, lock=self.in_force()[0] if rows.locks else rows.lock)
        does = rows.statement or Statement("select")
        match does.verb:
            case "insert":
                return self.insert_rows(does, beside, model, operation, expr)
            case "update":
                effect = self.query("update", rows, (), model, expr, does.opaque, does.writes)
            case "delete":
                effect = self.query("delete", rows, (), model, expr)
            case _:
                return self.select(operation, rows, model, expr)
        value = Value(frozenset({UNKNOWN}), effect=(effect.id, "result"))
        return value if operation.form == "rows" else self.answer(value, model, expr)

    def select(self, operation: DataOperation, rows: Rows, model: Model, expr: f.Call) -> Value:
        asked = operation.statement
        kind = self.type_of(asked) if asked is not None else None
        columns = kind.columns if isinstance(kind, RowsType) else ()
        match operation.form:
            case "rows":
                if rows.lock is not None:
                    self.query("read", rows, (), model, expr)
                return Value(frozenset({Origin("row", model.title)}), rows=rows)
            case "exists" | "read":
                effect = self.query(operation.form, rows, (), model, expr)
                return Value(frozenset({Origin("row", model.title)}), test=self.there(effect), rows=rows)
        return self.single(operation.form, rows, model, columns[:1], expr)

    def single(self, kind: str, rows: Rows, model: Model, columns: tuple[tuple[str, str], ...], expr: f.Call) -> Value:
        """One row: an instance, one of its columns, or a tuple of these."""
        found = self.one(kind, rows, model, expr)
        if not columns or columns == ((model.name, ""),):
            return found
        assert found.thing is not None
        effect = self.effects[found.thing.source or 0]
        parts = tuple(self.part(found.thing, model, column) for column in columns)
        test = self.there(effect) if kind == "first" else None
        if len(parts) == 1:
            return replace(parts[0], test=test)
        return Value(origins_of(parts), items=parts, test=test)

    def part(self, thing: Object, model: Model, column: tuple[str, str]) -> Value:
        owner, name = column
        if owner == model.name and name:
            return Value(self.column_origins(thing, model, name), column=(thing.id, name))
        if owner == model.name:
            return Value(frozenset({Origin("row", model.title)}), thing=thing)
        other = self.program.models.get(owner)
        if other is None or name:
            return Value(frozenset({Origin("row", model.title)}))
        return Value(frozenset({Origin("row", other.title)}), thing=self.thing(owner, source=thing.source))

    def there(self, effect: Effect) -> Test:
        """What it says that rows were found."""
        fact = Fact("exists", effect.id, holds=True, model=effect.model, site=effect.site)
        return Test(frozenset({fact}), frozenset({replace(fact, holds=False)}))

    def insert_rows(
        self, does: Statement, beside: Value | None, model: Model, operation: DataOperation, expr: f.Call
    ) -> Value:
        """An insert that is run at once, with its values or those given beside it."""
        writes, many, opaque = does.writes, does.many, does.opaque
        if beside is not None:
            more, several, known = self.dict_writes(beside, model, expr)
            writes, many, opaque = (*writes, *more), many or several, opaque or not known
        effect = self.record(
            "insert",
            expr.at,
            model=model.name,
            writes=writes,
            many=many,
            opaque=opaque,
            conflict=does.conflict,
            conflict_on=does.conflict_on,
            fresh="stored",
        )
        if not does.conflict:
            self.learn(self.inserted_fact(effect.id))
        counted = tuple(write for write in does.updates if write.from_itself)
        if counted:
            given = {write.column: write for write in writes}
            lookup = tuple(Lookup(name, "exact", given[name].value) for name in does.conflict_on if name in given)
            self.record("update", expr.at, model=model.name, lookup=lookup, writes=counted, many=True)
        value = Value(frozenset({UNKNOWN}), effect=(effect.id, "result"))
        return value if operation.form == "rows" else self.answer(value, model, expr)

    # --- what running gave

    def ask(self, target: DataCall, expr: f.Call, receiver: Value, model: Model) -> Value:
        """A query that runs now, or a look at what one gave."""
        operation = target.operation
        if receiver.rows is None and receiver.effect is not None:
            return self.answer(receiver, model, expr, operation.kind == "read")
        rows = receiver.rows if receiver.rows is not None and receiver.rows.model == model.name else Rows(model.name)
        locks = rows.locks or operation.locks
        rows = replace(rows, session=self.acting, lock=self.in_force()[0] if locks else rows.lock)
        if operation.kind in ("get", "first"):
            whole = replace(
                rows, lookup=(*rows.lookup, *self.lookups(operation, model)), opaque=rows.opaque or operation.opaque
            )
            columns = self.asked(expr)
            return self.single(operation.kind, whole, model, columns, expr)
        return super().operate(target, expr, replace(receiver, rows=rows))

    def asked(self, expr: f.Call) -> tuple[tuple[str, str], ...]:
        """What each row is made of that a method is called on."""
        kind: Type | None = self.type_of(expr.function)
        rows = kind.receiver if isinstance(kind, DataMethodType) else None
        if not isinstance(rows, RowsType):
            return ()
        name = expr.function.name if isinstance(expr.function, f.Attribute) else ""
        return rows.columns[:1] if name.startswith("scalar") else rows.columns

    def answer(self, asked: Value, model: Model, expr: f.Call, many: bool = False) -> Value:
        """A row, or its absence, that a writing statement gave back: there is none where it wrote nothing."""
        assert asked.effect is not None
        effect = self.effects[asked.effect[0]]
        part = "result"
        if effect.kind in ("update", "delete"):
            part = "count"
        elif effect.conflict == "ignore":
            part = "created"
        if effect.kind != "insert":
            thing = self.thing(model.name, lookup=effect.lookup, source=effect.id, each=many)
            row = Value(frozenset({Origin("row", model.title)}), thing=thing, effect=(effect.id, part))
            return replace(row, thing=None, items=(replace(row, effect=None),)) if many else row
        thing = self.thing(model.name, fresh="maybe" if effect.conflict else "stored", source=effect.id)
        for write in effect.writes:
            self.assign_quietly(thing, write)
        origin = Origin("row", model.title) if effect.conflict else Origin("fresh", model.title, effect.site)
        return Value(frozenset({origin}), thing=thing, effect=(effect.id, part))

    # --- the unit of work

    def new_row(self, operation: DataOperation, model: Model, expr: f.Call) -> Value:
        value = super().new_row(operation, model, expr)
        if value.thing is not None:
            self.made_under[value.thing.id] = self.facts
        return value

    def record(self, kind: str, at: int, **details: object) -> Effect:
        effect = super().record(kind, at, **details)
        if kind == "insert" and effect.thing in self.made_under:
            effect = replace(effect, facts=effect.facts | self.made_under[effect.thing])
            self.effects[effect.id] = effect
        return effect

    def one_of(self, operator: str, operands: tuple[f.Expr, ...]) -> Value:
        known = set(self.things)
        value = super().one_of(operator, operands)
        made = {number for number in self.things.keys() - known if self.things[number].model is not None}
        if value.thing is not None and value.thing.id in made:
            self.twins.setdefault(value.thing.id, set()).update(made - {value.thing.id})
        return value

    def add(self, value: Value, model: Model | None, many: bool, expr: f.Call) -> Value:
        """Rows put into the session: new ones are inserted when it is flushed, loaded ones are there already."""
        things = list(dict.fromkeys(_things(value)))
        things.extend(self.things[twin] for thing in list(things) for twin in sorted(self.twins.get(thing.id, ())))
        if not things and model is not None:
            self.record("save", expr.at, model=model.name, opaque=True)
        for thing in things:
            self.insert_thing(thing, many, expr)
        return NOTHING

    def insert_thing(self, thing: Object, many: bool, expr: f.Call) -> None:
        if thing.fresh != "new" or thing.id in self.stored or thing.model is None:
            return
        self.stored.add(thing.id)
        assert self.acting is not None
        self.kept[thing.id] = self.acting
        pending = self.heap.get(thing.id, {})
        writes = tuple(write for _, write in sorted(pending.items()))
        effect = self.record(
            "insert",
            expr.at,
            model=thing.model,
            writes=writes,
            thing=thing.id,
            fresh="stored",
            many=many,
            opaque=thing.opaque or thing.id in self.unread,
        )
        self.hold_back(effect.id)
        for write in writes:
            for other in _things(write.value):
                self.insert_thing(other, many or write.value.items is not None, expr)
        for other in self.hanging.get(thing.id, ()):
            self.insert_thing(other, many, expr)

    def hold_back(self, number: int) -> None:
        assert self.acting is not None
        state = self.sessions[self.acting]
        self.sessions[self.acting] = replace(state, pending=(*state.pending, number))
        self.held_back.add(number)

    def append(
        self, operation: DataOperation, receiver: Value, added: Value, model: Model | None, expr: f.Call
    ) -> Value:
        """New rows put into a relation of a row that is stored, or will be."""
        lookup = self.lookups(operation, model) if model is not None else ()
        owner = next((condition.value.thing for condition in lookup if condition.value.thing is not None), None)
        for thing in _things(added):
            if operation.opaque:
                self.unread.add(thing.id)
            for condition in lookup:
                self.assign_quietly(thing, Write(condition.column, condition.value, self.site(expr.at)))
            if owner is None or owner.fresh != "new" or owner.id in self.stored:
                self.insert_thing(thing, operation.form == "many", expr)
            else:
                self.hanging.setdefault(owner.id, []).append(thing)
        return NOTHING

    def remove(self, value: Value, model: Model | None, expr: f.Call) -> Value:
        things = list(_things(value))
        for thing in things:
            self.record(
                "delete", expr.at, model=thing.model or "", thing=thing.id, lookup=thing.lookup, lock=thing.lock
            )
        if not things and model is not None:
            self.record("delete", expr.at, model=model.name, opaque=True)
        return NOTHING

    def store_over(self, value: Value, model: Model, expr: f.Call) -> Value:
        """`merge`: the row with the same primary key is written over, else a new one inserted."""
        thing = value.thing
        written = self.heap.get(thing.id, {}) if thing is not None else {}
        primary = [field.name for field in model.fields if field.kind == "id"]
        lookup = tuple(Lookup(name, "exact", written[name].value) for name in primary if name in written)
        writes = tuple(write for name, write in sorted(written.items()) if name not in primary)
        opaque = thing is None or thing.fresh != "new"
        if lookup or opaque:
            self.record(
                "upsert" if lookup else "save", expr.at, model=model.name, lookup=lookup, writes=writes, opaque=opaque
            )
        else:
            self.record("insert", expr.at, model=model.name, writes=writes, fresh="stored")
        return replace(value, thing=self.thing(model.name, lookup=lookup))

    def reload(self, value: Value, model: Model, locks: bool, expr: f.Call) -> Value:
        for thing in _things(value):
            self.heap.pop(thing.id, None)
            if locks:
                self.query("get", Rows(model.name, thing.lookup, self.in_force()[0]), (), model, expr)
        return NOTHING

    def bulk(self, rows: Value, model: Model, force: str, expr: f.Call) -> Value:
        writes, _, known = self.dict_writes(rows, model, expr)
        kind = "update" if force == "update" else "insert"
        self.record(kind, expr.at, model=model.name, writes=writes, many=True, opaque=not known)
        return NOTHING

    # --- rows that change

    def merge(self, arms: list[Snapshot]) -> None:
        super().merge(arms)
        first = arms[0].env if arms else {}
        for name in first if len(arms) > 1 else ():
            held = [arm.env[name].thing for arm in arms if name in arm.env]
            known = {thing.id for thing in held if thing is not None and thing.model is not None}
            for number in known if len(known) > 1 else ():
                self.twins.setdefault(number, set()).update(known - {number})

    def assign(self, thing: Object, column: str, value: Value, site: Site, from_itself: str = "") -> None:
        super().assign(thing, column, value, site, from_itself)
        model = self.program.models.get(thing.model or "")
        if model is not None and orm.unit_of_work(model.layer):
            self.changed(thing, model, Write(column, value, site, from_itself))

    def assign_quietly(self, thing: Object, write: Write) -> None:
        """An attribute that the row has been stored with."""
        super().assign(thing, write.column, write.value, write.site, write.from_itself)

    def changed(self, thing: Object, model: Model, write: Write) -> None:
        """An attribute of a row in a session: part of an insert still held back, else an update."""
        for twin in sorted(self.twins.get(thing.id, ())):
            if not self.changed_while_held(twin, write) and self.things[twin].fresh == "new":
                self.assign_quietly(self.things[twin], write)
        if self.changed_while_held(thing.id, write):
            return
        if thing.fresh == "new" and thing.id not in self.stored:
            return
        outer, self.acting = self.acting, self.session_of(Value(frozenset({UNKNOWN}), thing=thing))
        self.save_change(thing, model, write)
        self.acting = outer

    def changed_while_held(self, thing: int, write: Write) -> bool:
        """Whether a row waits to be inserted, which then is with what was just assigned."""
        for state in self.sessions.values():
            for number in state.pending:
                effect = self.effects[number]
                if effect.thing == thing:
                    rest = tuple(other for other in effect.writes if other.column != write.column)
                    self.effects[number] = replace(effect, writes=(*rest, write))
                    return True
        return False

    def save_change(self, thing: Object, model: Model, write: Write) -> None:
        stack = self.use(self.acting or 0, write.site.at)
        last = self.effects[-1] if self.effects else None
        if (
            last is not None
            and last.kind in ("save", "update")
            and last.thing == thing.id
            and last.transactions == stack
            and last.facts == self.facts
            and last.address[:-1] == tuple(self.address[:-1])
        ):
            rest = tuple(other for other in last.writes if other.column != write.column)
            self.effects[-1] = replace(last, writes=(*rest, write))
            return
        lookup = thing.lookup
        writes: tuple[Write, ...] = (write,)
        kind = "save"
        if model.version:
            # The layer updates only the row that still has the version that was read.
            kind = "update"
            version = Value(self.column_origins(thing, model, model.version), column=(thing.id, model.version))
            lookup = (*lookup, Lookup(model.version, "exact", version))
            writes = (write, Write(model.version, Value(), write.site))
        self.record(
            kind,
            write.site.at,
            model=model.name,
            writes=writes,
            thing=thing.id,
            lookup=lookup,
            fresh="stored" if thing.fresh == "new" else thing.fresh,
            lock=thing.lock,
        )

    def attribute(self, expr: f.Attribute) -> Value:
        """`Order.query`: a query of the session that all share."""
        value = super().attribute(expr)
        kind = self.type_of(expr)
        if (
            isinstance(kind, RowsType)
            and kind.stage == "query"
            and value.rows is not None
            and value.rows.session is None
        ):
            return replace(value, rows=replace(value.rows, session=self.shared))
        return value

    def of_thing(self, thing: Object, name: str, kind: Type | None) -> Value:
        """What hangs off a row was loaded by the session that the row belongs to."""
        outer, self.acting = self.acting, thing.session
        value = super().of_thing(thing, name, kind)
        self.acting = outer
        if value.rows is not None and value.rows.session is None:
            return replace(value, rows=replace(value.rows, session=thing.session))
        return value

    def item(self, iterable: Value, expr: f.Expr) -> Value:
        """A loop over a query runs it; what it gives may be a tuple of rows and columns."""
        rows = iterable.rows
        model = self.program.models.get(rows.model) if rows is not None else None
        if rows is None or model is None or not orm.unit_of_work(model.layer):
            return super().item(iterable, expr)
        session = self.session_of(iterable)
        outer, self.acting = self.acting, session
        stack = self.use(session, expr.at)
        rows = replace(rows, lock=stack[0] if rows.locks else rows.lock)
        value = super().item(replace(iterable, rows=rows), expr)
        kind = self.type_of(expr)
        if isinstance(kind, RowsType) and value.thing is not None and self.loose(kind):
            parts = tuple(self.part(value.thing, model, column) for column in kind.columns)
            value = Value(origins_of(parts), items=parts)
        self.acting = outer
        return value

    def loose(self, kind: RowsType) -> bool:
        """Whether each row is a tuple."""
        return len(kind.columns) > 1 or (kind.stage == "result" and bool(kind.columns))


def _things(value: Value) -> Iterator[Object]:
    """The rows that a value holds: itself, or the items of a list."""
    if value.thing is not None and value.thing.model is not None:
        yield value.thing
    for item in value.items or ():
        yield from _things(item)
