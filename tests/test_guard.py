"""What a guard is worth for one effect: the table of ARCHITECTURE.md, cell by cell."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from walking import Walked, walk

from idemlint.domain.effect import Effect
from idemlint.domain.guard import Guard, Guards, Strength

HEAD = """\
import functools
import random
import threading
from datetime import date

import redis
import requests
from celery import shared_task
from django.conf import settings
from django.core.cache import cache
from django.db import IntegrityError, models, transaction
from django.utils import timezone

client = redis.Redis()
mutex = threading.Lock()
done = set()
known = {}


class Order(models.Model):
    sent = models.BooleanField(default=False)
    state = models.CharField(max_length=9)
    total = models.IntegerField(default=0)
    version = models.IntegerField(default=0)


class Mark(models.Model):
    key = models.CharField(max_length=99, unique=True)


class Loose(models.Model):
    key = models.CharField(max_length=99)


class Maybe(models.Model):
    key = models.CharField(max_length=99, unique=True, null=True)


class Account(models.Model):
    balance = models.IntegerField(default=0)


def pay():
    requests.post("https://pay.example/")


def credit(pk):
    Account.objects.filter(pk=pk).update(balance=models.F("balance") + 1)


"""


def walked(folder: Path, body: str) -> Walked:
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return walk(folder, f"{HEAD}@shared_task(bind=True)\ndef task(self, pk):\n{lines}\n")


def guarded(folder: Path, body: str) -> Guard | None:
    """The best guard of the effect in question: the call to the outside, else the change of an account."""
    found = walked(folder, body)
    effect = [effect for effect in found.effects() if _acts(effect)][-1]
    return Guards(found.run(), found.program.models).best(effect)


def _credits(effect: Effect) -> bool:
    return effect.model.endswith("Account")


def _acts(effect: Effect) -> bool:
    return effect.path == "requests.post" or _credits(effect)


def strength(folder: Path, body: str) -> Strength | None:
    guard = guarded(folder, body)
    return guard.strength if guard is not None else None


# --- Claims


@pytest.mark.parametrize(
    "body",
    [
        "_, new = Mark.objects.get_or_create(key=pk)\nif not new:\n    return\n{}",
        "try:\n    Mark.objects.create(key=pk)\nexcept IntegrityError:\n    return\n{}",
        "try:\n    with transaction.atomic():\n        Mark.objects.create(key=pk)\nexcept IntegrityError:\n"
        "    return\n{}",
        "if not Order.objects.filter(pk=pk, sent=False).update(sent=True):\n    return\n{}",
        "if not Order.objects.exclude(sent=True).filter(pk=pk).update(sent=True):\n    return\n{}",
        "if not Order.objects.filter(pk=pk, state='new').update(state='sent'):\n    return\n{}",
        "if not Order.objects.filter(pk=pk, state__in=['new', 'held']).update(state='sent'):\n    return\n{}",
        "if not client.set(f'k-{{pk}}', 1, nx=True):\n    return\n{}",
        "if not client.setnx(f'k-{{pk}}', 1):\n    return\n{}",
    ],
)
@pytest.mark.parametrize("effect", ["pay()", "credit(pk)"])
def test_a_claim_that_is_committed_first_lets_one_run_pass(tmp_path: Path, body: str, effect: str) -> None:
    assert strength(tmp_path, body.format(effect)) is Strength.CLAIM


CLAIM = "_, new = Mark.objects.get_or_create(key=pk)\n    if not new:\n        return\n"


def test_a_claim_that_commits_with_the_change_it_guards_lets_one_run_pass(tmp_path: Path) -> None:
    assert strength(tmp_path, f"with transaction.atomic():\n    {CLAIM}    credit(pk)") is Strength.CLAIM


def test_a_claim_that_can_still_be_rolled_back_when_a_call_leaves_is_a_state(tmp_path: Path) -> None:
    assert strength(tmp_path, f"with transaction.atomic():\n    {CLAIM}    pay()") is Strength.STATE


def test_a_claim_that_is_committed_before_a_hook_lets_one_run_pass(tmp_path: Path) -> None:
    assert (
        strength(tmp_path, f"with transaction.atomic():\n    {CLAIM}    transaction.on_commit(pay)") is Strength.CLAIM
    )


@pytest.mark.parametrize(
    "body",
    [
        "_, new = Loose.objects.get_or_create(key=pk)\nif not new:\n    return\npay()",
        "try:\n    Loose.objects.create(key=pk)\nexcept IntegrityError:\n    return\npay()",
        "_, new = Mark.objects.get_or_create(key=timezone.now())\nif not new:\n    return\npay()",
        "_, new = Mark.objects.get_or_create(key=random.random())\nif not new:\n    return\npay()",
        "_, new = Maybe.objects.get_or_create(key=None)\nif not new:\n    return\npay()",
        "if not Order.objects.filter(pk=pk).update(sent=True):\n    return\npay()",
        "if not Order.objects.filter(pk=pk, sent=True).update(sent=True):\n    return\npay()",
        "if not Order.objects.filter(pk=pk, sent=False).update(state='x'):\n    return\npay()",
        "if not Order.objects.filter(pk=pk, state='x').update(total=models.F('total') + 1):\n    return\npay()",
        "Mark.objects.get_or_create(key=pk)\npay()",
        "Order.objects.filter(pk=pk, sent=False).update(sent=True)\npay()",
        "_, new = Mark.objects.get_or_create(key=pk)\nif new:\n    print(pk)\npay()",
        "Mark.objects.bulk_create([Mark(key=pk)], ignore_conflicts=True)\npay()",
    ],
)
def test_what_no_constraint_backs_or_nobody_heeds_is_no_claim(tmp_path: Path, body: str) -> None:
    assert strength(tmp_path, body) in (None, Strength.POSSIBLE)


def test_a_claim_whose_key_nobody_can_tell_is_possible(tmp_path: Path) -> None:
    body = "_, new = Mark.objects.get_or_create(key=unknown(pk))\nif not new:\n    return\npay()"
    assert strength(tmp_path, body) is Strength.POSSIBLE


# --- State


@pytest.mark.parametrize(
    "body",
    [
        "order = Order.objects.get(pk=pk)\nif order.sent:\n    return\npay()\norder.sent = True\norder.save()",
        "order = Order.objects.get(pk=pk)\nif not order.sent:\n    pay()\n    order.sent = True\n    order.save()",
        "order = Order.objects.get(pk=pk)\nif order.state != 'new':\n    return\npay()\norder.state = 'sent'\n"
        "order.save()",
        "order = Order.objects.get(pk=pk)\nif order.sent:\n    return\npay()\n"
        "Order.objects.filter(pk=pk).update(sent=True)",
        "order = Order.objects.get(pk=pk, sent=False)\npay()\norder.sent = True\norder.save()",
        "for order in Order.objects.filter(sent=False):\n    pay()\n    order.sent = True\n    order.save()",
        "for order in Order.objects.filter(state='new'):\n    pay()\n    order.delete()",
        "if Mark.objects.filter(key=pk).exists():\n    return\npay()\nMark.objects.create(key=pk)",
        "try:\n    Mark.objects.get(key=pk)\n    return\nexcept Mark.DoesNotExist:\n    pass\npay()\n"
        "Mark.objects.create(key=pk)",
    ],
)
def test_state_that_is_tested_and_written_afterwards_stops_what_comes_later(tmp_path: Path, body: str) -> None:
    assert strength(tmp_path, body) is Strength.STATE


LOCKED = "with transaction.atomic():\n    order = Order.objects.select_for_update().get(pk=pk)\n"
LOCKED += "    if order.sent:\n        return\n"
WRITTEN = "    order.sent = True\n    order.save()\n"


def test_state_under_a_lock_lets_one_change_pass_that_commits_with_it(tmp_path: Path) -> None:
    assert strength(tmp_path, f"{LOCKED}    credit(pk)\n{WRITTEN}") is Strength.CLAIM


def test_state_under_a_lock_does_not_keep_a_call_from_being_repeated(tmp_path: Path) -> None:
    assert strength(tmp_path, f"{LOCKED}    pay()\n{WRITTEN}") is Strength.STATE


def test_state_that_is_committed_before_the_call_is_a_claim(tmp_path: Path) -> None:
    assert strength(tmp_path, f"{LOCKED}{WRITTEN}pay()") is Strength.CLAIM


@pytest.mark.parametrize(
    "body",
    [
        "order = Order.objects.get(pk=pk)\nif order.sent:\n    return\npay()",
        "order = Order.objects.get(pk=pk)\nif order.sent:\n    return\npay()\norder.state = 'x'\n"
        "order.save(update_fields=['state'])",
        "order = Order.objects.get(pk=pk)\nif order.sent:\n    order.sent = True\n    order.save()\npay()",
        "if Mark.objects.filter(key=pk).exists():\n    return\npay()",
        "for order in Order.objects.filter(state='new'):\n    pay()",
        "for order in Order.objects.filter(state='new'):\n    pay()\n    order.total = 1\n"
        "    order.save(update_fields=['total'])",
    ],
)
def test_state_that_the_run_leaves_as_it_is_stops_nobody(tmp_path: Path, body: str) -> None:
    assert strength(tmp_path, body) is None


# --- What ends by itself, and what is given back


@pytest.mark.parametrize(
    "body",
    [
        "if not cache.add(f'k-{pk}', 1, 60):\n    return\npay()",
        "if not cache.add(f'k-{pk}', 1):\n    return\npay()",
        "if cache.add(f'k-{pk}', 1, timeout=60):\n    pay()",
        "if not client.set(f'k-{pk}', 1, nx=True, ex=60):\n    return\npay()",
        "if not client.set(f'k-{pk}', 1, nx=True, px=60000):\n    return\npay()",
        "won = client.set(f'k-{pk}', 1, ex=60, nx=True)\nif not won:\n    return\npay()",
    ],
)
def test_a_mark_with_a_lifetime_expires(tmp_path: Path, body: str) -> None:
    assert strength(tmp_path, body) is Strength.EXPIRING


@pytest.mark.parametrize(
    "body",
    [
        "with client.lock(f'k-{pk}', timeout=60):\n    pay()",
        "with cache.lock(f'k-{pk}'):\n    pay()",
        "with mutex:\n    pay()",
        "lock = client.lock(f'k-{pk}')\nif not lock.acquire(blocking=False):\n    return\ntry:\n    pay()\n"
        "finally:\n    lock.release()",
        "if pk in done:\n    return\npay()\ndone.add(pk)",
        "if pk not in done:\n    pay()\n    done.add(pk)",
        "if pk in known:\n    return\nknown[pk] = True\npay()",
    ],
)
def test_a_lock_that_is_given_back_lets_the_next_run_pass(tmp_path: Path, body: str) -> None:
    assert strength(tmp_path, body) is Strength.MUTEX


@pytest.mark.parametrize("body", ["if pk in done:\n    pay()\ndone.add(pk)", "if pk in done:\n    return\npay()"])
def test_memory_that_lets_pass_or_that_nobody_adds_to_is_none(tmp_path: Path, body: str) -> None:
    assert strength(tmp_path, body) is None


def test_after_the_lock_is_given_back_nothing_guards(tmp_path: Path) -> None:
    assert strength(tmp_path, "with client.lock(f'k-{pk}'):\n    print(pk)\npay()") is None


# --- What is no guard


@pytest.mark.parametrize(
    "test",
    [
        "not pk",
        "pk == 1",
        "settings.DEBUG",
        "not settings.ENABLED",
        "timezone.now().hour < 6",
        "date.today() > pk",
        "random.random() > 0.5",
        "self.request.retries > 3",
        "self.request.id is None",
        "len(pk) > 3",
        "isinstance(pk, str)",
        "pk.startswith('x')",
    ],
)
def test_a_test_on_arguments_settings_or_the_clock_is_no_guard(tmp_path: Path, test: str) -> None:
    assert strength(tmp_path, f"if {test}:\n    return\npay()") is None


@pytest.mark.parametrize(
    "test",
    [
        "seen(pk)",
        "requests.get('https://pay.example/' + pk).json()['paid']",
        "client.get(f'k-{pk}')",
        "cache.get(f'k-{pk}')",
    ],
)
def test_a_test_that_cannot_be_followed_may_be_one(tmp_path: Path, test: str) -> None:
    assert strength(tmp_path, f"if {test}:\n    return\npay()") is Strength.POSSIBLE


def test_without_a_test_there_is_no_guard(tmp_path: Path) -> None:
    assert guarded(tmp_path, "pay()") is None


# --- Which of several, and whose


def test_the_strongest_guard_counts(tmp_path: Path) -> None:
    body = f"with client.lock('x'):\n    if seen(pk):\n        return\n    {CLAIM}    pay()"
    assert strength(tmp_path, body) is Strength.CLAIM


def test_a_guard_names_the_test_the_effect_behind_it_and_the_key(tmp_path: Path) -> None:
    guard = guarded(tmp_path, "_, new = Mark.objects.get_or_create(key=pk)\nif not new:\n    return\npay()")
    assert guard is not None
    assert guard.by is not None
    assert guard.by.kind == "get-or-insert"
    assert guard.key is not None
    assert guard.key.columns == ("key",)
    assert guard.test is not None
    assert guard.test != guard.by.site


def test_the_guard_of_one_arm_is_not_that_of_the_other(tmp_path: Path) -> None:
    body = "_, new = Mark.objects.get_or_create(key=pk)\nif new:\n    print(pk)\nelse:\n    pay()"
    assert strength(tmp_path, body) is None


def test_two_effects_behind_one_state_are_both_guarded_by_it(tmp_path: Path) -> None:
    body = "order = Order.objects.get(pk=pk)\nif order.sent:\n    return\npay()\npay()\norder.sent = True\norder.save()"
    found = walked(tmp_path, body)
    guards = Guards(found.run(), found.program.models)
    best = [guards.best(effect) for effect in found.effects("external")]
    assert [guard.strength for guard in best if guard is not None] == [Strength.STATE, Strength.STATE]
