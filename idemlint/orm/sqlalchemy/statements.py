"""Queries and statements: what their methods add, and what the results of running them give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from idemlint.orm.arguments import Pairs, argument, positional, strings, text
from idemlint.orm.conditions import Where, dict_pairs, filter_by, mentioned, models_of, stored
from idemlint.orm.layer import Outcome, Resolve
from idemlint.orm.sqlalchemy.relations import entity, item, way_back
from idemlint.orm.sqlalchemy.words import (
    ASKING,
    DELETE,
    EXISTS,
    INSERT,
    NAME,
    QUERY,
    RESULT,
    SCALARS,
    SELECT,
    TABLE,
    UPDATE,
)
from idemlint.program import (
    ClassType,
    ColumnType,
    DataOperation,
    InstanceType,
    LibraryInstance,
    Model,
    RowsType,
    Type,
)
from idemlint.syntax import facts as f

Method = Callable[[RowsType, str, f.Call, Model, Resolve], Outcome | None]
Column = tuple[str, str]

_SAME = frozenset(
    """join outerjoin join_from options order_by group_by having distinct limit offset slice execution_options fetch
    select_from correlate correlate_except populate_existing yield_per enable_eagerloads autoflush params union unique
    reset_joinpoint enable_assertions prefix_with with_hint suffix_with with_statement_hint add_cte set_label_style
    union_all intersect except_ reverse partitions freeze tuples from_statement""".split()
)
_MIXED = frozenset({"union", "union_all", "intersect", "except_", "from_statement"})


def selected(parts: tuple[f.Expr, ...], resolve: Resolve) -> tuple[str, tuple[Column, ...], f.Expr | None]:
    """The model that `select(...)` reads first, the parts of each row, and the clause it asks about (`exists(...)`)."""
    model = ""
    columns: list[Column] = []
    for part in parts:
        found = resolve(part)
        if isinstance(found, RowsType) and found.stage == EXISTS:
            return found.model, (("", ""),), part
        column = _entity(found)
        named = column[0] or mentioned(part, resolve) or ""
        columns.append(column)
        model = model or named
    return model, tuple(columns), None


def _entity(found: Type | None) -> Column:
    if isinstance(found, ClassType):
        return found.name, ""
    return (found.model, found.column) if isinstance(found, ColumnType) else ("", "")


def reading(stage: str, parts: tuple[f.Expr, ...], resolve: Resolve) -> Outcome | None:
    """`select(...)` and `session.query(...)`; None where no model is named."""
    model, columns, clause = selected(parts, resolve)
    if not model:
        return None
    if clause is not None:
        done = DataOperation("build", model, statement=clause, verb=EXISTS, form=stage)
        return done, RowsType(model, values=True, stage=ASKING)
    plain = not any(entity(column) for column in columns)
    done = DataOperation("build", model, verb=SELECT, form=stage)
    return done, RowsType(model, values=plain, stage=stage, columns=columns)


def asking(call: f.Call, resolve: Resolve) -> Outcome | None:
    """`exists()`, `exists(select(Order))`, `exists(Order.id)`."""
    given = positional(call)
    inner = resolve(given[0]) if given else None
    if isinstance(inner, RowsType) and inner.stage != TABLE:
        done = DataOperation("build", inner.model, statement=given[0], verb=EXISTS)
        return done, RowsType(inner.model, values=True, stage=EXISTS)
    model = next((name for part in given if (name := mentioned(part, resolve)) is not None), None)
    return (DataOperation("build", model, verb=EXISTS), RowsType(model, values=True, stage=EXISTS)) if model else None


def writing(verb: str, call: f.Call, resolve: Resolve) -> Outcome | None:
    """`insert(Order)`, `update(Order)`, `delete(Order)`."""
    given = positional(call)
    found = resolve(given[0]) if given else None
    model = found.name if isinstance(found, ClassType) else found.model if isinstance(found, RowsType) else ""
    return (DataOperation("build", model, verb=verb), RowsType(model, stage=verb, values=True)) if model else None


def begun_with_nothing(word: str, method: str, call: f.Call, resolve: Resolve) -> Outcome | None:
    """A method on `select(func.count())` or `exists()`, which do not yet say which table they are about."""
    model = next((name for part in positional(call) if (name := mentioned(part, resolve)) is not None), None)
    if model is None or method not in ("select_from", "where", "filter"):
        return None
    pairs, complete = Where(resolve, frozenset({model})).all(call) if method != "select_from" else ((), True)
    stage = EXISTS if word == "exists" else SELECT
    verb = EXISTS if word == "exists" else SELECT
    columns: tuple[Column, ...] = () if word == "exists" else (("", ""),)
    done = DataOperation("build", model, pairs, opaque=not complete, verb=verb)
    return done, RowsType(model, stage=stage, values=True, columns=columns)


# --- conditions and values


def _where(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    pairs, complete = Where(resolve, models_of(model)).all(call)
    relation, known = owner(rows, call, model)
    return DataOperation("narrow", model.name, relation + pairs, opaque=not (complete and known)), _query_of(rows)


def _filter_by(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    pairs, complete = filter_by(call)
    relation, known = owner(rows, call, model)
    return DataOperation("narrow", model.name, relation + pairs, opaque=not (complete and known)), _query_of(rows)


def _same(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    relation, known = owner(rows, call, model)
    prefix = text(positional(call)[0]) if method == "prefix_with" and positional(call) else None
    if rows.stage == INSERT and prefix is not None and "IGNORE" in prefix.upper():
        return DataOperation("build", model.name, conflict="ignore"), rows
    opaque = method in _MIXED or not known
    return DataOperation("narrow", model.name, relation, opaque=opaque), _query_of(rows)


def _query_of(rows: RowsType) -> RowsType:
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


def _columns(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    _, columns, _ = selected(positional(call), resolve)
    kept = (*rows.columns, *columns) if method in ("add_columns", "add_entity", "add_column") else columns
    plain = not any(entity(column) for column in kept)
    return DataOperation("narrow", model.name), replace(rows, columns=kept, values=plain)


def _returning(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    _, columns, _ = selected(positional(call), resolve)
    plain = not any(entity(column) for column in columns)
    return DataOperation("build", model.name, returning=True), replace(rows, columns=columns, values=plain)


def _lock(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    return DataOperation("build", model.name, locks=True), _query_of(rows)


def _clause(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    return DataOperation("build", model.name, verb=EXISTS), RowsType(model.name, values=True, stage=EXISTS)


def _source(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    """A query that another one reads from: its rows are no longer those of the model."""
    return DataOperation("narrow", model.name), LibraryInstance(f"{NAME}.FromClause")


def _values(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    pairs, rest, complete = stored(call, resolve)
    return DataOperation("build", model.name, values=pairs, objects=rest, opaque=not complete), rows


def _on_conflict(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    named = argument(call, 1, "index_elements")
    columns = strings(named) or tuple(
        found.column
        for part in (named.items if isinstance(named, f.Display) else ())
        if isinstance(found := resolve(part), ColumnType)
    )
    update = method != "on_conflict_do_nothing"
    written = argument(call, None, "set_") if method == "on_conflict_do_update" else None
    if method == "on_duplicate_key_update":
        pairs, _, _ = stored(call, resolve)
    else:
        pairs = dict_pairs(written, resolve)[0] if written is not None else ()
    return DataOperation(
        "build", model.name, updates=pairs, conflict="update" if update else "ignore", conflict_on=columns
    ), rows


def _begin(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    """`orders.insert()` of a table."""
    pairs, rest, complete = stored(call, resolve) if method != "select" else ((), None, True)
    stage = SELECT if method == "select" else method
    lookup: Pairs = ()
    if method in (UPDATE, DELETE) and positional(call):
        lookup, known = Where(resolve, models_of(model)).all(call)
        pairs, rest, complete = (), None, known
    done = DataOperation("build", model.name, lookup, pairs, objects=rest, opaque=not complete, verb=stage)
    return done, RowsType(model.name, stage=stage, values=True)


# --- what running gives


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
    return DataOperation("read", model.name, relation, opaque=not known), _query_of(rows)


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


def _from_select(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    return DataOperation("build", model.name, opaque=True, form="many"), rows


def _selection(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    """`order.lines.select()` of a relation that is never loaded whole."""
    relation, known = owner(rows, call, model)
    done = DataOperation("build", model.name, relation, opaque=not known, verb=SELECT)
    return done, RowsType(model.name, stage=SELECT, columns=((model.name, ""),))


_READ: dict[str, Method] = {
    **dict.fromkeys(("where", "filter"), _where),
    "filter_by": _filter_by,
    **dict.fromkeys(_SAME, _same),
    **dict.fromkeys(("with_for_update", "with_lockmode"), _lock),
    **dict.fromkeys(("add_columns", "add_entity", "add_column", "with_entities", "with_only_columns"), _columns),
    "exists": _clause,
    **dict.fromkeys(
        ("subquery", "scalar_subquery", "as_scalar", "cte", "alias", "lateral", "label", "selectable"), _source
    ),
}
_RUN: dict[str, Method] = {
    **dict.fromkeys(("first", "one_or_none", "fetchone", "first_or_none"), _one("first")),
    **dict.fromkeys(("one", "first_or_404", "one_or_404"), _one("get")),
    **dict.fromkeys(("scalar", "scalar_one_or_none"), _scalar("first")),
    "scalar_one": _scalar("get"),
    **dict.fromkeys(("all", "fetchall", "fetchmany", "yield_per"), _all),
}
METHODS: dict[str, dict[str, Method]] = {
    TABLE: dict.fromkeys((INSERT, UPDATE, DELETE, SELECT), _begin),
    QUERY: {
        **_READ,
        **_RUN,
        "count": _count,
        **dict.fromkeys(("get", "get_or_404", "get_one"), _get),
        "update": _update,
        "delete": _delete,
    },
    SELECT: _READ,
    EXISTS: {
        "where": _where,
        "filter": _where,
        **dict.fromkeys(("correlate", "select_from", "correlate_except"), _same),
    },
    ASKING: {**_READ, **_RUN},
    INSERT: {
        "values": _values,
        "returning": _returning,
        **dict.fromkeys(("on_conflict_do_nothing", "on_conflict_do_update", "on_duplicate_key_update"), _on_conflict),
        **dict.fromkeys(("prefix_with", "execution_options", "inline", "return_defaults"), _same),
        "from_select": _from_select,
    },
    UPDATE: {**_READ, "values": _values, "ordered_values": _values, "returning": _returning},
    DELETE: {**_READ, "returning": _returning},
    RESULT: {
        **dict.fromkeys(("unique", "partitions", "freeze", "tuples", "yield_per"), _same),
        **_RUN,
        "scalars": _scalars,
        "columns": _scalars,
        "mappings": _mappings,
        "close": _same,
    },
    SCALARS: {**dict.fromkeys(("unique", "partitions", "freeze", "yield_per"), _same), **_RUN},
    # A relation of a row: a list, or a query where it is loaded on demand.
    "": {
        **_READ,
        **_RUN,
        "count": _count,
        "select": _selection,
        **dict.fromkeys(("append", "add", "insert", "extend", "add_all", "update"), _append),
        **dict.fromkeys(("remove", "discard", "clear", "pop"), _remove),
        "delete": _delete,
    },
}
