"""Sessions and their transactions: when one opens, what it holds back, where it ends.

A transaction of a session opens when the session is first used and ends at a commit, a rollback, a close or the end of
the block around it, so that the transactions of two sessions need not nest. What a session was told to store is written
when it is flushed; a unique key speaks up there.

Two sessions are not made by the run: one that is handed in (a parameter, an attribute of something unknown), whose
transaction may commit after the run, and one that a module shares with all its callers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from idemlint.catalog import Catalog
from idemlint.domain.effect import Effect
from idemlint.domain.summary import SESSION, Transaction
from idemlint.domain.value import CONSTANT, NOTHING, Fact, Object, Value
from idemlint.program import LibraryCall, Program, Root
from idemlint.summarize.given import Given
from idemlint.summarize.state import Snapshot
from idemlint.summarize.walk import Walk
from idemlint.summarize.weights import Weights
from idemlint.syntax import facts as f

MAKES = frozenset({"session", "session-begin", "connection", "autocommit"})
BLOCKS = MAKES | {"begin", "savepoint", "nested"}
EVENTS = BLOCKS | {"flush", "commit", "rollback", "close"}


@dataclass(frozen=True, slots=True)
class Session:
    """One session at one point of the code: its open transaction and the savepoints in it, outermost first, and the
    inserts it holds back, for sure or `maybe`."""

    stack: tuple[int, ...] = ()
    pending: tuple[int, ...] = ()
    maybe: tuple[int, ...] = ()

    @property
    def held_back(self) -> tuple[int, ...]:
        return (*self.pending, *self.maybe)


Sessions: TypeAlias = Mapping[int, Session]


@dataclass(slots=True)
class Standing(Snapshot):
    """What is also true at one point of the code: the transactions that are open for sure, and the sessions."""

    open: tuple[int, ...] = ()
    sessions: Sessions = field(default_factory=dict)


class SessionWalk(Walk):
    """A walk that keeps account of sessions."""

    def __init__(self, program: Program, catalog: Catalog, root: Root, weights: Weights) -> None:
        super().__init__(program, catalog, root, weights)
        # The session that the call being followed goes through.
        self.acting: int | None = None
        self.sessions: dict[int, Session] = {}
        self.handed_in = self.own_session()
        self.shared = self.own_session()
        # Rows put into a session, by their thing's id.
        self.kept: dict[int, int] = {}
        # Sessions whose block commits at its end.
        self.committing: set[int] = set()
        # Savepoints that end alone, whatever is called to end them.
        self.alone: set[int] = set()
        # Transactions that nobody wrote down.
        self.implicit: set[int] = set()
        # Transactions that have written or locked something; until then nothing hangs on their being open.
        self.dirty: set[int] = set()
        # Inserts that have waited for a flush; those that were flushed, and the sessions that were closed, in order.
        self.held_back: set[int] = set()
        self.flushed: list[int] = []
        self.closed: list[int] = []

    def own_session(self) -> int:
        number = self.thing(None).id
        self.sessions[number] = Session()
        return number

    # --- which session

    def session_of(self, value: Value) -> int:
        """The session that a value is, or that a query or row belongs to."""
        if value.thing is not None:
            if value.thing.id in self.sessions:
                return value.thing.id
            kept = self.kept.get(value.thing.id, value.thing.session)
            if kept is not None:
                return kept
        if value.rows is not None and value.rows.session is not None:
            return value.rows.session
        return self.handed_in if value.varies else self.shared

    def value_of(self, session: int) -> Value:
        return Value(CONSTANT, thing=self.things[session])

    def use(self, session: int, at: int) -> tuple[int, ...]:
        """The session's open transaction with its savepoints; it opens one if it has none."""
        if not self.sessions[session].stack:
            self.begin(session, at, explicit=False)
        return self.sessions[session].stack

    # --- transactions

    def begin(self, session: int, at: int, *, explicit: bool) -> int:
        """Open a transaction, or a savepoint in the one that is open."""
        number = self.next()
        state = self.sessions[session]
        self.transactions[number] = Transaction(
            number,
            self.site(at),
            SESSION,
            state.stack[-1] if state.stack else None,
            tuple(self.loops_open),
            self.frames(at)[-1],
            known=explicit or session != self.handed_in,
        )
        if not explicit:
            self.implicit.add(number)
        self.open.append(number)
        self.sessions[session] = replace(state, stack=(*state.stack, number))
        return number

    def flush(self, session: int) -> None:
        """What the session holds back is written: from here on its unique keys are known to be free."""
        state = self.sessions[session]
        for number in state.held_back:
            if number not in self.flushed:
                handled = tuple(name for names in self.handled for name in names)
                self.effects[number] = replace(self.effects[number], handled=handled)
                self.flushed.append(number)
        self.learn(*(self.inserted_fact(number) for number in state.pending))
        self.sessions[session] = replace(state, pending=(), maybe=())

    def inserted_fact(self, number: int) -> Fact:
        effect = self.effects[number]
        return Fact("inserted", number, model=effect.model, site=effect.site)

    def commit(self, session: int, at: int) -> None:
        """The transaction of a session ends, and what it wrote is there."""
        self.flush(session)
        stack = self.sessions[session].stack
        if not stack:
            return
        outermost = stack[0]
        # The second turn of a loop that commits opens a transaction of its own.
        known = self.transactions[outermost]
        self.transactions[outermost] = replace(known, end=self.site(at), loops=tuple(self.loops_open), known=True)
        self.end(session)

    def rollback(self, session: int) -> None:
        """The transaction ends, and nothing that it wrote is there: no mark that it set holds."""
        for number in self.sessions[session].stack[:1]:
            self.forget(number)
        self.end(session)

    def end(self, session: int, keep: int = 0) -> None:
        """Close the transaction of a session, or only the savepoints inside the first `keep`."""
        stack = self.sessions[session].stack
        self.open = [number for number in self.open if number not in stack[keep:]]
        self.sessions[session] = Session(stack[:keep])

    def close(self, session: int) -> None:
        self.end(session)
        self.closed.append(session)

    # --- calls that begin and end them

    def library(self, target: LibraryCall, callee: Value, given: Given, expr: f.Call) -> Value:
        role = self.catalog.role(target.path)
        receiver = callee.closure.receiver if callee.closure and callee.closure.receiver else callee
        if role in MAKES or (role in EVENTS and self.on_session(target.path)):
            for value in given.all():
                self.looked_at(value)
            nested = given.keywords.get("nested")
            if role == "begin" and nested is not None and nested.literal == (True,):
                # The old way to a savepoint, which the session's own commit and rollback end.
                value = self.event("savepoint", target.path, receiver, expr.at)
                self.alone.add(self.sessions[self.session_of(receiver)].stack[-1])
                return value
            return self.event(role or "", target.path, receiver, expr.at)
        if role == "raw-sql" and self.on_session(target.path):
            self.flush(self.session_of(receiver))
            self.use(self.session_of(receiver), expr.at)
        return super().library(target, callee, given, expr)

    def on_session(self, path: str) -> bool:
        """Whether a path is a method of a session, a connection or one of their transactions."""
        owner = self.catalog.canonical(path).rpartition(".")[0]
        return self.catalog.role(owner) in BLOCKS

    def event(self, role: str, path: str, receiver: Value, at: int) -> Value:
        if role in MAKES:
            session = self.own_session()
            if role in ("session-begin", "connection"):
                self.committing.add(session)
            if role == "session-begin":
                self.begin(session, at, explicit=True)
            return self.value_of(session)
        session = self.session_of(receiver)
        stack = self.sessions[session].stack
        inner = self.catalog.role(self.catalog.canonical(path).rpartition(".")[0]) == "begin"
        inner = inner or bool(self.alone.intersection(stack[-1:]))
        depth = len(stack)
        match role:
            case "begin" | "nested":
                self.begin(session, at, explicit=True)
            case "savepoint":
                self.flush(session)
                self.use(session, at)
                self.begin(session, at, explicit=True)
            case "flush":
                self.use(session, at)
                self.flush(session)
            case "commit" | "rollback" if inner and depth > 1:
                # A savepoint of its own ends alone.
                if role == "commit":
                    self.flush(session)
                self.end(session, depth - 1)
            case "commit":
                self.commit(session, at)
            case "rollback":
                self.rollback(session)
            case "close":
                self.close(session)
        return self.value_of(session) if role in BLOCKS else NOTHING

    # --- branches

    def snapshot(self) -> Standing:
        plain = super().snapshot()
        return Standing(plain.env, plain.heap, plain.facts, tuple(self.open), dict(self.sessions))

    def restore(self, snapshot: Snapshot) -> None:
        super().restore(snapshot)
        assert isinstance(snapshot, Standing)
        self.open = list(snapshot.open)
        self.sessions.update(snapshot.sessions)

    def merge(self, arms: list[Snapshot]) -> None:
        super().merge(arms)
        self.stand([arm for arm in arms if isinstance(arm, Standing)])

    def stand(self, arms: list[Standing]) -> None:
        """Go on after any of these ways: what is open in all of them is, a session that one left open may be."""
        if not arms:
            return
        first, *rest = arms
        self.open = [number for number in first.open if all(number in arm.open for arm in rest)]
        for number in {number: None for arm in arms for number in arm.sessions}:
            states = [arm.sessions[number] for arm in arms if number in arm.sessions]
            stack = max((state.stack for state in states), key=lambda stack: (len(stack) > 0, stack))
            held = tuple(dict.fromkeys(effect for state in states for effect in state.held_back))
            sure = tuple(effect for effect in held if all(_inserted(effect, number, arm) for arm in arms))
            self.sessions[number] = Session(stack, sure, tuple(effect for effect in held if effect not in sure))

    # --- what is recorded

    def thing(self, model: str | None = None, **known: object) -> Object:
        acting = getattr(self, "acting", None)
        if acting is not None and model is not None:
            known.setdefault("session", acting)
        return super().thing(model, **known)

    def record(self, kind: str, at: int, **details: object) -> Effect:
        """A change made through a session commits with that one; anything else happens while all are open that have
        changed something."""
        effect = super().record(kind, at, **details)
        if self.acting is not None:
            stack = self.use(self.acting, at)
            if effect.changes_data or effect.lock is not None:
                self.dirty.update(stack)
            effect = replace(effect, transactions=stack)
        else:
            held = (number for number in self.open if number not in self.implicit or number in self.dirty)
            effect = replace(effect, transactions=tuple(held))
        self.effects[effect.id] = effect
        return effect

    def call(self, expr: f.Call) -> Value:
        acting, self.acting = self.acting, None
        value = super().call(expr)
        self.acting = acting
        return value


def _inserted(effect: int, session: int, arm: Standing) -> bool:
    """Whether a row is in the database, or waits to be put there, at a point of the code."""
    waits = effect in arm.sessions.get(session, Session()).pending
    return waits or any(fact.kind == "inserted" and fact.subject == effect for fact in arm.facts)
