"""Settings that cannot be evaluated, contradict each other, or are not there: what follows is unknown, with the reason,
and nothing is said that would rest on a guess."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from delivering import linked
from linting import findings

# Rules that rest on numbers and options; each project here would break them if one of its readings were taken for sure.
GUESSES = frozenset(
    "visibility-timeout-too-short delay-beyond-visibility-timeout endless-redelivery ignored-setting".split()
)

LONG = """
from celery import shared_task


@shared_task(time_limit=7200)
def train(model_id):
    return model_id


def start(model_id):
    train.apply_async((model_id,), countdown=7200)
"""

DJANGO = {
    "proj/__init__.py": '"""The project."""\n',
    "proj/celery.py": """
import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "proj.settings")
app = Celery("proj")
app.config_from_object("django.conf:settings", namespace="CELERY")
""",
    "proj/tasks.py": LONG,
}

BOTH = "proj/settings/dev.py and proj/settings/prod.py do not agree on"

STREAM = """
from elsewhere import HOW
from taskiq_redis import RedisStreamBroker

broker = RedisStreamBroker("redis://redis:6379"{more})


@broker.task(timeout=1200{label})
async def train(model_id):
    return model_id
"""

CLUSTER = {
    "jobs.py": """
from django_q.tasks import async_task


def train(model_id):
    return model_id


def start(model_id):
    async_task(train, model_id)
"""
}

Project = tuple[Mapping[str, str], bool | None, set[str]]
"""Files, whether the task `train` is acknowledged after its run, and some of what is said to be unknown."""

PROJECTS: Mapping[str, Project] = {
    "a settings module that is missing": (
        {
            "app.py": """
from celery import Celery

app = Celery("shop", broker="redis://redis:6379/0")
app.config_from_object("nowhere.config")
""",
            "tasks.py": LONG,
        },
        None,
        {"some settings: nowhere.config is not in the project"},
    ),
    "Django's settings that are missing": (DJANGO, None, {"some settings: no settings module was found"}),
    "a settings module that the environment names": (
        {
            "app.py": """
from celery import Celery

app = Celery("shop", broker="redis://redis:6379/0")
app.config_from_envvar("SHOP_CELERY")
""",
            "tasks.py": LONG,
        },
        None,
        {"some settings: they are read from where the environment says"},
    ),
    "settings that are worked out elsewhere": (
        {
            "app.py": """
from celery import Celery
from elsewhere import secret

app = Celery("shop", broker="redis://redis:6379/0")
app.conf.task_acks_late = secret("late")
app.conf.broker_transport_options = {"visibility_timeout": secret("patience")}
""",
            "tasks.py": LONG,
        },
        None,
        {
            "task_acks_late: what elsewhere.secret() gives is not known",
            "visibility_timeout: what elsewhere.secret() gives is not known",
        },
    ),
    "a setting under a condition": (
        {
            "app.py": """
import os

from celery import Celery

app = Celery("shop", broker="amqp://rabbit")
if os.environ.get("SHOP_PATIENT"):
    app.conf.task_acks_late = True
    app.conf.task_default_queue_type = "quorum"
""",
            "tasks.py": LONG.partition("def start")[0],
        },
        None,
        {"task_acks_late: task_acks_late is set under a condition: environment variable SHOP_PATIENT"},
    ),
    "settings modules that contradict each other": (
        {
            **{name: text for name, text in DJANGO.items() if name != "proj/celery.py"},
            "proj/celery.py": """
from celery import Celery

app = Celery("proj")
app.config_from_object("django.conf:settings", namespace="CELERY")
""",
            "proj/settings/__init__.py": '"""The settings."""\n',
            "proj/settings/dev.py": """
CELERY_BROKER_URL = "redis://redis:6379/0"
CELERY_TASK_ACKS_LATE = False
""",
            "proj/settings/prod.py": """
CELERY_BROKER_URL = "amqp://rabbit"
CELERY_TASK_ACKS_LATE = True
""",
        },
        None,
        {
            f"CELERY_TASK_ACKS_LATE: {BOTH} CELERY_TASK_ACKS_LATE",
            f"CELERY_BROKER_URL: {BOTH} CELERY_BROKER_URL",
        },
    ),
    "two apps with different settings": (
        {
            "one.py": """
