"""Methods of managers, querysets and related managers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from idemlint.orm.arguments import Pairs, argument, entries, is_false, is_true, named, positional, spread, strings, text
from idemlint.orm.django.relations import item, way_back
from idemlint.orm.lookups import conditions, lookups
from idemlint.orm.terms import Outcome
from idemlint.program import DataOperation, Field, InstanceType, Model, RecordType, RowsType, SeveralType
from idemlint.syntax import facts as f

Method = Callable[[RowsType, str, f.Call, Model], Outcome | None]

_NARROW = frozenset(
    {
        "alias",
        "all",
        "annotate",
        "db_manager",
        "defer",
        "distinct",
        "fetch_mode",
        "get_queryset",
        "none",
        "only",
        "order_by",
        "prefetch_related",
        "reverse",
        "select_related",
        "using",
    }
)
# Rows of these come from more than the lookups say.
_MIXED = frozenset({"difference", "extra", "intersection", "union"})
_READ = frozenset({"aggregate", "count", "explain", "in_bulk"})
_LISTS = frozenset({"dates", "datetimes"})
_LINK = frozenset({"add", "clear", "remove", "set"})
_CREATE_USER = frozenset({"create_superuser", "create_user"})
_USER_ARGUMENTS = ("username", "email", "password")


def receiver(call: f.Call) -> f.Expr | None:
    """What the method is called on."""
    return call.function.base if isinstance(call.function, f.Attribute) else None


def owner(rows: RowsType, manager: f.Expr | None, model: Model) -> tuple[Pairs, bool]:
    """The condition that a relation adds to what is done through it: (column, the row it hangs off), and whether there
    is none that could not be read. Many-to-many rows are selected by the relation's own name."""
    if rows.through is None:
        return (), True
    if not (isinstance(manager, f.Attribute) and manager.name == rows.through):
        return (), False
    field = _foreign_key(model, rows.through)
    return ((field.name if field else rows.through, manager.base),), True


def _foreign_key(model: Model, through: str) -> Field | None:
    """The column of `model` that leads back to the row a related manager hangs off; None for many-to-many."""
    fields = (field for field in model.fields if field.kind in ("relation", "id"))
    return next((field for field in fields if way_back(model, field) == through), None)


def _selected(
    kind: str, rows: RowsType, call: f.Call, model: Model, pairs: Pairs = (), complete: bool = True
) -> DataOperation:
    relation, known = owner(rows, receiver(call), model)
    return DataOperation(kind, model.name, relation + pairs, opaque=not (complete and known))


