"""Methods of documents' classes, of queries and of documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from idemlint.orm.arguments import Pairs, argument, entries, is_false, is_true, named, positional, spread
from idemlint.orm.lookups import lookups
from idemlint.orm.terms import Outcome, Related, Resolve
from idemlint.program import (
    ClassType,
    DataOperation,
    InstanceType,
    LibraryType,
    Model,
    RowsType,
    SeveralType,
    Type,
)
from idemlint.syntax import facts as f

Method = Callable[[f.Call, Model], Outcome]

# What an update is told beside the changes.
_OPTIONS = tuple("upsert multi write_concern read_concern full_result full_response array_filters remove new".split())
_MULTIPLE = "mongoengine.MultipleObjectsReturned"
_CLASS_ATTRIBUTES = {"DoesNotExist": "mongoengine.DoesNotExist", "MultipleObjectsReturned": _MULTIPLE}

# How this layer spells operators that every layer has. The others hide what they select.
_SPELLED = {"exists": "__isnull"}
_HIDDEN = frozenset("nin all size mod type not match elemMatch within near geo_within".split())

# What an operator in front of a column does with its old value; those that are missing replace it.
_STEPS = {
    "inc": "expression",
    "dec": "expression",
    "mul": "expression",
    "push": "append",
    "push_all": "append",
    "add_to_set": "add",
    "pull": "remove",
    "pull_all": "remove",
}
_OPERATORS = frozenset(_STEPS) | {"set", "unset", "set_on_insert", "min", "max", "pop", "rename"}


def static(model: Model, name: str) -> Type | None:
    """`Order.objects`, and the document's own exceptions."""
    if name == "objects":
        return RowsType(model.name)
    return LibraryType(_CLASS_ATTRIBUTES[name]) if name in _CLASS_ATTRIBUTES else None


def attribute(model: Model, name: str, related: Related) -> Type | None:
    """What `order.name` is for a document: the one at the other end of a reference, None for a plain value."""
    field = next((field for field in model.fields if field.name == name), None)
    leads = field is not None and field.target is not None and ":" in field.target
    return InstanceType(field.target) if leads and field is not None and field.target is not None else None


def item(rows: RowsType) -> Type | None:
    """What a loop over a query gives."""
    return None if rows.values else InstanceType(rows.model)


def library_method(model: Model, method: str) -> str | None:
    """The dotted path of a method that does nothing to the data; None for any other."""
    known = """validate to_json to_mongo to_dbref clean select_related ensure_index ensure_indexes create_index
        list_indexes compare_indexes""".split()
    return f"mongoengine.Document.{method}" if method in known else None


def construct(model: Model, call: f.Call) -> DataOperation:
    """`Order(a=1)`: a document made and not stored."""
    values, complete = named(call)
    return DataOperation("new", model.name, values=values, opaque=not complete or bool(positional(call)))


def operation(
    receiver: Type, method: str, call: f.Call, model: Model, resolve: Resolve | None = None
) -> Outcome | None:
    """What `receiver.method(...)` does, where the receiver is a document's class, a query or a document; None for a
    method that is none of the layer's."""
    methods = {InstanceType: _ROW, ClassType: _CLASS, RowsType: _QUERY}.get(type(receiver), {})
    return methods[method](call, model) if method in methods else None


# --- queries


def _conditions(call: f.Call) -> tuple[Pairs, bool]:
    """The pairs that all selected documents fulfil, in the spelling of every layer, and whether nothing else does."""
    pairs, complete = lookups(call, ("read_preference", "write_concern"))
    found: list[tuple[str, f.Expr]] = []
    for written, value in pairs:
        stem, _, operator = written.rpartition("__")
        if operator in _HIDDEN or (operator in _SPELLED and not isinstance(value, f.Constant)):
            complete = False
        elif operator in _SPELLED and isinstance(value, f.Constant):
            found.append((f"{stem}{_SPELLED[operator]}", f.Constant(value.at, not value.value)))
        else:
            found.append((written, value))
    return tuple(found), complete


def _narrowed(call: f.Call, model: Model) -> Outcome:
    pairs, complete = _conditions(call)
    return DataOperation("narrow", model.name, pairs, opaque=not complete), RowsType(model.name)


def _same(call: f.Call, model: Model) -> Outcome:
    return DataOperation("narrow", model.name), RowsType(model.name)


def _hidden(call: f.Call, model: Model) -> Outcome:
    return DataOperation("narrow", model.name, opaque=True), RowsType(model.name)


def _plain(call: f.Call, model: Model) -> Outcome:
    return DataOperation("read", model.name), RowsType(model.name, values=True)


def _one(kind: str) -> Method:
    def read(call: f.Call, model: Model) -> Outcome:
        pairs, complete = _conditions(call)
        return DataOperation(kind, model.name, pairs, opaque=not complete), InstanceType(model.name)

    return read


def _with_id(call: f.Call, model: Model) -> Outcome:
    key = argument(call, 0, "object_id")
    pairs = (("pk", key),) if key is not None else ()
    return DataOperation("first", model.name, pairs, opaque=key is None), InstanceType(model.name)


def _read(call: f.Call, model: Model) -> Outcome:
    return DataOperation("read", model.name), None


# --- what stores


def _create(call: f.Call, model: Model) -> Outcome:
    values, complete = named(call)
    return DataOperation("insert", model.name, values=values, opaque=not complete), InstanceType(model.name)


