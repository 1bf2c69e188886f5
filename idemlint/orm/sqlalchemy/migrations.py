"""What migrations say of tables and their unique keys."""

from __future__ import annotations

from collections.abc import Iterator

from idemlint.orm.arguments import argument, is_false, positional, strings, text
from idemlint.orm.sqlalchemy.columns import UNIQUE, column
from idemlint.orm.sqlalchemy.models import table_parts
from idemlint.orm.sqlalchemy.words import Reader
from idemlint.orm.terms import Change, LibraryBase, Resolve
from idemlint.program import LibraryType, UniqueKey
from idemlint.syntax import facts as f

MIGRATES = frozenset({"create_table", "create_unique_constraint", "create_index", "create_primary_key", "add_column"})

_OPERATIONS = "alembic.op"


def migrated(body: f.Body, path: str, resolve: Resolve, library_base: LibraryBase) -> Iterator[tuple[Change, int]]:
    """What the operations of a migration say, each with its ordinal; what takes it back is left out."""
    reader = Reader(resolve, library_base, lambda _: None)
    for statement in body:
        if isinstance(statement, f.Function) and statement.name != "downgrade":
            batches = dict(_batches(statement.body))
            calls = sorted(
                (part for part in f.walk(statement.body) if isinstance(part, f.Call)), key=lambda call: call.at
            )
            for call in calls:
                word, table = _operation(call, batches, reader)
                if word in MIGRATES:
                    yield from ((change, call.at) for change in _changes(word, table, call, reader))


def _batches(body: f.Body) -> Iterator[tuple[str, str]]:
    """Name -> table of `with op.batch_alter_table("orders") as batch`."""
    for part in f.walk(body):
        for manager, target in part.items if isinstance(part, f.With) else ():
            if isinstance(manager, f.Call) and isinstance(target, f.Name) and isinstance(manager.function, f.Attribute):
                table = text(argument(manager, 0, "table_name"))
                if manager.function.name == "batch_alter_table" and table is not None:
                    yield target.id, table


def _operation(call: f.Call, batches: dict[str, str], reader: Reader) -> tuple[str, str]:
    """The operation that a call is, and the table of the batch it stands in."""
    function = call.function
    if not isinstance(function, f.Attribute):
        return "", ""
    if isinstance(function.base, f.Name) and function.base.id in batches:
        return function.name, batches[function.base.id]
    found = reader.resolve(function)
    return (function.name, "") if isinstance(found, LibraryType) and found.path.startswith(_OPERATIONS) else ("", "")


def _changes(word: str, batch: str, call: f.Call, reader: Reader) -> Iterator[Change]:
    # In a batch the table is not among the arguments.
    at = 0 if batch else 1
    table = batch or text(argument(call, 0 if word in ("create_table", "add_column") else 1, "table_name")) or ""
    if not table:
        return
    match word:
        case "create_table":
            columns, keys, whole = table_parts(positional(call)[1:], call, reader)
            own = [UniqueKey((each.field.name,), source=UNIQUE) for each in columns if each.unique == UNIQUE]
            primary = tuple(each.field.name for each in columns if each.unique and each.unique != UNIQUE)
            first = [UniqueKey(primary, source="PRIMARY KEY")] if primary else []
            hidden = not whole or any(each.hidden for each in columns)
            fields = tuple(each.field for each in columns)
            yield Change(table, fields, (*first, *own, *keys), whole=bool(fields), hidden=hidden)
        case "add_column":
            given = argument(call, at, "column")
            name = text(argument(given, 0, "name")) if isinstance(given, f.Call) else None
            if isinstance(given, f.Call) and name is not None:
                made = column(name, given, None, given.at, reader)
                key = (UniqueKey((name,), source=UNIQUE),) if made.unique else ()
                yield Change(table, fields=(made.field,), unique=key)
        case "create_index" if is_false(argument(call, None, "unique")):
            return
        case _:
            named = strings(argument(call, at + 1, "columns")) or ()
            source = "PRIMARY KEY" if word == "create_primary_key" else word
            yield Change(table, unique=(UniqueKey(named, source=source),)) if named else Change(table, hidden=True)
