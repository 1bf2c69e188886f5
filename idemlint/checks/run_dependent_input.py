"""run-dependent-input: each run draws another credential or selects other rows."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.domain.guard import Strength
from idemlint.domain.summary import Loop
from idemlint.domain.value import Origin, Value
from idemlint.program import Site
from idemlint.replay import CALLED, SENT, Finding, Mark, Replay

NAME = "run-dependent-input"

CREDENTIAL = "draws a credential and hands it on"
AMOUNT = "draws an amount"
SELECTION = "selects the rows by the time of the run"

RESULTS = {
    CREDENTIAL: "what the first run handed out no longer works, or two different ones are about",
    AMOUNT: "two different amounts for one piece of work",
    SELECTION: "some rows are handled twice and others never, depending on when it runs",
}


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    said: set[Site] = set()
    for effect in replay.summary.effects:
        if replay.guarded(effect):
            continue
        for origin, what in (*drawn(replay, effect), *selected(replay, effect)):
            if origin.site is not None and origin.site not in said:
                said.add(origin.site)
                yield finding(replay, effect, origin.site, what)


def drawn(replay: Replay, effect: Effect) -> Iterator[tuple[Origin, str]]:
    """A random value that is handed on as a credential (mailed, stored, sent) or as an amount."""
    credentials: list[Value] = []
    amounts: list[Value] = []
    if effect.kind == "external" and replay.kind(effect) in SENT:
        credentials = [value for _, value in effect.arguments]
    elif effect.kind == "external" and replay.stakes(effect) == "money":
        amounts = [value for name, value in effect.arguments if replay.catalog.stakes_of(name) == "money"]
    elif effect.kind in ("save", "insert", "update") and not replay.version_checked(effect):
        if effect.kind == "insert" and replay.coverage(effect).key is not None:
            return  # the second run's row is refused
        credentials = [write.value for write in effect.writes if replay.catalog.is_credential(write.column)]
        amounts = [write.value for write in effect.writes if replay.catalog.stakes_of(write.column) == "money"]
    for values, what in ((credentials, CREDENTIAL), (amounts, AMOUNT)):
        for value in values:
            for origin in value.unstable:
                if origin.kind == "random":
                    yield origin, what


def selected(replay: Replay, effect: Effect) -> Iterator[tuple[Origin, str]]:
    """A bound on the clock that selects the rows of an effect which leaves no mark on them."""
    if effect.kind != "external" or replay.kind(effect) not in CALLED | SENT or not replay.repeats(effect):
        return
    if replay.guarded(effect, Strength.STATE):
        return
    for loop in replay.loops(effect):
        for source in (loop, *gathered(replay, loop)):
            for condition in source.lookup:
                for origin in condition.value.unstable:
                    if origin.kind == "clock" and source.model:
                        yield origin, SELECTION


def gathered(replay: Replay, loop: Loop) -> Iterator[Loop]:
    """The loops over rows that filled the container which a loop goes over (mails by recipient, say); none where the
    run writes to these rows."""
    if loop.model:
        return
    written = {effect.model for effect in replay.summary.effects if effect.changes_data}
    held = {origin.detail for origin in loop.origins if origin.kind == "row"}
    for source in replay.summary.loops:
        model = replay.program.models.get(source.model)
        if model is None or model.name in written or source.id >= loop.id:
            continue
        if any(detail == model.name or detail.partition(".")[0] == model.title for detail in held):
            yield source


def finding(replay: Replay, effect: Effect, site: Site, what: str) -> Finding:
    return Finding(
        rule=NAME,
        site=site,
        severity=replay.severity(Severity.WARNING),
        confidence=min(Confidence.HIGH, replay.confidence(effect)),
        message=f"{replay.name} {what}: a second delivery makes another choice than the first.",
        steps=(
            replay.again(effect),
            Mark(StepKind.FIRST, "{code}", site),
            Mark(StepKind.FIRST, "{code}", effect.site),
            Mark(StepKind.AGAIN, "{code} gives another value", site),
            Mark(StepKind.RESULT, RESULTS[what]),
        ),
        fix=Fix(
            "fix the bound where the task is sent and pass it as an argument, or mark the rows that are done"
            if what == SELECTION
            else "draw it where the task is sent and pass it as an argument, or store it before it is handed on",
            Applicability.DISPLAY,
        ),
        about=effect.frames[-1].function,
        task=replay.task.id if replay.task else None,
    )


RULE = Rule(NAME, "IDM105", Severity.WARNING, "credential or selection that differs from run to run", "0.1", check)
