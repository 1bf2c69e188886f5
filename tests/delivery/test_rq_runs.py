"""RQ on a real Redis: jobs that fail, jobs whose process is killed, and jobs of one id."""

from __future__ import annotations

from pathlib import Path

import pytest
import servers
from servers import Redis
from trial import again, trial

redis = pytest.fixture(servers.redis, scope="module")

JOBS = """
from redis import Redis
from rq import Queue, Retry
from rq.exceptions import DuplicateJobError

import runs

queue = Queue(connection=Redis.from_url("URL"))


def killed():
    runs.hold("killed")


def killed_with_retry():
    runs.hold("killed_with_retry")


def fails():
    runs.begin("fails")
    raise OSError


def fails_with_retry():
    runs.begin("fails_with_retry")
    raise OSError


def named(order_id):
    runs.begin("named")


def unique(order_id):
    runs.begin("unique")


def place(order_id):
    queue.enqueue(named, order_id, job_id=f"named-{order_id}")
    try:
        queue.enqueue(unique, order_id, job_id=f"unique-{order_id}", unique=True)
    except DuplicateJobError:
        pass


def start():
    queue.enqueue(killed)
    queue.enqueue(killed_with_retry, retry=Retry(max=2))
    queue.enqueue(fails)
    queue.enqueue(fails_with_retry, retry=Retry(max=2))
"""


def test_jobs_run_again_as_often_as_is_said(redis: Redis, tmp_path: Path) -> None:
    with trial(tmp_path, {"jobs.py": JOBS.replace("URL", redis.url)}, "rq") as at:
        at.start("rq", "worker", "--url", redis.url)
        at.do("import jobs; jobs.start(); jobs.place(1); jobs.place(1)")
        delivered = at.said()
        said = {
            **{name: again(delivered[name], "worker-lost", stop=9) for name in ("killed", "killed_with_retry")},
            **{name: again(delivered[name], "retry", stop=9) for name in ("fails", "fails_with_retry")},
            # What keeps no second job out is said to be of no effect.
            **{name: len(delivered[name].useless) for name in ("named", "unique")},
        }
        for turn in range(max(said.values()) + 1):
            for name, times in said.items():
                if turn <= times:
                    at.ran(name, turn + 1)
                    if "killed" in name:
                        at.kill(at.runs(name)[turn])
        at.until(lambda: redis.ask("zcard", "rq:failed:default") == "4", "four jobs are given up")
        at.until(lambda: redis.ask("llen", "rq:queue:default") == "0", "no job is left")
        assert {name: len(at.runs(name)) - 1 for name in said} == said
