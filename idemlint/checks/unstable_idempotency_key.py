"""unstable-idempotency-key: each run makes another key, so no repeat is recognised."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.domain.guard import Strength, argument
from idemlint.domain.summary import KeyUse
from idemlint.domain.value import Origin
from idemlint.program import Site
from idemlint.replay import Finding, Mark, Replay

NAME = "unstable-idempotency-key"

_WORDS = {
    "clock": "the time of the run",
    "random": "a random value",
    "attempt": "the number of the attempt",
    "response": "the answer of a call that is made again",
    "fresh": "the primary key or default of a row inserted in this run",
    "changed": "a column that this run changes",
    "process": "something of this process",
}


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    said = set()
    for use in replay.summary.keys:
        origin = next((origin for origin in use.key.value.unstable if origin.kind in _WORDS), None)
        if origin is None:
            continue
        site = entrance(use, origin)
        if site in said:
            continue
        said.add(site)
        yield Finding(
            rule=NAME,
            site=site,
            severity=replay.severity(Severity.ERROR),
            confidence=Confidence.HIGH,
            message=(
                f"{replay.name} makes '{use.key.name}' from {_WORDS[origin.kind]}, so a second delivery carries "
                "another key and is not recognised as a repeat."
            ),
            steps=story(replay, use, origin),
            fix=fix(replay),
            subject=replay.effect_with(use.key),
            about=use.frames[-1].function,
            task=replay.task.id,
        )
    yield from objects(replay)


def objects(replay: Replay) -> Iterator[Finding]:
    """Objects that are stored under another name in each run. A time in the name may be meant; chance is not."""
    for effect in replay.summary.effects:
        row = effect.row
        if (
            row is None
            or replay.kind(effect) != "object"
            or effect.in_handler
            or replay.guarded(effect, Strength.STATE)
        ):
            continue
        name = argument(effect, row.target)
        drawn = (
            next((origin for origin in name.unstable if origin.kind == "random"), None) if name is not None else None
        )
        if drawn is None:
            continue
        site = drawn.site or effect.site
        yield replay.finding(
            NAME,
            effect,
            replay.severity(Severity.WARNING),
            f"{replay.name} stores the object under a random name, so a second delivery stores another one beside it.",
            (
                replay.again(effect),
                Mark(StepKind.FIRST, "{code} gives one name", site),
                Mark(StepKind.FIRST, "{code}", effect.site),
                Mark(StepKind.AGAIN, "{code} gives another", site),
                Mark(StepKind.RESULT, replay.result(effect)),
            ),
            site=site,
            confidence=min(Confidence.MEDIUM, replay.confidence(effect)),
            fix=fix(replay),
        )


def entrance(use: KeyUse, origin: Origin) -> Site:
    """Where the unstable part enters the key: where it is drawn or, where it was made for another end, where the key
    is made of it."""
    if origin.site is not None and origin.kind in ("clock", "random", "attempt"):
        return origin.site
    return use.key.value.site or use.key.site


def story(replay: Replay, use: KeyUse, origin: Origin) -> tuple[Mark, ...]:
    site = entrance(use, origin)
    return (
        replay.again(),
        Mark(StepKind.FIRST, "{code} gives one key", site),
        Mark(StepKind.FIRST, f"sent as '{use.key.name}'", use.key.site),
        Mark(StepKind.AGAIN, "{code} gives another", site),
        Mark(StepKind.RESULT, "the receiver sees two different orders and carries out both"),
    )


def fix(replay: Replay) -> Fix:
    identity = replay.identity()
    key = f'f"{replay.short_name}-{identity}"' if identity is not None else "the task's arguments"
    return Fix(f"derive the key from what stays the same on redelivery, such as {key}", Applicability.DISPLAY)


RULE = Rule(NAME, "IDM102", Severity.ERROR, "idempotency key that differs from run to run", "0.1", check)
