"""unparsable-file: what cannot be read is not checked, and that is said. The engine finds it, no replay does."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Severity
from idemlint.replay import Finding, Replay

NAME = "unparsable-file"


def check(replay: Replay) -> Iterator[Finding]:
    yield from ()


RULE = Rule(NAME, "IDM901", Severity.ERROR, "file that could not be read or parsed", "0.1", check)
