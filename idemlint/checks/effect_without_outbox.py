"""effect-without-outbox: the money has moved before anything in the database says so."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Fix, Severity, StepKind
from idemlint.domain.guard import Strength
from idemlint.replay import Finding, Mark, Replay

NAME = "effect-without-outbox"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    for effect in replay.external():
        if replay.kind(effect) not in ("payment", "provision") or replay.guarded(effect, Strength.STATE):
            continue
        noted = next(
            (
                later
                for later in replay.summary.effects[effect.id + 1 :]
                if later.kind in ("save", "update", "insert") and replay.same_path(effect, later)
            ),
            None,
        )
        intended = any(earlier.changes_data for earlier in replay.summary.effects[: effect.id])
        if noted is None or intended:
            continue
        yield replay.finding(
            NAME,
            effect,
            Severity.NOTE,
            f"{replay.name} {replay.does(effect)} before anything in the database says so: cut between the two, the "
            "provider and the database disagree and nobody knows.",
            (
                Mark(StepKind.FIRST, "{code}", effect.site),
                Mark(StepKind.CUT, "before {code}", noted.site),
                Mark(StepKind.RESULT, "the provider has done it, the database does not know"),
            ),
            fix=Fix(
                "transactional outbox: commit the intent first, and let a task read pending rows, call with a key and "
                "mark each",
                Applicability.DISPLAY,
            ),
        )


RULE = Rule(NAME, "IDM404", Severity.NOTE, "payment whose local record is only written after it", "0.1", check)
