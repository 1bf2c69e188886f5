"""Why and when a job of arq runs again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from delivering import DECORATOR, causes, delivered

from idemlint.delivery import RetryCall

CASES: Mapping[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "nothing is said": ({}, {}, "worker-lost=4", "ERROR"),
    "the worker says how often": ({}, {"max_tries": 2}, "worker-lost=1", "ERROR"),
    "the function knows better": ({"max_tries": 3}, {"max_tries": 2}, "worker-lost=2", "ERROR"),
    "one try": ({"max_tries": 1}, {}, "early-ack", "NOTE"),
    "jobs that are cut are dropped": ({}, {"retry_jobs": False}, "early-ack", "NOTE"),
    "a cron job": ({"hour": 3}, {"max_tries": 2}, "early-ack", "NOTE"),
    "a cron job with tries": ({"hour": 3, "max_tries": 2}, {}, "worker-lost=1", "ERROR"),
    "an actor of old": ({}, {"actors": True}, "early-ack", "NOTE"),
}


@pytest.mark.parametrize(("options", "settings", "expected", "cap"), CASES.values(), ids=CASES)
def test_causes(options: dict[str, Any], settings: dict[str, Any], expected: str, cap: str) -> None:
    found = delivered("arq", options, settings)
    assert (causes(found), found.cap.name) == (expected, cap)


def test_before_016_a_job_was_taken_off_first() -> None:
    assert causes(delivered("arq", version=(0, 15, 1))) == "early-ack"
    assert causes(delivered("arq", version=(0, 16))) == "worker-lost=4"


def test_a_body_may_ask_for_another_run() -> None:
    assert causes(delivered("arq", retried=(RetryCall(DECORATOR),))) == "retry-call=4 worker-lost=4"


def test_time_limit() -> None:
    assert str(delivered("arq").time_limit) == "5 min"
    assert str(delivered("arq", {}, {"job_timeout": 60}).time_limit) == "1 min"
    assert str(delivered("arq", {"timeout": 30}, {"job_timeout": 60}).time_limit) == "30 s"
