"""Why and when a job of RQ runs again, and whether django-rq holds it back until the commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from delivering import causes, delivered, lifted, made, setting, waits

from idemlint.delivery import RetryCall, sent_on_commit
from idemlint.link.values import Known, Unknown
from idemlint.program import Site

RETRY = "rq.Retry"

CASES: Mapping[str, tuple[dict[str, Any], str, str]] = {
    "nothing is said": ({}, "early-ack", "NOTE"),
    "retries": ({"retry": made(RETRY, max=3)}, "retry=3 worker-lost=3", "ERROR"),
    "retries by position": ({"retry": made("rq.job.Retry", 2)}, "retry=2 worker-lost=2", "ERROR"),
    "no retries": ({"retry": None}, "early-ack", "NOTE"),
    "retries that nobody can tell": ({"retry": Unknown("passed in")}, "early-ack", "WARNING"),
    "retries, as many as nobody can tell": ({"retry": made(RETRY, max=Unknown("x"))}, "retry worker-lost", "ERROR"),
}


@pytest.mark.parametrize(("options", "expected", "cap"), CASES.values(), ids=CASES)
def test_causes(options: dict[str, Any], expected: str, cap: str) -> None:
    found = delivered("rq", options)
    assert (causes(found), found.cap.name) == (expected, cap)


def test_a_body_that_swallows_everything_is_run_again_only_when_the_worker_dies() -> None:
    found = delivered("rq", {"retry": made(RETRY, max=3)}, swallows=True)
    assert (causes(found), found.retries) == ("worker-lost=3", ())


def test_waits() -> None:
    assert waits(delivered("rq", {"retry": made(RETRY, max=3)})) == [("0 s", "0 s")]
    assert waits(delivered("rq", {"retry": made(RETRY, max=3, interval=[10, 3600])})) == [("10 s", "1 h")]
    assert waits(delivered("rq", {"retry": made(RETRY, max=3, interval=60)})) == [("1 min", "1 min")]


def test_time_limit() -> None:
    queues = {"default": {"DEFAULT_TIMEOUT": 360}, "low": {"DEFAULT_TIMEOUT": 360}}
    assert str(delivered("rq").time_limit) == "3 min"
    assert str(delivered("rq", {"job_timeout": 600}).time_limit) == "10 min"
    assert str(delivered("rq", {}, {"RQ_QUEUES": queues}).time_limit) == "6 min"
    assert delivered("rq", {}, {"RQ_QUEUES": {**queues, "high": {}}}).time_limit is None


def test_time_limits_in_words_and_without_end() -> None:
    assert str(delivered("rq", {"job_timeout": "1h"}).time_limit) == "1 h"
    assert str(delivered("rq", {"job_timeout": "600"}).time_limit) == "10 min"
    assert delivered("rq", {"job_timeout": -1}).time_limit is None
    assert delivered("rq", {"job_timeout": Unknown("passed in")}).time_limit is None


def test_a_queue_brings_its_own_time_limit() -> None:
    queue = made("rq.Queue", "orders", default_timeout=3600)
    assert str(delivered("rq", {"queue": queue}).time_limit) == "1 h"
    assert str(delivered("rq", {"queue": queue, "job_timeout": 60}).time_limit) == "1 min"
    assert str(delivered("rq", {"queue": made("rq.Queue", "orders")}).time_limit) == "3 min"
    assert str(delivered("rq", {"queue": "orders"}).time_limit) == "3 min"
    assert delivered("rq", {"queue": Unknown("passed in")}).time_limit is None


ASKED = RetryCall(Site("shop/tasks.py", 3, 20), (), {"max": Known(3), "interval": Known(60)}, "rq.Retry")


@pytest.mark.parametrize(
    ("options", "version", "expected", "cap"),
    [
        ({}, None, "retry-call=3", "ERROR"),
        ({"retry": made(RETRY, max=2)}, (2, 1), "retry=2 retry-call=3 worker-lost=2", "ERROR"),
        # Before, what a job returns is its result and nothing more.
        ({}, (2, 0), "early-ack", "NOTE"),
    ],
)
def test_a_job_that_returns_a_retry(
    options: dict[str, Any], version: tuple[int, ...] | None, expected: str, cap: str
) -> None:
    found = delivered("rq", options, version=version, retried=(ASKED,))
    assert (causes(found), found.cap.name) == (expected, cap)


COMMITS: Mapping[str, tuple[dict[str, Any], dict[str, tuple[int, ...]], bool | None]] = {
    "the default since 4": ({}, {"django-rq": (4, 2)}, True),
    "the default before": ({}, {"django-rq": (3, 0)}, False),
    "a version nobody knows": ({}, {}, None),
    "auto": ({"RQ.COMMIT_MODE": "auto"}, {"django-rq": (4, 2)}, False),
    "on_db_commit": ({"RQ.COMMIT_MODE": "on_db_commit"}, {}, True),
    "the old name": ({"RQ.AUTOCOMMIT": True}, {"django-rq": (4, 2)}, False),
    "a mode nobody can tell": ({"RQ.COMMIT_MODE": Unknown("passed in")}, {}, None),
}


@pytest.mark.parametrize(("settings", "versions", "expected"), COMMITS.values(), ids=COMMITS)
def test_commit(settings: dict[str, Any], versions: dict[str, tuple[int, ...]], expected: bool | None) -> None:
    found = [setting("rq", name, lifted(value)) for name, value in settings.items()]
    assert sent_on_commit("rq", found, versions) is expected
