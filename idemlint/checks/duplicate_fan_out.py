"""duplicate-fan-out: a task that runs again sends its children again, and one of them is not safe to repeat."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Fix, Severity
from idemlint.domain.effect import Effect
from idemlint.replay import Finding, Replay

NAME = "duplicate-fan-out"


def check(replay: Replay) -> Iterator[Finding]:
    """One finding for each child."""
    if replay.task is None:
        return
    said: set[str] = {replay.task.id}
    for effect in replay.summary.effects:
        tasks = effect.enqueue.tasks if effect.kind == "enqueue" and effect.enqueue is not None else ()
        child = next((task for task in tasks if task in replay.unsafe and task not in said), None)
        if child is None or effect.in_handler or replay.guarded(effect) or replay.only_enqueued_once(effect):
            continue
        said.add(child)
        yield finding(replay, effect, child)


def finding(replay: Replay, effect: Effect, child: str) -> Finding:
    name = replay.program.tasks[child].function.rpartition(".")[2]
    return replay.finding(
        NAME,
        effect,
        Severity.NOTE,
        f"{replay.name} sends {name} again when its message is delivered twice, and {name} repeats its effects.",
        replay.story(effect, f"{name} runs twice, under two message ids"),
        fix=Fix(
            f"make {name} safe to repeat: the second message has an id of its own, so only its arguments can tell that "
            "the work is done",
            Applicability.DISPLAY,
        ),
    )


RULE = Rule(NAME, "IDM503", Severity.NOTE, "replay that sends an unsafe task again", "0.1", check)
