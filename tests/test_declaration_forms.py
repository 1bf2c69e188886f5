"""Ways to make a task that the fixture of each framework does not hold: which functions are tasks, and why each runs
again."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest
from delivering import causes, linked

Form = tuple[str, dict[str, str]]
"""The text of a module, and its tasks with the kinds of their causes."""

FORMS: Mapping[str, Form] = {
    "Celery: a class that takes the name of its instance": (
        """
        from celery import Celery, Task

        app = Celery("shop")


        class Pack(Task):
            acks_late = True

            def run(self, order_id): ...


        Pack = app.register_task(Pack())
        """,
        {"Pack.run": "worker-lost connection-lost"},
    ),
    "Celery: a class of all tasks that is set on the app": (
        """
        from celery import Celery, Task


        class Late(Task):
            acks_late = True


        app = Celery("shop")
        app.Task = Late


        @app.task
        def pack(order_id): ...
        """,
        {"pack": "worker-lost connection-lost"},
    ),
    "Celery: a time limit that a message brings along": (
        """
        from celery import Celery

        app = Celery("shop", broker="redis://redis:6379/0")
        SLOW = {"time_limit": 9000}


        @app.task(acks_late=True, time_limit=60)
        def pack(order_id): ...


        def send(order_id):
            pack.apply_async((order_id,), **SLOW)
        """,
        {"pack": "lease worker-lost connection-lost"},
    ),
    "Dramatiq: an actor that is made by hand, with a dict of options": (
        """
        import dramatiq


        def pack(order_id): ...


        actor = dramatiq.Actor(pack, broker=None, actor_name="pack", queue_name="q", options={"max_retries": 4})
        """,
        {"pack": "retry=4 worker-lost"},
    ),
    "Dramatiq: a message that asks for less speaks for itself alone, one that asks for more for the actor": (
        """
        import dramatiq


        @dramatiq.actor
        def pack(order_id): ...


        @dramatiq.actor(max_retries=2)
        def ship(order_id): ...


        def send(order_id):
            pack.send_with_options(args=(order_id,), max_retries=1)
            ship.send_with_options(args=(order_id,), max_retries=None)
        """,
        {"pack": "retry=20 worker-lost", "ship": "retry* worker-lost"},
    ),
    "arq: workers that are called with lists by position, dicts and classes": (
        """
        from arq import func, run_worker
        from arq.worker import Worker


        async def pack(ctx): ...
        async def ship(ctx): ...
        async def bill(ctx): ...
        async def tell(ctx): ...

        def not_a_job(): ...

        JOBS = [pack]


        def first():
            Worker(JOBS, max_tries=2).run()


        def second():
            Worker([func(ship, name="shipping"), not_a_job])


        def third():
            run_worker({"functions": [bill], "max_tries": 3})


        def fourth():
            class Settings:
                functions = [tell]
                max_tries = 4

            run_worker(Settings)
        """,
        {
            "pack": "worker-lost=1",
            "ship": "worker-lost=4",
            "bill": "worker-lost=2",
            "tell": "worker-lost=3",
        },
    ),
    "arq: a class that is made by a call, and one that is added to": (
        """
        async def pack(ctx): ...
        async def ship(ctx): ...
        async def bill(ctx): ...
        async def tell(ctx): ...
        async def note(ctx): ...


        import arq

        Made = type("Made", (), {"functions": [pack], "max_tries": 1})


        class WorkerSettings:
            functions = [ship]
            max_tries = 2


        WorkerSettings.functions.append(bill)
        WorkerSettings.functions.extend([tell])
        WorkerSettings.functions += [note]
        """,
        {
            "pack": "early-ack",
            "ship": "worker-lost=1",
            "bill": "worker-lost=1",
            "tell": "worker-lost=1",
            "note": "worker-lost=1",
        },
    ),
    "RQ: options from dicts, imports and names inside of the function that sends": (
        """
        from rq import Queue, Retry

        queue = Queue()
        OFTEN = {"retry": Retry(max=3), "job_timeout": 50}


        def pack(order_id): ...
        def ship(order_id): ...
        def bill(order_id): ...
        def tell(order_id): ...


        def send(order_id):
            from rq import Retry as Again

            few = dict(retry=Again(max=2))
            count = 4
            queue.enqueue(pack, order_id, **OFTEN)
            queue.enqueue(ship, order_id, **few)
            queue.enqueue_call(func=bill, **{**OFTEN, "retry": None})
            queue.enqueue(tell, order_id, retry=Again(max=count))
        """,
        {
            "pack": "retry=3 worker-lost=3",
            "ship": "retry=2 worker-lost=2",
            "bill": "early-ack",
            "tell": "retry=4 worker-lost=4",
        },
    ),
    "Huey: retries that are spread into the call": (
        """
        from huey import MemoryHuey

        huey = MemoryHuey()
        OFTEN = {"retries": 3}


        @huey.task()
        def pack(order_id): ...


        def send(order_id):
            pack(order_id, **OFTEN)
        """,
        {"pack": "retry=3 early-ack"},
    ),
    "RQ: a job that returns a retry, and one that only makes one": (
        """
        from rq import Queue, Retry

        queue = Queue()


        def policy():
            return Retry(max=3)


        def pack(order_id):
            if not order_id:
                return Retry(max=5, interval=60)


        def ship(order_id):
            policy()


        def bill(order_id):
            return policy()


        def send(order_id):
            queue.enqueue(pack, order_id)
            queue.enqueue(ship, order_id)
            queue.enqueue(bill, order_id)
        """,
        {"pack": "retry-call=5", "ship": "early-ack", "bill": "retry-call=3"},
    ),
    "Celery: a message that is given back, for good or without effect": (
        """
        from celery import shared_task
        from celery.exceptions import Ignore, Reject


        @shared_task(acks_late=True)
        def pack(order_id):
            raise Reject("not yet", requeue=True)


        @shared_task(acks_late=True)
        def ship(order_id):
            if order_id:
                raise Ignore()
            raise Reject("never", requeue=False)


        @shared_task
        def bill(order_id):
            raise Reject("not yet", requeue=True)
        """,
        {
            "pack": "requeued* worker-lost connection-lost",
            "ship": "worker-lost connection-lost",
            "bill": "early-ack",
        },
    ),
}


@pytest.mark.parametrize(("source", "expected"), FORMS.values(), ids=FORMS)
def test_tasks_and_why_they_run_again(tmp_path: Path, source: str, expected: dict[str, str]) -> None:
    (tmp_path / "shop.py").write_text(textwrap.dedent(source), encoding="utf-8")
    _, deliveries = linked(tmp_path)
    assert {task.partition(":")[2]: causes(delivery) for task, delivery in deliveries.items()} == expected
