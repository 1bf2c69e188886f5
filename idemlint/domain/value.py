"""Values and where they come from.

An origin is stable when a second run of the same message gets the same value. Unknown never makes a rule speak.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from idemlint.program import Site, Type

if TYPE_CHECKING:
    from idemlint.domain.statement import Statement

ATOMS = 8
"""More origins than this are told no longer: the value counts as unknown."""


@dataclass(frozen=True, slots=True, order=True)
class Origin:
    """One source of a value. `kind` is a word of STABLE, UNSTABLE or "unknown"; `detail` names it (the parameter, the
    row and column); `site` is where an unstable one enters."""

    kind: str
    detail: str = ""
    site: Site | None = None


STABLE = frozenset({"argument", "row", "constant", "task-id", "stored"})
"""A task's argument, a column of a row that was there before, a literal or setting, the id that redelivery keeps."""

UNSTABLE = frozenset({"clock", "random", "attempt", "response", "token", "fresh", "changed", "process"})
"""The time, chance, the attempt's number, what an unkeyed call answered, a lock's token, the key or default of a row
inserted in this run, a column this run changes, something of this process."""

TAKEN = "taken"
"""Of what was taken out of a store (the detail is the effect that took it): a second run gets another one, or none."""

WHOLE = "#"
"""Ends the detail of a row origin that speaks of all rows of a table: a count, a maximum."""

UNKNOWN = Origin("unknown")
CONSTANT = frozenset({Origin("constant")})

TURN = Origin("constant", "#turn")
"""Of what a loop counts by itself: the same in a second run, another in each turn."""


@dataclass(frozen=True, slots=True)
class Object:
    """A thing with attributes: a row, or an instance of a project class. `id` is unique in one run of the analysis.

    `model` is set for rows. `fresh` marks a row that this run made ("new": not stored yet, "stored": inserted, "maybe":
    by a get-or-insert). `lock` is the transaction that holds the row's lock. `lookup` are the columns that found it.
    `each` says that it stands for every element of a loop's rows. `source` is the data call that gave it, `session` the
    session that it was loaded by and that stores what becomes of it. `opaque` says that not all of the values it was
    made with could be read.
    """

    id: int
    model: str | None = None
    fresh: str = ""
    lock: int | None = None
    lookup: tuple[Lookup, ...] = ()
    each: bool = False
    source: int | None = None
    session: int | None = None
    opaque: bool = False


@dataclass(frozen=True, slots=True)
class Lookup:
    """One condition of a query: `column` without operator, `operator` ("exact" where none is written; "exists", with no
    column, asks whether the query that `value` is finds any row). `behind` is the model that the column leads to where
    it is the way back of a relation."""

    column: str
    operator: str
    value: Value
    excluded: bool = False
    behind: str = ""


