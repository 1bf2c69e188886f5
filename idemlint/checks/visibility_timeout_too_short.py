"""visibility-timeout-too-short: the broker takes a message back while its task may still run."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.delivery import Amount, Cause, Delivery
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.program import Site, Task
from idemlint.replay import Finding, Mark, Replay

NAME = "visibility-timeout-too-short"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None or replay.delivery is None:
        return
    cause = next((cause for cause in replay.delivery.causes if cause.kind == "lease"), None)
    if cause is not None:
        yield finding(replay, replay.task, replay.delivery, cause)


def finding(replay: Replay, task: Task, delivery: Delivery, cause: Cause) -> Finding:
    lease, limit = delivery.lease, delivery.time_limit
    known = lease is not None and limit is not None
    after = f"after {lease}" if known else "by its age"
    may = f", while a run may take {limit}" if known else ""
    return Finding(
        rule=NAME,
        site=place(task, lease, limit, cause),
        severity=Severity.ERROR,
        confidence=confidence(delivery),
        message=(
            f"{replay.name} is handed to another worker {after}{may}: the same message then runs twice at once."
            if task.intake is None
            else f"A message of {replay.name} is handed out again {after}{may}: it is then worked on twice at once."
        ),
        steps=(
            Mark(StepKind.CAUSE, cause.text, cause.site),
            Mark(StepKind.FIRST, "starts, and keeps its message unacknowledged", task.site),
            *([Mark(StepKind.FIRST, f"may run for {limit}: {limit.text}", limit.site)] if limit is not None else []),
            Mark(
                StepKind.AGAIN, f"{after} another worker starts it from the top while the first run goes on", task.site
            ),
            Mark(StepKind.RESULT, "two runs of one message work side by side, and a third follows if they take longer"),
        ),
        fix=fix(lease, limit, task.intake is not None),
        about=task.id,
        task=task.id,
    )


def place(task: Task, lease: Amount | None, limit: Amount | None, cause: Cause) -> Site:
    """The declaration of a task that sets its own limit, else the setting that does not fit."""
    own = {option.site for option in task.options}
    if limit is not None and limit.site in own:
        return task.declared
    said = [lease.site if lease else None, limit.site if limit else None, cause.site]
    return next((site for site in said if site is not None), task.declared)


def confidence(delivery: Delivery) -> Confidence:
    """A lease that only the broker's own configuration can change is not seen here."""
    if any(reason.startswith("some settings") for reason in delivery.unknown):
        return Confidence.LOW
    return (
        Confidence.MEDIUM
        if delivery.lease is not None and "consumer_timeout" in delivery.lease.text
        else Confidence.HIGH
    )


def fix(lease: Amount | None, limit: Amount | None, by_hand: bool) -> Fix:
    if lease is None or limit is None:
        return Fix("look for stalled jobs by the heartbeat of their workers", Applicability.DISPLAY)
    name = lease.text.rpartition(" ")[2].partition("=")[0]
    if by_hand:
        text = f"raise {name} above {limit}, ask for more time before each message, or take fewer at once"
        return Fix(text, Applicability.DISPLAY)
    return Fix(f"raise {name} above {limit}, or lower the task's limit below {lease}", Applicability.DISPLAY)


RULE = Rule(NAME, "IDM601", Severity.ERROR, "message taken back while its task may still run", "0.1", check)
