"""endless-redelivery: nothing stops a message that fails from being run for ever."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.delivery import Cause
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.replay import Finding, Mark, Replay

NAME = "endless-redelivery"

# Where the task itself asks for another run.
_CALLS = frozenset({"retry-call", "requeued"})

_FIXES = {
    "retry": "say how often at most",
    "retry-call": "pass max_retries to retry(), or give the task one",
    "requeued": "give the message back with requeue=False once it has been delivered too often",
    "timeout": "let a run that is cut by its time limit count as done, or dead-letter the message",
    "process-lost": "use a queue with a delivery limit, or retry_on_worker_lost with max_retries",
}


def check(replay: Replay) -> Iterator[Finding]:
    """One finding a task, about what is likeliest."""
    task, delivery = replay.task, replay.delivery
    if task is None or delivery is None or task.id not in replay.unsafe:
        return
    cause = next((cause for cause in delivery.endless if does_harm(replay, cause)), None)
    if cause is None:
        return
    own = {option.site for option in task.options}
    site = task.declared if cause.kind in _CALLS or cause.site in own or cause.site is None else cause.site
    effect = next(iter(replay.repeated()), None)
    again = [Mark(StepKind.AGAIN, "each time: {code}", effect.site)] if effect is not None else []
    result = replay.result(effect) if effect is not None and effect.row is not None else "its effects are repeated"
    yield Finding(
        rule=NAME,
        site=site,
        severity=Severity.WARNING,
        confidence=Confidence.HIGH,
        message=f"{replay.name} is run again without end when it fails for good, and repeats its effects each time.",
        steps=(
            Mark(StepKind.CAUSE, cause.text, cause.site),
            Mark(StepKind.FIRST, "fails, as it will each time", task.site),
            *again,
            Mark(StepKind.RESULT, f"nothing ends it: {result}, again and again, until somebody purges the queue"),
        ),
        fix=Fix(_FIXES.get(cause.kind, "put an end to it"), Applicability.DISPLAY),
        about=task.id,
        task=task.id,
    )


def does_harm(replay: Replay, cause: Cause) -> bool:
    """Whether a run has done something by the time it asks for the next one; any other cause may come at any time."""
    call = next((each for each in replay.summary.effects if each.kind == "retry" and each.site == cause.site), None)
    if cause.kind not in _CALLS or call is None:
        return True
    return any(effect.id < call.id and replay.same_path(effect, call) for effect in replay.repeated())


RULE = Rule(NAME, "IDM603", Severity.WARNING, "failing message that is run again without end", "0.1", check)
