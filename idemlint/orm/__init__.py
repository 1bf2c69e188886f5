"""Data layers: what each says of its models and of the calls on them, in the words of `program`."""

from idemlint.orm import django, sqlalchemy
from idemlint.orm.layer import Layer, Reception
from idemlint.program import Model

LAYERS: tuple[Layer, ...] = (django, sqlalchemy)

__all__ = ["LAYERS", "Layer", "Reception", "library_model", "unit_of_work"]


def library_model(path: str) -> Model | None:
    """The model that the library class at `path` is, in whichever layer."""
    return next((model for layer in LAYERS if (model := layer.library_model(path)) is not None), None)


def unit_of_work(layer: str) -> bool:
    """Whether the sessions of a layer store what becomes of the rows they loaded."""
    return any(each.UNIT_OF_WORK for each in LAYERS if layer == each.NAME)
