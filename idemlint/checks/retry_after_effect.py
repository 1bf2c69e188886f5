"""retry-after-effect: the task's own retry repeats what it has already done."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.delivery import Retry
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.program import Site
from idemlint.replay import Finding, Mark, Replay

NAME = "retry-after-effect"

# What a failure that says nothing about the outcome may be raised as: the request may have been carried out.
_ANY = frozenset(
    {
        "builtins.Exception",
        "builtins.BaseException",
        "builtins.OSError",
        "builtins.ConnectionError",
        "builtins.TimeoutError",
    }
)


def check(replay: Replay) -> Iterator[Finding]:
    """One finding a task."""
    if replay.task is None or replay.delivery is None:
        return
    for retry in replay.delivery.retries:
        site = retry.site or replay.task.declared
        for effect in replay.repeated():
            if triggers(replay, retry, effect):
                yield finding(replay, retry, effect, site)
                return


def triggers(replay: Replay, retry: Retry, effect: Effect) -> bool:
    """Whether the retry can come after the effect has happened."""
    if retry.kind == "call":
        call = next(
            (other for other in replay.summary.effects if other.kind == "retry" and other.site == retry.site), None
        )
        if call is None or call.id <= effect.id or not replay.same_path(effect, call):
            return False
        return not (call.in_handler and refusal(replay, effect, call))
    quiet = replay.summary.quiet
    if retry.kind != "exception" or (quiet is not None and effect.id >= quiet):
        return False
    if not retry.on or _ANY & set(retry.on):
        return True
    if any(same_library(name, effect) and replay.ambiguous(name) for name in retry.on):
        return True
    later = (other for other in replay.summary.effects if follows(replay, effect, other) and not other.handled)
    return any(same_library(name, other) for other in later for name in retry.on)


def same_library(exception: str, call: Effect) -> bool:
    """Whether a call may raise an exception: those of its library."""
    return call.kind == "external" and exception.partition(".")[0] == call.path.partition(".")[0]


def follows(replay: Replay, effect: Effect, other: Effect) -> bool:
    """Whether `other` comes after an effect, be it in the next turn of a loop."""
    if not replay.same_path(effect, other):
        return False
    return other.id > effect.id or bool(set(effect.loops) & set(other.loops))


def refusal(replay: Replay, effect: Effect, call: Effect) -> bool:
    """Whether the handler that asks for a retry is one for errors by which the other side refuses the effect itself: no
    later call of that library can have raised them."""
    library = effect.path.partition(".")[0]
    between = replay.summary.effects[effect.id + 1 : call.id]
    return not any(replay.ambiguous(name) for name in call.handling) and not any(
        other.path.partition(".")[0] == library for other in between
    )


def finding(replay: Replay, retry: Retry, effect: Effect, site: Site) -> Finding:
    cause = (
        next((cause for cause in replay.delivery.causes if cause.site == retry.site), None) if replay.delivery else None
    )
    assert replay.task is not None
    # The option may stand in a dict far away: the finding stands where this task takes it.
    anchor = site if retry.kind == "call" else replay.task.declared
    return Finding(
        rule=NAME,
        site=anchor,
        severity=replay.severity(Severity.ERROR),
        confidence=min(Confidence.HIGH, replay.confidence(effect)),
        message=(
            f"{replay.name} is retried after {replay.effect_words(effect)}: a time-out or a later error runs it again, "
            f"and {replay.result(effect)}."
        ),
        steps=(
            Mark(StepKind.CAUSE, cause.text if cause is not None else "it is run again on an error", retry.site),
            Mark(StepKind.FIRST, "{code} takes effect", effect.site),
            Mark(StepKind.CUT, "the answer is lost, or a later line raises"),
            Mark(StepKind.AGAIN, "{code}", effect.site),
            Mark(StepKind.RESULT, replay.result(effect)),
        ),
        fix=Fix(
            "retry only what happens before the effect, or make the effect safe to repeat: a stable key, or a claim",
            Applicability.DISPLAY,
        ),
        about=replay.task.id,
        task=replay.task.id,
    )


RULE = Rule(NAME, "IDM504", Severity.ERROR, "automatic retry that repeats an effect", "0.1", check)
