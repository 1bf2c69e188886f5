"""integrity-error-in-transaction: the database has given the transaction up, the code goes on in it."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.replay import Finding, Mark, Replay

NAME = "integrity-error-in-transaction"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    for caught in replay.summary.caught:
        inside = [effect for effect in replay.summary.effects if effect.id in caught.effects and effect.changes_data]
        broken = next((effect for effect in inside if effect.transactions == caught.transactions), None)
        if broken is None or not caught.transactions or caught.raises:
            continue
        used = next(
            (
                effect
                for effect in replay.summary.effects
                if effect.id > broken.id
                and effect.id not in caught.effects
                and effect.kind not in ("external", "enqueue", "retry")
                and effect.transactions[: len(caught.transactions)] == caught.transactions
            ),
            None,
        )
        if used is None:
            continue
        yield Finding(
            rule=NAME,
            site=caught.site,
            severity=replay.severity(Severity.ERROR),
            confidence=Confidence.HIGH,
            message=(
                f"{replay.name} catches the integrity error inside the open transaction and goes on in it: the "
                "database has given that transaction up, so the next query fails and every delivery ends the same way."
            ),
            steps=(
                replay.again(),
                Mark(StepKind.FIRST, "{code} fails on the row of the first run", broken.site),
                Mark(StepKind.FIRST, "the error is caught, the transaction stays broken: {code}", caught.site),
                Mark(StepKind.AGAIN, "{code} raises: the transaction can only be rolled back", used.site),
                Mark(StepKind.RESULT, "all that the task wrote is rolled back, on every delivery"),
            ),
            fix=Fix(
                "wrap only the statement that may fail in a transaction.atomic() block of its own inside the try: a "
                "savepoint",
                Applicability.DISPLAY,
            ),
            about=caught.function,
            task=replay.task.id,
        )


RULE = Rule(NAME, "IDM205", Severity.ERROR, "integrity error caught inside an open transaction", "0.1", check)
