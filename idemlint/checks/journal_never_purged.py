"""journal-never-purged: one row for each message, for ever."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.replay import Finding, Mark, Replay

NAME = "journal-never-purged"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    said: set[str] = set()
    for effect in replay.summary.effects:
        model = replay.model(effect)
        if model is None or model.name in said or model.name not in replay.journals or effect.kind == "delete":
            continue
        if effect.kind not in ("insert", "get-or-insert") or model.name in replay.program.purged:
            continue
        said.add(model.name)
        yield Finding(
            rule=NAME,
            # A table that only a schema beside the code knows has no place in the code.
            site=model.site if model.site.path else effect.site,
            severity=replay.severity(Severity.NOTE),
            confidence=Confidence.HIGH,
            message=(
                f"{replay.name} adds a row to {model.title} for each piece of work and nothing deletes from it: the "
                "table and its unique index grow until inserts are slow."
            ),
            steps=(
                Mark(StepKind.FIRST, "{code}", effect.site),
                Mark(StepKind.RESULT, "no code deletes, partitions or expires its rows"),
            ),
            fix=Fix(
                "schedule a task that deletes rows older than any redelivery can be, in batches", Applicability.DISPLAY
            ),
            about=model.name,
            task=replay.task.id,
        )


RULE = Rule(NAME, "IDM208", Severity.NOTE, "journal that nothing ever deletes from", "0.1", check)
