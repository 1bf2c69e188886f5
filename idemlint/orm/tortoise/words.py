"""The layer's own words."""

from __future__ import annotations

from collections.abc import Mapping

NAME = "tortoise"
COLUMN_REFERENCES = frozenset({"tortoise.expressions.F"})

RELATIONS = frozenset(
    {"ForeignKeyField", "OneToOneField", "ManyToManyField", "ForeignKeyRelation", "ReverseRelation", "ForeignKey"}
)

_MODELS = frozenset({"tortoise.Model", "tortoise.models.Model"})

KINDS: Mapping[str, str] = {
    "CharField": "text",
    "TextField": "text",
    "UUIDField": "text",
    "CharEnumField": "text",
    "CharEnumFieldInstance": "text",
    "IntField": "number",
    "IntEnumField": "number",
    "FloatField": "number",
    "DecimalField": "number",
    "BooleanField": "flag",
    "DateField": "time",
    "DatetimeField": "time",
    "TimeField": "time",
    "TimeDeltaField": "time",
    "JSONField": "json",
    "ArrayField": "json",
    "BinaryField": "other",
    "ForeignKeyField": "relation",
    "OneToOneField": "relation",
    "ManyToManyField": "relation-many",
    "Field": "other",
}

REMEDIES: Mapping[str, str] = {
    "count": 'update({column}=F("{column}") + ...)',
    "lock": "select_for_update()",
    "insert-once": "get_or_create",
    "savepoint": "in_transaction()",
    "unique": "unique_together to {model} over ({columns})",
    "found-twice": "MultipleObjectsReturned",
}


def model_base(path: str) -> bool:
    """Whether a class that derives from the library class at `path` is a model."""
    return path in _MODELS
