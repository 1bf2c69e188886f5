"""Why and when a task of Huey runs again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from delivering import DECORATOR, causes, delivered, waits

from idemlint.delivery import RetryCall
from idemlint.link.values import Unknown

CASES: Mapping[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "nothing is said": ({}, {}, "early-ack", "NOTE"),
    "retries": ({"retries": 3}, {}, "retry=3 early-ack", "ERROR"),
    "no retries": ({"retries": 0}, {}, "early-ack", "NOTE"),
    "retries that nobody can tell": ({"retries": Unknown("passed in")}, {}, "early-ack", "NOTE"),
    "interrupted tasks are sent again": ({}, {"interrupted": True}, "worker-lost early-ack", "ERROR"),
}


@pytest.mark.parametrize(("options", "settings", "expected", "cap"), CASES.values(), ids=CASES)
def test_causes(options: dict[str, Any], settings: dict[str, Any], expected: str, cap: str) -> None:
    found = delivered("huey", options, settings)
    assert (causes(found), found.cap.name) == (expected, cap)


def test_a_body_that_swallows_everything_is_not_retried() -> None:
    assert causes(delivered("huey", {"retries": 3}, swallows=True)) == "early-ack"


def test_a_body_may_ask_for_another_run() -> None:
    assert causes(delivered("huey", retried=(RetryCall(DECORATOR),))) == "retry-call early-ack"


def test_waits() -> None:
    assert waits(delivered("huey", {"retries": 3})) == [("0 s", "0 s")]
    assert waits(delivered("huey", {"retries": 3, "retry_delay": 60})) == [("1 min", "1 min")]
    assert waits(delivered("huey", {"retries": 3, "retry_delay": 60, "retry_backoff": 2})) == [("1 min", "4 min")]
