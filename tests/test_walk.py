"""One run, followed line by line: what holds where an effect happens, and where its values come from."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from walking import Walked, walk

from idemlint.domain.effect import Effect, before, exclusive
from idemlint.domain.value import Fact

HEAD = """\
import contextlib
import dataclasses
import hashlib
import random
import uuid
from datetime import datetime
from functools import partial

import requests
from celery import shared_task
from django.core.mail import send_mail
from django.db import IntegrityError, models, transaction
from django.utils import timezone

DEBUG = False
NAME = "shop"


class Order(models.Model):
    state = models.CharField(max_length=9)
    sent = models.BooleanField(default=False)
    total = models.IntegerField(default=0)
    number = models.CharField(max_length=9, unique=True)
    token = models.UUIDField(default=uuid.uuid4)


class Mark(models.Model):
    key = models.CharField(max_length=99, unique=True)


def pay(where="x", key=None):
    requests.post("https://pay.example/" + where, headers={"Idempotency-Key": key})


"""


def walked(folder: Path, body: str, code: str = "") -> Walked:
    """A project of one task with this body, which is given `pk` and finds `order` by it."""
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    task = f"@shared_task(bind=True)\ndef task(self, pk):\n    order = Order.objects.get(pk=pk)\n{lines}\n"
    return walk(folder, f"{HEAD}{textwrap.dedent(code)}\n\n{task}")


def calls(found: Walked) -> list[Effect]:
    return [effect for effect in found.effects("external") if effect.path == "requests.post"]


def told(facts: frozenset[Fact]) -> set[str]:
    """Facts in words, without the places they were learnt at."""
    words: set[str] = set()
    for fact in facts:
        what = f"{fact.column} {fact.value}" if fact.kind == "state" else fact.model.rpartition(":")[2]
        words.add(f"{'' if fact.holds else 'not '}{fact.kind} {what}".strip())
    return words


def facts(folder: Path, body: str, code: str = "") -> list[set[str]]:
    """What holds at each outside call of a task, in the order of the code."""
    return [told(effect.facts) for effect in calls(walked(folder, body, code))]


SENT, UNSENT = {"state sent true"}, {"not state sent true"}

# --- Facts along the code


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if order.sent:\n    return\npay()", [UNSENT]),
        ("if not order.sent:\n    pay()", [UNSENT]),
        ("if order.sent:\n    pay('a')\nelse:\n    pay('b')", [SENT, UNSENT]),
        ("if order.sent:\n    pay('a')\npay('b')", [SENT, set()]),
        ("if order.sent:\n    raise ValueError\npay()", [UNSENT]),
        ("if order.sent:\n    pass\nelse:\n    return\npay()", [SENT]),
        ("if pk:\n    if order.sent:\n        return\npay()", [set()]),
        ("if pk:\n    if order.sent:\n        return\n    pay()", [UNSENT]),
        ("if pk == 1:\n    return\nelif order.sent:\n    return\npay()", [UNSENT]),
        ("if order.sent and pk:\n    return\npay()", [set()]),
        ("if order.sent or pk:\n    return\npay()", [UNSENT]),
        ("if not (order.sent or pk):\n    pay()", [UNSENT]),
        ("if order.sent is True:\n    return\npay()", [UNSENT]),
        ("if order.sent == False:\n    pay()", [UNSENT]),
        ("if bool(order.sent):\n    return\npay()", [UNSENT]),
        ("assert not order.sent\npay()", [UNSENT]),
        ("pay() if not order.sent else None", [UNSENT]),
        ("done = order.sent\nif done:\n    return\npay()", [UNSENT]),
        ("if order.state == 'new':\n    pay()", [{"state state == 'new'"}]),
        ("if order.state != 'new':\n    return\npay()", [{"state state == 'new'"}]),
        ("if order.state in ('new', 'held'):\n    pay()", [{"state state in ..."}]),
        (
            "if order.state == 'a':\n    pay('a')\nelif order.state == 'b':\n    pay('b')",
            [{"state state == 'a'"}, {"not state state == 'a'", "state state == 'b'"}],
        ),
        ("while not order.sent:\n    pay()", [UNSENT]),
        ("for x in pk:\n    if order.sent:\n        continue\n    pay()", [UNSENT]),
        ("for x in pk:\n    if order.sent:\n        break\n    pay()", [UNSENT]),
        ("for x in pk:\n    if order.sent:\n        return\npay()", [set()]),
        ("for x in pk:\n    if not order.sent:\n        pass\n    pay()", [set()]),
        ("for x in pk:\n    assert not order.sent\nelse:\n    pay()", [set()]),
        ("with open(pk) as f:\n    if order.sent:\n        return\npay()", [UNSENT]),
        ("with open(pk) as f:\n    if order.sent:\n        return\n    pay()", [UNSENT]),
        ("with contextlib.suppress(ValueError):\n    if order.sent:\n        return\npay()", [set()]),
        ("if pk == 1:\n    return\npay()", [set()]),
        ("if Order.objects.filter(state='x').exists():\n    return\npay()", [{"not exists Order"}]),
        ("if not Order.objects.filter(state='x'):\n    pay()", [{"not exists Order"}]),
        ("if Order.objects.filter(state='x').count() > 0:\n    return\npay()", [{"not exists Order"}]),
        ("if Order.objects.filter(state='x').first() is not None:\n    return\npay()", [{"not exists Order"}]),
        ("found = Order.objects.filter(state='x').first()\nif found:\n    return\npay()", [{"not exists Order"}]),
    ],
)
def test_what_a_test_says_holds_as_far_as_it_decides(tmp_path: Path, body: str, expected: list[set[str]]) -> None:
    assert facts(tmp_path, body) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (
            "try:\n    if order.sent:\n        return\n    pay('a')\nexcept ValueError:\n    pay('b')",
            [UNSENT, {"failed"}],
        ),
        (
            "if order.sent:\n    return\ntry:\n    pay('a')\nexcept ValueError:\n    pay('b')",
            [UNSENT, {"failed", *UNSENT}],
        ),
        ("try:\n    if order.sent:\n        return\nexcept ValueError:\n    return\npay()", [UNSENT]),
        ("try:\n    if order.sent:\n        return\nexcept ValueError:\n    pass\npay()", [set()]),
        ("try:\n    if order.sent:\n        return\nexcept ValueError:\n    raise\npay()", [UNSENT]),
        (
            "try:\n    pass\nexcept ValueError:\n    pass\nelse:\n    if order.sent:\n        return\n    pay()",
            [UNSENT],
        ),
        ("try:\n    if order.sent:\n        return\nfinally:\n    pay()", [set()]),
        ("try:\n    Mark.objects.create(key=pk)\nexcept IntegrityError:\n    return\npay()", [{"inserted Mark"}]),
        (
            "try:\n    Mark.objects.create(key=pk)\nexcept IntegrityError:\n    pay()\n    return",
            [{"conflict", "failed"}],
        ),
        ("try:\n    Mark.objects.get(key=pk)\nexcept Mark.DoesNotExist:\n    pay()", [{"failed", "not exists Mark"}]),
        (
            "try:\n    Mark.objects.get(key=pk)\n    return\nexcept Mark.DoesNotExist:\n    pass\npay()",
            [{"not exists Mark"}],
        ),
    ],
)
def test_what_a_try_learns_holds_where_it_ran_to_its_end(tmp_path: Path, body: str, expected: list[set[str]]) -> None:
    assert facts(tmp_path, body) == expected


@pytest.mark.parametrize("subject", ["order.state", "order.sent"])
def test_the_arms_of_a_match_are_alternatives(tmp_path: Path, subject: str) -> None:
    found = walked(
        tmp_path, f"match {subject}:\n    case 'a':\n        pay('a')\n    case 'b':\n        pay('b')\npay('c')"
    )
    one, other, after = calls(found)
    assert exclusive(one.address, other.address)
    assert not exclusive(one.address, after.address)
    assert told(after.facts) == set()


def test_a_match_that_leaves_in_every_case_goes_no_further(tmp_path: Path) -> None:
    body = "match pk:\n    case 1:\n        return\n    case _:\n        return\npay()"
    assert facts(tmp_path, body) == []


# --- Which effects lie on one path


@pytest.mark.parametrize(
    ("body", "together"),
    [
        ("if pk:\n    pay('a')\nelse:\n    pay('b')", False),
        ("if pk:\n    pay('a')\n    return\npay('b')", False),
        ("if not pk:\n    pay('a')\nelif pk > 2:\n    pay('b')", False),
        ("if pk:\n    return pay('a')\nfor x in pk:\n    pay('b')", False),
        ("pay('a') if pk else pay('b')", False),
        ("match pk:\n    case 1:\n        pay('a')\n    case _:\n        pay('b')", False),
        ("if pk:\n    pay('a')\npay('b')", True),
        ("pay('a')\nif pk:\n    pay('b')", True),
        ("if pk:\n    pay('a')\nif pk:\n    pay('b')", True),
        ("try:\n    pay('a')\nexcept ValueError:\n    pay('b')", True),
        ("for x in pk:\n    if x:\n        pay('a')\n        continue\n    pay('b')", False),
        ("with transaction.atomic():\n    pay('a')\npay('b')", True),
    ],
)
def test_two_calls_lie_on_one_path_unless_a_branch_parts_them(tmp_path: Path, body: str, together: bool) -> None:
    one, other = calls(walked(tmp_path, body))
    assert exclusive(one.address, other.address) is not together
    assert before(one.address, other.address)


# --- Helpers

PROCESS_ONCE = """
def process_once(key):
    try:
        with transaction.atomic():
            Mark.objects.create(key=key)
    except IntegrityError:
        return False
    return True

