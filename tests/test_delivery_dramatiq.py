"""Why and when an actor of Dramatiq runs again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from delivering import causes, delivered, made, waits

from idemlint.link.values import Reference, Unknown

REDIS = {"broker": made("dramatiq.brokers.redis.RedisBroker", url="redis://")}
RABBITMQ = {"broker": made("dramatiq.brokers.rabbitmq.RabbitmqBroker", url="amqp://")}
DJANGO = {"DRAMATIQ_BROKER.BROKER": "dramatiq.brokers.rabbitmq.RabbitmqBroker"}


def with_middleware(*middleware: object) -> dict[str, Any]:
    return {"broker": made("dramatiq.brokers.redis.RedisBroker", middleware=list(middleware))}


CASES: Mapping[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "nothing is said": ({}, {}, "retry=20 worker-lost"),
    "on Redis": ({}, REDIS, "retry=20 worker-lost"),
    "on RabbitMQ": ({}, RABBITMQ, "retry=20 worker-lost connection-lost"),
    "no retries": ({"max_retries": 0}, REDIS, "worker-lost"),
    "retries without end": ({"max_retries": None}, REDIS, "retry* worker-lost"),
    "a predicate decides": ({"retry_when": Reference("shop:again")}, REDIS, "retry worker-lost"),
    "a middleware says how many": (
        {},
        with_middleware(made("dramatiq.middleware.Retries", max_retries=0)),
        "worker-lost",
    ),
    "the actor knows better": (
        {"max_retries": 2},
        with_middleware(made("dramatiq.middleware.Retries", max_retries=0)),
        "retry=2 worker-lost",
    ),
    "a list without the middleware": (
        {},
        with_middleware(made("dramatiq.middleware.AgeLimit")),
        "worker-lost",
    ),
    "a list of a web project without it": (
        {},
        {**DJANGO, "DRAMATIQ_BROKER.MIDDLEWARE": ["dramatiq.middleware.AgeLimit"]},
        "worker-lost connection-lost",
    ),
    "a list of a web project": (
        {},
        {**DJANGO, "DRAMATIQ_BROKER.MIDDLEWARE": ["dramatiq.middleware.Retries"]},
        "retry=20 worker-lost connection-lost",
    ),
    "a limit above the consumer timeout": (
        {"max_retries": 0, "time_limit": 3_600_000},
        RABBITMQ,
        "lease worker-lost connection-lost",
    ),
    "an unknown number": ({"max_retries": Unknown("passed in")}, REDIS, "retry worker-lost"),
}


@pytest.mark.parametrize(("options", "settings", "expected"), CASES.values(), ids=CASES)
def test_causes(options: dict[str, Any], settings: dict[str, Any], expected: str) -> None:
    found = delivered("dramatiq", options, settings)
    assert (causes(found), found.cap.name) == (expected, "ERROR")


def test_limits_and_waits_are_milliseconds() -> None:
    assert str(delivered("dramatiq").time_limit) == "10 min"
    assert str(delivered("dramatiq", {"time_limit": 90_000}).time_limit) == "90 s"
    assert waits(delivered("dramatiq")) == [("15 s", "7 d")]
    assert waits(delivered("dramatiq", {"max_retries": 3, "min_backoff": 1000})) == [("1 s", "8 s")]


def test_exceptions_that_are_not_retried() -> None:
    (retry,) = delivered("dramatiq", {"throws": (Reference("builtins.ValueError"),)}).retries
    assert retry.unless == ("builtins.ValueError",)
