"""Tests whose outcome is known here: a helper's flag, a row that was read, a column that the query asked for."""

from __future__ import annotations

from idemlint.domain.value import Lookup, Object, Value
from idemlint.orm import LAYERS
from idemlint.program import LibraryType, Model
from idemlint.summarize.state import State
from idemlint.syntax import facts as f

NOT_NULL = object()
"""What is known of a column that is there and no more than that."""


class Decisions(State):
    """The part of a walk that knows which arm is taken."""

    def evaluate(self, expr: f.Expr) -> Value:
        raise NotImplementedError

    def decided(self, expr: f.Expr) -> bool | None:
        """The outcome of a test; None where it can vary."""
        match expr:
            case f.Unary(operator="not", operand=operand):
                inner = self.decided(operand)
                return None if inner is None else not inner
            case f.Boolean(operator="and", operands=operands):
                return False if any(self.decided(operand) is False for operand in operands) else None
            case f.Comparison(left=left, operators=(operator,), rights=(f.Constant(value=wanted),)):
                return self._compared(left, operator, wanted)
            case f.Constant(value=plain):
                return bool(plain)
            case f.Walrus(target=target, value=named):
                outcome = self.decided(named)
                if outcome is not None:
                    self.here.env[target.id] = self.evaluate(named)
                return outcome
            case f.Name():
                value = self.held(expr)
                return bool(value.literal[0]) if value is not None and value.literal is not None else None
            case f.Attribute():
                for known in (self.atomic(expr), self.unstored(expr), self.identified(expr)):
                    if known is not None:
                        return known
                return self._there(expr)
        return None

    def atomic(self, expr: f.Attribute) -> bool | None:
        """Whether a transaction is open, where the connection is asked so; of what is around a root that is no task
        nobody knows."""
        kind = self.here.body.types.get(expr.at)
        if not isinstance(kind, LibraryType) or self.catalog.role(kind.path) != "in-transaction":
            return None
        return True if self.open else False if self.root.task is not None else None

    def _compared(self, left: f.Expr, operator: str, wanted: object) -> bool | None:
        negated = operator in ("is not", "!=")
        if operator not in ("is", "is not", "==", "!="):
            return None
        if isinstance(left, f.Name):
            value = self.held(left) if wanted is None and operator in ("is", "is not") else None
            known = None if value is None else value.literal == (None,)
        elif isinstance(left, f.Attribute):
            identified = self.identified(left) if wanted is None else None
            known = not identified if identified is not None else self._equal(left, wanted)
        else:
            return None
        return None if known is None else known != negated

    def held(self, name: f.Name) -> Value | None:
        """The value of a local name that holds a literal, unless a loop around binds it anew."""
        value = self.here.env.get(name.id)
        if value is None or value.literal is None or any(name.id in names for names in self.here.rebound):
            return None
        return value

    # --- rows

    def row_of(self, expr: f.Attribute) -> tuple[Object, Model] | None:
        """The row that an attribute is one of."""
        value = self.here.env.get(expr.base.id) if isinstance(expr.base, f.Name) else None
        thing = value.thing if value is not None else None
        model = self.program.models.get(thing.model or "") if thing is not None else None
        return (thing, model) if thing is not None and model is not None else None

    def unstored(self, expr: f.Attribute) -> bool | None:
        """Whether a row is not stored yet, where it is asked so: `self._state.adding`."""
        inner = expr.base
        if not isinstance(inner, f.Attribute) or (found := self.row_of(inner)) is None:
            return None
        thing, model = found
        words = next((layer.unstored for layer in LAYERS if model.layer == layer.name), frozenset())
        if f"{inner.name}.{expr.name}" not in words:
            return None
        if thing.fresh == "new":
            return None if thing.id in self.stored else True
        return False if self.was_read(thing) else None

    def identified(self, expr: f.Attribute) -> bool | None:
        """Whether a row's primary key is there: not before a row made here is stored, always for one that was read."""
        found = self.row_of(expr) if expr.name in ("pk", "id") else None
        if found is None or expr.name in self.heap.get(found[0].id, {}):
            return None
        if found[0].fresh == "new":
            return True if found[0].id in self.stored else None
        return True if self.was_read(found[0]) else None

    def was_read(self, thing: Object) -> bool:
        return thing.source is not None or thing.each

    def _there(self, expr: f.Attribute) -> bool | None:
        """Whether a column holds something true, as far as the query that found its row says."""
        known = self.asked_for(expr)
        if known is NOT_NULL:
            found = self.row_of(expr)
            field = found[1].field(expr.name) if found is not None else None
            return True if field is not None and field.kind == "relation" else None
        return bool(known) if known is not ... else None

    def _equal(self, expr: f.Attribute, wanted: object) -> bool | None:
        known = self.asked_for(expr)
        if known is ... or (known is NOT_NULL and wanted is not None):
            return None
        return known is not NOT_NULL and known == wanted

    def asked_for(self, expr: f.Attribute) -> object:
        """What the query that found a row says of one of its columns: a literal, `NOT_NULL`, or `...` for nothing."""
        found = self.row_of(expr)
        return self.told(*found, expr.name) if found is not None else ...

    def told(self, thing: Object, model: Model, name: str) -> object:
        """What the query that found a row says of the column of that name."""
        column = model.column(name)
        if thing.id in self.reread or model.field(name) is None or column in self.heap.get(thing.id, {}):
            return ...
        return next((told for each in thing.lookup if (told := _told(each, model, column)) is not ...), ...)


def _told(condition: Lookup, model: Model, column: str) -> object:
    literal = condition.value.literal
    if model.column(condition.column) != column or literal is None:
        return ...
    null = condition.operator == "isnull" or literal == (None,)
    if null and condition.operator in ("isnull", "exact"):
        is_null = (literal[0] in (None, True)) != condition.excluded
        return None if is_null else NOT_NULL
    return literal[0] if condition.operator == "exact" and not condition.excluded else ...
