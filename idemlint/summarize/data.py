"""Calls on the data layer: what they read, lock and write, and what they give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from idemlint.domain.effect import Effect, Write
from idemlint.domain.value import (
    CONSTANT,
    NOTHING,
    UNKNOWN,
    WHOLE,
    Closure,
    Fact,
    Lookup,
    Object,
    Origin,
    Rows,
    Test,
    Value,
    origins_of,
)
from idemlint.orm import LAYERS
from idemlint.program import ColumnType, DataCall, DataOperation, LibraryInstance, Model
from idemlint.summarize.calls import Calls
from idemlint.summarize.given import Given
from idemlint.summarize.values import GLOBAL, lacking
from idemlint.syntax import facts as f


class Data(Calls):
    """The part of a walk that follows calls on models and rows."""

    def data(self, target: DataCall, expr: f.Call, receiver: Value) -> Value:
        before = len(self.effects)
        made = receiver.thing
        if target.filling is not None and made is not None and made.fresh == "new" and made.id not in self.stored:
            self.own_method(target.filling, receiver, expr)
        value = self.operate(target, expr, receiver)
        if target.saving is not None and value.thing is not None:
            self.storing.add(value.thing.id)
            self.own_method(target.saving, value, expr)
            self.storing.discard(value.thing.id)
        if target.bodies:
            row = value if target.operation.kind == "insert" else receiver
            if value.items and value.items[0].thing is not None:
                row = value.items[0]
            stored = any(effect.kind == "insert" for effect in self.effects[before:])
            self.receive(target, row, stored, expr)
        return value

    def own_method(self, key: str, row: Value, expr: f.Call) -> None:
        """A method of the row's own class, which the layer calls."""
        body = self.program.bodies[key]
        self.enter(key, self.bound(body, Value(closure=Closure(receiver=row)), Given((), {})), expr.at)

    def receive(self, target: DataCall, row: Value, stored: bool, expr: f.Call) -> None:
        """The receivers of the signals that a save or delete sends."""
        self.unspelled += 1
        certain = target.operation.kind in ("insert", "save")
        created = Value(CONSTANT, literal=(stored,)) if certain else Value()
        for key in target.bodies:
            body = self.program.bodies[key]
            given = Given((), {"sender": GLOBAL, "instance": row, "created": created})
            self.enter(key, self.bound(body, Value(), given), expr.at)
        self.unspelled -= 1

    def operate(self, target: DataCall, expr: f.Call, receiver: Value) -> Value:
        operation = target.operation
        model = self.program.models.get(operation.model)
        if model is None:
            return Value()
        if operation.kind in READS:
            self.reads.add(model.name)
        lookup = (*self.lookups(operation, model), *self.subqueries(operation, expr))
        rows = self.rows_behind(receiver, model, operation)
        match operation.kind:
            case "new":
                return self.new_row(operation, model, expr)
            case "narrow":
                opaque = rows.opaque or operation.opaque
                narrowed = replace(rows, lookup=(*rows.lookup, *lookup), opaque=opaque)
                return Value(frozenset({Origin("row", model.title)}), rows=narrowed)
            case "lock":
                return Value(
                    frozenset({Origin("row", model.title)}),
                    rows=replace(rows, lookup=(*rows.lookup, *lookup), lock=self.open[0] if self.open else None),
                )
            case "get" | "first":
                return self.one(operation.kind, replace(rows, lookup=(*rows.lookup, *lookup)), model, expr)
            case "exists":
                effect = self.query("exists", rows, lookup, model, expr, operation.opaque)
                fact = Fact("exists", effect.id, holds=True, model=model.name, site=effect.site)
                test = Test(frozenset({fact}), frozenset({replace(fact, holds=False)}))
                return Value(frozenset({Origin("row", model.title)}), effect=(effect.id, "result"), test=test)
            case "read":
                self.query("read", rows, lookup, model, expr, operation.opaque)
                return Value(
                    frozenset({Origin("row", f"{model.title}{WHOLE}")}),
                    rows=replace(rows, lookup=(*rows.lookup, *lookup)),
                )
            case "refresh":
                return self.refresh(receiver)
            case "insert" | "insert-many":
                return self.insert(operation, rows, model, expr)
            case "get-or-insert" | "upsert":
                return self.get_or_insert(operation, rows, lookup, model, expr)
            case "update":
                writes = self.writes(operation, model, None)
                effect = self.query("update", rows, lookup, model, expr, operation.opaque, writes)
                return Value(frozenset({UNKNOWN}), effect=(effect.id, "count"))
            case "update-many":
                return self.update_many(operation, model, expr)
            case "save":
                return self.save(operation, receiver, model, expr)
            case "delete":
                return self.delete(operation, receiver, rows, lookup, model, expr)
            case "link":
                self.record("link", expr.at, model=model.name, opaque=True)
        return Value()

    # --- reading

    def lookups(self, operation: DataOperation, model: Model) -> tuple[Lookup, ...]:
        found: list[Lookup] = []
        for written, expr in operation.lookup:
            column, operator = split_lookup(written)
            value = self.evaluate_argument(expr)
            behind = self.behind(model, column)
            found.append(Lookup(model.column(column), operator, value, operation.excluded, behind))
        return tuple(found)

    def subqueries(self, operation: DataOperation, expr: f.Call) -> tuple[Lookup, ...]:
        """The conditions that rows of another query must be there: `filter(Exists(orders))`."""
        if not operation.opaque or operation.excluded:
            return ()
        made = (argument.value for argument in expr.arguments if not argument.star and argument.name is None)
        asked = (self.evaluate(value) for value in made if isinstance(self.type_of(value), LibraryInstance))
        queries = (value.entry("#0") for value in asked if value.made)
        return tuple(Lookup("", "exists", query) for query in queries if query is not None and query.rows is not None)

    def evaluate_argument(self, expr: f.Expr) -> Value:
        return self.evaluate(expr)

    def rows_behind(self, receiver: Value, model: Model, operation: DataOperation) -> Rows:
        if receiver.rows is not None and receiver.rows.model == model.name:
            return receiver.rows
        return Rows(model.name)

    def query(
        self,
        kind: str,
        rows: Rows,
        lookup: tuple[Lookup, ...],
        model: Model,
        expr: f.Call,
        opaque: bool = False,
        writes: tuple[Write, ...] = (),
    ) -> Effect:
        return self.record(
            kind,
            expr.at,
            model=model.name,
            lookup=(*rows.lookup, *lookup),
            opaque=opaque or rows.opaque,
            writes=writes,
            lock=rows.lock,
            many=True,
        )

    def one(self, kind: str, rows: Rows, model: Model, expr: f.Call) -> Value:
        effect = self.query(kind, rows, (), model, expr)
        thing = self.thing(model.name, lookup=rows.lookup, lock=rows.lock, source=effect.id)
        return Value(self.origins_of_row(rows), thing=thing, site=effect.site)

    def origins_of_row(self, rows: Rows) -> frozenset[Origin]:
        """A row stands for what found it: looked up by an argument it is as stable as that."""
        return frozenset({Origin("row", rows.model.rpartition(":")[2])})

    def refresh(self, receiver: Value) -> Value:
        if receiver.thing is not None:
            self.heap.pop(receiver.thing.id, None)
            self.reread.add(receiver.thing.id)
        return NOTHING

    # --- writing

    def writes(self, operation: DataOperation, model: Model, thing: Object | None) -> tuple[Write, ...]:
        found: list[Write] = []
        steps = dict(operation.steps)
        for name, expr in operation.values:
            column = model.column(name)
            value = self.evaluate_argument(expr)
            step = steps.get(name) or self.from_itself(expr, value, model, column)
            found.append(Write(column, value, self.site(expr.at), step))
        return tuple(found)

    def from_itself(self, expr: f.Expr, value: Value, model: Model, column: str) -> str:
        """How a written value hangs on the old one of its own column: "expression" when the database works it out,
        "arithmetic" when it was read into Python before."""
        if database_step(expr, self.named_column) == column:
            return self.counted(expr, model, column)
        if value.step is not None and value.step[1] == column:
            thing = self.things.get(value.step[0])
            if thing is not None and thing.model == model.name:
                return "arithmetic"
        return "append" if self.lengthened(expr, model, column) else ""

    def lengthened(self, expr: f.Expr, model: Model, column: str) -> bool:
        """`[*row.history, line]`, `f"{row.log}{line}"`: the old value of the column with something added."""
        match expr:
            case f.Display(kind="list", items=items):
                parts = [item.value for item in items if isinstance(item, f.Starred)]
            case f.Format(parts=items):
                parts = list(items)
            case _:
                return False
        held = [self.evaluate_quietly(part).column for part in parts if isinstance(part, f.Attribute)]
        return len(items) > 1 and any(
            found is not None and found[1] == column and self.model_of(Value(column=found)) == model.name
            for found in held
        )

    def counted(self, expr: f.Expr, model: Model, column: str) -> str:
        """What the database's step from the old value is: to take away from a document is no counting."""
        field = model.field(column)
        if field is None or field.kind not in ("json", "text"):
            return "expression"
        return "" if isinstance(expr, f.Operation) and expr.operator == "-" else "append"

    def named_column(self, expr: f.Expr) -> str:
        """The column that an expression names for the database, `F("n")` or `Order.n`; "" for anything else."""
        kind = self.type_of(expr)
        if isinstance(kind, ColumnType) and isinstance(expr, f.Attribute):
            return kind.column
        path = getattr(self.type_of(expr.function), "path", "") if isinstance(expr, f.Call) else ""
        if isinstance(expr, f.Call) and any(path in layer.column_references for layer in LAYERS):
            first = expr.arguments[0].value if expr.arguments else None
            return first.value if isinstance(first, f.Constant) and isinstance(first.value, str) else ""
        return ""

    def new_row(self, operation: DataOperation, model: Model, expr: f.Call) -> Value:
        spread = [self.evaluate(given.value) for given in expr.arguments if given.star == "**"]
        unread = operation.opaque and (not spread or any(value.entries is None for value in spread))
        thing = self.thing(model.name, fresh="new", opaque=unread)
        for name, value in (entry for known in spread for entry in known.entries or ()):
            self.assign(thing, model.column(name), value, value.site or self.site(expr.at))
        for write in self.writes(operation, model, thing):
            self.assign(thing, write.column, write.value, write.site)
        return Value(frozenset({Origin("fresh", model.title, self.site(expr.at))}), thing=thing)

    def insert(self, operation: DataOperation, rows: Rows, model: Model, expr: f.Call) -> Value:
        """`create`, `bulk_create`: the values given, and those of the rows made before."""
        writes = self.writes(operation, model, None)
        related = tuple(
            Write(model.column(lookup.column), lookup.value, self.site(expr.at))
            for lookup in self.lookups(operation, model)
        )
        many = operation.kind == "insert-many"
        things: list[Object] = []
        before = self.facts
        if many and operation.objects is not None:
            made = self.evaluate(operation.objects)
            things = [item.thing for item in made.items or () if item.thing is not None]
            for thing in things:
                writes = (*writes, *self.heap.get(thing.id, {}).values())
            opaque = not made.items or all(item.thing is None or item.thing.opaque for item in made.items)
            self.learn(*lacking(made))
        else:
            opaque = operation.opaque
        effect = self.record(
            "insert",
            expr.at,
            model=model.name,
            writes=(*writes, *related),
            many=many,
            opaque=opaque,
            conflict=operation.conflict,
            fresh="stored",
        )
        self.facts = before
        if many:
            self.made_in(effect, things)
            return Value(frozenset({Origin("fresh", model.title, effect.site)}), effect=(effect.id, "result"))
        return self.inserted(effect, model, expr, "stored")

    def inserted(self, effect: Effect, model: Model, expr: f.Call, fresh: str) -> Value:
        lookup = tuple(Lookup(write.column, "exact", write.value) for write in effect.writes)
        thing = self.thing(model.name, fresh=fresh, source=effect.id, lookup=lookup if fresh == "maybe" else ())
        if fresh == "stored":
            for write in effect.writes:
                self.assign(thing, write.column, write.value, write.site)
        self.effects[effect.id] = replace(effect, thing=thing.id)
        self.learn(Fact("inserted", effect.id, model=model.name, site=effect.site))
        origin = Origin("fresh", model.title, effect.site) if fresh == "stored" else Origin("row", model.title)
        return Value(frozenset({origin}), thing=thing, site=effect.site)

    def get_or_insert(
        self, operation: DataOperation, rows: Rows, lookup: tuple[Lookup, ...], model: Model, expr: f.Call
    ) -> Value:
        whole = (*rows.lookup, *lookup)
        effect = self.record(
            operation.kind,
            expr.at,
            model=model.name,
            lookup=whole,
            writes=self.writes(operation, model, None),
            opaque=operation.opaque or rows.opaque,
            lock=rows.lock,
        )
        thing = self.thing(model.name, fresh="maybe", source=effect.id, lookup=whole, lock=rows.lock)
        self.effects[effect.id] = replace(effect, thing=thing.id)
        row = Value(frozenset({Origin("row", model.title)}), thing=thing, site=effect.site)
        claim = Fact("claim", effect.id, site=effect.site)
        conflict = Fact("conflict", effect.id, site=effect.site)
        created = Value(
            frozenset({UNKNOWN}), effect=(effect.id, "created"), test=Test(frozenset({claim}), frozenset({conflict}))
        )
        return Value(origins_of((row, created)), items=(row, created))

    def save(self, operation: DataOperation, receiver: Value, model: Model, expr: f.Call) -> Value:
        thing = receiver.thing
        if thing is None:
            self.record("save", expr.at, model=model.name, opaque=True)
            return NOTHING
        if thing.id in self.storing:
            return NOTHING
        pending = self.heap.get(thing.id, {})
        fields = None if operation.fields is None else {model.column(name) for name in operation.fields}
        writes = tuple(write for column, write in sorted(pending.items()) if fields is None or column in fields)
        # With columns named a row that is not there yet is refused, so it must have been stored on another way.
        if thing.fresh == "new" and thing.id not in self.stored and fields is None:
            keyed = {model.column(name) for name in operation.conflict_on} & {write.column for write in writes}
            effect = self.record(
                "insert",
                expr.at,
                model=model.name,
                writes=writes,
                conflict=operation.conflict if keyed else "",
                thing=thing.id,
                fresh="stored",
                opaque=thing.opaque,
            )
            self.stored.add(thing.id)
            self.learn(Fact("inserted", effect.id, model=model.name, site=effect.site))
            return NOTHING
        clean = self.clean.get(thing.id, set())
        # An expression stays on the instance and is applied by every save; a value is only stored again.
        again = tuple(
            replace(write, from_itself="expression-again", site=self.site(expr.at))
            for write in writes
            if write.column in clean and write.from_itself == "expression"
        )
        self.record(
            "save",
            expr.at,
            model=model.name,
            writes=(*(write for write in writes if write.column not in clean), *again),
            thing=thing.id,
            lookup=thing.lookup,
            fresh=thing.fresh,
            lock=thing.lock,
            many=operation.fields is None,
        )
        self.clean.setdefault(thing.id, set()).update(write.column for write in writes)
        return NOTHING

    def update_many(self, operation: DataOperation, model: Model, expr: f.Call) -> Value:
        made = self.evaluate(operation.objects) if operation.objects is not None else Value()
        writes: list[Write] = []
        locked: int | None = None
        things = [item.thing for item in made.items or () if item.thing is not None]
        if made.rows is not None:
            locked = made.rows.lock
            things.extend(thing for thing in self.things.values() if thing.model == model.name and thing.each)
        fields = {model.column(name) for name in operation.fields or ()}
        for thing in things or [thing for thing in self.things.values() if thing.model == model.name and thing.each]:
            locked = locked if locked is not None else thing.lock
            writes.extend(write for column, write in sorted(self.heap.get(thing.id, {}).items()) if column in fields)
        effect = self.record(
            "update",
            expr.at,
            model=model.name,
            writes=tuple(dict.fromkeys(writes)),
            many=True,
            opaque=not writes,
            lock=locked,
        )
        self.made_in(effect, things)
        return Value(frozenset({UNKNOWN}), effect=(effect.id, "count"))

    def delete(
        self,
        operation: DataOperation,
        receiver: Value,
        rows: Rows,
        lookup: tuple[Lookup, ...],
        model: Model,
        expr: f.Call,
    ) -> Value:
        thing = receiver.thing
        if thing is not None:
            effect = self.record(
                "delete", expr.at, model=model.name, thing=thing.id, lookup=thing.lookup, lock=thing.lock
            )
        else:
            effect = self.query("delete", rows, lookup, model, expr, operation.opaque)
        return Value(CONSTANT | {UNKNOWN}, effect=(effect.id, "count"))


