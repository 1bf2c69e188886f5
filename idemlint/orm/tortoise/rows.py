"""Methods of models, of queries and of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from idemlint.orm.arguments import Pairs, argument, entries, is_false, is_true, named, positional, spread, strings
from idemlint.orm.lookups import lookups
from idemlint.orm.terms import Outcome, Resolve
from idemlint.orm.tortoise.relations import way_back
from idemlint.program import (
    ClassType,
    DataOperation,
    InstanceType,
    Model,
    RecordType,
    RowsType,
    SeveralType,
    Type,
)
from idemlint.syntax import facts as f

Method = Callable[[str, f.Call, Model], Outcome]

# How this layer spells operators that every layer has, and what is the opposite of one.
_SPELLED = {"not": "__ne", "isnull": "__isnull", "not_isnull": "__isnull"}
_INVERTED = frozenset({"not_isnull"})
_HIDDEN = frozenset({"not_in"})


def operation(
    receiver: Type, method: str, call: f.Call, model: Model, resolve: Resolve | None = None
) -> Outcome | None:
    """What `receiver.method(...)` does, where the receiver is a model, a query or one row; None for a method that is
    none of the layer's."""
    if isinstance(receiver, InstanceType):
        return _ROW[method](method, call, model) if method in _ROW else None
    if isinstance(receiver, ClassType):
        return _MODEL[method](method, call, model) if method in _MODEL else None
    if isinstance(receiver, RowsType) and receiver.through and method in _LINK:
        return DataOperation("link", model.name, opaque=True), None
    if isinstance(receiver, RowsType) and method in _QUERY:
        found = _QUERY[method](method, call, model)
        return _hanging(found, receiver, call, model) if receiver.through else found
    return None


def construct(model: Model, call: f.Call) -> DataOperation:
    """`Model(a=1)`: an instance made and not stored."""
    values, complete = named(call)
    return DataOperation("new", model.name, values=values, opaque=not complete or bool(positional(call)))


def item(rows: RowsType) -> Type | None:
    """What a loop over a query gives."""
    return None if rows.values else InstanceType(rows.model)


def _hanging(found: Outcome, rows: RowsType, call: f.Call, model: Model) -> Outcome:
    """What is asked of `user.orders`: the row that they hang off is a condition too."""
    done, result = found
    base = call.function.base if isinstance(call.function, f.Attribute) else None
    fields = (field for field in model.fields if field.kind == "relation" and way_back(model, field) == rows.through)
    field = next(fields, None)
    if field is None or not isinstance(base, f.Attribute):
        return replace(done, opaque=True), result
    return replace(done, lookup=((field.name, base.base), *done.lookup)), result


def conditions(call: f.Call, skip: tuple[str, ...] = ()) -> tuple[Pairs, bool]:
    """The pairs that all selected rows fulfil, in the spelling of every layer, and whether nothing else selects."""
    pairs, complete = lookups(call, ("using_db", *skip))
    found: list[tuple[str, f.Expr]] = []
    for written, value in pairs:
        stem, _, operator = written.rpartition("__")
        if operator in _HIDDEN:
            complete = False
        elif operator in _INVERTED:
            if isinstance(value, f.Constant):
                found.append((f"{stem}__isnull", f.Constant(value.at, not value.value)))
            else:
                complete = False
        else:
            found.append((f"{stem}{_SPELLED[operator]}" if operator in _SPELLED else written, value))
    return tuple(found), complete


# --- models and queries


def _narrowed(method: str, call: f.Call, model: Model) -> Outcome:
    pairs, complete = conditions(call)
    excluded = method == "exclude"
    return DataOperation("narrow", model.name, pairs, excluded=excluded, opaque=not complete), RowsType(model.name)


def _same(method: str, call: f.Call, model: Model) -> Outcome:
    return DataOperation("narrow", model.name, opaque=method == "raw"), RowsType(model.name)


def _plain(method: str, call: f.Call, model: Model) -> Outcome:
    return DataOperation("read", model.name), RowsType(model.name, values=True)


def _locked(method: str, call: f.Call, model: Model) -> Outcome:
    return DataOperation("lock", model.name), RowsType(model.name)


