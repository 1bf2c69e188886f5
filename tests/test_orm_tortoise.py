"""Tortoise as a data layer: small tasks over its models, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from linting import findings

HEAD = """\
import datetime, uuid, requests
from taskiq_redis import ListQueueBroker
from tortoise import fields
from tortoise.models import Model
from tortoise.expressions import F, Q
from tortoise.transactions import in_transaction, atomic
from tortoise.exceptions import IntegrityError, DoesNotExist

broker = ListQueueBroker("redis://x")

class User(Model):
    id = fields.IntField(pk=True)
    email = fields.CharField(max_length=5, unique=True)
    balance = fields.IntField(default=0)
    views = fields.IntField(default=0)
    status = fields.CharField(max_length=9, default="new")
    mailed_at = fields.DatetimeField(null=True)

class Invoice(Model):
    user = fields.ForeignKeyField("models.User", related_name="invoices")
    period = fields.CharField(max_length=9)
    total = fields.IntField()
    class Meta:
        unique_together = (("user", "period"),)

class Note(Model):
    user = fields.ForeignKeyField("models.User")
    text = fields.TextField()

async def call():
    requests.post("https://api.x.test/mail", json={}).raise_for_status()


"""
NOTES = {"journal-never-purged", "silent-duplicate", "ignored-setting"}


def said(folder: Path, body: str) -> list[str]:
    """The rules that speak of the task in `body`, notes that do not concern the data left out."""
    (folder / "app.py").write_text(HEAD + body)
    found = findings(folder, "--min-severity", "note", "--min-confidence", "low")
    return [finding["rule"] for finding in found if finding["rule"] not in NOTES]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u):
    await Note.create(user_id=u, text="x")
""",
            id="create",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u):
    n = Note(user_id=u, text="x")
    await n.save()
""",
            id="save-new",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(us):
    await Note.bulk_create([Note(user_id=u, text="x") for u in us])
""",
            id="bulk_create",
        ),
    ],
)
def test_create_without_unique_key_is_said(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, body) == ["create-without-unique-key"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(us):
    await Invoice.bulk_create([Invoice(user_id=u, period="x", total=1) for u in us], ignore_conflicts=True)
""",
            id="bulk_ignore",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(us):
    rows = [Invoice(user_id=u, period="x", total=1) for u in us]
    await Invoice.bulk_create(rows, on_conflict=["user_id", "period"], update_fields=["total"])
""",
            id="bulk_on_conflict",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u):
    try:
        await Invoice.create(user_id=u, period="x", total=5)
    except IntegrityError:
        return
    await call()
""",
            id="caught",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u):
    inv, created = await Invoice.get_or_create(user_id=u, period="x", defaults={"total": 5})
    if created:
        await call()
""",
            id="goc-good",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u):
    await Invoice.update_or_create({"total": 5}, user_id=u, period="x")
""",
            id="uoc-good",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u, n):
    await User.filter(id=u).update(views=F("views") + 1)
""",
            id="inc-views",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u, n):
    await User.filter(id=u).update(status="x")
""",
            id="set",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u, n):
    await User.filter(Q(id=u) & Q(status="new")).update(balance=F("balance") + n, status="done")
""",
            id="cond",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u):
    n = await User.filter(id=u, status="new").update(status="done")
    if n == 0:
        return
    await call()
""",
            id="claim",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u):
    if not await User.filter(id=u, status__not="done").update(status="done"):
        return
    await call()
""",
            id="claim-not",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u):
    if not await User.filter(id=u, mailed_at__isnull=True).update(mailed_at=datetime.datetime.now()):
        return
    await call()
""",
            id="claim-null",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u, n):
    async with in_transaction() as c:
        user = await User.select_for_update().get(id=u)
        inv, created = await Invoice.get_or_create(user=user, period="x", defaults={"total": n})
        if not created:
            return
        user.balance += n
        await user.save()
""",
            id="locked-journal",
        ),
    ],
)
def test_nothing_is_said(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, body) == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(us):
    await Invoice.bulk_create([Invoice(user_id=u, period="x", total=1) for u in us])
""",
            id="bulk_unique",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u):
    await Invoice.create(user_id=u, period="x", total=5)
""",
            id="unhandled",
        ),
    ],
)
def test_unhandled_duplicate_is_said(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, body) == ["unhandled-duplicate"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u):
    await Note.get_or_create(user_id=u, defaults={"text": "x"})
""",
            id="goc",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u):
    await Note.update_or_create(user_id=u, defaults={"text": "x"})
""",
            id="uoc",
        ),
    ],
)
def test_get_or_create_without_unique_key_is_said(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, body) == ["get-or-create-without-unique-key"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u, n):
    await User.filter(id=u).update(balance=F("balance") + n)
""",
            id="inc",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u, n):
    async with in_transaction():
        user = await User.filter(id=u).select_for_update().get()
        user.balance += n
        await user.save()
""",
            id="rmw-locked",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u):
    user = await User.get(id=u)
    async for inv in user.invoices.filter(period="x"):
        await User.filter(id=u).update(balance=F("balance") - inv.total)
""",
            id="backref",
        ),
    ],
)
def test_unguarded_increment_is_said(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, body) == ["unguarded-increment"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u, n):
    user = await User.get(id=u)
    user.balance += n
    await user.save(update_fields=["balance"])
""",
            id="rmw",
        ),
    ],
)
def test_read_modify_write_is_said(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, body) == ["read-modify-write"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u):
    async with in_transaction():
        await User.filter(id=u).update(status="x")
        await call()
""",
            id="http",
        ),
        pytest.param(
            """
@atomic()
async def go(u):
    await User.filter(id=u).update(status="x")
    await call()

@broker.task(retry_on_error=True)
async def task(u):
    await go(u)
""",
            id="http-deco",
        ),
    ],
)
def test_external_call_in_transaction_is_said(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, body) == ["external-call-in-transaction"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u):
    if not await Note.filter(user_id=u).exists():
        await Note.create(user_id=u, text="x")
""",
            id="check",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u):
    if await Note.exists(user_id=u):
        return
    await Note.create(user_id=u, text="x")
""",
            id="check2",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u):
    note = await Note.get_or_none(user_id=u)
    if note is None:
        await Note.create(user_id=u, text="x")
""",
            id="check3",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u):
    try:
        await Note.get(user_id=u)
    except DoesNotExist:
        await Note.create(user_id=u, text="x")
""",
            id="check4",
        ),
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u):
    user = await User.get(id=u).prefetch_related("invoices")
    await Note.filter(user=user).delete()
    await Note.create(user=user, text="x")
""",
            id="backref-create",
        ),
    ],
)
def test_check_then_create_is_said(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, body) == ["check-then-create"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
@broker.task(retry_on_error=True)
async def task(u):
    user = await User.get(id=u)
    if user.mailed_at:
        return
    await call()
    user.mailed_at = datetime.datetime.now()
    await user.save()
""",
            id="state",
        ),
    ],
)
def test_unkeyed_external_call_is_said(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, body) == ["unkeyed-external-call"]