def _insert(call: f.Call, model: Model) -> Outcome:
    given = argument(call, 0, "doc_or_docs")
    # One document, or a list of them.
    objects = f.Display(given.at, "list", (given,)) if isinstance(given, f.Call) else given
    return DataOperation("insert-many", model.name, objects=objects), SeveralType(InstanceType(model.name))


def _get_or_create(call: f.Call, model: Model) -> Outcome:
    pairs, complete = named(call, ("defaults", "write_concern", "auto_save"))
    given = argument(call, None, "defaults")
    values, known = entries(given) if given is not None and not is_false(given) else ((), True)
    done = DataOperation("get-or-insert", model.name, pairs, values, opaque=not (complete and known))
    return done, None


def _changes(call: f.Call) -> tuple[Pairs, tuple[tuple[str, str], ...], bool]:
    """What an update writes, how that hangs on the old values, and whether it is all."""
    pairs, complete = named(call, _OPTIONS)
    values: list[tuple[str, f.Expr]] = []
    steps: list[tuple[str, str]] = []
    for written, value in pairs:
        operator, _, column = written.partition("__")
        if written == "__raw__":
            complete = False
        elif operator in _OPERATORS and column:
            values.append((column, value))
            steps.extend([(column, _STEPS[operator])] if operator in _STEPS else [])
        else:
            values.append((written, value))
    return tuple(values), tuple(steps), complete and not spread(call)


def _updated(call: f.Call, model: Model, query: Pairs = (), known: bool = True, returning: bool = False) -> Outcome:
    values, steps, complete = _changes(call)
    upsert = argument(call, None, "upsert")
    done = DataOperation(
        "upsert" if is_true(upsert) else "update",
        model.name,
        query,
        values,
        opaque=not (complete and known and (is_true(upsert) or is_false(upsert))),
        steps=steps,
        returning=returning,
        force="after" if is_true(argument(call, None, "new")) else "",
    )
    return done, InstanceType(model.name) if returning else None


def _update(call: f.Call, model: Model) -> Outcome:
    return _updated(call, model)


def _modify(call: f.Call, model: Model) -> Outcome:
    """One document, changed or taken out, as it was before, or after."""
    if is_true(argument(call, None, "remove")):
        return DataOperation("delete", model.name), InstanceType(model.name)
    return _updated(call, model, returning=True)


def _upsert_one(call: f.Call, model: Model) -> Outcome:
    done, _ = _updated(call, model)
    return replace(done, kind="upsert"), InstanceType(model.name)


def _delete(call: f.Call, model: Model) -> Outcome:
    return DataOperation("delete", model.name), None


# --- documents


def _save(call: f.Call, model: Model) -> Outcome:
    force = "insert" if is_true(argument(call, 0, "force_insert")) else ""
    conditional = not is_false(argument(call, None, "save_condition"))
    done = DataOperation(
        "save", model.name, objects=_base(call), opaque=conditional or spread(call), force=force, returning=True
    )
    # Given a key of its own, a new document takes the place of the one that has it.
    done = done if force else replace(done, conflict="update", conflict_on=("pk",))
    return done, InstanceType(model.name)


def _update_row(call: f.Call, model: Model) -> Outcome:
    return _updated(call, model, _itself(call))


def _modify_row(call: f.Call, model: Model) -> Outcome:
    query = argument(call, 0, "query")
    pairs, known = entries(query) if query is not None and not is_false(query) else ((), True)
    return _updated(call, model, (*_itself(call), *pairs), known)


def _remove(call: f.Call, model: Model) -> Outcome:
    return DataOperation("delete", model.name, objects=_base(call)), None


def _refresh(call: f.Call, model: Model) -> Outcome:
    return DataOperation("refresh", model.name, objects=_base(call)), InstanceType(model.name)


def _base(call: f.Call) -> f.Expr | None:
    return call.function.base if isinstance(call.function, f.Attribute) else None


def _itself(call: f.Call) -> Pairs:
    """The condition that a document's own methods put first."""
    base = _base(call)
    return (("pk", base),) if base is not None else ()


_SAME = """all order_by limit skip only exclude fields all_fields no_cache cache select_related no_dereference timeout
    clone batch_size hint comment read_preference read_concern using allow_disk_use no_sub_classes collation rewind
    snapshot slave_okay max_time_ms""".split()
_READS = """count explain distinct aggregate sum average item_frequencies map_reduce to_json exec_js in_bulk none
    where_clause""".split()

_QUERY: dict[str, Method] = {
    **dict.fromkeys(("__call__", "filter"), _narrowed),
    **dict.fromkeys(_SAME, _same),
    **dict.fromkeys(("search_text", "where", "from_json"), _hidden),
    **dict.fromkeys(("as_pymongo", "scalar", "values_list"), _plain),
    **dict.fromkeys(("get", "get_or_404"), _one("get")),
    **dict.fromkeys(("first", "next", "first_or_404"), _one("first")),
    "with_id": _with_id,
    **dict.fromkeys(_READS, _read),
    "create": _create,
    "insert": _insert,
    "get_or_create": _get_or_create,
    **dict.fromkeys(("update", "update_one"), _update),
    "upsert_one": _upsert_one,
    "modify": _modify,
    "delete": _delete,
}
_CLASS: dict[str, Method] = {"drop_collection": _delete}
_ROW: dict[str, Method] = {
    "save": _save,
    "update": _update_row,
    "modify": _modify_row,
    "delete": _remove,
    "reload": _refresh,
}
