"""get-or-create-without-unique-key: two runs both find nothing and both insert."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.replay import Finding, Mark, Replay

NAME = "get-or-create-without-unique-key"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    for effect in replay.summary.effects:
        model = replay.model(effect)
        if effect.kind not in ("get-or-insert", "upsert") or model is None or not effect.lookup:
            continue
        found = replay.coverage(effect)
        if found.key is not None or found.doubtful or replay.locked(effect) or replay.guarded(effect):
            continue
        if replay.follows_insert(effect):
            continue
        columns = ", ".join(f'"{column}"' for column in dict.fromkeys(lookup.column for lookup in effect.lookup))
        yield replay.finding(
            NAME,
            effect,
            replay.severity(Severity.ERROR),
            f"{replay.name} looks up {model.title} by columns that no unique key covers: two runs side by side both "
            "find nothing and both insert, and later look-ups find two rows.",
            (
                replay.again(),
                Mark(StepKind.FIRST, "{code} finds no row", effect.site),
                Mark(StepKind.AGAIN, "a run beside it finds no row either", effect.site),
                Mark(
                    StepKind.RESULT,
                    f"two {model.title} rows; from then on the look-up raises " + replay.remedy(effect, "found-twice"),
                ),
            ),
            confidence=min(Confidence.HIGH, replay.confidence(effect)),
            fix=Fix(f"add a unique constraint to {model.title} over [{columns}]", Applicability.DISPLAY),
        )


RULE = Rule(NAME, "IDM202", Severity.ERROR, "get_or_create or upsert on columns that are not unique", "0.1", check)
