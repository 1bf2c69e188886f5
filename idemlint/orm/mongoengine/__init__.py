"""MongoEngine: documents, queries and updates."""

from idemlint.orm.classes import settle
from idemlint.orm.layer import Layer
from idemlint.orm.mongoengine.models import read_model
from idemlint.orm.mongoengine.rows import attribute, construct, item, library_method, operation, static
from idemlint.orm.mongoengine.words import FILLS, NAME, RELATIONS, REMEDIES, UNSTORED, model_base

MONGOENGINE = Layer(
    name=NAME,
    relations=RELATIONS,
    unstored=UNSTORED,
    fills=FILLS,
    remedies=REMEDIES,
    mixins=True,
    model_base=model_base,
    library_method=library_method,
    read_model=read_model,
    settle=settle,
    static=static,
    attribute=attribute,
    item=item,
    construct=construct,
    operation=operation,
)
