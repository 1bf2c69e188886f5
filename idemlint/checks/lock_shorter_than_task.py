"""lock-shorter-than-task: the lock runs out while its holder still works."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.delivery.cause import spelled
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.replay import Finding, Mark, Replay

NAME = "lock-shorter-than-task"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None or replay.delivery is None:
        return
    for lock in replay.summary.effects:
        seconds = replay.lifetime(lock)
        if lock.guard is None or seconds is None:
            continue
        if lock.guard.guard != "lock" and replay.released(lock) is None:
            continue
        limit = replay.delivery.time_limit
        if limit is not None and limit.seconds <= seconds:
            continue
        harmed = next((effect for effect in replay.under(lock) if replay.overlaps(effect)), None)
        if harmed is not None:
            yield finding(replay, lock, harmed, seconds)


def finding(replay: Replay, lock: Effect, harmed: Effect, seconds: float) -> Finding:
    assert replay.delivery is not None
    limit = replay.delivery.time_limit
    may = f"may run for {limit}" if limit is not None else "has no time limit"
    return replay.finding(
        NAME,
        lock,
        replay.severity(Severity.ERROR),
        f"{replay.name} {may} and holds a lock that lasts {spelled(seconds)}: after that a second run enters "
        "beside the first.",
        (
            replay.again(harmed),
            Mark(StepKind.FIRST, f"may run for {limit}: {limit.text}", limit.site)
            if limit is not None
            else Mark(StepKind.FIRST, "may take any time: no time limit"),
            Mark(StepKind.FIRST, "takes the lock: {code}", lock.site),
            Mark(StepKind.CUT, f"the lock is gone after {spelled(seconds)}, the run goes on"),
            Mark(StepKind.AGAIN, "a second run takes the lock: {code}", lock.site),
            Mark(StepKind.RESULT, "both are at {code} together", harmed.site),
        ),
        confidence=Confidence.HIGH if limit is not None else Confidence.LOW,
        fix=Fix(
            "let the lock last longer than the task's time limit, renew it while the work goes on, or check a version "
            "when writing",
            Applicability.DISPLAY,
        ),
    )


RULE = Rule(NAME, "IDM703", Severity.ERROR, "lock that runs out before the task's time limit", "0.1", check)
