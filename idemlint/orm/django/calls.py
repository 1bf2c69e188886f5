"""Calls on managers, querysets, related rows and rows, in the words that hold for every data layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from idemlint.orm.arguments import Pairs, argument, entries, is_false, is_true, named, positional, spread, strings
from idemlint.orm.django.lookups import conditions, lookups
from idemlint.orm.django.relations import way_back
from idemlint.orm.django.words import Resolve, library_id
from idemlint.program import (
    ClassType,
    DataOperation,
    Field,
    InstanceType,
    LibraryType,
    Model,
    RecordType,
    RowsType,
    SeveralType,
    Type,
)
from idemlint.syntax import facts as f

Outcome = tuple[DataOperation, Type | None]

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
_ROW_READ = frozenset({"clean", "clean_fields", "full_clean", "validate_constraints", "validate_unique"})

SHORTCUTS = {
    "django.shortcuts.get_object_or_404": "get",
    "django.shortcuts.aget_object_or_404": "get",
    "django.shortcuts.get_list_or_404": "read",
    "django.shortcuts.aget_list_or_404": "read",
}


def operation(receiver: Type, method: str, call: f.Call, model: Model) -> Outcome | None:
    """What `receiver.method(...)` does, where the receiver is rows or one row of `model`, and what the call gives;
    None for a method that is none of Django's data methods. An async twin (`aget`) is what the plain one is."""
    if isinstance(receiver, RowsType):
        if method not in _ROWS and method.startswith("a") and method[1:] in _ROWS:
            method = method[1:]
        return _ROWS[method](receiver, method, call, model) if method in _ROWS else None
    if isinstance(receiver, InstanceType):
        if method not in _ROW and method.startswith("a") and method[1:] in _ROW:
            method = method[1:]
        return _ROW[method](method, call, model) if method in _ROW else None
    return None


def construct(model: Model, call: f.Call) -> DataOperation:
    """`Model(a=1)`: an instance made and not stored."""
    values, complete = named(call)
    given = positional(call)
    fields = tuple(field.name for field in model.fields if field.kind != "relation-many")
    # Positional values follow the columns, which only a schema that was read whole can number.
    leading = tuple(zip(fields, given, strict=False)) if model.seen else ()
    known = complete and not spread(call) and len(leading) == len(given)
    return DataOperation("new", model.name, values=leading + values, opaque=not known)


def shortcut(path: str, call: f.Call, resolve: Resolve) -> Outcome | None:
    """`get_object_or_404(Model, pk=1)` and its kin; the first argument is a model, a manager or a queryset."""
    given = positional(call)
    if path not in SHORTCUTS or not given:
        return None
    source = resolve(given[0])
    name = _model_name(source)
    if name is None:
        return None
    # The first positional argument is no condition.
    lookup, complete = lookups(replace(call, arguments=_without_first(call)))
    row = source.values if isinstance(source, RowsType) else False
    item = None if row else InstanceType(name)
    result = item if SHORTCUTS[path] == "get" else SeveralType(item)
    return DataOperation(SHORTCUTS[path], name, lookup, opaque=not complete), result


def _model_name(source: Type | None) -> str | None:
    if isinstance(source, RowsType):
        return source.model
    if isinstance(source, ClassType):
        return source.name
    return library_id(source.path) if isinstance(source, LibraryType) else None


def _without_first(call: f.Call) -> tuple[f.Argument, ...]:
    first = next(at for at, given in enumerate(call.arguments) if given.name is None and not given.star)
    return call.arguments[:first] + call.arguments[first + 1 :]


# --- Rows ------------------------------------------------------------------------------------------------------------


def _owner(rows: RowsType, call: f.Call, model: Model) -> tuple[Pairs, bool]:
    """The condition that a relation adds to what is done through it: (column, the row it hangs off), and whether there
    is none that could not be read. Many-to-many rows are selected by the relation's own name."""
    if rows.through is None:
        return (), True
    manager = call.function.base if isinstance(call.function, f.Attribute) else None
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
    owner, known = _owner(rows, call, model)
    return DataOperation(kind, model.name, owner + pairs, opaque=not (complete and known))


