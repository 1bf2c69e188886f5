"""Django's ORM: models and what calls on them do."""

from idemlint.orm.django.calls import construct, operation, shortcut
from idemlint.orm.django.library import library_model, model_base
from idemlint.orm.django.managers import managed, manager_parts
from idemlint.orm.django.models import covers, equal_column, nullable, read_model
from idemlint.orm.django.relations import attribute, item, related_names, settle, static
from idemlint.orm.django.signals import Reception, connection, receiver, sent, signal
from idemlint.orm.django.words import LAYER, LibraryBase, Resolve

__all__ = [
    "LAYER",
    "LibraryBase",
    "Reception",
    "Resolve",
    "attribute",
    "connection",
    "construct",
    "covers",
    "equal_column",
    "item",
    "library_model",
    "managed",
    "manager_parts",
    "model_base",
    "nullable",
    "operation",
    "read_model",
    "receiver",
    "related_names",
    "sent",
    "settle",
    "shortcut",
    "signal",
    "static",
]
