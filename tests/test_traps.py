"""What people believe of their queue and is not so: one small project each, and all that is said of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from linting import findings

PAY = """
import requests


def pay(order_id):
    requests.post("https://api.stripe.com/v1/charges", json={"order": order_id}, timeout=10).raise_for_status()
"""

DELIVERY = frozenset(
    "visibility-timeout-too-short delay-beyond-visibility-timeout endless-redelivery ignored-setting retry-swallowed "
    "duplicate-fan-out retry-after-effect enqueue-dedup-as-guard unkeyed-external-call".split()
)

Trap = tuple[Mapping[str, str], set[str]]
"""Files, and `rule severity path:line` of what is said of delivery."""

CELERY = {
    "app.py": """
from celery import Celery

app = Celery("shop", broker="redis://redis:6379/0")
"""
}

TRAPS: Mapping[str, Trap] = {
    "A message that is given back before anything is done may come again as often as it likes": (
        {
            **CELERY,
            "pay.py": PAY,
            "tasks.py": """
from app import app
from celery.exceptions import Reject
from pay import pay


@app.task(acks_late=True)
def early(order_id, ready):
    if not ready:
        raise Reject("not yet", requeue=True)
    pay(order_id)


@app.task(acks_late=True)
def late(order_id, ready):
    pay(order_id)
    if not ready:
        raise Reject("not yet", requeue=True)
""",
        },
        {
            "endless-redelivery warning tasks.py:13",
            "retry-after-effect error tasks.py:17",
            "unkeyed-external-call error pay.py:5",
        },
    ),
    "Celery on Redis acknowledges early and still runs a delayed task twice": (
        {
            **CELERY,
            "tasks.py": """
from datetime import datetime, timedelta

from app import app


@app.task
def remind(cart_id):
    return cart_id


def left(cart_id):
    due = datetime.now() + timedelta(days=1)
    remind.apply_async((cart_id,), countdown=2 * 3600)
    remind.apply_async((cart_id,), eta=due)
    remind.apply_async((cart_id,), countdown=600, expires=7200)
    app.send_task("tasks.remind", (cart_id,), countdown=5400)
""",
        },
        {
            "delay-beyond-visibility-timeout error tasks.py:13",
            "delay-beyond-visibility-timeout error tasks.py:14",
            "delay-beyond-visibility-timeout error tasks.py:16",
        },
    ),
    "SQS waits half as long, and of a queue that it finds nobody knows how long": (
        {
            "one.py": """
from celery import Celery

app = Celery("one", broker="sqs://")


@app.task
def remind(cart_id):
    return cart_id


def left(cart_id):
    remind.apply_async((cart_id,), countdown=2400)
    remind.apply_async((cart_id,), countdown=600)
""",
            "two.py": """
from celery import Celery

app = Celery("two", broker="sqs://")
app.conf.broker_transport_options = {"predefined_queues": {"celery": {"url": "https://sqs/1/shop"}}}


@app.task(acks_late=True, time_limit=3600)
def bill(cart_id):
    return cart_id
""",
        },
        {"delay-beyond-visibility-timeout error one.py:12"},
    ),
    "Celery's default wait between retries may be longer too": (
        {
            "tasks.py": """
from celery import Celery

app = Celery("shop", broker="redis://redis:6379/0", broker_transport_options={"visibility_timeout": 120})


@app.task(autoretry_for=(OSError,), max_retries=2)
def pull(feed_id):
    return feed_id


@app.task(bind=True, default_retry_delay=60)
def push(self, feed_id):
    try:
        return feed_id
    except OSError as error:
        raise self.retry(exc=error)
""",
        },
        {"delay-beyond-visibility-timeout error tasks.py:6"},
    ),
    "max_retries=None has no end": (
        {
            **CELERY,
            "tasks.py": """
from app import app
from pay import pay


@app.task(autoretry_for=(OSError,), max_retries=None)
def charge(order_id):
    pay(order_id)
""",
        },
        {
            "unkeyed-external-call error pay.py:5",
            "retry-after-effect error tasks.py:5",
            "endless-redelivery warning tasks.py:5",
        },
    ),
    "of two effects in sequence the first is repeated when the second fails": (
        {
            **CELERY,
            "tasks.py": """
import requests

from app import app
from pay import pay


@app.task(autoretry_for=(Exception,))
def charge(order_id):
    pay(order_id)
    requests.put(f"https://shop.example/orders/{order_id}", json={"paid": True}, timeout=10).raise_for_status()


