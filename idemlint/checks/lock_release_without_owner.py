"""lock-release-without-owner: whoever comes late deletes the lock of the next one."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.domain.guard import argument
from idemlint.replay import LIFETIMES, Finding, Mark, Replay, same

NAME = "lock-release-without-owner"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    for taken in replay.summary.effects:
        later = replay.released(taken)
        if later is not None and not replay.tested_between(taken, later):
            yield finding(replay, taken, later)
        later = lifetime_after(replay, taken)
        if later is not None:
            yield in_two_steps(replay, taken, later)


def lifetime_after(replay: Replay, taken: Effect) -> Effect | None:
    """The call that gives a lifetime to a mark that was set without one."""
    key = argument(taken, taken.guard.key) if taken.guard is not None else None
    if taken.guard is None or taken.guard.guard != "claim" or taken.guard.expires != "never" or key is None:
        return None
    return next(
        (
            later
            for later in replay.summary.effects[taken.id + 1 :]
            if later.path.rpartition(".")[2] in LIFETIMES
            and replay.same_path(taken, later)
            and same(dict(later.arguments).get("#0"), key)
        ),
        None,
    )


def finding(replay: Replay, taken: Effect, later: Effect) -> Finding:
    return Finding(
        rule=NAME,
        site=later.site,
        severity=replay.severity(Severity.WARNING),
        confidence=Confidence.HIGH,
        message=(
            f"{replay.name} deletes the lock without asking whose it is: when its own has run out, it takes away that "
            "of the run that came after it."
        ),
        steps=(
            Mark(StepKind.FIRST, "takes the lock: {code}", taken.site),
            Mark(StepKind.CUT, "the lock runs out while the work goes on"),
            Mark(StepKind.AGAIN, "a second run takes it: {code}", taken.site),
            Mark(StepKind.FIRST, "the first run ends with {code}", later.site),
            Mark(StepKind.RESULT, "the second run works without a lock, a third one enters"),
        ),
        fix=Fix(
            "store a token of this run in the lock and delete it only if the token is still there, in one step",
            Applicability.DISPLAY,
        ),
        about=later.frames[-1].function,
        task=replay.task.id if replay.task else None,
    )


def in_two_steps(replay: Replay, taken: Effect, later: Effect) -> Finding:
    return Finding(
        rule=NAME,
        site=taken.site,
        severity=replay.severity(Severity.WARNING),
        confidence=Confidence.HIGH,
        message=(
            f"{replay.name} sets the key and gives it a lifetime in two steps: cut between the two, the key never goes "
            "away and every later run finds it taken."
        ),
        steps=(
            Mark(StepKind.FIRST, "sets the key: {code}", taken.site),
            Mark(StepKind.CUT, "before {code}", later.site),
            Mark(StepKind.RESULT, "the work is locked for good"),
        ),
        fix=Fix("set the key and its lifetime in one command: set(key, token, nx=True, ex=60)", Applicability.DISPLAY),
        about=taken.frames[-1].function,
        task=replay.task.id if replay.task else None,
    )


RULE = Rule(NAME, "IDM704", Severity.WARNING, "lock deleted without checking whose it is", "0.1", check)
