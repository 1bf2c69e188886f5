"""Calls on sessions and connections, and the functions that begin statements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from idemlint.orm.arguments import argument, is_false, last_name, named, positional, spread
from idemlint.orm.sqlalchemy.relations import entity, item
from idemlint.orm.sqlalchemy.results import key_lookup
from idemlint.orm.sqlalchemy.statements import METHODS, asking, begun_with_nothing, reading, writing
from idemlint.orm.sqlalchemy.words import (
    ASKING,
    CONNECTION,
    DELETE,
    HEADS,
    INSERT,
    QUERY,
    RESULT,
    SCALARS,
    SELECT,
    SESSION,
    STATEMENTS,
    UPDATE,
)
from idemlint.orm.terms import IsModel, Outcome, Resolve
from idemlint.program import (
    ClassType,
    ColumnType,
    DataOperation,
    InstanceType,
    Model,
    RowsType,
    SeveralType,
    Type,
)
from idemlint.syntax import facts as f

Call = Callable[[str, f.Call, Resolve], Outcome | None]

# Names that a session goes by where nothing says what it is.
_NAMES = frozenset({"db", "session", "db_session", "dbsession", "sess", "_session", "_db", "async_session"})
_CONTROL = frozenset({"commit", "rollback", "flush", "begin", "begin_nested", "close"})
_LOCKS = ("advisory_xact_lock", "advisory_lock")


def operation(
    receiver: Type, method: str, call: f.Call, model: Model, resolve: Resolve | None = None
) -> Outcome | None:
    """What `receiver.method(...)` does, where the receiver is a query, a statement, a result or a relation of `model`;
    None for a method that is none of the layer's."""
    if isinstance(receiver, RowsType):
        known = METHODS.get(receiver.stage, {}).get(method)
        return known(receiver, method, call, model, resolve or _unresolved) if known is not None else None
    if isinstance(receiver, ClassType) and method in ("model_validate", "parse_obj", "from_orm"):
        return DataOperation("new", model.name, opaque=True), InstanceType(model.name)
    return None


def _unresolved(_: f.Expr) -> Type | None:
    return None


def construct(model: Model, call: f.Call) -> DataOperation:
    """`Model(a=1)`: an instance made and not stored."""
    values, complete = named(call)
    known = complete and not spread(call) and not positional(call)
    return DataOperation("new", model.name, values=values, opaque=not known)


def shortcut(path: str, call: f.Call, resolve: Resolve) -> Outcome | None:
    """What the library function at `path`, or the method of a session, does with models; None for any other."""
    owner, _, word = path.rpartition(".")
    if owner in (SESSION, CONNECTION):
        method = _SESSION.get(word)
        return method(word, call, resolve) if method is not None else None
    if path.partition(".")[0] not in HEADS:
        return None
    begun = owner.rpartition(".")[2]
    if begun in ("select", "exists", "query"):
        return begun_with_nothing(begun, word, call, resolve)
    if word == "select":
        return reading(SELECT, positional(call), resolve)
    if word == "exists":
        return asking(call, resolve)
    if word in (INSERT, UPDATE, DELETE):
        return writing(word, call, resolve)
    if word in ("get_or_404", "first_or_404", "one_or_404") and begun == "SQLAlchemy":
        return _or_404(word, call, resolve)
    return None


def guess(call: f.Call, resolve: Resolve, is_model: IsModel) -> str | None:
    """The path of the method that a call on something unknown must be, by what it is given: `request.db.query(Order)`,
    `self.session.execute(select(Order))`; or by the name of what it is called on, where it is given nothing."""
    if not isinstance(call.function, f.Attribute):
        return None
    method, given = call.function.name, positional(call)
    called = last_name(call.function.base).casefold()
    named = called in _NAMES or called.endswith(("_session", "_db"))
    first = resolve(given[0]) if given else None
    if method in _CONTROL:
        return f"{SESSION}.{method}" if named and not given else None
    fits = False
    if method in ("query", "get", "get_one", "bulk_insert_mappings", "bulk_update_mappings"):
        model = first.model if isinstance(first, ColumnType) else first.name if isinstance(first, ClassType) else ""
        counted = method == "query" and named and bool(given)
        fits = counted or (is_model(model) and (method == "query" or len(call.arguments) > 1))
    elif method in ("execute", "scalars", "scalar", "exec", "stream", "stream_scalars"):
        fits = (isinstance(first, RowsType) and first.stage in STATEMENTS) or (named and bool(given))
    elif method in ("add", "merge", "delete", "refresh", "expunge"):
        fits = named and isinstance(first, InstanceType) and is_model(first.name)
    elif method == "add_all":
        inner = first.item if isinstance(first, SeveralType) else None
        fits = isinstance(inner, InstanceType) and is_model(inner.name)
    return f"{SESSION}.{method}" if fits else None


