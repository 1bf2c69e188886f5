"""MongoEngine as a data layer: its documents, and small tasks over them."""

from __future__ import annotations

from pathlib import Path

import pytest
from linting import findings
from walking import walk

HEAD = """\
import mongoengine as me
from celery import shared_task
from django.core.mail import send_mail
from mongoengine import DynamicDocument, NotUniqueError, Q


class Base(me.Document):
    made_at = me.DateTimeField()
    turn = me.IntField()
    meta = {"abstract": True, "indexes": [{"fields": ["made_at", "-turn"], "unique": True}]}


class Order(Base):
    number = me.StringField(required=True)
    kind = me.StringField(required=True, unique_with=["number", "made_at"])
    slug = me.StringField(unique=True, sparse=True)
    code = me.StringField(unique=True)
    mailed = me.BooleanField(default=False)
    state = me.StringField(default="new")
    points = me.IntField(default=0)
    owner = me.ReferenceField("User")
    meta = {"indexes": ["number", ("kind", "number"), {"fields": ["points"], "unique": False}]}


class User(DynamicDocument):
    email = me.StringField(primary_key=True)


class Event(me.Document):
    order = me.StringField(required=True)
    meta = {"indexes": INDEXES}


class Note(me.Document):
    text = me.StringField(required=True)
    points = me.IntField()


"""
NOTES = {"journal-never-purged", "silent-duplicate", "duplicate-fan-out"}


def said(folder: Path, body: str) -> list[str]:
    """The rules that speak of the task with this body, notes that do not concern the data left out."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    (folder / "app.py").write_text(f"{HEAD}@shared_task(acks_late=True)\ndef task(key, n):\n{lines}", encoding="utf-8")
    found = findings(folder, "--min-severity", "note", "--min-confidence", "low")
    return [finding["rule"] for finding in found if finding["rule"] not in NOTES]


# --- Documents -------------------------------------------------------------------------------------------------------

TASK = """\
@shared_task
def task(key):
    print(Order.objects(number=key).first(), User.objects.first(), Event.objects.first())
"""


def test_unique_keys_come_from_fields_from_indexes_and_from_parents(tmp_path: Path) -> None:
    order = walk(tmp_path, HEAD + TASK).model("Order")
    assert {(key.columns, key.nulls_distinct) for key in order.unique} == {
        (("id",), True),
        (("kind", "number", "made_at"), False),
        (("slug",), True),
        (("code",), False),
        (("made_at", "turn"), False),
    }
    assert order.seen


def test_fields_have_kinds_and_defaults_and_may_be_missing_unless_they_are_required(tmp_path: Path) -> None:
    order = walk(tmp_path, HEAD + TASK).model("Order")
    fields = {field.name: (field.kind, field.null, field.default) for field in order.fields}
    assert fields["number"] == ("text", False, None)
    assert fields["points"] == ("number", True, "constant")
    assert fields["made_at"] == ("time", True, None)
    assert fields["owner"] == ("relation", True, None)


def test_a_dynamic_document_is_open_and_a_primary_key_takes_the_place_of_the_id(tmp_path: Path) -> None:
    user = walk(tmp_path, HEAD + TASK).model("User")
    assert user.open
    assert [(field.name, field.kind) for field in user.fields] == [("email", "id")]
    assert [key.columns for key in user.unique] == [("email",)]


def test_a_document_with_indexes_that_cannot_be_read_is_not_seen(tmp_path: Path) -> None:
    assert not walk(tmp_path, HEAD + TASK).model("Event").seen


# --- What is done with them ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("Note(text=key).save()", "create-without-unique-key"),
        ("note = Note(text=key)\nnote.save()", "create-without-unique-key"),
        ("Note.objects.create(text=key)", "create-without-unique-key"),
        ("Note.objects.insert([Note(text=key), Note(text=key)])", "create-without-unique-key"),
        ("Note.objects.insert(Note(text=key))", "create-without-unique-key"),
        ("if Note.objects(text=key).count() == 0:\n    Note(text=key).save()", "check-then-create"),
        ("if Note.objects.filter(text=key).first() is None:\n    Note(text=key).save()", "check-then-create"),
        ("Note.objects(text=key).update_one(upsert=True, set__points=n)", "get-or-create-without-unique-key"),
        ("Note.objects(text=key).upsert_one(set__points=n)", "get-or-create-without-unique-key"),
        ("Order(code=key, kind='a', number='b').save()", "unhandled-duplicate"),
        ("Order.objects(code=key).update(inc__points=n)", "unguarded-increment"),
        ("Order.objects(code=key).update(dec__points=n)", "unguarded-increment"),
        ("Order.objects(code=key).update_one(inc__points=n)", "unguarded-increment"),
        ("Order.objects.get(code=key).update(inc__points=n)", "unguarded-increment"),
        ("Order.objects.get(code=key).modify(inc__points=n)", "unguarded-increment"),
        ("order = Order.objects.with_id(key)\norder.points += n\norder.save()", "read-modify-write"),
        ("order = Order.objects(code=key).get()\norder.points = order.points + n\norder.save()", "read-modify-write"),
        ("send_mail('a', 'b', 'c', [key])", "unguarded-message"),
        (
            "order = Order.objects.get(code=key)\nif order.mailed:\n    return\nsend_mail('a', 'b', 'c', [key])\n"
            "order.mailed = True\norder.save()",
            "unguarded-message",
        ),
    ],
)
def test_what_a_repeat_does_again_is_said(tmp_path: Path, body: str, rule: str) -> None:
    assert said(tmp_path, body) == [rule]


@pytest.mark.parametrize(
    "body",
    [
        "Event(order=key).save()",
        "Order.objects(code=key).update(set__state='done')",
        "Order.objects(code=key).update(state='done', unset__slug=1)",
        "Order.objects(code=key).update(max__points=n)",
        "Order.objects(code=key, state='new').update(inc__points=n, set__state='paid')",
        "Order.objects(code=key).update_one(upsert=True, set__points=n)",
        "Order.objects(code=key).delete()",
        "Order.objects.get(code=key).delete()",
        "order = Order.objects.get(code=key)\norder.state = 'done'\norder.save()",
        "try:\n    Order(code=key, kind='a', number='b').save()\nexcept NotUniqueError:\n    pass",
        "User(email=key).save()",
        "Note.drop_collection()",
        "for order in Order.objects(code=key).order_by('-points')[:10]:\n    print(order.points, order.owner.email)",
        "print(Order.objects(Q(code=key) | Q(slug=key)).count(), Order.objects.only('code').as_pymongo())",
        "if not Order.objects(code=key, mailed=False).update_one(set__mailed=True):\n    return\n"
        "send_mail('a', 'b', 'c', [key])",
        "order = Order.objects(code=key, mailed=False).modify(set__mailed=True)\nif order is None:\n    return\n"
        "send_mail('a', 'b', 'c', [order.owner.email])",
        "if not Order.objects.get(code=key).modify({'mailed': False}, set__mailed=True):\n    return\n"
        "send_mail('a', 'b', 'c', [key])",
    ],
)
def test_what_a_repeat_leaves_as_it_is_is_not(tmp_path: Path, body: str) -> None:
    assert said(tmp_path, body) == []


def test_a_save_gives_the_document_that_was_saved(tmp_path: Path) -> None:
    assert said(tmp_path, "note = Note(text=key).save()\nnote.points = n\nnote.save()") == ["create-without-unique-key"]
