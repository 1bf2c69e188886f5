"""enqueue-dedup-as-guard: a queue that drops equal messages guards the sending, not the run."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.program import Site, Task
from idemlint.replay import Finding, Mark, Replay

NAME = "enqueue-dedup-as-guard"


def check(replay: Replay) -> Iterator[Finding]:
    yield from of_declaration(replay)
    yield from of_messages(replay)


def of_declaration(replay: Replay) -> Iterator[Finding]:
    """A task that is unique in the queue by its base or by an option of its own."""
    task = replay.task
    if task is None or task.id not in replay.unsafe:
        return
    names = replay.catalog.framework(task.framework).unique
    option = next((option for option in task.options if option.name in names and option.source != "message"), None)
    if option is not None:
        yield finding(replay, task, option.site, task.declared)
    elif replay.enqueue_guard(task) is not None:
        yield finding(replay, task, task.declared, task.declared)


def of_messages(replay: Replay) -> Iterator[Finding]:
    """A message that is unique in the queue."""
    for effect in replay.summary.effects:
        call = effect.enqueue
        task = replay.program.tasks.get(call.task or "") if effect.kind == "enqueue" and call is not None else None
        if call is None or task is None or task.id not in replay.unsafe:
            continue
        if {name for name, _ in call.options} & set(replay.catalog.framework(call.framework).unique):
            yield finding(replay, task, effect.site, effect.site)


def finding(replay: Replay, task: Task, site: Site, anchor: Site) -> Finding:
    name = task.function.rpartition(".")[2]
    delivery = replay.deliveries.get(task.id)
    cause = delivery.causes[0] if delivery is not None else None
    return Finding(
        rule=NAME,
        site=anchor,
        severity=Severity.NOTE,
        confidence=Confidence.HIGH,
        message=(
            f"Only the queue keeps {name} from being sent twice: a message that is delivered again, or retried, runs "
            "again all the same."
        ),
        steps=(
            Mark(
                StepKind.CAUSE, cause.text if cause else "its message is delivered again", cause.site if cause else None
            ),
            Mark(StepKind.FIRST, "an equal message is not sent while this one waits: {code}", site),
            Mark(StepKind.AGAIN, "the one message is run again, which nothing looks at", task.site),
            Mark(StepKind.RESULT, f"{name} repeats its effects"),
        ),
        fix=Fix(
            "guard the effect itself: a unique row, a conditional update, a key of the provider", Applicability.DISPLAY
        ),
        about=task.id,
        task=task.id,
    )


RULE = Rule(NAME, "IDM705", Severity.NOTE, "queue-level uniqueness as the only guard", "0.1", check)
