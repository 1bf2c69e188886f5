"""MongoDB as a data layer: small tasks over collections, and what is said of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from linting import findings

from idemlint.orm.mongo import MONGO
from idemlint.orm.mongo.collections import member
from idemlint.program import InstanceType, LibraryInstance, RowsType

HEAD = """\
import os, requests, stripe
from celery import shared_task
from flask_pymongo import PyMongo
from motor.motor_asyncio import AsyncIOMotorClient, AsyncIOMotorDatabase
from pymongo import ASCENDING, IndexModel, MongoClient, ReturnDocument, UpdateOne
from pymongo.collection import Collection
from pymongo.errors import DuplicateKeyError

client = MongoClient("mongodb://db")
db = client.shop
orders = db["orders"]
flask = PyMongo()
motor = AsyncIOMotorClient(os.environ["MONGO"])[os.environ["DB"]]
ACCOUNTS = "accounts"


def get_db() -> AsyncIOMotorDatabase:
    return AsyncIOMotorClient()["shop"]


def call():
    requests.post("https://api.example.com/mails", json={}).raise_for_status()

"""
APPEND, COUNT, MODIFY = "append-on-replay", "unguarded-increment", "read-modify-write"
CREATE, UPSERT, CHECK = "create-without-unique-key", "get-or-create-without-unique-key", "check-then-create"
DUPLICATE, APART = "unhandled-duplicate", "journal-apart-from-effect"


def said(folder: Path, code: str, *options: str) -> list[str]:
    """The rules that speak of the task in `code`, notes left out."""
    text = HEAD + code.replace("def task(", "@shared_task(acks_late=True)\ndef task(", 1)
    (folder / "app.py").write_text(
        text.replace("async @shared_task(acks_late=True)\n", "@shared_task(acks_late=True)\nasync ")
    )
    return [finding["rule"] for finding in findings(folder, *options)]


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ('db.groups.update_one({"gid": a}, {"$push": {"members": b}})', APPEND),
        ('db.groups.update_one({"members": b}, {"$push": {"members": b}})', APPEND),
        ('db.groups.update_one({"gid": a}, {"$push": {"members": {"$each": [b]}}})', APPEND),
        ('db["groups"].find_one_and_update({"gid": a}, {"$push": {"members": b}})', APPEND),
        ('client["shop"]["groups"].update_many({"gid": a}, {"$push": {"members": b}})', APPEND),
        ('db.audit.groups.update_one({"gid": a}, {"$push": {"members": b}})', APPEND),
        ('db.get_collection("groups").update_one({"gid": a}, {"$push": {"members": b}})', APPEND),
        ('Collection(db, "groups").update_one({"gid": a}, {"$push": {"members": b}})', APPEND),
        ('flask.db.groups.update_one({"gid": a}, {"$push": {"members": b}})', APPEND),
        ('query = {"gid": a}\n    change = {"$push": {"members": b}}\n    db.groups.update_one(query, change)', APPEND),
        ('change = {}\n    change["$push"] = {"members": b}\n    db.groups.update_one({"gid": a}, change)', APPEND),
        ('db.groups.bulk_write([UpdateOne({"gid": g}, {"$push": {"members": b}}) for g in a])', APPEND),
        (
            "todo = []\n    for g in a:\n"
            '        todo.append(UpdateOne({"gid": g}, {"$push": {"members": b}}))\n    db.groups.bulk_write(todo)',
            APPEND,
        ),
        (
            'group = db.groups.find_one({"gid": a})\n    group["members"].append(b)\n'
            '    db.groups.update_one({"gid": a}, {"$set": {"members": group["members"]}})',
            APPEND,
        ),
        ('db.accounts.update_one({"_id": a}, {"$inc": {"balance": b}})', COUNT),
        ('db[ACCOUNTS].update_one({"_id": a}, {"$inc": {"balance": b}})', COUNT),
        ('db.accounts.update_one({"_id": a}, {"$inc": {"balance": b}}, upsert=True)', COUNT),
        ('db.accounts.update_one({"_id": a}, {"$inc": {f"balance.{b}": 1}})', COUNT),
        ('db.accounts.update_one({"_id": a}, {"$mul": {"price": 2}})', COUNT),
        ('db.accounts.update_one({"_id": a}, [{"$set": {"balance": {"$add": ["$balance", b]}}}])', COUNT),
        ('db.accounts.update_one({"_id": a, "balance": {"$gte": b}}, {"$inc": {"balance": b}})', COUNT),
        (
            'account = db.accounts.find_one({"_id": a})\n'
            '    db.accounts.update_one({"_id": a}, {"$set": {"balance": account["balance"] + b}})',
            MODIFY,
        ),
        (
            'account = db.accounts.find_one({"_id": a})\n'
            '    db.accounts.update_one({"_id": a}, {"$set": {"balance": account.get("balance", 0) + b}})',
            MODIFY,
        ),
        (
            'account = db.accounts.find_one({"_id": a})\n    account["balance"] += b\n'
            '    db.accounts.replace_one({"_id": a}, account)',
            MODIFY,
        ),
        (
            'db.groups.update_one({"gid": a, "members": {"$ne": b}}, {"$push": {"members": b}}, upsert=True)',
            UPSERT,
        ),
        ('db.jobs.update_one({"gid": a, "state": "new"}, {"$set": {"state": "done"}}, upsert=True)', UPSERT),
        (
            'order = orders.find_one({"_id": a})\n    if order["mailed"]:\n        return\n    call()\n'
            '    orders.update_one({"_id": a}, {"$set": {"mailed": True}})',
            "unkeyed-external-call",
        ),
        (
            'for order in orders.find({"state": "new"}).sort("at"):\n'
            '        db.accounts.update_one({"_id": order["account"]}, {"$inc": {"balance": order["sum"]}})',
            COUNT,
        ),
        (
            "found = orders.insert_one({})\n"
            '    requests.post("https://x.test", headers={"Idempotency-Key": str(found.inserted_id)}).json()',
            "unstable-idempotency-key",
        ),
        (
            "try:\n        db.events.insert_one({'_id': b})\n    except DuplicateKeyError:\n        return\n"
            '    db.accounts.update_one({"_id": a}, {"$inc": {"balance": 1}})',
            APART,
        ),
    ],
)
def test_hazard_is_found(body: str, rule: str, tmp_path: Path) -> None:
    assert said(tmp_path, f"def task(a, b):\n    {body}\n", "--min-severity", "warning") == [rule]


@pytest.mark.parametrize(
    "body",
    [
        'orders.update_one({"_id": a}, {"$set": {"state": "paid"}, "$addToSet": {"tags": b}, "$max": {"top": 3}})',
        'orders.update_one({"_id": a}, {"$pull": {"tags": b}, "$unset": {"draft": ""}})',
        'orders.replace_one({"_id": a}, {"state": b}, upsert=True)',
        'orders.delete_many({"state": a})',
        'db.pages.update_one({"_id": a}, {"$inc": {"views": 1}})',
        'db.groups.update_one({"gid": a, "members": {"$ne": b}}, {"$push": {"members": b}, "$inc": {"size": 1}})',
        'db.groups.update_one({"gid": a, "members": {"$nin": [b]}}, {"$push": {"members": b}, "$inc": {"size": 1}})',
        'db.groups.update_one({"gid": a, "members": b}, {"$pull": {"members": b}, "$inc": {"size": -1}})',
        'db.groups.update_one({"gid": a, "members.id": {"$ne": b}}, {"$push": {"members": {"id": b, "n": 1}}})',
        'db.accounts.update_one({"_id": a, "done": {"$ne": b}}, {"$addToSet": {"done": b}, "$inc": {"balance": 1}})',
        'db.accounts.update_one({"_id": a, "state": "new"}, {"$set": {"state": "done"}, "$inc": {"balance": b}})',
        'db.accounts.update_one({"_id": a, "version": b}, {"$inc": {"version": 1, "balance": 5}})',
        'db.accounts.update_one({"_id": a, f"x.{b}": {"$exists": False}}, {"$set": {f"x.{b}": 1}, "$inc": {"sum": 1}})',
        # What the filter says is not known: it may ask for what the update changes.
        'db.accounts.update_one(made_elsewhere(a), {"$inc": {"balance": b}})',
        'db.accounts.update_one({"_id": a, **b}, {"$inc": {"balance": 1}})',
        'db.accounts.update_one({"_id": a, "$or": b}, {"$inc": {"balance": 1}})',
        'db.accounts.update_one({"_id": a}, {b: {"balance": 1}})',
        'total = sum(line["price"] for line in db.lines.find({"order": a}))\n'
        '    orders.update_one({"_id": a}, {"$set": {"balance": total}})',
        'account = db.accounts.find_one({"_id": a})\n'
        '    change = {"$set": {"balance": account["balance"] + b}}\n'
        '    db.accounts.update_one({"_id": a, "balance": account["balance"]}, change)',
        'found = orders.update_one({"_id": a, "mailed": False}, {"$set": {"mailed": True}})\n'
        "    if found.modified_count == 0:\n        return\n    call()",
        'order = orders.find_one_and_update({"_id": a, "mailed": {"$ne": True}}, {"$set": {"mailed": True}})\n'
        "    if order is None:\n        return\n    call()",
        'found = db.events.update_one({"_id": a}, {"$setOnInsert": {"at": 1}}, upsert=True)\n'
        "    if found.upserted_id is None:\n        return\n    call()",
        'found = db.events.update_one({"_id": a}, {"$setOnInsert": {"at": 1}}, upsert=True)\n'
        "    if found.matched_count:\n        return\n    call()",
        'if db.todo.find_one_and_delete({"_id": a}) is None:\n        return\n    call()',
        'if db.todo.delete_one({"_id": a}).deleted_count:\n        call()',
        'try:\n        db.events.insert_one({"_id": a})\n    except DuplicateKeyError:\n        return\n    call()',
        'if orders.find_one({"_id": a}):\n        return\n    orders.insert_one({"_id": a, "b": b})',
        # No index is seen, so nobody knows which keys are unique.
        'db.notes.insert_one({"order": a})',
        'db.notes.update_one({"order": a}, {"$set": {"order": a, "b": b}}, upsert=True)',
        "with client.start_session() as session, session.start_transaction():\n"
        '        if db.events.find_one({"_id": b}, session=session):\n            return\n'
        '        db.events.insert_one({"_id": b}, session=session)\n'
        '        db.accounts.update_one({"_id": a}, {"$inc": {"balance": 1}}, session=session)',
    ],
)
def test_what_may_be_repeated_is_left_in_peace(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, f"def task(a, b):\n    {body}\n", "--min-severity", "warning") == []


INSERT = 'db.notes.insert_one({"order": a})'
CAUGHT = f"try:\n        {INSERT}\n    except DuplicateKeyError:\n        pass"
WRITE = 'db.notes.update_one({"order": a}, {"$set": {"b": 1}}, upsert=True)'


@pytest.mark.parametrize(
    ("body", "schema", "rules"),
    [
        (INSERT, 'db.notes.create_index("at")', [CREATE]),
        (INSERT, 'def setup():\n    db.notes.create_index([("order", ASCENDING)])', [CREATE]),
        (CAUGHT, 'db.notes.create_index([("order", 1)], unique=True)', []),
        (CAUGHT, 'db.notes.create_index({"order": 1}, unique=True)', []),
        (
            CAUGHT,
            'class Base:\n    def setup(self):\n        db.notes.create_index("order", unique=True, sparse=True)',
            [],
        ),
        (CAUGHT, 'db.notes.create_indexes([IndexModel("at"), IndexModel([("order", 1)], unique=True)])', []),
        (CAUGHT, 'KEYS = [IndexModel("order", unique=True)]\ndb.notes.create_indexes(KEYS)', []),
        (CAUGHT, 'db.notes.create_index("at", unique=True)', [CREATE]),
        (WRITE, 'db.notes.create_index("at")', [UPSERT]),
        (WRITE, 'db.notes.create_index("order", unique=True)', []),
        # Which index there is cannot be told.
        (INSERT, 'db.notes.create_index("at")\ndb.notes.create_index(KEY, unique=True)', []),
        (INSERT, 'db.notes.create_index("at")\ndef setup(name):\n    db[name].create_index("order", unique=True)', []),
        (INSERT, 'db.notes.create_index("at")\ndef setup(some):\n    some.create_index("order", unique=True)', []),
        (
            f'if db.notes.count_documents({{"order": a}}):\n        return\n    {INSERT}',
            'db.notes.create_index("at")',
            [CHECK],
        ),
        (f'if db.notes.find_one({{"order": a}}) is None:\n        {INSERT}', 'db.notes.create_index("at")', [CHECK]),
        (f'db.notes.delete_many({{"order": a}})\n    {INSERT}', 'db.notes.create_index("at")', [CHECK]),
        ('db.notes.insert_many([{"order": each} for each in a])', 'db.notes.create_index("at")', [CREATE]),
        (
            'try:\n        db.notes.insert_many([{"_id": each["id"]} for each in a], ordered=False)\n'
            "    except BulkWriteError:\n        pass",
            "from pymongo.errors import BulkWriteError\ndb.notes.create_index('at')",
            [],
        ),
    ],
)
def test_indexes_are_the_schema(body: str, schema: str, rules: list[str], tmp_path: Path) -> None:
    assert said(tmp_path, f"def task(a):\n    {body}\n\n\n{schema}\n", "--min-severity", "warning") == rules


@pytest.mark.parametrize(
    "code",
    [
        "async def task(a, b):\n    await motor.groups.update_one({'gid': a}, {'$push': {'members': b}})\n",
        "async def task(a, b):\n    groups = get_db()['groups']\n"
        "    await groups.update_one({'gid': a}, {'$push': {'members': b}})\n",
        "def task(a, b):\n    add(db.groups, a, b)\n\n"
        "def add(groups: Collection, a, b):\n    groups.update_one({'gid': a}, {'$push': {'members': b}})\n",
        "class Groups:\n    def __init__(self, groups: Collection):\n        self.groups = groups\n\n"
        "    def add(self, a, b):\n        self.groups.update_one({'gid': a}, {'$push': {'members': b}})\n\n"
        "def task(a, b):\n    Groups(db.groups).add(a, b)\n",
        "class Groups:\n    db: AsyncIOMotorDatabase\n\n    async def add(self, a, b):\n"
        "        await self.db.groups.update_one({'gid': a}, {'$push': {'members': b}})\n\n"
        "async def task(a, b):\n    await Groups().add(a, b)\n",
    ],
)
def test_collections_are_known_by_what_they_come_from(code: str, tmp_path: Path) -> None:
    assert said(tmp_path, code, "--min-severity", "warning") == [APPEND]


@pytest.mark.parametrize(
    "body",
    [
        'orders.insert_one({"_id": a})',
        INSERT + '\n\n\ndb.notes.create_index("order", unique=True)',
    ],
)
def test_a_key_that_refuses_the_second_document(body: str, tmp_path: Path) -> None:
    assert said(tmp_path, f"def task(a):\n    {body}\n", "--min-severity", "note") == [DUPLICATE]


def test_each_change_of_one_update_stands_on_its_line(tmp_path: Path) -> None:
    said(tmp_path, "def task(a, b):\n    db.groups.update_one(\n        {'gid': a},\n        {\n"
        "            '$push': {'members': b},\n            '$inc': {'size': 1},\n        },\n    )\n")  # fmt: skip
    lines = (tmp_path / "app.py").read_text().splitlines()
    found = {finding["rule"]: lines[finding["line"] - 1].strip() for finding in findings(tmp_path)}
    assert found == {APPEND: "'$push': {'members': b},", COUNT: "'$inc': {'size': 1},"}


def test_a_claimed_upsert_tells_what_it_misses(tmp_path: Path) -> None:
    said(tmp_path, "def task(a):\n    db.jobs.update_one({'g': a, 'at': None}, {'$set': {'at': 5}}, upsert=True)\n")
    (finding,) = findings(tmp_path)
    assert finding["message"].startswith(
        "task asks for at and changes it in one upsert: a second delivery does not find"
    )


def test_databases_and_their_collections() -> None:
    assert member("pymongo.MongoClient", "shop") == LibraryInstance("pymongo.Database")
    assert member("pymongo.MongoClient", "start_session") is None
    orders = member("pymongo.Database", "orders")
    assert isinstance(orders, RowsType)
    assert member("pymongo.Database", "command") is None
    assert member("pymongo.Collection", "orders") is None
    model = MONGO.library_model(orders.model.replace(":", "."))
    assert model is not None
    assert (model.title, model.seen, model.open) == ("orders", False, True)
    assert MONGO.item(orders) == InstanceType(model.name)
    assert ("_id",) in {key.columns for key in model.unique}
