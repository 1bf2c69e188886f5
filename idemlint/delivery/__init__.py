"""Task options x settings x a framework's defaults -> why and when a task runs again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from idemlint.delivery import celery
from idemlint.delivery.cause import Amount, Cause, Delivery, Retry, RetryCall
from idemlint.diagnostic import Severity
from idemlint.link.values import Value
from idemlint.program import Option, Setting, Task

_FRAMEWORKS: Mapping[str, Callable[..., Delivery]] = {celery.FRAMEWORK: celery.deliver}


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


__all__ = ["Amount", "Cause", "Delivery", "Retry", "RetryCall", "deliver"]
