"""Peewee: models, queries and the statements that change rows."""

from idemlint.orm.classes import settle
from idemlint.orm.layer import Layer
from idemlint.orm.peewee.models import outside_key, read_model
from idemlint.orm.peewee.relations import attribute, library_method, related_names, static
from idemlint.orm.peewee.rows import construct, item, operation
from idemlint.orm.peewee.words import NAME, RELATIONS, REMEDIES, model_base

PEEWEE = Layer(
    name=NAME,
    relations=RELATIONS,
    remedies=REMEDIES,
    mixins=True,
    model_base=model_base,
    library_method=library_method,
    read_model=read_model,
    outside_key=outside_key,
    settle=settle,
    related_names=related_names,
    static=static,
    attribute=attribute,
    item=item,
    construct=construct,
    operation=operation,
)
