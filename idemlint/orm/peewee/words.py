"""The layer's own words."""

from __future__ import annotations

from collections.abc import Mapping

NAME = "peewee"

RELATIONS = frozenset({"ForeignKeyField", "ManyToManyField", "DeferredForeignKey"})

_MODELS = frozenset(
    {"peewee.Model", "playhouse.signals.Model", "playhouse.flask_utils.FlaskDB.Model", "peewee_async.AioModel"}
)

# The stages of a `RowsType`: a query, and the statements that change rows.
SELECT, INSERT, UPDATE, DELETE = "select", "insert", "update", "delete"

KINDS: Mapping[str, str] = {
    "CharField": "text",
    "TextField": "text",
    "UUIDField": "text",
    "IPField": "text",
    "SlugField": "text",
    "IntegerField": "number",
    "FloatField": "number",
    "DoubleField": "number",
    "DecimalField": "number",
    "BitField": "number",
    "BooleanField": "flag",
    "DateField": "time",
    "TimeField": "time",
    "TimestampField": "time",
    "TimestampTZField": "time",
    "DateTimeTZField": "time",
    "JSONField": "json",
    "ArrayField": "json",
    "HStoreField": "json",
    "AutoField": "id",
    "IdentityField": "id",
    "PrimaryKeyField": "id",
    "ForeignKeyField": "relation",
    "DeferredForeignKey": "relation",
    "ManyToManyField": "relation-many",
    "Field": "other",
}

REMEDIES: Mapping[str, str] = {
    "count": "update({{{model}.{column}: {model}.{column} + ...}})",
    "lock": "for_update()",
    "insert-once": "on_conflict_ignore()",
    "savepoint": "db.atomic()",
    "unique": "a unique index to {model} over ({columns})",
    "found-twice": "one of the two",
}


def model_base(path: str) -> bool:
    """Whether a class that derives from the library class at `path` is a model."""
    return path in _MODELS
