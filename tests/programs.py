"""Tasks made up at random from what tasks are made of."""

from __future__ import annotations

import textwrap

from hypothesis import strategies as st

HEAD = """\
import contextlib

import redis
import requests
from celery import shared_task
from django.core.mail import send_mail
from django.db import IntegrityError, models, transaction
from django.db.models import F
from django.utils import timezone

store = redis.Redis()
DONE = set()


class Order(models.Model):
    state = models.CharField(max_length=9, default="new")
    sent = models.BooleanField(default=False)
    total = models.IntegerField(default=0)


class Mark(models.Model):
    key = models.CharField(max_length=99, unique=True)


class Entry(models.Model):
    order = models.ForeignKey(Order, on_delete=models.PROTECT)
    amount = models.IntegerField()


def pay(key=None):
    requests.post("https://api.stripe.com/v1/charges", headers={"Idempotency-Key": key})


def once(key):
    _, made = Mark.objects.get_or_create(key=key)
    return made


"""

STATEMENTS = """\
pay()
pay(f"order-{pk}")
pay(str(timezone.now()))
send_mail("a", "b", "c", [pk])
order.sent = True
order.save()
order.total += 1
order = Order.objects.get(pk=pk)
Entry.objects.create(order_id=pk, amount=1)
Mark.objects.create(key=pk)
Order.objects.filter(pk=pk).update(total=F("total") + 1)
Order.objects.filter(pk=pk, sent=False).update(sent=True)
Order.objects.filter(state="new").delete()
rows = list(Order.objects.filter(state="new"))
fresh = once(pk)
DONE.add(pk)
store.incr("balance")
transaction.on_commit(lambda: pay())
other.delay(pk)
order.refresh_from_db()
""".splitlines()

TESTS = """\
order.sent
not order.sent
order.state == "new"
once(pk)
not once(pk)
Entry.objects.filter(order_id=pk).exists()
Order.objects.filter(pk=pk, sent=False).update(sent=True)
store.set(f"k-{pk}", 1, nx=True)
pk in DONE
pk
fresh
""".splitlines()

BLOCKS = """\
with transaction.atomic():
with store.lock(f"order-{pk}", timeout=10):
for row in Order.objects.filter(state="new"):
for pk in [pk]:
while order.sent:
with contextlib.suppress(IntegrityError):
""".splitlines()

LEAVES = ["return", "return pk", "raise ValueError(pk)"]


def body_of(statements: list[str]) -> str:
    return "\n".join(statements)


def indented(text: str) -> str:
    return textwrap.indent(text, "    ")


simple = st.sampled_from(STATEMENTS)


def compound(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """A statement around others."""
    some = st.lists(inner, min_size=1, max_size=3).map(body_of).map(indented)
    leaving = st.sampled_from(LEAVES).map(indented)
    test = st.sampled_from(TESTS)
    return st.one_of(
        st.builds("if {}:\n{}".format, test, st.one_of(some, leaving)),
        st.builds("if {}:\n{}\nelse:\n{}".format, test, some, st.one_of(some, leaving)),
        st.builds("{}\n{}".format, st.sampled_from(BLOCKS), some),
        st.builds("try:\n{}\nexcept IntegrityError:\n{}".format, some, st.one_of(some, leaving)),
        st.builds("try:\n{}\nexcept Exception:\n{}\nfinally:\n{}".format, some, some, some),
    )


bodies = st.lists(st.recursive(simple, compound, max_leaves=6), min_size=2, max_size=5).map(body_of)


def program(body: str) -> str:
    """A module with a task of this body, which knows an order and its key."""
    start = "order = Order.objects.get(pk=pk)\nfresh = False\n"
    tasks = "@shared_task(acks_late=True)\ndef other(pk):\n    pay()\n\n\n@shared_task(acks_late=True)\ndef task(pk):\n"
    return f"{HEAD}{tasks}{indented(start + body)}\n"
