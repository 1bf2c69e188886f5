"""Every way to send a task: which function sends which tasks, and after what wait."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest
from linked import Linked, linked

from idemlint.program import EnqueueCall, each_of


def sent(project: Linked) -> dict[str, str]:
    """Function -> the tasks it sends, with the wait where there is one."""
    found: dict[str, str] = {}
    for body in project.program.bodies.values():
        calls = [
            target
            for _, reached in sorted(body.targets.items())
            for target in each_of(reached)
            if isinstance(target, EnqueueCall) and target.does == "enqueue"
        ]
        if calls:
            said = [
                " ".join(task.rpartition(":")[2] for task in call.tasks)
                + (f" after {call.delay.seconds:g}" if call.delay is not None else "")
                for call in calls
            ]
            found[body.function.rpartition(":")[2]] = ", ".join(said)
    return found


CELERY = """
from datetime import timedelta

from celery import Celery, chain, chord, group, signature
from django.utils import timezone

app = Celery("shop", broker="redis://redis:6379/0")
LATER = {{"countdown": 7200, "queue": "slow"}}
SOON = dict(LATER, countdown=5)


@app.task
def pack(order_id): ...


@app.task(name="shop.ship")
def ship(order_id): ...


@app.task(bind=True)
def again(self, order_id):
    {body}


def send(**options):
    {body}
