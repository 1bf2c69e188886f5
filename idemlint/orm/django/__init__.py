"""Django's ORM: models and what calls on them do."""

from idemlint.orm.django.calls import construct, operation, rows_attribute, shortcut
from idemlint.orm.django.library import library_method, library_model, model_base
from idemlint.orm.django.managers import managed, manager_parts
from idemlint.orm.django.migrations import MIGRATES, migrated
from idemlint.orm.django.models import read_model
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
from idemlint.orm.django.signals import connection, receiver, sent
from idemlint.orm.django.words import COLUMN_REFERENCES, NAME, RELATIONS, UNSTORED
from idemlint.orm.layer import Layer

DJANGO = Layer(
    name=NAME,
    relations=RELATIONS,
    column_references=COLUMN_REFERENCES,
    unstored=UNSTORED,
    migrates=MIGRATES,
    remedies=REMEDIES,
    model_base=model_base,
    library_model=library_model,
    library_method=library_method,
    read_model=read_model,
    is_user=is_user,
    settle=settle,
    labelled=labelled,
    related_names=related_names,
    static=static,
    attribute=attribute,
    rows_attribute=rows_attribute,
    item=item,
    managed=managed,
    annotated_rows=annotated_rows,
    manager_parts=manager_parts,
    construct=construct,
    operation=operation,
    shortcut=shortcut,
    receiver=receiver,
    connection=connection,
    sent=sent,
    migrated=migrated,
)
