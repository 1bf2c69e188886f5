"""journal-apart-from-effect: the mark commits alone, and a cut leaves it without the work, or the work without it."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.program import Site
from idemlint.replay import Finding, Mark, Replay

NAME = "journal-apart-from-effect"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    said: set[Site] = set()
    for effect in replay.summary.effects:
        mark = replay.journal_mark(effect)
        if mark is None or not effect.changes_data or replay.together(mark, effect):
            continue
        site = replay.commit_of(mark)
        if site not in said:
            said.add(site)
            yield finding(replay, effect, mark, site)


def finding(replay: Replay, effect: Effect, mark: Effect, site: Site) -> Finding:
    model = replay.model(mark)
    title = model.title if model is not None else "the mark"
    return replay.finding(
        NAME,
        effect,
        replay.severity(Severity.ERROR),
        f"{replay.name} commits {title} apart from the change that it stands for: cut between the two, the next "
        "delivery finds the mark and skips work that was never done.",
        (
            replay.again(),
            Mark(StepKind.FIRST, "marks it as done: {code}", mark.site),
            Mark(StepKind.FIRST, "the mark is committed: {code}", site),
            Mark(StepKind.CUT, "before {code} is committed", effect.site),
            Mark(StepKind.AGAIN, "the mark is there: the rest is skipped", mark.site),
            Mark(StepKind.RESULT, "the change is lost for good"),
        ),
        site=site,
        fix=Fix("put the mark and the change into one transaction, committed once", Applicability.DISPLAY),
    )


RULE = Rule(NAME, "IDM206", Severity.ERROR, "journal's mark committed apart from the effect it protects", "0.1", check)
