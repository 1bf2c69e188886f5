"""retry-swallowed: the task's own retry is taken for a duplicate and dropped."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.replay import Finding, Mark, Replay

NAME = "retry-swallowed"


def check(replay: Replay) -> Iterator[Finding]:
    task, delivery = replay.task, replay.delivery
    if task is None or delivery is None:
        return
    row = replay.enqueue_guard(task)
    retry = next((retry for retry in delivery.retries if retry.kind in ("exception", "call")), None)
    if row is None or not row.own_retry or retry is None:
        return
    cause = next((cause for cause in delivery.causes if cause.site == retry.site), delivery.causes[0])
    yield Finding(
        rule=NAME,
        site=task.declared,
        severity=Severity.ERROR,
        confidence=Confidence.HIGH,
        message=(
            f"The retry of {replay.name} is dropped as a duplicate of the run that asks for it: the work is never "
            "done, and later calls are dropped too while the lock of the failed run stays."
        ),
        steps=(
            Mark(StepKind.CAUSE, "holds a lock from the call to the end of the run: {code}", task.declared),
            Mark(StepKind.FIRST, f"fails and asks to be run again ({cause.text})", retry.site),
            Mark(StepKind.CUT, "the retry is sent like any call, and meets the lock of its own run"),
            Mark(StepKind.RESULT, "nothing is sent, the task stays in RETRY for ever"),
        ),
        fix=Fix(
            "take the uniqueness from the data (a unique key, a claim), or end the run and send a new task instead of "
            "retrying",
            Applicability.DISPLAY,
        ),
        about=task.id,
        task=task.id,
    )


RULE = Rule(NAME, "IDM605", Severity.ERROR, "guard that drops the task's own retry", "0.1", check)
