"""Consumers written by hand: which functions are tasks, what a second delivery repeats, and what keeps it from that."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from linting import findings
from walking import Walked, walk

from idemlint.catalog import load
from idemlint.engine import delivery_of
from idemlint.link import link
from idemlint.project import discover
from idemlint.summarize import summarize

HEAD = """
import json
import uuid

import boto3
import requests

sqs = boto3.client("sqs")
URL = "https://api.acme.example/orders"


def post(order, **words):
    requests.post(URL, json=order, **words).raise_for_status()


def done(message):
    sqs.delete_message(QueueUrl="orders", ReceiptHandle=message["ReceiptHandle"])

"""


def consumer(folder: Path, source: str) -> Walked:
    """A module with a client for SQS, a call that a repeat makes again, and one that acknowledges."""
    return walk(folder, HEAD + textwrap.dedent(source))


def tasks(walked: Walked) -> list[str]:
    return sorted(task.function for task in walked.program.tasks.values())


REPEATED = {
    "the message is deleted after the work": """
        def consume():
            while True:
                for message in sqs.receive_message(QueueUrl="orders").get("Messages", []):
                    post(json.loads(message["Body"]))
                    done(message)
        """,
    "one that is not valid is deleted first": """
        def consume():
            while True:
                for message in sqs.receive_message(QueueUrl="orders").get("Messages", []):
                    order = json.loads(message["Body"])
                    if "id" not in order:
                        done(message)
                        continue
                    post(order)
                    done(message)
        """,
    "whatever happens the message is deleted": """
        def consume():
            while True:
                for message in sqs.receive_message(QueueUrl="orders").get("Messages", []):
                    try:
                        post(json.loads(message["Body"]))
                    except requests.RequestException:
                        print("failed")
                    finally:
                        done(message)
        """,
    "a generator hands messages on": """
        def messages():
            while True:
                yield from sqs.receive_message(QueueUrl="orders").get("Messages", [])


        def orders():
            while True:
                for message in sqs.receive_message(QueueUrl="orders").get("Messages", []):
                    yield message
                    done(message)


        def consume():
            for message in orders():
                post(json.loads(message["Body"]))
        """,
    "helpers receive, work and delete": """
        class Queue:
            def __init__(self):
                self.client = boto3.client("sqs")

            def take(self):
                return self.client.receive_message(QueueUrl="orders")["Messages"]

            def drop(self, message):
                self.client.delete_message(QueueUrl="orders", ReceiptHandle=message["ReceiptHandle"])


        def consume(queue: Queue):
            while True:
                for message in queue.take():
                    post(json.loads(message["Body"]))
                    queue.drop(message)
        """,
    "one message at a time, without a loop": """
        def consume():
            messages = sqs.receive_message(QueueUrl="orders")["Messages"]
            if not messages:
                return
            post(json.loads(messages[0]["Body"]))
            done(messages[0])
        """,
}


@pytest.mark.parametrize("source", REPEATED.values(), ids=REPEATED)
def test_what_is_done_before_the_acknowledgement_is_done_again(tmp_path: Path, source: str) -> None:
    walked = consumer(tmp_path, source)
    assert tasks(walked) == ["consume"]
    assert walked.rules == ["unkeyed-external-call"]


SILENT = {
    "what comes before the messages": """
        def consume():
            post({"started": True})
            while True:
                for message in sqs.receive_message(QueueUrl="orders").get("Messages", []):
                    print(message["Body"])
                    done(message)
        """,
    "what comes after the loop": """
        def consume():
            for message in sqs.receive_message(QueueUrl="orders").get("Messages", []):
                print(message["Body"])
                done(message)
            post({"stopped": True})
        """,
    "what comes after the acknowledgement": """
        def consume(session):
            while True:
                for message in sqs.receive_message(QueueUrl="orders").get("Messages", []):
                    requests.put(URL + message["MessageId"], data=message["Body"])
                    done(message)
                    post({"done": message["MessageId"]})
        """,
    "the message is deleted before the work, which is a note": """
        def consume():
            while True:
                for message in sqs.receive_message(QueueUrl="orders").get("Messages", []):
                    done(message)
                    post(json.loads(message["Body"]))
        """,
    "a key made of the message's id": """
        def consume():
            while True:
                for message in sqs.receive_message(QueueUrl="orders").get("Messages", []):
                    post(json.loads(message["Body"]), headers={"Idempotency-Key": message["MessageId"]})
                    done(message)
        """,
    "a key made of what the message says": """
        def consume():
            while True:
                for message in sqs.receive_message(QueueUrl="orders").get("Messages", []):
                    order = json.loads(message["Body"])
                    key = f"order-{order['id']}"
                    post(order, headers={"Idempotency-Key": key})
                    done(message)
        """,
    "a mark that is taken first": """
        import redis

        store = redis.Redis()


        def consume():
            while True:
                for message in sqs.receive_message(QueueUrl="orders").get("Messages", []):
                    if store.sadd("done", message["MessageId"]):
                        post(json.loads(message["Body"]))
                    done(message)
        """,
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_silent(tmp_path: Path, source: str) -> None:
    walked = consumer(tmp_path, source)
    assert tasks(walked) == ["consume"]
    assert walked.said == []


BY_NAME = """
    import redis


    def consume(client):
        while True:
            for _, entries in client.xreadgroup("billing", "worker", {{"orders": ">"}}):
                for entry_id, fields in entries:
                    post(fields)
                    client.xack("orders", "billing", entry_id)
    """


def test_a_call_is_known_by_its_name_where_its_library_is_used(tmp_path: Path) -> None:
    source = BY_NAME.format()
    assert consumer(tmp_path, source).rules == ["unkeyed-external-call"]
    assert tasks(consumer(tmp_path, source.replace("import redis", ""))) == []


POOL = """
    from concurrent.futures import ThreadPoolExecutor


    def work(message, key):
        post(json.loads(message["Body"]), headers={{"Idempotency-Key": key}})
        done(message)


    def consume():
        with ThreadPoolExecutor() as pool:
            while True:
                for message in sqs.receive_message(QueueUrl="orders").get("Messages", []):
                    pool.submit(work, message, {key})
    """


@pytest.mark.parametrize(
    ("key", "rules"), [('message["MessageId"]', []), ("str(uuid.uuid4())", ["unstable-idempotency-key"])]
)
def test_what_is_handed_to_a_pool_is_followed(tmp_path: Path, key: str, rules: list[str]) -> None:
    walked = consumer(tmp_path, POOL.format(key=key))
    assert tasks(walked) == ["consume"]
    assert walked.rules == rules


KAFKA = """
    from kafka import KafkaConsumer


    def consume():
        for message in KafkaConsumer("orders", {words}):
            post(message.value)
    """


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ('group_id="billing"', "Kafka hands out again what was not committed when the consumer stopped"),
        ('group_id="billing", enable_auto_commit=False', "(nothing is committed)"),
        ("group_id=None", "Kafka keeps no position for a consumer without a group"),
        ("consumer_timeout_ms=1000", "Kafka keeps no position for a consumer without a group"),
    ],
)
def test_what_a_consumer_says_of_itself(tmp_path: Path, words: str, text: str) -> None:
    walked = consumer(tmp_path, KAFKA.format(words=words))
    (cause,) = delivery_of(walked.program, walked.run("consume"), load()).causes
    assert text in cause.text


NO_TASK = {
    "who only looks": """
        def show():
            for message in sqs.receive_message(QueueUrl="orders", VisibilityTimeout=0)["Messages"]:
                post(json.loads(message["Body"]))
        """,
    "who only deletes": """
        def drop(handle):
            sqs.delete_message(QueueUrl="orders", ReceiptHandle=handle)
            post({"dropped": handle})
        """,
    "who waits for one answer": """
        import redis

        store = redis.Redis()


        def ask(order):
            post(order)
            return store.blpop(f"answer-{order['id']}", timeout=5)
        """,
}


@pytest.mark.parametrize("source", NO_TASK.values(), ids=NO_TASK)
def test_no_consumer(tmp_path: Path, source: str) -> None:
    assert tasks(consumer(tmp_path, source)) == []


def test_tests_consume_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "test_queue.py").write_text(HEAD + textwrap.dedent(next(iter(REPEATED.values()))), encoding="utf-8")
    assert tasks(walk(tmp_path, "import boto3\n")) == []


def test_a_task_that_takes_messages_stays_a_task_of_its_framework(tmp_path: Path) -> None:
    """What it receives when it runs again are other messages."""
    source = """
        from celery import shared_task


        @shared_task(acks_late=True)
        def drain():
            for message in sqs.receive_message(QueueUrl="orders").get("Messages", []):
                post(json.loads(message["Body"]), headers={"Idempotency-Key": message["MessageId"]})
                done(message)
        """
    walked = consumer(tmp_path, source)
    assert [task.framework for task in walked.program.tasks.values()] == ["celery"]
    assert walked.said == []


@pytest.mark.parametrize(
    ("key", "rules"),
    [
        ('message["MessageId"]', []),
        ('message["ReceiptHandle"]', ["unstable-idempotency-key"]),
        ('message["Attributes"]["ApproximateReceiveCount"]', ["unstable-idempotency-key"]),
        ("str(uuid.uuid4())", ["unstable-idempotency-key"]),
    ],
)
def test_what_a_delivery_alone_says_is_no_key(tmp_path: Path, key: str, rules: list[str]) -> None:
    source = f"""
        def consume():
            while True:
                for message in sqs.receive_message(QueueUrl="orders").get("Messages", []):
                    post(json.loads(message["Body"]), headers={{"Idempotency-Key": {key}}})
                    done(message)
        """
    assert consumer(tmp_path, source).rules == rules


def test_messages_that_are_deleted_together_all_come_again(tmp_path: Path) -> None:
    source = """
        def consume():
            while True:
                messages = sqs.receive_message(QueueUrl="orders", MaxNumberOfMessages=10)["Messages"]
                for message in messages:
                    post(json.loads(message["Body"]))
                sqs.delete_message_batch(QueueUrl="orders", Entries=[each["ReceiptHandle"] for each in messages])
        """
    assert consumer(tmp_path, source).rules == ["effect-loop"]


SLOW = """
    def consume():
        while True:
            for message in sqs.receive_message(QueueUrl="orders", {receive}).get("Messages", []):
                {first}
                key = {{"Idempotency-Key": message["MessageId"]}}
                post(json.loads(message["Body"]), headers=key, timeout={timeout})
                done(message)
    """


@pytest.mark.parametrize(
    ("receive", "timeout", "first", "rules"),
    [
        ("MaxNumberOfMessages=10, VisibilityTimeout=60", "30", "pass", ["visibility-timeout-too-short"]),
        ("MaxNumberOfMessages=10, VisibilityTimeout=60", "(5, 2)", "pass", ["visibility-timeout-too-short"]),
        ("MaxNumberOfMessages=10, VisibilityTimeout=60", "5", "pass", []),
        ("VisibilityTimeout=60", "30", "pass", []),
        ("MaxNumberOfMessages=10", "30", "pass", []),
        ("MaxNumberOfMessages=10, VisibilityTimeout=60", "None", "pass", []),
        (
            "MaxNumberOfMessages=10, VisibilityTimeout=60",
            "30",
            'sqs.change_message_visibility(QueueUrl="orders", ReceiptHandle="...", VisibilityTimeout=300)',
            [],
        ),
    ],
)
def test_work_that_outlasts_the_lease(tmp_path: Path, receive: str, timeout: str, first: str, rules: list[str]) -> None:
    assert consumer(tmp_path, SLOW.format(receive=receive, timeout=timeout, first=first)).rules == rules


STATE = """
    from django.core.mail import send_mail
    from django.db import models, transaction
    from django.db.models import F


    class Account(models.Model):
        balance = models.IntegerField(default=0)


    class Invoice(models.Model):
        order = models.IntegerField()
        total = models.IntegerField()


    class Seen(models.Model):
        message = models.CharField(max_length=100, unique=True)


    def consume():
        while True:
            for message in sqs.receive_message(QueueUrl="orders").get("Messages", []):
                order = json.loads(message["Body"])
                {work}
                done(message)
    """


@pytest.mark.parametrize(
    ("work", "rules"),
    [
        ('send_mail("Your order", "...", None, [order["email"]])', ["unguarded-message"]),
        ('Invoice.objects.create(order=order["id"], total=order["total"])', ["create-without-unique-key"]),
        (
            'Account.objects.filter(id=order["user"]).update(balance=F("balance") - order["total"])',
            ["unguarded-increment"],
        ),
        (
            'account = Account.objects.get(id=order["user"]); account.balance -= order["total"]; account.save()',
            ["read-modify-write"],
        ),
    ],
)
def test_rules_speak_of_consumers_as_of_tasks(tmp_path: Path, work: str, rules: list[str]) -> None:
    assert consumer(tmp_path, STATE.format(work=work)).rules == rules


def test_an_inbox_in_the_same_transaction_is_a_guard(tmp_path: Path) -> None:
    work = """with transaction.atomic():
                    _, fresh = Seen.objects.get_or_create(message=message["MessageId"])
                    if fresh:
                        Account.objects.filter(id=order["user"]).update(balance=F("balance") - order["total"])"""
    assert consumer(tmp_path, STATE.format(work=work)).said == []


def test_the_fix_names_the_id_that_a_message_keeps(tmp_path: Path) -> None:
    source = """
        import stripe


        def consume():
            while True:
                for message in sqs.receive_message(QueueUrl="orders").get("Messages", []):
                    stripe.Charge.create(amount=json.loads(message["Body"])["total"])
                    done(message)
        """
    (found,) = findings(consumer(tmp_path, source).folder)
    assert found["fix"]["title"] == "pass idempotency_key=f\"consume-{message['MessageId']}\""
    first, *_, cut, _, _ = (step["text"] for step in found["steps"])
    assert first == "SQS hands a message out again when the consumer stops before delete_message()"
    assert cut.startswith("before sqs.delete_message(")


ACME = """
title = "Acme Queue"
modules = ["acme_queue"]

