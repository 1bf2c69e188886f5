"""replayed-steps: a task of several steps that starts again from the first."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.program import Site
from idemlint.replay import Finding, Mark, Replay

NAME = "replayed-steps"


def check(replay: Replay) -> Iterator[Finding]:
    """One finding a task: the first step that repeats, and a later one that can fail."""
    if replay.task is None:
        return
    for first in replay.repeated():
        found = next(
            (
                (later, sites)
                for later in replay.steps()
                if later.id > first.id and replay.same_path(first, later) and (sites := told_apart(first, later))
            ),
            None,
        )
        if found is None:
            continue
        second, (step, next_step) = found
        yield Finding(
            rule=NAME,
            site=replay.task.site,
            severity=replay.severity(Severity.WARNING),
            confidence=min(Confidence.HIGH, replay.confidence(first), replay.confidence(second)),
            message=(
                f"{replay.name} is made of several steps: when a later one fails or is cut, the next delivery repeats "
                "the earlier ones."
            ),
            steps=(
                replay.again(first),
                Mark(StepKind.FIRST, "{code}", step),
                Mark(StepKind.CUT, "in or before {code}", next_step),
                Mark(StepKind.AGAIN, "{code}", step),
                Mark(StepKind.RESULT, replay.result(first)),
            ),
            fix=Fix(
                "make each step a task of its own, or note each step done before the next one starts",
                Applicability.DISPLAY,
            ),
            about=replay.task.id,
            task=replay.task.id,
        )
        return


def told_apart(one: Effect, other: Effect) -> tuple[Site, Site] | None:
    """The places of two steps. Where both are one line of a helper, they are steps if they are requests to different
    addresses, and stand where the calls do that lead there; None if they may be the same thing."""
    if one.site != other.site:
        return one.site, other.site
    if one.url == other.url:
        return None
    ways = zip(one.frames, other.frames, strict=False)
    return next(((here.site, there.site) for here, there in ways if here.site != there.site), None)


RULE = Rule(
    NAME,
    "IDM501",
    Severity.WARNING,
    "several outside effects in one task that starts again from the first",
    "0.1",
    check,
)
