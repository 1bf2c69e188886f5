"""unguarded-increment: atomic, and applied again by the replay."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.domain.effect import Effect, Write
from idemlint.domain.guard import Strength
from idemlint.program import Site
from idemlint.replay import Finding, Mark, Replay

NAME = "unguarded-increment"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    for effect in replay.summary.effects:
        if effect.kind == "external":
            if replay.kind(effect) == "increment" and matters(replay, effect):
                if replay.repeats(effect) and not replay.guarded(effect):
                    counter = replay.counter(effect)
                    yield finding(replay, effect, effect.site, "a stored number" if " " in counter else counter)
            continue
        if effect.kind not in ("save", "update", "upsert"):
            continue
        for write in effect.writes:
            if write.from_itself == "expression-again":
                yield reused(replay, effect, write)
            elif counted(replay, effect, write) and not replay.guarded(effect, enough(replay, effect)):
                if replay.catalog.stakes_of(write.column) != "internal":
                    model = replay.model(effect)
                    column = f"{model.title}.{write.column}" if model is not None else write.column
                    yield finding(replay, effect, write.site, column)


def counted(replay: Replay, effect: Effect, write: Write) -> bool:
    """An increment by the database, or one in Python under a lock: atomic, and no more than that."""
    if write.from_itself == "expression":
        return not replay.version_checked(effect)
    return write.from_itself == "arithmetic" and replay.numeric(effect, write.column) and replay.locked(effect)


def enough(replay: Replay, effect: Effect) -> Strength:
    """A state test is as good as a claim for a write under the row's lock. Where the state commits with the write, a
    second delivery finds it; of two runs side by side others speak."""
    guard = replay.guard(effect)
    together = guard is not None and guard.by is not None and replay.together(guard.by, effect)
    return Strength.STATE if together or replay.locked(effect) else Strength.CLAIM


def matters(replay: Replay, effect: Effect) -> bool:
    """Whether a counter in a store is worth a word. What it counts only its name says, and most count what may be
    counted twice."""
    return replay.catalog.stakes_of(replay.counter(effect)) == "money"


def finding(replay: Replay, effect: Effect, site: Site, column: str) -> Finding:
    money = effect.kind == "external" or replay.catalog.stakes_of(column) == "money"
    return replay.finding(
        NAME,
        effect,
        replay.severity(Severity.ERROR if money else Severity.WARNING, effect),
        f"{replay.name} changes {column} by an amount that a second delivery applies again: "
        + (
            "nothing remembers that it was done."
            if effect.kind == "external"
            else "nothing in the same transaction remembers that it was done."
        ),
        replay.story(effect, f"{column} is changed twice for one piece of work"),
        site=site,
        fix=Fix(
            "keep the number in the database, where a unique row for this piece of work can be committed with it"
            if effect.kind == "external"
            else "insert a row under a unique key for this piece of work in the same transaction, and change the value "
            "only if the row is new",
            Applicability.DISPLAY,
        ),
    )


def reused(replay: Replay, effect: Effect, write: Write) -> Finding:
    return replay.finding(
        NAME,
        effect,
        replay.severity(Severity.WARNING),
        f"{replay.name} saves the row a second time while it still holds an expression over {write.column}: unless the "
        "first save put the stored value in its place, the second applies it again.",
        (
            Mark(StepKind.FIRST, "the expression is assigned: {code}", write.site),
            Mark(StepKind.AGAIN, "{code} writes it once more", effect.site),
            Mark(StepKind.RESULT, f"{write.column} is changed twice in one run"),
        ),
        confidence=Confidence.MEDIUM,
        fix=Fix(
            "call refresh_from_db() after the first save(), or name update_fields in the second", Applicability.DISPLAY
        ),
    )


RULE = Rule(NAME, "IDM302", Severity.ERROR, "atomic increment that a replay applies again", "0.1", check)
