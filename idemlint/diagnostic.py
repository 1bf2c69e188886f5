"""What idemlint says: frozen values that know nothing of how they were found or how they are shown.

Paths are relative to the project's root, with forward slashes. Lines and columns are 1-based and count code points;
an end column is exclusive.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Severity(enum.IntEnum):
    """How much the fault costs if it is real; `error` and `warning` are loud."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    def __str__(self) -> str:
        return self.name.lower()


class Confidence(enum.IntEnum):
    """How sure the analysis is of its own reading of the code."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3

    def __str__(self) -> str:
        return self.name.lower()

    def lowered(self) -> Confidence:
        """One step less sure, `LOW` at the least."""
        return Confidence(max(self - 1, Confidence.LOW))


class StepKind(enum.StrEnum):
    """The part a step plays in a failure story."""

    CAUSE = "cause"
    FIRST = "first"
    CUT = "cut"
    AGAIN = "again"
    RESULT = "result"


class Applicability(enum.StrEnum):
    """What may be done with a fix: applied unasked, applied when asked, or only shown."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    DISPLAY = "display"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of one file."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a failure story; `span` is None where the step is no place in the code (a framework's default)."""

    kind: StepKind
    text: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class TaskName:
    """A task as a report names it: its queue name, its function, where that stands."""

    name: str
    function: str
    path: str
    line: int
    framework: str


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a task runs again, and the option or setting that says so (None: the framework's default)."""

    text: str
    path: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the code points `start` to `end` of a file's decoded text by `text`."""

    path: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """How to mend it, in the words of the code at hand; `edits` is empty where only a person can."""

    title: str
    applicability: Applicability
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Suppression:
    """The comment that accepts a finding, and the reason it gives (empty if it gives none)."""

    path: str
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    `message` is one or two sentences that stand alone. `steps` is the failure story in order. `other_tasks` are the
    further tasks that reach the same effect. `fingerprint` holds no line number, so it survives edits elsewhere.
    `suppression` is None unless a comment accepts the finding: it is then nobody's fault and seldom shown.
    """

    rule: str
    code: str
    severity: Severity
    confidence: Confidence
    message: str
    span: Span
    task: TaskName | None = None
    other_tasks: tuple[TaskName, ...] = ()
    causes: tuple[Reason, ...] = ()
    steps: tuple[Step, ...] = ()
    fix: Fix | None = None
    fingerprint: str = ""
    suppression: Suppression | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """What was looked at, so that silence can be trusted. Counts of tasks, modules read, calls followed, calls whose
    target is unknown, and files that could not be read."""

    tasks: int
    modules: int
    calls: int
    unresolved_calls: int
    unread_files: int


@dataclass(frozen=True, slots=True)
class UnknownCall:
    """A call into a library that the catalog has no row for: its path, how many tasks reach it, and one place."""

    path: str
    tasks: int
    span: Span


@dataclass(frozen=True, slots=True)
class Report:
    """All that a run found, sorted by path, line, column and rule, and what it looked at. `unknown` are the calls that
    are most worth a row in a catalog of the user's own, `replaced` says which built-in rows such a catalog replaces,
    `partly` names the tasks that do more than was followed."""

    findings: tuple[Diagnostic, ...]
    summary: Summary
    unknown: tuple[UnknownCall, ...] = ()
    replaced: tuple[str, ...] = ()
    partly: tuple[str, ...] = ()
