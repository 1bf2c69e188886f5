"""Celery on a real Redis: what becomes of tasks whose process or worker dies, that fail, or that outlast the lease."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import pytest
import servers
from celery_trial import begun, celery_project, send, worker
from linting import findings
from servers import Redis
from trial import Trial, again

redis = pytest.fixture(servers.redis, scope="module")

APP = """
from celery import Celery, signals

import runs

app = Celery("tasks", broker="URL", backend="URL")
app.conf.broker_transport_options = {
    "visibility_timeout": 3600,
    "unacked_restore_interval": 0.2,
    "unacked_restore_throttle": 1,
}
# How long it waits for the result of a process that is gone.
app.conf.worker_lost_wait = 0.5


@signals.task_failure.connect
def note(task_id, **_):
    runs.begin(task_id)
"""

# Where nothing limits how often a task runs again, so often is enough.
ENOUGH = 2


def project(folder: Path, redis: Redis, text: str, lease: int = 3600) -> AbstractContextManager[Trial]:
    """These tasks, with the app above them."""
    redis.ask("flushall")
    head = APP.replace("URL", redis.url).replace("3600", str(lease))
    return celery_project(folder, head + text)


def check(at: Trial, redis: Redis, messages: Mapping[str, str], *kinds: str, kill: bool = False) -> None:
    """Each task runs again as often as idemlint says that it does for these causes, and then no more.

    With `kill`, the process of each run is killed.
    """
    said = {name: again(delivery, *kinds, stop=ENOUGH) for name, delivery in at.said().items()}
    for turn in range(ENOUGH + 1):
        for name in messages:
            if turn <= said[name]:
                begun(at, name, turn + 1)
                if kill and turn < ENOUGH:
                    at.kill(at.runs(name)[turn])
    for name, message in messages.items():
        if said[name] < ENOUGH:
            at.until(partial(settled, at, redis, message), f"{name} is given up")
    assert {name: min(len(at.runs(name)) - 1, ENOUGH) for name in messages} == said


def settled(at: Trial, redis: Redis, message: str) -> bool:
    """Whether a task has failed for good, and the broker keeps nothing that it could hand out for it."""
    # What a run stores last may be overtaken by what the one before it stores: the signal tells it as well.
    kept = redis.ask("get", f"celery-task-meta-{message}")
    failed = at.runs(message) or (kept and json.loads(kept)["status"] == "FAILURE")
    return bool(failed) and message not in redis.ask("lrange", "celery", "0", "-1") + redis.ask("hvals", "unacked")


KILLED = """

@app.task
def early():
    runs.hold("early")


@app.task(acks_late=True)
def late():
    runs.hold("late")


@app.task(acks_late=True, reject_on_worker_lost=True)
def rejected():
    runs.hold("rejected")


@app.task(retry_on_worker_lost=True, max_retries=1, default_retry_delay=0)
def sent_again():
    runs.hold("sent_again")
"""


def test_a_task_whose_process_is_killed(redis: Redis, tmp_path: Path) -> None:
    with project(tmp_path, redis, KILLED) as at:
        worker(at)
        messages = send(at, "early", "late", "rejected", "sent_again")
        check(at, redis, messages, "process-lost", kill=True)


ENDED = """

@app.task(acks_late=True)
def fails():
    runs.begin("fails")
    raise OSError


@app.task(acks_late=True, acks_on_failure_or_timeout=False)
def dropped():
    runs.begin("dropped")
    raise OSError


@app.task(autoretry_for=(OSError,), max_retries=2, default_retry_delay=0)
def retried():
    runs.begin("retried")
    raise OSError


@app.task(bind=True, max_retries=1)
def asks(self):
    runs.begin("asks")
    raise self.retry(countdown=0)


@app.task(acks_late=True, time_limit=1)
def limited():
    runs.hold("limited")


@app.task(acks_late=True, acks_on_failure_or_timeout=False, time_limit=1)
def put_back():
    runs.hold("put_back")
"""


def test_a_task_that_fails_or_takes_too_long(redis: Redis, tmp_path: Path) -> None:
    with project(tmp_path, redis, ENDED) as at:
        worker(at)
        messages = send(at, "fails", "dropped", "retried", "asks", "limited", "put_back")
        check(at, redis, messages, "retry", "retry-call", "timeout")


OUTLAST = """

@app.task
def early():
    runs.hold("early")


@app.task(acks_late=True, time_limit=600)
def late():
    runs.hold("late")


@app.task
def delayed():
    runs.begin("delayed")


@app.task
def remind():
    delayed.apply_async(countdown=10)
"""


def test_a_task_that_outlasts_the_visibility_timeout(redis: Redis, tmp_path: Path) -> None:
    with project(tmp_path, redis, OUTLAST, lease=2) as at:
        first = worker(at)
        send(at, "late")
        at.ran("late", 2)
        assert at.said()["late"].outruns_lease
        at.release("late")

        send(at, "early", "remind")
        at.ran("delayed", 2)
        found = [each["line"] for each in findings(at.folder) if each["rule"] == "delay-beyond-visibility-timeout"]
        assert found == [line for line, text in at.lines("tasks.py") if "countdown" in text]

        # Acknowledged when it began: a worker that comes after has nothing to run.
        begun(at, "early", 1)
        at.kill(first)
        worker(at)
        send(at, "remind")
        at.ran("delayed", 3)
        assert (len(at.runs("early")) > 1) == bool(again(at.said()["early"], "worker-lost", "lease", stop=1))
