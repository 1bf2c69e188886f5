"""Data layers: what each says of its models and of the calls on them, in the words of `program`."""

from idemlint.orm.django import DJANGO
from idemlint.orm.layer import Layer
from idemlint.orm.mongo import MONGO
from idemlint.orm.mongo.collections import batched, is_unnamed, member
from idemlint.orm.mongo.documents import changes, selected
from idemlint.orm.mongo.keys import INDEXES, expires, outside_key
from idemlint.orm.mongo.words import LIBRARIES
from idemlint.orm.mongoengine import MONGOENGINE
from idemlint.orm.peewee import PEEWEE
from idemlint.orm.sqlalchemy import SQLALCHEMY
from idemlint.orm.terms import Reception
from idemlint.orm.tortoise import TORTOISE
from idemlint.program import Model

LAYERS: tuple[Layer, ...] = (DJANGO, SQLALCHEMY, MONGO, MONGOENGINE, PEEWEE, TORTOISE)

__all__ = [
    "INDEXES",
    "LAYERS",
    "Layer",
    "Reception",
    "batched",
    "changes",
    "expires",
    "holds_tables",
    "is_unnamed",
    "library_model",
    "member",
    "outside_key",
    "remedy",
    "selected",
    "unit_of_work",
]

# For tables that no layer speaks of.
_REMEDIES = {
    "count": "SET {column} = {column} + ...",
    "lock": "SELECT ... FOR UPDATE",
    "insert-once": "ON CONFLICT DO NOTHING",
    "savepoint": "SAVEPOINT",
    "unique": "a unique constraint to {model} over ({columns})",
    "found-twice": "an error",
}


def holds_tables(path: str) -> bool:
    """Whether attributes and items of objects of the library that a path begins with may be tables."""
    return path.partition(".")[0] in LIBRARIES


def library_model(path: str) -> Model | None:
    """The model that the library class at `path` is, in whichever layer."""
    return next((model for layer in LAYERS if (model := layer.library_model(path)) is not None), None)


def unit_of_work(layer: str) -> bool:
    """Whether the sessions of a layer store what becomes of the rows they loaded."""
    return any(each.unit_of_work for each in LAYERS if layer == each.name)


def remedy(layer: str, name: str, **words: str) -> str:
    """What a layer offers against a fault: to "count" in the database, "lock" rows, "insert-once", a "savepoint", a
    "unique" key; "found-twice" is what it raises where one row was looked for. `words` fill in model and columns."""
    known = next((each.remedies for each in LAYERS if layer == each.name), _REMEDIES)
    return known[name].format(**words)
