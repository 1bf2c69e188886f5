"""Layers whose rows are documents, and whose queries and updates are documents too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from idemlint import orm
from idemlint.domain.effect import Effect, Write
from idemlint.domain.value import CONSTANT, NOTHING, UNKNOWN, Fact, Lookup, Object, Origin, Rows, Test, Value
from idemlint.program import DataCall, DataOperation, Model
from idemlint.summarize.data import Data
from idemlint.summarize.given import Given
from idemlint.syntax import facts as f

HIT = frozenset({"matched_count", "modified_count"})
"""What the answer of an update that may insert calls the rows that were there before."""


class Documents(Data):
    """The part of a walk that follows documents."""

    def operate(self, target: DataCall, expr: f.Call, receiver: Value) -> Value:
        operation = target.operation
        model = self.program.models.get(operation.model)
        if operation.kind != "document" or model is None:
            value = super().operate(target, expr, receiver)
            return self.given_back(operation, value, receiver, model) if operation.returning and model else value
        query = self.evaluate(operation.statement) if operation.statement is not None else None
        given = self.evaluate(operation.objects) if operation.objects is not None else Value()
        if operation.verb != "batch":
            return self.on_collection(operation, query, given, model, expr)
        for item in given.items or ():
            self.in_batch(item, model, expr)
        return Value()

    def in_batch(self, item: Value, model: Model, expr: f.Call) -> None:
        """One of the calls in a list of such: `UpdateOne(filter, update)`."""
        shape = orm.batched(item.made)
        if shape is None:
            return
        arguments = dict(item.entries or ())
        upsert = shape.upsert is not None and _at(arguments, shape.upsert).literal == (True,)
        form = "upsert" if upsert else "many" if shape.many else ""
        operation = DataOperation("document", model.name, verb=shape.verb, form=form)
        query = _at(arguments, shape.query) if shape.query is not None else None
        self.on_collection(operation, query, _at(arguments, shape.given or shape.query or (0, "")), model, expr)

    def on_collection(
        self, operation: DataOperation, query: Value | None, given: Value, model: Model, expr: f.Call
    ) -> Value:
        """One call on a collection, its documents read."""
        rows = self.document_rows(query, model)
        if operation.verb != "insert":
            self.reads.add(model.name)
        match operation.verb:
            case "insert":
                return self.insert_documents(operation, given, model, expr)
            case "save":
                return self.save_document(given, model, expr)
            case "first":
                return self.one("first", rows, model, expr)
            case "rows":
                return Value(frozenset({Origin("row", model.title)}), rows=rows)
            case "read":
                effect = self.query("read", rows, (), model, expr)
                return Value(frozenset({Origin("row", f"{model.title}#")}), rows=rows, effect=(effect.id, "result"))
            case "delete":
                effect = self.query("delete", rows, (), model, expr)
                return self.answered_row(operation, effect, model)
        writes, complete = self.document_writes(given, model, expr)
        effect = self.record(
            "upsert" if operation.form == "upsert" else "update",
            expr.at,
            model=model.name,
            lookup=rows.lookup,
            writes=writes,
            opaque=rows.opaque or not complete,
            many=operation.form == "many",
        )
        return self.answered_row(operation, effect, model)

    def document_rows(self, query: Value | None, model: Model) -> Rows:
        """The rows that a document selects."""
        if query is None:
            return Rows(model.name)
        found, complete = orm.selected(query)
        lookup = tuple(
            Lookup(
                condition.column,
                condition.operator,
                condition.value if condition.value is not None else Value(CONSTANT, literal=(condition.flag,)),
                condition.excluded,
            )
            for condition in found
        )
        return Rows(model.name, lookup, opaque=not complete)

    def document_writes(self, given: Value, model: Model, expr: f.Call) -> tuple[tuple[Write, ...], bool]:
        """What an update writes, or a document that replaces the row; and whether that is all."""
        if given.thing is not None and given.thing.model == model.name:
            return tuple(write for _, write in sorted(self.heap.get(given.thing.id, {}).items())), True
        found, complete = orm.changes(given)
        writes = (
            Write(
                change.column,
                change.value if change.value is not None else NOTHING,
                change.place.site or self.site(expr.at),
                change.how or self.counted_on(change.value, change.column, model),
            )
            for change in found
        )
        return tuple(writes), complete

    def counted_on(self, value: Value | None, column: str, model: Model) -> str:
        """Whether a value was worked out from the old one of its own column, or is that one grown longer."""
        if value is not None and value.column is not None and value.column[1] == column:
            held = self.heap.get(value.column[0], {}).get(column)
            return held.from_itself if held is not None else ""
        if value is None or value.step is None or value.step[1] != column:
            return ""
        thing = self.things.get(value.step[0])
        return "arithmetic" if thing is not None and thing.model == model.name else ""

    def insert_documents(self, operation: DataOperation, given: Value, model: Model, expr: f.Call) -> Value:
        items = given.items if given.items is not None else (given,)
        many = operation.form == "many" or given.items is not None
        writes: list[Write] = []
        known = False
        for item in items:
            found, complete = self.document_writes(item, model, expr)
            writes.extend(found)
            known = known or complete
        effect = self.record(
            "insert", expr.at, model=model.name, writes=tuple(writes), many=many, opaque=not known, fresh="stored"
        )
        self.learn(Fact("inserted", effect.id, model=model.name, site=effect.site))
        origin = Origin("fresh", model.title, effect.site)
        return Value(frozenset({origin}), effect=(effect.id, "result"))

    def save_document(self, given: Value, model: Model, expr: f.Call) -> Value:
        """A document stored under its `_id`, or inserted where it has none yet."""
        writes, complete = self.document_writes(given, model, expr)
        loaded = given.thing is not None and given.thing.fresh == ""
        key = next((write for write in writes if write.column == "_id"), None)
        if not loaded and key is None:
            return self.insert_documents(DataOperation("document", model.name, verb="insert"), given, model, expr)
        lookup = given.thing.lookup if given.thing is not None else ()
        if key is not None:
            lookup = (Lookup("_id", "exact", key.value),)
        self.record(
            "save" if loaded else "upsert",
            expr.at,
            model=model.name,
            lookup=lookup,
            writes=writes,
            opaque=not complete,
            thing=given.thing.id if given.thing is not None else None,
        )
        return NOTHING

    # --- answers

    def given_back(self, operation: DataOperation, value: Value, receiver: Value, model: Model) -> Value:
        """What an update or a save gives that gives its row."""
        if operation.kind == "update" and value.effect is not None:
            return self.answered_row(operation, self.effects[value.effect[0]], model)
        return receiver if operation.kind == "save" else value

    def answered_row(self, operation: DataOperation, effect: Effect, model: Model) -> Value:
        """What an update or delete gives: counts, or the row as it was before or after."""
        if not operation.returning:
            return Value(frozenset({UNKNOWN}), effect=(effect.id, "result"))
        upsert, after = effect.kind == "upsert", operation.force == "after"
        thing = self.thing(model.name, lookup=effect.lookup, source=effect.id)
        for write in effect.writes if after else ():
            if write.from_itself:
                counted = Value(frozenset({Origin("changed", f"{model.title}.{write.column}", write.site)}))
                self.assign(thing, write.column, counted, write.site)
        row = Value(frozenset({Origin("row", model.title)}), thing=thing, effect=(effect.id, "count"), site=effect.site)
        if not upsert:
            return row
        return replace(row, effect=(effect.id, "result"), test=Test() if after else self.was_there(effect))

    def was_there(self, effect: Effect) -> Test:
        """What it says that an upsert found its row."""
        claim = Fact("claim", effect.id, site=effect.site)
        return Test(frozenset({replace(claim, kind="conflict")}), frozenset({claim}))

    # --- documents as dicts

    def attribute(self, expr: f.Attribute) -> Value:
        value = super().attribute(expr)
        if expr.name in HIT and value.effect is not None and self.effects[value.effect[0]].kind == "upsert":
            return replace(value, test=self.was_there(self.effects[value.effect[0]]))
        return value

    def subscript(self, base: Value, index: Value) -> Value:
        name = _text(index)
        if base.thing is not None and name is not None and self.is_document(base.thing):
            self.looked_at(base)
            return self.of_thing(base.thing, name, None)
        return super().subscript(base, index)

    def plain(self, callee: Value, given: Given, expr: f.Call) -> Value:
        receiver = callee.closure.receiver if callee.closure else None
        named = isinstance(expr.function, f.Attribute) and expr.function.name in ("get", "setdefault", "pop")
        if named and receiver is not None and receiver.thing is not None and given.positional:
            name = _text(given.positional[0])
            if name is not None and self.is_document(receiver.thing):
                return self.of_thing(receiver.thing, name, None)
        return super().plain(callee, given, expr)

    def is_document(self, thing: Object) -> bool:
        """Whether any name may be a column of a row."""
        model = self.program.models.get(thing.model or "")
        return model is not None and model.open


def _text(value: Value) -> str | None:
    literal = value.literal[0] if value.literal is not None else None
    return literal if isinstance(literal, str) else None


def _at(arguments: Mapping[str, Value], slot: tuple[int | None, str]) -> Value:
    """The argument that stands at a position or has a name."""
    position, name = slot
    return arguments.get(name) or arguments.get(f"#{position}") or NOTHING
