"""Tasks that a run sends: when they may start, whether a second copy is dropped, which rows they look for."""

from __future__ import annotations

from idemlint.catalog import Guard as GuardRow
from idemlint.delivery import Delivery, runs_at_once, sent_on_commit
from idemlint.domain.effect import Effect
from idemlint.domain.value import Value
from idemlint.program import Model, Task
from idemlint.replay.keys import Keys


class Sending(Keys):
    """What becomes of the messages that a run sends."""

    __slots__ = ()

    def waits_for_commit(self, effect: Effect) -> bool:
        """Whether a task that is sent cannot run before the transaction around it commits, as far as is known: its
        message is held back, or nobody but the sender runs it."""
        call = effect.enqueue
        if call is None or runs_at_once(call.framework, self.program.settings):
            return True
        if call.commit != "configured":
            return call.commit == "deferred"
        return sent_on_commit(call.framework, self.program.settings, self.program.versions) is not False

    def lease_of(self, framework: str) -> Delivery | None:
        """How a task of this framework that is not known is delivered: as the one with the shortest lease."""
        tasks = self.program.tasks
        same = [delivery for id, delivery in self.deliveries.items() if tasks[id].framework == framework]
        leased = [(delivery.lease.seconds, index) for index, delivery in enumerate(same) if delivery.lease is not None]
        return same[min(leased)[1]] if len(leased) == len(same) > 0 else None

    def only_enqueued_once(self, effect: Effect) -> bool:
        """Whether a message is dropped while an equal one waits."""
        call = effect.enqueue
        names = self.catalog.framework(call.framework).unique if call is not None else ()
        task = self.program.tasks.get(call.task or "") if call is not None else None
        options = {name for name, _ in call.options} if call is not None else set()
        declared = {option.name for option in task.options} if task is not None else set()
        return bool((options | declared) & set(names)) or (task is not None and self.enqueue_guard(task) is not None)

    def enqueue_guard(self, task: Task) -> GuardRow | None:
        """The base of a task that drops a second copy while the first waits or runs."""
        rows = (self.catalog.guard(path) for path in task.library)
        return next((row for row in rows if row is not None and row.guard == "enqueue"), None)

    def needed_row(self, effect: Effect) -> tuple[Effect, bool] | None:
        """The write, in the transaction still open, of a row that the task being sent is about; with it, whether an
        argument says so (else only that the task reads the model)."""
        outermost = effect.transactions[0]
        before = [
            other
            for other in self.summary.effects[: effect.id]
            if other.changes_data and outermost in other.transactions and self.same_path(other, effect)
        ]
        for other in before:
            if any(_about(value, other, self.model(other)) for _, value in effect.arguments):
                return other, True
        tasks = effect.enqueue.tasks if effect.enqueue is not None else ()
        for other in before:
            if any(other.model in self.reads.get(task, ()) for task in tasks):
                return other, False
        return None


def _about(value: Value, written: Effect, model: Model | None) -> bool:
    """Whether a value is, or comes from, the row that was written."""
    if value.thing is not None and value.thing.id == written.thing:
        return True
    if value.column is not None and value.column[0] == written.thing:
        return True
    if model is not None and any(
        origin.kind == "fresh" and origin.detail.startswith(model.title) for origin in value.origins
    ):
        return True
    if any(_about(item, written, model) for item in value.items or ()):
        return True
    named = [lookup.value for lookup in written.lookup if lookup.column in ("id", "pk") and lookup.operator == "exact"]
    return value.varies and not value.unknown and any(value.origins == known.origins for known in named)
