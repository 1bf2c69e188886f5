"""RQ and django-rq: jobs are run once unless they are enqueued with `retry=`.

After rq/job.py, rq/queue.py, rq/registry.py and rq/worker/ of 1.16 to 3.0, django_rq/queues.py of 3.0 and 4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from idemlint.delivery.cause import Amount, Cause, Delivery, Retry, RetryCall, Useless
from idemlint.delivery.reader import Reader, argument, made_of, once, times, whole
from idemlint.delivery.said import Said, from_setting
from idemlint.diagnostic import Severity
from idemlint.link.values import Known, Unknown, Value, lifted, seconds
from idemlint.program import Option, Setting, Task
from idemlint.syntax import facts as f

FRAMEWORK = "rq"

TIMEOUT = 180.0

_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}

# The release since which a job can ask for another run.
_RETURNED = (2, 1)


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
    limit = _limit(reader)
    retry, said = _retry(reader)
    reader.useless.extend(_no_dedup(reader))
    asked = [_asked(call) for call in retried if version is None or version >= _RETURNED]
    causes = [
        Cause("retry-call", f"return Retry(...): run again{times(each.again)}", each.site, each.again) for each in asked
    ]
    if retry is None and not asked:
        text = "a job runs once: only one enqueued twice or requeued by hand runs again"
        unsure = any(isinstance(option.value, Unknown) for option in reader.options("retry"))
        return reader.delivery([once(text)], Severity.WARNING if unsure else Severity.NOTE, late=False, limit=limit)
    if retry is not None:
        count = times(retry.again)
        if not swallows:
            causes.insert(0, Cause("retry", f"{said}: run again{count} on any exception", retry.site, retry.again))
        lost = f"{said}: run again{count} when the worker dies under it or is silent for too long"
        causes.append(Cause("worker-lost", lost, retry.site, retry.again))
    retries = [*([retry] if retry is not None and not swallows else []), *asked]
    return reader.delivery(causes, Severity.ERROR, late=False, retries=retries, limit=limit)


def _asked(call: RetryCall) -> Retry:
    """A job that returns a `Retry` is run again as often as that says."""
    pause = _number(call.get("interval", "#1"))
    delay = Amount(pause or 0, "interval", call.site)
    return Retry("call", call.exceptions, (), whole(call.get("max", "#0")), False, delay, delay, call.site)


def _limit(reader: Reader) -> Amount | None:
    """How long a run may take: what jobs are given, else what their queues are made with; None where one has no limit
    or cannot be told."""
    for said in (reader.options("job_timeout", "timeout"), _of_queues(reader)):
        given = [each for each in said if each.value != Known(None)]
        if given:
            amounts = [_amount(each) for each in given]
            known = [amount for amount in amounts if amount is not None]
            return max(known, key=lambda amount: amount.seconds) if len(known) == len(amounts) else None
    return _default_timeout(reader)


def _of_queues(reader: Reader) -> list[Said]:
    """What the queues are made with that jobs are handed to; one that is named is made with nothing."""
    found: list[Said] = []
    for option in reader.options("queue"):
        made = made_of(option)
        if made is not None:
            found.append(Said(argument(made, "default_timeout"), "default_timeout", option.site))
        elif isinstance(option.value, Unknown):
            found.append(option)
    return found


def _amount(said: Said) -> Amount | None:
    """`600`, `"600"` or `"10m"`; a negative one is no limit."""
    number = _number(said.value)
    return Amount(number, said.text, said.site) if number is not None and number > 0 else None


def _number(value: Value) -> float | None:
    held = value.value if isinstance(value, Known) else None
    if isinstance(held, str):
        digits, unit = (held, "s") if held.isdigit() else (held[:-1], held[-1:].lower())
        return int(digits) * _UNITS[unit] if digits.isdigit() and unit in _UNITS else None
    return seconds(held)


def _default_timeout(reader: Reader) -> Amount | None:
    """What a web project says of its queues, if it says one thing of all of them; else RQ's default."""
    said = reader.setting("RQ_QUEUES")
    held = said.value.value if isinstance(said.value, Known) else None
    queues = [each for each in held.values() if isinstance(each, dict)] if isinstance(held, dict) else []
    given = {_number(lifted(queue["DEFAULT_TIMEOUT"])) if "DEFAULT_TIMEOUT" in queue else TIMEOUT for queue in queues}
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
