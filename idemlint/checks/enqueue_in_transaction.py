"""enqueue-in-transaction: the worker may start before the rows it needs are committed."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.domain.summary import SESSION, Transaction
from idemlint.replay import Finding, Mark, Replay

NAME = "enqueue-in-transaction"


def check(replay: Replay) -> Iterator[Finding]:
    for effect in replay.summary.effects:
        around = replay.transaction(effect)
        if effect.kind != "enqueue" or around is None or effect.deferred or effect.enqueue is None:
            continue
        if replay.waits_for_commit(effect):
            continue
        needed = replay.needed_row(effect)
        if needed is None:
            continue
        written, by_argument = needed
        child = next((replay.program.tasks[task] for task in effect.enqueue.tasks), None)
        sent = child.function.rpartition(".")[2] if child is not None else "the task"
        model = replay.model(written)
        rows = f"the {model.title} row" if model is not None else "the row"
        yield replay.finding(
            NAME,
            effect,
            Severity.WARNING,
            f"{sent} is sent before the transaction that writes {rows} commits: the worker can run first and find it "
            "missing or unchanged, and after a rollback it runs for nothing.",
            (
                Mark(StepKind.CAUSE, "the transaction opens: {code}", around.site),
                Mark(StepKind.FIRST, f"writes {rows}: {{code}}", written.site),
                Mark(StepKind.FIRST, "the message leaves at once: {code}", effect.site),
                Mark(StepKind.CUT, "the worker takes the message before the commit"),
                Mark(StepKind.RESULT, f"{sent} does not see what was written, or acts on what is rolled back"),
            ),
            confidence=Confidence.HIGH if by_argument else Confidence.MEDIUM,
            fix=fix(effect, around, sent),
        )


def fix(effect: Effect, around: Transaction, sent: str) -> Fix:
    method = effect.enqueue.method if effect.enqueue is not None else "delay"
    if effect.enqueue is not None and effect.enqueue.task is None and effect.enqueue.parts:
        hook = "after the session has committed" if around.text == SESSION else "on commit: transaction.on_commit(...)"
        return Fix(f"put the tasks together here, and send them {hook}", Applicability.DISPLAY)
    if around.text == SESSION:
        return Fix(f"call {sent}.{method}(...) after the session has committed", Applicability.DISPLAY)
    return Fix(
        f"send it on commit: transaction.on_commit(partial({sent}.{method}, ...)), or {sent}.delay_on_commit(...)",
        Applicability.DISPLAY,
    )


RULE = Rule(NAME, "IDM402", Severity.WARNING, "task sent before the transaction it depends on commits", "0.1", check)
