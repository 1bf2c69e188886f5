"""silent-duplicate: duplicates that are dropped unseen tell nobody that delivery has gone wrong."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.replay import Finding, Mark, Replay

NAME = "silent-duplicate"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    for dropped in replay.summary.dropped:
        claim = replay.claim(dropped.effect)
        # Where rows are picked and locked in one statement, that none is left is no duplicate.
        if claim is None or (claim.kind == "update" and claim.lock is not None):
            continue
        yield Finding(
            rule=NAME,
            site=dropped.site,
            severity=Severity.NOTE,
            confidence=Confidence.HIGH,
            message=(
                f"{replay.name} drops a duplicate here and says nothing: how often work is delivered twice stays "
                "unknown until it hurts."
            ),
            steps=(
                Mark(StepKind.FIRST, "{code} finds that the work was done", claim.site),
                Mark(StepKind.RESULT, "the run ends without a log line or a counter"),
            ),
            fix=Fix("log or count the duplicate before returning", Applicability.DISPLAY),
            about=dropped.function,
            task=replay.task.id,
        )


RULE = Rule(NAME, "IDM801", Severity.NOTE, "dropped duplicate that is neither logged nor counted", "0.1", check)
