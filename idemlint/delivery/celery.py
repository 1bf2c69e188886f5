"""Celery: acknowledgement, retries and the broker's lease.

After celery/worker/request.py, app/task.py and app/autoretry.py of 4.0 to 5.7 and kombu's transports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from idemlint.delivery.cause import Amount, Cause, Delivery, Retry, RetryCall, Useless, at_most
from idemlint.delivery.said import Said, from_setting, in_force, shown
from idemlint.diagnostic import Severity
from idemlint.link.values import Known, Reference, Unknown, Value, lifted, member, seconds, start_of
from idemlint.program import SPREAD, Option, Setting, Task

FRAMEWORK = "celery"

MAX_RETRIES = 3
RETRY_DELAY = 180.0
BACKOFF_MAX = 600.0

# Options that a task takes from a setting when it says nothing itself.
_SETTINGS = {
    name: f"task_{name}"
    for name in (
        "acks_late",
        "acks_on_failure_or_timeout",
        "acks_on_timeout",
        "reject_on_worker_lost",
        "retry_on_worker_lost",
        "time_limit",
        "soft_time_limit",
    )
}

# What is said of the class that all tasks derive from.
_OF_ALL = "Task."

# Options whose values are things with names.
_EXCEPTIONS = ("autoretry_for", "dont_autoretry_for")

# What a task raises to give its message back.
_REJECT = ".Reject"

# The release that brought an option; before, it is an attribute nobody looks at.
_SINCE = {
    "acks_on_failure_or_timeout": (4, 3),
    "acks_on_timeout": (5, 7),
    "retry_on_worker_lost": (5, 7),
    "dont_autoretry_for": (5, 3),
    "retry_backoff": (4, 2),
    "worker_cancel_long_running_tasks_on_connection_loss": (5, 1),
    "worker_deduplicate_successful_tasks": (5, 1),
    "worker_disable_prefetch": (5, 6),
}


@dataclass(frozen=True, slots=True)
class _Broker:
    """`lease` is how long it waits for an acknowledgement by default, `by` what that is called; with `settable`, the
    transport options say otherwise."""

    title: str
    lease: float | None = None
    by: str = ""
    settable: bool = False


_REDIS = _Broker("Redis", 3600, "visibility_timeout", True)
_RABBITMQ = _Broker("RabbitMQ", 1800, "consumer_timeout")
_BROKERS: Mapping[str, _Broker] = {
    "redis": _REDIS,
    "rediss": _REDIS,
    "sentinel": _REDIS,
    "sqs": _Broker("SQS", 1800, "visibility_timeout", True),
    "amqp": _RABBITMQ,
    "amqps": _RABBITMQ,
    "pyamqp": _RABBITMQ,
    "librabbitmq": _RABBITMQ,
    "rabbitmq": _RABBITMQ,
    "memory": _Broker("the memory transport"),
    "filesystem": _Broker("the filesystem transport"),
    "mongodb": _Broker("MongoDB"),
    "kafka": _Broker("Kafka"),
    "confluentkafka": _Broker("Kafka"),
    "sqla": _Broker("the SQLAlchemy transport"),
    "sqlalchemy": _Broker("the SQLAlchemy transport"),
    "gcpubsub": _Broker("Google Pub/Sub"),
    "azureservicebus": _Broker("Azure Service Bus"),
    "azurestoragequeues": _Broker("Azure Storage Queues"),
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

    Of options of one name the first counts. `version` is that of the framework, None if not known. `retried` are the
    places where the body asks for another run; `swallows` says that no exception leaves it.
    """
    return _Reader(task, settings, evaluate, version).delivery(retried, swallows)