def claim(key):
    _, created = Mark.objects.get_or_create(key=key)
    return created

def take(pk):
    return Order.objects.filter(pk=pk, sent=False).update(sent=True)

def take_one(pk):
    return Order.objects.filter(pk=pk, sent=False).update(sent=True) == 1

def busy(key):
    return not claim(key)

def must(key):
    if not claim(key):
        raise ValueError(key)

def fresh(key):
    if not claim(key):
        return None
    return key

def of(pk):
    order = Order.objects.get(pk=pk)
    if order.sent:
        return None
    return order

class Guard:
    def __init__(self, key):
        self.key = key

    def won(self):
        return claim(self.key)
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("if not process_once(pk):\n    return\npay()", "inserted Mark"),
        ("if process_once(pk):\n    pay()", "inserted Mark"),
        ("if process_once(pk) is False:\n    return\npay()", "inserted Mark"),
        ("done = process_once(pk)\nif not done:\n    return\npay()", "inserted Mark"),
        ("if not claim(pk):\n    return\npay()", "claim"),
        ("if claim(pk):\n    pay()", "claim"),
        ("if busy(pk):\n    return\npay()", "claim"),
        ("must(pk)\npay()", "claim"),
        ("if fresh(pk) is None:\n    return\npay()", "claim"),
        ("if not fresh(pk):\n    return\npay()", "claim"),
        ("if not take(pk):\n    return\npay()", "claim"),
        ("if take(pk) == 0:\n    return\npay()", "claim"),
        ("if take(pk) != 1:\n    return\npay()", "claim"),
        ("if take(pk) < 1:\n    return\npay()", "claim"),
        ("if take(pk) > 0:\n    pay()", "claim"),
        ("if not take_one(pk):\n    return\npay()", "claim"),
        ("if of(pk) is None:\n    return\npay()", "not state sent true"),
        ("mine = of(pk)\nif not mine:\n    return\npay()", "not state sent true"),
        ("if not Guard(pk).won():\n    return\npay()", "claim"),
        ("guard = Guard(pk)\nif guard.won():\n    pay()", "claim"),
        ("_, created = Mark.objects.get_or_create(key=pk)\nif not created:\n    return\npay()", "claim"),
        ("mark, created = Mark.objects.get_or_create(key=pk)\nif created:\n    pay()", "claim"),
        ("made = Mark.objects.get_or_create(key=pk)\nif not made[1]:\n    return\npay()", "claim"),
        ("rows = Order.objects.filter(pk=pk, sent=False).update(sent=True)\nif rows:\n    pay()", "claim"),
    ],
)
def test_the_answer_of_a_helper_brings_its_facts_along(tmp_path: Path, body: str, expected: str) -> None:
    (call,) = facts(tmp_path, body, PROCESS_ONCE)
    assert expected in call


