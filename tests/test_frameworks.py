"""A small project for each framework: which functions are its tasks, by whatever spelling, and why each runs again."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest
from delivering import linked

from idemlint.catalog import load
from idemlint.delivery import Delivery
from idemlint.link import link
from idemlint.placing import Places
from idemlint.program import EnqueueCall, Program
from idemlint.project import discover
from idemlint.summarize import summarize

FIXTURES = Path(__file__).parent / "fixtures" / "frameworks"

Pinned = Mapping[str, tuple[str, str, str, str]]
"""Task -> its name in the queue, where it is declared, the kinds of its causes with how often at most (`*`: without
end), and the highest severity of a finding about its repetition."""

TASKS: Mapping[str, Pinned] = {
    "aliases": {
        "shop.declared:through_bare_decorator": (
            "through_bare_decorator",
            "shop/declared.py:63",
            "retry=9 worker-lost",
            "ERROR",
        ),
        "shop.declared:through_class": ("shop.declared:through_class", "shop/declared.py:73", "early-ack", "WARNING"),
        "shop.declared:through_decorator": (
            "shop.declared:through_decorator",
            "shop/declared.py:58",
            "retry early-ack",
            "ERROR",
        ),
        "shop.declared:through_import": ("through_import", "shop/declared.py:43", "retry=7 worker-lost", "ERROR"),
        "shop.declared:through_import_too": (
            "shop.declared.through_import_too",
            "shop/declared.py:48",
            "early-ack",
            "NOTE",
        ),
        "shop.declared:through_name": (
            "shop.declared.through_name",
            "shop/declared.py:53",
            "retry=2 early-ack",
            "ERROR",
        ),
        "shop.declared:through_nested_decorator": (
            "through_nested_decorator",
            "shop/declared.py:68",
            "retry=1 worker-lost",
            "ERROR",
        ),
        "shop.declared:through_partial": ("through_partial", "shop/declared.py:38", "retry=3 worker-lost", "ERROR"),
        "shop.handed:Jobs.pack": ("shop.handed.Jobs.pack", "shop/handed.py:12", "early-ack", "NOTE"),
        "shop.handed:charge": ("shop.handed.charge", "shop/handed.py:39", "early-ack", "NOTE"),
        "shop.handed:label": ("shop.handed.label", "shop/handed.py:43", "early-ack", "NOTE"),
        "shop.handed:mail": ("shop.handed.mail", "shop/handed.py:42", "early-ack", "NOTE"),
        "shop.handed:ship": ("shop.handed.ship", "shop/handed.py:41", "early-ack", "NOTE"),
    },
    "apscheduler": {
        "shop.flask_jobs:beat": ("shop.flask_jobs.beat", "shop/flask_jobs.py:14", "early-ack", "NOTE"),
        "shop.flask_jobs:mail": ("shop.flask_jobs.mail", "shop/flask_jobs.py:23", "early-ack", "NOTE"),
        "shop.flask_jobs:tidy": ("shop.flask_jobs.tidy", "shop/flask_jobs.py:7", "early-ack", "NOTE"),
        "shop.jobs:charge": ("shop.jobs.charge", "shop/jobs.py:22", "early-ack", "NOTE"),
        "shop.jobs:poll": ("shop.jobs.poll", "shop/jobs.py:8", "early-ack", "NOTE"),
        "shop.jobs:prune": ("shop.jobs.prune", "shop/jobs.py:23", "early-ack", "NOTE"),
    },
    "arq": {
        "shop.jobs:charge": ("charge", "shop/worker.py:10", "worker-lost=2", "ERROR"),
        "shop.jobs:pack": ("pack", "shop/worker.py:10", "early-ack", "NOTE"),
        "shop.jobs:prune": ("prune", "shop/worker.py:11", "early-ack", "NOTE"),
        "shop.jobs:report": ("report", "shop/worker.py:11", "worker-lost=1", "ERROR"),
        "shop.jobs:ship": ("ship", "shop/worker.py:6", "worker-lost=2", "ERROR"),
        "shop.jobs:weigh": ("weigh", "shop/worker.py:10", "worker-lost=2", "ERROR"),
    },
    "arq_actors": {
        "shop.mails:Mailer.log": ("Mailer.log", "shop/mails.py:9", "early-ack", "NOTE"),
        "shop.mails:Mailer.remind": ("Mailer.remind", "shop/mails.py:13", "early-ack", "NOTE"),
        "shop.mails:Mailer.send": ("Mailer.send", "shop/mails.py:5", "early-ack", "NOTE"),
    },
    "arq_dict": {
        "worker:charge": ("charge", "worker.py:12", "early-ack", "NOTE"),
        "worker:ship": ("parcel", "worker.py:12", "early-ack", "NOTE"),
    },
    "celery": {
        "shop.tasks:charge": ("shop.tasks.charge", "shop/tasks.py:9", "worker-lost connection-lost", "ERROR"),
        "shop.tasks:count": (
            "shop.tasks.count",
            "shop/tasks.py:47",
            "process-lost* worker-lost connection-lost",
            "ERROR",
        ),
        "shop.tasks:label": ("shop.tasks.label", "shop/tasks.py:29", "retry=7 worker-lost connection-lost", "ERROR"),
        "shop.tasks:pack": ("parcel", "shop/tasks.py:19", "prefetched early-ack", "WARNING"),
        "shop.tasks:print_label": (
            "shop.tasks.print_label",
            "shop/tasks.py:34",
            "retry=2 worker-lost connection-lost",
            "ERROR",
        ),
        "shop.tasks:pull": (
            "shop.tasks.pull",
            "shop/tasks.py:39",
            "retry-call* worker-lost connection-lost",
            "ERROR",
        ),
        "shop.tasks:ship": ("shop.tasks.ship", "shop/tasks.py:14", "lease worker-lost connection-lost", "ERROR"),
        "shop.tasks:tidy": ("shop.tasks.tidy", "shop/tasks.py:56", "prefetched early-ack", "WARNING"),
        "shop.tasks:weigh": ("shop.tasks.weigh", "shop/tasks.py:24", "prefetched early-ack", "WARNING"),
    },
    "celery_classes": {
        "shop.tasks:Charge.run": (
            "shop.charge",
            "shop/tasks.py:49",
            "retry-call=2 worker-lost connection-lost",
            "ERROR",
        ),
        "shop.tasks:ImportOrders.run": ("shop.import_orders", "shop/tasks.py:50", "prefetched early-ack", "WARNING"),
        "shop.tasks:ImportStock.run": (
            "shop.tasks.ImportStock",
            "shop/tasks.py:51",
            "retry=3 prefetched early-ack",
            "ERROR",
        ),
    },
    "django_dramatiq": {
        "shop.tasks:charge": ("charge", "shop/tasks.py:4", "worker-lost connection-lost", "ERROR"),
        "shop.tasks:export": ("export", "shop/tasks.py:9", "lease worker-lost connection-lost", "ERROR"),
    },
    "django_q": {
        "shop.jobs:charge": ("shop.jobs.charge", "shop/service.py:8", "retry* worker-lost", "ERROR"),
        "shop.jobs:label": ("shop.jobs.label", "shop/service.py:11", "lease retry* worker-lost", "ERROR"),
        "shop.jobs:pack": ("shop.jobs.pack", "shop/service.py:10", "lease retry* worker-lost", "ERROR"),
        "shop.jobs:prune": ("shop.jobs.prune", "shop/service.py:18", "lease retry* worker-lost", "ERROR"),
        "shop.jobs:report": ("shop.jobs.report", "shop/service.py:19", "lease retry* worker-lost", "ERROR"),
        "shop.jobs:ship": ("shop.jobs.ship", "shop/service.py:9", "lease worker-lost", "ERROR"),
        "shop.jobs:weigh": ("shop.jobs.weigh", "shop/service.py:13", "lease retry* worker-lost", "ERROR"),
    },
    "django_q_redis": {
        "shop.jobs:charge": ("shop.jobs.charge", "shop/jobs.py:9", "early-ack", "NOTE"),
    },
    "django_rq": {
        "shop.tasks:charge": ("shop.tasks.charge", "shop/tasks.py:6", "early-ack", "NOTE"),
        "shop.tasks:pack": ("shop.tasks.pack", "shop/tasks.py:30", "early-ack", "NOTE"),
        "shop.tasks:refund": ("shop.tasks.refund", "shop/tasks.py:11", "retry=4 worker-lost=4", "ERROR"),
        "shop.tasks:remind": ("shop.tasks.remind", "shop/tasks.py:32", "early-ack", "NOTE"),
        "shop.tasks:ship": ("shop.tasks.ship", "shop/tasks.py:31", "retry=2 worker-lost=2", "ERROR"),
    },
    "django_tasks": {
        "shop.tasks:charge": ("shop.tasks.charge", "shop/tasks.py:4", "early-ack", "NOTE"),
        "shop.tasks:ship": ("shop.tasks.ship", "shop/tasks.py:9", "early-ack", "WARNING"),
    },
    "django_tasks_backport": {
        "shop.tasks:mail": ("shop.tasks.mail", "shop/tasks.py:4", "early-ack", "NOTE"),
    },
    "djhuey": {
        "shop.tasks:charge": ("shop.tasks.charge", "shop/tasks.py:5", "early-ack", "NOTE"),
        "shop.tasks:mail": ("shop.tasks.mail", "shop/tasks.py:15", "retry=1 early-ack", "ERROR"),
        "shop.tasks:poll": ("shop.tasks.poll", "shop/tasks.py:20", "early-ack", "NOTE"),
        "shop.tasks:prune": ("shop.tasks.prune", "shop/tasks.py:25", "retry=1 early-ack", "ERROR"),
        "shop.tasks:ship": ("shop.tasks.ship", "shop/tasks.py:10", "retry=2 early-ack", "ERROR"),
    },
    "dramatiq": {
        "shop.actors:Label.perform": ("Label", "shop/actors.py:45", "retry=1 worker-lost", "ERROR"),
        "shop.actors:Pack.perform": ("Pack", "shop/actors.py:37", "retry=3 worker-lost", "ERROR"),
        "shop.actors:charge": ("charge", "shop/actors.py:5", "retry=20 worker-lost", "ERROR"),
        "shop.actors:refund": ("refund", "shop/actors.py:10", "worker-lost", "ERROR"),
        "shop.actors:ship": ("parcel", "shop/actors.py:15", "retry* worker-lost", "ERROR"),
        "shop.actors:weigh": ("weigh", "shop/actors.py:24", "retry=2 worker-lost", "ERROR"),
    },
    "extensions": {
        "shop.tasks:charge": ("shop.tasks.charge", "shop/tasks.py:23", "early-ack", "WARNING"),
        "shop.tasks:label": ("shop.tasks.label", "shop/tasks.py:38", "worker-lost connection-lost", "ERROR"),
        "shop.tasks:pack": ("shop.tasks.pack", "shop/tasks.py:33", "early-ack", "WARNING"),
        "shop.tasks:ship": ("shop.tasks.ship", "shop/tasks.py:28", "worker-lost connection-lost", "ERROR"),
    },
    "huey": {
        "shop.tasks:charge": ("shop.tasks.charge", "shop/tasks.py:6", "early-ack", "NOTE"),
        "shop.tasks:pack": ("shop.tasks.pack", "shop/tasks.py:21", "retry=2 early-ack", "ERROR"),
        "shop.tasks:prune": ("shop.tasks.prune", "shop/tasks.py:16", "retry=1 early-ack", "ERROR"),
        "shop.tasks:recount": ("shop.tasks.recount", "shop/tasks.py:26", "early-ack", "NOTE"),
        "shop.tasks:ship": ("shop.tasks.ship", "shop/tasks.py:11", "retry=3 early-ack", "ERROR"),
    },
    "kafka": {
        "shop.consumers:Worker.run": ("shop.consumers.Worker.run", "shop/consumers.py:62", "worker-lost", "ERROR"),
        "shop.consumers:commit": ("shop.consumers.commit", "shop/consumers.py:17", "worker-lost", "ERROR"),
        "shop.consumers:iterate": ("shop.consumers.iterate", "shop/consumers.py:11", "worker-lost", "ERROR"),
        "shop.consumers:iterate_async": (
            "shop.consumers.iterate_async",
            "shop/consumers.py:51",
            "worker-lost",
            "ERROR",
        ),
        "shop.consumers:poll": ("shop.consumers.poll", "shop/consumers.py:31", "worker-lost", "ERROR"),
        "shop.consumers:poll_batches": ("shop.consumers.poll_batches", "shop/consumers.py:41", "worker-lost", "ERROR"),
        "shop.consumers:read_along": ("shop.consumers.read_along", "shop/consumers.py:23", "early-ack", "NOTE"),
        "shop.script:__main__": ("shop.script.__main__", "shop/script.py:6", "worker-lost", "ERROR"),
    },
    "lambda_sqs": {
        "shop.one_by_one:handle": ("shop.one_by_one.handle", "shop/one_by_one.py:14", "worker-lost", "ERROR"),
        "shop.orders:lambda_handler": ("shop.orders.lambda_handler", "shop/orders.py:6", "worker-lost", "ERROR"),
    },
    "nats": {
        "shop.consumers:fetch": ("shop.consumers.fetch", "shop/consumers.py:13", "worker-lost", "ERROR"),
        "shop.consumers:iterate": ("shop.consumers.iterate", "shop/consumers.py:21", "worker-lost", "ERROR"),
        "shop.consumers:on_news": ("shop.consumers.on_news", "shop/consumers.py:43", "early-ack", "NOTE"),
        "shop.consumers:on_order": ("shop.consumers.on_order", "shop/consumers.py:41", "worker-lost", "ERROR"),
        "shop.consumers:on_order_slowly": (
            "shop.consumers.on_order_slowly",
            "shop/consumers.py:42",
            "worker-lost lease",
            "ERROR",
        ),
    },
    "procrastinate": {
        "shop.tasks:charge": ("shop.tasks.charge", "shop/tasks.py:6", "early-ack", "NOTE"),
        "shop.tasks:label": ("shop.tasks.label", "shop/tasks.py:26", "retry*", "ERROR"),
        "shop.tasks:pack": ("parcel", "shop/tasks.py:16", "retry=5", "ERROR"),
        "shop.tasks:prune": ("shop.tasks.prune", "shop/tasks.py:32", "early-ack", "NOTE"),
        "shop.tasks:ship": ("shop.tasks.ship", "shop/tasks.py:11", "retry*", "ERROR"),
        "shop.tasks:weigh": ("shop.tasks.weigh", "shop/tasks.py:21", "retry=3", "ERROR"),
    },
    "procrastinate_stalled": {
        "shop.tasks:charge": ("shop.tasks.charge", "shop/tasks.py:4", "lease", "ERROR"),
        "shop.tasks:retry_stalled": ("shop.tasks.retry_stalled", "shop/tasks.py:10", "lease", "ERROR"),
    },
    "pubsub": {
        "shop.consumers:on_message": ("shop.consumers.on_message", "shop/consumers.py:31", "worker-lost", "ERROR"),
        "shop.consumers:on_message_first": (
            "shop.consumers.on_message_first",
            "shop/consumers.py:32",
            "early-ack",
            "NOTE",
        ),
        "shop.consumers:pull": ("shop.consumers.pull", "shop/consumers.py:12", "worker-lost", "ERROR"),
    },
    "rabbitmq": {
        "shop.consumers:consume": ("shop.consumers.consume", "shop/consumers.py:46", "worker-lost", "ERROR"),
        "shop.consumers:get": ("shop.consumers.get", "shop/consumers.py:37", "worker-lost", "ERROR"),
        "shop.consumers:iterate": ("shop.consumers.iterate", "shop/consumers.py:57", "worker-lost", "ERROR"),
        "shop.consumers:on_body": ("shop.consumers.on_body", "shop/consumers.py:87", "worker-lost", "ERROR"),
        "shop.consumers:on_message": ("shop.consumers.on_message", "shop/consumers.py:76", "worker-lost", "ERROR"),
        "shop.consumers:on_message_by_hand": (
            "shop.consumers.on_message_by_hand",
            "shop/consumers.py:77",
            "worker-lost",
            "ERROR",
        ),
        "shop.consumers:on_order": ("shop.consumers.on_order", "shop/consumers.py:28", "worker-lost", "ERROR"),
        "shop.consumers:on_order_unsafe": (
            "shop.consumers.on_order_unsafe",
            "shop/consumers.py:29",
            "early-ack",
            "NOTE",
        ),
        "shop.consumers:on_order_with_mailer": (
            "shop.consumers.on_order_with_mailer",
            "shop/consumers.py:30",
            "worker-lost",
            "ERROR",
        ),
        "shop.mixin:Worker.on_news": ("shop.mixin.Worker.on_news", "shop/mixin.py:13", "early-ack", "NOTE"),
        "shop.mixin:Worker.on_order": ("shop.mixin.Worker.on_order", "shop/mixin.py:12", "worker-lost", "ERROR"),
        "shop.plain:Hub.receive": ("shop.plain.Hub.receive", "shop/plain.py:8", "worker-lost", "ERROR"),
    },
    "redis_queues": {
        "shop.bus:Bus.run": ("shop.bus.Bus.run", "shop/bus.py:16", "worker-lost", "ERROR"),
        "shop.consumers:Broker.start.worker": (
            "shop.consumers.Broker.start.worker",
            "shop/consumers.py:62",
            "early-ack",
            "NOTE",
        ),
        "shop.consumers:move": ("shop.consumers.move", "shop/consumers.py:20", "worker-lost", "ERROR"),
        "shop.consumers:pop": ("shop.consumers.pop", "shop/consumers.py:11", "early-ack", "NOTE"),
        "shop.consumers:stream": ("shop.consumers.stream", "shop/consumers.py:29", "worker-lost", "ERROR"),
        "shop.consumers:stream_without_acks": (
            "shop.consumers.stream_without_acks",
            "shop/consumers.py:38",
            "early-ack",
            "NOTE",
        ),
        "shop.consumers:take_over": ("shop.consumers.take_over", "shop/consumers.py:45", "worker-lost lease", "ERROR"),
    },
    "rq": {
        "shop.jobs:Stock.recount": ("shop.jobs.Stock.recount", "shop/service.py:24", "early-ack", "NOTE"),
        "shop.jobs:archive": ("shop.jobs.archive", "shop/service.py:21", "early-ack", "NOTE"),
        "shop.jobs:charge": ("shop.jobs.charge", "shop/jobs.py:9", "retry=3 worker-lost=3", "ERROR"),
        "shop.jobs:export": ("shop.jobs.export", "shop/service.py:40", "early-ack", "NOTE"),
        "shop.jobs:import_stock": ("shop.jobs.import_stock", "shop/service.py:23", "early-ack", "NOTE"),
        "shop.jobs:label": ("shop.jobs.label", "shop/service.py:22", "early-ack", "NOTE"),
        "shop.jobs:mail_invoice": ("shop.jobs.mail_invoice", "shop/service.py:13", "early-ack", "NOTE"),
        "shop.jobs:mail_receipt": ("shop.jobs.mail_receipt", "shop/service.py:13", "early-ack", "NOTE"),
        "shop.jobs:notify": ("shop.jobs.notify", "shop/jobs.py:35", "retry=1 worker-lost=1", "ERROR"),
        "shop.jobs:pack": ("shop.jobs.pack", "shop/service.py:18", "retry=5 worker-lost=5", "ERROR"),
        "shop.jobs:print_label": ("shop.jobs.print_label", "shop/service.py:22", "early-ack", "NOTE"),
        "shop.jobs:prune": ("shop.jobs.prune", "shop/service.py:47", "early-ack", "NOTE"),
        "shop.jobs:report": ("shop.jobs.report", "shop/service.py:45", "early-ack", "NOTE"),
        "shop.jobs:ship": ("shop.jobs.ship", "shop/jobs.py:14", "early-ack", "NOTE"),
        "shop.jobs:tidy": ("shop.jobs.tidy", "shop/service.py:40", "early-ack", "NOTE"),
        "shop.jobs:weigh": ("shop.jobs.weigh", "shop/service.py:20", "retry=2 worker-lost=2", "ERROR"),
    },
    "rq_objects": {
        "shop.nightly:Count.run": ("shop.nightly.Count.run", "shop/nightly.py:45", "early-ack", "NOTE"),
        "shop.nightly:Prune.run": ("shop.nightly.Prune.run", "shop/nightly.py:8", "early-ack", "NOTE"),
        "shop.nightly:Report.run": ("shop.nightly.Report.run", "shop/nightly.py:16", "early-ack", "NOTE"),
        "shop.runners:Boxed.handle": ("shop.runners.Boxed.handle", "shop/base.py:16", "early-ack", "NOTE"),
        "shop.runners:Charge.handle": ("shop.runners.Charge.handle", "shop/base.py:16", "early-ack", "NOTE"),
        "shop.runners:Pack.handle": ("shop.runners.Pack.handle", "shop/base.py:16", "early-ack", "NOTE"),
    },
    "sqs": {
        "shop.consumers:consume": ("shop.consumers.consume", "shop/consumers.py:13", "worker-lost lease", "ERROR"),
        "shop.consumers:consume_one_by_one": (
            "shop.consumers.consume_one_by_one",
            "shop/consumers.py:22",
            "worker-lost",
            "ERROR",
        ),
        "shop.consumers:delete_together": (
            "shop.consumers.delete_together",
            "shop/consumers.py:37",
            "worker-lost",
            "ERROR",
        ),
        "shop.consumers:forget_first": ("shop.consumers.forget_first", "shop/consumers.py:30", "early-ack", "NOTE"),
        "shop.patient:with_a_heartbeat": (
            "shop.patient.with_a_heartbeat",
            "shop/patient.py:24",
            "worker-lost",
            "ERROR",
        ),
        "shop.patient:with_more_time": ("shop.patient.with_more_time", "shop/patient.py:13", "worker-lost", "ERROR"),
        "shop.pool:Consumer.poll": ("shop.pool.Consumer.poll", "shop/pool.py:17", "worker-lost", "ERROR"),
        "shop.pool:consume_in_threads": ("shop.pool.consume_in_threads", "shop/pool.py:35", "worker-lost", "ERROR"),
        "shop.worker:Worker.run": ("shop.worker.Worker.run", "shop/worker.py:12", "worker-lost", "ERROR"),
        "shop.worker:consume_async": ("shop.worker.consume_async", "shop/worker.py:27", "worker-lost", "ERROR"),
    },
    "taskiq": {
        "shop.tasks:charge": ("shop.tasks:charge", "shop/tasks.py:14", "worker-lost", "ERROR"),
        "shop.tasks:count": ("count", "shop/tasks.py:50", "worker-lost", "ERROR"),
        "shop.tasks:label": ("shop.tasks:label", "shop/tasks.py:36", "early-ack", "NOTE"),
        "shop.tasks:pack": ("parcel", "shop/tasks.py:24", "worker-lost", "ERROR"),
        "shop.tasks:shared": ("shop.tasks:shared", "shop/tasks.py:41", "early-ack", "WARNING"),
        "shop.tasks:ship": ("shop.tasks:ship", "shop/tasks.py:19", "retry=3 lease worker-lost", "ERROR"),
        "shop.tasks:weigh": ("shop.tasks:weigh", "shop/tasks.py:31", "early-ack", "NOTE"),
    },
}


def program(name: str) -> tuple[Program, Mapping[str, Delivery]]:
    """The linked fixture and how its tasks are delivered."""
    return linked(FIXTURES / name)


def seen(name: str) -> Pinned:
    found_in, delivered = program(name)
    places = Places(discover([FIXTURES / name], isolated=True))
    found = {}
    for task in found_in.tasks.values():
        span = places.span(task.declared)
        delivery = delivered[task.id]
        causes = " ".join(
            cause.kind + ("*" if cause.endless else f"={cause.again}" if cause.again is not None else "")
            for cause in delivery.causes
        )
        found[task.id] = (task.name, f"{span.path}:{span.line}", causes, delivery.cap.name)
    return found


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.iterdir()))
def test_tasks_and_why_they_run_again(name: str) -> None:
    assert seen(name) == TASKS[name]


SENT: Mapping[str, Mapping[str, list[str]]] = {
    "rq": {
        "shop.service:place": [
            "shop.jobs:charge(order_id)",
            "shop.jobs:pack(order_id, fast)",
            "shop.jobs:pack(order_id)",
            "shop.jobs:weigh(order_id)",
            "shop.jobs:archive(order_id) in 21600",
            "shop.jobs:label(order_id)",
            "shop.jobs:print_label(order_id)",
            "shop.jobs:import_stock()",
            "shop.jobs:Stock.recount()",
        ],
        "shop.service:later": ["shop.jobs:report()", "shop.jobs:prune()"],
        "shop.service:Desk.ship": ["shop.jobs:ship(order_id)"],
        "shop.service:hand_over": ["shop.jobs:notify()"],
        "shop.service:mail": ["?()"],
        "shop.service:nightly": ["?()"],
    },
    "django_rq": {
        "shop.tasks:place": [
            "shop.tasks:charge(order_id) configured",
            "shop.tasks:pack(order_id) configured",
            "shop.tasks:ship(order_id) configured",
            "shop.tasks:remind()",
        ],
    },
    "dramatiq": {
        "shop.actors:place": [
            "shop.actors:charge(order_id)",
            "shop.actors:refund(order_id)",
            "?()",
            "?()",
            "shop.actors:Pack.perform(order_id)",
        ],
    },
    "aliases": {
        "shop.handed:Jobs.start": ["shop.handed:Jobs.pack(order_id)"],
        "shop.handed:place": ["shop.handed:charge(order_id)", "shop.handed:ship(order_id)"],
        "shop.handed:place.<lambda 32>": ["shop.handed:label(order_id)"],
    },
    "arq": {
        "shop.jobs:charge": ["shop.jobs:ship(order_id)"],
        "shop.api:place": ["shop.jobs:charge(order_id)"],
        "shop.api:place_by_state": ["shop.jobs:pack(order_id) in 60"],
    },
    "arq_actors": {"shop.mails:Mailer.remind": ["shop.mails:Mailer.send(address)"]},
    "huey": {
        "shop.tasks:place": [
            "shop.tasks:charge(order_id)",
            "shop.tasks:ship(order_id) in 3600",
            "shop.tasks:pack()",
        ],
    },
    "taskiq": {"shop.tasks:place": ["shop.tasks:charge(order_id)", "shop.tasks:ship(order_id)"]},
    "procrastinate": {
        "shop.tasks:place": [
            "shop.tasks:charge(order_id) deferred",
            "shop.tasks:ship(order_id) deferred",
            "shop.tasks:pack(order_id) deferred",
        ],
    },
    "django_q": {
        "shop.service:place": [
            "shop.jobs:charge(order_id)",
            "shop.jobs:ship(order_id)",
            "shop.jobs:pack()",
            "shop.jobs:label()",
            "?()",
        ],
        "shop.service:plan": ["shop.jobs:prune()", "shop.jobs:report()"],
    },
    "django_tasks": {
        "shop.tasks:place": ["shop.tasks:charge(order_id) configured", "shop.tasks:ship(order_id) configured"],
    },
    "django_tasks_backport": {"shop.tasks:place": ["shop.tasks:mail(order_id) configured"]},
    "celery": {
        "shop.tasks:place": [
            "shop.tasks:charge(order_id)",
            "shop.tasks:ship(order_id) in 600",
            "shop.tasks:pack(order_id)",
            "?()",
            "shop.tasks:tidy(source)",
            "shop.tasks:count(source) deferred",
        ],
    },
    "celery_classes": {"shop.tasks:place": ["shop.tasks:Charge.run(order_id)", "shop.tasks:ImportOrders.run(source)"]},
    "apscheduler": {"shop.jobs:start": ["shop.jobs:charge(order_id)", "shop.jobs:prune()"]},
}
"""What functions send: the task (`?` where it may be several), its arguments that are given, the wait in seconds, and
whether it leaves at the commit."""


@pytest.mark.parametrize("name", sorted(SENT))
def test_what_is_sent(name: str) -> None:
    found_in, _ = program(name)
    found: dict[str, list[str]] = {}
    for _, body in sorted(found_in.bodies.items()):
        targets = sorted((at, each) for at, each in body.targets.items() if isinstance(each, EnqueueCall))
        sent = [spelled(call) for _, call in targets if call.does == "enqueue"]
        if sent:
            found[body.function] = sent
    assert found == SENT[name]


def spelled(call: EnqueueCall) -> str:
    wait = f" in {call.delay.seconds:g}" if call.delay is not None else ""
    commit = f" {call.commit}" if call.commit != "now" else ""
    return f"{call.task or '?'}({', '.join(name for name, _ in call.arguments)}){wait}{commit}"


KEYS: Mapping[str, str] = {
    "arq": """
        async def charge(ctx, order_id):
            pay(order_id, idempotency_key=ctx["job_id"])
            pay(order_id, idempotency_key=f"{order_id}-{ctx['job_try']}")


        class WorkerSettings:
            functions = [charge]
        """,
    "procrastinate": """
        from procrastinate import App

        app = App(connector=None)


        @app.task(pass_context=True)
        def charge(context, order_id):
            pay(order_id, idempotency_key=context.job.id)
            pay(order_id, idempotency_key=f"{order_id}-{context.job.attempts}")
        """,
    "taskiq": """
        from taskiq import Context, InMemoryBroker, TaskiqDepends

        broker = InMemoryBroker()


        @broker.task
        async def charge(order_id: int, context: Context = TaskiqDepends()):
            pay(order_id, idempotency_key=context.message.task_id)
            pay(order_id, idempotency_key=f"{order_id}-{context.message.labels}")
        """,
    "rq": """
        from rq import Queue, get_current_job

        queue = Queue()


        def charge(order_id):
            job = get_current_job()
            pay(order_id, idempotency_key=job.id)
            pay(order_id, idempotency_key=f"{order_id}-{job.retries_left}")


        def place(order_id):
            queue.enqueue(charge, order_id)
        """,
    "dramatiq": """
        import dramatiq
        from dramatiq.middleware import CurrentMessage


        @dramatiq.actor
        def charge(order_id):
            message = CurrentMessage.get_current_message()
            pay(order_id, idempotency_key=message.message_id)
            pay(order_id, idempotency_key=f"{order_id}-{message.options}")
        """,
    "django-tasks": """
        from django.tasks import task


        @task(takes_context=True)
        def charge(context, order_id):
            pay(order_id, idempotency_key=context.task_result.id)
            pay(order_id, idempotency_key=f"{order_id}-{context.attempt}")
        """,
}


@pytest.mark.parametrize("source", KEYS.values(), ids=KEYS)
def test_the_id_of_a_message_is_a_key_and_the_attempt_is_none(tmp_path: Path, source: str) -> None:
    head = "import arq\nfrom payments import pay\n"
    (tmp_path / "shop.py").write_text(head + textwrap.dedent(source), encoding="utf-8")
    catalog = load()
    runs = summarize(link(discover([tmp_path], isolated=True), catalog), catalog)
    keys = [use.key for run in runs if run.root.task is not None for use in run.keys]
    origins = [" ".join(sorted({origin.kind for origin in key.value.origins} - {"constant"})) for key in keys]
    assert origins == ["task-id", "argument attempt"]


ASKED: Mapping[str, str] = {
    "arq": """
        from arq import Retry


        async def charge(ctx, order_id):
            raise Retry(defer=10)


        class WorkerSettings:
            functions = [charge]
        """,
    "huey": """
        from huey import RedisHuey, RetryTask

        huey = RedisHuey()


        @huey.task()
        def charge(order_id):
            raise RetryTask
        """,
    "dramatiq": """
        import dramatiq


        @dramatiq.actor(max_retries=0)
        def charge(order_id):
            raise dramatiq.Retry(delay=1000)
        """,
}


@pytest.mark.parametrize("source", ASKED.values(), ids=ASKED)
def test_an_exception_asks_for_another_run(tmp_path: Path, source: str) -> None:
    (tmp_path / "shop.py").write_text(textwrap.dedent(source), encoding="utf-8")
    (delivery,) = linked(tmp_path)[1].values()
    assert "retry-call" in [cause.kind for cause in delivery.causes]
    assert delivery.cap.name == "ERROR"


INJECTED = """
import requests
from dishka.integrations.taskiq import FromDishka, inject
from taskiq import InMemoryBroker