def _one(kind: str) -> Method:
    def read(method: str, call: f.Call, model: Model) -> Outcome:
        pairs, complete = conditions(call)
        return DataOperation(kind, model.name, pairs, opaque=not complete), InstanceType(model.name)

    return read


def _exists(method: str, call: f.Call, model: Model) -> Outcome:
    pairs, complete = conditions(call)
    return DataOperation("exists", model.name, pairs, opaque=not complete), None


def _read(method: str, call: f.Call, model: Model) -> Outcome:
    return DataOperation("read", model.name), None


# --- what stores


def _create(method: str, call: f.Call, model: Model) -> Outcome:
    values, complete = named(call, ("using_db",))
    return DataOperation("insert", model.name, values=values, opaque=not complete), InstanceType(model.name)


def _get_or_create(method: str, call: f.Call, model: Model) -> Outcome:
    kind = "get-or-insert" if method == "get_or_create" else "upsert"
    pairs, complete = named(call, ("defaults", "using_db"))
    given = argument(call, 0, "defaults")
    values, known = entries(given) if given is not None and not is_false(given) else ((), True)
    done = DataOperation(kind, model.name, pairs, values, opaque=not (complete and known))
    return done, RecordType((InstanceType(model.name), None))


def _bulk_create(method: str, call: f.Call, model: Model) -> Outcome:
    ignore, update = argument(call, 2, "ignore_conflicts"), argument(call, 3, "update_fields")
    conflict = "ignore" if is_true(ignore) else "update" if not is_false(update) else ""
    done = DataOperation(
        "insert-many",
        model.name,
        objects=argument(call, 0, "objects"),
        conflict=conflict,
        conflict_on=strings(argument(call, 4, "on_conflict")) or (),
        opaque=not (is_true(ignore) or is_false(ignore)),
    )
    return done, SeveralType(InstanceType(model.name))


def _bulk_update(method: str, call: f.Call, model: Model) -> Outcome:
    fields = strings(argument(call, 1, "fields"))
    objects = argument(call, 0, "objects")
    return DataOperation("update-many", model.name, objects=objects, fields=fields, opaque=fields is None), None


def _update(method: str, call: f.Call, model: Model) -> Outcome:
    values, complete = named(call)
    return DataOperation("update", model.name, values=values, opaque=not complete), None


def _delete(method: str, call: f.Call, model: Model) -> Outcome:
    return DataOperation("delete", model.name), None


# --- rows


def _save(method: str, call: f.Call, model: Model) -> Outcome:
    written = argument(call, 1, "update_fields")
    fields = strings(written)
    force = "insert" if is_true(argument(call, 2, "force_create")) else ""
    known = (fields is not None or is_false(written)) and not spread(call)
    return DataOperation("save", model.name, objects=_base(call), fields=fields, opaque=not known, force=force), None


def _remove(method: str, call: f.Call, model: Model) -> Outcome:
    return DataOperation("delete", model.name, objects=_base(call)), None


def _refresh(method: str, call: f.Call, model: Model) -> Outcome:
    return DataOperation("refresh", model.name, objects=_base(call)), None


def _base(call: f.Call) -> f.Expr | None:
    return call.function.base if isinstance(call.function, f.Attribute) else None


_LINK = frozenset({"add", "remove", "clear"})
_SAME = """all order_by limit offset distinct annotate group_by only prefetch_related select_related using_db use_index
    force_index raw""".split()

_QUERY: dict[str, Method] = {
    **dict.fromkeys(_SAME, _same),
    "filter": _narrowed,
    "exclude": _narrowed,
    "values": _plain,
    "values_list": _plain,
    "select_for_update": _locked,
    "get": _one("get"),
    **dict.fromkeys(("get_or_none", "first", "last", "earliest", "latest"), _one("first")),
    "exists": _exists,
    **dict.fromkeys(("count", "explain", "in_bulk"), _read),
    "update": _update,
    "delete": _delete,
}
_MODEL: dict[str, Method] = {
    **{name: method for name, method in _QUERY.items() if name not in ("update", "delete")},
    "create": _create,
    "get_or_create": _get_or_create,
    "update_or_create": _get_or_create,
    "bulk_create": _bulk_create,
    "bulk_update": _bulk_update,
}
_ROW: dict[str, Method] = {
    "save": _save,
    "delete": _remove,
    "refresh_from_db": _refresh,
}
