"""Why and when a Celery task runs again: tables of options and settings, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from idemlint.delivery import Cause, Delivery, RetryCall, deliver
from idemlint.delivery.cause import spelled
from idemlint.diagnostic import Severity
from idemlint.link.values import Known, Reference, Unknown, Value
from idemlint.program import NOTHING, Option, Setting, Site, Task
from idemlint.syntax import facts as f

DEF = Site("shop/tasks.py", 3, 0)
DECORATOR = Site("shop/tasks.py", 3, 1)
CONFIG = Site("config/celery.py", 2, 5)

EARLY = "only a message prefetched behind a long task, published twice or re-sent by hand runs again"


def delivered(
    options: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    version: tuple[int, ...] | None = (5, 7, 0),
    retried: tuple[RetryCall, ...] = (),
    swallows: bool = False,
) -> Delivery:
    values = {
        name: value if isinstance(value, Known | Unknown) else Known(value) for name, value in (options or {}).items()
    }
    task = Task(
        id="shop.tasks:charge",
        name="shop.tasks.charge",
        framework="celery",
        body="shop.tasks:charge",
        function="charge",
        site=DEF,
        declared=DECORATOR,
        options=tuple(Option(name, f.Name(0, name), "shop.tasks", DECORATOR, "decorator") for name in values),
        app="config.celery:app",
    )
    return deliver(
        task,
        tuple(setting(name, value) for name, value in (settings or {}).items()),
        lambda option: values[option.name],
        version,
        retried,
        swallows,
    )


def setting(name: str, value: object, app: str | None = "config.celery:app", ignored: str = "") -> Setting:
    worth: Value = value if isinstance(value, Known | Unknown) else Known(value)
    known = isinstance(worth, Known)
    return Setting(
        name=name,
        written=name.upper(),
        value=worth.value if isinstance(worth, Known) else worth.start or None,
        known=known,
        site=CONFIG,
        reason=worth.reason if isinstance(worth, Unknown) else "",
        framework="celery",
        app=app,
        environment=worth.environment,
        ignored=ignored,
    )


def kinds(found: Delivery) -> list[str]:
    return [cause.kind for cause in found.causes]


def texts(found: Delivery) -> list[str]:
    return [cause.text for cause in found.causes]


REDIS = {"broker_url": "redis://redis:6379/0"}
RABBITMQ = {"broker_url": "amqp://"}
SQS = {"broker_url": "sqs://"}
LATE = {"acks_late": True}
TIMEOUT = (Reference("requests.Timeout"),)

CAUSES: Mapping[str, tuple[dict[str, Any], dict[str, Any], list[str], Severity]] = {
    "nothing is said": ({}, RABBITMQ, ["early-ack"], Severity.WARNING),
    "late ack": (LATE, RABBITMQ, ["worker-lost", "connection-lost"], Severity.ERROR),
    "late ack by setting": (
        {},
        {**RABBITMQ, "task_acks_late": True},
        ["worker-lost", "connection-lost"],
        Severity.ERROR,
    ),
    "early ack of a task where late ack is the rule": (
        {"acks_late": False},
        {**RABBITMQ, "task_acks_late": True},
        ["early-ack"],
        Severity.WARNING,
    ),
    "an option of None leaves it to the setting": (
        {"acks_late": None},
        {**RABBITMQ, "task_acks_late": True},
        ["worker-lost", "connection-lost"],
        Severity.ERROR,
    ),
    "early ack on Redis": ({}, REDIS, ["prefetched", "early-ack"], Severity.WARNING),
    "early ack on SQS": ({}, SQS, ["prefetched", "early-ack"], Severity.WARNING),
    "early ack on Redis without prefetching": (
        {},
        {**REDIS, "worker_disable_prefetch": True},
        ["early-ack"],
        Severity.WARNING,
    ),
    "automatic retries": ({"autoretry_for": TIMEOUT}, RABBITMQ, ["retry", "early-ack"], Severity.ERROR),
    "automatic retries from a list": (
        {"autoretry_for": list(TIMEOUT)},
        RABBITMQ,
        ["retry", "early-ack"],
        Severity.ERROR,
    ),
    "automatic retries on nothing": ({"autoretry_for": ()}, RABBITMQ, ["early-ack"], Severity.WARNING),
    "no retries left": ({"autoretry_for": TIMEOUT, "max_retries": 0}, RABBITMQ, ["early-ack"], Severity.WARNING),
    "options of retries alone retry nothing": (
        {"max_retries": 5, "default_retry_delay": 5, "retry_backoff": True},
        RABBITMQ,
        ["early-ack"],
        Severity.WARNING,
    ),
    "retries and late ack": (
        {"autoretry_for": TIMEOUT, **LATE},
        RABBITMQ,
        ["retry", "worker-lost", "connection-lost"],
        Severity.ERROR,
    ),
    "a lost process, with late ack": (
        {**LATE, "reject_on_worker_lost": True},
        RABBITMQ,
        ["process-lost", "worker-lost", "connection-lost"],
        Severity.ERROR,
    ),
    "rejecting means nothing with early ack": (
        {"reject_on_worker_lost": True},
        RABBITMQ,
        ["early-ack"],
        Severity.WARNING,
    ),
    "a lost process, retried even with early ack": (
        {},
        {**RABBITMQ, "task_retry_on_worker_lost": True},
        ["process-lost", "early-ack"],
        Severity.ERROR,
    ),
    "runs are ended when the connection is lost": (
        LATE,
        {**RABBITMQ, "worker_cancel_long_running_tasks_on_connection_loss": True},
        ["worker-lost"],
        Severity.ERROR,
    ),
    "a time limit above the lease": (
        {**LATE, "time_limit": 7200},
        REDIS,
        ["lease", "worker-lost", "connection-lost"],
        Severity.ERROR,
    ),
    "a time limit below the lease": (
        {**LATE, "time_limit": 3600},
        REDIS,
        ["worker-lost", "connection-lost"],
        Severity.ERROR,
    ),
    "a time limit above the lease, with early ack": (
        {"time_limit": 7200},
        REDIS,
        ["prefetched", "early-ack"],
        Severity.WARNING,
    ),
    "a timeout that is not acknowledged": (
        {**LATE, "time_limit": 60, "acks_on_failure_or_timeout": False},
        RABBITMQ,
        ["timeout", "worker-lost", "connection-lost"],
        Severity.ERROR,
    ),
    "a timeout that is not acknowledged, by the newer option": (
        {**LATE, "time_limit": 60, "acks_on_timeout": False},
        {**RABBITMQ, "task_acks_on_failure_or_timeout": True},
        ["timeout", "worker-lost", "connection-lost"],
        Severity.ERROR,
    ),
    "the newer option wins": (
        {**LATE, "time_limit": 60, "acks_on_timeout": True, "acks_on_failure_or_timeout": False},
        RABBITMQ,
        ["worker-lost", "connection-lost"],
        Severity.ERROR,
    ),
    "a failure that is not acknowledged is dropped": (
        {**LATE, "time_limit": 60, "acks_on_failure": False},
        RABBITMQ,
        ["worker-lost", "connection-lost"],
        Severity.ERROR,
    ),
    "no time limit, no timeout": (
        {**LATE, "acks_on_failure_or_timeout": False},
        RABBITMQ,
        ["worker-lost", "connection-lost"],
        Severity.ERROR,
    ),
    "an annotation of this task": (
        {},
        {**RABBITMQ, "task_annotations": {"shop.tasks.charge": {"acks_late": True}}},
        ["worker-lost", "connection-lost"],
        Severity.ERROR,
    ),
    "an annotation of another task": (
        {},
        {**RABBITMQ, "task_annotations": {"shop.tasks.other": {"acks_late": True}}},
        ["early-ack"],
        Severity.WARNING,
    ),
    "the annotation of all tasks wins over the task and over its own": (
        LATE,
        {**RABBITMQ, "task_annotations": {"*": {"acks_late": False}, "shop.tasks.charge": {"acks_late": True}}},
        ["early-ack"],
        Severity.WARNING,
    ),
    "a list of annotations": (
        {},
        {**RABBITMQ, "task_annotations": [{"other": {}}, {"*": {"autoretry_for": TIMEOUT}}]},
        ["retry", "early-ack"],
        Severity.ERROR,
    ),
}


@pytest.mark.parametrize(("options", "settings", "expected", "cap"), CAUSES.values(), ids=CAUSES)
def test_causes_and_cap_follow_from(
    options: dict[str, Any], settings: dict[str, Any], expected: list[str], cap: Severity
) -> None:
    found = delivered(options, settings)
    assert (kinds(found), found.cap) == (expected, cap)
    assert found.at_least_once is (cap is Severity.ERROR)
    assert found.unknown == ()


WORDS: Mapping[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "the default": ({}, RABBITMQ, f"default early ack: {EARLY}"),
    "an early ack as written": ({"acks_late": False}, RABBITMQ, f"acks_late=False: {EARLY}"),
    "a setting as written": (
        {},
        {**RABBITMQ, "task_acks_late": True},
        "TASK_ACKS_LATE=True: redelivered when the worker's host or connection dies",
    ),
    "a late ack": (LATE, RABBITMQ, "acks_late=True: redelivered when the worker's host or connection dies"),
    "an annotation": (
        {},
        {**RABBITMQ, "task_annotations": {"*": LATE}},
        "TASK_ANNOTATIONS: acks_late=True: redelivered when the worker's host or connection dies",
    ),
    "a default of the environment": (
        {"acks_late": Known(True, "LATE")},
        RABBITMQ,
        "acks_late=True (the default of LATE): redelivered when the worker's host or connection dies",
    ),
    "one exception": (
        {"autoretry_for": TIMEOUT, "max_retries": 5},
        RABBITMQ,
        "autoretry_for=(Timeout,): run again up to 5 times on this exception",
    ),
    "several exceptions, the default count": (
        {"autoretry_for": (*TIMEOUT, Reference("shop.errors:Busy", "class"))},
        RABBITMQ,
        "autoretry_for=(Timeout, Busy): run again up to 3 times on these exceptions",
    ),
    "any exception": (
        {"autoretry_for": (Reference("builtins.Exception"),), "retry_kwargs": {"max_retries": 1}},
        RABBITMQ,
        "autoretry_for=(Exception,): run again once on any exception",
    ),
    "no end": (
        {"autoretry_for": TIMEOUT, "max_retries": None},
        RABBITMQ,
        "autoretry_for=(Timeout,): run again without end on this exception",
    ),
    "an unknown count": (
        {"autoretry_for": TIMEOUT, "max_retries": Unknown("environment variable N")},
        RABBITMQ,
        "autoretry_for=(Timeout,): run again on this exception",
    ),
    "a lost process": (
        {"retry_on_worker_lost": True},
        RABBITMQ,
        "retry_on_worker_lost=True: sent again up to 3 times when the worker's process dies",
    ),
    "a lease": (
        {**LATE, "time_limit": 1800},
        {**REDIS, "broker_transport_options": {"visibility_timeout": 300}},
        "visibility_timeout=300: handed out again after 5 min while a run may take 30 min (time_limit=1800)",
    ),
    "a default lease": (
        {**LATE, "soft_time_limit": 5400},
        REDIS,
        "Redis's default visibility_timeout: handed out again after 1 h while a run may take 90 min "
        "(soft_time_limit=5400)",
    ),
    "the broker's patience": (
        {**LATE, "time_limit": 7200},
        RABBITMQ,
        "RabbitMQ's default consumer_timeout: handed out again after 30 min while a run may take 2 h (time_limit=7200)",
    ),
    "a prefetched message": (
        {},
        REDIS,
        "Redis's default visibility_timeout: a message prefetched behind a long task is handed out again after 1 h",
    ),
}


@pytest.mark.parametrize(("options", "settings", "text"), WORDS.values(), ids=WORDS)
def test_the_first_cause_is_told_in_words(options: dict[str, Any], settings: dict[str, Any], text: str) -> None:
    assert texts(delivered(options, settings))[0] == text


def test_a_cause_stands_where_it_is_written() -> None:
    assert delivered(LATE, RABBITMQ).causes[0].site == DECORATOR
    assert delivered({}, {"task_acks_late": True}).causes[0].site == CONFIG
    assert delivered({}, RABBITMQ).causes[0].site is None
    leased = delivered({**LATE, "time_limit": 600}, {**REDIS, "broker_transport_options": {"visibility_timeout": 300}})
    assert (leased.causes[0].site, leased.lease and leased.lease.site) == (CONFIG, CONFIG)


def test_a_task_that_lets_no_exception_out_is_not_retried_and_early_ack_makes_it_a_note() -> None:
    found = delivered({"autoretry_for": TIMEOUT}, RABBITMQ, swallows=True)
    assert (kinds(found), found.cap) == (["early-ack"], Severity.NOTE)
    assert delivered(LATE, RABBITMQ, swallows=True).cap is Severity.ERROR
    assert delivered({"acks_late": Unknown("?")}, RABBITMQ, swallows=True).cap is Severity.WARNING


# --- Retries


def test_a_call_of_retry_repeats_the_task() -> None:
    call = RetryCall(Site("shop/tasks.py", 3, 40), ("requests.Timeout",))
    found = delivered({"bind": True}, RABBITMQ, retried=(call,))
    assert found.cap is Severity.ERROR
    assert found.causes[0] == Cause(
        "retry-call", "self.retry(): sent again up to 3 times with the same task id", call.site, 3
    )
    (retry,) = found.retries
    assert (retry.kind, retry.on, retry.again) == ("call", ("requests.Timeout",), 3)
    assert retry.delay is not None
    assert retry.delay.seconds == 180


CALLS: Mapping[str, tuple[dict[str, Any], dict[str, Value], tuple[int | None, bool], float | None]] = {
    "defaults": ({}, {}, (3, False), 180),
    "a limit at the call": ({"max_retries": 9}, {"max_retries": Known(5)}, (5, False), 180),
    "None at the call means the task's limit": ({"max_retries": 9}, {"max_retries": Known(None)}, (9, False), 180),
    "None at the task means no end": ({"max_retries": None}, {}, (None, True), 180),
    "an unknown limit": ({}, {"max_retries": Unknown("?")}, (None, False), 180),
    "a wait at the call": ({"default_retry_delay": 60}, {"countdown": Known(7)}, (3, False), 7),
    "a wait of the task": ({"default_retry_delay": 60}, {}, (3, False), 60),
    "an unknown wait": ({}, {"countdown": Unknown("2 ** retries")}, (3, False), None),
    "an absolute time": ({}, {"eta": Unknown("?")}, (3, False), None),
}


@pytest.mark.parametrize(("options", "arguments", "limit", "delay"), CALLS.values(), ids=CALLS)
def test_how_often_and_how_soon_a_call_repeats(
    options: dict[str, Any], arguments: dict[str, Value], limit: tuple[int | None, bool], delay: float | None
) -> None:
    (retry,) = delivered(options, RABBITMQ, retried=(RetryCall(DEF, (), arguments),)).retries
    assert ((retry.again, retry.endless), retry.delay.seconds if retry.delay else None) == (limit, delay)


SPACING: Mapping[str, tuple[dict[str, Any], float | None, float | None]] = {
    "the default": ({}, 180, 180),
    "a delay of the task": ({"default_retry_delay": 30}, 30, 30),
    "a countdown of the retries": ({"retry_kwargs": {"countdown": 7200}}, 7200, 7200),
    "backoff": ({"retry_backoff": True, "max_retries": 5}, 1, 16),
    "backoff from a number": ({"retry_backoff": 60, "max_retries": 3}, 60, 240),
    "backoff up to its default limit": ({"retry_backoff": True, "max_retries": 20}, 1, 600),
    "backoff up to a limit": ({"retry_backoff": 60, "max_retries": 20, "retry_backoff_max": 7200}, 60, 7200),
    "backoff without end": ({"retry_backoff": 5, "max_retries": None}, 5, 600),
    "backoff that is not known": ({"retry_backoff": Unknown("?")}, None, None),
    "a limit that is not known": ({"retry_backoff": 5, "retry_backoff_max": Unknown("?")}, 5, None),
}


@pytest.mark.parametrize(("options", "delay", "longest"), SPACING.values(), ids=SPACING)
def test_how_automatic_retries_are_spaced(options: dict[str, Any], delay: float | None, longest: float | None) -> None:
    (retry,) = delivered({"autoretry_for": TIMEOUT, **options}, RABBITMQ).retries
    found = [amount.seconds if amount else None for amount in (retry.delay, retry.longest)]
    assert found == [delay, longest]


def test_exceptions_may_be_left_out_of_automatic_retries() -> None:
    options = {"autoretry_for": (Reference("builtins.Exception"),), "dont_autoretry_for": TIMEOUT}
    assert delivered(options, RABBITMQ).retries[0].unless == ("requests.Timeout",)
    assert delivered(options, RABBITMQ, version=(5, 2)).retries[0].unless == ()


# --- Endless redelivery


ENDLESS: Mapping[str, tuple[dict[str, Any], dict[str, Any], tuple[int, ...] | None, list[str]]] = {
    "a lost process, put back each time": ({**LATE, "reject_on_worker_lost": True}, RABBITMQ, (5, 4), ["process-lost"]),
    "a lost process, put back once": ({**LATE, "reject_on_worker_lost": True}, RABBITMQ, (4, 4, 2), []),
    "a quorum queue has a limit": (
        {**LATE, "reject_on_worker_lost": True},
        {**RABBITMQ, "task_default_queue_type": "quorum"},
        (5, 5),
        [],
    ),
    "a time limit that puts it back": (
        {**LATE, "time_limit": 5, "acks_on_failure_or_timeout": False},
        RABBITMQ,
        (5, 5),
        ["timeout"],
    ),
    "a time limit that drops it": (
        {**LATE, "time_limit": 5, "acks_on_failure_or_timeout": False},
        RABBITMQ,
        (5, 4),
        [],
    ),
    "retries without end": ({"autoretry_for": TIMEOUT, "max_retries": None}, RABBITMQ, None, ["retry"]),
    "retries of a lost process without end": (
        {"retry_on_worker_lost": True, "max_retries": None},
        RABBITMQ,
        (5, 7),
        ["process-lost"],
    ),
    "an option that the release does not know": (
        {"retry_on_worker_lost": True, "max_retries": None},
        RABBITMQ,
        (5, 6),
        [],
    ),
}


@pytest.mark.parametrize(("options", "settings", "version", "expected"), ENDLESS.values(), ids=ENDLESS)
def test_what_nothing_limits_is_said_to_be_endless(
    options: dict[str, Any], settings: dict[str, Any], version: tuple[int, ...] | None, expected: list[str]
) -> None:
    assert [cause.kind for cause in delivered(options, settings, version=version).endless] == expected


# --- The broker and its lease


LEASES: Mapping[str, tuple[dict[str, Any], str, float | None]] = {
    "Redis": (REDIS, "Redis", 3600),
    "Redis over TLS": ({"broker_url": "rediss://h"}, "Redis", 3600),
    "Redis through a socket": ({"broker_url": "redis+socket:///run/redis"}, "Redis", 3600),
    "Sentinel": ({"broker_url": "sentinel://a;sentinel://b"}, "Redis", 3600),
    "SQS": (SQS, "SQS", 1800),
    "RabbitMQ": (RABBITMQ, "RabbitMQ", 1800),
    "several addresses": ({"broker_url": ["amqp://a", "amqp://b"]}, "RabbitMQ", 1800),
    "a transport by its name": ({"broker_transport": "redis"}, "Redis", 3600),
    "the start of an address": ({"broker_url": Unknown("environment variable H", "redis://")}, "Redis", 3600),
    "a broker without a lease": ({"broker_url": "memory://"}, "the memory transport", None),
    "a timeout of one's own": ({**REDIS, "broker_transport_options": {"visibility_timeout": 43200}}, "Redis", 43200),
    "options without a timeout": ({**SQS, "broker_transport_options": {"region": "eu"}}, "SQS", 1800),
    "RabbitMQ takes no timeout from there": (
        {**RABBITMQ, "broker_transport_options": {"visibility_timeout": 5}},
        "RabbitMQ",
        1800,
    ),
    "a timeout for a broker nobody names": ({"broker_transport_options": {"visibility_timeout": 300}}, "", 300),
    "queues that exist already": (
        {**SQS, "broker_transport_options": {"visibility_timeout": 5, "predefined_queues": {}}},
        "SQS",
        None,
    ),
    "an unknown timeout": ({**REDIS, "broker_transport_options": {"visibility_timeout": Unknown("?")}}, "Redis", None),
    "unknown options": ({**REDIS, "broker_transport_options": Unknown("?")}, "Redis", None),
    "options known in part": (
        {**REDIS, "broker_transport_options": {...: Unknown("?"), "visibility_timeout": 60}},
        "Redis",
        60,
    ),
    "nothing": ({}, "", None),
}


@pytest.mark.parametrize(("settings", "broker", "lease"), LEASES.values(), ids=LEASES)
def test_the_lease_is_that_of_the_broker(settings: dict[str, Any], broker: str, lease: float | None) -> None:
    found = delivered({}, settings)
    assert (found.broker, found.lease.seconds if found.lease else None) == (broker, lease)


def test_the_time_limit_is_the_hard_one_or_else_the_soft_one() -> None:
    def limit(options: dict[str, Any], settings: dict[str, Any] | None = None) -> float | None:
        found = delivered(options, {**RABBITMQ, **(settings or {})}).time_limit
        return found.seconds if found else None

    assert limit({}) is None
    assert limit({"time_limit": 60, "soft_time_limit": 50}) == 60
    assert limit({"soft_time_limit": 50}) == 50
    assert limit({"time_limit": 60}, {"task_time_limit": 600}) == 60
    assert limit({}, {"task_time_limit": 600}) == 600


def test_without_a_time_limit_the_lease_is_only_remarked_upon() -> None:
    found = delivered(LATE, REDIS)
    assert found.outruns_lease is False
    assert found.remarks == ("no time limit keeps a run below the 1 h after which it is handed out again",)


def test_deduplication_of_successful_tasks_is_remarked_upon() -> None:
    found = delivered({**LATE, "time_limit": 60}, {**RABBITMQ, "worker_deduplicate_successful_tasks": True})
    assert found.remarks == ("worker_deduplicate_successful_tasks skips only runs whose success is already stored",)
    assert found.cap is Severity.ERROR


# --- What is not known


NOT_KNOWN: Mapping[str, tuple[dict[str, Any], dict[str, Any], Severity, list[str]]] = {
    "an option": (
        {"acks_late": Unknown("environment variable LATE")},
        RABBITMQ,
        Severity.WARNING,
        ["acks_late: environment variable LATE"],
    ),
    "a library's value": (
        {"acks_late": Reference("somewhere.LATE")},
        {**RABBITMQ, "task_reject_on_worker_lost": Reference("somewhere.REJECT")},
        Severity.WARNING,
        ["acks_late: somewhere.LATE is not known"],
    ),
    "a setting": (
        {},
        {**RABBITMQ, "task_acks_late": Unknown("a.py and b.py do not agree")},
        Severity.WARNING,
        ["TASK_ACKS_LATE: a.py and b.py do not agree"],
    ),
    "a default of the environment": (
        {"acks_late": Known(False, "LATE")},
        RABBITMQ,
        Severity.WARNING,
        ["acks_late: environment variable LATE may say otherwise"],
    ),
    "the exceptions of retries": (
        {"autoretry_for": Unknown("what errors() gives is not known")},
        RABBITMQ,
        Severity.ERROR,
        ["autoretry_for: what errors() gives is not known"],
    ),
    "a source of settings": (
        {},
        {**RABBITMQ, "*": Unknown("flask is passed in")},
        Severity.WARNING,
        ["some settings: flask is passed in"],
    ),
    "a time limit": (
        {**LATE, "time_limit": Unknown("?")},
        RABBITMQ,
        Severity.ERROR,
        ["time_limit: ?"],
    ),
    "the broker": ({}, {}, Severity.WARNING, ["broker_url: not set in the project"]),
    "the visibility timeout": (
        {},
        {**REDIS, "broker_transport_options": {"visibility_timeout": Unknown("environment variable V")}},
        Severity.WARNING,
        ["visibility_timeout: environment variable V"],
    ),
    "the queues' own timeout": (
        {},
        {**SQS, "broker_transport_options": {"predefined_queues": {}}},
        Severity.WARNING,
        ["visibility_timeout: with predefined_queues it is an attribute of the queue"],
    ),
    "annotations": (
        {},
        {**RABBITMQ, "task_annotations": Unknown("?")},
        Severity.WARNING,
        ["TASK_ANNOTATIONS: ?"],
    ),
}


@pytest.mark.parametrize(("options", "settings", "cap", "unknown"), NOT_KNOWN.values(), ids=NOT_KNOWN)
def test_unknown_stays_unknown_and_the_default_caps(
    options: dict[str, Any], settings: dict[str, Any], cap: Severity, unknown: list[str]
) -> None:
    found = delivered(options, settings)
    assert (found.cap, list(found.unknown)) == (cap, unknown)


def test_an_unknown_ack_is_said_not_guessed() -> None:
    found = delivered({"acks_late": Unknown("environment variable LATE")}, RABBITMQ)
    assert found.late_ack is None
    assert texts(found) == [f"acks_late is not known, early ack is the default: {EARLY}"]


def test_an_ack_that_settings_out_of_reach_may_give_is_named() -> None:
    found = delivered({}, {**RABBITMQ, "*": Unknown("flask is passed in")})
    assert texts(found) == [f"acks_late is not known, early ack is the default: {EARLY}"]


# --- Several apps


def by_app(app: str | None, *settings: Setting) -> Delivery:
    task = Task("m:t", "m.t", "celery", "m:t", "t", DEF, DECORATOR, app=app)
    return deliver(task, settings, lambda option: Unknown("no options"))


@pytest.mark.parametrize(
    ("late", "arguments", "expected"),
    [
        (True, {"#0": Known("no"), "requeue": Known(True)}, ["requeued*", "worker-lost", "connection-lost"]),
        (True, {"#0": Known("no"), "#1": Known(True)}, ["requeued*", "worker-lost", "connection-lost"]),
        (True, {"#0": Known("no"), "requeue": Known(False)}, ["worker-lost", "connection-lost"]),
        (True, {"#0": Known("no")}, ["worker-lost", "connection-lost"]),
        (True, {"requeue": Unknown("worked out in the task")}, ["worker-lost", "connection-lost"]),
        # What is acknowledged already cannot be given back.
        (False, {"requeue": Known(True)}, ["early-ack"]),
    ],
)
def test_a_message_that_is_given_back(late: bool, arguments: dict[str, Value], expected: list[str]) -> None:
    call = RetryCall(Site("shop/tasks.py", 3, 40), (), arguments, "celery.exceptions.Reject")
    found = delivered({"acks_late": late}, retried=(call,))
    assert [cause.kind + "*" * cause.endless for cause in found.causes] == expected


def test_a_task_reads_the_settings_of_its_app() -> None:
    late, early = setting("task_acks_late", True, "a:app"), setting("task_acks_late", False, "b:app")
    assert by_app("a:app", late, early).late_ack is True
    assert by_app("b:app", late, early).late_ack is False


def test_a_shared_task_reads_what_all_apps_agree_on() -> None:
    one, other = setting("task_acks_late", True, "a:app"), setting("task_acks_late", True, "b:app")
    assert by_app(None, one, other).late_ack is True
    assert by_app(None, one, setting("broker_url", "redis://", "b:app")).late_ack is None
    assert (
        "TASK_ACKS_LATE: the apps a:app, b:app do not agree on task_acks_late"
        in by_app(None, one, setting("task_acks_late", False, "b:app")).unknown
    )


def test_an_app_that_is_told_nothing_does_not_read_what_another_one_is_told() -> None:
    settings = (setting("task_acks_late", True, "a:app"), setting(NOTHING, None, "b:app"))
    assert by_app("a:app", *settings).late_ack is True
    assert by_app("b:app", *settings).late_ack is False
    shared = by_app(None, *settings)
    assert shared.late_ack is None
    assert "TASK_ACKS_LATE: the apps a:app, b:app do not agree on task_acks_late" in shared.unknown


def test_the_only_app_counts_for_every_task() -> None:
    assert by_app(None, setting("task_acks_late", True, "a:app")).late_ack is True
    assert by_app("a:alias", setting("task_acks_late", True, "a:app")).late_ack is True
    assert by_app("a:app", setting("task_acks_late", True, None)).late_ack is True


def test_a_setting_without_effect_has_none_here() -> None:
    assert by_app(None, setting("task_acks_late", True, None, ignored="no namespace")).late_ack is False


def test_a_framework_that_is_not_modelled_is_taken_to_deliver_twice_by_accident() -> None:
    task = Task("m:t", "m.t", "carrier-pigeon", "m:t", "t", DEF, DECORATOR)
    found = deliver(task, (), lambda option: Unknown(""))
    assert (found.cap, found.unknown) == (Severity.WARNING, ("how carrier-pigeon delivers is not modelled",))


def test_times_are_spelled_in_the_largest_unit_that_fits() -> None:
    assert [spelled(seconds) for seconds in (5, 90, 120, 5400, 7200, 86400, 0.5)] == [
        "5 s",
        "90 s",
        "2 min",
        "90 min",
        "2 h",
        "1 d",
        "0.5 s",
    ]
