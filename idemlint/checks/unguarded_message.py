"""unguarded-message: a redelivered task writes to a person again."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Fix, Severity
from idemlint.replay import SENT, Finding, Replay

NAME = "unguarded-message"


def check(replay: Replay) -> Iterator[Finding]:
    """One finding a task: whoever mends the first send sees the others."""
    if replay.task is None:
        return
    for effect in replay.external():
        if replay.kind(effect) not in SENT or effect.key is not None:
            continue
        if effect.in_handler or replay.alerts(effect) or replay.guarded(effect):
            continue
        yield replay.finding(
            NAME,
            effect,
            replay.severity(Severity.WARNING),
            f"{replay.name} {replay.does(effect)} again when its message is delivered twice.",
            replay.story(effect, replay.result(effect)),
            fix=Fix(
                "note that it was sent before sending it: a conditional update (filter(sent=False).update(sent=True)) "
                "or an insert under a unique key, and send only if that changed a row",
                Applicability.DISPLAY,
            ),
        )
        return


RULE = Rule(NAME, "IDM104", Severity.WARNING, "mail, SMS, push or chat message sent again on redelivery", "0.1", check)