@pytest.mark.parametrize(
    "body",
    [
        "process_once(pk)\npay()",
        "if process_once(pk):\n    return\npay()",
        "claim(pk)\npay()",
        "if claim(pk):\n    return\npay()",
        "if pk and claim(pk):\n    pass\npay()",
        "take(pk)\npay()",
        "if take(pk) == 0:\n    pay()",
        "busy(pk)\npay()",
        "for x in pk:\n    if not claim(x):\n        return\npay()",
    ],
)
def test_an_answer_nobody_heeds_says_nothing(tmp_path: Path, body: str) -> None:
    (call,) = facts(tmp_path, body, PROCESS_ONCE)
    assert not call & {"claim", "inserted Mark"}


def test_effects_of_a_helper_stand_where_it_is_called(tmp_path: Path) -> None:
    code = "def inner(pk):\n    pay('a')\n\ndef outer(pk):\n    inner(pk)\n"
    (call,) = calls(walked(tmp_path, "if order.sent:\n    return\nouter(pk)", code))
    assert [frame.name for frame in call.frames] == ["task", "outer", "inner", "pay"]
    assert told(call.facts) == UNSENT


def test_a_helper_called_twice_acts_twice(tmp_path: Path) -> None:
    assert len(calls(walked(tmp_path, "pay('a')\npay('b')"))) == 2


def test_a_recursive_helper_ends(tmp_path: Path) -> None:
    code = "def again(pk):\n    pay()\n    again(pk - 1)\n"
    assert 1 <= len(calls(walked(tmp_path, "again(pk)", code))) <= 2


# --- Literal flags