from celery import Celery

one = Celery("one", broker="redis://redis:6379/0", task_acks_late=True)
""",
            "two.py": """
from celery import Celery

two = Celery("two", broker="amqp://rabbit")
""",
            "tasks.py": LONG,
        },
        None,
        {
            "task_acks_late: the apps one:one, two:two do not agree on task_acks_late",
            "broker_url: the apps one:one, two:two do not agree on broker_url",
        },
    ),
    "annotations that only a run could tell": (
        {
            "app.py": """
from celery import Celery
from elsewhere import Late

app = Celery("shop", broker="redis://redis:6379/0")
app.conf.broker_transport_options = {"visibility_timeout": 43200}
app.conf.task_annotations = [Late(), {"*": {"rate_limit": "10/s"}}]
""",
            "tasks.py": LONG,
        },
        None,
        {"some options: task_annotations could not be read as a whole"},
    ),
    "options that only a run could tell": (
        {
            "app.py": """
from celery import Celery

app = Celery("shop", broker="redis://redis:6379/0")
""",
            "tasks.py": """
from elsewhere import options

from app import app


@app.task(max_retries=5, time_limit=7200, **options())
def train(model_id):
    return model_id
""",
        },
        None,
        {"some options: what elsewhere.options() gives is not known"},
    ),
    "django-q2's cluster that is worked out elsewhere": (
        {
            **CLUSTER,
            "settings.py": """
from elsewhere import cluster

SECRET_KEY = "x"
Q_CLUSTER = cluster()
""",
        },
        None,
        {"Q_CLUSTER: what elsewhere.cluster() gives is not known"},
    ),
    "django-q2's lease that is worked out elsewhere": (
        {
            **CLUSTER,
            "settings.py": """
from elsewhere import PATIENCE, TIMES

SECRET_KEY = "x"
Q_CLUSTER = {"orm": "default", "timeout": 600, "retry": PATIENCE, "max_attempts": TIMES}
""",
        },
        True,
        {
            'Q_CLUSTER["retry"]: elsewhere.PATIENCE is not known',
            'Q_CLUSTER["max_attempts"]: elsewhere.TIMES is not known',
        },
    ),
    "two clusters of django-q2": (
        {
            **CLUSTER,
            "proj/settings/dev.py": """
SECRET_KEY = "x"
Q_CLUSTER = {"redis": "redis://redis:6379/0"}
""",
            "proj/settings/prod.py": """
SECRET_KEY = "x"
Q_CLUSTER = {"orm": "default", "timeout": 600}
""",
        },
        None,
        {f"Q_CLUSTER: {BOTH} Q_CLUSTER"},
    ),
    "TaskIQ's lease that is worked out elsewhere": (
        {"tasks.py": STREAM.format(more=", idle_timeout=HOW", label="")},
        True,
        {"idle_timeout: elsewhere.HOW is not known"},
    ),
    "TaskIQ's acknowledgement that is worked out elsewhere": (
        {"tasks.py": STREAM.format(more="", label=", ack_type=HOW")},
        None,
        {"ack_type: elsewhere.HOW is not known"},
    ),
    "two workers of arq that run the same job": (
        {
            "worker.py": """
from arq.connections import RedisSettings


async def train(ctx, model_id):
    return model_id


class Once:
    functions = [train]
    max_tries = 1


class Often:
    functions = [train]
    max_tries = 5
"""
        },
        True,
        {"max_tries: the apps worker:Often, worker:Once do not agree on max_tries"},
    ),
    "an app beside one that is told nothing": (
        {
            "one/__init__.py": "",
            "one/app.py": """
from celery import Celery

app = Celery("one", broker="redis://redis:6379/0")
app.conf.task_acks_late = True
""",
            "two/__init__.py": "",
            "two/app.py": """
from celery import Celery

app = Celery("two")
""",
            "tasks.py": LONG,
        },
        None,
        {
            "task_acks_late: the apps one.app:app, two.app:app do not agree on task_acks_late",
            "broker_url: the apps one.app:app, two.app:app do not agree on broker_url",
        },
    ),
    "options of a message that are passed in": (
        {
            "app.py": """
