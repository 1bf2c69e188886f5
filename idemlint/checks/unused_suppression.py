"""unused-suppression: a comment that suppresses what is not found hides the next real fault. No replay finds it."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Severity
from idemlint.replay import Finding, Replay

NAME = "unused-suppression"


def check(replay: Replay) -> Iterator[Finding]:
    yield from ()


RULE = Rule(NAME, "IDM902", Severity.WARNING, "comment that suppresses what is not found", "0.1", check)