@pytest.mark.parametrize(
    ("code", "body", "expected"),
    [
        ("def f(x, send=True):\n    if send:\n        pay()", "f(pk)", 1),
        ("def f(x, send=True):\n    if send:\n        pay()", "f(pk, send=False)", 0),
        ("def f(x, send=False):\n    if not send:\n        return\n    pay()", "f(pk)", 0),
        ("def f(x, send=False):\n    if not send:\n        return\n    pay()", "f(pk, True)", 1),
        ("def f(x, key=None):\n    if key is None:\n        return\n    pay()", "f(pk)", 0),
        ("def f(x, key=None):\n    if key is not None:\n        pay()", "f(pk, 'a')", 1),
        ("def f(x, send=True):\n    g(x, send)\ndef g(x, send):\n    if send:\n        pay()", "f(pk, False)", 0),
        ("def f(x, dry=False):\n    if dry:\n        return\n    pay()", "f(pk, dry=bool(pk))", 1),
        ("def f(x, a=True, b=False):\n    if a and b:\n        pay()", "f(pk)", 0),
    ],
)
def test_a_literal_flag_chooses_the_arm(tmp_path: Path, code: str, body: str, expected: int) -> None:
    assert len(calls(walked(tmp_path, body, code))) == expected


def test_a_flag_that_a_loop_changes_chooses_nothing(tmp_path: Path) -> None:
    body = "first = True\nfor x in pk:\n    if not first:\n        pay()\n    first = False"
    assert len(calls(walked(tmp_path, body))) == 1


# --- What a query said of a row

SAVING = """
class Item(models.Model):
    number = models.IntegerField(null=True)
    order = models.ForeignKey(Order, null=True, on_delete=models.CASCADE)
    state = models.CharField(max_length=9)

    def save(self, *args, **kwargs):
        if self._state.adding:
            pay("adding")
        if not self.pk:
            pay("pk")
        super().save(*args, **kwargs)
"""


@pytest.mark.parametrize(
    ("body", "called"),
    [
        ("item = Item.objects.get(pk=pk)\nitem.state = 'a'\nitem.save()", []),
        ("for item in Item.objects.all():\n    item.save()", []),
        ("item = Item(state='a')\nitem.save()", ["adding", "pk"]),
    ],
)
def test_a_row_that_was_read_is_not_being_added(tmp_path: Path, body: str, called: list[str]) -> None:
    found = calls(walked(tmp_path, body, SAVING))
    assert [call.url.rpartition("/")[2] for call in found] == called


@pytest.mark.parametrize(
    ("query", "test", "expected"),
    [
        ("filter(order_id=None)", "item.order_id", 0),
        ("filter(order_id=None)", "not item.order_id", 1),
        ("filter(order__isnull=True)", "item.order", 0),
        ("filter(order__isnull=False)", "item.order is None", 0),
        ("filter(order__isnull=False)", "not item.order", 0),
        ("exclude(order=None)", "item.order_id is None", 0),
        ("filter(number__isnull=False)", "item.number", 1),
        ("filter(number__isnull=False)", "not item.number", 1),
        ("filter(state='new')", "item.state == 'sent'", 0),
        ("filter(state='new')", "item.state != 'new'", 0),
        ("filter(state='new')", "item.state == 'new'", 1),
        ("exclude(state='new')", "item.state == 'sent'", 1),
        ("filter(state__in=['new'])", "item.state == 'sent'", 1),
        ("all()", "item.order_id", 1),
    ],
)
def test_what_the_query_asked_for_chooses_the_arm(tmp_path: Path, query: str, test: str, expected: int) -> None:
    body = f"for item in Item.objects.{query}:\n    if {test}:\n        pay()"
    assert len(calls(walked(tmp_path, body, SAVING))) == expected


@pytest.mark.parametrize("change", ["item.refresh_from_db()", "item.state = pk"])
def test_a_row_that_has_changed_since_chooses_nothing(tmp_path: Path, change: str) -> None:
    body = f"item = Item.objects.get(pk=pk, state='new')\n{change}\nif item.state == 'sent':\n    pay()"
    assert len(calls(walked(tmp_path, body, SAVING))) == 1


# --- Transactions

