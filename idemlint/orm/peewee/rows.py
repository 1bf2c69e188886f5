"""Methods of models, of queries and other statements, and of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from idemlint.orm.arguments import Pairs, argument, is_true, named, positional, spread, strings
from idemlint.orm.conditions import Where, dict_pairs, models_of, stored
from idemlint.orm.peewee.words import DELETE, INSERT, SELECT, UPDATE
from idemlint.orm.terms import Outcome, Resolve
from idemlint.program import (
    ClassType,
    ColumnType,
    DataOperation,
    InstanceType,
    Model,
    RecordType,
    RowsType,
    SeveralType,
    Type,
)
from idemlint.syntax import facts as f

Method = Callable[[str, f.Call, Model, Resolve], Outcome | None]


def operation(
    receiver: Type, method: str, call: f.Call, model: Model, resolve: Resolve | None = None
) -> Outcome | None:
    """What `receiver.method(...)` does, where the receiver is a model, a statement or one row; None for a method that
    is none of the layer's."""
    known = resolve or _unresolved
    if isinstance(receiver, ClassType):
        return _MODEL[method](method, call, model, known) if method in _MODEL else None
    if isinstance(receiver, InstanceType):
        return _ROW[method](method, call, model, known) if method in _ROW else None
    if isinstance(receiver, RowsType):
        stage = receiver.stage or SELECT
        name = method.removeprefix("aio_")
        if stage == SELECT:
            found = _QUERY[name](name, call, model, known) if name in _QUERY else None
            return _hanging(found, receiver, call, model) if found is not None and receiver.through else found
        return _on_statement(stage, name, call, model, known)
    return None


def _unresolved(_: f.Expr) -> Type | None:
    return None


def construct(model: Model, call: f.Call) -> DataOperation:
    """`Model(a=1)`: an instance made and not stored."""
    values, complete = named(call)
    return DataOperation("new", model.name, values=values, opaque=not (complete and not positional(call)))


def item(rows: RowsType) -> Type | None:
    """What a loop over a query gives."""
    return None if rows.values else InstanceType(rows.model)


def _query(model: Model, values: bool = False) -> RowsType:
    return RowsType(model.name, stage=SELECT, values=values)


def _hanging(found: Outcome, rows: RowsType, call: f.Call, model: Model) -> Outcome:
    """What is asked of `user.orders`: the row that they hang off is a condition too."""
    done, result = found
    base = call.function.base if isinstance(call.function, f.Attribute) else None
    fields = (field for field in model.fields if field.kind == "relation" and field.related == rows.through)
    field = next(fields, None)
    if field is None or not isinstance(base, f.Attribute):
        return replace(done, opaque=True), result
    return replace(done, lookup=((field.name, base.base), *done.lookup)), result


def _conditions(call: f.Call, model: Model, resolve: Resolve) -> tuple[Pairs, bool]:
    pairs, complete = Where(resolve, models_of(model)).all(call)
    filters, known = named(call)
    return pairs + filters, complete and known


# --- models and queries


