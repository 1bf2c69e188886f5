"""Huey: a task is taken off the queue before it runs, and runs again only where it has retries.

After huey/api.py and huey/contrib/djhuey of 2.6 to 3.5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from idemlint.delivery.cause import Amount, Cause, Delivery, Retry, RetryCall
from idemlint.delivery.reader import Reader, once, times, whole
from idemlint.diagnostic import Severity
from idemlint.link.values import Value
from idemlint.program import Option, Setting, Task

FRAMEWORK = "huey"


def deliver(
    task: Task,
    settings: Sequence[Setting],
    evaluate: Callable[[Option], Value],
    version: tuple[int, ...] | None = None,
    retried: Sequence[RetryCall] = (),
    swallows: bool = False,
) -> Delivery:
    """Why and when the task runs again; arguments as for `delivery.deliver`."""
    reader = Reader(task, settings, evaluate, version, retried, swallows)
    limit = reader.amount(reader.option("timeout"))
    said = max(reader.options("retries"), key=lambda each: whole(each.value) or 0, default=reader.option("retries"))
    again = whole(said.value)
    retries: list[Retry] = []
    causes: list[Cause] = []
    if again and not swallows:
        delay = reader.amount(reader.option("retry_delay")) or Amount(0, "the default retry_delay")
        retries.append(Retry("exception", (), (), again, False, delay, _longest(reader, delay, again), said.site))
        causes.append(Cause("retry", f"{said.text}: run again{times(again)} on any exception", said.site, again))
    for asked in reader.asked():
        retries.append(asked)
        causes.append(Cause("retry-call", "RetryTask: sent again whatever `retries` says", asked.site))
    signal = reader.setting("interrupted")
    if signal.site is not None:
        text = "a handler of SIGNAL_INTERRUPTED sends tasks again that a shutdown cut"
        causes.append(Cause("worker-lost", text, signal.site))
    certain = bool(causes)
    causes.append(once("the task leaves the queue before it runs: only one sent twice runs again"))
    cap = Severity.ERROR if certain else Severity.NOTE
    return reader.delivery(causes, cap, late=False, retries=retries, limit=limit)


def _longest(reader: Reader, delay: Amount, again: int | None) -> Amount | None:
    """The longest wait: with a backoff each one is a multiple of the last."""
    backoff = reader.option("retry_backoff")
    factor = whole(backoff.value)
    if not factor:
        return delay
    return Amount(delay.seconds * factor ** max((again or 1) - 1, 0), backoff.text, backoff.site)
