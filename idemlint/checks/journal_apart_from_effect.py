"""journal-apart-from-effect: the mark commits alone, and a cut leaves it without the work, or the work without it."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.program import Site
from idemlint.replay import Finding, Mark, Replay

NAME = "journal-apart-from-effect"

# What must not be lost, so that a mark before it is no cure.
ORDERED = frozenset({"payment", "provision"})


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    said: set[Site] = set()
    for effect in replay.summary.effects:
        gone = replay.deleted_mark(effect)
        if gone is not None and matters(replay, effect) and replay.commit_of(gone) not in said:
            said.add(replay.commit_of(gone))
            yield lost(replay, effect, gone)
        mark = replay.journal_mark(effect)
        if mark is None or replay.together(mark, effect):
            continue
        # With a key of its own the call may be made again by hand or by whoever finds the mark without the rest.
        bare = effect.kind == "external" and replay.kind(effect) in ORDERED and effect.key is None
        ordered = bare and mark.id < effect.id
        site = replay.commit_of(mark)
        if (effect.changes_data or ordered) and site not in said:
            said.add(site)
            yield finding(replay, effect, mark, site)


def matters(replay: Replay, effect: Effect) -> bool:
    """Whether a change is more than a note for the operators."""
    model = replay.model(effect)
    noted = effect.kind == "insert" and model is not None and replay.catalog.one_row_per_run(model.title)
    return not noted and any(replay.catalog.stakes_of(column) != "internal" for column in effect.written)


def lost(replay: Replay, effect: Effect, gone: Effect) -> Finding:
    """The row that stands for the work is gone before what came of the work is stored."""
    model, changed = replay.model(gone), replay.model(effect)
    title = model.title if model is not None else "row"
    stored = changed.title if changed is not None else "row"
    site = replay.commit_of(gone)
    return replay.finding(
        NAME,
        effect,
        replay.severity(Severity.ERROR),
        f"{replay.name} deletes the {title} that it works on before it stores the {stored}, not with it: cut between "
        f"the two, the next delivery finds no {title} and skips the rest.",
        (
            replay.again(effect),
            Mark(StepKind.FIRST, "takes the mark away: {code}", gone.site),
            Mark(StepKind.FIRST, "that is committed: {code}", site),
            Mark(StepKind.CUT, "before {code} is committed", effect.site),
            Mark(StepKind.AGAIN, f"the {title} is gone: the rest is skipped", gone.site),
            Mark(StepKind.RESULT, "what came of the work is lost for good"),
        ),
        site=site,
        fix=Fix(
            "delete the row in the transaction that stores what came of the work, or after it", Applicability.DISPLAY
        ),
    )


def finding(replay: Replay, effect: Effect, mark: Effect, site: Site) -> Finding:
    model = replay.model(mark)
    title = model.title if model is not None else "the mark"
    ordered = effect.kind == "external"
    what = f"it {replay.does(effect)}" if ordered else "the change that it stands for"
    marks = (
        Mark(StepKind.FIRST, "marks it as done: {code}", mark.site),
        Mark(StepKind.FIRST, "the mark is committed: {code}", site),
    )
    if mark.id < effect.id:
        message = (
            f"{replay.name} commits {title} before {what}: cut between the two, the next delivery finds the mark and "
            "skips work that was never done."
        )
        told: tuple[Mark, ...] = (
            *marks,
            Mark(StepKind.CUT, "before {code}" if ordered else "before {code} is committed", effect.site),
            Mark(StepKind.AGAIN, "the mark is there: the rest is skipped", mark.site),
            Mark(StepKind.RESULT, "it is never done" if ordered else "the change is lost for good"),
        )
    else:
        message = (
            f"{replay.name} commits {title} after {what}, not with it: cut between the two, the next delivery finds no "
            "mark and does the work again."
        )
        told = (
            Mark(StepKind.FIRST, "{code}", effect.site),
            Mark(StepKind.CUT, "the change is committed, the mark is not: before {code}", mark.site),
            Mark(StepKind.AGAIN, "no mark is there: {code}", effect.site),
            Mark(StepKind.RESULT, "the change is made twice, or over what came after it"),
        )
    return replay.finding(
        NAME,
        effect,
        replay.severity(Severity.ERROR),
        message,
        (replay.again(effect), *told),
        site=site,
        fix=Fix(
            "give the mark a state, and let a task take up those that are not done, with the provider's idempotency key"
            if ordered
            else "put the mark and the change into one transaction, committed once",
            Applicability.DISPLAY,
        ),
    )


RULE = Rule(NAME, "IDM206", Severity.ERROR, "journal's mark committed apart from the effect it protects", "0.1", check)
