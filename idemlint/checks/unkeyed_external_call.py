"""unkeyed-external-call: a redelivered task makes the outside call again."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Fix, Severity
from idemlint.domain.effect import Effect
from idemlint.replay import CALLED, Finding, Replay

NAME = "unkeyed-external-call"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    for effect in replay.external():
        if replay.kind(effect) not in CALLED or keyed(effect) or replay.guarded(effect):
            continue
        money = replay.stakes(effect) == "money"
        yield replay.finding(
            NAME,
            effect,
            replay.severity(Severity.ERROR if money else Severity.WARNING, effect),
            f"{replay.name} {replay.does(effect)} again when its message is delivered twice.",
            replay.story(effect, replay.result(effect)),
            fix=fix(replay, effect),
        )


def keyed(effect: Effect) -> bool:
    """A key that is stable makes the provider drop the repeat; one that nobody can judge is not accused."""
    return effect.key is not None


def fix(replay: Replay, effect: Effect) -> Fix:
    template = effect.row.fix if effect.row is not None else None
    identity = replay.identity()
    if template is not None and identity is not None:
        return Fix(template.replace("{key}", f'f"{replay.short_name}-{identity}"'), Applicability.DISPLAY)
    return Fix(
        "claim the work first: a conditional update or an insert under a unique key, committed before the call",
        Applicability.DISPLAY,
    )


RULE = Rule(NAME, "IDM101", Severity.ERROR, "outside call repeated on redelivery, without a key or claim", "0.1", check)
