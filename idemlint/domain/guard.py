"""Guards: what stands between a second run and an effect, and how much it is worth.

A guard is judged against one effect: the same unique row holds everything for a write in its own transaction, and
loses one message for a mail sent after it. The table is in ARCHITECTURE.md.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from idemlint.catalog import Slot
from idemlint.domain.effect import DATA, Effect, Write
from idemlint.domain.summary import Summary
from idemlint.domain.value import CONSTANT, NOTHING, TAKEN, WHOLE, Fact, Lookup, Rows, Value
from idemlint.program import Model, Site, UniqueKey

INSERTS = frozenset({"insert", "get-or-insert", "upsert"})


class Strength(enum.IntEnum):
    """What a guard is worth for one effect, weakest first."""

    POSSIBLE = 1
    """A test that could not be followed: it may guard."""
    MUTEX = 2
    """One run at a time, the next one passes."""
    EXPIRING = 3
    """Holds until its lifetime is over."""
    STATE = 4
    """Holds once the run has written the state; a cut before that, or a second run beside it, repeats."""
    CLAIM = 5
    """Only one run ever passes."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A guard of one effect: `test` is where it is tested, `by` the effect that takes or falsifies it."""

    strength: Strength
    test: Site | None
    by: Effect | None = None
    key: UniqueKey | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """How a unique key stands to the values a row is inserted or looked up with: `key` is the one that they cover,
    `doubtful` that the schema or the values could not be read far enough to say there is none."""

    key: UniqueKey | None
    doubtful: bool


def coverage(model: Model | None, values: Mapping[str, Value], opaque: bool, named: tuple[str, ...] = ()) -> Coverage:
    """The unique key that stable `values` (by column) cover.

    A key with a column that differs from run to run stops nothing. A key whose column nobody can tell leaves doubt. A
    nullable column counts unless the value is None for sure. Columns that an insert itself has `named` for a conflict
    are a unique key, or the database would refuse the statement.
    """
    if model is None or model.abstract:
        return Coverage(None, True)
    given = {model.column(name.split("__")[0] if name != "pk" else name): value for name, value in values.items()}
    doubtful = opaque or not model.seen
    keys = sorted(model.unique, key=lambda key: len(key.columns))
    for key in (UniqueKey(named, source="ON CONFLICT"), *keys) if named else keys:
        parts = [given.get(column) or _left_out(model, key, column) for column in key.columns]
        missing = [column for column, part in zip(key.columns, parts, strict=True) if part is None]
        if missing or not any(column in given for column in key.columns):
            doubtful = doubtful or (opaque and _may_be_given(model, missing))
            continue
        known = [part for part in parts if part is not None]
        if any(part.literal == (None,) for part in known) and key.nulls_distinct:
            continue
        if any(part.unstable or _numbered(part, model, key.columns) for part in known):
            continue
        if any(part.unknown for part in known):
            doubtful = True
            continue
        return Coverage(key, False)
    return Coverage(None, doubtful)


def _left_out(model: Model, key: UniqueKey, column: str) -> Value | None:
    """What a row holds in a column of a key that its insert leaves out, if that is the same in every run: a default
    that the class gives, or nothing, where that counts as one value for the key. A layer that is known to keep rows
    with nothing apart has no key over them."""
    field = model.field(column)
    if field is None or field.kind == "id":
        return None
    if field.null and key.nulls_distinct:
        return None
    if field.default == "constant":
        return Value(CONSTANT)
    return NOTHING if field.default is None and field.null else None


def _numbered(value: Value, model: Model, columns: tuple[str, ...]) -> bool:
    """Whether a value is counted on from the rows of the very table (`max(number) + 1`): the next run gets another."""
    if value.step is not None and value.step[1] in columns:
        return True
    return any(origin.detail == f"{model.title}{WHOLE}" for origin in value.origins)


def _may_be_given(model: Model, columns: list[str]) -> bool:
    fields = [model.field(column) for column in columns]
    return any(field is None or field.kind != "id" for field in fields)


def inserted(effect: Effect) -> dict[str, Value]:
    """Column -> value of the row an effect inserts."""
    found = {
        lookup.column: lookup.value for lookup in effect.lookup if lookup.operator == "exact" and not lookup.excluded
    }
    found.update((write.column, write.value) for write in effect.writes)
    return found