class _Reader:
    def __init__(
        self,
        task: Task,
        settings: Sequence[Setting],
        evaluate: Callable[[Option], Value],
        version: tuple[int, ...] | None,
    ) -> None:
        self.task = task
        self.version = version
        self.evaluate = evaluate
        self.settings = in_force(settings, FRAMEWORK, task.app)
        self.unknown: dict[str, None] = {}
        self.remarks: list[str] = []
        self.hidden = ""
        """Why options may be set where it cannot be read; empty if nothing says so."""
        self.annotations = self._annotations()
        if "*" in self.settings:
            self.unknown[f"some settings: {self.settings['*'].reason}"] = None
        for spread in (option for option in task.options if option.name == SPREAD):
            reason = spread.reason or "what is spread is not known"
            if spread.source == "message":
                self.unknown[f"some options of a message: {reason}"] = None
            else:
                self.hidden = reason
                self.unknown[f"some options: {reason}"] = None

    def delivery(self, retried: Sequence[RetryCall], swallows: bool) -> Delivery:
        """Everything together."""
        late = self.option("acks_late")
        is_late = self._flag(late, False)
        broker = self._broker()
        lease = self._lease(broker)
        limit = self._time_limit()
        asked = [call for call in retried if not call.path.endswith(_REJECT)]
        retries = [*self._autoretry(swallows), *self._calls(asked), *self._on_lost_process()]
        causes = [self._of_retry(retry) for retry in retries]
        returned = list(self._given_back(retried)) if is_late else []
        text = "Reject(requeue=True): put back and run again, as often as that is raised"
        causes += [Cause("requeued", text, retry.site, None, True) for retry in returned]
        retries += returned
        if is_late:
            causes += self._late(late, broker, lease, limit)
        else:
            causes += self._early(late, is_late, broker, lease)
        certain = bool(retries or is_late)
        return Delivery(
            causes=tuple(causes),
            cap=Severity.ERROR if certain else Severity.NOTE if swallows and is_late is False else Severity.WARNING,
            at_least_once=certain,
            late_ack=is_late,
            retries=tuple(retries),
            broker=broker.title if broker else "",
            lease=lease,
            time_limit=limit,
            delayed=self._holds_delayed(broker),
            useless=() if retries or retried else tuple(self._in_vain()),
            unknown=tuple(self.unknown),
            remarks=tuple(self.remarks),
        )

    # --- What is said

    def option(self, name: str) -> Said:
        """The value of a task's option that counts: annotations override the task, the setting stands in for it."""
        if name in _SINCE and self.version is not None and self.version < _SINCE[name]:
            return Said(Known(None))
        if name in self.annotations:
            return self._noted(name, self.annotations[name])
        own = next((option for option in self.task.options if option.name == name), None)
        if own is not None:
            said = Said(self.evaluate(own), name, own.site)
            # None is what the framework itself has there, and leaves the word to the setting.
            if name not in _SETTINGS or said.value != Known(None):
                return self._noted(name, said)
        if self.hidden and name in _SETTINGS:
            return Said(Unknown(self.hidden))
        of_all = f"{_OF_ALL}{name}"
        if of_all in self.settings and self.setting(of_all).value != Known(None):
            return self.setting(of_all)
        return self.setting(_SETTINGS[name]) if name in _SETTINGS else Said(Known(None))

    def setting(self, name: str) -> Said:
        """A setting's value; None where nothing is said."""
        too_old = name in _SINCE and self.version is not None and self.version < _SINCE[name]
        found = self.settings.get(name)
        if found is None and not too_old and "*" in self.settings:
            return Said(Unknown(self.settings["*"].reason))
        return Said(Known(None)) if found is None or too_old else self._noted(found.written, from_setting(found))

    def _has(self, name: str) -> bool:
        """Whether the task itself or the class of all tasks, not a setting, says something."""
        own = any(option.name == name for option in self.task.options)
        return own or name in self.annotations or f"{_OF_ALL}{name}" in self.settings

    def _noted(self, name: str, said: Said) -> Said:
        """What is said, and among the unknown things if it cannot be told."""
        named = said.value.value if isinstance(said.value, Known) else None
        if isinstance(named, Reference) and named.kind == "library" and name not in _EXCEPTIONS:
            said = replace(said, value=Unknown(f"{named.path} is not known"))
        if isinstance(said.value, Unknown):
            self.unknown[f"{name}: {said.value.reason}"] = None
        elif said.value.environment:
            self.unknown[f"{name}: environment variable {said.value.environment} may say otherwise"] = None
        return said

    def _annotations(self) -> Mapping[str, Said]:
        """Options set from outside: the annotation of all tasks wins over that of this one."""
        said = self.setting("task_annotations")
        held = said.value.value if isinstance(said.value, Known) else None
        each_of = held if isinstance(held, list | tuple) else [held]
        tables = [each for each in each_of if isinstance(each, dict)]
        if isinstance(said.value, Unknown):
            self.hidden = said.value.reason
        elif held is not None and (len(tables) < len(each_of) or any(... in table for table in tables)):
            self.hidden = f"{said.written} could not be read as a whole"
            self.unknown[f"some options: {self.hidden}"] = None
        found: dict[str, Said] = {}
        for key in (self.task.name, "*"):
            options = next((table[key] for table in tables if key in table), None)
            for name, value in options.items() if isinstance(options, dict) else ():
                if isinstance(name, str):
                    found[name] = Said(lifted(value, said.value.environment), f"{said.written}: {name}", said.site)
        return found

    def _flag(self, said: Said, default: bool) -> bool | None:
        """A truth value, or None if it is not known."""
        if isinstance(said.value, Unknown):
            return None
        return default if said.value.value is None else bool(said.value.value)

    def _number(self, said: Said) -> float | None:
        return seconds(said.value.value) if isinstance(said.value, Known) else None

    def _amount(self, said: Said) -> Amount | None:
        number = self._number(said)
        return Amount(number, said.text, said.site) if number is not None else None

    def _in_vain(self) -> Iterable[Useless]:
        """Options that say how a task is retried which nothing ever retries."""
        if self.hidden:
            return
        for name in ("max_retries", "default_retry_delay", "retry_kwargs", "retry_backoff"):
            own = next((option for option in self.task.options if option.name == name), None)
            if own is None or own.source == "base class":
                continue
            value = self.evaluate(own)
            if isinstance(value, Known) and value.value and value.value is not None:
                said = Said(value, name, own.site)
                reason = "neither autoretry_for nor a call of self.retry() ever retries the task"
                yield Useless(own.site, said.text, reason, "add autoretry_for=(...), or leave it out", minor=True)
                return

    # --- The broker

    def _holds_delayed(self, broker: _Broker | None) -> bool:
        """Whether a worker holds a message until its time has come; with quorum queues the broker does since 5.5."""
        quorum = self.setting("task_default_queue_type").value == Known("quorum")
        return not (broker is _RABBITMQ and quorum and (self.version is None or self.version >= (5, 5)))

    def _broker(self) -> _Broker | None:
        for name in ("broker_url", "broker_read_url", "broker_transport"):
            said = self.setting(name)
            value = said.value.value if isinstance(said.value, Known) else None
            address = str(value[0]) if isinstance(value, list | tuple) and value else start_of(said.value)
            scheme, found, _ = address.partition("://")
            if found or (isinstance(said.value, Known) and address):
                return _BROKERS.get(scheme.lower().partition("+")[0]) or _Broker(scheme)
        if not {"broker_url", "broker_read_url", "broker_transport"} & set(self.settings):
            self.unknown["broker_url: not set in the project"] = None
        return None

    def _lease(self, broker: _Broker | None) -> Amount | None:
        """How long the broker waits for an acknowledgement."""
        if broker is not None and not broker.settable:
            return Amount(broker.lease, f"{broker.title}'s default {broker.by}") if broker.lease else None
        options = self.setting("broker_transport_options")
        queues = self._item(options, "predefined_queues")
        if queues is not None and broker is not None and broker.title == "SQS":
            self.unknown["visibility_timeout: with predefined_queues it is an attribute of the queue"] = None
            return None
        given = self._item(options, "visibility_timeout")
        if given is None:
            return Amount(broker.lease, f"{broker.title}'s default {broker.by}") if broker and broker.lease else None
        number = self._number(given)
        if number is None:
            self._noted("visibility_timeout", given)
            return None
        return Amount(number, f"visibility_timeout={shown(given.value)}", options.site)

    def _item(self, said: Said, key: str) -> Said | None:
        """A member of a dict that is a setting; None if it is known not to be there."""
        if said.value == Known(None):
            return None
        found = member(said.value, Known(key))
        return Said(found, key, said.site) if found is not None else None

    def _time_limit(self) -> Amount | None:
        """How long a run may take: to the hard limit, or to the soft one where nothing else ends it."""
        for name in ("time_limit", "soft_time_limit"):
            declared = self._amount(self.option(name))
            # A message may bring along a limit of its own.
            sent = [option for option in self.task.options if option.name == name and option.source == "message"]
            amounts = [self._amount(self._noted(name, Said(self.evaluate(each), name, each.site))) for each in sent]
            known = [amount for amount in (declared, *amounts) if amount is not None]
            if known:
                return max(known, key=lambda amount: amount.seconds)
        return None

    # --- Retries

    def _autoretry(self, swallows: bool) -> list[Retry]:
        said = self.option("autoretry_for")
        held = said.value.value if isinstance(said.value, Known) else (said.value,)
        kinds = list(held) if isinstance(held, list | tuple | set) else [held] if held else []
        # An exception that never leaves the body is none to retry on.
        if not kinds or swallows:
            return []
        retry_kwargs = self.option("retry_kwargs")
        limit = self._item(retry_kwargs, "max_retries")
        again, endless = self._limit(None if limit is None else limit.value)
        delay, longest = self._spacing(retry_kwargs, again)
        unless = self.option("dont_autoretry_for").value
        left_out = unless.value if isinstance(unless, Known) and isinstance(unless.value, list | tuple) else ()
        if again == 0:
            return []
        return [Retry("exception", _paths(kinds), _paths(left_out), again, endless, delay, longest, said.site)]

    def _calls(self, retried: Iterable[RetryCall]) -> list[Retry]:
        found = []
        for call in retried:
            again, endless = self._limit(call.arguments.get("max_retries"))
            countdown = call.arguments.get("countdown")
            delay = self._default_delay()
            if countdown is not None and countdown != Known(None):
                delay = self._amount(Said(countdown, "countdown", call.site))
            elif "eta" in call.arguments and call.arguments["eta"] != Known(None):
                delay = None
            if again != 0:
                found.append(Retry("call", call.exceptions, (), again, endless, delay, delay, call.site))
        return found

    def _given_back(self, retried: Iterable[RetryCall]) -> Iterable[Retry]:
        """Where the task gives its message back to the queue, which a message that is acknowledged already is not."""
        for call in retried:
            if call.path.endswith(_REJECT):
                requeue = call.get("requeue", "#1")
                if isinstance(requeue, Unknown):
                    self.unknown[f"requeue: {requeue.reason}"] = None
                elif requeue.value:
                    yield Retry("call", call.exceptions, (), None, True, None, None, call.site)

    def _on_lost_process(self) -> list[Retry]:
        said = self.option("retry_on_worker_lost")
        again, endless = self._limit(None)
        if not self._flag(said, False) or again == 0:
            return []
        delay = self._default_delay()
        return [Retry("process-lost", (), (), again, endless, delay, delay, said.site)]

    def _limit(self, given: Value | None) -> tuple[int | None, bool]:
        """How often at most, and whether nothing limits it. None at a call leaves the word to the task's option, where
        it means without end."""
        value = given
        if value is None or value == Known(None):
            value = self.option("max_retries").value if self._has("max_retries") else Known(MAX_RETRIES)
            if value == Known(None):
                return None, True
        number = value.value if isinstance(value, Known) else None
        return (max(int(number), 0), False) if isinstance(number, int | float) else (None, False)

    def _default_delay(self) -> Amount | None:
        if self._has("default_retry_delay"):
            return self._amount(self.option("default_retry_delay"))
        return Amount(RETRY_DELAY, "the default retry delay")

    def _spacing(self, retry_kwargs: Said, again: int | None) -> tuple[Amount | None, Amount | None]:
        """The first and the longest wait before an automatic retry."""
        backoff = self.option("retry_backoff")
        if isinstance(backoff.value, Unknown):
            return None, None
        if not backoff.value.value:
            countdown = self._item(retry_kwargs, "countdown")
            delay = self._default_delay() if countdown is None else self._amount(countdown)
            return delay, delay
        factor = float(int(max(1.0, self._number(backoff) or 1.0)))
        said = self.option("retry_backoff_max")
        cap = self._number(said) if self._has("retry_backoff_max") else BACKOFF_MAX
        if cap is None:
            return Amount(factor, backoff.text, backoff.site), None
        reached = factor * 2 ** min((again or 1) - 1, 40) if again is not None else cap
        longest = Amount(min(cap, reached), backoff.text, backoff.site)
        if reached >= cap and self._has("retry_backoff_max"):
            longest = Amount(cap, said.text, said.site)
        return Amount(min(cap, factor), backoff.text, backoff.site), longest

    def _of_retry(self, retry: Retry) -> Cause:
        count = "without end" if retry.endless else "" if retry.again is None else at_most(retry.again)
        match retry.kind:
            case "exception":
                kind, said = "retry", self.option("autoretry_for").text
                rest = f"run again {count} on {_named(retry.on)}"
            case "call":
                kind, said = "retry-call", "self.retry()"
                rest = f"sent again {count} with the same task id"
            case _:
                kind, said = "process-lost", self.option("retry_on_worker_lost").text
                rest = f"sent again {count} when the worker's process dies"
        return Cause(kind, f"{said}: {' '.join(rest.split())}", retry.site, retry.again, retry.endless)

    # --- Acknowledgement

    def _late(self, late: Said, broker: _Broker | None, lease: Amount | None, limit: Amount | None) -> Iterable[Cause]:
        if lease and limit and limit.seconds > lease.seconds:
            text = f"{lease.text}: handed out again after {lease} while a run may take {limit} ({limit.text})"
            yield Cause("lease", text, lease.site)
        elif lease and not limit:
            self.remarks.append(f"no time limit keeps a run below the {lease} after which it is handed out again")
        timeout = self.option("acks_on_timeout")
        if self._flag(timeout, True) is True and timeout.value == Known(None):
            timeout = self.option("acks_on_failure_or_timeout")
        requeues = self.version is None or self.version >= (5, 5)
        if self._flag(timeout, True) is False and limit and requeues:
            text = f"{timeout.text}: put back and run again each time the time limit of {limit} cuts it"
            yield Cause("timeout", text, timeout.site, endless=True)
        yield from self._rejected(broker)
        yield Cause("worker-lost", f"{late.text}: redelivered when the worker's host or connection dies", late.site)
        if not self._flag(self.setting("worker_cancel_long_running_tasks_on_connection_loss"), False):
            text = f"{late.text}: a lost connection hands it to another worker while the first run goes on"
            yield Cause("connection-lost", text, late.site)
        if self._flag(self.setting("worker_deduplicate_successful_tasks"), False):
            self.remarks.append("worker_deduplicate_successful_tasks skips only runs whose success is already stored")

    def _rejected(self, broker: _Broker | None) -> Iterable[Cause]:
        said = self.option("reject_on_worker_lost")
        if not self._flag(said, False):
            return
        text = f"{said.text}: put back each time the worker's process dies under it"
        if self.version is not None and self.version < (4, 4, 3):
            yield Cause("process-lost", f"{said.text}: put back once if the worker's process dies", said.site, 1)
        elif broker is _RABBITMQ and self.setting("task_default_queue_type").value == Known("quorum"):
            yield Cause("process-lost", f"{text}, until the queue's delivery limit", said.site)
        else:
            yield Cause("process-lost", text, said.site, endless=True)

    def _early(self, late: Said, is_late: bool | None, broker: _Broker | None, lease: Amount | None) -> Iterable[Cause]:
        what = "only a message prefetched behind a long task, published twice or re-sent by hand runs again"
        prefetches = not self._flag(self.setting("worker_disable_prefetch"), False)
        if lease and broker is not _RABBITMQ and prefetches:
            text = f"{lease.text}: a message prefetched behind a long task is handed out again after {lease}"
            yield Cause("prefetched", text, lease.site)
        if not prefetches:
            what = "only a message published twice or re-sent by hand runs again"
        if is_late is None:
            said = f"{late.written or 'acks_late'} is not known, early ack is the default"
        else:
            said = late.text if late.written else "default early ack"
        yield Cause("early-ack", f"{said}: {what}", late.site)


def useless(settings: Sequence[Setting]) -> Iterable[Useless]:
    """Members of the transport's options that it does not look at."""
    for option in settings:
        held = option.value if option.name == "broker_transport_options" and not option.ignored else None
        if not isinstance(held, dict) or not {"visibility_timeout", "predefined_queues"} <= held.keys():
            continue
        urls = [each for each in settings if each.name == "broker_url" and each.app == option.app]
        if option.site is not None and any(str(each.value or "").startswith("sqs") for each in urls):
            reason = "queues in predefined_queues keep the visibility timeout they were made with"
            fix = "set VisibilityTimeout on the queues themselves"
            yield Useless(option.site, f'{option.written}["visibility_timeout"]', reason, fix)


def _paths(kinds: Iterable[object]) -> tuple[str, ...]:
    return tuple(kind.path for kind in kinds if isinstance(kind, Reference))


def _named(paths: tuple[str, ...]) -> str:
    """The exceptions of a retry, as "this exception"."""
    if "builtins.Exception" in paths or "builtins.BaseException" in paths:
        return "any exception"
    return "these exceptions" if len(paths) != 1 else "this exception"
