"""What running a query gives, and what the rows of a relation can be asked and given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from idemlint.orm.arguments import Pairs, positional
from idemlint.orm.conditions import dict_pairs
from idemlint.orm.sqlalchemy.relations import entity, item, way_back
from idemlint.orm.sqlalchemy.words import ASKING, QUERY, SCALARS, SELECT
from idemlint.orm.terms import Outcome, Resolve
from idemlint.program import DataOperation, InstanceType, Model, RowsType
from idemlint.syntax import facts as f

Method = Callable[[RowsType, str, f.Call, Model, Resolve], Outcome | None]


def query_of(rows: RowsType) -> RowsType:
    """A relation that is asked for some of its rows becomes a query."""
    if rows.through is None:
        return rows
    return RowsType(rows.model, stage=QUERY, columns=((rows.model, ""),))


def owner(rows: RowsType, call: f.Call, model: Model) -> tuple[Pairs, bool]:
    """The condition that a relation adds: (column, the row it hangs off), and whether it could be read."""
    if rows.through is None:
        return (), True
    manager = call.function.base if isinstance(call.function, f.Attribute) else None
    field = way_back(model, rows.through)
    if field is None or not (isinstance(manager, f.Attribute) and manager.name == rows.through):
        return (), False
    return ((field.name, manager.base),), True


def _one(kind: str) -> Method:
    def read(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
        relation, known = owner(rows, call, model)
        return DataOperation(kind, model.name, relation, opaque=not known), item(rows)

    return read


def _scalar(kind: str) -> Method:
    """One value, or the first part of one row."""

    def read(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
        if rows.stage == ASKING:
            return DataOperation("exists", model.name), None
        if rows.columns[:1] == (("", ""),):
            return DataOperation("read", model.name), None
        return DataOperation(kind, model.name), entity(rows.columns[0]) if rows.columns else item(rows)

    return read


def _all(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    relation, known = owner(rows, call, model)
    return DataOperation("read", model.name, relation, opaque=not known), query_of(rows)


def _count(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    relation, known = owner(rows, call, model)
    return DataOperation("read", model.name, relation, opaque=not known), None


def _get(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    kind = "get" if method.endswith("404") or method == "get_one" else "first"
    return DataOperation(kind, model.name, key_lookup(positional(call))), InstanceType(model.name)


def key_lookup(given: tuple[f.Expr, ...]) -> Pairs:
    """The look-up by a primary key of one column; a longer key is not taken apart."""
    return (("pk", given[0]),) if given and not isinstance(given[0], f.Display | f.Mapping) else ()


def _scalars(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    at = positional(call)[0] if positional(call) else None
    index = at.value if isinstance(at, f.Constant) and isinstance(at.value, int) else 0
    columns = rows.columns[index : index + 1]
    plain = not any(entity(column) for column in columns)
    return DataOperation("narrow", model.name), replace(rows, stage=SCALARS, columns=columns, values=plain)


def _mappings(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    return DataOperation("narrow", model.name), replace(rows, stage=SCALARS, columns=(), values=True)


def _update(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    """`query.update({...})`, which runs at once."""
    given = positional(call)
    pairs, complete = dict_pairs(given[0], resolve) if given else ((), False)
    relation, known = owner(rows, call, model)
    return DataOperation("update", model.name, relation, pairs, opaque=not (complete and known)), None


def _delete(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    relation, known = owner(rows, call, model)
    return DataOperation("delete", model.name, relation, opaque=not known), None


def _append(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome | None:
    """`order.lines.append(line)`: the line is stored with the order."""
    if rows.through is None or not positional(call):
        return None
    relation, known = owner(rows, call, model)
    added = positional(call)[-1]
    form = "many" if method in ("extend", "add_all", "update") else ""
    return DataOperation("append", model.name, relation, objects=added, form=form, opaque=not known), None


def _remove(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome | None:
    return (DataOperation("link", model.name, opaque=True), None) if rows.through is not None else None


def _selection(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    """`order.lines.select()` of a relation that is never loaded whole."""
    relation, known = owner(rows, call, model)
    done = DataOperation("build", model.name, relation, opaque=not known, verb=SELECT)
    return done, RowsType(model.name, stage=SELECT, columns=((model.name, ""),))


RUN: dict[str, Method] = {
    **dict.fromkeys(("first", "one_or_none", "fetchone", "first_or_none"), _one("first")),
    **dict.fromkeys(("one", "first_or_404", "one_or_404"), _one("get")),
    **dict.fromkeys(("scalar", "scalar_one_or_none"), _scalar("first")),
    "scalar_one": _scalar("get"),
    **dict.fromkeys(("all", "fetchall", "fetchmany", "yield_per"), _all),
}
OF_QUERY: dict[str, Method] = {
    **RUN,
    "count": _count,
    **dict.fromkeys(("get", "get_or_404", "get_one"), _get),
    "update": _update,
    "delete": _delete,
}
OF_RESULT: dict[str, Method] = {
    **RUN,
    **dict.fromkeys(("scalars", "columns"), _scalars),
    "mappings": _mappings,
}
# A relation of a row is a list, or a query where it is loaded on demand.
OF_RELATION: dict[str, Method] = {
    **RUN,
    "count": _count,
    "delete": _delete,
    "select": _selection,
    **dict.fromkeys(("append", "add", "insert", "extend", "add_all", "update"), _append),
    **dict.fromkeys(("remove", "discard", "clear", "pop"), _remove),
}
