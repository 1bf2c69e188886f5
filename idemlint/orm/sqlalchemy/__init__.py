"""SQLAlchemy, SQLModel and Flask-SQLAlchemy: models, tables, statements and sessions."""

from idemlint.orm.layer import Layer
from idemlint.orm.sqlalchemy.migrations import MIGRATES, migrated
from idemlint.orm.sqlalchemy.models import outside_key, read_model, table
from idemlint.orm.sqlalchemy.relations import (
    annotated_rows,
    attribute,
    item,
    labelled,
    library_method,
    related_names,
    rows_attribute,
    settle,
    static,
)
from idemlint.orm.sqlalchemy.remedies import REMEDIES
from idemlint.orm.sqlalchemy.sessions import construct, guess, operation, shortcut
from idemlint.orm.sqlalchemy.words import NAME, RELATIONS, model_base

SQLALCHEMY = Layer(
    name=NAME,
    relations=RELATIONS,
    migrates=MIGRATES,
    remedies=REMEDIES,
    unit_of_work=True,
    mixins=True,
    model_base=model_base,
    library_method=library_method,
    read_model=read_model,
    table=table,
    outside_key=outside_key,
    settle=settle,
    labelled=labelled,
    related_names=related_names,
    static=static,
    attribute=attribute,
    rows_attribute=rows_attribute,
    item=item,
    annotated_rows=annotated_rows,
    construct=construct,
    operation=operation,
    shortcut=shortcut,
    guess=guess,
    migrated=migrated,
)
