"""What the deliveries of the smaller frameworks share: how options and settings are read, and how findings are put
together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from idemlint.delivery.cause import Amount, Cause, Delivery, Retry, RetryCall, Useless, at_most
from idemlint.delivery.said import Said, from_setting, in_force
from idemlint.diagnostic import Severity
from idemlint.link.values import Known, Made, Reference, Unknown, Value, lifted, seconds
from idemlint.program import SPREAD, Option, Setting, Task

NOTHING = Said(Known(None))

# Options whose values are things with names.
_EXCEPTIONS = ("throws", "types_of_exceptions")


class Reader:
    """The options of one task and the settings its app reads."""

    def __init__(
        self,
        task: Task,
        settings: Sequence[Setting],
        evaluate: Callable[[Option], Value],
        version: tuple[int, ...] | None,
        retried: Sequence[RetryCall] = (),
        swallows: bool = False,
    ) -> None:
        self.task = task
        self.evaluate = evaluate
        self.version = version
        self.retried = retried
        self.swallows = swallows
        self.settings = in_force(settings, task.framework, task.app)
        self.unknown: dict[str, None] = {}
        self.remarks: list[str] = []
        self.useless: list[Useless] = []
        if "*" in self.settings:
            self.unknown[f"some settings: {self.settings['*'].reason}"] = None
        for option in (option for option in task.options if option.name == SPREAD):
            where = "some options of a message" if option.source == "message" else "some options"
            self.unknown[f"{where}: {option.reason or 'what is spread is not known'}"] = None

    # --- What is said

    def option(self, *names: str) -> Said:
        """The option of one of these names that counts; None where the task says nothing."""
        return next(iter(self.options(*names)), NOTHING)

    def options(self, *names: str) -> list[Said]:
        """All that is said under these names, at the declaration and in messages."""
        found = [option for option in self.task.options if option.name in names]
        return [self._noted(option.name, Said(self.evaluate(option), option.name, option.site)) for option in found]

    def setting(self, name: str) -> Said:
        """A setting's value; None where nothing is said."""
        found = self.settings.get(name)
        if found is None and "*" in self.settings:
            return Said(Unknown(self.settings["*"].reason))
        return NOTHING if found is None else self._noted(found.written, from_setting(found))

    def _noted(self, name: str, said: Said) -> Said:
        """What is said, and among the unknown things if it cannot be told: what the framework itself makes or names is
        looked into elsewhere."""
        named = said.value.value if isinstance(said.value, Known) else None
        if isinstance(named, Reference) and named.kind == "library" and not self._is_ours(named.path):
            if name not in _EXCEPTIONS:
                said = replace(said, value=Unknown(f"{named.path} is not known"))
        if isinstance(said.value, Unknown) and not (said.value.made and self._is_ours(said.value.made.first.path)):
            self.unknown[f"{name}: {said.value.reason}"] = None
        elif said.value.environment:
            self.unknown[f"{name}: environment variable {said.value.environment} may say otherwise"] = None
        return said

    def _is_ours(self, path: str) -> bool:
        """Whether a path is one of the framework's, or of a package that extends it."""
        return self.task.framework.partition("-")[0] in path.partition(".")[0]

    def flag(self, said: Said, default: bool) -> bool | None:
        """A truth value, None if it is not known."""
        if isinstance(said.value, Unknown) or isinstance(said.value.value, Reference):
            return None
        return default if said.value.value is None else bool(said.value.value)

    def amount(self, said: Said, unit: float = 1, suffix: str = "") -> Amount | None:
        """A length of time given in a unit of so many seconds; None for one without end."""
        number = seconds(said.value.value) if isinstance(said.value, Known) else None
        if number is not None and math.isinf(number):
            return None
        return Amount(number * unit, f"{said.text}{suffix}", said.site) if number is not None else None

    # --- What follows

    def delivery(
        self,
        causes: Iterable[Cause],
        cap: Severity,
        *,
        late: bool | None = None,
        retries: Iterable[Retry] = (),
        broker: str = "",
        lease: Amount | None = None,
        limit: Amount | None = None,
    ) -> Delivery:
        """All of it together. A body that swallows every exception is never retried for one."""
        kept = list(causes)
        return Delivery(
            causes=tuple(kept),
            cap=cap,
            at_least_once=cap is Severity.ERROR,
            late_ack=late,
            retries=tuple(retries),
            broker=broker,
            lease=lease,
            time_limit=limit,
            unknown=tuple(self.unknown),
            remarks=tuple(self.remarks),
            useless=tuple(self.useless),
        )

    def asked(self) -> list[Retry]:
        """The places where the body asks for another run."""
        return [Retry("call", call.exceptions, site=call.site) for call in self.retried]


def made_of(said: Said) -> Made | None:
    """The call that made a value, if it is one of a library's objects."""
    return said.value.made if isinstance(said.value, Unknown) else None


def argument(made: Made, *names: str) -> Value:
    """An argument of a call, Known(None) where it is not given."""
    return lifted(made.get(*names))


def whole(value: Value) -> int | None:
    """A whole number, None for anything else."""
    number = value.value if isinstance(value, Known) else None
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def times(again: int | None, endless: bool = False) -> str:
    """ " up to 3 times", for the middle of a sentence; empty if not known."""
    return " without end" if endless else "" if again is None else f" {at_most(again)}"


def paths(value: Value) -> tuple[str, ...]:
    """The exceptions that a value names."""
    held = value.value if isinstance(value, Known) else None
    each = held if isinstance(held, list | tuple | set) else [held]
    return tuple(kind.path for kind in each if isinstance(kind, Reference))


def once(text: str, said: Said = NOTHING) -> Cause:
    """Nothing runs the task again but a second message."""
    return Cause("early-ack", text, said.site)