MANAGER = "@contextlib.contextmanager\ndef tx():\n    with transaction.atomic():\n        yield\n"
WRAPPER = (
    "def tx(f):\n    def inner(*a):\n        with transaction.atomic():\n            return f(*a)\n    return inner\n"
)


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("", "with transaction.atomic():\n    pay()"),
        ("", "with transaction.atomic(using='x'), open(pk):\n    pay()"),
        ("", "with open(pk), transaction.atomic():\n    pay()"),
        ("", "with transaction.atomic():\n    if pk:\n        for x in pk:\n            pay()"),
        ("@transaction.atomic\ndef f(pk): pay()", "f(pk)"),
        ("@transaction.atomic()\ndef f(pk): pay()", "f(pk)"),
        ("@transaction.atomic(durable=True)\ndef f(pk): pay()", "f(pk)"),
        ("def f(pk): pay()", "with transaction.atomic():\n    f(pk)"),
        ("def f(pk):\n    with transaction.atomic():\n        g(pk)\ndef g(pk): pay()", "f(pk)"),
        (MANAGER, "with tx():\n    pay()"),
        (f"{MANAGER}\n@tx()\ndef f(pk): pay()", "f(pk)"),
        (f"{WRAPPER}\n@tx\ndef f(pk): pay()", "f(pk)"),
        ("atomic = transaction.atomic", "with atomic():\n    pay()"),
        ("from django.db.transaction import atomic as tx", "with tx():\n    pay()"),
        ("class S:\n    @transaction.atomic\n    def f(self, pk): pay()", "S().f(pk)"),
    ],
)
def test_a_call_stands_in_the_transaction_that_is_open(tmp_path: Path, code: str, body: str) -> None:
    (call,) = calls(walked(tmp_path, body, code))
    assert len(call.transactions) == 1


@pytest.mark.parametrize(
    "body",
    [
        "with transaction.atomic():\n    order.save()\npay()",
        "pay()\nwith transaction.atomic():\n    order.save()",
        "f(pk)\npay()",
        "try:\n    with transaction.atomic():\n        order.save()\nexcept IntegrityError:\n    pass\npay()",
        "for x in pk:\n    with transaction.atomic():\n        order.save()\n    pay()",
        "if pk:\n    with transaction.atomic():\n        order.save()\npay()",
    ],
)
def test_a_call_after_the_block_stands_in_none(tmp_path: Path, body: str) -> None:
    (call,) = calls(
        walked(tmp_path, body, "@transaction.atomic\ndef f(pk):\n    Order.objects.filter(pk=pk).update(sent=True)")
    )
    assert call.transactions == ()


STACK = "with contextlib.ExitStack() as stack:\n    stack.enter_context(transaction.atomic())\n"
TX = (
    "class Tx:\n    def __enter__(self):\n        self.tx = transaction.atomic()\n        self.tx.__enter__()\n"
    "    def __exit__(self, *e):\n        self.tx.__exit__(*e)\n"
)


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("def tx(f):\n    return transaction.atomic(f)\n\n@tx\ndef f(pk): pay()", "f(pk)"),
        ("def f(pk): pay()", "transaction.atomic(f)(pk)"),
        ("def f(pk): pay()", "safe = transaction.atomic(f)\nsafe(pk)"),
        ("", "tx = transaction.atomic()\ntx.__enter__()\npay()\ntx.__exit__(None, None, None)"),
        (f"{TX}\ndef f(pk):\n    with Tx():\n        pay()", "f(pk)"),
        ("", f"{STACK}    pay()"),
    ],
)
def test_a_transaction_that_is_opened_in_passing(tmp_path: Path, code: str, body: str) -> None:
    (call,) = calls(walked(tmp_path, body, code))
    assert len(call.transactions) == 1


@pytest.mark.parametrize(
    ("code", "body"),
    [
        ("def f(pk): pass", "transaction.atomic(f)(pk)\npay()"),
        ("", "tx = transaction.atomic()\ntx.__enter__()\ntx.__exit__(None, None, None)\npay()"),
        (TX, "with Tx():\n    order.save()\npay()"),
        ("", f"{STACK}    order.save()\npay()"),
        ("", "transaction.savepoint()\npay()"),
    ],
)
def test_a_transaction_that_is_ended_in_passing(tmp_path: Path, code: str, body: str) -> None:
    (call,) = calls(walked(tmp_path, body, code))
    assert call.transactions == ()


def test_a_task_that_a_wrapper_of_its_own_puts_in_a_transaction(tmp_path: Path) -> None:
    code = "def tx(f):\n    return transaction.atomic(f)\n\n\n@shared_task\n@tx\ndef task(pk):\n    pay()"
    found = walk(tmp_path, f"{HEAD}{code}\n")
    (call,) = calls(found)
    assert len(call.transactions) == 1


@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_a_savepoint_by_hand_is_inside_and_ends(tmp_path: Path, end: str) -> None:
    body = (
        "with transaction.atomic():\n    sid = transaction.savepoint()\n    pay('a')\n"
        f"    transaction.savepoint_{end}(sid)\n    pay('b')"
    )
    one, other = calls(walked(tmp_path, body))
    assert [len(one.transactions), len(other.transactions)] == [2, 1]


def test_a_row_that_a_savepoint_took_back_is_not_there(tmp_path: Path) -> None:
    body = (
        "with transaction.atomic():\n    sid = transaction.savepoint()\n    Mark.objects.create(key=pk)\n"
        "    transaction.savepoint_{}(sid)\n    pay()"
    )
    assert facts(tmp_path, body.format("commit")) == [{"inserted Mark"}]
    assert facts(tmp_path, body.format("rollback")) == [set()]


