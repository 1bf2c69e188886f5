"""retry-swallowed: the task's own retry is taken for a duplicate and dropped."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.delivery import Retry
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.replay import Finding, Mark, Replay

NAME = "retry-swallowed"


def check(replay: Replay) -> Iterator[Finding]:
    yield from at_the_queue(replay)
    for mark in replay.summary.effects if replay.task is not None else ():
        retry = replay.retry_stopped(mark)
        if retry is not None:
            yield in_the_body(replay, mark, retry)


def in_the_body(replay: Replay, mark: Effect, retry: Retry) -> Finding:
    """A mark under the task's own id, which a retry keeps."""
    asks = "{code}" if retry.kind == "call" else "an error: the task is run again under the same id"
    return replay.finding(
        NAME,
        mark,
        Severity.ERROR,
        f"The retry of {replay.name} finds the mark that the failed run has set under the same task id, takes itself "
        "for a duplicate and ends: the work is never done.",
        (
            Mark(StepKind.FIRST, "sets the mark: {code}", mark.site),
            Mark(StepKind.CUT, f"then fails and is run again: {asks}", retry.site),
            Mark(StepKind.AGAIN, "the mark is there: {code}", mark.site),
            Mark(StepKind.RESULT, "the retry ends as if the work had been done"),
        ),
        fix=Fix(
            "take the key from the data instead of the task's id, or delete the mark before the task is retried",
            Applicability.DISPLAY,
        ),
    )


def at_the_queue(replay: Replay) -> Iterator[Finding]:
    """Uniqueness in the queue that drops what the task sends itself."""
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
