"""arq: a job stays in the queue until it has ended, so a worker that stops or dies leaves it to be run again.

After arq/worker.py and arq/cron.py of 0.28, and arq/main.py of 0.15 and before, where a job was taken off first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from idemlint.delivery.cause import Amount, Cause, Delivery, Retry, RetryCall, at_most
from idemlint.delivery.reader import NOTHING, Reader, once, whole
from idemlint.delivery.said import Said
from idemlint.diagnostic import Severity
from idemlint.link.values import Known, Value
from idemlint.program import Option, Setting, Task

FRAMEWORK = "arq"

MAX_TRIES = 5
TIMEOUT = 300.0


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
    if (version is not None and version < (0, 16)) or reader.setting("actors").site is not None:
        text = "before 0.16 arq takes a job off the queue before it runs: only one sent twice runs again"
        return reader.delivery([once(text)], Severity.NOTE, late=False)
    said, tries = _tries(reader)
    limit = _limit(reader)
    kept = reader.flag(_of_worker(reader, "retry_jobs"), True)
    if tries == 1 or kept is False:
        why = (
            said.text if tries == 1 and said.written else "retry_jobs=False" if tries != 1 else "a cron job has one try"
        )
        text = f"{why}: a job that is cut is not run again, only one sent twice"
        return reader.delivery([once(text, said)], Severity.NOTE, late=True, limit=limit)
    written = said.text if said.written else f"the default max_tries={MAX_TRIES}"
    again = tries - 1 if tries is not None else None
    count = f" {at_most(again)}" if again is not None else ""
    text = f"{written}: a worker that is stopped or dies leaves the job in the queue, to be run again{count}"
    causes = [Cause("worker-lost", text, said.site, again)]
    retries = [Retry("call", asked.on, (), again, False, None, None, asked.site) for asked in reader.asked()]
    causes[:0] = [Cause("retry-call", f"arq.Retry: run again{count}", retry.site, again) for retry in retries]
    return reader.delivery(causes, Severity.ERROR, late=True, retries=retries, limit=limit)


def _limit(reader: Reader) -> Amount | None:
    """How long a run may take: the function's word, that of the worker, the default; None if it cannot be told."""
    for said in (reader.option("timeout"), _of_worker(reader, "job_timeout")):
        if said.value != Known(None):
            return reader.amount(said)
    return Amount(TIMEOUT, "the default job_timeout")


def _of_worker(reader: Reader, name: str) -> Said:
    """What a worker is told of all its jobs, in a call or by its class."""
    said = reader.option(name)
    return said if said.written else reader.setting(name)


def _tries(reader: Reader) -> tuple[Said, int | None]:
    """How often the job is run at most: the function's word, that of the worker, the default."""
    own = reader.option("max_tries")
    of_worker = own.site in {option.site for option in reader.task.options if option.source == "worker"}
    if own.written and not of_worker:
        return own, whole(own.value)
    # Only `cron()` has these options, and one try of its own.
    if reader.option("unique", "run_at_startup", "hour", "minute", "second", "weekday", "day", "month").written:
        return NOTHING, 1
    worker = own if of_worker else reader.setting("max_tries")
    if worker.written:
        return worker, whole(worker.value)
    return own, MAX_TRIES if worker.value == Known(None) else None
