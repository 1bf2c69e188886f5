"""Queries and other statements of a data layer that are put together first and run later, by a session."""

from __future__ import annotations

from dataclasses import replace

from idemlint import orm
from idemlint.domain.effect import Effect, Write
from idemlint.domain.statement import Statement
from idemlint.domain.value import UNKNOWN, Fact, Lookup, Object, Origin, Rows, Test, Value, origins_of
from idemlint.program import DataCall, DataMethodType, DataOperation, Model, RowsType, Type
from idemlint.summarize.blocks import BlockWalk
from idemlint.syntax import facts as f


class QueryWalk(BlockWalk):
    """A walk that runs statements and looks at what they gave. `acting` is the session that runs them."""

    def locking(self) -> int | None:
        """The transaction that a lock taken now is held to the end of; None where there is none."""
        stack = self.in_force() if self.acting is not None else tuple(self.open)
        return stack[0] if stack else None

    def in_force(self) -> tuple[int, ...]:
        """The transaction of the acting session."""
        assert self.acting is not None
        return self.sessions[self.acting].stack

    def assign_quietly(self, thing: Object, write: Write) -> None:
        """An attribute that the row has been stored with."""
        super().assign(thing, write.column, write.value, write.site, write.from_itself)

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
        rows = replace(rows, session=self.acting, lock=self.locking() if rows.locks else rows.lock)
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
        # What an update gives back are the rows as it found them.
        rows = replace(rows, statement=None, lock=self.locking(), fetched=True)
        if operation.form == "count":
            return Value(frozenset({UNKNOWN}), effect=(effect.id, "count"))
        value = Value(frozenset({UNKNOWN}), rows=rows, effect=(effect.id, "result"))
        return value if operation.form == "rows" else self.answer(value, model)

    def select(self, operation: DataOperation, rows: Rows, model: Model, expr: f.Call) -> Value:
        asked = operation.statement
        kind = self.type_of(asked) if asked is not None else None
        columns = kind.columns if isinstance(kind, RowsType) else ()
        match operation.form:
            case "rows":
                if rows.lock is not None:
                    self.query("read", rows, (), model, expr)
                return Value(frozenset({Origin("row", model.title)}), rows=replace(rows, fetched=True))
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
        if operation.form == "count":
            stored = frozenset({UNKNOWN if does.conflict else Origin("fresh", model.title, effect.site)})
            return Value(stored, effect=(effect.id, "created" if does.conflict == "ignore" else "result"))
        value = Value(frozenset({UNKNOWN}), effect=(effect.id, "result"))
        return value if operation.form == "rows" else self.answer(value, model)

    # --- what running gave

    def ask(self, target: DataCall, expr: f.Call, receiver: Value, model: Model) -> Value:
        """A query that runs now, or a look at what one gave."""
        operation = target.operation
        if receiver.effect is not None and self.effects[receiver.effect[0]].changes_data:
            return self.answer(receiver, model, many=operation.kind == "read")
        rows = receiver.rows if receiver.rows is not None and receiver.rows.model == model.name else Rows(model.name)
        locks = rows.locks or operation.locks
        rows = replace(rows, session=self.acting, lock=self.in_force()[0] if locks else rows.lock)
        if operation.kind in ("get", "first"):
            whole = replace(
                rows, lookup=(*rows.lookup, *self.lookups(operation, model)), opaque=rows.opaque or operation.opaque
            )
            columns = self.asked(expr)
            return self.single(operation.kind, whole, model, columns, expr)
        value = super().operate(target, expr, replace(receiver, rows=rows))
        return replace(value, rows=replace(value.rows, fetched=True)) if value.rows is not None else value

    def asked(self, expr: f.Call) -> tuple[tuple[str, str], ...]:
        """What each row is made of that a method is called on."""
        kind: Type | None = self.type_of(expr.function)
        rows = kind.receiver if isinstance(kind, DataMethodType) else None
        if not isinstance(rows, RowsType):
            return ()
        name = expr.function.name if isinstance(expr.function, f.Attribute) else ""
        return rows.columns[:1] if name.startswith("scalar") else rows.columns

    def answer(self, asked: Value, model: Model, many: bool = False) -> Value:
        """A row, or its absence, that a writing statement gave back: there is none where it wrote nothing."""
        assert asked.effect is not None
        effect = self.effects[asked.effect[0]]
        part = "result"
        if effect.kind in ("update", "delete"):
            part = "count"
        elif effect.conflict == "ignore":
            part = "created"
        if effect.kind != "insert":
            row = Value(frozenset({Origin("row", model.title)}), rows=asked.rows, effect=(effect.id, part))
            if many:
                return row
            return replace(row, rows=None, thing=self.thing(model.name, lookup=effect.lookup, source=effect.id))
        thing = self.thing(model.name, fresh="maybe" if effect.conflict else "stored", source=effect.id)
        for write in effect.writes:
            self.assign_quietly(thing, write)
        origin = Origin("row", model.title) if effect.conflict else Origin("fresh", model.title, effect.site)
        return Value(frozenset({origin}), thing=thing, effect=(effect.id, part))

    # --- rows of a query

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

    def item(self, iterable: Value, expr: f.Expr) -> Value:
        """A loop over a query runs it; what it gives may be a tuple of rows and columns."""
        rows = iterable.rows
        model = self.program.models.get(rows.model) if rows is not None else None
        if rows is None or model is None or not orm.unit_of_work(model.layer):
            return super().item(iterable, expr)
        session = self.session_of(iterable)
        outer, self.acting = self.acting, session
        if not rows.fetched:
            stack = self.use(session, expr.at)
            rows = replace(rows, lock=stack[0] if rows.locks else rows.lock)
        value = super().item(replace(iterable, rows=rows), expr)
        kind = self.type_of(expr)
        if isinstance(kind, RowsType) and value.thing is not None and self.loose(kind):
            parts = tuple(self.part(value.thing, model, column) for column in kind.columns)
            value = Value(origins_of(parts), items=parts)
        self.acting = outer
        return value

    def fetch(self, rows: Rows, at: int) -> None:
        if rows.fetched:
            self.reads.add(rows.model)
        else:
            super().fetch(rows, at)

    def loose(self, kind: RowsType) -> bool:
        """Whether each row is a tuple."""
        return len(kind.columns) > 1 or (kind.stage == "result" and bool(kind.columns))
