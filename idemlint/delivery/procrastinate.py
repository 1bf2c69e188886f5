"""Procrastinate: a job runs once, and that of a dead worker is left alone, unless `retry=` or a task for stalled jobs
says otherwise.

After procrastinate/retry.py, worker.py and manager.py of 2.0 to 3.10.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from idemlint.delivery.cause import Amount, Cause, Delivery, Retry, RetryCall
from idemlint.delivery.reader import Reader, argument, made_of, once, paths, times, whole
from idemlint.delivery.said import Said
from idemlint.diagnostic import Severity
from idemlint.link.values import Known, Made, Value, seconds
from idemlint.program import Option, Setting, Task

FRAMEWORK = "procrastinate"


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
    said = reader.option("retry")
    retry = None if swallows else _retry(said)
    causes: list[Cause] = []
    if retry is not None:
        what = "these exceptions" if retry.on else "any exception"
        text = f"{_written(said)}: run again{times(retry.again, retry.endless)} on {what}"
        causes.append(Cause("retry", text, said.site, retry.again, retry.endless))
    stalled, by_age = reader.setting("stalled"), reader.setting("by_age")
    if by_age.site is not None:
        text = "get_stalled_jobs(nb_seconds=...) takes jobs that are still running for stalled ones and runs them again"
        causes.append(Cause("lease", text, by_age.site))
    elif stalled.site is not None:
        causes.append(Cause("worker-lost", "the jobs of dead workers are run again (get_stalled_jobs)", stalled.site))
    certain = bool(causes)
    if not certain:
        causes.append(
            once("a job runs once, and stays `doing` when its worker dies: only one deferred twice runs again")
        )
    cap = Severity.ERROR if certain else Severity.NOTE
    return reader.delivery(causes, cap, late=True, retries=[retry] if retry else [])


def _written(said: Said) -> str:
    return "retry=RetryStrategy(...)" if made_of(said) is not None else said.text


def _retry(said: Said) -> Retry | None:
    """`retry=True` has no end, a number is how often, a strategy has its own."""
    made = made_of(said)
    if made is not None and made.path.endswith("RetryStrategy"):
        return _strategy(made, said)
    held = said.value.value if isinstance(said.value, Known) else None
    if held is True:
        now = Amount(0, "retry=True waits for nothing")
        return Retry("exception", (), (), None, True, now, now, said.site)
    count = whole(said.value)
    return (
        Retry("exception", (), (), count, False, Amount(0, said.text), Amount(0, said.text), said.site)
        if count
        else None
    )


def _strategy(made: Made, said: Said) -> Retry:
    given = argument(made, "max_attempts", "#0")
    count = whole(given)
    endless = given == Known(None) or count == 0
    waits = [argument(made, name) for name in ("wait", "linear_wait", "exponential_wait")]
    fixed = seconds(waits[0].value) if isinstance(waits[0], Known) else None
    plain = all(each == Known(None) for each in waits[1:])
    delay = Amount(fixed or 0, "wait", said.site) if plain and isinstance(waits[0], Known) else None
    on = paths(argument(made, "retry_exceptions"))
    return Retry("exception", on, (), None if endless else count, endless, delay, delay, said.site)