broker = InMemoryBroker()


class Step:
    @property
    def bound(self):
        return Bound(self)

    def do(self, order_id):
        raise NotImplementedError


class Bound:
    def __init__(self, step: Step):
        self.step = step

    def __call__(self, order_id):
        return self.step.do(order_id)


class Charge(Step):
    def do(self, order_id):
        requests.post("https://api.stripe.com/v1/charges", json={"order": order_id}, timeout=10)


class Look(Step):
    def do(self, order_id):
        requests.get("https://api.stripe.com/v1/charges", timeout=10)


@broker.task
@inject
async def charge(order_id: int, step: FromDishka[Charge]):
    step.do(order_id)


@broker.task
@inject
async def look(order_id: int, step: FromDishka[Look]):
    step.bound(order_id)


@broker.task
@inject
async def charge_bound(order_id: int, step: FromDishka[Charge]):
    step.bound(order_id)
"""


def test_what_is_injected_is_followed_and_never_taken_for_another(tmp_path: Path) -> None:
    """`Bound` holds whatever step made it, and calls that one."""
    (tmp_path / "shop.py").write_text(INJECTED, encoding="utf-8")
    catalog = load()
    runs = summarize(link(discover([tmp_path], isolated=True), catalog), catalog)
    done = {run.root.task: [effect.path for effect in run.effects] for run in runs}
    assert done == {
        "shop:charge": ["requests.post"],
        "shop:look": ["requests.get"],
        "shop:charge_bound": ["requests.post"],
    }