def test_a_constant_of_a_class_is_one(tmp_path: Path) -> None:
    code = "class Holder:\n    prefix = 'p'\n    def full(self, key):\n        return f'{self.prefix}-{key}'"
    call = calls(walked(tmp_path, "pay('x', Holder().full(pk))", code))[-1]
    assert call.key is not None
    assert not call.key.value.unknown


@pytest.mark.parametrize(
    "code",
    [
        "class Holder:\n    prefix = 'p'\n    def __init__(self, x): self.prefix = x\n",
        "from dataclasses import dataclass\n@dataclass\nclass Holder:\n    prefix: str = 'p'\n",
    ],
)
def test_an_attribute_that_instances_are_given_is_no_constant(tmp_path: Path, code: str) -> None:
    method = "    def full(self, key):\n        return f'{self.prefix}-{key}'"
    call = calls(walked(tmp_path, "pay('x', Holder(read()).full(pk))", code + method))[-1]
    assert call.key is not None
    assert call.key.value.text is None or not call.key.value.text.startswith("p-")


def test_a_block_in_a_block_is_a_savepoint(tmp_path: Path) -> None:
    found = walked(tmp_path, "with transaction.atomic():\n    with transaction.atomic():\n        pay()")
    (call,) = calls(found)
    outer, inner = (next(tx for tx in found.run().transactions if tx.id == each) for each in call.transactions)
    assert outer.outer is None
    assert inner.outer == outer.id


# --- Commit hooks


@pytest.mark.parametrize(
    "hook",
    [
        "transaction.on_commit(lambda: pay('b'))",
        "transaction.on_commit(partial(pay, 'b'))",
        "transaction.on_commit(pay)",
        "def hook():\n        pay('b')\n    transaction.on_commit(hook)",
        "f(pk)",
    ],
)
def test_a_hook_runs_after_the_block(tmp_path: Path, hook: str) -> None:
    code = "def f(pk):\n    transaction.on_commit(lambda: pay('b'))"
    now, later = calls(walked(tmp_path, f"with transaction.atomic():\n    {hook}\n    pay('a')", code))
    assert (len(now.transactions), now.deferred) == (1, False)
    assert (later.transactions, later.deferred) == ((), True)


def test_a_hook_waits_for_the_outermost_block(tmp_path: Path) -> None:
    body = (
        "with transaction.atomic():\n    with transaction.atomic():\n        transaction.on_commit(lambda: pay('c'))\n"
    )
    body += "    pay('a')\npay('b')"
    assert [call.url[-1] for call in calls(walked(tmp_path, body))] == ["a", "c", "b"]


def test_a_hook_without_a_block_runs_at_once(tmp_path: Path) -> None:
    found = calls(walked(tmp_path, "transaction.on_commit(lambda: pay('a'))\npay('b')"))
    assert [call.url[-1] for call in found] == ["a", "b"]


def test_a_hook_knows_what_held_where_it_was_registered(tmp_path: Path) -> None:
    body = (
        "with transaction.atomic():\n    if not order.sent:\n        transaction.on_commit(lambda: pay('a'))\npay('b')"
    )
    assert facts(tmp_path, body) == [UNSENT, set()]


def test_a_hook_that_looks_up_the_loops_name_too_late_is_noted(tmp_path: Path) -> None:
    body = "with transaction.atomic():\n    for x in pk:\n        transaction.on_commit(lambda: pay(x))"
    (hook,) = walked(tmp_path, body).run().hooks
    assert hook.late == ("x",)


@pytest.mark.parametrize("hook", ["lambda x=x: pay(x)", "partial(pay, x)", "lambda: pay(pk)"])
def test_a_hook_that_is_bound_in_time_is_not(tmp_path: Path, hook: str) -> None:
    body = f"with transaction.atomic():\n    for x in pk:\n        transaction.on_commit({hook})"
    assert walked(tmp_path, body).run().hooks == ()


# --- Origins

CODE = """
def twice(x):
    return x

def named(order_id, kind="pay"):
    return f"{kind}-{order_id}"

def digest(*parts):
    return hashlib.sha256("-".join(map(str, parts)).encode()).hexdigest()

def both(a, b):
    return a, b

def pick(x):
    if x:
        return "a"
    return uuid.uuid4()

def handed(**given):
    pay("x", given["key"])

def all_of(*given):
    pay("x", given[0])

@dataclasses.dataclass
class Job:
    key: str
    n: int = 0

class Holder:
    def __init__(self, key):
        self.key = key

    def full(self):
        return f"p-{self.key}"
"""


