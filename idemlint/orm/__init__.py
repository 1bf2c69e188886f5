"""Data layers: what each says of its models and of the calls on them, in the words of `program`."""

from idemlint.orm import django, sqlalchemy
from idemlint.orm.layer import Layer, Reception
from idemlint.program import Model

LAYERS: tuple[Layer, ...] = (django, sqlalchemy)

__all__ = ["LAYERS", "Layer", "Reception", "library_model", "remedy", "unit_of_work"]

# For tables that no layer speaks of.
_REMEDIES = {
    "count": "SET {column} = {column} + ...",
    "lock": "SELECT ... FOR UPDATE",
    "insert-once": "ON CONFLICT DO NOTHING",
    "savepoint": "SAVEPOINT",
    "unique": "a unique constraint to {model} over ({columns})",
    "found-twice": "an error",
}


def library_model(path: str) -> Model | None:
    """The model that the library class at `path` is, in whichever layer."""
    return next((model for layer in LAYERS if (model := layer.library_model(path)) is not None), None)


def unit_of_work(layer: str) -> bool:
    """Whether the sessions of a layer store what becomes of the rows they loaded."""
    return any(each.UNIT_OF_WORK for each in LAYERS if layer == each.NAME)


def remedy(layer: str, name: str, **words: str) -> str:
    """What a layer offers against a fault: to "count" in the database, "lock" rows, "insert-once", a "savepoint", a
    "unique" key; "found-twice" is what it raises where one row was looked for. `words` fill in model and columns."""
    known = next((each.REMEDIES for each in LAYERS if layer == each.NAME), _REMEDIES)
    return known[name].format(**words)
