"""integrity-error-in-transaction: the database has given the transaction up, the code goes on in it."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.domain.summary import Caught
from idemlint.replay import Finding, Mark, Replay

NAME = "integrity-error-in-transaction"

# A look-up that inserts has a savepoint of its own; a delete is refused before the database is asked.
BREAKS = frozenset({"insert", "save", "update"})


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    for caught in replay.summary.caught:
        inside = [effect for effect in replay.summary.effects if effect.id in caught.effects and effect.kind in BREAKS]
        broken = next((effect for effect in inside if effect.transactions == caught.transactions), None)
        if broken is None or not caught.transactions or caught.raises:
            continue
        after = [effect for effect in replay.summary.effects if goes_on(caught, broken, effect)]
        if not after and caught.again:
            after = [broken]
        if not after:
            continue
        used = next((effect for effect in after if not tested(broken, effect)), after[0])
        yield Finding(
            rule=NAME,
            site=caught.site,
            severity=replay.severity(Severity.ERROR),
            confidence=Confidence.LOW if tested(broken, used) else Confidence.HIGH,
            message=(
                f"{replay.name} catches the integrity error inside the open transaction and goes on in it: the "
                "database has given that transaction up, so the next query fails and every delivery ends the same way."
            ),
            steps=(
                replay.again(broken),
                Mark(StepKind.FIRST, "{code}", broken.site),
                Mark(StepKind.AGAIN, "{code} is refused: the row of the first run is there", broken.site),
                Mark(StepKind.AGAIN, "the error is caught, the transaction stays broken: {code}", caught.site),
                Mark(StepKind.AGAIN, "{code} raises: the transaction can only be rolled back", used.site),
                Mark(StepKind.RESULT, "all that this run wrote is rolled back, and the next ends the same way"),
            ),
            fix=Fix(
                f"wrap only the statement that may fail in a {replay.remedy(broken, 'savepoint')} block of its own "
                "inside the try: a savepoint",
                Applicability.DISPLAY,
            ),
            about=caught.function,
            task=replay.task.id,
        )


def goes_on(caught: Caught, broken: Effect, effect: Effect) -> bool:
    """Whether an effect needs the transaction after it was given up. What only happens where the insert succeeded does
    not; of another write nothing tells where it succeeded, so only the handler itself counts."""
    if effect.id <= broken.id or effect.id in caught.effects or effect.kind in ("external", "enqueue", "retry"):
        return False
    if effect.transactions[: len(caught.transactions)] != caught.transactions:
        return False
    if broken.kind != "insert" or broken.many:
        return effect.in_handler
    return not any(fact.kind == "inserted" and fact.subject == broken.id for fact in effect.facts)


def tested(broken: Effect, effect: Effect) -> bool:
    """Whether a later test decides about an effect: it may ask a name that the handler has set."""
    arms = [node for node in effect.address if node[0] == "arm"]
    return not effect.in_handler and any(node not in broken.address for node in arms)


RULE = Rule(NAME, "IDM205", Severity.ERROR, "integrity error caught inside an open transaction", "0.1", check)
