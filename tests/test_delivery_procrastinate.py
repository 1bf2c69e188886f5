"""Why and when a job of Procrastinate runs again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from delivering import causes, delivered, made, waits

from idemlint.link.values import Reference

STRATEGY = "procrastinate.RetryStrategy"

CASES: Mapping[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "nothing is said": ({}, {}, "early-ack", "NOTE"),
    "no retries": ({"retry": False}, {}, "early-ack", "NOTE"),
    "retries without end": ({"retry": True}, {}, "retry*", "ERROR"),
    "retries": ({"retry": 5}, {}, "retry=5", "ERROR"),
    "a strategy": ({"retry": made(STRATEGY, max_attempts=3)}, {}, "retry=3", "ERROR"),
    "a strategy without an end": ({"retry": made(STRATEGY, wait=10)}, {}, "retry*", "ERROR"),
    "stalled jobs are rescued": ({}, {"stalled": True}, "worker-lost", "ERROR"),
    "old jobs are taken for stalled": ({}, {"stalled": True, "by_age": True}, "lease", "ERROR"),
}


@pytest.mark.parametrize(("options", "settings", "expected", "cap"), CASES.values(), ids=CASES)
def test_causes(options: dict[str, Any], settings: dict[str, Any], expected: str, cap: str) -> None:
    found = delivered("procrastinate", options, settings)
    assert (causes(found), found.cap.name) == (expected, cap)


def test_a_body_that_swallows_everything_is_not_retried() -> None:
    assert causes(delivered("procrastinate", {"retry": True}, swallows=True)) == "early-ack"


def test_waits_and_exceptions() -> None:
    fixed = made(STRATEGY, max_attempts=3, wait=60, retry_exceptions=(Reference("builtins.ConnectionError"),))
    growing = made(STRATEGY, max_attempts=3, exponential_wait=2)
    (retry,) = delivered("procrastinate", {"retry": fixed}).retries
    assert (str(retry.delay), retry.on) == ("1 min", ("builtins.ConnectionError",))
    assert waits(delivered("procrastinate", {"retry": growing})) == [("None", "None")]
