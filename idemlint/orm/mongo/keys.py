"""Unique keys of collections, from the calls that make indexes.

See https://www.mongodb.com/docs/manual/core/index-unique/: a document without a field counts as one with null there,
unless the index is sparse or partial."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from idemlint.orm.arguments import argument, entries, is_false, is_true, last_name, members, text
from idemlint.orm.terms import Resolve
from idemlint.program import Model, UniqueKey
from idemlint.syntax import facts as f

ONE = frozenset({"create_index", "ensure_index"})
SEVERAL = frozenset({"create_indexes"})
INDEXES = ONE | SEVERAL
"""Methods of a collection that declare its indexes."""

SOURCE = "unique index"


def outside_key(model: Model, call: f.Call, resolve: Resolve) -> Model:
    """The collection with the indexes that a call on it declares: from then on its schema counts as seen, unless one of
    them cannot be read."""
    found: list[UniqueKey] = []
    whole = True
    for index in _indexes(call):
        key, known = _key(index)
        whole = whole and known
        if key is not None:
            found.append(key)
    unique = tuple(dict.fromkeys((*model.unique, *found)))
    return replace(model, unique=unique, seen=whole)


def expires(call: f.Call) -> bool:
    """Whether one of the indexes deletes documents when their time has come."""
    return any(
        given.name == "expireAfterSeconds"
        for index in _indexes(call)
        if isinstance(index, f.Call)
        for given in index.arguments
    )


def _indexes(call: f.Call) -> Iterator[f.Expr]:
    if last_name(call.function) in ONE:
        yield call
        return
    given = argument(call, 0, "indexes")
    yield from members(given) if given is not None else (call.function,)


def _key(index: f.Expr) -> tuple[UniqueKey | None, bool]:
    """The unique key of an index, None for one that is none; then whether it could be read."""
    if not isinstance(index, f.Call):
        return None, False
    if any(given.star for given in index.arguments):
        return None, False
    unique = argument(index, None, "unique")
    if is_false(unique):
        return None, True
    columns = _columns(argument(index, 0, "keys"))
    if not is_true(unique) or not columns:
        return None, False
    condition, known = _condition(argument(index, None, "partialFilterExpression"))
    sparse = not is_false(argument(index, None, "sparse"))
    return UniqueKey(columns, condition, sparse, SOURCE), known


def _columns(given: f.Expr | None) -> tuple[str, ...]:
    """`"gid"`, `[("gid", 1), ("uid", ASCENDING)]`, `["gid", "uid"]`, `{"gid": 1}`; empty if one cannot be read."""
    name = text(given)
    if name is not None:
        return (name,)
    if isinstance(given, f.Mapping):
        pairs, complete = entries(given)
        return tuple(column for column, _ in pairs) if complete else ()
    if not isinstance(given, f.Display):
        return ()
    found = [text(part.items[0] if isinstance(part, f.Display) and part.items else part) for part in given.items]
    return tuple(name for name in found if name is not None) if None not in found else ()


def _condition(given: f.Expr | None) -> tuple[tuple[str, ...], bool]:
    """The columns that a partial index asks about, and whether they could be read."""
    if given is None:
        return (), True
    pairs, complete = entries(given)
    return tuple(column for column, _ in pairs), complete
