"""Why and when a task runs again: what every framework's delivery is said in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from idemlint.diagnostic import Severity
from idemlint.link.values import Known, Value
from idemlint.program import Site


@dataclass(frozen=True, slots=True)
class Amount:
    """A time in seconds and what says so, in the author's words or in ours; `site` is None for a default."""

    seconds: float
    text: str
    site: Site | None = None

    def __str__(self) -> str:
        return spelled(self.seconds)


@dataclass(frozen=True, slots=True)
class Cause:
    """A way in which a message makes the task run again; `text` is the first step of a story, `site` None where the
    framework's default is the cause.

    The kinds, with what happens to the first run: "retry" (an exception ended it), "retry-call" (it asked for another
    one), "requeued" (it gave its message back), "lease" (it may still go on when the broker's patience ends), "timeout"
    (it was cut by a time limit), "process-lost", "worker-lost" (cut anywhere), "connection-lost" (it goes on beside the
    second), "prefetched" (it has not begun), "broadcast" (each worker has it) and "early-ack" (it was cut or not; only
    a second message runs again).
    `again` is how often at most, None where nothing limits it or nobody knows; `endless` says that nothing does.
    """

    kind: str
    text: str
    site: Site | None = None
    again: int | None = None
    endless: bool = False


@dataclass(frozen=True, slots=True)
class Retry:
    """A rule by which the framework runs a task again.

    `kind` is "exception" (raised by the task), "call" (the task asks for it) or "process-lost". `on` are the exceptions
    by path (empty: not known, or no exception is needed), `unless` those that are left out. `again` and `endless` are
    as in `Cause`. `delay` is the wait before the first repeat, `longest` the longest one; None where that is not known.
    """

    kind: str
    on: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    again: int | None = None
    endless: bool = False
    delay: Amount | None = None
    longest: Amount | None = None
    site: Site | None = None


@dataclass(frozen=True, slots=True)
class RetryCall:
    """A place where the body of a task asks to be run again: the exceptions whose handlers it stands in, its arguments
    by name (`#0`: by position), and what it calls, raises or returns."""

    site: Site
    exceptions: tuple[str, ...] = ()
    arguments: Mapping[str, Value] = field(default_factory=dict)
    path: str = ""

    def get(self, *names: str) -> Value:
        """An argument under one of its names, Known(None) where it is not given."""
        return next((self.arguments[name] for name in names if name in self.arguments), Known(None))


@dataclass(frozen=True, slots=True)
class Useless:
    """A setting or option that has no effect as written: where it stands, how it is written, why, and how to mend it.
    `minor` marks one that is only there in vain; `if_harmful` one that matters only where a second run does harm."""

    site: Site
    written: str
    reason: str
    fix: str
    minor: bool = False
    if_harmful: bool = False


@dataclass(frozen=True, slots=True)
class Delivery:
    """How a task's messages come again.

    `causes` come in order of likelihood and are never empty. `cap` is the highest severity that a finding about the
    task's repetition may have. `at_least_once` says that a second run is meant to happen, rather than an accident.
    `late_ack` is whether the message is acknowledged after the run, None if that is not known. `broker` is its name for
    messages, empty if not known. `lease` is how long the broker waits for an acknowledgement, `time_limit` how long a
    run may take; None stands for no limit or an unknown one. `delayed` says that a message which waits for its time is
    held by a worker that has not acknowledged it. `unknown` says what could not be told and why, `remarks` what is
    worth saying where nothing is wrong, `useless` which options of the task have no effect.
    """

    causes: tuple[Cause, ...]
    cap: Severity
    at_least_once: bool = False
    late_ack: bool | None = None
    retries: tuple[Retry, ...] = ()
    broker: str = ""
    lease: Amount | None = None
    time_limit: Amount | None = None
    delayed: bool = False
    unknown: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    useless: tuple[Useless, ...] = ()

    @property
    def outruns_lease(self) -> bool:
        """Whether a run may take longer than the broker waits for its acknowledgement."""
        return any(cause.kind == "lease" for cause in self.causes)

    @property
    def endless(self) -> tuple[Cause, ...]:
        """The causes that nothing limits."""
        return tuple(cause for cause in self.causes if cause.endless)


def spelled(seconds: float) -> str:
    """A time in the largest unit that divides it: `2 h`, `90 s`."""
    for unit, length in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= length and seconds % length == 0:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.10g} s"


def at_most(count: int) -> str:
    """How often at most, in words."""
    return "once" if count == 1 else f"up to {count} times"
