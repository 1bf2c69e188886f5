"""check-then-create: the test and the insert are two steps, and two runs take the first one together."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.program import Model, Site
from idemlint.replay import Finding, Mark, Replay

NAME = "check-then-create"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    for effect in replay.summary.effects:
        model = replay.model(effect)
        if effect.kind != "insert" or model is None or replay.locked(effect) or replay.guarded(effect):
            continue
        found = replay.coverage(effect)
        if found.key is not None or found.doubtful or replay.follows_insert(effect) or replay.kept_apart(effect):
            continue
        test = replay.absence_test(effect)
        if test is not None:
            yield finding(replay, effect, model, test, "tests for")
            continue
        cleared = replay.cleared_before(effect)
        if cleared is not None and not replay.follows_insert(cleared):
            yield finding(replay, effect, model, cleared.site, "deletes")


def finding(replay: Replay, effect: Effect, model: Model, site: Site, how: str) -> Finding:
    return replay.finding(
        NAME,
        effect,
        replay.severity(Severity.WARNING),
        f"{replay.name} {how} {model.title} rows and then inserts: two runs side by side pass the first step together "
        "and both insert, and no unique key stops the second.",
        (
            replay.again(effect),
            Mark(StepKind.FIRST, "{code}", site),
            Mark(StepKind.AGAIN, "a run beside it does the same before the insert", site),
            Mark(StepKind.AGAIN, "both insert: {code}", effect.site),
            Mark(StepKind.RESULT, f"the {model.title} rows are there twice"),
        ),
        site=site,
        fix=Fix(
            f"add a unique constraint to {model.title} and handle the conflict, or lock a parent row that both runs "
            f"take with {replay.remedy(effect, 'lock')} first",
            Applicability.DISPLAY,
        ),
    )


RULE = Rule(
    NAME, "IDM203", Severity.WARNING, "existence test or delete, then insert, with nothing between runs", "0.1", check
)
