"""ignored-setting: a delivery setting that nobody reads as it is written."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.delivery import Useless, useless
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.program import Program
from idemlint.replay import Finding, Mark, Replay

NAME = "ignored-setting"


def check(replay: Replay) -> Iterator[Finding]:
    """Options of a task, and of the messages to it."""
    task, delivery = replay.task, replay.delivery
    if task is None or delivery is None:
        return
    for found in delivery.useless:
        if not found.if_harmful or task.id in replay.unsafe:
            yield finding(found, task.id)


def of_program(program: Program) -> Iterator[Finding]:
    """Settings."""
    for found in useless(program.settings):
        yield finding(found, None)


def finding(found: Useless, task: str | None) -> Finding:
    return Finding(
        rule=NAME,
        site=found.site,
        severity=Severity.NOTE if found.minor else Severity.WARNING,
        confidence=Confidence.HIGH,
        message=f"{found.written} has no effect: {found.reason}.",
        steps=(
            Mark(StepKind.CAUSE, f"{found.written}: {found.reason}", found.site),
            Mark(StepKind.RESULT, "messages are delivered as if it were not there"),
        ),
        fix=Fix(found.fix, Applicability.DISPLAY),
        about=task or found.written,
        task=task,
    )


RULE = Rule(
    NAME, "IDM604", Severity.WARNING, "delivery setting that has no effect as written", "0.1", check, of_program
)
