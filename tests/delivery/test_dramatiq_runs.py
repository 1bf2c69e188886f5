"""Dramatiq on a real Redis: actors that fail, that take too long, and whose worker is killed."""

from __future__ import annotations

from pathlib import Path

import pytest
import servers
from servers import Redis
from trial import again, trial

redis = pytest.fixture(servers.redis, scope="module")

BROKER = """
import dramatiq
from dramatiq.brokers.redis import RedisBroker

import runs

# The patience with workers that are silent is a minute if nobody says otherwise.
broker = RedisBroker(url="URL", heartbeat_timeout=60000, maintenance_chance=1000000)
dramatiq.set_broker(broker)
"""

FAILING = """

@dramatiq.actor(min_backoff=1, max_backoff=1)
def fails():
    runs.begin("fails")
    raise OSError


@dramatiq.actor(max_retries=0)
def fails_once():
    runs.begin("fails_once")
    raise OSError


@dramatiq.actor(throws=OSError, min_backoff=1, max_backoff=1)
def fails_on_purpose():
    runs.begin("fails_on_purpose")
    raise KeyError


@dramatiq.actor(max_retries=2, time_limit=500, min_backoff=1, max_backoff=1)
def takes_too_long():
    runs.hold("takes_too_long")
"""

KILLED = """

@dramatiq.actor(max_retries=0)
def killed():
    runs.hold("killed")
"""


def test_actors_are_retried_as_often_as_is_said(redis: Redis, tmp_path: Path) -> None:
    redis.ask("flushall")
    with trial(tmp_path, {"actors.py": BROKER.replace("URL", redis.url) + FAILING}, "dramatiq") as at:
        at.start("dramatiq", "actors", "-p", "1", "-t", "8")
        said = {name: again(delivery, "retry", stop=99) for name, delivery in at.said().items()}
        at.do(f"import actors; [actors.broker.get_actor(name).send() for name in {list(said)}]")
        for name, times in said.items():
            at.ran(name, times + 1)
        at.until(lambda: redis.ask("zcard", "dramatiq:default.XQ") == str(len(said)), "all messages are among the dead")
        assert {name: len(at.runs(name)) - 1 for name in said} == said


def test_no_retries_do_not_keep_the_message_of_a_killed_worker_from_another(redis: Redis, tmp_path: Path) -> None:
    redis.ask("flushall")
    text = BROKER.replace("URL", redis.url).replace("heartbeat_timeout=60000", "heartbeat_timeout=1000") + KILLED
    with trial(tmp_path, {"actors.py": text}, "dramatiq") as at:
        worker = at.start("dramatiq", "actors", "-p", "1", "-t", "1")
        at.do("import actors; actors.killed.send()")
        at.ran("killed", 1)
        at.kill(worker)
        at.start("dramatiq", "actors", "-p", "1", "-t", "1")
        at.ran("killed", 2)
        said = at.said()["killed"]
        assert again(said, "worker-lost", stop=1) == 1
        assert again(said, "retry", stop=1) == 0