@app.task
def plain(order_id):
    pay(order_id)
    requests.put(f"https://shop.example/orders/{order_id}", json={"paid": True}, timeout=10).raise_for_status()
""",
        },
        {"unkeyed-external-call error pay.py:5", "retry-after-effect error tasks.py:7"},
    ),
    "a retry of Celery waits longer than Redis does": (
        {
            **CELERY,
            "tasks.py": """
from app import app


@app.task(autoretry_for=(OSError,), retry_backoff=60, retry_backoff_max=7200, max_retries=10)
def pull(feed_id):
    return feed_id


@app.task(autoretry_for=(OSError,), retry_backoff=60, max_retries=10)
def poll(feed_id):
    return feed_id


@app.task(bind=True)
def push(self, feed_id):
    try:
        return feed_id
    except OSError as error:
        raise self.retry(exc=error, countdown=86400)
""",
        },
        {"delay-beyond-visibility-timeout error tasks.py:4", "delay-beyond-visibility-timeout error tasks.py:19"},
    ),
    "acks_late without reject_on_worker_lost runs again when the host dies": (
        {
            **CELERY,
            "tasks.py": """
from app import app
from pay import pay


@app.task(acks_late=True)
def charge(order_id):
    pay(order_id)
""",
        },
        {"unkeyed-external-call error pay.py:5"},
    ),
    "reject_on_worker_lost has no end": (
        {
            **CELERY,
            "tasks.py": """
from app import app
from pay import pay


@app.task(acks_late=True, reject_on_worker_lost=True)
def charge(order_id):
    pay(order_id)
""",
        },
        {"unkeyed-external-call error pay.py:5", "endless-redelivery warning tasks.py:5"},
    ),
    "acks_on_failure_or_timeout=False runs a task for ever that its limit cuts": (
        {
            **CELERY,
            "tasks.py": """
from app import app
from pay import pay


@app.task(acks_late=True, acks_on_failure_or_timeout=False, time_limit=60)
def charge(order_id):
    pay(order_id)
""",
        },
        {"unkeyed-external-call error pay.py:5", "endless-redelivery warning tasks.py:5"},
    ),
    "before Celery 5.5 it dropped the task instead": (
        {
            **CELERY,
            "requirements.txt": "celery==5.4.0",
            "tasks.py": """
from app import app
from pay import pay


@app.task(acks_late=True, acks_on_failure_or_timeout=False, time_limit=60)
def charge(order_id):
    pay(order_id)
""",
        },
        {"unkeyed-external-call error pay.py:5"},
    ),
    "CELERY_TASK_ACKS_LATE is not read without a namespace": (
        {
            "config.py": """
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_TIME_LIMIT = 60
BROKER_URL = "redis://redis:6379/0"
""",
            "tasks.py": """
from celery import Celery

from pay import pay

app = Celery("shop")
app.config_from_object("config")


@app.task
def charge(order_id):
    pay(order_id)
""",
        },
        {
            "ignored-setting warning config.py:1",
            "ignored-setting warning config.py:2",
            "unkeyed-external-call warning pay.py:5",
        },
    ),
    "SQS keeps the visibility timeout of queues that are there already": (
        {
            "tasks.py": """
from celery import Celery

app = Celery("shop", broker="sqs://")
app.conf.broker_transport_options = {
    "visibility_timeout": 7200,
    "predefined_queues": {"celery": {"url": "https://sqs.eu-west-1.amazonaws.com/1/shop"}},
}


@app.task(acks_late=True, time_limit=3600)
def charge(order_id):
    return order_id
"""
        },
        {"ignored-setting warning tasks.py:4"},
    ),
    "RabbitMQ takes a message back after its consumer timeout": (
        {
            "tasks.py": """
from celery import Celery

app = Celery("shop", broker="amqp://rabbit")


@app.task(acks_late=True, time_limit=3600)
def train(model_id):
    return model_id


@app.task(time_limit=3600)
def early(model_id):
    return model_id
"""
        },
        {"visibility-timeout-too-short error tasks.py:6"},
    ),
    "celery-singleton swallows the task's own retry": (
        {
            **CELERY,
            "tasks.py": """
from celery_once import QueueOnce
from celery_singleton import Singleton

from app import app


class Single(Singleton):
    lock_expiry = 600


@app.task(base=Singleton, autoretry_for=(OSError,), max_retries=2)
def sync(shop_id):
    return shop_id


@app.task(base=Single, bind=True)
def push(self, shop_id):
    try:
        return shop_id
    except OSError as error:
        raise self.retry(exc=error)


