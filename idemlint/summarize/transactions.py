"""Transactions that all code of the process shares: opened by a block, or by hand and ended by another call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from idemlint.domain.summary import Transaction
from idemlint.domain.value import Fact
from idemlint.program import Site
from idemlint.summarize.locks import Locks

ENTERS = frozenset({"__enter__", "__aenter__"})
LEAVES = frozenset({"__exit__", "__aexit__"})


class Transactions(Locks):
    """The part of a walk that opens and ends them."""

    def in_transaction(self, at: int, text: str, inside: Callable[[], bool], opened: Site | None = None) -> bool:
        number = self.opened(at, text, opened)
        self.address.append(("tx", number))
        returned = [(activation.outcomes, len(activation.outcomes)) for activation in self.stack]
        jumped = len(self.jumps)
        leaves = inside()
        self.address.pop()
        ways = [way.facts for outcomes, before in returned for way in outcomes[before:]]
        ways += [facts for depth, facts in self.jumps[jumped:] if depth <= len(self.loops_open)]
        ways += [] if leaves else [self.facts]
        if ways:
            committed = frozenset.intersection(*ways)
            self.transactions[number] = replace(self.transactions[number], committed=committed)
        self.ended(number)
        return leaves

    def opened(self, at: int, text: str, opened: Site | None = None) -> int:
        """A transaction begins, or a savepoint in the one that is open."""
        number = self.next()
        self.transactions[number] = Transaction(
            number,
            opened or self.site(at),
            text,
            self.open[-1] if self.open else None,
            tuple(self.loops_open),
            self.frames(at)[-1],
        )
        self.open.append(number)
        return number

    def ended(self, number: int) -> None:
        if number in self.open:
            self.open.remove(number)
        if not self.open:
            for run in self.waiting.pop(number, []):
                run()

    # --- by hand

    def by_hand(self, path: str, role: str | None, at: int) -> None:
        """What a call does to transactions: `atomic().__enter__()`, `savepoint()` and what ends them."""
        owner, _, method = path.rpartition(".")
        block = method in ENTERS | LEAVES and self.catalog.role(owner) == "transaction"
        if (block and method in ENTERS) or (role == "savepoint" and self.open):
            self.entered.append(self.opened(at, owner if block else path))
        elif (block or role in ("keep-savepoint", "drop-savepoint")) and self.entered:
            number = self.entered.pop()
            if role == "drop-savepoint":
                self.forget(number)
            self.ended(number)

    def forget(self, number: int) -> None:
        """What was written in a transaction is rolled back: no mark that it set holds."""
        self.facts = frozenset(fact for fact in self.facts if not self.belongs(fact, number))

    def belongs(self, fact: Fact, transaction: int) -> bool:
        """Whether a fact is about a row that was inserted or changed in a transaction."""
        if fact.kind not in ("inserted", "claim") or not 0 <= fact.subject < len(self.effects):
            return False
        return transaction in self.effects[fact.subject].transactions
