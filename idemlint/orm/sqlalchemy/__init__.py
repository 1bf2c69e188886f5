"""SQLAlchemy, SQLModel and Flask-SQLAlchemy: models, tables, statements and sessions. This package is a `Layer`."""

from idemlint.orm.sqlalchemy.migrations import MIGRATES, migrated
from idemlint.orm.sqlalchemy.models import covers, nullable, outside_key, read_model, table
from idemlint.orm.sqlalchemy.relations import (
    annotated_rows,
    attribute,
    is_user,
    item,
    labelled,
    library_method,
    library_model,
    managed,
    manager_parts,
    related_names,
    rows_attribute,
    settle,
    static,
)
from idemlint.orm.sqlalchemy.remedies import REMEDIES
from idemlint.orm.sqlalchemy.sessions import construct, guess, operation, shortcut
from idemlint.orm.sqlalchemy.signals import connection, receiver, sent
from idemlint.orm.sqlalchemy.words import (
    COLUMN_REFERENCES,
    FILLS,
    MIXINS,
    NAME,
    RELATIONS,
    UNIT_OF_WORK,
    UNSTORED,
    WORDS,
    model_base,
)

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
    "static",
    "table",
]
