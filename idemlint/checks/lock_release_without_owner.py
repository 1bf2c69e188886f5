"""lock-release-without-owner: whoever comes late deletes the lock of the next one."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.domain.guard import argument
from idemlint.replay import Finding, Mark, Replay

NAME = "lock-release-without-owner"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    for taken in replay.summary.effects:
        if taken.guard is None or taken.guard.guard != "claim":
            continue
        key = argument(taken, taken.guard.key)
        if key is None or key.unknown:
            continue
        for later in replay.summary.effects[taken.id + 1 :]:
            if not replay.deletes_key(later) or later.path.rpartition(".")[0] != taken.path.rpartition(".")[0]:
                continue
            given = dict(later.arguments).get("#0")
            if given is None or given.origins != key.origins or given.text != key.text:
                continue
            if not replay.tested_between(taken, later):
                yield finding(replay, taken, later)
            break


def finding(replay: Replay, taken: Effect, later: Effect) -> Finding:
    return Finding(
        rule=NAME,
        site=later.site,
        severity=replay.severity(Severity.WARNING),
        confidence=Confidence.HIGH,
        message=(
            f"{replay.name} deletes the lock without asking whose it is: when its own has run out, it takes away that "
            "of the run that came after it."
        ),
        steps=(
            Mark(StepKind.FIRST, "takes the lock: {code}", taken.site),
            Mark(StepKind.CUT, "the lock runs out while the work goes on"),
            Mark(StepKind.AGAIN, "a second run takes it: {code}", taken.site),
            Mark(StepKind.FIRST, "the first run ends with {code}", later.site),
            Mark(StepKind.RESULT, "the second run works without a lock, a third one enters"),
        ),
        fix=Fix(
            "store a token of this run in the lock and delete it only if the token is still there, in one step",
            Applicability.DISPLAY,
        ),
        about=later.frames[-1].function,
        task=replay.task.id if replay.task else None,
    )


RULE = Rule(NAME, "IDM704", Severity.WARNING, "lock deleted without checking whose it is", "0.1", check)
