"""unhandled-duplicate: a unique key stops the second row and nobody handles that."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Fix, Severity, StepKind
from idemlint.domain.guard import Strength
from idemlint.replay import Finding, Mark, Replay, one

NAME = "unhandled-duplicate"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    for effect in replay.summary.effects:
        model = replay.model(effect)
        if effect.kind != "insert" or model is None or effect.conflict or replay.handles_conflict(effect):
            continue
        found = replay.coverage(effect)
        if found.key is None or replay.guarded(effect, Strength.STATE) or replay.absence_test(effect) is not None:
            continue
        if effect.unsure or replay.follows_insert(effect) or replay.cleared_before(effect) is not None:
            continue
        retried = replay.delivery is not None and bool(replay.delivery.retries)
        yield replay.finding(
            NAME,
            effect,
            replay.severity(Severity.WARNING if retried else Severity.NOTE),
            f"{replay.name} inserts {one(model.title)} under a unique key and does not handle the conflict: "
            + ("each retry fails on it again." if retried else "a second delivery fails there instead of finishing."),
            (
                replay.again(effect),
                Mark(StepKind.FIRST, "{code}", effect.site),
                Mark(StepKind.AGAIN, "{code} hits the unique key over " + ", ".join(found.key.columns), effect.site),
                Mark(StepKind.RESULT, "the task fails, and what follows the insert is never done"),
            ),
            fix=Fix(
                f"insert with {replay.remedy(effect, 'insert-once')}, or catch the conflict around a savepoint of its "
                "own and go on",
                Applicability.DISPLAY,
            ),
        )


RULE = Rule(NAME, "IDM204", Severity.NOTE, "unique key whose conflict nobody handles", "0.1", check)
