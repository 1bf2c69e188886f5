"""Celery on a real RabbitMQ: what becomes of tasks whose worker dies, whose connection is lost, or that outlast the
broker's patience."""

from __future__ import annotations

from pathlib import Path

import pytest
import servers
from celery_trial import begun, celery_project, send, worker
from servers import Rabbit
from trial import again

rabbit = pytest.fixture(servers.rabbit, scope="module")

TASKS = """
from celery import Celery

import runs

app = Celery("tasks", broker="URL")


@app.task
def early():
    runs.hold("early")


@app.task(acks_late=True)
def late():
    runs.hold("late")


@app.task(acks_late=True, time_limit=3600)
def long():
    runs.hold("long")


@app.task
def brief():
    runs.begin("brief")
"""


def test_a_task_whose_worker_or_connection_is_lost(rabbit: Rabbit, tmp_path: Path) -> None:
    with celery_project(tmp_path, TASKS.replace("URL", rabbit.url)) as at:
        first = worker(at)
        send(at, "early", "late")
        begun(at, "early", 1)
        begun(at, "late", 1)
        at.kill(first)
        worker(at)
        at.ran("late", 2)

        # The second run goes on while a third begins.
        rabbit.control("close_all_connections", "lost")
        at.ran("late", 3)

        at.release("late")
        send(at, "brief")
        at.ran("brief", 1)
        at.until(lambda: rabbit.held() == 0, "all messages are acknowledged")
        said = at.said()
        for name in ("early", "late"):
            told = again(said[name], "worker-lost", stop=1), again(said[name], "connection-lost", stop=1)
            assert (len(at.runs(name)) - 1) == sum(told), name


def test_a_task_that_outlasts_the_consumer_timeout(rabbit: Rabbit, tmp_path: Path) -> None:
    with celery_project(tmp_path, TASKS.replace("URL", rabbit.url)) as at:
        # Half an hour, if nobody says otherwise.
        rabbit.control("eval", "application:set_env(rabbit, consumer_timeout, 3000).")
        # The first is so upset that it takes no more messages, while its run goes on.
        worker(at, "first")
        worker(at, "second")
        send(at, "long", "early")
        at.ran("long", 2)
        at.release("long")
        assert len(at.runs("early")) == 1
        assert {name for name, delivery in at.said().items() if delivery.outruns_lease} == {"long"}
