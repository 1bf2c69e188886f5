"""racy-state-check: two runs pass the test before either has written what it reads."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Fix, Severity, StepKind
from idemlint.domain.guard import Strength
from idemlint.program import Site
from idemlint.replay import Finding, Mark, Replay

NAME = "racy-state-check"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    said: set[Site] = set()
    for effect in replay.summary.effects:
        guard = replay.guard(effect)
        if guard is None or guard.strength is not Strength.STATE or guard.test is None or guard.by is None:
            continue
        if guard.by.id < effect.id and not replay.together(guard.by, effect):
            continue
        # Of a test that a row is there the rules on inserts speak.
        if guard.by.kind in ("insert", "get-or-insert", "upsert") or guard.test in said:
            continue
        if replay.locked(effect) or replay.undone(effect) or not replay.doubles(effect):
            continue
        said.add(guard.test)
        yield replay.finding(
            NAME,
            effect,
            replay.severity(Severity.WARNING),
            f"{replay.name} tests a state and writes the next one in two steps: two runs side by side pass the test "
            "together, and both do what stands between.",
            (
                replay.again(effect),
                Mark(StepKind.FIRST, "{code} lets the first run pass", guard.test),
                Mark(StepKind.AGAIN, "a run beside it passes too", guard.test),
                Mark(StepKind.AGAIN, "both: {code}", effect.site),
                Mark(StepKind.CUT, "neither sees the state that the other writes: {code}", guard.by.site),
                Mark(StepKind.RESULT, "what stands between happens twice"),
            ),
            site=guard.test,
            fix=Fix(
                f"take the row with {replay.remedy(guard.by, 'lock')} inside the transaction, or claim it with one "
                "conditional update and go on only if that changed a row",
                Applicability.DISPLAY,
            ),
        )


RULE = Rule(
    NAME, "IDM304", Severity.WARNING, "state tested and written in two steps, with an effect between", "0.1", check
)