@app.task(base=QueueOnce, autoretry_for=(OSError,), once={"keys": ["shop_id"]})
def pull(shop_id):
    return shop_id


@app.task(base=Singleton)
def once(shop_id):
    return shop_id
""",
        },
        {"retry-swallowed error tasks.py:11", "retry-swallowed error tasks.py:16"},
    ),
    "uniqueness in the queue guards the sending only": (
        {
            **CELERY,
            "tasks.py": """
from celery_once import QueueOnce

from app import app
from pay import pay


@app.task(base=QueueOnce, once={"keys": ["order_id"]}, acks_late=True)
def charge(order_id):
    pay(order_id)
""",
        },
        {"unkeyed-external-call error pay.py:5", "enqueue-dedup-as-guard note tasks.py:7"},
    ),
    "max_retries alone retries nothing": (
        {
            **CELERY,
            "tasks.py": """
from app import app


@app.task(max_retries=3, default_retry_delay=5)
def ship(order_id):
    return order_id
""",
        },
        {"ignored-setting note tasks.py:4"},
    ),
    "a replay sends its children again": (
        {
            **CELERY,
            "tasks.py": """
from app import app
from pay import pay


@app.task(acks_late=True)
def charge(order_id):
    pay(order_id)


@app.task
def touch(order_id):
    return order_id


@app.task(acks_late=True)
def bill(order_id):
    charge.delay(order_id)
    touch.delay(order_id)
""",
        },
        {"unkeyed-external-call error pay.py:5", "duplicate-fan-out note tasks.py:17"},
    ),
    "django-q2 starts a task again that takes longer than retry, and a failing one for ever": (
        {
            "settings.py": """
SECRET_KEY = "x"
Q_CLUSTER = {
    "orm": "default",
    "timeout": 300,
    "max_attemps": 3,
}
""",
            "shop.py": """
from django_q.tasks import async_task

from pay import pay


def charge(order_id):
    pay(order_id)


def place(order_id):
    async_task(charge, order_id)
""",
        },
        {
            "visibility-timeout-too-short error settings.py:2",
            "endless-redelivery warning settings.py:2",
            "ignored-setting warning settings.py:2",
            "unkeyed-external-call error pay.py:5",
            "retry-after-effect error shop.py:11",
        },
    ),
    "Dramatiq retries twenty times unless it is told not to": (
        {
            "actors.py": """
import dramatiq

from pay import pay


@dramatiq.actor
def charge(order_id):
    pay(order_id)
"""
        },
        {"unkeyed-external-call error pay.py:5", "retry-after-effect error actors.py:6"},
    ),
    "max_retries=0 stops the retries, not the redelivery": (
        {
            "actors.py": """
import dramatiq

from pay import pay


@dramatiq.actor(max_retries=0)
def charge(order_id):
    pay(order_id)
"""
        },
        {"unkeyed-external-call error pay.py:5"},
    ),
    "a stopped arq worker leaves its jobs to be run again": (
        {
            "worker.py": """
from arq import cron

from pay import pay


async def charge(ctx, order_id):
    pay(order_id)


async def nightly(ctx):
    pay(1)


class WorkerSettings:
    functions = [charge]
    cron_jobs = [cron(nightly, hour=3)]
"""
        },
        {"unkeyed-external-call error pay.py:5"},
    ),
    "an arq cron job has one try": (
        {
            "worker.py": """
from arq import cron

from pay import pay


async def nightly(ctx):
    pay(1)


class WorkerSettings:
    functions = []
    cron_jobs = [cron(nightly, hour=3)]
"""
        },
        {"unkeyed-external-call note pay.py:5"},
    ),
    "RQ's job_id keeps nothing out without unique": (
        {
            "shop.py": """
from redis import Redis
from rq import Queue

from pay import pay

queue = Queue(connection=Redis())


def charge(order_id):
    pay(order_id)


def refund(order_id):
    pay(order_id)


def place(order_id):
    queue.enqueue(charge, order_id, job_id=f"charge-{order_id}")
    queue.enqueue(refund, order_id, job_id=f"refund-{order_id}", unique=True)
"""
        },
        {
            "ignored-setting warning shop.py:18",
            "unkeyed-external-call note pay.py:5",
            "enqueue-dedup-as-guard note shop.py:19",
        },
    ),
    "Huey runs a task once": (
        {
            "shop.py": """
from huey import RedisHuey

from pay import pay

huey = RedisHuey("shop")


