"""What attributes of rows are, and where relations lead."""

from __future__ import annotations

from collections.abc import Iterable

from idemlint.orm.classes import settle
from idemlint.orm.terms import Related
from idemlint.program import Field, InstanceType, Model, RowsType, Type


def attribute(model: Model, name: str, related: Related) -> Type | None:
    """What `order.name` is for a row: a row or rows at the other end of a relation, None for a column."""
    field = next((field for field in model.fields if field.name == name), None)
    if field is not None and field.target is not None and ":" in field.target:
        return RowsType(field.target, through=name) if field.kind == "relation-many" else InstanceType(field.target)
    for owner in (model.name, *model.bases):
        found = related.get((owner, name))
        if found is not None:
            return InstanceType(found[0]) if found[1] else RowsType(found[0], through=name)
    return None


def related_names(models: Iterable[Model]) -> dict[tuple[str, str], tuple[str, bool]]:
    """(model id, attribute) -> (id of the model at the other end, whether that is one row)."""
    known = settle({model.name: model for model in models})
    found: dict[tuple[str, str], tuple[str, bool]] = {}
    for model in known.values():
        for field in model.fields:
            if field.target in known and field.target is not None:
                found[model.name, field.name] = (field.target, field.kind == "relation")
                found.setdefault((field.target, way_back(model, field)), (model.name, is_single(model, field)))
    return found


def way_back(model: Model, field: Field) -> str:
    """The name of the attribute that leads from the other end of a relation back to these rows."""
    return field.related or f"{model.title.lower()}{'' if is_single(model, field) else 's'}"


def is_single(model: Model, field: Field) -> bool:
    """Whether a relation leads back to one row at most."""
    return field.kind != "relation-many" and any(key.columns == (field.name,) for key in model.unique)


def library_method(model: Model, method: str) -> str | None:
    """The dotted path of a method that does nothing to the data; None for any other."""
    known = ("clone", "describe", "check", "fetch_related", "fetch_for_list", "register_listener")
    return f"tortoise.Model.{method}" if method in known else None
