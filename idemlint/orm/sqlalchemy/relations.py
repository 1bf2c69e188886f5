"""What attributes of models, rows and tables are, and where relations lead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from idemlint.orm.sqlalchemy.words import COLUMNS, NAME, QUERY, RESULT, SCALARS, TABLE
from idemlint.orm.terms import Related
from idemlint.program import ColumnType, Field, InstanceType, LibraryInstance, Model, RecordType, RowsType, Type

_RELATIONS = ("relation", "relation-many")
# What rows of models that are also schemas can do, without a change to the data.
_HARMLESS = frozenset("model_dump model_dump_json dict json copy model_copy as_dict to_dict __eq__ __repr__".split())


def static(model: Model, name: str) -> Type | None:
    """What `Order.name` is: a column or relation as an expression, the table behind the model, a query of it."""
    if any(field.name == name for field in model.fields):
        return ColumnType(model.name, model.column(name))
    if name == "__table__":
        return RowsType(model.name, stage=TABLE, values=True)
    return RowsType(model.name, stage=QUERY, columns=((model.name, ""),)) if name == "query" else None


def attribute(model: Model, name: str, related: Related) -> Type | None:
    """What `order.name` is for a row: rows or a row at the other end of a relation, None for a column."""
    field = next((field for field in model.fields if field.name == name), None)
    if field is None or field.kind not in _RELATIONS or field.target is None or ":" not in field.target:
        for owner in (model.name, *model.bases):
            found = related.get((owner, name))
            if found is not None:
                return InstanceType(found[0]) if found[1] else RowsType(found[0], through=name)
        return None
    return InstanceType(field.target) if field.kind == "relation" else RowsType(field.target, through=name)


def rows_attribute(rows: RowsType, model: Model, name: str) -> Type | None:
    """What `orders.c`, `orders.c.status` and attributes of a result are; None for a method."""
    if rows.stage == COLUMNS:
        return ColumnType(model.name, model.column(name))
    if name in ("c", "columns") and rows.stage not in (RESULT, SCALARS):
        return replace(rows, stage=COLUMNS)
    return LibraryInstance("builtins.int") if name == "rowcount" else None


def item(rows: RowsType) -> Type | None:
    """What a loop over these rows, or an index into them, gives: a row, or a tuple with what was selected."""
    parts = tuple(entity(part) for part in rows.columns)
    if rows.stage == RESULT or len(parts) > 1:
        return RecordType(parts)
    if rows.values:
        return None
    return parts[0] if parts else InstanceType(rows.model)


def entity(part: tuple[str, str]) -> Type | None:
    """A part of a selected row: an instance, None for a plain value."""
    model, column = part
    return InstanceType(model) if model and not column else None


def annotated_rows(path: str, item: Type | None) -> RowsType | None:
    """What `Select[tuple[Order]]` in an annotation is."""
    inner = item.items[0] if isinstance(item, RecordType) and item.items else item
    head, _, word = path.rpartition(".")
    if not head.startswith(NAME) or not isinstance(inner, InstanceType):
        return None
    stage = {"Select": "select", "Query": QUERY, "Result": RESULT, "ScalarResult": SCALARS}.get(word)
    return RowsType(inner.name, stage=stage, columns=((inner.name, ""),)) if stage is not None else None


def settle(models: Mapping[str, Model]) -> dict[str, Model]:
    """The models with every relation that was written as text pointing at the id of its model; a name that several
    models have, or none, becomes None."""
    by_title: dict[str, list[str]] = {}
    for model in models.values():
        by_title.setdefault(model.title, []).append(model.name)
    return {name: replace(model, fields=tuple(_settled(model, by_title))) for name, model in models.items()}


def labelled(label: str, models: Mapping[str, Model], near: str = "") -> str | None:
    """The id of the model with this class name, or this path to it."""
    title = label.rpartition(".")[2]
    named = [name for name, model in models.items() if model.title == title]
    return named[0] if len(named) == 1 else None


def related_names(models: Iterable[Model]) -> dict[tuple[str, str], tuple[str, bool]]:
    """(model id, attribute) -> (id of the model at the other end, whether that is one row), for relations whose target
    was written as text and for the ways back that a `backref` makes."""
    known = settle({model.name: model for model in models})
    found: dict[tuple[str, str], tuple[str, bool]] = {}
    for model in known.values():
        for field in model.fields:
            if field.kind in _RELATIONS and field.target is not None:
                found[model.name, field.name] = (field.target, field.kind == "relation")
                if field.related and field.related != "+" and field.target in known:
                    back = (field.target, field.related)
                    found.setdefault(back, (model.name, field.kind == "relation-many"))
    return found


def way_back(model: Model, through: str) -> Field | None:
    """The relation of `model` that is the other side of the attribute `through` of the rows it leads to."""
    fields = (field for field in model.fields if field.kind == "relation")
    return next((field for field in fields if field.related == through), None)


def _settled(model: Model, by_title: Mapping[str, list[str]]) -> Iterator[Field]:
    for field in model.fields:
        target = field.target
        if target is not None and ":" not in target:
            named = by_title.get(target, [])
            target = named[0] if len(named) == 1 else None
        yield replace(field, target=target)


def library_method(model: Model, method: str) -> str | None:
    """The dotted path of a method that does nothing to the data; None for any other."""
    return f"{NAME}.orm.Mapper.{method}" if method in _HARMLESS else None