[[consumer]]
name = "acme"
title = "Acme Queue"
receive = ["acme_queue.Client.take"]
acknowledge = ["acme_queue.Client.done"]
lease = ["hold_for"]
batch = ["limit"]
key = "{$message.id}"
"""


def test_a_row_is_all_that_another_queue_needs(tmp_path: Path) -> None:
    own, shop = tmp_path / "acme.toml", tmp_path / "shop.py"
    own.write_text(ACME, encoding="utf-8")
    source = """
        import requests
        from acme_queue import Client


        def consume(client: Client):
            while True:
                for message in client.take(limit=4, hold_for=60):
                    requests.post("https://api.acme.example", json=message.body, timeout=20).raise_for_status()
                    client.done(message)
        """
    shop.write_text(textwrap.dedent(source), encoding="utf-8")
    catalog = load([own])
    program = link(discover([tmp_path], isolated=True), catalog)
    (run,) = summarize(program, catalog)
    delivery = delivery_of(program, run, catalog)
    assert [cause.text for cause in delivery.causes] == [
        "Acme Queue hands a message out again when the consumer stops before done(), after 1 min (hold_for=60)",
        "hold_for=60: handed out again after 1 min while the work may take 80 s (limit=4, timeout=20 for each)",
    ]
    (task,) = program.tasks.values()
    assert (task.name, task.framework) == ("shop.consume", "acme")
    assert task.intake is not None
    assert task.intake.key == "{message.id}"
