"""The summary of a run from one root: its effects in the order of the code, and what stands around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from idemlint.domain.effect import Address, Effect, Frame, Key
from idemlint.domain.value import Facts, Lookup, Origin
from idemlint.program import Root, Site

EFFECTS = 64
"""A summary holds so many effects at most that change something; `capped` says when there were more."""

QUIET = 4
"""For each of them it may hold so many that only read, lock or leave all as it is."""


SESSION = "session"
"""How a transaction is opened that belongs to a session: by its first use, or by `begin()`."""


@dataclass(frozen=True, slots=True)
class Transaction:
    """A database transaction: where it is opened, how ("atomic"), the one around it (it is a savepoint then), the
    loops it was opened in, and the function that opens it. `known` says that its beginning and end are seen: that of
    a session which was handed in is not, it may begin before the run and commit after it. `end` is the call that
    commits it. `committed` holds at the end of its block on every way that commits: all others roll it back."""

    id: int
    site: Site
    text: str
    outer: int | None
    loops: tuple[int, ...]
    frame: Frame
    known: bool = True
    end: Site | None = None
    committed: Facts = frozenset()


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop: where it stands; `items` says that it goes over things, not that it counts or waits. `origins` are
    those of its items; when they are rows, `model` and `lookup` say which. `opaque` says that nothing is known of any
    part of an item, so that what is known cannot be made of one."""

    id: int
    site: Site
    items: bool = False
    model: str = ""
    lookup: tuple[Lookup, ...] = ()
    origins: frozenset[Origin] = frozenset()
    opaque: bool = False


@dataclass(frozen=True, slots=True)
class Caught:
    """A handler of integrity errors: the transactions open at its `try`, the effects inside that, whether it raises.

    `again` says that the next turn of a loop comes back into them.
    """

    site: Site
    transactions: tuple[int, ...]
    effects: range
    raises: bool
    function: str
    again: bool = False


@dataclass(frozen=True, slots=True)
class Dropped:
    """A branch that ends a run because `effect` found the work done, without a word: where it returns."""

    site: Site
    effect: int
    function: str


@dataclass(frozen=True, slots=True)
class Hook:
    """A function handed to a commit hook. `late` are names that the loop around it binds anew before it runs."""

    site: Site
    late: tuple[str, ...]
    transactions: tuple[int, ...]
    function: str


@dataclass(frozen=True, slots=True)
class KeyUse:
    """A value passed under a name that says it is there to recognise repeats."""

    key: Key
    callee: str
    frames: tuple[Frame, ...]
    facts: Facts
    address: Address


def within_budget(effects: Sequence[Effect]) -> Sequence[Effect]:
    """The first effects, as many as a summary holds. What changes nothing must not use up the place of what does."""
    changing = 0
    for number, effect in enumerate(effects[: EFFECTS * QUIET]):
        counts = effect.changes_data or (effect.outside and (effect.row is None or effect.row.replay != "natural"))
        changing += counts and not effect.indirect
        if changing > EFFECTS:
            return effects[:number]
    return effects[: EFFECTS * QUIET]


@dataclass(frozen=True, slots=True)
class Summary:
    """What one run from `root` does. `calls` were followed, `unresolved` (site, name) could not be; `reads` are
    the models it reads, `swallows` says that the body catches every exception, `quiet` is the first effect from which
    on it does (None: there is none), `early` says that its message is acknowledged before the work, `capped` that the
    analysis was cut short."""

    root: Root
    effects: tuple[Effect, ...]
    transactions: tuple[Transaction, ...]
    loops: tuple[Loop, ...]
    hooks: tuple[Hook, ...]
    keys: tuple[KeyUse, ...]
    caught: tuple[Caught, ...]
    dropped: tuple[Dropped, ...]
    calls: int
    unresolved: tuple[tuple[Site, str], ...]
    reads: frozenset[str] = frozenset()
    swallows: bool = False
    early: bool = False
    quiet: int | None = None
    capped: bool = False
