"""Django's ORM: models and what calls on them do. This package is a `Layer`."""

from idemlint.orm.django.calls import construct, guess, operation, outside_key, rows_attribute, shortcut, table
from idemlint.orm.django.library import WORDS, library_method, library_model, model_base
from idemlint.orm.django.managers import managed, manager_parts
from idemlint.orm.django.migrations import MIGRATES, migrated
from idemlint.orm.django.models import covers, equal_column, nullable, read_model
from idemlint.orm.django.relations import (
    annotated_rows,
    attribute,
    is_user,
    item,
    labelled,
    related_names,
    settle,
    static,
)
from idemlint.orm.django.remedies import REMEDIES
from idemlint.orm.django.signals import connection, receiver, sent, signal
from idemlint.orm.django.words import COLUMN_REFERENCES, FILLS, MIXINS, NAME, RELATIONS, UNIT_OF_WORK, UNSTORED

__all__ = [
    "COLUMN_REFERENCES",
    "FILLS",
    "MIGRATES",
    "MIXINS",
    "NAME",
    "RELATIONS",
    "REMEDIES",
    "UNIT_OF_WORK",
    "UNSTORED",
    "WORDS",
    "annotated_rows",
    "attribute",
    "connection",
    "construct",
    "covers",
    "equal_column",
    "guess",
    "is_user",
    "item",
    "labelled",
    "library_method",
    "library_model",
    "managed",
    "manager_parts",
    "migrated",
    "model_base",
    "nullable",
    "operation",
    "outside_key",
    "read_model",
    "receiver",
    "related_names",
    "rows_attribute",
    "sent",
    "settle",
    "shortcut",
    "signal",
    "static",
    "table",
]
