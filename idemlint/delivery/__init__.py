"""Task options x settings x a framework's defaults -> why and when a task runs again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from idemlint.delivery import (
    apscheduler,
    arq,
    celery,
    django_q,
    django_tasks,
    dramatiq,
    huey,
    procrastinate,
    rq,
    taskiq,
)
from idemlint.delivery.cause import Amount, Cause, Delivery, Retry, RetryCall, Useless
from idemlint.delivery.companions import of_companion
from idemlint.delivery.consumers import Handling
from idemlint.delivery.consumers import deliver as deliver_message
from idemlint.delivery.said import in_force
from idemlint.diagnostic import Severity
from idemlint.link.values import Value
from idemlint.program import Option, Setting, Task

_FRAMEWORKS: Mapping[str, Callable[..., Delivery]] = {
    apscheduler.FRAMEWORK: apscheduler.deliver,
    arq.FRAMEWORK: arq.deliver,
    celery.FRAMEWORK: celery.deliver,
    django_q.FRAMEWORK: django_q.deliver,
    django_tasks.FRAMEWORK: django_tasks.deliver,
    dramatiq.FRAMEWORK: dramatiq.deliver,
    huey.FRAMEWORK: huey.deliver,
    procrastinate.FRAMEWORK: procrastinate.deliver,
    rq.FRAMEWORK: rq.deliver,
    taskiq.FRAMEWORK: taskiq.deliver,
}
_AT_ONCE: Mapping[str, str] = {
    celery.FRAMEWORK: "task_always_eager",
    django_q.FRAMEWORK: "Q_CLUSTER.sync",
    huey.FRAMEWORK: "HUEY.immediate",
}
_ON_COMMIT: Mapping[str, Callable[..., bool | None]] = {
    django_tasks.FRAMEWORK: django_tasks.on_commit,
    rq.FRAMEWORK: rq.on_commit,
}


def deliver(
    task: Task,
    settings: Sequence[Setting],
    evaluate: Callable[[Option], Value],
    version: tuple[int, ...] | None = None,
    retried: Sequence[RetryCall] = (),
    swallows: bool = False,
) -> Delivery:
    """Why and when the task runs again.

    Of options of one name the first counts; `evaluate` says what an option is worth. `version` is that of the
    framework, None if not known. `retried` are the places where the body asks for another run; `swallows` says that no
    exception leaves it.
    """
    known = _FRAMEWORKS.get(task.framework)
    if known is not None:
        return known(task, settings, evaluate, version, retried, swallows)
    text = "a queue may hand out a message twice"
    reason = f"how {task.framework} delivers is not modelled"
    return Delivery((Cause("early-ack", text),), Severity.WARNING, unknown=(reason,))


def useless(settings: Sequence[Setting]) -> Iterator[Useless]:
    """The settings that have no effect as written."""
    for setting in settings:
        if setting.ignored and setting.site is not None:
            fix = f"write {setting.meant}" if setting.meant else "take it out, or find the setting that was meant"
            yield Useless(setting.site, setting.written, setting.ignored, fix)
    yield from celery.useless(settings)


def runs_at_once(framework: str, settings: Sequence[Setting]) -> bool:
    """Whether a setting makes every task run where it is called."""
    name = _AT_ONCE.get(framework)
    return any(
        setting.name == name and setting.known and setting.value is True and not setting.ignored for setting in settings
    )


def sent_on_commit(framework: str, settings: Sequence[Setting], versions: Mapping[str, tuple[int, ...]]) -> bool | None:
    """Whether a framework whose settings decide it holds a message back until the transaction commits; None if that is
    not known. `versions` are those of all packages."""
    known = _ON_COMMIT.get(framework)
    return known(in_force(settings, framework, None), versions) if known is not None else None


__all__ = [
    "Amount",
    "Cause",
    "Delivery",
    "Handling",
    "Retry",
    "RetryCall",
    "Useless",
    "deliver",
    "deliver_message",
    "of_companion",
    "runs_at_once",
    "sent_on_commit",
    "useless",
]
