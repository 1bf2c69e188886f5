"""append-on-replay: the second run adds the same thing to the end once more."""

import re
from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.domain.guard import Strength, argument, falsifies
from idemlint.program import Site
from idemlint.replay import Finding, Mark, Replay

NAME = "append-on-replay"

# Devices, locks and logs.
QUIET = re.compile(r"^/dev/|\.(lock|pid|log)$")


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    for effect in replay.summary.effects:
        if effect.fresh in ("new", "stored") or replay.guarded(effect, Strength.STATE):
            continue
        if effect.kind == "external":
            if replay.kind(effect) in ("append", "file") and replay.repeats(effect) and not harmless(replay, effect):
                yield finding(replay, effect, effect.site, replay.does(effect))
        elif effect.kind in ("save", "update", "upsert") and not falsifies(effect.lookup, effect):
            for write in effect.writes:
                if write.from_itself == "append" or (
                    write.from_itself == "arithmetic" and not replay.numeric(effect, write.column)
                ):
                    yield finding(replay, effect, write.site, f"appends to {write.column}")


def harmless(replay: Replay, effect: Effect) -> bool:
    """Whether the entry has a stable id of its own, or the list is made anew in each run, or the file is one that only
    operators read or nobody does."""
    keyed = effect.key is not None and not effect.key.value.unstable
    place = argument(effect, effect.row.target) if effect.row is not None else None
    return keyed or bool(place and place.text and QUIET.search(place.text)) or replay.emptied(effect)


def finding(replay: Replay, effect: Effect, site: Site, does: str) -> Finding:
    cause, *told = replay.story(effect, "the same entry stands there twice")
    added = [Mark(StepKind.FIRST, "{code}", site)] if site != effect.site else []
    return replay.finding(
        NAME,
        effect,
        replay.severity(Severity.WARNING),
        f"{replay.name} {does} again when its message is delivered twice.",
        (cause, *added, *told),
        site=site,
        fix=Fix(
            "write to a set or under a key of its own, or append only if a unique row in the same transaction is new",
            Applicability.DISPLAY,
        ),
    )


RULE = Rule(
    NAME, "IDM303", Severity.WARNING, "append to a list, stream, text or file that a replay repeats", "0.1", check
)
