"""Queries and statements: what their methods add, and what the results of running them give."""

from __future__ import annotations

from dataclasses import replace

from idemlint.orm.arguments import Pairs, argument, positional, strings, text
from idemlint.orm.conditions import Where, dict_pairs, filter_by, mentioned, models_of, stored
from idemlint.orm.sqlalchemy.relations import entity
from idemlint.orm.sqlalchemy.results import OF_QUERY, OF_RELATION, OF_RESULT, RUN, Method, owner, query_of
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
from idemlint.orm.terms import Outcome, Resolve
from idemlint.program import (
    ClassType,
    ColumnType,
    DataOperation,
    LibraryInstance,
    Model,
    RowsType,
    Type,
)
from idemlint.syntax import facts as f

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
    return DataOperation("narrow", model.name, relation + pairs, opaque=not (complete and known)), query_of(rows)


def _filter_by(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    pairs, complete = filter_by(call)
    relation, known = owner(rows, call, model)
    return DataOperation("narrow", model.name, relation + pairs, opaque=not (complete and known)), query_of(rows)


def _same(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    relation, known = owner(rows, call, model)
    prefix = text(positional(call)[0]) if method == "prefix_with" and positional(call) else None
    if rows.stage == INSERT and prefix is not None and "IGNORE" in prefix.upper():
        return DataOperation("build", model.name, conflict="ignore"), rows
    opaque = method in _MIXED or not known
    return DataOperation("narrow", model.name, relation, opaque=opaque), query_of(rows)


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
    return DataOperation("build", model.name, locks=True), query_of(rows)


def _clause(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    return DataOperation("build", model.name, verb=EXISTS), RowsType(model.name, values=True, stage=EXISTS)


def _source(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    """A query that another one reads from: its rows are no longer those of the model."""
    return DataOperation("narrow", model.name), LibraryInstance(f"{NAME}.FromClause")


def _values(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    pairs, rest, complete = stored(call, resolve)
    return DataOperation("build", model.name, values=pairs, objects=rest, opaque=not complete), rows


def _from_select(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    return DataOperation("build", model.name, opaque=True, form="many"), rows


def _on_conflict(rows: RowsType, method: str, call: f.Call, model: Model, resolve: Resolve) -> Outcome:
    named = argument(call, 1, "index_elements")
    columns = strings(named) or tuple(
        found.column
        for part in (named.items if isinstance(named, f.Display) else ())
        if isinstance(found := resolve(part), ColumnType)
    )
    writes_over = method != "on_conflict_do_nothing"
    written = argument(call, None, "set_") if method == "on_conflict_do_update" else None
    if method == "on_duplicate_key_update":
        pairs, _, _ = stored(call, resolve)
    else:
        pairs = dict_pairs(written, resolve)[0] if written is not None else ()
    return DataOperation(
        "build", model.name, updates=pairs, conflict="update" if writes_over else "ignore", conflict_on=columns
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
METHODS: dict[str, dict[str, Method]] = {
    TABLE: dict.fromkeys((INSERT, UPDATE, DELETE, SELECT), _begin),
    QUERY: {**_READ, **OF_QUERY},
    SELECT: _READ,
    EXISTS: {
        "where": _where,
        "filter": _where,
        **dict.fromkeys(("correlate", "select_from", "correlate_except"), _same),
    },
    ASKING: {**_READ, **RUN},
    INSERT: {
        "values": _values,
        "returning": _returning,
        **dict.fromkeys(("on_conflict_do_nothing", "on_conflict_do_update", "on_duplicate_key_update"), _on_conflict),
        **dict.fromkeys(("prefix_with", "execution_options", "inline", "return_defaults"), _same),
        "from_select": _from_select,
    },
    UPDATE: {**_READ, "values": _values, "ordered_values": _values, "returning": _returning},
    DELETE: {**_READ, "returning": _returning},
    RESULT: {**dict.fromkeys(("unique", "partitions", "freeze", "tuples", "yield_per", "close"), _same), **OF_RESULT},
    SCALARS: {**dict.fromkeys(("unique", "partitions", "freeze", "yield_per"), _same), **RUN},
    "": {**_READ, **OF_RELATION},
}
