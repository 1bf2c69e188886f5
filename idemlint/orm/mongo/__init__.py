"""MongoDB through pymongo and motor: a collection is a model, its documents are rows."""

from idemlint.orm.layer import Layer
from idemlint.orm.mongo.collections import annotated_rows, item, library_model, operation, rows_attribute, shortcut
from idemlint.orm.mongo.keys import outside_key
from idemlint.orm.mongo.remedies import REMEDIES
from idemlint.orm.mongo.words import NAME

MONGO = Layer(
    name=NAME,
    remedies=REMEDIES,
    library_model=library_model,
    outside_key=outside_key,
    rows_attribute=rows_attribute,
    item=item,
    annotated_rows=annotated_rows,
    operation=operation,
    shortcut=shortcut,
)
