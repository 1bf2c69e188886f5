"""external-call-in-transaction: what was sent outside stays when the transaction rolls back."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.domain.summary import SESSION, Transaction
from idemlint.replay import CALLED, SENT, Finding, Mark, Replay

NAME = "external-call-in-transaction"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None and not replay.project_scope:
        return
    for effect in replay.external():
        around = replay.transaction(effect)
        if around is None or effect.deferred or replay.kind(effect) not in CALLED | SENT:
            continue
        if replay.put_around(around) and not replay.writes_beside(effect):
            continue
        who = replay.name or effect.frames[0].name
        yield replay.finding(
            NAME,
            effect,
            Severity.ERROR,
            f"{who} {replay.does(effect)} while a database transaction is open: a rollback undoes the record of it but "
            "not the call, and the next delivery makes it again.",
            (
                *((replay.again(effect),) if replay.task is not None else ()),
                Mark(StepKind.CAUSE, "the transaction opens: {code}", around.site),
                *(Mark(StepKind.FIRST, "{code}", frame.site) for frame in effect.frames[:-1][:2]),
                Mark(StepKind.FIRST, "{code} goes out", effect.site),
                Mark(StepKind.CUT, "before the transaction commits: what it wrote is rolled back"),
                Mark(StepKind.AGAIN, "{code}", effect.site),
                Mark(StepKind.RESULT, f"{replay.result(effect)}, and rows stay locked while the call is under way"),
            ),
            confidence=confidence(replay, effect),
            fix=fix(around),
        )


def confidence(replay: Replay, effect: Effect) -> Confidence:
    """How sure it is that the call goes out there: which of several implementations it is may hang on a setting."""
    if replay.unheard(effect):
        return Confidence.LOW
    return Confidence.HIGH.lowered() if effect.indirect else Confidence.HIGH


def fix(around: Transaction) -> Fix:
    if around.text == SESSION:
        return Fix("make the call after the session has committed", Applicability.DISPLAY)
    return Fix(
        "make the call after the commit: move it behind the block, or into transaction.on_commit(...)",
        Applicability.DISPLAY,
    )


RULE = Rule(NAME, "IDM401", Severity.ERROR, "outside call while a database transaction is open", "0.1", check)
