"""Connections that statements run through: whose transaction they are in, and what handlers leave of it."""

from __future__ import annotations

from dataclasses import replace

from idemlint.catalog import Catalog
from idemlint.domain.summary import Caught
from idemlint.domain.value import Object, Value
from idemlint.orm import sql
from idemlint.program import Program, Root, Site
from idemlint.summarize.sessions import BLOCKS
from idemlint.summarize.statements import StatementWalk
from idemlint.summarize.weights import Weights
from idemlint.syntax import facts as f

OWN = frozenset({"connection", "autocommit", "cursor"})


class ConnectionWalk(StatementWalk):
    """A walk that tells connections of drivers apart."""

    def __init__(self, program: Program, catalog: Catalog, root: Root, weights: Weights) -> None:
        super().__init__(program, catalog, root, weights)
        # A connection that is handed in; nobody knows whether it commits each statement alone.
        self.lent = self.own_session()
        # The connections of cursors, by the cursor's thing.
        self.cursors: dict[int, int | None] = {}
        # Connections whose statements commit alone; `once` says so of the one that runs now.
        self.alone: set[int] = set()
        self.once = False
        # Handlers of errors after which the transaction can go on.
        self.spared: set[Site] = set()
        # Whether the call being followed is one of a driver.
        self.driven = False

    def drives(self, path: str) -> bool:
        """Whether a path is a method of a driver's connection, cursor or transaction."""
        owner = self.catalog.canonical(path).rpartition(".")[0]
        role = self.catalog.role(owner)
        return role in OWN or (role in BLOCKS and self.catalog.role(f"{owner}.cursor") == "cursor")

    def session_of(self, value: Value) -> int:
        found = super().session_of(value)
        return self.lent if self.driven and found == self.handed_in else found

    def connection_of(self, path: str, receiver: Value) -> int | None:
        """The session that a method of a cursor, connection or session acts through; None where all code in the process
        shares the transaction that is open."""
        thing = receiver.thing
        if thing is not None and thing.id in self.cursors:
            return self.cursors[thing.id]
        if thing is not None and thing.id in self.sessions:
            return thing.id
        role = self.catalog.role(self.catalog.canonical(path).rpartition(".")[0])
        return self.session_of(receiver) if role in BLOCKS | OWN else None

    def use(self, session: int, at: int) -> tuple[int, ...]:
        if (self.once or session in self.alone) and not self.sessions[session].stack:
            return ()
        return super().use(session, at)

    def begin(self, session: int, at: int, *, explicit: bool) -> int:
        number = super().begin(session, at, explicit=explicit)
        if session == self.lent and not explicit:
            self.transactions[number] = replace(self.transactions[number], known=False)
        return number

    def assign(self, thing: Object, column: str, value: Value, site: Site, from_itself: str = "") -> None:
        """`conn.autocommit = True`."""
        super().assign(thing, column, value, site, from_itself)
        if column in sql.SETS_ALONE and thing.id in self.sessions and value.literal == (True,):
            self.alone.add(thing.id)

    def event(self, role: str, path: str, receiver: Value, at: int) -> Value:
        outer, self.driven = self.driven, self.drives(path)
        value = super().event(role, path, receiver, at)
        if role == "autocommit" and value.thing is not None:
            self.alone.add(value.thing.id)
        self.driven = outer
        return value

    def in_session(self, role: str, items: tuple[tuple[f.Expr, f.Expr | None], ...], body: f.Body, index: int) -> bool:
        outer, self.driven = self.driven, role in ("connection", "autocommit", "nested")
        leaves = super().in_session(role, items, body, index)
        self.driven = outer
        return leaves

    def managed(self, items: tuple[tuple[f.Expr, f.Expr | None], ...], body: f.Body, index: int) -> bool:
        """What stands inside of a block is no call of the driver."""
        outer, self.driven = self.driven, False
        leaves = super().managed(items, body, index)
        self.driven = outer
        return leaves

    def catching(self, at: int, names: frozenset[str], effects: range, raises: bool, leaves: bool) -> Caught:
        if not self.breaks(names):
            self.spared.add(self.site(at))
        return super().catching(at, names, effects, raises, leaves)

    def with_flushed(self, caught: Caught, flushed: list[int]) -> Caught:
        found = super().with_flushed(caught, flushed)
        return replace(found, transactions=()) if caught.site in self.spared else found

    def by_itself(self, path: str) -> bool:
        """Whether the statements of this connection commit alone."""
        return self.catalog.role(self.catalog.canonical(path).rpartition(".")[0]) == "autocommit"
