"""What one walk keeps while it follows the code: names, attributes of things, facts, open transactions and loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from idemlint.catalog import Catalog
from idemlint.domain.effect import Address, Effect, Frame, Key, Write
from idemlint.domain.summary import Caught, Dropped, Hook, KeyUse, Loop, Transaction
from idemlint.domain.value import SETTLED, Fact, Facts, Object, Outcome, Value, join
from idemlint.program import Body, Program, Root, Site
from idemlint.summarize.weights import Weights
from idemlint.syntax import facts as f

STEPS = 20_000
"""Statements one walk of a task follows at most; calls beyond that are not entered."""

DEPTH = 24
"""Calls within calls that one walk of a task follows at most."""

OUTER_STEPS = 2_000
OUTER_DEPTH = 5
"""The same for a function that no task reaches: only what it sends and what it wrote before matters there."""


ASIDE = 500
"""The same for what a walk follows of calls by name: these use up nothing of what the code spells out."""


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

    def __init__(self, program: Program, catalog: Catalog, root: Root, weights: Weights) -> None:
        self.program = program
        self.catalog = catalog
        self.root = root
        self.worth = weights.worth
        self.growing = weights.memory.growing
        self.limit = STEPS if root.task else OUTER_STEPS
        self.depth = DEPTH if root.task else OUTER_DEPTH
        self.stack: list[Activation] = []
        task = program.tasks.get(root.task or "")
        self.intake = task.intake if task is not None else None
        self.facts: Facts = frozenset({SETTLED} if self.intake is not None and self.intake.polls else ())
        self.heap: dict[int, dict[str, Write]] = {}
        self.things: dict[int, Object] = {}
        self.open: list[int] = []
        # Those of the open transactions that a call has opened and another one ends.
        self.entered: list[int] = []
        self.address: list[tuple[str, int]] = []
        self.loops_open: list[int] = []
        # What held at each `break` and `continue`, and how many loops were open there.
        self.jumps: list[tuple[int, Facts]] = []
        self.handled: list[tuple[str, ...]] = []
        self.handling: list[tuple[str, ...]] = []
        self.deferred = False
        # Runs the task itself, while what is put around it is followed.
        self.inner: Callable[[], Value] | None = None
        # How deep a call may be for its answer to be that of the root.
        self.tail = 1
        self.count = 0
        self.steps = 0
        self.calls = 0
        self.effects: list[Effect] = []
        self.answered: set[int] = set()
        self.transactions: dict[int, Transaction] = {}
        self.loops: dict[int, Loop] = {}
        self.hooks: list[Hook] = []
        self.keys: list[KeyUse] = []
        self.caught: list[Caught] = []
        # The statement from which on no exception leaves the root, and the first effect in it.
        self.ending: f.Statement | None = None
        self.quiet: int | None = None
        # How many of the calls being followed are none that the code spells out: a signal's receiver, one of several.
        self.unspelled = 0
        # The steps that may still be taken aside, and those taken before the call aside that is being followed.
        self.aside = ASIDE
        self.before: int | None = None
        self.spoken = 0
        # Models whose rows were asked for by the way back of a relation, which raises where there is none.
        self.asked_back: list[str] = []
        self.turns: dict[int, tuple[int, ...]] = {}
        self.stored: set[int] = set()
        # Rows that are being stored by the call that made them, which their own `save` does not do once more.
        self.storing: set[int] = set()
        # Rows that were read once more than by the query that found them.
        self.reread: set[int] = set()
        self.clean: dict[int, set[str]] = {}
        self.dropped: list[Dropped] = []
        self.reads: set[str] = set()
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

    def spent(self) -> bool:
        """Whether no more functions are entered, for want of steps."""
        if self.before is not None:
            return self.steps - self.before >= self.aside
        return self.steps >= self.limit

    # --- branches

    def snapshot(self) -> Snapshot:
        return Snapshot(dict(self.here.env), dict(self.heap), self.facts)

    def restore(self, snapshot: Snapshot) -> None:
        self.here.env = dict(snapshot.env)
        self.heap = dict(snapshot.heap)
        self.facts = snapshot.facts

    def merge(self, arms: list[Snapshot]) -> None:
        """Go on with what is true after any of these arms; with none, as if the code ended here."""
        if not arms:
            return
        first, *rest = arms
        env, heap, facts = dict(first.env), dict(first.heap), first.facts
        for arm in rest:
            for name, value in arm.env.items():
                mine = env.get(name)
                if mine is None:
                    env[name] = value
                elif mine is not value:
                    env[name] = join(mine, value)
            for id, writes in arm.heap.items():
                held = heap.get(id)
                if held is None:
                    heap[id] = writes
                elif held is not writes:
                    heap[id] = _joined_writes(held, writes)
            facts &= arm.facts
        self.here.env, self.heap, self.facts = env, heap, facts

    # --- things

    def thing(self, model: str | None = None, **known: object) -> Object:
        """A new thing with attributes."""
        made = Object(self.next(), model, **known)  # type: ignore[arg-type]
        self.things[made.id] = made
        self.turns[made.id] = tuple(self.loops_open)
        return made

    def assign(self, thing: Object, column: str, value: Value, site: Site, from_itself: str = "") -> None:
        # Branches share what they have not changed, so the old dict is left as it is.
        self.heap[thing.id] = {**self.heap.get(thing.id, {}), column: Write(column, value, site, from_itself)}

    def learn(self, *facts: Fact) -> None:
        self.facts |= frozenset(facts)

    def looked_at(self, value: Value) -> None:
        """Somebody looks at what an effect answered."""
        if value.effect is not None:
            self.answered.add(value.effect[0])
        self.answered.update(value.others)

    def open_loop(
        self, number: int, at: int, iterable: Value, item: Value, *, items: bool, tries: bool = False
    ) -> None:
        """A loop over something; rows that were put into a list first are still rows of their query, be it together
        with other things. `tries` says that it ends with the first turn that does what is wanted."""
        parts = [item, *(value for _, value in item.entries or ()), *(item.items or ())]
        rows = (part.thing for part in parts if part.thing is not None and part.thing.each and part.thing.model)
        thing = next(rows, None)
        model, lookup = (thing.model or "", thing.lookup) if thing is not None else ("", ())
        if iterable.rows is not None:
            model, lookup = iterable.rows.model, iterable.rows.lookup
        if item.thing is not None:
            parts.extend(write.value for write in self.heap.get(item.thing.id, {}).values())
        opaque = not model and not tries and all(part.unknown for part in parts)
        self.loops[number] = Loop(number, self.site(at), items, model, lookup, item.origins, opaque)
        if item.thing is not None:
            self.turns[item.thing.id] = (*self.loops_open, number)

    def made_in(self, effect: Effect, things: Iterable[Object]) -> Effect:
        """An effect on rows that were read or made in loops before it stands in those loops as well."""
        loops = {number for thing in things for number in self.turns.get(thing.id, ())}
        self.effects[effect.id] = replace(effect, loops=tuple(sorted({*effect.loops, *loops})))
        return self.effects[effect.id]

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
            indirect=self.unspelled > 0,
            by_name=self.before is not None,
            deferred=self.deferred,
            handling=tuple(name for names in self.handling for name in names),
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


def _joined_writes(one: dict[str, Write], other: dict[str, Write]) -> dict[str, Write]:
    merged = dict(one)
    for column, write in other.items():
        merged[column] = _joined(merged[column], write) if column in merged else write
    return merged


def _joined(one: Write, other: Write) -> Write:
    if one == other:
        return one
    # What counts on from the old value in one arm is told where that stands; of two ways the gentler one.
    first = max(one, other, key=lambda write: _STEPS.index(write.from_itself) if write.from_itself in _STEPS else -1)
    return Write(one.column, join(one.value, other.value), first.site, first.from_itself)


_STEPS = ("", "item", "tally", "append", "arithmetic", "expression", "expression-again")
