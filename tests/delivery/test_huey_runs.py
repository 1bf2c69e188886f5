"""Huey on a real Redis: tasks that fail, and tasks whose consumer is killed."""

from __future__ import annotations

from pathlib import Path

import pytest
import servers
from servers import Redis
from trial import again, trial

redis = pytest.fixture(servers.redis, scope="module")

TASKS = """
from huey import RedisHuey

import runs

huey = RedisHuey("shop", url="URL")


@huey.task()
def killed():
    runs.hold("killed")


@huey.task(retries=5)
def killed_with_retries():
    runs.hold("killed_with_retries")


@huey.task()
def fails():
    runs.begin("fails")
    raise OSError


@huey.task(retries=2)
def fails_with_retries():
    runs.begin("fails_with_retries")
    raise OSError


@huey.task()
def first():
    runs.begin("first")


@huey.task()
def second():
    runs.begin("second")
"""

CONSUMER = ("huey_consumer", "tasks.huey", "-w", "3")


def test_tasks_run_again_as_often_as_is_said(redis: Redis, tmp_path: Path) -> None:
    with trial(tmp_path, {"tasks.py": TASKS.replace("URL", redis.url)}, "huey_consumer") as at:
        delivered = at.said()
        killed = {name: again(delivered[name], "worker-lost", stop=1) for name in ("killed", "killed_with_retries")}
        failing = {name: again(delivered[name], "retry", stop=9) for name in ("fails", "fails_with_retries")}

        consumer = at.start(*CONSUMER)
        at.do("import tasks; tasks.killed(); tasks.killed_with_retries()")
        for name in killed:
            at.ran(name, 1)
        at.kill(consumer)

        # One worker takes one task after the other: what was there before a task that ends has been run before it.
        at.start(*CONSUMER[:-1], "1")
        at.do("import tasks; tasks.fails(); tasks.fails_with_retries()")
        for name, times in failing.items():
            at.ran(name, times + 1)
        for name in ("first", "second"):
            at.do(f"import tasks; tasks.{name}()")
            at.ran(name, 1)
        assert {name: len(at.runs(name)) - 1 for name in (*killed, *failing)} == {**killed, **failing}
