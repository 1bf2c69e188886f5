"""process-local-guard: memory of one process, which the next worker does not have."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Fix, Severity, StepKind
from idemlint.domain.guard import Strength
from idemlint.program import Site
from idemlint.replay import Finding, Mark, Replay

NAME = "process-local-guard"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    said: set[Site] = set()
    for effect in replay.unsafe_to_repeat():
        guard = replay.guard(effect)
        if guard is None or guard.strength is not Strength.MUTEX or guard.test is None or guard.test in said:
            continue
        if guard.by is not None and (guard.by.guard is None or guard.by.guard.scope != "process"):
            continue
        said.add(guard.test)
        locked = guard.by is not None
        yield replay.finding(
            NAME,
            effect,
            replay.severity(Severity.WARNING),
            f"{replay.name} {replay.does_words(effect)} under a lock that workers on other machines do not see and "
            "that remembers nothing: a second delivery does it again."
            if locked
            else f"{replay.name} remembers in the memory of its process what it has done: another worker, or the same "
            "one after a restart, does it again.",
            (
                replay.again(effect),
                Mark(
                    StepKind.FIRST,
                    "takes the lock: {code}" if locked else "looks into this process: {code}",
                    guard.test,
                ),
                Mark(StepKind.FIRST, "{code}", effect.site),
                Mark(StepKind.AGAIN, "another process runs {code}", effect.site),
                Mark(StepKind.RESULT, replay.result(effect)),
            ),
            site=guard.test,
            fix=Fix("keep the mark where all workers see it: a unique row in the database", Applicability.DISPLAY),
        )


RULE = Rule(NAME, "IDM706", Severity.WARNING, "set, dict or lock in process memory as the only guard", "0.1", check)
