"""RQ and django-rq: jobs are run once unless they are enqueued with `retry=`.

After rq/job.py, rq/queue.py, rq/registry.py and rq/worker/ of 1.16 to 3.0, django_rq/queues.py of 3.0 and 4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from idemlint.delivery.cause import Amount, Cause, Delivery, Retry, RetryCall, Useless
from idemlint.delivery.reader import Reader, argument, made_of, once, times, whole
from idemlint.delivery.said import Said, from_setting
from idemlint.diagnostic import Severity
from idemlint.link.values import Known, Unknown, Value, seconds
from idemlint.program import Option, Setting, Task
from idemlint.syntax import facts as f

FRAMEWORK = "rq"

TIMEOUT = 180.0


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
    timeout = reader.amount(reader.option("job_timeout", "timeout"))
    limit = timeout or _default_timeout(reader)
    retry, said = _retry(reader)
    reader.useless.extend(_no_dedup(reader))
    if retry is None:
        text = "a job runs once: only one enqueued twice or requeued by hand runs again"
        unsure = any(isinstance(option.value, Unknown) for option in reader.options("retry"))
        return reader.delivery([once(text)], Severity.WARNING if unsure else Severity.NOTE, late=False, limit=limit)
    count = times(retry.again)
    lost = f"{said}: run again{count} when the worker dies under it or is silent for too long"
    causes = [Cause("worker-lost", lost, retry.site, retry.again)]
    if not swallows:
        causes.insert(0, Cause("retry", f"{said}: run again{count} on any exception", retry.site, retry.again))
    return reader.delivery(causes, Severity.ERROR, late=False, retries=[] if swallows else [retry], limit=limit)


def _default_timeout(reader: Reader) -> Amount | None:
    """What a web project says of its queues, if it says one thing of all of them; else RQ's default."""
    said = reader.setting("RQ_QUEUES")
    held = said.value.value if isinstance(said.value, Known) else None
    queues = [each for each in held.values() if isinstance(each, dict)] if isinstance(held, dict) else []
    given = {seconds(queue["DEFAULT_TIMEOUT"]) if "DEFAULT_TIMEOUT" in queue else TIMEOUT for queue in queues}
    if not given or given == {TIMEOUT}:
        return Amount(TIMEOUT, "the default job timeout")
    number = given.pop()
    return Amount(number, "DEFAULT_TIMEOUT", said.site) if number is not None and not given else None


def _no_dedup(reader: Reader) -> Iterator[Useless]:
    """A `job_id` that is made of the arguments, where nobody asks for jobs by id: it is meant to keep a second job out,
    which without `unique` it does not."""
    if reader.options("unique") or reader.setting("lookups").site is not None:
        return
    for option in reader.task.options:
        if option.name == "job_id" and _is_of_arguments(option.expression):
            reason = "without unique=True a second job of the same id is enqueued all the same"
            yield Useless(option.site, "job_id=...", reason, "add unique=True (RQ 2.8)", if_harmful=True)


def _is_of_arguments(expr: f.Expr) -> bool:
    """Whether a text is put together from names alone, with nothing called for a part of it."""
    parts = expr.parts if isinstance(expr, f.Format) else ()
    return bool(parts) and all(isinstance(part, f.Constant | f.Name | f.Attribute) for part in parts)


def _retry(reader: Reader) -> tuple[Retry | None, str]:
    """The most generous `retry=` that the decorator or a message gives, and how it is written."""
    best: Retry | None = None
    written = ""
    for option in reader.options("retry"):
        made = made_of(option)
        if made is None or not made.path.endswith(".Retry"):
            continue
        again = whole(argument(made, "max", "#0"))
        if best is None or (again or 0) > (best.again or 0):
            first, longest = _intervals(argument(made, "interval", "#1"), option)
            best = Retry("exception", (), (), again, False, first, longest, option.site)
            written = f"retry=Retry(max={again if again is not None else '...'})"
    return best, written


def _intervals(value: Value, option: Said) -> tuple[Amount | None, Amount | None]:
    held = value.value if isinstance(value, Known) else None
    if isinstance(value, Known) and held is None:
        held = 0
    found = [
        number for each in (held if isinstance(held, list | tuple) else [held]) if (number := seconds(each)) is not None
    ]
    if not found:
        return None, None
    return Amount(found[0], "interval", option.site), Amount(max(found), "interval", option.site)


def on_commit(settings: Mapping[str, Setting], versions: Mapping[str, tuple[int, ...]]) -> bool | None:
    """Whether django-rq holds a job back until the transaction commits; None if that is not known."""
    mode = settings.get("RQ.COMMIT_MODE")
    if mode is not None:
        said = from_setting(mode).value
        return None if isinstance(said, Unknown) else said.value != "auto"
    older = settings.get("RQ.AUTOCOMMIT")
    if older is not None:
        said = from_setting(older).value
        return None if isinstance(said, Unknown) else not said.value
    version = versions.get("django-rq")
    # Since 4.0 it is the default.
    return None if version is None else version >= (4,)
