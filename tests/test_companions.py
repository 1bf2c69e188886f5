"""What the worker runs beside a task: which functions these are, and what runs them a second time."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest
from delivering import causes, delivered, linked, made
from linting import findings

from idemlint.delivery import of_companion

JOBS = """
    def pack(order_id):
        return order_id
    """

PROJECTS: Mapping[str, tuple[str, set[str]]] = {
    "RQ: at the message, wrapped, by path, bound methods and functions inside of one": (
        """
        from jobs import pack
        from rq import Callback, Queue

        queue = Queue()
        FAILED = Callback("shop.failed", timeout=10)


        def done(job, connection, result): ...
        def failed(job, connection, kind, value, traceback): ...
        def stopped(job, connection): ...


        class Shop:
            def told(self, job, connection, result): ...

            def ship(self):
                queue.enqueue(pack, 1, on_success=self.told)


        def ship():
            def inner(job, connection, result): ...

            queue.enqueue(pack, 1, on_success=done, on_failure=Callback(func=failed), on_stopped="shop.stopped")
            queue.enqueue_call(func=pack, on_success=inner, on_failure=FAILED)
        """,
        {
            "done beside pack (any)",
            "failed beside pack (any)",
            "stopped beside pack (sent)",
            "Shop.told beside pack (any)",
            "ship.inner beside pack (any)",
        },
    ),
    "RQ: at the declaration, and at a job that is made first": (
        """
        from jobs import pack
        from rq import Queue
        from rq.decorators import job
        from rq.job import Callback, Job


        def done(job, connection, result): ...
        def failed(job, connection, kind, value, traceback): ...


        @job("orders", on_success=done, on_failure=Callback(failed))
        def ship(order_id): ...


        def send(queue: Queue):
            queue.enqueue_job(Job.create(pack, on_success=done))
            queue.enqueue_in(60, pack, on_failure=failed)
        """,
        {
            "done beside ship (any)",
            "failed beside ship (any)",
            "done beside pack (any)",
            "failed beside pack (any)",
        },
    ),
    "RQ: of a function that is passed in, nobody knows which it is": (
        """
        from jobs import pack
        from rq import Queue


        def send(queue: Queue, told, options):
            queue.enqueue(pack, on_success=told, **options)
        """,
        set(),
    ),
    "Celery: methods of a base, inherited ones among them, and of a task that is a class": (
        """
        from celery import Celery, Task, shared_task

        app = Celery("shop")


        class Base(Task):
            def on_success(self, retval, task_id, args, kwargs): ...
            def before_start(self, task_id, args, kwargs): ...


        class Special(Base):
            def on_failure(self, exc, task_id, args, kwargs, einfo): ...


        @shared_task(base=Special)
        def pack(order_id): ...


        class Ship(Base):
            def run(self, order_id): ...
            def on_retry(self, exc, task_id, args, kwargs, einfo): ...
            def after_return(self, status, retval, task_id, args, kwargs, einfo): ...


        app.register_task(Ship())
        """,
        {
            "Base.on_success beside pack (cut)",
            "Base.before_start beside pack (any)",
            "Special.on_failure beside pack (cut)",
            "Base.on_success beside Ship.run (cut)",
            "Base.before_start beside Ship.run (any)",
            "Ship.on_retry beside Ship.run (cut)",
            "Ship.after_return beside Ship.run (cut)",
        },
    ),
    "Celery: a function as option, and the class of all of an app's tasks": (
        """
        from celery import Celery, Task


        class Base(Task):
            def on_failure(self, exc, task_id, args, kwargs, einfo): ...


        app = Celery("shop")
        app.Task = Base


        def tell(self, exc, task_id, args, kwargs, einfo): ...


        @app.task(on_failure=tell)
        def pack(order_id): ...
        """,
        {"tell beside pack (cut)", "Base.on_failure beside pack (cut)"},
    ),
    "django-q2: hooks of messages, of dicts of options, of objects and of schedules": (
        """
        from django_q.models import Schedule
        from django_q.tasks import AsyncTask, async_task, schedule
        from jobs import pack


        def first(task): ...
        def second(task): ...
        def third(task): ...
        def fourth(task): ...
        def fifth(task): ...


        def ship():
            async_task(pack, 1, hook="shop.first")
            async_task(pack, 1, q_options={"hook": second})
            AsyncTask(pack, 1, hook=third).run()
            schedule("jobs.pack", 1, hook="shop.fourth")
            Schedule.objects.create(func="jobs.pack", hook="shop.fifth")
        """,
        {f"{name} beside pack (any)" for name in ("first", "second", "third", "fourth", "fifth")},
    ),
    "arq: what a worker runs around each of its jobs": (
        """
        from arq import Worker, cron


        async def pack(ctx): ...
        async def tidy(ctx): ...
        async def start(ctx): ...
        async def end(ctx): ...
        async def after(ctx): ...


        class WorkerSettings:
            functions = [pack]
            on_job_start = start

            async def on_job_end(ctx): ...


        def run():
            Worker(functions=[tidy], on_job_end=end, after_job_end=after)
        """,
        {
            "start beside pack (any)",
            "WorkerSettings.on_job_end beside pack (any)",
            "end beside tidy (any)",
            "after beside tidy (sent)",
        },
    ),
}


@pytest.mark.parametrize(("source", "expected"), PROJECTS.values(), ids=PROJECTS)
def test_what_runs_beside_a_task(tmp_path: Path, source: str, expected: set[str]) -> None:
    (tmp_path / "shop.py").write_text(textwrap.dedent(source), encoding="utf-8")
    (tmp_path / "jobs.py").write_text(textwrap.dedent(JOBS), encoding="utf-8")
    program, _ = linked(tmp_path)
    found = {
        f"{program.bodies[root.body].function.partition(':')[2]} beside "
        f"{(root.task or '').partition(':')[2]} ({root.companion.again})"
        for root in program.roots
        if root.companion is not None
    }
    assert found == expected


def test_what_runs_beside_a_task_is_no_task(tmp_path: Path) -> None:
    source, _ = PROJECTS["Celery: a function as option, and the class of all of an app's tasks"]
    (tmp_path / "shop.py").write_text(textwrap.dedent(source), encoding="utf-8")
    program, deliveries = linked(tmp_path)
    assert set(program.tasks) == set(deliveries) == {"shop:pack"}


RETRIED = {"retry": made("rq.Retry", max=2)}


@pytest.mark.parametrize(
    ("framework", "options", "again", "expected", "cap"),
    [
        ("rq", RETRIED, "any", "retry=2 worker-lost=2", "ERROR"),
        ("rq", RETRIED, "cut", "worker-lost=2", "ERROR"),
        ("rq", RETRIED, "sent", "early-ack", "NOTE"),
        ("rq", {}, "any", "early-ack", "NOTE"),
        ("celery", {"autoretry_for": (OSError,)}, "cut", "early-ack", "WARNING"),
        ("celery", {"acks_late": True}, "cut", "worker-lost connection-lost", "ERROR"),
        ("celery", {"acks_late": True, "reject_on_worker_lost": True}, "sent", "early-ack", "NOTE"),
        # That nothing ends it is said of the task alone.
        (
            "celery",
            {"acks_late": True, "reject_on_worker_lost": True},
            "cut",
            "process-lost worker-lost connection-lost",
            "ERROR",
        ),
    ],
)
def test_what_runs_it_again(framework: str, options: dict[str, object], again: str, expected: str, cap: str) -> None:
    found = of_companion(delivered(framework, options), again)
    assert (causes(found), found.cap.name) == (expected, cap)


def test_a_lease_that_is_too_short_is_said_of_the_task_alone() -> None:
    settings = {"broker_url": "redis://redis:6379/0"}
    found = of_companion(delivered("celery", {"acks_late": True, "time_limit": 7200}, settings), "cut")
    assert (causes(found), found.lease, found.outruns_lease) == (
        "connection-lost worker-lost connection-lost",
        None,
        False,
    )


PAID = """
    import stripe
    from rq import Queue, Retry
    from rq.decorators import job

    queue = Queue()


    def pay(job, connection, result):
        stripe.PaymentIntent.create(amount=result{key})


    def pack(order_id):
        return order_id


    def ship(order_id):
        queue.enqueue(pack, order_id, retry=Retry(max=2), on_success=pay)
    """


def test_a_finding_in_it_names_the_task_and_its_cause(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(textwrap.dedent(PAID.format(key="")), encoding="utf-8")
    found = findings(tmp_path)
    assert {(each["rule"], each["line"], each["task"]["function"]) for each in found} == {
        ("unkeyed-external-call", 10, "pack"),
        ("retry-after-effect", 9, "pack"),
    }
    assert all("retry=Retry(max=2)" in each["causes"][0]["text"] for each in found)
    assert all(each["message"].startswith("pay of pack ") for each in found)


def test_the_id_of_the_job_is_a_key(tmp_path: Path) -> None:
    source = textwrap.dedent(PAID.format(key=", idempotency_key=job.id"))
    (tmp_path / "shop.py").write_text(source, encoding="utf-8")
    assert findings(tmp_path) == []