def _narrowed(method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    pairs, complete = _conditions(call, model, resolve)
    return DataOperation("narrow", model.name, pairs, opaque=not complete), _query(model)


def _selected(method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    columns = [resolve(part) for part in positional(call)]
    plain = bool(columns) and all(isinstance(column, ColumnType) for column in columns)
    return DataOperation("narrow", model.name), _query(model, plain and method == "values")


def _same(method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    return DataOperation("narrow", model.name, opaque=method in _MIXED), _query(model, method in _PLAIN)


def _locked(method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    return DataOperation("lock", model.name), _query(model)


def _one(kind: str) -> Method:
    def read(method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
        pairs, complete = _conditions(call, model, resolve)
        return DataOperation(kind, model.name, pairs, opaque=not complete), InstanceType(model.name)

    return read


def _by_id(method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    key = argument(call, 0, "pk")
    pairs: Pairs = (("pk", key),) if key is not None else ()
    return DataOperation("get", model.name, pairs, opaque=key is None), InstanceType(model.name)


def _exists(method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    return DataOperation("exists", model.name), None


def _read(method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    return DataOperation("read", model.name), None


def _raw(method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    return DataOperation("read", model.name, opaque=True), SeveralType(InstanceType(model.name))


# --- what stores


def _create(method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    values, complete = named(call)
    return DataOperation("insert", model.name, values=values, opaque=not complete), InstanceType(model.name)


def _get_or_create(method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    pairs, complete = named(call, ("defaults",))
    given = argument(call, None, "defaults")
    values, known = dict_pairs(given, resolve) if given is not None else ((), True)
    done = DataOperation("get-or-insert", model.name, pairs, values, opaque=not (complete and known))
    return done, RecordType((InstanceType(model.name), None))


def _bulk_create(method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    return DataOperation("insert-many", model.name, objects=argument(call, 0, "model_list")), None


def _bulk_update(method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    given = argument(call, 1, "fields")
    fields = _column_names(given, resolve)
    objects = argument(call, 0, "model_list")
    return DataOperation("update-many", model.name, objects=objects, fields=fields, opaque=fields is None), None


def _column_names(given: f.Expr | None, resolve: Resolve) -> tuple[str, ...] | None:
    """`["status"]` or `[Order.status]`; None if one cannot be read."""
    if not isinstance(given, f.Display):
        return strings(given)
    found: list[str] = []
    for part in given.items:
        column = resolve(part) if isinstance(part, f.Attribute) else None
        name = column.column if isinstance(column, ColumnType) else None
        if name is None and isinstance(part, f.Constant) and isinstance(part.value, str):
            name = part.value
        if name is None:
            return None
        found.append(name)
    return tuple(found)


def _set_by_id(method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    key, given = argument(call, 0, "key"), argument(call, 1, "value")
    values, known = dict_pairs(given, resolve) if given is not None else ((), False)
    lookup: Pairs = (("pk", key),) if key is not None else ()
    return DataOperation("update", model.name, lookup, values, opaque=not known), None


def _delete_by_id(method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    key = argument(call, 0, "pk")
    return DataOperation("delete", model.name, (("pk", key),) if key is not None else ()), None


def _begun(method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    """`Order.update(...)`, `Order.insert(...)`, `Order.delete()`: a statement that nothing has run yet."""
    verb = {"replace": INSERT, "replace_many": INSERT, "insert_many": INSERT, "insert_from": INSERT}.get(method, method)
    conflict = "update" if method.startswith("replace") else ""
    statement = RowsType(model.name, stage=verb, values=True)
    if method == "insert_from":
        return DataOperation("build", model.name, verb=verb, opaque=True, form="many"), statement
    if method.endswith("_many"):
        rows = argument(call, 0, "rows")
        return DataOperation("build", model.name, verb=verb, objects=rows, form="many", conflict=conflict), statement
    pairs, rest, complete = stored(call, resolve) if method != DELETE else ((), None, True)
    done = DataOperation(
        "build", model.name, values=pairs, objects=rest, opaque=not complete, verb=verb, conflict=conflict
    )
    return done, statement


def _on_statement(stage: str, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome | None:
    statement = RowsType(model.name, stage=stage, values=True)
    if method in ("execute", "aio_execute"):
        return DataOperation("run", model.name, form="count"), None
    if method == "where" and stage in (UPDATE, DELETE):
        pairs, complete = _conditions(call, model, resolve)
        return DataOperation("narrow", model.name, pairs, opaque=not complete), statement
    if method in ("on_conflict_ignore", "on_conflict_replace"):
        conflict = "ignore" if method.endswith("ignore") else "update"
        return DataOperation("build", model.name, conflict=conflict), statement
    if method == "on_conflict":
        return _on_conflict(call, model, resolve), statement
    return (DataOperation("build", model.name), statement) if method in _OF_STATEMENTS else None


def _on_conflict(call: f.Call, model: Model, resolve: Resolve) -> DataOperation:
    action = argument(call, 0, "action")
    written = argument(call, 1, "update")
    ignores = isinstance(action, f.Constant) and str(action.value).casefold() == "ignore"
    updates, _ = dict_pairs(written, resolve) if written is not None else ((), True)
    columns = _column_names(argument(call, 4, "conflict_target"), resolve) or ()
    return DataOperation(
        "build", model.name, updates=updates, conflict="ignore" if ignores else "update", conflict_on=columns
    )


# --- rows


def _save(method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    only = argument(call, 1, "only")
    fields = _column_names(only, resolve) if only is not None else None
    force = "insert" if is_true(argument(call, 0, "force_insert")) else ""
    known = (only is None or fields is not None) and not spread(call)
    return DataOperation("save", model.name, objects=_base(call), fields=fields, opaque=not known, force=force), None


def _remove(method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    return DataOperation("delete", model.name, objects=_base(call)), None


def _base(call: f.Call) -> f.Expr | None:
    return call.function.base if isinstance(call.function, f.Attribute) else None


_MIXED = frozenset({"orwhere", "union", "union_all", "intersect", "except_"})
_PLAIN = frozenset({"dicts", "tuples", "namedtuples"})
_SAME = """join left_outer_join join_from switch order_by order_by_extend group_by having distinct limit offset paginate
    alias columns from_ with_cte windows dicts tuples namedtuples objects iterator execute prefetch orwhere union
    union_all intersect except_ clone""".split()
_OF_STATEMENTS = frozenset(
    {"returning", "from_", "where", "as_rowcount", "on_conflict_where", "tuples", "dicts", "objects"}
)

_QUERY: dict[str, Method] = {
    **dict.fromkeys(_SAME, _same),
    "where": _narrowed,
    "filter": _narrowed,
    "select": _selected,
    "for_update": _locked,
    "get": _one("get"),
    "get_or_none": _one("first"),
    "first": lambda method, call, model, resolve: (DataOperation("first", model.name), InstanceType(model.name)),
    "peek": lambda method, call, model, resolve: (DataOperation("first", model.name), InstanceType(model.name)),
    "exists": _exists,
    **dict.fromkeys(("count", "scalar", "scalars", "len"), _read),
}
_MODEL: dict[str, Method] = {
    "select": _selected,
    "filter": _narrowed,
    "raw": _raw,
    "get": _one("get"),
    "get_or_none": _one("first"),
    "get_by_id": _by_id,
    "create": _create,
    "get_or_create": _get_or_create,
    "bulk_create": _bulk_create,
    "bulk_update": _bulk_update,
    "set_by_id": _set_by_id,
    "delete_by_id": _delete_by_id,
    **dict.fromkeys(("insert", "insert_many", "insert_from", "replace", "replace_many", "update", "delete"), _begun),
}
_MODEL |= {f"aio_{name}": _MODEL[name] for name in ("get", "get_or_none", "create", "get_or_create")}
_ROW: dict[str, Method] = {
    "save": _save,
    "aio_save": _save,
    "delete_instance": _remove,
    "aio_delete_instance": _remove,
}
