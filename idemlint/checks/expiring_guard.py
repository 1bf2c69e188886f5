"""expiring-guard: the mark that stops a repeat ends by itself, the message does not."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.domain.guard import Guard, Strength, expires
from idemlint.program import Site
from idemlint.replay import Finding, Mark, Replay

NAME = "expiring-guard"


def check(replay: Replay) -> Iterator[Finding]:
    """One finding a mark: the first effect that must happen once behind it."""
    if replay.task is None:
        return
    said: set[Site] = set()
    for effect in replay.unsafe_to_repeat():
        guard = replay.guard(effect)
        if guard is None or guard.by is None or guard.by.guard is None or guard.strength is Strength.MUTEX:
            continue
        if replay.retry_stopped(guard.by) is not None:
            continue  # worse than that it expires
        money = replay.stakes(effect) == "money"
        may_be_lost = money and guard.by.guard.scope != "durable"
        if guard.by.site in said or not (expires(guard.by) or may_be_lost) or replay.released(guard.by) is not None:
            continue
        said.add(guard.by.site)
        yield finding(replay, effect, guard, money)


def finding(replay: Replay, effect: Effect, guard: Guard, money: bool) -> Finding:
    assert guard.by is not None
    brief = not money and replay.kind(effect) in ("push", "chat")
    severity = Severity.ERROR if money else Severity.NOTE if brief else Severity.WARNING
    ends = "the mark expires" if expires(guard.by) else "the store is flushed or loses the mark"
    return replay.finding(
        NAME,
        effect,
        replay.severity(severity),
        f"{replay.name} {replay.does_words(effect)} once as long as a mark in the store lives: when it is gone before "
        "the message comes again, it does so twice.",
        (
            replay.again(effect),
            Mark(StepKind.FIRST, "sets the mark: {code}", guard.by.site),
            Mark(StepKind.FIRST, "{code}", effect.site),
            Mark(StepKind.CUT, f"{ends}, then the message comes again"),
            Mark(StepKind.AGAIN, "{code}", effect.site),
            Mark(StepKind.RESULT, replay.result(effect)),
        ),
        site=guard.by.site,
        fix=Fix(
            "keep the mark where it lasts: a unique row in the database, or the provider's idempotency key",
            Applicability.DISPLAY,
        ),
    )


RULE = Rule(NAME, "IDM701", Severity.ERROR, "mark with an expiry as the only guard of an effect", "0.1", check)
