"""Why and when a task of TaskIQ runs again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from delivering import causes, delivered, made, waits

from idemlint.link.values import Made, Reference, Unknown


def broker(name: str, *middlewares: object, **arguments: object) -> dict[str, Any]:
    value = made(f"taskiq_redis.{name}", **arguments)
    assert value.made is not None
    steps = (
        Made(f"taskiq_redis.{name}.with_middlewares", tuple((f"#{i}", each) for i, each in enumerate(middlewares))),
    )
    return {"broker": replace(value, made=replace(value.made, later=steps if middlewares else ()))}


SIMPLE = made("taskiq.SimpleRetryMiddleware")
SMART = made("taskiq.SmartRetryMiddleware", default_retry_count=5, default_delay=10)
EAGER = made("taskiq.SimpleRetryMiddleware", default_retry_label=True)
STREAM = broker("RedisStreamBroker")
RETRIED = {"retry_on_error": True}

CASES: Mapping[str, tuple[dict[str, Any], dict[str, Any], str, str]] = {
    "no broker is known": ({}, {}, "early-ack", "WARNING"),
    "a stream": ({}, STREAM, "worker-lost", "ERROR"),
    "a stream, and a task below its patience": ({"timeout": 300}, STREAM, "worker-lost", "ERROR"),
    "a stream, and a task beyond it": ({"timeout": 1200}, STREAM, "lease worker-lost", "ERROR"),
    "a patient stream": (
        {"timeout": 1200},
        broker("RedisStreamBroker", idle_timeout=1_800_000),
        "worker-lost",
        "ERROR",
    ),
    "acknowledged when received": (
        {"ack_type": Reference("taskiq.AcknowledgeType.WHEN_RECEIVED")},
        STREAM,
        "early-ack",
        "WARNING",
    ),
    "a list": ({"timeout": 1200}, broker("ListQueueBroker"), "early-ack", "NOTE"),
    "every worker": ({}, broker("PubSubBroker"), "broadcast", "ERROR"),
    "JetStream, and a task below its patience": (
        {"timeout": 20},
        broker("PullBasedJetStreamBroker"),
        "worker-lost",
        "ERROR",
    ),
    "JetStream, and a task beyond it": (
        {"timeout": 60},
        broker("PullBasedJetStreamBroker"),
        "lease worker-lost",
        "ERROR",
    ),
    "a patient JetStream": (
        {"timeout": 60},
        broker("PushBasedJetStreamBroker", consumer_config=made("nats.js.api.ConsumerConfig", ack_wait=90)),
        "worker-lost",
        "ERROR",
    ),
    "JetStream that hands out once": (
        {"timeout": 60},
        broker("PullBasedJetStreamBroker", consumer_config=made("nats.js.api.ConsumerConfig", max_deliver=1)),
        "early-ack",
        "WARNING",
    ),
    "RabbitMQ": ({"timeout": 3600}, broker("AioPikaBroker"), "lease worker-lost", "ERROR"),
    "a label, and a middleware": (RETRIED, broker("ListQueueBroker", SIMPLE), "retry=2 early-ack", "ERROR"),
    "a middleware that counts further": (RETRIED, broker("ListQueueBroker", SMART), "retry=4 early-ack", "ERROR"),
    "a label that counts": (
        {**RETRIED, "max_retries": 2},
        broker("ListQueueBroker", SMART),
        "retry=1 early-ack",
        "ERROR",
    ),
    "one run is all": ({**RETRIED, "max_retries": 1}, broker("ListQueueBroker", SMART), "early-ack", "NOTE"),
    "a middleware, and no label": ({}, broker("ListQueueBroker", SIMPLE), "early-ack", "NOTE"),
    "a middleware that needs no label": ({}, broker("ListQueueBroker", EAGER), "retry=2 early-ack", "ERROR"),
    "a label against it": ({"retry_on_error": False}, broker("ListQueueBroker", EAGER), "early-ack", "NOTE"),
    "a label, and no middleware": (RETRIED, broker("ListQueueBroker"), "early-ack", "NOTE"),
    "a label, and nobody knows the broker": (RETRIED, {}, "retry early-ack", "ERROR"),
}


@pytest.mark.parametrize(("options", "settings", "expected", "cap"), CASES.values(), ids=CASES)
def test_causes(options: dict[str, Any], settings: dict[str, Any], expected: str, cap: str) -> None:
    found = delivered("taskiq", options, settings)
    assert (causes(found), found.cap.name) == (expected, cap)


def test_a_label_without_a_middleware_is_in_vain() -> None:
    (useless,) = delivered("taskiq", RETRIED, broker("ListQueueBroker")).useless
    assert useless.written == "retry_on_error=True"


def test_waits() -> None:
    growing = made("taskiq.SmartRetryMiddleware", use_delay_exponent=True, max_delay_exponent=120)
    assert waits(delivered("taskiq", RETRIED, broker("ListQueueBroker", SIMPLE))) == [("0 s", "0 s")]
    assert waits(delivered("taskiq", RETRIED, broker("ListQueueBroker", SMART))) == [("10 s", "10 s")]
    assert waits(delivered("taskiq", RETRIED, broker("ListQueueBroker", growing))) == [("5 s", "2 min")]


def test_a_patience_nobody_can_tell() -> None:
    settings = broker("RedisStreamBroker", idle_timeout=Unknown("environment variable IDLE"))
    found = delivered("taskiq", {"timeout": 1200}, settings)
    assert (found.lease, causes(found)) == (None, "worker-lost")
    assert found.unknown == ("idle_timeout: environment variable IDLE",)
