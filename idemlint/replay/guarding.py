"""Guards: what stands before an effect, how long a lock is held, which mark decides."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from idemlint.domain.effect import Effect
from idemlint.domain.guard import Guard, Strength, argument, falsifies
from idemlint.domain.value import Fact
from idemlint.replay.outside import same
from idemlint.replay.rows import Rows

RENEWALS = frozenset({"extend", "reacquire", "renew"})


class Guarding(Rows):
    """What lets one run pass and stops another."""

    __slots__ = ()

    def guard(self, effect: Effect) -> Guard | None:
        """The strongest guard of an effect, possible ones apart."""
        best = self.guards.best(effect)
        return best if best is not None and best.strength > Strength.POSSIBLE else None

    def guarded(self, effect: Effect, enough: Strength = Strength.CLAIM) -> bool:
        """Whether a guard of at least this strength stands before the effect. An expiring one and a mutual exclusion
        have rules of their own."""
        if self.undone(effect):
            return True
        guard = self.guard(effect)
        return guard is not None and (guard.strength >= enough or guard.strength in (Strength.EXPIRING, Strength.MUTEX))

    def locked(self, effect: Effect) -> bool:
        """Whether a row lock is held to the end of the transaction that writes, or a lock that all workers see."""
        if any(self.excludes(fact) for fact in effect.facts):
            return True
        if effect.lock is not None and effect.lock in effect.transactions:
            return True
        return any(
            other.lock is not None and other.lock in effect.transactions
            for other in self.summary.effects[: effect.id]
            if other.kind in ("get", "first", "read", "get-or-insert")
        )

    def excludes(self, fact: Fact) -> bool:
        """Whether a fact says that a lock is held which other processes respect."""
        if fact.kind not in ("lock", "claim") or not 0 <= fact.subject < len(self.summary.effects):
            return False
        taken = self.summary.effects[fact.subject]
        if taken.guard is None or taken.guard.scope == "process":
            return False
        return fact.kind == "lock" or self.released(taken) is not None

    def lifetime(self, lock: Effect) -> float | None:
        """How many seconds a lock lasts, where that is written as a number; None where it is renewed or not told."""
        if lock.guard is None or lock.guard.expires == "never" or self.renewed(lock):
            return None
        given = argument(lock, lock.guard.expiry)
        value = given.literal[0] if given is not None and given.literal is not None else None
        if isinstance(value, timedelta):
            return value.total_seconds()
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def renewed(self, lock: Effect) -> bool:
        """Whether the lock is kept alive while its holder works (`auto_renewal=True`, `lock.extend(60)`)."""
        if any("renew" in name and value.literal == (True,) for name, value in lock.arguments):
            return True
        return any(later.path.rpartition(".")[2] in RENEWALS for later in self.summary.effects[lock.id + 1 :])

    def under(self, lock: Effect) -> Iterator[Effect]:
        """Effects that happen while a lock is held."""
        for effect in self.summary.effects:
            if any(fact.kind in ("lock", "claim") and fact.subject == lock.id for fact in effect.facts):
                yield effect

    def released(self, taken: Effect) -> Effect | None:
        """The call that deletes the mark which another one has set, when the work is done: it is a lock then. A mark
        that is taken back on an error only stays one."""
        key = argument(taken, taken.guard.key) if taken.guard is not None else None
        if taken.guard is None or taken.guard.guard != "claim":
            return None
        for later in self.summary.effects[taken.id + 1 :]:
            at_one_store = later.path.rpartition(".")[0] == taken.path.rpartition(".")[0]
            if self.deletes_key(later) and at_one_store and not later.in_handler:
                if same(dict(later.arguments).get("#0"), key):
                    return later
        return None

    def tested_between(self, taken: Effect, later: Effect) -> bool:
        """Whether another test than that of the taking itself decides about a later effect."""
        own = sum(fact.kind == "claim" and fact.subject == taken.id for fact in later.facts)
        arms = [sum(node[0] == "arm" for node in effect.address) for effect in (taken, later)]
        return arms[1] - arms[0] > own or any(fact.kind == "deadline" for fact in later.facts - taken.facts)

    def claim(self, number: int) -> Effect | None:
        """The effect of this number, if it lets only one run pass."""
        by = self.summary.effects[number] if number < len(self.summary.effects) else None
        if by is None or by.kind == "update":
            return by if by is not None and falsifies(by.lookup, by) else None
        return by if by.guard is not None or self.coverage(by).key is not None else None

    def journal_mark(self, effect: Effect) -> Effect | None:
        """The entry in a journal that decides whether an effect happens."""
        for guard in self.guards.of(effect):
            by = guard.by
            if by is not None and by.model in self.journals and by.kind in ("insert", "get-or-insert"):
                return by
        return None

    def deleted_mark(self, effect: Effect) -> Effect | None:
        """The delete before an effect, committed on its own, of the row whose absence makes the next run stop: after an
        outside call that only this row lets happen, so that what came of the call may never be stored."""
        if not effect.changes_data or effect.kind == "delete" or effect.in_handler:
            return None
        for fact in effect.facts:
            if fact.kind != "exists" or not fact.holds or fact.model == effect.model:
                continue
            called = [call for call in self.external() if fact in call.facts and self.same_path(call, effect)]
            for gone in self.summary.effects[called[0].id if called else effect.id : effect.id]:
                own = gone.kind == "delete" and gone.model == fact.model and fact in gone.facts and not gone.in_handler
                if own and _of_rows(gone) and self.same_path(gone, effect) and not self.together(gone, effect):
                    return gone
        return None


def _of_rows(gone: Effect) -> bool:
    """Whether a delete is of rows that the run holds in its hands, rather than of all that a condition fits."""
    title = gone.model.rpartition(":")[2]
    held = (origin for lookup in gone.lookup for origin in lookup.value.origins if lookup.operator in ("exact", "in"))
    return gone.thing is not None or any(
        origin.kind == "row" and origin.detail.partition(".")[0] == title for origin in held
    )