def looked_up(effect: Effect) -> dict[str, Value]:
    """Column -> value of an effect's exact conditions."""
    return {
        lookup.column: lookup.value
        for lookup in effect.lookup
        if lookup.operator in ("exact", "iexact") and not lookup.excluded
    }


def anew(effect: Effect) -> bool:
    """Whether a look-up that inserts what it does not find asks for what no earlier run can have inserted."""
    asked = looked_up(effect).values() if effect.kind in ("get-or-insert", "upsert") else ()
    return any(value.unstable and not value.unknown for value in asked)


def falsifies(lookup: tuple[Lookup, ...], effect: Effect) -> bool:
    """Whether an effect writes a column so that these conditions no longer find the row (or find it gone)."""
    if effect.kind == "delete":
        return True
    return any(_breaks(condition, write) for condition in lookup for write in effect.writes)


def _breaks(condition: Lookup, write: Write) -> bool:
    """Whether a condition holds no longer once something is written."""
    if write.from_itself in ("append", "add"):
        # Of what is put into a list, a condition may ask about one part: `{"lines.sku": {"$ne": sku}}`.
        part = condition.column.removeprefix(f"{write.column}.") if condition.column != write.column else ""
        added = write.value if not part else write.value.entry(part)
        lacks = (condition.operator == "ne") != condition.excluded or (
            condition.operator == "in" and condition.excluded
        )
        return condition.column.startswith(write.column) and lacks and added is not None and _same(condition, added)
    if write.column != condition.column:
        return False
    if write.from_itself == "remove":
        return condition.operator == "exact" and not condition.excluded and _same(condition, write.value)
    if write.from_itself == "expression":
        return condition.operator == "exact" and not condition.excluded
    return not write.from_itself and _differs(condition, write.value)


def takes_itself_away(effect: Effect) -> bool:
    """Whether a row that an effect has written is surely none that it would find again."""
    return any(
        _breaks(condition, write) and (bool(write.from_itself) or _told_apart(condition, write.value))
        for condition in effect.lookup
        for write in effect.writes
    )


def _told_apart(condition: Lookup, value: Value) -> bool:
    if condition.operator == "isnull":
        return not value.unknown
    if condition.operator == "ne":
        return _same(condition, value)
    return condition.operator == "exact" and condition.value.literal is not None and value.literal is not None


def _same(condition: Lookup, value: Value) -> bool:
    """Whether a condition asks about the very value that is written."""
    wanted = condition.value
    return wanted.literal == value.literal and wanted.origins == value.origins


def _differs(condition: Lookup, value: Value) -> bool:
    """Whether a written value surely fits a condition no longer; a value that cannot be told is taken to differ."""
    wanted, given = condition.value.literal, value.literal
    if condition.operator == "isnull" and wanted is not None:
        null = given == (None,)
        matches = null == bool(wanted[0])
    elif condition.operator == "exact" and wanted is not None and given is not None:
        matches = wanted == given
    elif condition.operator == "exact" and wanted is None:
        # Two values that nobody can tell are the same when they come from the same.
        matches = given is None and value.origins == condition.value.origins
    else:
        return True
    return matches == condition.excluded


def fills(condition: Lookup, write: Effect) -> bool:
    """Whether an insert is of a row that a query asks not to be there: `filter(invoice__isnull=True)`."""
    if not condition.behind or write.model != condition.behind or write.kind not in INSERTS:
        return False
    null = condition.value.literal is not None and condition.value.literal[0] in (None, True)
    asks_null = condition.operator == "isnull" or condition.value.literal == (None,)
    return (null != condition.excluded) if asks_null else condition.excluded


def argument(effect: Effect, slots: Iterable[Slot]) -> Value | None:
    """The argument of a recorded call at the first slot that is filled."""
    given = dict(effect.arguments)
    for slot in slots:
        found = given.get(slot.argument)
        for item in slot.items:
            found = found.inside(item) if found is not None else None
        if found is not None:
            return found
    return None


def expires(effect: Effect) -> bool:
    """Whether a mark that a call of the catalog sets ends by itself."""
    row = effect.guard
    lifetime = argument(effect, row.expiry) if row is not None else None
    if row is None or row.expires == "never" or (lifetime is not None and lifetime.literal == (None,)):
        return False
    return row.expires == "always" or lifetime is not None