def _filter(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    pairs, complete = lookups(call)
    return _selected("narrow", rows, call, model, pairs, complete), replace(rows, through=None)


def _exclude(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    pairs, complete = lookups(call)
    # The relation's own condition is not inverted, so it cannot stand beside the others.
    found = DataOperation("narrow", model.name, pairs, excluded=True, opaque=not complete or rows.through is not None)
    return found, replace(rows, through=None)


def _complex_filter(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    given = positional(call)
    pairs, complete = conditions(given[0]) if given else ((), False)
    return _selected("narrow", rows, call, model, pairs, complete), replace(rows, through=None)


def _narrow(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    return _selected("narrow", rows, call, model, (), method not in _MIXED), replace(rows, through=None)


def _lock(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    return _selected("lock", rows, call, model), replace(rows, through=None)


def _plain_values(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    return _selected("read", rows, call, model), replace(rows, through=None, values=True)


def _get(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    pairs, complete = lookups(call)
    return _selected("get", rows, call, model, pairs, complete), item(rows)


def _one(kind: str) -> Callable[[RowsType, str, f.Call, Model], Outcome]:
    def read(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
        return _selected(kind, rows, call, model), item(rows)

    return read


def _exists(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    row = argument(call, 0, "obj") if method == "contains" else None
    return _selected("exists", rows, call, model, (("pk", row),) if row is not None else ()), None


def _read(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    ids = argument(call, 0, "id_list") if method == "in_bulk" else None
    column = text(argument(call, None, "field_name")) or "pk"
    return _selected("read", rows, call, model, ((f"{column}__in", ids),) if ids is not None else ()), None


def _list(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    return _selected("read", rows, call, model), SeveralType(None)


def _iterator(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    return _selected("read", rows, call, model), SeveralType(item(rows))


def _raw(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    return DataOperation("read", model.name, opaque=True), SeveralType(InstanceType(model.name))


def _inserting_owner(rows: RowsType, call: f.Call, model: Model) -> tuple[Pairs, bool]:
    """The foreign key that a related manager fills in by itself; a many-to-many relation fills in none."""
    if rows.through is None or _foreign_key(model, rows.through) is None:
        return (), True
    return owner(rows, receiver(call), model)


def _create(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    relation, known = _inserting_owner(rows, call, model)
    values, complete = named(call)
    return DataOperation("insert", model.name, values=relation + values, opaque=not (complete and known)), item(rows)


def _create_user(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome | None:
    if model.field("password") is None:
        return None
    values, complete = named(call)
    leading = tuple(zip(_USER_ARGUMENTS, positional(call), strict=False))
    known = complete and not spread(call)
    return DataOperation("insert", model.name, values=leading + values, opaque=not known), item(rows)


def _get_or_create(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    kind = "get-or-insert" if method == "get_or_create" else "upsert"
    relation, known = _inserting_owner(rows, call, model)
    pairs, complete = named(call, ("defaults", "create_defaults"))
    values: dict[str, f.Expr] = {}
    for name in ("create_defaults", "defaults"):
        given = argument(call, 0 if name == "defaults" else None, name)
        if not is_false(given) and given is not None:
            found, all_of_it = entries(given)
            values.update(found)
            complete = complete and all_of_it
    done = DataOperation(kind, model.name, relation + pairs, tuple(values.items()), opaque=not (complete and known))
    return done, RecordType((item(rows), None))


def _bulk_create(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    ignore, update = argument(call, 2, "ignore_conflicts"), argument(call, 3, "update_conflicts")
    conflict = "update" if is_true(update) else "ignore" if is_true(ignore) else ""
    fields, unique = argument(call, 4, "update_fields"), argument(call, 5, "unique_fields")
    known = all(is_true(given) or is_false(given) for given in (ignore, update))
    done = DataOperation(
        "insert-many",
        model.name,
        objects=argument(call, 0, "objs"),
        fields=strings(fields),
        conflict=conflict,
        opaque=not known,
        conflict_on=strings(unique) or (),
    )
    return done, SeveralType(InstanceType(model.name))


def _update(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    values, complete = named(call)
    return replace(_selected("update", rows, call, model, (), complete), values=values), None


def _bulk_update(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    fields = strings(argument(call, 1, "fields"))
    objects = argument(call, 0, "objs")
    return DataOperation("update-many", model.name, objects=objects, fields=fields, opaque=fields is None), None


def _delete(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    return _selected("delete", rows, call, model), None


def _link(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome | None:
    if rows.through is None:
        return None
    given = call.arguments[0].value if call.arguments and call.arguments[0].star != "**" else None
    return replace(_selected("link", rows, call, model), objects=given), None


METHODS: dict[str, Method] = {
    "filter": _filter,
    "exclude": _exclude,
    "complex_filter": _complex_filter,
    **dict.fromkeys(_NARROW | _MIXED, _narrow),
    "select_for_update": _lock,
    "values": _plain_values,
    "values_list": _plain_values,
    "get": _get,
    "get_by_natural_key": _one("get"),
    "get_for_id": _one("get"),
    "get_for_model": _one("get"),
    "get_current": _one("get"),
    "earliest": _one("get"),
    "latest": _one("get"),
    "first": _one("first"),
    "last": _one("first"),
    "exists": _exists,
    "contains": _exists,
    **dict.fromkeys(_READ, _read),
    **dict.fromkeys(_LISTS, _list),
    "iterator": _iterator,
    "raw": _raw,
    "create": _create,
    **dict.fromkeys(_CREATE_USER, _create_user),
    "get_or_create": _get_or_create,
    "update_or_create": _get_or_create,
    "bulk_create": _bulk_create,
    "update": _update,
    "bulk_update": _bulk_update,
    "delete": _delete,
    "_raw_delete": _delete,
    **dict.fromkeys(_LINK, _link),
}
