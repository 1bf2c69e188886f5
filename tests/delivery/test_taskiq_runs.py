"""TaskIQ on a real Redis: a stream takes back what is idle, a list forgets, and retries need a middleware."""

from __future__ import annotations

from pathlib import Path

import pytest
import servers
from servers import Redis
from trial import again, trial

redis = pytest.fixture(servers.redis, scope="module")

STREAM = """
from taskiq_redis import RedisStreamBroker

import runs

broker = RedisStreamBroker("URL", idle_timeout=2000, xread_block=200)


@broker.task(timeout=600)
async def outlasts():
    await runs.held("outlasts")


@broker.task(timeout=1)
async def brief():
    runs.begin("brief")
"""

LIST = """
from taskiq import SimpleRetryMiddleware
from taskiq_redis import ListQueueBroker

import runs

broker = ListQueueBroker("URL").with_middlewares(SimpleRetryMiddleware(default_retry_count=3))


@broker.task
async def killed():
    await runs.held("killed")


@broker.task
async def fails():
    runs.begin("fails")
    raise OSError


@broker.task(retry_on_error=True)
async def fails_with_label():
    runs.begin("fails_with_label")
    raise OSError


@broker.task
async def first():
    runs.begin("first")


@broker.task
async def second():
    runs.begin("second")
"""

SEND = """
import asyncio
import tasks

async def send():
    await tasks.broker.startup()
    for task in ({names},):
        await task.kiq()
    await tasks.broker.shutdown()

asyncio.run(send())
"""

WORKER = "taskiq worker tasks:broker -w 1 --max-async-tasks".split()


def sending(*names: str) -> str:
    return SEND.replace("{names}", ", ".join(f"tasks.{name}" for name in names))


def test_a_stream_hands_a_message_out_again_that_is_idle_for_too_long(redis: Redis, tmp_path: Path) -> None:
    redis.ask("flushall")
    with trial(tmp_path, {"tasks.py": STREAM.replace("URL", redis.url)}, "taskiq") as at:
        at.start(*WORKER, "10")
        at.do(sending("outlasts"))
        at.ran("outlasts", 1)
        # It looks for what is idle when it is handed something new.
        at.until(lambda: at.do(sending("brief")) or len(at.runs("outlasts")) > 1, "a second run of outlasts")
        at.release("outlasts")
        assert {name for name, delivery in at.said().items() if delivery.outruns_lease} == {"outlasts"}


def test_a_list_forgets_and_a_labelled_task_is_retried_as_often_as_is_said(redis: Redis, tmp_path: Path) -> None:
    redis.ask("flushall")
    with trial(tmp_path, {"tasks.py": LIST.replace("URL", redis.url)}, "taskiq") as at:
        delivered = at.said()
        said = {
            "killed": again(delivered["killed"], "worker-lost", "lease", stop=1),
            **{name: again(delivered[name], "retry", stop=9) for name in ("fails", "fails_with_label")},
        }
        worker = at.start(*WORKER, "1")
        at.do(sending("killed"))
        at.ran("killed", 1)
        at.kill(worker)
        # One at a time: what was there before a task that ends has been run before it.
        at.start(*WORKER, "1")
        at.do(sending("fails", "fails_with_label"))
        for name in ("fails", "fails_with_label"):
            at.ran(name, said[name] + 1)
        for name in ("first", "second"):
            at.do(sending(name))
            at.ran(name, 1)
        assert {name: len(at.runs(name)) - 1 for name in said} == said
