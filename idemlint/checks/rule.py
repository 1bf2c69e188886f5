"""What a rule is: a name, a promise and a generator. The prose lives in `rules/<name>.md`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from idemlint.diagnostic import Severity
from idemlint.program import Program
from idemlint.replay import Finding, Replay


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    `name` says the fault in words and is also the stem of its page and of its module. `code` is its permanent alias,
    never reused. `severity` is what it has where the task's delivery does not cap it. `summary` is one line for
    lists, `since` the first version that had it. `check` takes the replay view of one root and yields its findings,
    `of_program` those that hang on no root.
    """

    name: str
    code: str
    severity: Severity
    summary: str
    since: str
    check: Callable[[Replay], Iterator[Finding]]
    of_program: Callable[[Program], Iterator[Finding]] | None = None
