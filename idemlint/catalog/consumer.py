"""The row of the catalog that speaks of queues whose messages code takes by itself, in the same manner as `rows`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from idemlint.catalog.rows import Slot, Test

ITERATIONS = ("__iter__", "__aiter__")
"""The last word of a path that stands for the turns of a loop over something."""

KEPT = {
    "acknowledged": "until it is acknowledged: one that is not comes again",
    "committed": "for ever: a consumer that starts again goes on behind what was committed, by itself or by a call",
    "received": "until it is handed out: one that is not worked on is lost",
}


@dataclass(frozen=True, slots=True)
class Consumer:
    """How messages are taken from a queue of the library `name` (`title` in messages) and acknowledged.

    `receive` are calls that give messages, or the turns of a loop over something (`Queue.__iter__`); with `callback`
    they are handed there the function that is called with each message: with instances of what `passes` says for its
    parameters by position (`#0`). `acknowledge` are calls after which a message comes no more, `blocks` context
    managers that acknowledge where they end, `renew` calls that keep a message for longer. Where nobody can say what
    one of these is called on, its name tells if one of the arguments `telling` is given. In classes derived from
    `mixins` the method `method` is handed the receiving class as its first argument. `kept` is how long the queue keeps
    a message, a word of `KEPT`; `dropped` is a test on the receiving call by which it is "received".

    Functions called one of `handlers` are tasks without any of that: they are called with an event whose item `records`
    holds messages, which have the items `parts`. `until` says what acknowledges a message where no call does.

    Of what is received from, `group` is where the consumers are named whose position is kept, and `commits` where it is
    told not to commit by itself. Of the receiving call, `lease` is where it says how long it waits for an
    acknowledgement, in so many seconds as `unit`, and `batch` how many messages it gives, one if it does not say.
    `fresh` are the parts of a message that are others at its next delivery.
    `key` is what tells a message from all others, as it stands in an f-string, `$message` for its name: that of the
    loop, or of the callback's parameter at `message`."""

    name: str
    title: str
    receive: tuple[str, ...] = ()
    acknowledge: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    renew: tuple[str, ...] = ()
    telling: tuple[Slot, ...] = ()
    mixins: tuple[str, ...] = ()
    method: str = ""
    handlers: tuple[str, ...] = ()
    records: str = ""
    parts: tuple[str, ...] = ()
    until: str = ""
    callback: tuple[Slot, ...] = ()
    passes: Mapping[str, str] = field(default_factory=dict)
    kept: str = "acknowledged"
    dropped: Test | None = None
    group: tuple[Slot, ...] = ()
    commits: tuple[Slot, ...] = ()
    lease: tuple[Slot, ...] = ()
    unit: float = 1.0
    batch: tuple[Slot, ...] = ()
    fresh: frozenset[str] = frozenset()
    key: str = ""
    message: str = "#0"
    modules: tuple[str, ...] = ()

    @property
    def words(self) -> frozenset[str]:
        """The identifiers that make code worth a look."""
        return frozenset(_word(call) for call in self.receive)

    @property
    def marks(self) -> frozenset[str]:
        """Identifiers one of which stands in code that receives by a word which many things answer to: the library's
        name, or a call that acknowledges."""
        libraries = (module.partition(".")[0] for module in self.modules)
        return frozenset((*libraries, *(_word(call) for call in self.acknowledge)))

    def told(self, name: str, given: Collection[str]) -> str | None:
        """The path of the call of this name with these arguments, if that is enough to know it."""
        if not any(slot.argument in given for slot in self.telling):
            return None
        calls = (*self.receive, *self.acknowledge, *self.renew)
        return next((call for call in calls if call.rpartition(".")[2] == name), None)

    @property
    def loops(self) -> bool:
        """Whether a loop over something receives."""
        return any(call.rpartition(".")[2] in ITERATIONS for call in self.receive)


def _word(call: str) -> str:
    above, _, last = call.rpartition(".")
    return above.rpartition(".")[2] if last in ITERATIONS else last
