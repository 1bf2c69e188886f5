"""Rows: what a run that comes again finds of those it wrote before."""

from __future__ import annotations

from collections.abc import Iterator

from idemlint.domain.effect import Address, Effect
from idemlint.domain.guard import falsifies, fills
from idemlint.domain.summary import SESSION
from idemlint.domain.value import Fact, Lookup, Value
from idemlint.program import Site
from idemlint.replay.outside import Outside


class Rows(Outside):
    """What a run does to the database, and how the second one meets it."""

    __slots__ = ()

    def undone(self, effect: Effect) -> bool:
        """Whether a repeat of a write is rolled back: an insert in its transaction, on every way that the write is on,
        hits a unique key, and nobody inside the transaction handles that; or its transaction only commits where
        something was still to be had that the first run took."""
        if not effect.changes_data or not effect.transactions:
            return False
        around = [tx for tx in self.summary.transactions if tx.id in effect.transactions]
        if any(self._taken(fact, effect, tx.id) for tx in around for fact in tx.committed):
            return True
        for other in self.summary.effects:
            if other.kind != "insert" or other.conflict or other.id == effect.id or not self.together(effect, other):
                continue
            inside = _inside(other.address, effect.transactions[0])
            if any(node[0] in ("arm", "loop", "handler") and node not in effect.address for node in inside):
                continue
            # A session whose insert fails has lost its whole transaction, unless that stands in a savepoint.
            contained = other.transactions != effect.transactions[: len(other.transactions)]
            block = self.transaction_text(other) != SESSION
            if any(node[0] == "try" for node in inside) and (block or contained):
                continue
            if self.coverage(other).key is not None and not other.unsure:
                return True
        return False

    def _taken(self, fact: Fact, effect: Effect, transaction: int) -> bool:
        """Whether what must hold for a transaction to commit holds for the first run only: its update hit rows that it
        changed, or something hangs off the row inserted by `effect` that a second one cannot get."""
        if not fact.holds or not 0 <= fact.subject < len(self.summary.effects):
            return False
        asked = self.summary.effects[fact.subject]
        if transaction not in asked.transactions:
            return False
        if fact.kind == "claim":
            return asked.id != effect.id and self._taken_once(asked)
        if fact.kind != "exists" or effect.kind != "insert" or effect.thing is None:
            return False
        columns = {lookup.column for lookup in asked.lookup if lookup.operator == "exact" and _of(lookup.value, effect)}
        hung = [
            other
            for other in self.summary.effects[: asked.id]
            if other.model == asked.model and other.changes_data
            if any(write.column in columns and _of(write.value, effect) for write in other.writes)
        ]
        return bool(hung) and all(self._taken_once(other) for other in hung)

    def _taken_once(self, write: Effect) -> bool:
        """Whether a write changes nothing in a second run: its own filter or a unique key sees to that. Rows that the
        run has made itself are there for each run."""
        if write.kind == "insert" or (write.kind == "get-or-insert" and write.lookup):
            found = self.coverage(write)
            return found.key is not None or found.doubtful
        made = any(
            other.kind == "insert" and other.model == write.model and self.coverage(other).key is None
            for other in self.summary.effects[: write.id]
        )
        fresh = any(origin.kind == "fresh" for lookup in write.lookup for origin in lookup.value.origins)
        return write.kind == "update" and not (write.opaque or made or fresh) and falsifies(write.lookup, write)

    def version_checked(self, effect: Effect) -> bool:
        """Optimistic locking: the update only hits a row that still has the value that was read."""
        exact = any(
            lookup.operator == "exact" and not lookup.excluded and lookup.column in effect.written
            for lookup in effect.lookup
        )
        return effect.kind in ("update", "upsert") and (exact or falsifies(effect.lookup, effect))

    def follows_insert(self, effect: Effect) -> bool:
        """Whether a row hangs off one that this run inserted: it doubles because that one does, and no other run looks
        for it."""
        values = [write.value for write in effect.writes]
        values += [lookup.value for lookup in effect.lookup if lookup.operator == "exact" and not lookup.excluded]
        return any(
            any(origin.kind == "fresh" for origin in value.origins)
            or (value.thing is not None and value.thing.fresh in ("new", "stored"))
            for value in values
        )

    def rebuilt(self, effect: Effect) -> bool:
        """Whether rows of the same model are deleted before they are inserted again."""
        return any(
            other.kind == "delete" and other.model == effect.model for other in self.summary.effects[: effect.id]
        )

    def cleared_before(self, effect: Effect) -> Effect | None:
        """The delete of the very rows that are inserted again: it shares a column with the insert."""
        columns = {write.column for write in effect.writes}
        for other in self.summary.effects[: effect.id]:
            if other.kind == "delete" and other.model == effect.model and self.same_path(other, effect):
                if any(lookup.column in columns for lookup in other.lookup) or (effect.many and effect.opaque):
                    return other
        return None

    def absence_test(self, effect: Effect) -> Site | None:
        """The test before an insert that such rows are not there yet, be it in the query that finds the work."""
        for site, _ in self._found_none(effect):
            return site
        for loop in self.loops(effect):
            if any(fills(condition, effect) for condition in loop.lookup):
                return loop.site
        return self._replacing_test(effect)

    def _found_none(self, effect: Effect) -> Iterator[tuple[Site, tuple[Lookup, ...]]]:
        """The tests before an insert that there is no such row, and which rows they look for."""
        tests = [fact for fact in effect.facts if fact.kind == "exists" and not fact.holds]
        placed = [(fact.site, fact.subject) for fact in tests if fact.model == effect.model and fact.site is not None]
        for site, subject in sorted(placed):
            asked = self.summary.effects[subject].lookup if subject >= 0 else ()
            if not _other_rows(asked, effect):
                yield site, asked

    def kept_apart(self, effect: Effect) -> bool:
        """Whether a unique key stops a second row such as the test before an insert looks for, whatever else the insert
        gives it."""
        model = self.model(effect)
        for _, asked in self._found_none(effect):
            values = {each.column: each.value for each in asked if each.operator == "exact" and not each.excluded}
            for key in model.unique if model is not None else ():
                nothing = [values[name].literal == (None,) for name in key.columns if name in values]
                if len(nothing) == len(key.columns) and not (key.nulls_distinct and any(nothing)):
                    return True
        return False

    def _replacing_test(self, effect: Effect) -> Site | None:
        """The test after which a row that is there is taken away, so that the inserted one takes its place."""
        columns = {write.column for write in effect.writes}
        for other in self.summary.effects[: effect.id]:
            if other.kind not in ("delete", "save", "update") or other.model != effect.model:
                continue
            for fact in other.facts - effect.facts:
                if fact.kind == "exists" and fact.holds and fact.model == effect.model and fact.subject >= 0:
                    asked = self.summary.effects[fact.subject].lookup
                    found_by_it = any(condition.column in columns for condition in asked)
                    if found_by_it and falsifies(asked, other) and self.same_path(other, effect):
                        return fact.site
        return None

    def handles_conflict(self, effect: Effect) -> bool:
        """Whether a `try` around an insert goes on after an integrity error, or after anything."""
        conflicts = [path for path, row in self.catalog.tables.exceptions.items() if row.means == "conflict"]
        caught = {"", "?", "builtins.Exception", "builtins.BaseException"}
        caught.update(name for path in conflicts for name in self.catalog.ancestors(path))
        return any(name in caught or self.catalog.canonical(name) in caught for name in effect.handled)

    def numeric(self, effect: Effect, column: str) -> bool:
        """Whether a column counts something, or holds a moment that can be moved on; one nobody knows is taken to."""
        model = self.model(effect)
        field = model.field(column) if model is not None else None
        return field is None or field.kind in ("number", "money", "time", "other")

    def counts_again(self, effect: Effect) -> bool:
        """Whether a write changes a number that matters by an amount, each time that it is made."""
        counted = any(
            write.from_itself == "expression" and self.catalog.stakes_of(write.column) != "internal"
            for write in effect.writes
        )
        return counted and not self.version_checked(effect)

    def unread(self, effect: Effect) -> bool:
        """Whether a document could not be read that selects rows and may say which of them are done already."""
        model = self.model(effect)
        return effect.opaque and model is not None and model.open and effect.kind in ("update", "upsert")


def _other_rows(asked: tuple[Lookup, ...], inserted: Effect) -> bool:
    """Whether a query looks for rows that an inserted one cannot be among."""
    given = {write.column: write.value.literal for write in inserted.writes}
    return any(
        condition.operator == "exact"
        and condition.value.literal is not None
        and given.get(condition.column) is not None
        and (condition.value.literal != given[condition.column]) != condition.excluded
        for condition in asked
    )


def _of(value: Value, inserted: Effect) -> bool:
    """Whether a value is, or is made of, the row of an insert."""
    return value.thing is not None and value.thing.id == inserted.thing


def _inside(address: Address, transaction: int) -> Address:
    """The part of an address inside a transaction: behind its block or, where it has none, behind all that came before
    it was opened."""
    opened = ("tx", transaction)
    if opened in address:
        return address[address.index(opened) + 1 :]
    return tuple(node for node in address if node[1] > transaction)
