"""endless-redelivery: nothing stops a message that fails from being run for ever."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.replay import Finding, Mark, Replay

NAME = "endless-redelivery"

_FIXES = {
    "retry": "say how often at most",
    "retry-call": "pass max_retries to retry(), or give the task one",
    "timeout": "let a run that is cut by its time limit count as done, or dead-letter the message",
    "process-lost": "use a queue with a delivery limit, or retry_on_worker_lost with max_retries",
}


def check(replay: Replay) -> Iterator[Finding]:
    """One finding a task, about what is likeliest."""
    task, delivery = replay.task, replay.delivery
    if task is None or delivery is None or not delivery.endless or task.id not in replay.unsafe:
        return
    cause = delivery.endless[0]
    own = {option.site for option in task.options}
    site = task.declared if cause.site in own or cause.site is None else cause.site
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


RULE = Rule(NAME, "IDM603", Severity.WARNING, "failing message that is run again without end", "0.1", check)
