"""What a call on something unknown must be, by its name, what it is called on and what it is given."""

from __future__ import annotations

import re

from idemlint.orm.arguments import positional
from idemlint.orm.sql.commands import is_sql
from idemlint.orm.sql.words import MANY
from idemlint.syntax import facts as f

CONNECTION = "dbapi.Connection"
AUTOMATIC = "dbapi.AutoConnection"
CURSOR = "dbapi.Cursor"

_CURSORS = re.compile(r"(?:^|_)(?:cur|curs|cursor)\d?$")
_CONNECTIONS = re.compile(r"(?:^|_)(?:con|conn|connection|pg|pool|postgres|database|tx|txn)\d?$")
_POOLS = re.compile(r"(?:^|_)(?:pool|pg|db)\d?$")
_STATEMENTS = re.compile(r"sql|query|stmt|statement", re.IGNORECASE)

_RUNS = frozenset({"execute", "executescript", "query", *MANY})
_GIVES = frozenset({"fetch", "fetchrow", "fetchval", "fetch_all", "fetch_one", "fetch_val"})


def guess(call: f.Call) -> str | None:
    """The path of the driver's method, None where nothing tells."""
    if not isinstance(call.function, f.Attribute):
        return None
    method, given = call.function.name, positional(call)
    called = _called(call.function.base)
    on_cursor, on_connection = bool(_CURSORS.search(called)), bool(_CONNECTIONS.search(called))
    if method in _RUNS | _GIVES and given:
        text = _written(given[0])
        if not (on_cursor or on_connection or is_sql(text) or (method in _RUNS and _names_statement(given[0]))):
            return None
        if method == "query" and not is_sql(text):
            return None
        if method in _GIVES or re.search(r"\$\d", text):
            return f"{AUTOMATIC}.{method}"
        return f"{CURSOR if on_cursor else CONNECTION}.{method}"
    if method in ("fetchone", "fetchall", "fetchmany") and len(given) < 2:
        return f"{CURSOR}.{method}"
    if method in ("commit", "rollback", "close", "cursor", "transaction") and on_connection:
        return f"{CONNECTION}.{method}"
    if method in ("acquire", "connection") and not given and _POOLS.search(called):
        return f"{AUTOMATIC}.acquire" if method == "acquire" else "dbapi.Pool.connection"
    return None


def _called(base: f.Expr) -> str:
    """The last word of what a method is called on: `conn` of `self._conn` and of `ctx["conn"]`."""
    match base:
        case f.Name(id=name) | f.Attribute(name=name) | f.Subscript(index=f.Constant(value=str(name))):
            return name.strip("_").lower()
        case f.Call(function=f.Attribute(name=name)) | f.Call(function=f.Name(id=name)):
            return name.strip("_").lower()
        case f.Await(value=value):
            return _called(value)
    return ""


def _written(expr: f.Expr) -> str:
    """The beginning of a text as it is written."""
    match expr:
        case f.Constant(value=str(text)):
            return text
        case f.Format(parts=parts):
            return "".join(
                part.value if isinstance(part, f.Constant) and isinstance(part.value, str) else "{}" for part in parts
            )
        case f.Operation(left=left):
            return _written(left)
        case f.Call(function=f.Attribute(base=base)):
            return _written(base)
    return ""


def _names_statement(expr: f.Expr) -> bool:
    """Whether a name says that it holds a statement: `INSERT_SQL`, `query`."""
    name = expr.id if isinstance(expr, f.Name) else expr.name if isinstance(expr, f.Attribute) else ""
    return bool(_STATEMENTS.search(name))