from celery import Celery

app = Celery("shop", broker="redis://redis:6379/0")
""",
            "tasks.py": """
from app import app


@app.task(acks_late=True)
def train(model_id):
    return model_id


def start(model_id, **options):
    train.apply_async((model_id,), **options)
""",
        },
        True,
        {"some options of a message: options is passed in"},
    ),
    "RQ's options of a message that are put together on the way": (
        {
            "jobs.py": """
from rq import Queue, Retry

queue = Queue()


def train(model_id):
    return model_id


def start(model_id, often, limit):
    options = {"retry": Retry(max=3)}
    if often:
        options["retry"] = Retry(max=9)
    queue.enqueue(train, model_id, job_timeout=limit, **options)
"""
        },
        False,
        {
            "some options of a message: it is changed before it is spread here",
            "job_timeout: limit is passed in",
        },
    ),
    "RQ's retries that are worked out elsewhere": (
        {
            "jobs.py": """
from elsewhere import RETRY
from rq import Queue

queue = Queue()


def train(model_id):
    return model_id


def start(model_id):
    queue.enqueue(train, model_id, retry=RETRY)
"""
        },
        False,
        {"retry: elsewhere.RETRY is not known"},
    ),
    "Dramatiq's retries and limit that are worked out elsewhere": (
        {
            "actors.py": """
import dramatiq
from dramatiq.brokers.rabbitmq import RabbitmqBroker
from elsewhere import LIMIT, TIMES

dramatiq.set_broker(RabbitmqBroker())


@dramatiq.actor(max_retries=TIMES, time_limit=LIMIT)
def train(model_id):
    return model_id
"""
        },
        True,
        {"max_retries: elsewhere.TIMES is not known", "time_limit: elsewhere.LIMIT is not known"},
    ),
    "Huey's retries that are worked out elsewhere": (
        {
            "tasks.py": """
from elsewhere import TIMES
from huey import RedisHuey

huey = RedisHuey()


@huey.task(retries=TIMES)
def train(model_id):
    return model_id
"""
        },
        False,
        {"retries: elsewhere.TIMES is not known"},
    ),
    "Procrastinate's retries that are worked out elsewhere": (
        {
            "tasks.py": """
from elsewhere import RETRY
from procrastinate import App, PsycopgConnector

app = App(connector=PsycopgConnector())


@app.task(retry=RETRY)
def train(model_id):
    return model_id
"""
        },
        True,
        {"retry: elsewhere.RETRY is not known"},
    ),
    "a broker that cannot be told, beside one that can": (
        {
            "tasks.py": """
from elsewhere import make
from taskiq import AsyncBroker
from taskiq_redis import RedisStreamBroker

with make() as broker:
    broker: AsyncBroker

stream = RedisStreamBroker("redis://redis:6379")


@stream.task(timeout=60)
async def glance(model_id):
    return model_id


@broker.task(timeout=1200)
async def train(model_id):
    return model_id
"""
        },
        None,
        {"some settings: what broker is cannot be told"},
    ),
    "Django's task backends that are set elsewhere": (
        {
            "settings.py": """
from elsewhere import TASKS

SECRET_KEY = "x"
""",
            "tasks.py": """
from django.tasks import task


@task
def train(model_id):
    return model_id
""",
        },
        None,
        {"TASKS: elsewhere.TASKS is not known"},
    ),
}


@pytest.mark.parametrize(("files", "late", "unknown"), PROJECTS.values(), ids=PROJECTS)
def test_what_cannot_be_told_is_said_and_never_guessed(
    tmp_path: Path, files: Mapping[str, str], late: bool | None, unknown: set[str]
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text.lstrip("\n"), encoding="utf-8")
    _, deliveries = linked(tmp_path)
    (delivery,) = (each for task, each in deliveries.items() if task.endswith(":train"))
    assert delivery.late_ack is late
    assert unknown <= set(delivery.unknown)
    said = findings(tmp_path, "--min-severity", "note", "--min-confidence", "low")
    assert [each["rule"] for each in said if each["rule"] in GUESSES] == []
