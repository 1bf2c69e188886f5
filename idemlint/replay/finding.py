"""What a check yields, and the steps of its story before their places are worked out."""

from __future__ import annotations

from dataclasses import dataclass

from idemlint.diagnostic import Confidence, Fix, Severity, StepKind
from idemlint.program import Site


@dataclass(frozen=True, slots=True)
class Mark:
    """A step of a story before its place is worked out. `{code}` in `text` becomes the code that stands at `site`."""

    kind: StepKind
    text: str
    site: Site | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check yields. `subject` is the effect it speaks of, by id: of several findings with one subject the
    precedence table picks (None: it competes with nobody). `capped` says that the task's delivery limits how loud it
    is. `about` is the function the finding stands in, for its fingerprint."""

    rule: str
    site: Site
    severity: Severity
    confidence: Confidence
    message: str
    steps: tuple[Mark, ...] = ()
    fix: Fix | None = None
    subject: int | None = None
    about: str = ""
    task: str | None = None
