"""APScheduler 3: a job is run by the process whose scheduler it is, and by every such process.

After apscheduler/schedulers/base.py and executors/base.py of 3.11.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from idemlint.delivery.cause import Delivery, RetryCall
from idemlint.delivery.reader import Reader, once
from idemlint.diagnostic import Severity
from idemlint.link.values import Value
from idemlint.program import Option, Setting, Task

FRAMEWORK = "apscheduler"


def deliver(
    task: Task,
    settings: Sequence[Setting],
    evaluate: Callable[[Option], Value],
    version: tuple[int, ...] | None = None,
    retried: Sequence[RetryCall] = (),
    swallows: bool = False,
) -> Delivery:
    """Why and when the job runs again; arguments as for `delivery.deliver`."""
    reader = Reader(task, settings, evaluate, version, retried, swallows)
    text = "a job that fails or is cut is not run again, but every process that starts the scheduler runs it"
    return reader.delivery([once(text)], Severity.NOTE, late=False)
