"""Data layers: what each says of its models and of the calls on them, in the words of `program`."""

from idemlint.orm import django
from idemlint.orm.layer import Layer, Reception
from idemlint.program import Model

LAYERS: tuple[Layer, ...] = (django,)

__all__ = ["LAYERS", "Layer", "Reception", "library_model"]


def library_model(path: str) -> Model | None:
    """The model that the library class at `path` is, in whichever layer."""
    return next((model for layer in LAYERS if (model := layer.library_model(path)) is not None), None)
