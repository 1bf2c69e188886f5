"""replayed-steps: a task of several steps that starts again from the first."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.replay import Finding, Mark, Replay

NAME = "replayed-steps"


def check(replay: Replay) -> Iterator[Finding]:
    """One finding a task: the first step that repeats, and a later one that can fail."""
    if replay.task is None:
        return
    for first in replay.repeated():
        second = next(
            (
                later
                for later in replay.steps()
                if later.id > first.id and replay.same_path(first, later) and later.site != first.site
            ),
            None,
        )
        if second is None:
            continue
        yield Finding(
            rule=NAME,
            site=replay.task.site,
            severity=replay.severity(Severity.WARNING),
            confidence=min(Confidence.HIGH, replay.confidence(first), replay.confidence(second)),
            message=(
                f"{replay.name} is made of several steps: when a later one fails or is cut, the next delivery repeats "
                "the earlier ones."
            ),
            steps=(
                replay.again(first),
                Mark(StepKind.FIRST, "{code}", first.site),
                Mark(StepKind.CUT, "in or before {code}", second.site),
                Mark(StepKind.AGAIN, "{code}", first.site),
                Mark(StepKind.RESULT, replay.result(first)),
            ),
            fix=Fix(
                "make each step a task of its own, or note each step done before the next one starts",
                Applicability.DISPLAY,
            ),
            about=replay.task.id,
            task=replay.task.id,
        )
        return


RULE = Rule(
    NAME,
    "IDM501",
    Severity.WARNING,
    "several outside effects in one task that starts again from the first",
    "0.1",
    check,
)
