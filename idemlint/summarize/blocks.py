"""Sessions in blocks, in functions that return out of them, and in `try`: what is written or ended on each way out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from idemlint.catalog import Catalog
from idemlint.domain.effect import Effect
from idemlint.domain.summary import Caught
from idemlint.domain.value import NOTHING, Closure, Value
from idemlint.program import Body, LibraryCall, LibraryInstance, Program, Root, Target
from idemlint.summarize.given import Given
from idemlint.summarize.sessions import BLOCKS, Session, SessionWalk, Standing
from idemlint.summarize.state import Snapshot
from idemlint.summarize.weights import Weights
from idemlint.syntax import facts as f


class BlockWalk(SessionWalk):
    """A walk that knows how things stand with sessions on every way out of a block or function."""

    def __init__(self, program: Program, catalog: Catalog, root: Root, weights: Weights) -> None:
        super().__init__(program, catalog, root, weights)
        # How things stood at each `return` of the functions being followed, by activation.
        self.exits: dict[int, list[Standing]] = {}
        # How much had been flushed where each `try` around began.
        self.tries: list[int] = []

    def managed(self, items: tuple[tuple[f.Expr, f.Expr | None], ...], body: f.Body, index: int) -> bool:
        if index < len(items):
            role = self.block_role(items[index][0])
            if role:
                return self.in_session(role, items, body, index)
            if items[index][0].at in self.here.body.managers:
                return self.in_object(items, body, index)
        return super().managed(items, body, index)

    def in_object(self, items: tuple[tuple[f.Expr, f.Expr | None], ...], body: f.Body, index: int) -> bool:
        """A block inside an object of the project: its `__enter__` runs before, its `__exit__` after."""
        manager, target = items[index]
        enter, leave = self.here.body.managers[manager.at]
        held = self.facts
        holder = self.evaluate(manager)
        entered = self.method(enter, holder, Given((), {}), manager.at) if enter else holder
        taken = frozenset(fact for fact in self.facts - held if fact.kind == "lock")
        ways, flushed = self.ways(), len(self.flushed)
        before = len(ways)
        if target is not None:
            known = entered.thing is not None or entered.rows is not None or entered.closure is not None
            self.bind_target(target, entered if known else holder)
        leaves = self.managed(items, body, index + 1)
        if leave:
            self.method(leave, holder, Given((NOTHING, NOTHING, NOTHING), {}), manager.at)
        self.facts -= taken
        self.left_through(ways, before, flushed)
        return leaves

    def method(self, key: str, holder: Value, given: Given, at: int) -> Value:
        """Follow a method of an object."""
        self.calls += 1
        env = self.bound(self.program.bodies[key], Value(closure=Closure(receiver=holder)), given)
        return self.enter(key, env, at)

    def block_role(self, manager: f.Expr) -> str:
        """What a block is to a session: one of its own, a transaction, a savepoint; "" for any other block."""
        reached: Target | None = self.here.body.targets.get(manager.at)
        kind = self.type_of(manager)
        path = reached.path if isinstance(reached, LibraryCall) else ""
        if not path and isinstance(kind, LibraryInstance):
            path = kind.path
        role = self.catalog.role(path) if path else None
        return role if role in BLOCKS else ""

    def in_session(self, role: str, items: tuple[tuple[f.Expr, f.Expr | None], ...], body: f.Body, index: int) -> bool:
        manager, target = items[index]
        entered = self.evaluate(manager)
        session = self.session_of(entered)
        depth = len(self.sessions[session].stack)
        commits = role in ("begin", "nested", "session-begin", "connection") or session in self.committing
        ways, flushed = self.ways(), len(self.flushed)
        before = len(ways)
        if target is not None:
            self.bind_target(target, entered)
        leaves = self.managed(items, body, index + 1)
        if role in ("savepoint", "nested") and depth > 1:
            self.flush(session)
            self.end(session, depth - 1)
        elif commits:
            self.commit(session, manager.at)
        else:
            self.close(session)
        self.left_through(ways, before, flushed)
        return leaves

    def through(self, inner: Body, env: dict[str, Value], at: int, go_on: Callable[[Value], bool]) -> bool:
        ways, flushed = self.ways(), len(self.flushed)
        before = len(ways)
        leaves = super().through(inner, env, at, go_on)
        self.left_through(ways, before, flushed)
        return leaves

    def ways(self) -> list[Standing]:
        """How things stood at each `return` met so far in the function being followed."""
        return self.exits.setdefault(id(self.here), [])

    def left_through(self, ways: list[Standing], before: int, flushed: int) -> None:
        """Ways out that were taken inside a block leave through its end: what they held back was written there."""
        written = set(self.flushed[flushed:])
        outcomes = self.here.outcomes
        for index in range(before, len(ways)):
            pending = {number for state in ways[index].sessions.values() for number in state.pending} & written
            facts = frozenset(self.inserted_fact(number) for number in pending)
            outcomes[index] = replace(outcomes[index], facts=outcomes[index].facts | facts)
            ways[index] = self.snapshot()

    def ended(self, number: int) -> None:
        """A transaction that all code shares ends: for the ways out that were taken inside of it as well."""
        super().ended(number)
        for way in self.exits.get(id(self.here), ()):
            way.open = tuple(still for still in way.open if still != number)

    def statement(self, statement: f.Statement) -> bool:
        leaves = super().statement(statement)
        if isinstance(statement, f.Return):
            self.ways().append(self.snapshot())
        return leaves

    def in_contexts(self, body: Body, contexts: tuple[tuple[object, int], ...]) -> bool:
        leaves = super().in_contexts(body, contexts)
        if contexts is body.contexts:
            ways = self.exits.pop(id(self.here), [])
            if ways:
                self.stand(ways if leaves else [*ways, self.snapshot()])
        return leaves

    def attempt(self, statement: f.Try) -> bool:
        caught, flushed, closed = len(self.caught), len(self.flushed), len(self.closed)
        ways = self.ways()
        before = len(ways)
        self.tries.append(flushed)
        leaves = super().attempt(statement)
        self.tries.pop()
        own = {self.site(handler.at) for handler in statement.handlers}
        for index in range(caught, len(self.caught)):
            if self.caught[index].site in own:
                self.caught[index] = self.with_flushed(self.caught[index], self.flushed[flushed:])
        # A `finally` that closes a session does so on every way out.
        for way in ways[before:]:
            way.sessions = {
                number: Session() if number in self.closed[closed:] else state for number, state in way.sessions.items()
            }
        return leaves

    def broken_off(self, before: Snapshot, middle: Snapshot) -> list[Snapshot]:
        """What the body flushed is held back no longer, whether it went through or not."""
        assert isinstance(before, Standing)
        written = self.flushed[self.tries[-1] :]
        sessions = {
            number: replace(
                state,
                pending=tuple(each for each in state.pending if each not in written),
                maybe=tuple(each for each in state.maybe if each not in written),
            )
            for number, state in before.sessions.items()
        }
        return [replace(before, sessions=sessions), middle]

    def inserted_in(self, first: int, last: int) -> list[Effect]:
        """A row that is only put into the session meets its unique key where that is flushed."""
        written = self.flushed[self.tries[-1] :]
        waiting = {number for state in self.sessions.values() for number in state.held_back}
        at_once = [
            effect
            for effect in super().inserted_in(first, last)
            if effect.id not in waiting and effect.id not in written and effect.id not in self.held_back
        ]
        return [*at_once, *(self.effects[number] for number in dict.fromkeys(written))]

    def with_flushed(self, caught: Caught, flushed: list[int]) -> Caught:
        """A handler is also about the rows that were put into the session before its `try` and flushed in it."""
        inside = [number for number in flushed if number < caught.effects.stop]
        effects = range(min([caught.effects.start, *inside]), caught.effects.stop)
        inserted = (effect for effect in self.effects[effects.start : effects.stop] if effect.kind == "insert")
        stack = next((effect.transactions for effect in inserted if effect.transactions), ())
        if caught.transactions or not set(stack) & self.implicit:
            return replace(caught, effects=effects)
        # The transaction was opened inside the `try`, by its first use; a savepoint in there ends with its block.
        return replace(caught, effects=effects, transactions=stack[:1])
