"""Tortoise ORM: models, queries and rows."""

from idemlint.orm.classes import settle
from idemlint.orm.layer import Layer
from idemlint.orm.tortoise.models import read_model
from idemlint.orm.tortoise.relations import attribute, library_method, related_names
from idemlint.orm.tortoise.rows import construct, item, operation
from idemlint.orm.tortoise.words import COLUMN_REFERENCES, NAME, RELATIONS, REMEDIES, model_base

TORTOISE = Layer(
    name=NAME,
    relations=RELATIONS,
    column_references=COLUMN_REFERENCES,
    remedies=REMEDIES,
    mixins=True,
    model_base=model_base,
    library_method=library_method,
    read_model=read_model,
    settle=settle,
    related_names=related_names,
    attribute=attribute,
    item=item,
    construct=construct,
    operation=operation,
)
