"""What attributes of models and rows are, and where relations lead."""

from __future__ import annotations

from collections.abc import Iterable

from idemlint.orm.classes import settle
from idemlint.orm.peewee.words import SELECT
from idemlint.orm.terms import Related
from idemlint.program import ColumnType, InstanceType, LibraryInstance, LibraryType, Model, RowsType, Type


def static(model: Model, name: str) -> Type | None:
    """What `Order.name` is: a column as an expression; `_meta` leads to the database."""
    if name == "_meta":
        return LibraryInstance("peewee.Metadata")
    if name == "DoesNotExist":
        return LibraryType("peewee.DoesNotExist")
    field = model.field(name)
    return ColumnType(model.name, field.name) if field is not None and field.kind != "relation-many" else None


def attribute(model: Model, name: str, related: Related) -> Type | None:
    """What `order.name` is for a row: a row or rows at the other end of a relation, None for a column."""
    field = next((field for field in model.fields if field.name == name), None)
    if field is not None and field.kind == "relation" and field.target is not None and ":" in field.target:
        return InstanceType(field.target)
    for owner in (model.name, *model.bases):
        found = related.get((owner, name))
        if found is not None:
            return InstanceType(found[0]) if found[1] else RowsType(found[0], through=name, stage=SELECT)
    return None


def related_names(models: Iterable[Model]) -> dict[tuple[str, str], tuple[str, bool]]:
    """(model id, attribute) -> (id of the model at the other end, whether that is one row)."""
    known = settle({model.name: model for model in models})
    found: dict[tuple[str, str], tuple[str, bool]] = {}
    for model in known.values():
        for field in model.fields:
            if field.target in known and field.target is not None:
                found[model.name, field.name] = (field.target, field.kind == "relation")
                if field.related:
                    found.setdefault((field.target, field.related), (model.name, False))
    return found


def library_method(model: Model, method: str) -> str | None:
    """The dotted path of a method that does nothing to the data; None for any other."""
    known = ("is_dirty", "get_id", "dependencies", "clone", "__eq__", "table_exists", "create_table", "dirty_fields")
    return f"peewee.Model.{method}" if method in known else None