@pytest.mark.parametrize(
    ("key", "origins"),
    [
        ("pk", {"argument"}),
        ("f'pay-{pk}'", {"argument", "constant"}),
        ("'pay-' + str(pk)", {"argument", "constant"}),
        ("'pay-%s' % pk", {"argument", "constant"}),
        ("'pay-{}'.format(pk)", {"argument"}),
        ("'-'.join(['pay', str(pk)])", {"argument", "constant"}),
        ("order.number", {"row"}),
        ("f'{order.number}-{order.state}'", {"row", "constant"}),
        ("order.pk", {"argument"}),
        ("order.token", {"row"}),
        ("self.request.id", {"task-id"}),
        ("'fixed'", {"constant"}),
        ("NAME", {"constant"}),
        ("str(uuid.uuid4())", {"random"}),
        ("uuid.uuid4().hex", {"random"}),
        ("uuid.uuid5(uuid.NAMESPACE_URL, str(pk))", {"argument", "constant"}),
        ("hashlib.sha256(str(pk).encode()).hexdigest()", {"argument"}),
        ("hashlib.md5(f'{pk}{timezone.now()}'.encode()).hexdigest()", {"argument", "clock"}),
        ("f'{pk}-{timezone.now()}'", {"argument", "clock", "constant"}),
        ("f'{pk}-{datetime.now():%Y%m%d}'", {"argument", "clock", "constant"}),
        ("f'{pk}-{random.random()}'", {"argument", "random", "constant"}),
        ("f'{pk}-{self.request.retries}'", {"argument", "attempt", "constant"}),
        ("twice(pk)", {"argument"}),
        ("twice(twice(f'{pk}'))", {"argument"}),
        ("named(pk)", {"argument", "constant"}),
        ("named(kind='x', order_id=order.number)", {"row", "constant"}),
        ("digest('pay', pk)", {"argument", "constant"}),
        ("both(pk, timezone.now())[0]", {"argument"}),
        ("both(pk, timezone.now())[1]", {"clock"}),
        ("pick(pk)", {"constant", "random"}),
        ("{'key': pk, 'at': timezone.now()}['key']", {"argument"}),
        ("dict(key=pk, at=timezone.now())['key']", {"argument"}),
        ("Job(key=pk).key", {"argument"}),
        ("Holder(pk).key", {"argument"}),
        ("Holder(pk).full()", {"argument", "constant"}),
        ("(lambda x: f'k{x}')(pk)", {"argument", "constant"}),
        ("pk if pk else order.number", {"argument", "row"}),
        ("pk or uuid.uuid4()", {"argument", "random"}),
        ("requests.post('https://a.example/x').json()['id']", {"response"}),
        ("Order.objects.create(number='a').pk", {"fresh"}),
        ("Order.objects.create(number='a').number", {"constant"}),
        ("Order.objects.create(number='a').token", {"fresh"}),
        ("Order(number='a').token", {"fresh"}),
        ("unknown(pk)", {"unknown"}),
        ("order.unknown", {"unknown"}),
    ],
)
def test_a_key_comes_from_what_it_is_made_of(tmp_path: Path, key: str, origins: set[str]) -> None:
    found = calls(walked(tmp_path, f"pay('x', {key})", CODE))[-1]
    assert found.key is not None
    kinds = {origin.kind for origin in found.key.value.origins}
    # What is joined by constant text may or may not count the text.
    assert kinds - {"constant"} == origins - {"constant"}
    assert kinds == origins or "constant" in kinds ^ origins


@pytest.mark.parametrize(
    ("body", "origins"),
    [
        ("key = f'{pk}'\npay('x', key)", {"argument"}),
        ("key, at = pk, timezone.now()\npay('x', key)", {"argument"}),
        ("key, *rest = pk, timezone.now()\npay('x', key)", {"argument"}),
        ("given = {'key': pk}\npay('x', **given)", {"argument"}),
        ("given = {}\ngiven['key'] = pk\npay('x', **given)", {"argument"}),
        ("given = ['x', pk]\npay(*given)", {"argument"}),
        ("handed(key=pk, at=timezone.now())", {"argument"}),
        ("all_of(pk, timezone.now())", {"argument"}),
        ("send = partial(pay, key=pk)\nsend('x')", {"argument"}),
        ("job = Job(key=pk)\npay('x', job.key)", {"argument"}),
        ("key = 'a'\nkey += str(pk)\npay('x', key)", {"argument"}),
        ("if (key := f'{pk}'):\n    pay('x', key)", {"argument"}),
        ("key = uuid.uuid4()\nif pk:\n    key = pk\npay('x', key)", {"argument", "random"}),
        ("key = uuid.uuid4()\nif pk:\n    key = pk\nelse:\n    return\npay('x', key)", {"argument"}),
        ("for row in Order.objects.filter(sent=False):\n    pay('x', row.number)", {"row"}),
        ("for n, row in enumerate(Order.objects.filter(sent=False)):\n    pay('x', row.number)", {"row"}),
        ("[pay('x', row.number) for row in Order.objects.all()]", {"row"}),
        ("order.number = uuid.uuid4()\npay('x', order.number)", {"random"}),
        ("order.number = pk\npay('x', order.number)", {"argument"}),
        ("order = Order.objects.create(number=pk)\npay('x', f'{order.pk}')", {"fresh"}),
        ("order, made = Order.objects.get_or_create(number=pk)\npay('x', f'{order.pk}')", {"row"}),
        ("mark = Mark(key=pk)\nmark.save()\npay('x', mark.pk)", {"fresh"}),
    ],
)
def test_a_key_is_followed_through_names_and_containers(tmp_path: Path, body: str, origins: set[str]) -> None:
    found = calls(walked(tmp_path, body, CODE))[-1]
    assert found.key is not None
    assert {origin.kind for origin in found.key.value.origins} - {"constant"} == origins


