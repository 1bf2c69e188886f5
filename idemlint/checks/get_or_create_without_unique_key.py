"""get-or-create-without-unique-key: two runs both find nothing and both insert."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.domain.guard import looked_up, takes_itself_away
from idemlint.program import Model
from idemlint.replay import Finding, Mark, Replay

NAME = "get-or-create-without-unique-key"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    for effect in replay.summary.effects:
        model = replay.model(effect)
        if effect.kind not in ("get-or-insert", "upsert") or model is None or not effect.lookup:
            continue
        if any(value.unstable for value in looked_up(effect).values()):
            continue  # each run asks for another row, whatever is unique
        found = replay.coverage(effect)
        if found.key is not None or replay.guarded(effect) or replay.follows_insert(effect):
            continue
        columns = ", ".join(f'"{column}"' for column in dict.fromkeys(lookup.column for lookup in effect.lookup))
        if effect.kind == "upsert" and takes_itself_away(effect):
            yield missed(replay, effect, model)
        elif not found.doubtful and not replay.locked(effect):
            yield twins(replay, effect, model, columns)


def twins(replay: Replay, effect: Effect, model: Model, columns: str) -> Finding:
    return replay.finding(
        NAME,
        effect,
        replay.severity(Severity.ERROR),
        f"{replay.name} looks up {model.title} by columns that no unique key covers: two runs side by side both "
        "find nothing and both insert, and later look-ups find two rows.",
        (
            replay.again(effect),
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


def missed(replay: Replay, effect: Effect, model: Model) -> Finding:
    changed = ", ".join(
        dict.fromkeys(
            lookup.column
            for lookup in effect.lookup
            if any(f"{lookup.column}.".startswith(f"{column}.") for column in effect.written)
        )
    )
    return replay.finding(
        NAME,
        effect,
        replay.severity(Severity.ERROR),
        f"{replay.name} asks for {changed} and changes it in one upsert: a second delivery does not find the "
        f"{model.title} row that the first one wrote, and inserts another.",
        (
            replay.again(effect),
            Mark(StepKind.FIRST, "{code} writes " + changed, effect.site),
            Mark(StepKind.AGAIN, "{code} no longer finds that row", effect.site),
            Mark(StepKind.RESULT, f"two {model.title} rows where one was meant"),
        ),
        confidence=replay.confidence(effect),
        fix=Fix(
            f"look the row up by a unique key alone and insert it first, or do not insert where {changed} decides",
            Applicability.DISPLAY,
        ),
    )


RULE = Rule(NAME, "IDM202", Severity.ERROR, "get_or_create or upsert on columns that are not unique", "0.1", check)