def _row(rows: RowsType) -> Type | None:
    return None if rows.values else InstanceType(rows.model)


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
    return _selected("get", rows, call, model, pairs, complete), _row(rows)


def _one(kind: str) -> Callable[[RowsType, str, f.Call, Model], Outcome]:
    def read(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
        return _selected(kind, rows, call, model), _row(rows)

    return read


def _exists(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    row = argument(call, 0, "obj") if method == "contains" else None
    return _selected("exists", rows, call, model, (("pk", row),) if row is not None else ()), None


def _read(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    ids = argument(call, 0, "id_list") if method == "in_bulk" else None
    return _selected("read", rows, call, model, (("pk__in", ids),) if ids is not None else ()), None


def _list(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    return _selected("read", rows, call, model), SeveralType(None)


def _iterator(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    return _selected("read", rows, call, model), SeveralType(_row(rows))


def _raw(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    return DataOperation("read", model.name, opaque=True), SeveralType(InstanceType(model.name))


def _inserting_owner(rows: RowsType, call: f.Call, model: Model) -> tuple[Pairs, bool]:
    """The foreign key that a related manager fills in by itself; a many-to-many relation fills in none."""
    if rows.through is None or _foreign_key(model, rows.through) is None:
        return (), True
    return _owner(rows, call, model)


def _create(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    owner, known = _inserting_owner(rows, call, model)
    values, complete = named(call)
    return DataOperation("insert", model.name, values=owner + values, opaque=not (complete and known)), _row(rows)


def _create_user(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome | None:
    if model.field("password") is None:
        return None
    values, complete = named(call)
    leading = tuple(zip(_USER_ARGUMENTS, positional(call), strict=False))
    known = complete and not spread(call)
    return DataOperation("insert", model.name, values=leading + values, opaque=not known), _row(rows)


def _get_or_create(rows: RowsType, method: str, call: f.Call, model: Model) -> Outcome:
    kind = "get-or-insert" if method == "get_or_create" else "upsert"
    owner, known = _inserting_owner(rows, call, model)
    pairs, complete = named(call, ("defaults", "create_defaults"))
    values: dict[str, f.Expr] = {}
    for name in ("create_defaults", "defaults"):
        given = argument(call, 0 if name == "defaults" else None, name)
        if not is_false(given) and given is not None:
            found, all_of_it = entries(given)
            values.update(found)
            complete = complete and all_of_it
    done = DataOperation(kind, model.name, owner + pairs, tuple(values.items()), opaque=not (complete and known))
    return done, RecordType((_row(rows), None))


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


_ROWS: dict[str, Callable[[RowsType, str, f.Call, Model], Outcome | None]] = {
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


# --- One row ---------------------------------------------------------------------------------------------------------


def _base(call: f.Call) -> f.Expr | None:
    return call.function.base if isinstance(call.function, f.Attribute) else None


def _save(method: str, call: f.Call, model: Model) -> Outcome:
    written = argument(call, 3, "update_fields")
    fields = strings(written)
    force = "insert" if not is_false(argument(call, 0, "force_insert")) else ""
    if not force and is_true(argument(call, 1, "force_update")):
        force = "update"
    opaque = fields is None and not is_false(written)
    _, complete = named(call)
    done = DataOperation("save", model.name, objects=_base(call), fields=fields, opaque=opaque or not complete)
    return replace(done, force=force), None


def _refresh(method: str, call: f.Call, model: Model) -> Outcome:
    fields = strings(argument(call, 1, "fields"))
    return DataOperation("refresh", model.name, objects=_base(call), fields=fields), None


def _remove(method: str, call: f.Call, model: Model) -> Outcome:
    return DataOperation("delete", model.name, objects=_base(call)), None


def _check(method: str, call: f.Call, model: Model) -> Outcome:
    return DataOperation("read", model.name, objects=_base(call)), None


_ROW: dict[str, Callable[[str, f.Call, Model], Outcome]] = {
    "save": _save,
    "save_base": _save,
    "delete": _remove,
    "refresh_from_db": _refresh,
    **dict.fromkeys(_ROW_READ, _check),
}