@pytest.mark.parametrize(
    ("write", "step"),
    [
        ("order.total += pk", "arithmetic"),
        ("order.total = order.total + pk", "arithmetic"),
        ("total = order.total\n    order.total = total - 1", "arithmetic"),
        ("order.total = max(order.total - pk, 0)", "arithmetic"),
        ("order.total = models.F('total') + pk", "expression"),
        ("order.total = pk", ""),
        ("order.total = order.number", ""),
        ("order.total = 0", ""),
    ],
)
def test_a_write_says_whether_it_counts_on_from_the_old_value(tmp_path: Path, write: str, step: str) -> None:
    found = walked(tmp_path, f"if pk:\n    {write}\n    order.save()")
    (saved,) = found.effects("save", "update")
    assert {write.column: write.from_itself for write in saved.writes}.get("total") == step


def test_what_only_reads_does_not_use_up_the_room_for_what_changes(tmp_path: Path) -> None:
    reads = "\n".join(f"    cache.get('rate-{number}')" for number in range(100))
    source = f"""
from celery import shared_task
from django.core.cache import cache
from django.core.mail import send_mail


@shared_task(acks_late=True)
def task(address):
{reads}
    send_mail("Rates", "They are high.", None, [address])
"""
    walked = walk(tmp_path, source)
    assert walked.rules == ["unguarded-message"]
    assert not walked.run().capped


def test_a_long_function_is_followed_whose_callers_say_what_it_requests(tmp_path: Path) -> None:
    steps = "\n".join(f"    log.info(part(data, {number}))" for number in range(60))
    source = f"""
import logging

import requests
from celery import shared_task

log = logging.getLogger()


def part(data, number):
    return data[number]


def request(verb, data):
{steps}
    return requests.request(verb, "https://books.example.com/invoices", json=data, timeout=10).json()


@shared_task(acks_late=True)
def task(data):
    request("POST", data)
"""
    assert walk(tmp_path, source).rules == ["unkeyed-external-call"]


def test_a_long_function_that_leaves_all_as_it_is_is_not_followed(tmp_path: Path) -> None:
    steps = "\n".join(f"    log.info(part(data, {number}))" for number in range(60))
    source = f"""
import logging

from celery import shared_task

log = logging.getLogger()


def part(data, number):
    return data[number]


def summed(path):
    with open(path, "rb") as file:
        data = file.read()
{steps}
    return len(data)


def kept(path, text):
    with open(path, "a") as file:
        file.write(text)
{steps.replace("data", "text")}


@shared_task
def reading(path):
    summed(path)


@shared_task
def writing(path, text):
    kept(path, text)
"""
    walked = walk(tmp_path, source)
    assert walked.effects(task="reading") == []
    assert [effect.path for effect in walked.effects(task="writing")] == ["builtins.open"]


AROUND = """
from celery import Task, shared_task
import requests


class Guarded(Task):
    def __call__(self, *args, **kwargs):
        try:
            self.prepare()
        except ImportError:
            return super().__call__(*args, **kwargs)
        with self.watched():
            return super().__call__(*args, **kwargs)


@shared_task(base=Guarded)
def child(pk):
    requests.delete(f"https://x.example/{pk}")


@shared_task(base=Guarded)
def task(pk):
    requests.post("https://x.example/", json=pk)
    child.delay(pk)
"""


def test_a_task_is_told_once_where_its_class_runs_it_on_an_error_too(tmp_path: Path) -> None:
    assert not walk(tmp_path, AROUND).only("external").in_handler


def test_a_message_is_sent_whatever_the_class_of_its_task_does_when_it_is_called(tmp_path: Path) -> None:
    found = walk(tmp_path, AROUND)
    assert [effect.kind for effect in found.effects()] == ["external", "enqueue"]