# --- methods of a session


def _query(word: str, call: f.Call, resolve: Resolve) -> Outcome | None:
    return reading(QUERY, positional(call), resolve)


def _get(word: str, call: f.Call, resolve: Resolve) -> Outcome | None:
    entities = argument(call, 0, "entity")
    found = resolve(entities) if entities is not None else None
    ident = argument(call, 1, "ident")
    if not isinstance(found, ClassType) or ident is None:
        return None
    kind = "get" if word == "get_one" else "first"
    done = DataOperation(kind, found.name, key_lookup((ident,)), locks=_locks(call))
    return done, InstanceType(found.name)


def _locks(call: f.Call) -> bool:
    return not is_false(argument(call, None, "with_for_update"))


def _or_404(word: str, call: f.Call, resolve: Resolve) -> Outcome | None:
    if word == "get_or_404":
        return _get("get_one", call, resolve)
    return _run("get", call, resolve)


def _run(word: str, call: f.Call, resolve: Resolve) -> Outcome | None:
    """`execute`, `scalars`, `scalar`, `exec` of a statement."""
    statement = argument(call, 0, "statement")
    if statement is None:
        return None
    found = resolve(statement)
    if not isinstance(found, RowsType) or found.stage not in STATEMENTS:
        return (DataOperation("mutex", "", statement=statement), None) if _takes_lock(statement, resolve) else None
    form, gives = _form(word, found)
    params = argument(call, 1, "params")
    return DataOperation("run", found.model, statement=statement, objects=params, form=form), gives


def _form(word: str, found: RowsType) -> tuple[str, Type | None]:
    """How a statement's rows are asked for, and what that gives."""
    whole = found.columns[:1] != (("", ""),)
    first = entity(found.columns[0]) if found.columns else item(replace(found, stage=SCALARS))
    if word == "get":
        return "get", first
    if word == "scalar":
        if found.stage == ASKING:
            return "exists", None
        return ("first" if whole else "read"), first
    if found.stage == ASKING:
        return "rows", found
    single = word in ("scalars", "stream_scalars") or (word == "exec" and len(found.columns) < 2)
    columns = found.columns[:1] if single else found.columns
    plain = not any(entity(column) for column in columns)
    return "rows", replace(found, stage=SCALARS if single else RESULT, columns=columns, values=plain)


def _takes_lock(statement: f.Expr, resolve: Resolve) -> bool:
    """`select(func.pg_advisory_xact_lock(key))`, `text("SELECT pg_advisory_xact_lock(:key)")`, `LOCK TABLE`."""
    match statement:
        case f.Call(function=function, arguments=arguments):
            if any(word in last_name(function) for word in _LOCKS):
                return True
            base = (function.base,) if isinstance(function, f.Attribute) else ()
            return any(_takes_lock(part, resolve) for part in (*base, *(argument.value for argument in arguments)))
        case f.Constant(value=str(written)):
            spelled = written.casefold()
            return any(word in spelled for word in _LOCKS) or spelled.lstrip().startswith("lock table")
        case f.Format(parts=parts):
            return any(_takes_lock(part, resolve) for part in parts)
    return False


def _add(word: str, call: f.Call, resolve: Resolve) -> Outcome | None:
    many = word in ("add_all", "bulk_save_objects", "delete_all")
    given = argument(call, 0, "instances" if word == "add_all" else "instance")
    if given is None:
        return None
    found = resolve(given)
    kind = found.item if isinstance(found, SeveralType) else found
    name = kind.name if isinstance(kind, InstanceType) else ""
    done = {"delete": "remove", "refresh": "refresh", "merge": "merge"}.get(word, "add")
    operation = DataOperation(done, name, objects=given, form="many" if many else "", locks=_locks(call))
    return operation, kind if word == "merge" else None


def _bulk(word: str, call: f.Call, resolve: Resolve) -> Outcome | None:
    given = positional(call)
    found = resolve(given[0]) if given else None
    if not isinstance(found, ClassType) or len(given) < 2:
        return None
    force = "update" if "update" in word else ""
    return DataOperation("bulk", found.name, objects=given[1], force=force), None


_SESSION: dict[str, Call] = {
    "query": _query,
    "get": _get,
    "get_one": _get,
    **dict.fromkeys(("execute", "scalars", "scalar", "exec", "stream", "stream_scalars"), _run),
    **dict.fromkeys(("add", "add_all", "delete", "merge", "refresh", "bulk_save_objects"), _add),
    **dict.fromkeys(("bulk_insert_mappings", "bulk_update_mappings"), _bulk),
}
