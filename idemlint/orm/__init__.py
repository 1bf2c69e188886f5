"""Data layers: what each says of its models and of the calls on them, in the words of `program`."""

from idemlint.orm import django, mongo, mongoengine, peewee, sqlalchemy, tortoise
from idemlint.orm.layer import Layer, Reception
from idemlint.orm.mongo import INDEXES, batched, changes, conditions, expires, outside_key
from idemlint.program import Model, Type

LAYERS: tuple[Layer, ...] = (django, sqlalchemy, mongo, mongoengine, peewee, tortoise)

__all__ = [
    "INDEXES",
    "LAYERS",
    "Layer",
    "Reception",
    "batched",
    "changes",
    "conditions",
    "expires",
    "holds_tables",
    "is_unnamed",
    "library_model",
    "member",
    "outside_key",
    "remedy",
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
    return path.partition(".")[0] in mongo.LIBRARIES


def is_unnamed(model: Model) -> bool:
    """Whether a model stands for every table whose name could not be told."""
    return mongo.is_unnamed(model)


def member(path: str, name: str | None) -> Type | None:
    """What the attribute or item `name` of a library's object is, where that is a table or leads to one; `name` is None
    if it cannot be told, and `path` the one that the catalog has for the object's class."""
    return mongo.member(path, name)


def library_model(path: str) -> Model | None:
    """The model that the library class at `path` is, in whichever layer."""
    return next((model for layer in LAYERS if (model := layer.library_model(path)) is not None), None)


def unit_of_work(layer: str) -> bool:
    """Whether the sessions of a layer store what becomes of the rows they loaded."""
    return any(each.UNIT_OF_WORK for each in LAYERS if layer == each.NAME)


def remedy(layer: str, name: str, **words: str) -> str:
    """What a layer offers against a fault: to "count" in the database, "lock" rows, "insert-once", a "savepoint", a
    "unique" key; "found-twice" is what it raises where one row was looked for. `words` fill in model and columns."""
    known = next((each.REMEDIES for each in LAYERS if layer == each.NAME), _REMEDIES)
    return known[name].format(**words)
