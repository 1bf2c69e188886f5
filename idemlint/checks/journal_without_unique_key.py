"""journal-without-unique-key: a table of what was done that lets the same thing in twice."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Fix, Severity, StepKind
from idemlint.replay import Finding, Mark, Replay

NAME = "journal-without-unique-key"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    for effect in replay.summary.effects:
        model = replay.model(effect)
        if effect.kind != "insert" or model is None or model.name not in replay.journals or replay.locked(effect):
            continue
        test = replay.absence_test(effect)
        found = replay.coverage(effect)
        if test is None or found.key is not None or found.doubtful:
            continue
        yield replay.finding(
            NAME,
            effect,
            replay.severity(Severity.ERROR),
            f"{replay.name} asks {model.title} whether the work was done, but no unique key keeps the same entry out: "
            "two runs side by side both find nothing and both do the work.",
            (
                replay.again(effect),
                Mark(StepKind.FIRST, "{code} finds no entry", test),
                Mark(StepKind.AGAIN, "a run beside it finds none either", test),
                Mark(StepKind.AGAIN, "both note it: {code}", effect.site),
                Mark(StepKind.RESULT, "the work is done twice, and noted twice"),
            ),
            site=test,
            fix=Fix(
                f"make the key column of {model.title} unique and insert before the work, in its transaction",
                Applicability.DISPLAY,
            ),
        )


RULE = Rule(NAME, "IDM207", Severity.ERROR, "journal that is tested, without a unique key", "0.1", check)
