"""unknown-rule-in-suppression: a comment that names no rule suppresses nothing. No replay finds it."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Severity
from idemlint.replay import Finding, Replay

NAME = "unknown-rule-in-suppression"


def check(replay: Replay) -> Iterator[Finding]:
    yield from ()


RULE = Rule(NAME, "IDM903", Severity.WARNING, "comment that names no rule there is", "0.1", check)
