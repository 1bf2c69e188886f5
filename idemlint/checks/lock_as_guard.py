"""lock-as-guard: a lock keeps runs apart, it does not remember that one has been."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Fix, Severity, StepKind
from idemlint.domain.guard import Strength
from idemlint.program import Site
from idemlint.replay import Finding, Mark, Replay

NAME = "lock-as-guard"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    said: set[Site] = set()
    for effect in replay.unsafe_to_repeat():
        guard = replay.guard(effect)
        if guard is None or guard.by is None or guard.by.guard is None or guard.by.site in said:
            continue
        if guard.strength is not Strength.MUTEX and replay.released(guard.by) is None:
            continue
        if guard.by.guard.scope == "process" or replay.absence_test(effect) is not None:
            continue
        said.add(guard.by.site)
        yield replay.finding(
            NAME,
            effect,
            replay.severity(Severity.WARNING),
            f"{replay.name} holds a lock while it {replay.does_words(effect)}: the lock keeps two runs "
            "apart, but a second delivery after its release does the same again.",
            (
                replay.again(effect),
                Mark(StepKind.FIRST, "takes the lock: {code}", guard.by.site),
                Mark(StepKind.FIRST, "{code}", effect.site),
                Mark(StepKind.CUT, "the lock is released, the message is not yet acknowledged"),
                Mark(StepKind.AGAIN, "{code}", effect.site),
                Mark(StepKind.RESULT, replay.result(effect)),
            ),
            site=guard.by.site,
            fix=Fix(
                "remember that the work was done, under the lock: a unique row or a state that the next run tests",
                Applicability.DISPLAY,
            ),
        )


RULE = Rule(NAME, "IDM702", Severity.WARNING, "lock that is released as the only guard against a replay", "0.1", check)
