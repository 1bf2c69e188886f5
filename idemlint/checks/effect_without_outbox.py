"""effect-without-outbox: the money moves on one side, the other side does not know."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.domain.guard import Strength
from idemlint.replay import Finding, Mark, Replay

NAME = "effect-without-outbox"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    for effect in replay.external():
        if replay.kind(effect) not in ("payment", "provision"):
            continue
        noted = noted_after(replay, effect)
        decided = decided_before(replay, effect)
        if decided is not None:
            yield finding(
                replay,
                effect,
                f"{replay.name} commits first and then, in a commit hook, {replay.does(effect)}: cut between the two, "
                "the next delivery finds the work done and nobody ever asks the provider.",
                (
                    Mark(StepKind.FIRST, "{code} is committed", decided.site),
                    Mark(StepKind.CUT, "before the hook: {code}", effect.site),
                    Mark(StepKind.RESULT, "the database says it is done, the provider was never asked"),
                ),
            )
        elif noted is not None:
            yield finding(
                replay,
                effect,
                f"{replay.name} {replay.does(effect)} before anything in the database says so: cut between the two, "
                "the provider and the database disagree and nobody knows.",
                (
                    Mark(StepKind.FIRST, "{code}", effect.site),
                    Mark(StepKind.CUT, "before {code}", noted.site),
                    Mark(StepKind.RESULT, "the provider has done it, the database does not know"),
                ),
            )


def noted_after(replay: Replay, effect: Effect) -> Effect | None:
    """What a call is remembered by, where nothing was stored before it. A second delivery that asks again with the same
    key puts that right."""
    again = replay.delivery is not None and replay.delivery.late_ack is not False
    if (again and effect.key is not None) or replay.guarded(effect, Strength.STATE):
        return None
    if any(earlier.changes_data for earlier in replay.summary.effects[: effect.id]):
        return None
    for later in replay.summary.effects[effect.id + 1 :]:
        if later.kind in ("save", "update", "insert", "get-or-insert", "upsert") and replay.same_path(effect, later):
            return later
    return None


def decided_before(replay: Replay, effect: Effect) -> Effect | None:
    """The write that keeps a second run from a call which only a commit hook makes."""
    guard = replay.guard(effect)
    if not effect.deferred or guard is None or guard.strength < Strength.STATE:
        return None
    return guard.by if guard.by is not None and guard.by.transactions else None


def finding(replay: Replay, effect: Effect, message: str, steps: tuple[Mark, ...]) -> Finding:
    return replay.finding(
        NAME,
        effect,
        Severity.NOTE,
        message,
        steps,
        fix=Fix(
            "transactional outbox: commit the intent first, and let a task read pending rows, call with a key and mark "
            "each",
            Applicability.DISPLAY,
        ),
    )


RULE = Rule(NAME, "IDM404", Severity.NOTE, "payment whose local record is only written after it", "0.1", check)
