"""read-modify-write: a stored value is read into Python, changed and written back over somebody else's."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.domain.effect import Effect, Write
from idemlint.replay import Finding, Mark, Replay

NAME = "read-modify-write"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    for effect in replay.summary.effects:
        if effect.kind == "external":
            yield from of_store(replay, effect)
        if effect.kind not in ("save", "update") or effect.fresh in ("new", "stored"):
            continue
        if replay.locked(effect) or replay.version_checked(effect):
            continue
        for write in effect.writes:
            if write.from_itself in ("arithmetic", "tally", "item"):
                yield finding(replay, effect, write)


def of_store(replay: Replay, effect: Effect) -> Iterator[Finding]:
    """A number that matters, read from a store and written back. What it counts only its name says."""
    found = replay.read_from(effect)
    if found is None or replay.guard(effect) is not None:
        return
    read, part = found
    name = f"{replay.counter(effect)} {part}".strip()
    if replay.catalog.stakes_of(name) != "money":
        return
    yield replay.finding(
        NAME,
        effect,
        replay.severity(Severity.ERROR),
        f"{replay.name} reads {name}, changes it in Python and stores it again: a run beside it loses one of the two "
        "changes, and a second delivery applies it again.",
        (
            replay.again(),
            Mark(StepKind.FIRST, "{code} gives the stored value", read.site),
            Mark(StepKind.AGAIN, "another run reads the same value before the write", read.site),
            Mark(StepKind.AGAIN, "both write: {code}", effect.site),
            Mark(StepKind.RESULT, "one change is lost, or the same one counts twice"),
        ),
        fix=Fix(
            "keep the number in the database, where a unique row for this piece of work can be committed with it",
            Applicability.DISPLAY,
        ),
    )


def finding(replay: Replay, effect: Effect, write: Write) -> Finding:
    model = replay.model(effect)
    column = f"{model.title}.{write.column}" if model is not None else write.column
    internal = replay.catalog.stakes_of(write.column) == "internal"
    confidence = Confidence.LOW if write.from_itself == "item" else Confidence.HIGH
    return replay.finding(
        NAME,
        effect,
        replay.severity(Severity.WARNING if internal else Severity.ERROR, effect),
        f"{replay.name} reads {column}, changes it in Python and writes it back: a run beside it loses one of the two "
        "changes, and a second delivery applies it again.",
        (
            replay.again(effect),
            Mark(StepKind.FIRST, f"reads {column} and works out {{code}}", write.site),
            Mark(StepKind.AGAIN, f"another run reads the same {column} before the write", write.site),
            Mark(StepKind.AGAIN, "both write: {code}", effect.site),
            Mark(StepKind.RESULT, f"one change of {column} is lost, or the same one counts twice"),
        ),
        site=write.site,
        confidence=min(confidence, replay.confidence(effect)),
        fix=Fix(
            f"let the database count, {replay.remedy(effect, 'count', column=write.column)}, or lock the row with "
            f"{replay.remedy(effect, 'lock')} in the same transaction",
            Applicability.DISPLAY,
        ),
    )


RULE = Rule(NAME, "IDM301", Severity.ERROR, "stored value read, changed in Python and written back", "0.1", check)