def split_lookup(written: str) -> tuple[str, str]:
    """`sent_at__isnull` -> ("sent_at", "isnull"); a path through relations stays one column."""
    stem, _, last = written.rpartition("__")
    return (stem, last) if stem and last in OPERATORS else (written, "exact")


READS = frozenset("get first read exists get-or-insert upsert update delete".split())
"""Operations that find something only once the rows they look for are committed."""

OPERATORS = frozenset(
    """exact iexact contains icontains in gt gte lt lte startswith istartswith endswith iendswith range isnull regex
    iregex date year month day week hour minute second has_key has_keys has_any_keys contained_by overlap ne""".split()
)


def database_step(expr: f.Expr, named: Callable[[f.Expr], str], within: bool = False) -> str:
    """The column that an expression for the database (`F("n") + 1`, `func.coalesce(Order.n, 0) + 1`) counts on from; ""
    where it does not. `within` says that it is a part of such an operation."""
    match expr:
        case f.Operation(left=left, right=right, operator="+" | "-" | "*" | "/"):
            return database_step(left, named, True) or database_step(right, named, True)
        case f.Call(arguments=arguments):
            own = named(expr) if within else ""
            inner = (database_step(argument.value, named, within) for argument in arguments)
            return own or next((found for found in inner if found), "")
        case f.Attribute() if within:
            return named(expr)
    return ""