@huey.task()
def charge(order_id):
    pay(order_id)
"""
        },
        {"unkeyed-external-call note pay.py:5"},
    ),
    "Huey with retries does not": (
        {
            "shop.py": """
from huey import RedisHuey

from pay import pay

huey = RedisHuey("shop")


@huey.task(retries=3)
def charge(order_id):
    pay(order_id)
"""
        },
        {"unkeyed-external-call error pay.py:5", "retry-after-effect error shop.py:8"},
    ),
    "Huey asks for another run where it has no retries": (
        {
            "shop.py": """
from huey import RedisHuey
from huey.exceptions import RetryTask

from pay import pay

huey = RedisHuey("shop")


@huey.task()
def charge(order_id):
    pay(order_id)
    if order_id is None:
        raise RetryTask()
"""
        },
        {"unkeyed-external-call error pay.py:5", "retry-after-effect error shop.py:13"},
    ),
    "a recipe that sends interrupted tasks again runs them more than once": (
        {
            "shop.py": """
from huey import RedisHuey
from huey.signals import SIGNAL_INTERRUPTED

from pay import pay

huey = RedisHuey("shop")


@huey.signal(SIGNAL_INTERRUPTED)
def on_interrupted(signal, task):
    huey.enqueue(task)


@huey.task()
def charge(order_id):
    pay(order_id)
"""
        },
        {"unkeyed-external-call error pay.py:5"},
    ),
    "Procrastinate's retry=True has no end": (
        {
            "shop.py": """
from procrastinate import App, PsycopgConnector

from pay import pay

app = App(connector=PsycopgConnector())


@app.task(retry=True)
def charge(order_id):
    pay(order_id)
"""
        },
        {
            "unkeyed-external-call error pay.py:5",
            "retry-after-effect error shop.py:8",
            "endless-redelivery warning shop.py:8",
        },
    ),
    "TaskIQ takes over what was idle for ten minutes": (
        {
            "shop.py": """
from taskiq_redis import ListQueueBroker, RedisStreamBroker

broker = RedisStreamBroker(url="redis://redis:6379")
plain = ListQueueBroker(url="redis://redis:6379")


@broker.task(timeout=1200)
async def scan(shop_id):
    return shop_id


@broker.task(timeout=300)
async def glance(shop_id):
    return shop_id


@plain.task(timeout=1200)
async def scan_plainly(shop_id):
    return shop_id
"""
        },
        {"visibility-timeout-too-short error shop.py:7"},
    ),
    "a retry label needs a middleware that reads it": (
        {
            "shop.py": """
from taskiq_redis import ListQueueBroker

broker = ListQueueBroker(url="redis://redis:6379")


@broker.task(retry_on_error=True)
async def scan(shop_id):
    return shop_id
"""
        },
        {"ignored-setting warning shop.py:6"},
    ),
    "a job of Procrastinate is stalled by its heartbeat, not by its age": (
        {
            "shop.py": """
from procrastinate import App, PsycopgConnector

app = App(connector=PsycopgConnector())


@app.task
def charge(order_id):
    return order_id


@app.periodic(cron="*/10 * * * *")
@app.task
async def rescue(timestamp):
    for job in await app.job_manager.get_stalled_jobs(nb_seconds=600):
        await app.job_manager.retry_job(job)
"""
        },
        {"visibility-timeout-too-short error shop.py:13"},
    ),
    "Celery acknowledges early on RabbitMQ, so that only a second message runs again": (
        {
            "tasks.py": """
from celery import Celery

from pay import pay

app = Celery("shop", broker="amqp://rabbit")


@app.task
def charge(order_id):
    pay(order_id)
"""
        },
        {"unkeyed-external-call warning pay.py:5"},
    ),
    "retry_on_worker_lost runs a task again that is acknowledged early": (
        {
            **CELERY,
            "requirements.txt": "celery==5.7.0",
            "tasks.py": """
from app import app
from pay import pay


@app.task(retry_on_worker_lost=True)
def charge(order_id):
    pay(order_id)
""",
        },
        {"unkeyed-external-call error pay.py:5"},
    ),
    "before Celery 5.7 nobody looks at retry_on_worker_lost": (
        {
            **CELERY,
            "requirements.txt": "celery==5.6.0",
            "tasks.py": """
from app import app
from pay import pay


@app.task(retry_on_worker_lost=True)
def charge(order_id):
    pay(order_id)