"""

FORMS: Mapping[str, str] = {
    "pack.delay(1)": "pack",
    "pack.apply_async(args=[1], countdown=7200)": "pack after 7200",
    "pack.apply_async((1,), eta=timezone.now() + timedelta(hours=3))": "pack after 10800",
    "pack.delay_on_commit(1)": "pack",
    "pack.apply_async_on_commit((1,), countdown=3)": "pack after 3",
    'app.send_task("shop.ship", [1], countdown=9)': "ship after 9",
    'app.signature("shop.ship", args=(1,)).delay()': "ship",
    'signature("tasks.pack", args=(1,)).apply_async()': "pack",
    'app.tasks["shop.ship"].delay(1)': "ship",
    "pack.s(1).delay()": "pack",
    "pack.si(1).apply_async(countdown=5)": "pack after 5",
    "pack.signature((1,), countdown=9).delay()": "pack after 9",
    "pack.s(1).set(countdown=7201).delay()": "pack after 7201",
    "chain(pack.s(1), ship.s())()": "pack ship",
    "chain([pack.s(1), ship.s(2)]).delay()": "pack ship",
    "group(pack.s(each) for each in range(3))()": "pack",
    "group([pack.s(1), ship.s(2)]).apply_async()": "pack ship",
    "chord([pack.s(1)])(ship.s())": "pack ship",
    "chord([pack.s(1)], ship.s()).delay()": "pack ship",
    "(pack.s(1) | ship.s()).apply_async()": "pack ship",
    "pack.map([1, 2]).apply_async()": "pack",
    "pack.starmap([(1,)]).delay()": "pack",
    "pack.chunks([(1,)], 10).apply_async()": "pack",
    "(pack.s(1) | ship.s())()": "pack ship",
    "(pack.s(1) | pack.s(2))()": "pack",
    "parts = pack.s(1) | ship.s(); parts()": "pack ship",
    "parts = chain(pack.s(1), ship.s()); parts()": "pack ship",
    "pack.chunks([(1,)], 10)()": "pack",
    "pack.chunks([(1,)], 10).group()()": "pack",
    # What the worker sends once the run has succeeded, or failed.
    "pack.apply_async((1,), link=ship.s(), link_error=again.s())": "pack ship again",
    "pack.s(1).apply_async(link_error=[ship.s()])": "pack ship",
    "pack.s(1).on_error(ship.s()).delay()": "pack ship",
    "chord([pack.s(1)], ship.s().on_error(again.s())).delay()": "pack ship again",
    "sig = pack.s(1); sig.link(ship.s()); sig.delay()": "pack ship",
    "sig = pack.s(1); sig.link_error(ship.s()); sig.delay()": "pack ship",
    # What is spread into the call.
    "pack.apply_async((1,), **LATER)": "pack after 7200",
    "pack.apply_async((1,), **SOON)": "pack after 5",
    'pack.apply_async((1,), **{"countdown": 8, "link": ship.s()})': "pack ship after 8",
    'pack.apply_async((1,), **{**LATER, "countdown": 9})': "pack after 9",
    'pack.apply_async((1,), **(LATER | {"countdown": 10}))': "pack after 10",
    "late = dict(countdown=11); pack.apply_async((1,), **late)": "pack after 11",
    'late = {}; late["countdown"] = 12; pack.apply_async((1,), **late)': "pack",
    # Nothing is sent.
    "pack(1)": "",
    "pack.run(1)": "",
    "pack.apply((1,))": "",
    "pack.s(1)()": "",
    "pack.starmap([(1,)])()": "",
    "pack.s(1) | ship.s()": "",
    "pack.s(1)": "",
}


@pytest.mark.parametrize(("statement", "expected"), FORMS.items(), ids=FORMS)
def test_celery(tmp_path: Path, statement: str, expected: str) -> None:
    found = sent(linked(tmp_path, {"tasks.py": CELERY.format(body=statement)}))
    assert found.get("again", "") == expected
    assert found.get("send", "") == expected


def test_a_dict_that_is_passed_in_says_nothing_of_the_wait(tmp_path: Path) -> None:
    found = sent(linked(tmp_path, {"tasks.py": CELERY.format(body="pack.apply_async((1,), **options)")}))
    assert found["send"] == "pack"


def test_a_task_replaces_itself_and_adds_to_its_chord(tmp_path: Path) -> None:
    body = "self.replace(pack.s(1) | ship.s()); self.add_to_chord(ship.s())"
    source = CELERY.format(body="...").replace(
        "def again(self, order_id):\n    ...", f"def again(self, order_id):\n    {body}"
    )
    assert sent(linked(tmp_path, {"tasks.py": source}))["again"] == "pack ship, ship"


OTHERS: Mapping[str, tuple[str, dict[str, str]]] = {
    "Huey: a task is sent by calling it, and nothing else in the file sends": (
        """
        from huey import RedisHuey

        huey = RedisHuey()


        @huey.task()
        def pack(order_id): ...


        @huey.task()
        def ship(order_id): ...


        def called(order_id):
            pack(order_id)


        def tied(order_id):
            huey.enqueue(pack.s(order_id).then(ship).error(ship))


        def put_off(order_id):
            pack.schedule((order_id,), delay=60)


        def here(order_id):
            pack.call_local(order_id)
        """,
        {"called": "pack", "tied": "pack ship", "put_off": "pack after 60"},
    ),
    "Dramatiq": (
        """
        import dramatiq
        from dramatiq import group, pipeline


        @dramatiq.actor
        def pack(order_id): ...


        @dramatiq.actor
        def ship(order_id): ...


        def one():
            pack.send(1)
            pack.send_with_options(args=(1,), delay=5000)
            dramatiq.get_broker().enqueue(pack.message(1))


        def several():
            group([pack.message(1), ship.message(2)]).run()
            pipeline([pack.message(1), ship.message()]).run()
            (pack.message(1) | ship.message()).run()


        def here():
            pack(1)
            pack.fn(1)
            pack.message(1)
        """,
        {"one": "pack, pack, pack", "several": "pack ship, pack ship, pack ship"},
    ),
    "django-q2": (
        """
        from django_q.tasks import AsyncTask, Chain, Iter, async_chain, async_iter


        def pack(order_id): ...


        def ship(order_id): ...


        def bill(order_id): ...


        def in_turn(order_id):
            async_chain([("tasks.pack", (order_id,)), (ship, (order_id,), {"fast": True}), bill], group="orders")


        def in_turn_by_name(orders):
            steps = [(pack, (1,)), (ship, (1,))]
            async_chain(steps)


        def each(orders):
            async_chain([(pack, (order,)) for order in orders])


        def built(order_id):
            chain = Chain(cached=True)
            chain.append(ship, order_id)
            chain.append("tasks.bill", order_id)
            chain.run()


        def listed(order_id):
            Chain([(pack, (order_id,)), (bill, (order_id,))]).run()


        def alone(order_id):
            AsyncTask(pack, order_id).run()


        def alone_by_name(order_id):
            job = AsyncTask("tasks.ship", order_id)
            job.run()


        def all_of(orders):
            many = Iter(bill)
            many.append(orders[0])
            many.run()


        def here(order_id):
            AsyncTask(pack, order_id)
            Chain([(pack, (order_id,))])
        """,
        {
            "in_turn": "pack ship bill",
            "in_turn_by_name": "pack ship",
            "each": "pack",
            "built": "ship bill",
            "listed": "pack bill",
            "alone": "pack",
            "alone_by_name": "ship",
            "all_of": "bill",
        },
    ),
    "TaskIQ": (
        """
        from taskiq import InMemoryBroker

        broker = InMemoryBroker()


        @broker.task
        async def pack(order_id): ...


        async def send(source):
            await pack.kiq(1)
            await pack.kicker().with_labels(retry_on_error=True).with_task_id("x").kiq(1)
            await pack.schedule_by_cron(source, "* * * * *", 1)
            await pack.kicker().schedule_by_time(source, 3, 1)


        async def here():
            await pack(1)
        """,
        {"send": "pack, pack, pack, pack"},
    ),
    "Procrastinate": (
        """
        from procrastinate import App, PsycopgConnector

        app = App(connector=PsycopgConnector())


        @app.task(name="orders.pack")
        def pack(order_id): ...


        async def send():
            pack.defer(order_id=1)
            await pack.defer_async(order_id=1)
            pack.batch_defer({"order_id": 1}, {"order_id": 2})
            pack.configure(queueing_lock="x", schedule_in={"seconds": 3}).defer(order_id=1)
            app.configure_task("orders.pack", queue="slow").defer(order_id=1)


        def here():
            pack(1)
        """,
        {"send": "pack, pack, pack, pack, pack"},
    ),
    "Django": (
        """
        from django.tasks import default_task_backend, task


        @task
        def pack(order_id): ...


        async def send():
            pack.enqueue(1)
            await pack.aenqueue(1)
            pack.using(priority=3, run_after=5).enqueue(1)
            default_task_backend.enqueue(pack, (1,), {})


        def here():
            pack.call(1)
            pack.func(1)
        """,
        {"send": "pack, pack, pack, pack"},
    ),
    "arq": (
        """
        from arq import create_pool, func
        from arq.connections import RedisSettings


        async def pack(ctx, order_id): ...


        async def ship(ctx, order_id):
            await ctx["redis"].enqueue_job("pack", order_id, _defer_by=10)


        class WorkerSettings:
            functions = [pack, func(ship, name="shipping")]


        async def send():
            redis = await create_pool(RedisSettings())
            await redis.enqueue_job("pack", 1, _job_id="x")
            await redis.enqueue_job("shipping", 1)


        async def here(ctx):
            await pack(ctx, 1)
        """,
        {"ship": "pack after 10", "send": "pack, ship"},
    ),
}


@pytest.mark.parametrize(("source", "expected"), OTHERS.values(), ids=OTHERS)
def test_other_frameworks(tmp_path: Path, source: str, expected: dict[str, str]) -> None:
    assert sent(linked(tmp_path, {"tasks.py": textwrap.dedent(source)})) == expected
