"""arq on a real Redis: jobs whose worker is told to stop, and jobs that fail."""

from __future__ import annotations

import signal
from functools import partial
from pathlib import Path

import pytest
import servers
from servers import Redis
from trial import again, trial

redis = pytest.fixture(servers.redis, scope="module")

WORKER = """
from arq import create_pool, func
from arq.connections import RedisSettings

import runs


async def stopped(ctx):
    await runs.held("stopped")


async def stopped_twice(ctx):
    await runs.held("stopped_twice")


async def stopped_once(ctx):
    await runs.held("stopped_once")


async def fails(ctx):
    runs.begin("fails")
    raise OSError


class WorkerSettings:
    functions = [stopped, func(stopped_twice, max_tries=2), func(stopped_once, max_tries=1), fails]
    redis_settings = RedisSettings.from_dsn("URL")


async def send(*names):
    pool = await create_pool(WorkerSettings.redis_settings)
    for name in names:
        await pool.enqueue_job(name, _job_id=name)
"""


def ended(redis: Redis, name: str) -> bool:
    return redis.ask("exists", f"arq:result:{name}") == "1"


def test_a_stopped_worker_leaves_its_jobs_to_the_next(redis: Redis, tmp_path: Path) -> None:
    with trial(tmp_path, {"work.py": WORKER.replace("URL", redis.url)}, "arq", among="arq") as at:
        delivered = at.said()
        said = {name: again(delivery, "worker-lost", stop=9) for name, delivery in delivered.items() if name != "fails"}
        at.do(f"import asyncio, work; asyncio.run(work.send('fails', *{list(said)}))")
        for turn in range(max(said.values()) + 2):
            worker = at.start("arq", "work.WorkerSettings")
            for name, times in said.items():
                if turn <= times:
                    at.ran(name, turn + 1)
                else:
                    # One that has no tries left is failed without a run.
                    at.until(partial(ended, redis, name), f"{name} is given up")
            worker.send_signal(signal.SIGTERM)
            worker.wait()
        assert {name: len(at.runs(name)) - 1 for name in said} == said
        assert ended(redis, "fails")
        assert len(at.runs("fails")) - 1 == again(delivered["fails"], "retry", "retry-call", stop=1)