""",
        },
        {"unkeyed-external-call warning pay.py:5"},
    ),
    "a message that is sent on commit is delivered twice like any other": (
        {
            **CELERY,
            "tasks.py": """
from app import app
from pay import pay


@app.task(acks_late=True)
def charge(order_id):
    pay(order_id)


@app.task(acks_late=True)
def bill(order_id):
    charge.delay_on_commit(order_id)
""",
        },
        {"unkeyed-external-call error pay.py:5", "duplicate-fan-out note tasks.py:12"},
    ),
    "RQ runs a job once that has no retry": (
        {
            "shop.py": """
from redis import Redis
from rq import Queue

from pay import pay

queue = Queue(connection=Redis())


def charge(order_id):
    pay(order_id)


def place(order_id):
    queue.enqueue(charge, order_id)
"""
        },
        {"unkeyed-external-call note pay.py:5"},
    ),
    "RQ with a retry does not": (
        {
            "shop.py": """
from redis import Redis
from rq import Queue, Retry

from pay import pay

queue = Queue(connection=Redis())


def charge(order_id):
    pay(order_id)


def place(order_id):
    queue.enqueue(charge, order_id, retry=Retry(max=2))
"""
        },
        {"unkeyed-external-call error pay.py:5", "retry-after-effect error shop.py:14"},
    ),
    "arq's job id guards the sending only": (
        {
            "worker.py": """
from arq import create_pool

from pay import pay


async def charge(ctx, order_id):
    pay(order_id)


class WorkerSettings:
    functions = [charge]


async def place(order_id):
    pool = await create_pool()
    await pool.enqueue_job("charge", order_id, _job_id=f"charge-{order_id}")
"""
        },
        {"unkeyed-external-call error pay.py:5", "enqueue-dedup-as-guard note worker.py:16"},
    ),
    "an arq worker that is called is told as one with a class": (
        {
            "worker.py": """
from arq.worker import Worker

from pay import pay


async def charge(ctx, order_id):
    pay(order_id)


worker = Worker(functions=[charge], max_tries=1)
"""
        },
        {"unkeyed-external-call note pay.py:5"},
    ),
    "Procrastinate runs a job once, and its lock guards the sending only": (
        {
            "shop.py": """
from procrastinate import App, PsycopgConnector

from pay import pay

app = App(connector=PsycopgConnector())


@app.task
def charge(order_id):
    pay(order_id)


@app.task(queueing_lock="refunds", retry=3)
def refund(order_id):
    pay(order_id)
"""
        },
        {
            "unkeyed-external-call error pay.py:5",
            "retry-after-effect error shop.py:13",
            "enqueue-dedup-as-guard note shop.py:13",
        },
    ),
    "django-q2 on Redis forgets what it handed out": (
        {
            "settings.py": """
SECRET_KEY = "x"
Q_CLUSTER = {"redis": "redis://redis:6379/0", "retry": 60, "timeout": 300}
""",
            "shop.py": """
from django_q.tasks import async_task

from pay import pay


def charge(order_id):
    pay(order_id)


def place(order_id):
    async_task(charge, order_id)
""",
        },
        {"unkeyed-external-call note pay.py:5"},
    ),
    "django-q2 is told how long a task may take in a dict as well": (
        {
            "settings.py": """
SECRET_KEY = "x"
Q_CLUSTER = {"orm": "default", "timeout": 30, "max_attempts": 1}
""",
            "shop.py": """
from django_q.tasks import async_task


def charge(order_id):
    return order_id


def refund(order_id):
    return order_id


def place(order_id):
    async_task(charge, order_id, q_options={"timeout": 300})
    async_task(refund, order_id, q_options={"group": "refunds"})
""",
        },
        {"visibility-timeout-too-short error shop.py:13"},
    ),
    "Dramatiq without a time limit has none that the broker could be too short for": (
        {
            "actors.py": """
import dramatiq
from dramatiq.brokers.rabbitmq import RabbitmqBroker

dramatiq.set_broker(RabbitmqBroker(url="amqp://rabbit"))


@dramatiq.actor(time_limit=float("inf"))
def train(model_id):
    return model_id


@dramatiq.actor(time_limit=3_600_000)
def score(model_id):
    return model_id
"""
        },
        {"visibility-timeout-too-short error actors.py:12"},
    ),
    "TaskIQ's PubSub broker hands a task to every worker": (
        {
            "shop.py": """
from taskiq_redis import PubSubBroker

from pay import pay

broker = PubSubBroker(url="redis://redis:6379")


@broker.task
async def charge(order_id):
    pay(order_id)
