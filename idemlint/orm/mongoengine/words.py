"""The layer's own words."""

from __future__ import annotations

from collections.abc import Mapping

NAME = "mongoengine"
UNSTORED = frozenset({"_created"})
FILLS = "clean"

RELATIONS = frozenset({"ReferenceField", "LazyReferenceField", "CachedReferenceField"})

_OPEN = frozenset({"DynamicDocument"})
_DOCUMENTS = _OPEN | {"Document"}
_LIBRARIES = frozenset({"mongoengine", "flask_mongoengine"})

KINDS: Mapping[str, str] = {
    "StringField": "text",
    "URLField": "text",
    "EmailField": "text",
    "UUIDField": "text",
    "EnumField": "text",
    "ObjectIdField": "text",
    "IntField": "number",
    "LongField": "number",
    "FloatField": "number",
    "DecimalField": "number",
    "Decimal128Field": "number",
    "SequenceField": "number",
    "BooleanField": "flag",
    "DateTimeField": "time",
    "DateField": "time",
    "ListField": "json",
    "DictField": "json",
    "MapField": "json",
    "DynamicField": "json",
    "EmbeddedDocumentField": "json",
    "EmbeddedDocumentListField": "json",
    "BinaryField": "other",
    "FileField": "other",
    "PointField": "other",
    "ReferenceField": "relation",
    "Field": "other",
}

REMEDIES: Mapping[str, str] = {
    "count": "update(inc__{column}=...)",
    "lock": "modify() with a version in its query",
    "insert-once": "update_one(upsert=True) on a unique key",
    "savepoint": "transaction of its own",
    "unique": 'a unique index over ({columns}) to the "indexes" of {model}\'s meta',
    "found-twice": "MultipleObjectsReturned",
}


def model_base(path: str) -> bool:
    """Whether a class that derives from the library class at `path` is a document with a collection of its own."""
    library, _, word = path.partition(".")
    return library in _LIBRARIES and word.rpartition(".")[2] in _DOCUMENTS


def is_open(path: str) -> bool:
    """Whether the rows of such a class may have fields that nobody declares."""
    return path.rpartition(".")[2] in _OPEN