class Guards:
    """The guards of the effects of one summary."""

    def __init__(self, summary: Summary, models: Mapping[str, Model]) -> None:
        self.summary = summary
        self.models = models
        self.takes = any(effect.row is not None and effect.row.kind == "take" for effect in summary.effects)

    def of(self, effect: Effect) -> tuple[Guard, ...]:
        """Every guard of an effect, strongest first."""
        found = [*self._from_facts(effect), *self._from_queries(effect), *self._from_taking(effect)]
        return tuple(sorted(found, key=lambda guard: -guard.strength))

    def best(self, effect: Effect) -> Guard | None:
        return next(iter(self.of(effect)), None)

    def _from_facts(self, effect: Effect) -> Iterator[Guard]:
        for fact in sorted(effect.facts, key=_fact_order):
            match fact.kind:
                case "claim" | "inserted":
                    yield from self._claim(fact, effect)
                case "lock" | "process":
                    by = self._effect(fact.subject)
                    yield Guard(Strength.MUTEX, fact.site, by)
                case "state":
                    yield from self._state(fact, effect)
                case "exists":
                    yield from self._existence(fact, effect)
                case "settled":
                    yield Guard(Strength.CLAIM, fact.site)
                case "possible":
                    yield Guard(Strength.POSSIBLE, fact.site)

    def _claim(self, fact: Fact, effect: Effect) -> Iterator[Guard]:
        by = self._effect(fact.subject)
        if by is None or by.id == effect.id:
            return
        if by.guard is not None:
            yield Guard(Strength.EXPIRING if expires(by) else self._placed(by, effect), fact.site, by)
            return
        if by.kind in ("update", "delete"):
            # Who asks how many rows an update hit means a claim, even where its filter could not be read.
            if falsifies(by.lookup, by) or by.opaque:
                yield Guard(self._placed(by, effect), fact.site, by)
            return
        model = self.models.get(by.model)
        values = looked_up(by) if by.kind in ("get-or-insert", "upsert") else inserted(by)
        found = coverage(model, values, by.opaque, by.conflict_on)
        # That an insert which ignores conflicts went through says nothing; that it inserted a row does.
        if found.key is not None and (fact.kind == "claim" or not by.conflict):
            yield Guard(self._placed(by, effect), fact.site, by, found.key)
        elif found.doubtful:
            yield Guard(Strength.POSSIBLE, fact.site, by)

    def _effect(self, number: int) -> Effect | None:
        return self.summary.effects[number] if 0 <= number < len(self.summary.effects) else None

    def _placed(self, claim: Effect, effect: Effect) -> Strength:
        """A claim is worth its full price when it commits with a database effect or before an outside one."""
        if not claim.transactions:
            return Strength.CLAIM
        together = claim.transactions[0] in effect.transactions
        if effect.changes_data or not together or effect.deferred:
            return Strength.CLAIM
        # The effect leaves while the claim can still be rolled back.
        return Strength.STATE

    def _state(self, fact: Fact, effect: Effect) -> Iterator[Guard]:
        """`if order.sent: return` guards when this run writes what the test reads."""
        for write in self.summary.effects:
            if write.kind not in DATA or write.model != fact.model:
                continue
            if write.kind == "delete" or (fact.column in write.written and not _moves(write, fact)):
                yield Guard(self._written(write, effect), fact.site, write)
                return

    def _written(self, write: Effect, effect: Effect) -> Strength:
        """State written and committed before an outside effect stops a replay; a lock on the row stops a run beside."""
        same = bool(write.transactions) and write.transactions[0] in effect.transactions
        if effect.changes_data and same and (write.lock is not None or effect.lock is not None):
            return Strength.CLAIM
        if write.id < effect.id and not same:
            return Strength.CLAIM
        return Strength.STATE

    def _existence(self, fact: Fact, effect: Effect) -> Iterator[Guard]:
        """`if not Sent.objects.filter(...).exists()`: guards when this run inserts such a row."""
        for write in self.summary.effects:
            if write.model != fact.model or write.id == effect.id:
                continue
            if write.kind in INSERTS and not fact.holds:
                yield Guard(Strength.STATE, fact.site, write)
                return
            if write.kind == "delete" and fact.holds:
                yield Guard(self._written(write, effect), fact.site, write)
                return
        if fact.subject >= 0 and fact.holds and fact.subject < len(self.summary.effects):
            yield from self._query(self.summary.effects[fact.subject], effect)

    def _from_queries(self, effect: Effect) -> Iterator[Guard]:
        """A query whose filter the run falsifies: rows done are not found again."""
        for read in self.summary.effects:
            if read.kind == "get" and read.id < effect.id and read.facts <= effect.facts:
                yield from self._query(read, effect)
        selected = list(_selections(effect.lookup))
        for number in effect.loops:
            loop = next(loop for loop in self.summary.loops if loop.id == number)
            if loop.model:
                yield from self._loop(loop.model, loop.lookup, effect)
            selected.extend(_selections(loop.lookup))
        for rows in selected:
            yield from self._loop(rows.model, rows.lookup, effect)

    def _from_taking(self, effect: Effect) -> Iterator[Guard]:
        """What an effect is about was taken out of a store, which this run does not fill itself: the next run takes
        something else, or nothing."""
        if not self.takes:
            return
        origins = {origin for value in _parts(effect) for origin in value.origins}
        for loop in self.summary.loops:
            origins.update(loop.origins if loop.id in effect.loops else ())
        numbers = {int(origin.detail) for origin in origins if origin.kind == TAKEN}
        numbers.update(fact.subject for fact in effect.facts if fact.kind == TAKEN)
        for by in (self._effect(number) for number in sorted(numbers)):
            if by is not None and by.id != effect.id and not self._filled(by):
                yield Guard(Strength.CLAIM, None, by)

    def _filled(self, taking: Effect) -> bool:
        """Whether the place that something is taken from is filled before by the run itself."""
        place = argument(taking, taking.row.target) if taking.row is not None else None
        for other in self.summary.effects[: taking.id]:
            if other.row is not None and other.row.kind in ("append", "set") and place is not None:
                filled = argument(other, other.row.target)
                if filled is None or (filled.text, filled.origins) == (place.text, place.origins):
                    return True
        return False

    def _query(self, read: Effect, effect: Effect) -> Iterator[Guard]:
        conditions = tuple(condition for condition in read.lookup if not _identity(condition))
        for write in self.summary.effects:
            filled = any(fills(condition, write) for condition in read.lookup)
            if not filled and (write.kind not in DATA or write.model != read.model):
                continue
            if filled or write.kind == "delete" or (conditions and falsifies(conditions, write)):
                asked = next(
                    (fact.site for fact in effect.facts if fact.kind == "exists" and fact.subject == read.id), None
                )
                yield Guard(self._written(write, effect), asked or read.site, write)
                return

    def _loop(self, model: str, lookup: tuple[Lookup, ...], effect: Effect) -> Iterator[Guard]:
        for write in self.summary.effects:
            own = write.kind in DATA and write.model == model and write.id != effect.id
            changed = own and (write.kind == "delete" or falsifies(lookup, write))
            if changed or any(fills(condition, write) for condition in lookup):
                yield Guard(self._written(write, effect), None, write)
                return


