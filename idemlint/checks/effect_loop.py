"""effect-loop: a cut in the middle makes the next run start at the first item again."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.domain.guard import Strength
from idemlint.replay import CALLED, SENT, Finding, Mark, Replay

NAME = "effect-loop"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    for effect in replay.summary.effects:
        loop = next((loop for loop in replay.loops(effect) if loop.items), None)
        if loop is None or effect.in_handler:
            continue
        if effect.kind == "enqueue":
            harmful = effect.enqueue is not None and not replay.harmful.isdisjoint(effect.enqueue.tasks)
        else:
            harmful = (
                effect.kind == "external"
                and replay.kind(effect) in CALLED | SENT
                and replay.repeats(effect)
                and effect.key is None
                and not replay.alerts(effect)
            )
        if not harmful or progresses(replay, effect):
            continue
        yield replay.finding(
            NAME,
            effect,
            replay.severity(Severity.WARNING),
            f"{replay.name} works through its items without noting which are done: a cut in the middle makes the next "
            "delivery start at the first one again.",
            (
                replay.again(effect),
                Mark(StepKind.FIRST, "for each item: {code}", effect.site),
                Mark(StepKind.CUT, "in the middle of the loop"),
                Mark(StepKind.AGAIN, "{code}, from the first item on", effect.site),
                Mark(StepKind.RESULT, "everything before the cut happens twice"),
            ),
            fix=Fix(
                "send one task for each item, or claim each item with a conditional update before its effect",
                Applicability.DISPLAY,
            ),
        )


def progresses(replay: Replay, effect: Effect) -> bool:
    """Whether each turn leaves something behind by which the next run knows that it is done. What is written for all of
    them after the loop does not."""
    if replay.guarded(effect):
        return True
    guard = replay.guard(effect)
    if guard is None or guard.by is None or guard.strength is not Strength.STATE:
        return False
    return guard.by.id < effect.id or any(("loop", number) in guard.by.address for number in effect.loops)


RULE = Rule(NAME, "IDM502", Severity.WARNING, "loop of outside effects without progress noted per item", "0.1", check)
