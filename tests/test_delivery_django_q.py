"""Why and when a task of django-q2 runs again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from delivering import causes, delivered

from idemlint.link.values import Unknown


def cluster(**members: object) -> dict[str, Any]:
    return {"Q_CLUSTER": dict(members), **{f"Q_CLUSTER.{name}": value for name, value in members.items()}}


CASES: Mapping[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "no cluster is known": ({}, {}, "early-ack", "WARNING"),
    "Redis keeps no receipts": ({}, cluster(redis={}), "early-ack", "NOTE"),
    "Redis is the default": ({}, cluster(workers=4), "early-ack", "NOTE"),
    "the ORM broker": ({}, cluster(orm="default"), "retry* worker-lost", "ERROR"),
    "SQS": ({}, cluster(sqs={}), "retry* worker-lost", "ERROR"),
    "MongoDB": ({}, cluster(mongo={}), "retry* worker-lost", "ERROR"),
    "IronMQ": ({}, cluster(iron_mq={}), "retry* worker-lost", "ERROR"),
    "attempts are counted": ({}, cluster(orm="default", max_attempts=3), "retry=2 worker-lost", "ERROR"),
    "failures are acknowledged": ({}, cluster(orm="default", ack_failures=True), "worker-lost", "ERROR"),
    "this task's failures are": ({"ack_failure": True}, cluster(orm="default"), "worker-lost", "ERROR"),
    "a timeout above the default retry": ({}, cluster(orm="default", timeout=90), "lease retry* worker-lost", "ERROR"),
    "a task's own": ({"timeout": 90}, cluster(orm="default"), "lease retry* worker-lost", "ERROR"),
    "a timeout below retry": ({}, cluster(orm="default", timeout=90, retry=120), "retry* worker-lost", "ERROR"),
    "half a year": ({}, cluster(orm="default", retry=20_000_000), "worker-lost", "WARNING"),
    "a retry nobody can tell": (
        {},
        cluster(orm="default", timeout=90, retry=Unknown("environment variable RETRY")),
        "retry* worker-lost",
        "ERROR",
    ),
}


@pytest.mark.parametrize(("options", "settings", "expected", "cap"), CASES.values(), ids=CASES)
def test_causes(options: dict[str, Any], settings: dict[str, Any], expected: str, cap: str) -> None:
    found = delivered("django-q", options, settings)
    assert (causes(found), found.cap.name) == (expected, cap)


def test_a_body_that_swallows_everything_does_not_fail() -> None:
    assert causes(delivered("django-q", {}, cluster(orm="default"), swallows=True)) == "worker-lost"


def test_lease() -> None:
    assert str(delivered("django-q", {}, cluster(orm="default")).lease) == "1 min"
    assert str(delivered("django-q", {}, cluster(orm="default", retry=600)).lease) == "10 min"
    assert delivered("django-q", {}, cluster(redis={})).lease is None
