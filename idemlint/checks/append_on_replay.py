"""append-on-replay: the second run adds the same thing to the end once more."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Fix, Severity
from idemlint.domain.effect import Effect
from idemlint.domain.guard import Strength
from idemlint.program import Site
from idemlint.replay import Finding, Replay

NAME = "append-on-replay"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    for effect in replay.summary.effects:
        if effect.fresh in ("new", "stored") or replay.guarded(effect, Strength.STATE):
            continue
        if effect.kind == "external" and replay.kind(effect) == "append" and replay.repeats(effect):
            yield finding(replay, effect, effect.site, replay.does(effect))
        elif effect.kind in ("save", "update"):
            for write in effect.writes:
                if write.from_itself == "append" or (
                    write.from_itself == "arithmetic" and not replay.numeric(effect, write.column)
                ):
                    yield finding(replay, effect, write.site, f"appends to {write.column}")


def finding(replay: Replay, effect: Effect, site: Site, does: str) -> Finding:
    return replay.finding(
        NAME,
        effect,
        replay.severity(Severity.WARNING),
        f"{replay.name} {does} again when its message is delivered twice.",
        replay.story(effect, "the same entry stands there twice"),
        site=site,
        fix=Fix(
            "write to a set or under a key of its own, or append only if a unique row in the same transaction is new",
            Applicability.DISPLAY,
        ),
    )


RULE = Rule(
    NAME, "IDM303", Severity.WARNING, "append to a list, stream, text or file that a replay repeats", "0.1", check
)
