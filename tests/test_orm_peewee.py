"""Peewee as a data layer: small tasks over its models, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from linting import findings

HEAD = """\
import datetime, uuid, requests
from celery import shared_task
from peewee import SQL, CharField, DateTimeField, ForeignKeyField, IntegerField, IntegrityError, Model
from peewee import PostgresqlDatabase

db = PostgresqlDatabase("shop")

class Base(Model):
    class Meta:
        database = db

class User(Base):
    email = CharField(unique=True)
    balance = IntegerField(default=0)
    views = IntegerField(default=0)
    status = CharField(default="new")
    mailed_at = DateTimeField(null=True)

class Invoice(Base):
    user = ForeignKeyField(User, backref="invoices")
    period = CharField()
    total = IntegerField()
    class Meta:
        indexes = ((("user", "period"), True), (("total",), False))

class Note(Base):
    user = ForeignKeyField(User)
    text = CharField()

class Tag(Base):
    name = CharField()
    user = ForeignKeyField(User)
    class Meta:
        constraints = [SQL("UNIQUE (name, user_id)")]

class Slot(Base):
    number = IntegerField()

Slot.add_index(Slot.number, unique=True)

def call():
    requests.post("https://api.x.test/mail", json={}).raise_for_status()


"""
NOTES = {"silent-duplicate", "journal-never-purged"}


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
@shared_task(acks_late=True)
def task(u):
    Note.create(user=u, text="x")
""",
            id="create",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    n = Note(user=u, text="x")
    n.save()
""",
            id="save-new",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    Note.insert(user=u, text="x").execute()
""",
            id="insert",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    Note.insert({Note.user: u, Note.text: "x"}).execute()
""",
            id="insert-dict",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(us):
    Note.insert_many([{"user": u, "text": "x"} for u in us]).execute()
""",
            id="insert_many",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(us):
    Note.bulk_create([Note(user=u, text="x") for u in us])
""",
            id="bulk_create",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    Note.insert(user=u, text="x").on_conflict_ignore().execute()
""",
            id="ignore-plain",
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
@shared_task(acks_late=True)
def task(u):
    q = Note.insert(user=u, text="x")
""",
            id="unexecuted",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    try:
        with db.atomic():
            Invoice.create(user=u, period="x", total=5)
    except IntegrityError:
        return
    call()
""",
            id="create-unique-caught",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    Invoice.insert(user=u, period="x", total=5).on_conflict_ignore().execute()
""",
            id="ignore",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    row = Invoice.insert(user=u, period="x", total=5)
    row.on_conflict(conflict_target=[Invoice.user, Invoice.period], preserve=[Invoice.total]).execute()
""",
            id="conflict-target",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    Invoice.replace(user=u, period="x", total=5).execute()
""",
            id="replace",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    inv, created = Invoice.get_or_create(user=u, period="x", defaults={"total": 5})
    if created:
        call()
""",
            id="goc-good",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    User.update(views=User.views + 1).where(User.id == u).execute()
""",
            id="update-views",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    User.update(status="x").where(User.id == u).execute()
""",
            id="update-const",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u, n):
    User.update(balance=User.balance + n, status="done").where((User.id == u) & (User.status == "new")).execute()
""",
            id="update-cond",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    n = User.update(status="done").where(User.id == u, User.status == "new").execute()
    if not n:
        return
    call()
""",
            id="claim",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    if User.update(mailed_at=datetime.datetime.now()).where(User.id == u, User.mailed_at.is_null()).execute() == 0:
        return
    call()
""",
            id="claim-null",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u, n):
    with db.atomic():
        user = User.select().where(User.id == u).for_update().get()
        inv, created = Invoice.get_or_create(user=user, period="x", defaults={"total": 5})
        if not created:
            return
        user.balance += n
        user.save()
""",
            id="lock-journal",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    Tag.insert(name="x", user=u).on_conflict_ignore().execute()
""",
            id="constraint",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(n):
    Slot.insert(number=n).on_conflict_ignore().execute()
""",
            id="add-index",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    n = Note.get_by_id(u)
    n.delete_instance()
""",
            id="delete_inst",
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
@shared_task(acks_late=True)
def task(u):
    Invoice.create(user=u, period="x", total=5)
""",
            id="create-unique-unhandled",
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
@shared_task(acks_late=True)
def task(u, n):
    User.insert(email=u, balance=n).on_conflict(
        conflict_target=[User.email], update={User.balance: User.balance + n}
    ).execute()
""",
            id="conflict-count",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u, n):
    User.update(balance=User.balance + n).where(User.id == u).execute()
""",
            id="update-expr",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u, n):
    User.update({User.balance: User.balance + n}).where(User.id == u).execute()
""",
            id="update-expr-dict",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u, n):
    with db.atomic():
        user = User.select().where(User.id == u).for_update().get()
        user.balance += n
        user.save()
""",
            id="rmw-lock",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u, n):
    user = User.get(User.id == u)
    user.balance = User.balance + n
    user.save()
""",
            id="expr-save",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    user = User.get_by_id(u)
    for inv in user.invoices:
        User.update(balance=User.balance - inv.total).where(User.id == inv.user_id).execute()
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
@shared_task(acks_late=True)
def task(u):
    Note.get_or_create(user=u, defaults={"text": "x"})
""",
            id="goc",
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
@shared_task(acks_late=True)
def task(u):
    n = User.update(status="done").where(User.id == u).execute()
    if not n:
        return
    call()
""",
            id="noclaim",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    user = User.get_by_id(u)
    if user.status == "done":
        return
    call()
    user.status = "done"
    user.save()
""",
            id="state",
        ),
    ],
)
def test_unkeyed_external_call_is_said(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, body) == ["unkeyed-external-call"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u, n):
    user = User.get_by_id(u)
    user.balance += n
    user.save()
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
@shared_task(acks_late=True)
def task(u):
    with db.atomic():
        user = User.get_by_id(u)
        user.status = "done"
        user.save()
        call()
""",
            id="tx-http",
        ),
        pytest.param(
            """
@db.atomic()
def go(u):
    User.update(status="x").where(User.id == u).execute()
    call()

@shared_task(acks_late=True)
def task(u):
    go(u)
""",
            id="tx-deco",
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
@shared_task(acks_late=True)
def task(u):
    with db.atomic():
        try:
            Invoice.create(user=u, period="x", total=5)
        except IntegrityError:
            pass
        User.update(status="x").where(User.id == u).execute()
""",
            id="integrity",
        ),
    ],
)
def test_integrity_error_in_transaction_is_said(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, body) == ["integrity-error-in-transaction"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    if not Note.select().where(Note.user == u).exists():
        Note.create(user=u, text="x")
""",
            id="check-create",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    if Note.get_or_none(Note.user == u) is None:
        Note.create(user=u, text="x")
""",
            id="check-none",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    try:
        Note.get(Note.user == u)
    except Note.DoesNotExist:
        Note.create(user=u, text="x")
""",
            id="check-dne",
        ),
        pytest.param(
            """
@shared_task(acks_late=True)
def task(u):
    Note.delete().where(Note.user == u).execute()
    Note.create(user=u, text="x")
""",
            id="delete-create",
        ),
    ],
)
def test_check_then_create_is_said(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, body) == ["check-then-create"]