@dataclass(frozen=True, slots=True)
class Rows:
    """A query not yet run: what it is narrowed by, and whether its rows will be locked: by the transaction `lock` or,
    where it is not yet known which one runs it, `locks`. `session` runs it, if that is known; a `statement` does more
    than find rows. `fetched` says that it has been run and these are its rows, `values` that only values of them were
    kept: `[order.pk for order in orders]`."""

    model: str
    lookup: tuple[Lookup, ...] = ()
    lock: int | None = None
    opaque: bool = False
    locks: bool = False
    fetched: bool = False
    values: bool = False
    session: int | None = None
    statement: Statement | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """What is known of an expression's value.

    `text` is a string as far as it is literal, with `{}` for the rest; `literal` is a one-element tuple with the
    exact constant. `items` are a tuple's elements, `entries` a dict's, or the arguments that an instance of the library
    class `made` was made with; `partial` says that a dict has keys that could not be read. `column` is (object id,
    column) when the value was read from a row, `step` that column when something was added to it. `read` is the reading
    of a store (an effect) whose answer it is or stands in, `tally` that reading, and the name of the part if it has
    one, when something was added to it. `effect` is the effect it is the answer of with the part it is ("created",
    "count", "result"), `others` the effects whose answer it may be as well, `test` what its being true or false says,
    `outcomes` what each way out of a helper says. `site` is where it was made, or put under a name."""

    origins: frozenset[Origin] = frozenset({UNKNOWN})
    literal: tuple[object] | None = None
    text: str | None = None
    items: tuple[Value, ...] | None = None
    entries: tuple[tuple[str, Value], ...] | None = None
    made: str = ""
    partial: bool = False
    thing: Object | None = None
    rows: Rows | None = None
    column: tuple[int, str] | None = None
    step: tuple[int, str] | None = None
    read: int | None = None
    tally: tuple[int, str] | None = None
    effect: tuple[int, str] | None = None
    others: tuple[int, ...] = ()
    test: Test | None = None
    outcomes: tuple[Outcome, ...] = ()
    closure: Closure | None = None
    site: Site | None = None

    @property
    def stable(self) -> bool:
        """Whether a second run gets the same value, for sure."""
        return all(origin.kind in STABLE for origin in self.origins)

    @property
    def unstable(self) -> tuple[Origin, ...]:
        """What makes it differ from run to run, in order; empty when nothing surely does."""
        return tuple(sorted((o for o in self.origins if o.kind in UNSTABLE), key=_origin_order))

    @property
    def unknown(self) -> bool:
        return any(origin.kind == "unknown" for origin in self.origins)

    @property
    def varies(self) -> bool:
        """Whether it holds anything but constants."""
        return any(origin.kind != "constant" for origin in self.origins)

    def entry(self, name: str) -> Value | None:
        """What stands under a name in a dict, or in a list of pairs."""
        if self.entries is not None:
            return dict(self.entries).get(name)
        pairs = (item.items for item in self.items or () if item.items is not None and len(item.items) == 2)
        return next((pair[1] for pair in pairs if pair[0].text == name), None)

    def inside(self, name: str) -> Value | None:
        """An entry, or that of every element of a list."""
        own = self.entry(name)
        if own is not None or self.entries is not None or not self.items:
            return own
        found = [item.inside(name) for item in self.items]
        known = [value for value in found if value is not None]
        return reduce(join, known) if len(known) == len(found) else None

    def may_hold(self, name: str) -> bool:
        """Whether such an entry may be there without having been seen."""
        if self.entries is not None:
            return self.partial and self.entry(name) is None
        if self.items:
            return any(item.may_hold(name) for item in self.items)
        return self.literal is None and self.text is None


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that must hold where an effect happens.

    kind: "claim" (effect `subject` found its row not there yet, or changed it), "conflict" (its row was there already),
    "state" (column `column` of object `subject` passed a test), "exists" (rows of a model are there), "possible" (a
    test that reads something the analysis cannot follow), "lock" (a mutual exclusion is held), "process" (something was
    not yet in what this process remembers), "settled" (no message is held that is not acknowledged), "failed" (inside a
    handler), "deadline" (a test of the time alone). `holds` is the test's outcome; `value` the
    text of what the column was compared with; `site` the test.
    """

    kind: str
    subject: int = -1
    column: str = ""
    holds: bool = True
    value: str = ""
    model: str = ""
    site: Site | None = None


Facts = frozenset[Fact]

SETTLED = Fact("settled")
"""No message is held that could come again."""


@dataclass(frozen=True, slots=True)
class Test:
    """What a value's being true says, and what its being false says."""

    true: Facts = frozenset()
    false: Facts = frozenset()

    def inverted(self) -> Test:
        return Test(self.false, self.true)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One way out of a helper: what it gave and the facts that hold then."""

    value: Value
    facts: Facts


@dataclass(frozen=True, slots=True)
class Closure:
    """Values a function brings along: names it closes over, arguments bound by `partial`, its receiver."""

    captured: tuple[tuple[str, Value], ...] = ()
    positional: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    receiver: Value | None = None
    kind: Type | None = None


NOTHING = Value(CONSTANT, literal=(None,))


def _origin_order(origin: Origin) -> tuple[str, str, str, int, int]:
    site = origin.site
    return (origin.kind, origin.detail, site.path if site else "", site.piece if site else 0, site.at if site else 0)


def origins_of(values: Iterable[Value]) -> frozenset[Origin]:
    """Origins of something made of these values. Beyond the limit constants are told no longer one by one."""
    found: set[Origin] = set()
    for value in values:
        found |= value.origins
    if len(found) > ATOMS:
        found = {Origin("constant") if origin.kind == "constant" else origin for origin in found}
    if len(found) > ATOMS:
        unstable = sorted((origin for origin in found if origin.kind in UNSTABLE), key=_origin_order)
        return frozenset({UNKNOWN, *unstable[: ATOMS - 1]})
    return frozenset(found) if found else CONSTANT


def literal_origins(value: object) -> frozenset[Origin]:
    """Origins of a literal; a text is told apart from others, so that two keys made with different words differ."""
    return frozenset({Origin("constant", value[:40])}) if isinstance(value, str) and value else CONSTANT


def join(one: Value, other: Value) -> Value:
    """A value that is one or the other."""
    if one == other:
        return one
    items = _joined_items(one.items, other.items)
    entries = None
    if one.entries is not None and other.entries is not None:
        merged = dict(one.entries)
        for name, value in other.entries:
            merged[name] = join(merged[name], value) if name in merged else value
        entries = tuple(merged.items())
    return Value(
        origins_of((one, other)),
        text=one.text if one.text == other.text else None,
        items=items,
        entries=entries,
        thing=_joined_thing(one.thing, other.thing),
        rows=_joined_rows(one.rows, other.rows),
        column=one.column if one.column == other.column else None,
        step=one.step or other.step,
        read=one.read if one.read is not None else other.read,
        tally=one.tally or other.tally,
        effect=one.effect if one.effect == other.effect else None,
        others=_answers(one, other),
        test=_joined_test(one, other),
        closure=one.closure or other.closure,
        site=one.site or other.site,
        made=one.made if one.made == other.made else "",
        partial=one.partial or other.partial,
    )


def _joined_thing(one: Object | None, other: Object | None) -> Object | None:
    """Of a row that was there before and one that is made where there was none, the first: it can be changed."""
    if one is None or other is None:
        return one or other
    return other if one.fresh == "new" and other.fresh != "new" else one


def _joined_rows(one: Rows | None, other: Rows | None) -> Rows | None:
    """A query that is one or the other: it is narrowed by what both are."""
    if one is None or other is None or one == other:
        return one or other
    if one.model != other.model:
        return one
    common = tuple(lookup for lookup in one.lookup if lookup in other.lookup)
    whole = len(common) == len(one.lookup) == len(other.lookup)
    return replace(one, lookup=common, opaque=one.opaque or other.opaque or not whole)


def _answers(one: Value, other: Value) -> tuple[int, ...]:
    """The effects that a value which is one or the other may be the answer of, where that is not just one."""
    found = {*one.others, *other.others, *(value.effect[0] for value in (one, other) if value.effect is not None)}
    return tuple(sorted(found)) if one.effect != other.effect or one.others or other.others else ()


def _joined_items(one: tuple[Value, ...] | None, other: tuple[Value, ...] | None) -> tuple[Value, ...] | None:
    """Tuples of one length join element by element; of two lists that grew apart the longer one has it all."""
    if one is None or other is None:
        return None
    if len(one) != len(other):
        return max(one, other, key=len)
    return tuple(join(left, right) for left, right in zip(one, other, strict=True))


def _joined_test(one: Value, other: Value) -> Test | None:
    """What both say; a list that is still empty says nothing against what the full one does."""
    if one.items == () or other.items == ():
        return one.test or other.test
    if one.test is None or other.test is None:
        return None
    return Test(one.test.true & other.test.true, one.test.false & other.test.false)


def derived(values: Iterable[Value], text: str | None = None) -> Value:
    """A value computed from others by something that depends on nothing else."""
    return Value(origins_of(values), text=text)


def united(one: Value, other: Value) -> Value:
    """A dict, and what another adds to it: `one | other`."""
    entries = {**dict(one.entries or ()), **dict(other.entries or ())}
    partial = any(value.entries is None or value.partial for value in (one, other))
    return replace(one, origins=origins_of((one, other)), entries=tuple(entries.items()), partial=partial)