"""
        },
        {"unkeyed-external-call error pay.py:5"},
    ),
    "TaskIQ retries a labelled task whose broker has a middleware for it": (
        {
            "shop.py": """
from taskiq import SimpleRetryMiddleware
from taskiq_redis import ListQueueBroker

from pay import pay

broker = ListQueueBroker(url="redis://redis:6379").with_middlewares(SimpleRetryMiddleware())


@broker.task(retry_on_error=True)
async def charge(order_id):
    pay(order_id)
"""
        },
        {"unkeyed-external-call error pay.py:5", "retry-after-effect error shop.py:9"},
    ),
    "Django's tasks are delivered as their backend says": (
        {
            "settings.py": """
SECRET_KEY = "x"
TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
""",
            "tasks.py": """
from django.tasks import task

from pay import pay


@task
def charge(order_id):
    pay(order_id)
""",
        },
        {"unkeyed-external-call note pay.py:5"},
    ),
    "django-rq holds a message back until the commit, and delivers it as RQ does": (
        {
            "settings.py": """
SECRET_KEY = "x"
RQ_QUEUES = {"default": {"URL": "redis://redis:6379/0"}}
""",
            "requirements.txt": "django-rq==4.2.0\nrq==3.0.0",
            "tasks.py": """
from django_rq import job
from rq import Retry

from pay import pay


@job("default", retry=Retry(max=3))
def charge(order_id):
    pay(order_id)
""",
        },
        {"unkeyed-external-call error pay.py:5", "retry-after-effect error tasks.py:7"},
    ),
    "the word of one arq worker does not hold for another": (
        {
            "worker.py": """
from arq.connections import RedisSettings

from pay import pay


async def charge(ctx, order_id):
    pay(order_id)


async def glance(ctx, order_id):
    return order_id


class Once:
    functions = [glance]
    max_tries = 1


class Again:
    functions = [charge]
    redis_settings = RedisSettings()
"""
        },
        {"unkeyed-external-call error pay.py:5"},
    ),
    "APScheduler runs a job once a process": (
        {
            "jobs.py": """
from apscheduler.schedulers.background import BackgroundScheduler

from pay import pay

scheduler = BackgroundScheduler(job_defaults={"coalesce": False, "misfire_grace_time": 3600})


@scheduler.scheduled_job("interval", minutes=5)
def charge():
    pay(1)
"""
        },
        {"unkeyed-external-call note pay.py:5"},
    ),
    "options of a dict that is put together count, and none are guessed of one that cannot be read": (
        {
            **CELERY,
            "tasks.py": """
from elsewhere import MORE

from app import app

BASE = {"acks_late": True, "max_retries": 5}


@app.task(**{**BASE, "time_limit": 7200})
def scan(shop_id):
    return shop_id


@app.task(**(BASE | {"time_limit": 600}))
def glance(shop_id):
    return shop_id


@app.task(max_retries=5, **MORE)
def look(shop_id):
    return shop_id
""",
        },
        {
            "visibility-timeout-too-short error tasks.py:8",
            "ignored-setting note tasks.py:5",
        },
    ),
    "the class of all tasks says what they are told": (
        {
            **CELERY,
            "tasks.py": """
from app import app

app.Task.acks_late = True
app.Task.time_limit = 7200


@app.task
def scan(shop_id):
    return shop_id


@app.task(acks_late=False)
def look(shop_id):
    return shop_id
""",
        },
        {"visibility-timeout-too-short error tasks.py:4"},
    ),
    "an app names the class of its tasks": (
        {
            "tasks.py": """
from celery import Celery, Task


class Late(Task):
    acks_late = True
    time_limit = 7200


app = Celery("shop", broker="redis://redis:6379/0", task_cls="tasks:Late")


@app.task
def scan(shop_id):
    return shop_id
""",
        },
        {"visibility-timeout-too-short error tasks.py:12"},
    ),
}


def lines(text: str) -> str:
    return text.lstrip("\n")


@pytest.mark.parametrize(("files", "expected"), TRAPS.values(), ids=TRAPS)
def test_trap(tmp_path: Path, files: Mapping[str, str], expected: set[str]) -> None:
    for name, text in {"pay.py": PAY, **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(lines(text), encoding="utf-8")
    said = findings(tmp_path, "--min-severity", "note", "--min-confidence", "low")
    found = {
        f"{each['rule']} {each['severity']} {each['path']}:{each['line']}" for each in said if each["rule"] in DELIVERY
    }
    assert found == expected
