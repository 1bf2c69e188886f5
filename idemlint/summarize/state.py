"""What one walk keeps while it follows the code: names, attributes of things, facts, open transactions and loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from idemlint.catalog import Catalog
from idemlint.domain.effect import Address, Effect, Frame, Key, Write
from idemlint.domain.summary import Hook, KeyUse, Loop, Transaction
from idemlint.domain.value import Fact, Facts, Object, Outcome, Value, join
from idemlint.program import Body, Program, Root, Site

STEPS = 30_000
"""Statements one walk follows at most; calls beyond that are not entered."""

DEPTH = 24
"""Calls within calls that one walk follows at most."""


@dataclass(slots=True)
class Activation:
    """A function being followed: its names, the ways out met so far, and who continues at its `yield`."""

    body: Body
    env: dict[str, Value]
    frame: Frame
    outcomes: list[Outcome] = field(default_factory=list)
    resume: Callable[[Value], bool] | None = None
    rebound: list[frozenset[str]] = field(default_factory=list)
    nested: dict[str, object] = field(default_factory=dict)


@dataclass(slots=True)
class Snapshot:
    """Names, attributes and facts at one point of the code."""

    env: dict[str, Value]
    heap: dict[int, dict[str, Write]]
    facts: Facts


class State:
    """The mutable part of a walk. Subclasses follow the code; this class records."""

    def __init__(self, program: Program, catalog: Catalog, root: Root) -> None:
        self.program = program
        self.catalog = catalog
        self.root = root
        self.stack: list[Activation] = []
        self.facts: Facts = frozenset()
        self.heap: dict[int, dict[str, Write]] = {}
        self.things: dict[int, Object] = {}
        self.open: list[int] = []
        self.address: list[tuple[str, int]] = []
        self.loops_open: list[int] = []
        self.handled: list[tuple[str, ...]] = []
        self.in_handler = 0
        self.deferred = False
        self.count = 0
        self.steps = 0
        self.calls = 0
        self.effects: list[Effect] = []
        self.answered: set[int] = set()
        self.transactions: dict[int, Transaction] = {}
        self.loops: dict[int, Loop] = {}
        self.hooks: list[Hook] = []
        self.keys: list[KeyUse] = []
        self.unresolved: dict[Site, str] = {}
        self.waiting: dict[int | None, list[Callable[[], None]]] = {}
        self.aliases: dict[tuple[int, str], Value] = {}

    @property
    def here(self) -> Activation:
        return self.stack[-1]

    def next(self) -> int:
        """A number no other thing of this walk has."""
        self.count += 1
        return self.count

    def site(self, at: int) -> Site:
        return Site(self.here.body.path, self.here.body.piece, at)

    def frames(self, at: int) -> tuple[Frame, ...]:
        """The calls that lead here; the last one is the place `at` itself."""
        leading = [activation.frame for activation in self.stack[1:]]
        body = self.here.body
        return (*leading, Frame(self.site(at), body.function, body.name))

    # --- branches

    def snapshot(self) -> Snapshot:
        return Snapshot(dict(self.here.env), {id: dict(writes) for id, writes in self.heap.items()}, self.facts)

    def restore(self, snapshot: Snapshot) -> None:
        self.here.env = dict(snapshot.env)
        self.heap = {id: dict(writes) for id, writes in snapshot.heap.items()}
        self.facts = snapshot.facts

    def merge(self, arms: list[Snapshot]) -> None:
        """Go on with what is true after any of these arms; with none, as if the code ended here."""
        if not arms:
            return
        first, *rest = arms
        env, heap, facts = dict(first.env), {id: dict(writes) for id, writes in first.heap.items()}, first.facts
        for arm in rest:
            for name, value in arm.env.items():
                env[name] = join(env[name], value) if name in env else value
            for id, writes in arm.heap.items():
                mine = heap.setdefault(id, {})
                for column, write in writes.items():
                    mine[column] = _joined(mine[column], write) if column in mine else write
            facts &= arm.facts
        self.here.env, self.heap, self.facts = env, heap, facts

    # --- things

    def thing(self, model: str | None = None, **known: object) -> Object:
        """A new thing with attributes."""
        made = Object(self.next(), model, **known)  # type: ignore[arg-type]
        self.things[made.id] = made
        return made

    def assign(self, thing: Object, column: str, value: Value, site: Site, from_itself: str = "") -> None:
        self.heap.setdefault(thing.id, {})[column] = Write(column, value, site, from_itself)

    def learn(self, *facts: Fact) -> None:
        self.facts |= frozenset(facts)

    # --- what is recorded

    def record(self, kind: str, at: int, **details: object) -> Effect:
        """An effect of this run at the place the walk has reached."""
        effect = Effect(
            id=len(self.effects),
            kind=kind,
            site=self.site(at),
            address=tuple(self.address),
            facts=self.facts,
            frames=self.frames(at),
            transactions=tuple(self.open),
            loops=tuple(self.loops_open),
            deferred=self.deferred,
            in_handler=self.in_handler > 0,
            handled=tuple(name for names in self.handled for name in names),
            **details,  # type: ignore[arg-type]
        )
        self.effects.append(effect)
        return effect

    def use_key(self, name: str, value: Value, at: int, callee: str) -> Key:
        key = Key(name, value, self.site(at))
        self.keys.append(KeyUse(key, callee, self.frames(at), self.facts, self.current()))
        return key

    def current(self) -> Address:
        return tuple(self.address)


def _joined(one: Write, other: Write) -> Write:
    if one == other:
        return one
    return Write(one.column, join(one.value, other.value), one.site, one.from_itself or other.from_itself)
