"""Effects: what a run does to the world, where, on what, with which key, under which facts."""

from __future__ import annotations

from dataclasses import dataclass

from idemlint.catalog import Effect as Row
from idemlint.catalog import Guard as GuardRow
from idemlint.domain.value import Facts, Lookup, Value
from idemlint.program import EnqueueCall, Site

Address = tuple[tuple[str, int], ...]
"""The way from the root of the tree to a leaf: (node kind, number) pairs. Kinds: "seq" position, "arm" of a branch,
"loop", "try", "handler", "tx", "call"."""


@dataclass(frozen=True, slots=True)
class Write:
    """A column that is written: the value, where it was assigned, and, when the new value is computed from the old one
    of the same column, by what ("arithmetic", "append", "item" for an entry of a document and "tally" for one that is
    counted on from what it was, "expression" for one the database works out, "add" to a set and "remove" from a list,
    which change nothing the second time)."""

    column: str
    value: Value
    site: Site
    from_itself: str = ""


@dataclass(frozen=True, slots=True)
class Key:
    """An idempotency key, deduplication id or the like: its parameter or header, its value, where it is passed."""

    name: str
    value: Value
    site: Site
    named: bool = True


@dataclass(frozen=True, slots=True)
class Frame:
    """A call on the way from the root to an effect: where it stands, the function that holds it, as (id, name)."""

    site: Site
    function: str
    name: str


@dataclass(frozen=True, slots=True)
class Effect:
    """One effect of one run.

    kind: "external" (`row` is its catalog row), "insert", "get-or-insert", "upsert", "update", "save", "delete",
    "link", "read", "lock", "enqueue", "retry", and of a consumer "receive" and "acknowledge". `frames` lead
    from the root to the call, innermost last. `transactions`
    are the open ones, outermost first; `arguments` has the object that a method is called on as `self`, if how that was
    made is known; `deferred` marks what runs after the commit, `indirect` what a signal's
    receiver does, or one of several functions that a call may reach, `by_name` what is
    called by a text that says so. `thing` is the row's object id.
    `handled` are exception names that a `try` around it catches, `handling` those of
    the handlers it stands in.
    `unsure` marks an insert that is left out where the row was there before.
    `answered` says that somebody looks at what the call gave, `guard` is the
    catalog's row when the call lets one run pass and stops another.
    """

    id: int
    kind: str
    site: Site
    address: Address
    facts: Facts
    frames: tuple[Frame, ...]
    transactions: tuple[int, ...] = ()
    loops: tuple[int, ...] = ()
    deferred: bool = False
    indirect: bool = False
    by_name: bool = False
    handling: tuple[str, ...] = ()
    handled: tuple[str, ...] = ()
    row: Row | None = None
    path: str = ""
    url: str = ""
    verb: str = ""
    key: Key | None = None
    arguments: tuple[tuple[str, Value], ...] = ()
    model: str = ""
    lookup: tuple[Lookup, ...] = ()
    writes: tuple[Write, ...] = ()
    opaque: bool = False
    conflict: str = ""
    conflict_on: tuple[str, ...] = ()
    many: bool = False
    thing: int | None = None
    fresh: str = ""
    unsure: bool = False
    lock: int | None = None
    enqueue: EnqueueCall | None = None
    guard: GuardRow | None = None
    answered: bool = False

    @property
    def in_handler(self) -> bool:
        """Whether it happens on an error only."""
        return bool(self.handling)

    @property
    def written(self) -> frozenset[str]:
        return frozenset(write.column for write in self.writes)

    @property
    def changes_data(self) -> bool:
        return self.kind in DATA

    @property
    def outside(self) -> bool:
        """Whether it leaves the process and no database transaction takes it back."""
        return self.kind in ("external", "enqueue")


DATA = frozenset({"insert", "get-or-insert", "upsert", "update", "save", "delete", "link"})


def exclusive(one: Address, other: Address) -> bool:
    """Whether two places can never lie on one path: their ways part at the arms of a branch."""
    for left, right in zip(one, other, strict=False):
        if left != right:
            return left[0] == "arm" and right[0] == "arm"
    return False


def before(one: Address, other: Address) -> bool:
    """Whether `one` comes before `other` in the order of the code."""
    for left, right in zip(one, other, strict=False):
        if left != right:
            return left[1] < right[1]
    return len(one) < len(other)