def _parts(effect: Effect) -> Iterator[Value]:
    """The values that an effect is made with."""
    yield from (value for _, value in effect.arguments)
    yield from (write.value for write in effect.writes)
    yield from (lookup.value for lookup in effect.lookup)


_NONE_YET = frozenset({"> 0", ">= 1", "< 1", "<= 0"})


def _moves(write: Effect, fact: Fact) -> bool:
    """Whether a write only moves a number nearer to the bound that it was held against: `if account.points < price`
    stops a run when nothing is left, and none before. A bound of nothing at all may stop the second one."""
    stepped = any(
        each.column == fact.column and each.from_itself in ("arithmetic", "expression") for each in write.writes
    )
    return stepped and fact.value.startswith(("<", ">")) and fact.value not in _NONE_YET


def _identity(condition: Lookup) -> bool:
    """A condition that only says which row is meant."""
    kinds = {origin.kind for origin in condition.value.origins}
    return condition.value.literal is None and "constant" not in kinds and condition.operator == "exact"


def _selections(lookup: tuple[Lookup, ...]) -> Iterator[Rows]:
    """The queries whose rows other rows are looked up by, `filter(pk__in=ids)`: where they find none, nothing is
    found."""
    for condition in lookup:
        rows = condition.value.rows
        if rows is not None and not condition.excluded and condition.operator in ("exact", "in", "exists"):
            yield rows
            yield from _selections(rows.lookup)


def _fact_order(fact: Fact) -> tuple[str, int, str, bool, Site]:
    """Of facts that say the same the one that is asked first comes first."""
    return (fact.kind, fact.subject, fact.column, fact.holds, fact.site or Site("", 0, 0))
