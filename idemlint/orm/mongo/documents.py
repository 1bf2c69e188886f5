"""What documents say that select rows or change them: MongoDB's query and update operators.

A document comes as a value of the analysis, so that one put together above the call, or in a helper, says as much as
one that stands in it. From https://www.mongodb.com/docs/manual/reference/operator/.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, Self, TypeVar


class Document(Protocol):
    """A value that may be a dict (`entries`), a list (`items`) or a literal; `partial` says that a dict has keys beside
    those that could be read."""

    @property
    def entries(self) -> Sequence[tuple[str, Self]] | None: ...
    @property
    def items(self) -> Sequence[Self] | None: ...
    @property
    def literal(self) -> tuple[object] | None: ...
    @property
    def partial(self) -> bool: ...


D = TypeVar("D", bound=Document)


@dataclass(frozen=True, slots=True)
class Condition(Generic[D]):
    """A condition on a column; where `value` is None it compares with the constant `flag`."""

    column: str
    operator: str
    value: D | None
    flag: bool = False
    excluded: bool = False


@dataclass(frozen=True, slots=True)
class Change(Generic[D]):
    """A column that is written. `how` says how the new value hangs on the old one: "" not at all, "expression" counted
    on, "append" put behind, "add" put into a set, "remove" taken out of a list. `place` is the operator's document."""

    column: str
    value: D | None
    how: str
    place: D


_OPERATORS = {
    "$eq": "exact",
    "$ne": "ne",
    "$in": "in",
    "$gt": "gt",
    "$gte": "gte",
    "$lt": "lt",
    "$lte": "lte",
    "$regex": "regex",
    "$all": "contains",
    "$elemMatch": "contains",
    "$size": "size",
    "$type": "type",
    "$mod": "mod",
}
_CHANGES = {
    "$inc": "expression",
    "$mul": "expression",
    "$push": "append",
    "$pushAll": "append",
    "$addToSet": "add",
    "$pull": "remove",
    "$pullAll": "remove",
}
# Stages of an update that is a pipeline, and what their expressions do with the column that they name.
_STAGES = frozenset({"$set", "$addFields", "$replaceWith", "$replaceRoot"})
_STEPS = {
    "$add": "expression",
    "$subtract": "expression",
    "$multiply": "expression",
    "$divide": "expression",
    "$concatArrays": "append",
    "$concat": "append",
}


def selected(query: D) -> tuple[tuple[Condition[D], ...], bool]:
    """The conditions that all rows fulfil which a query selects, and whether these are all it says."""
    found = list(_conditions(query))
    known = tuple(condition for condition in found if condition is not None)
    return known, len(known) == len(found)


def _conditions(query: D) -> Iterator[Condition[D] | None]:
    """None stands for one that could not be read."""
    entries = query.entries
    if entries is None or query.partial:
        yield None
    for name, value in entries or ():
        if name == "$and":
            parts = value.items
            for part in parts or ():
                yield from _conditions(part)
            if parts is None:
                yield None
        elif name.startswith("$"):
            yield None
        else:
            yield from _on_column(name, value)


def _on_column(column: str, value: D) -> Iterator[Condition[D] | None]:
    asked = value.entries
    if not asked or not all(name.startswith("$") for name, _ in asked):
        yield _compared(column, "exact", value)
        return
    if value.partial:
        yield None
    for name, operand in asked:
        if name == "$exists" and operand.literal is not None:
            yield Condition(column, "isnull", None, not operand.literal[0])
        elif name == "$nin":
            yield Condition(column, "in", operand, excluded=True)
        elif name == "$not":
            inner = list(_on_column(column, operand))
            only = inner[0] if len(inner) == 1 else None
            yield Condition(column, only.operator, only.value, only.flag, not only.excluded) if only else None
        elif name in _OPERATORS:
            yield _compared(column, _OPERATORS[name], operand)
        elif name != "$options":
            yield None


def _compared(column: str, operator: str, value: D) -> Condition[D]:
    if value.literal == (None,) and operator in ("exact", "ne"):
        return Condition(column, "isnull", None, operator == "exact")
    return Condition(column, operator, value)


def changes(update: D) -> tuple[tuple[Change[D], ...], bool]:
    """What an update changes, or what a document that replaces another holds; and whether that is all."""
    stages = update.items
    if stages is not None:
        found = [_stage(stage) for stage in stages]
        return tuple(change for part, _ in found for change in part), all(known for _, known in found)
    entries = update.entries
    if entries is None:
        return (), False
    written: list[Change[D]] = []
    complete = not update.partial
    for name, value in entries:
        if not name.startswith("$"):
            written.append(Change(name, value, "", value))
            continue
        inner = value.entries
        complete = complete and inner is not None and not value.partial
        for column, given in inner or ():
            stored = None if name in ("$unset", "$currentDate", "$rename", "$pop", "$bit") else given
            written.append(Change(column, stored, _CHANGES.get(name, ""), value))
    return tuple(written), complete


def _stage(stage: D) -> tuple[list[Change[D]], bool]:
    """What a stage of a pipeline changes: `{"$set": {"n": {"$add": ["$n", 1]}}}`."""
    found: list[Change[D]] = []
    complete = True
    for name, value in stage.entries or ():
        if name not in _STAGES:
            continue
        inner = value.entries
        complete = complete and inner is not None
        for column, given in inner or ():
            found.append(Change(column, given, _step(column, given), value))
    return found, complete


def _step(column: str, value: D) -> str:
    for name, operands in value.entries or ():
        if name in _STEPS and any(_names(operand, column) for operand in operands.items or ()):
            return _STEPS[name]
    return ""


def _names(operand: D, column: str) -> bool:
    """Whether an operand is the column, or `{"$ifNull": ["$n", 0]}` of it."""
    if operand.literal == (f"${column}",):
        return True
    inner = operand.entries or ()
    return any(name == "$ifNull" and any(_names(part, column) for part in given.items or ()) for name, given in inner)
