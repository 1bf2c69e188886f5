"""Unique keys of `__table_args__`, of `Table(...)` and of indexes that stand beside a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from idemlint.orm.arguments import argument, is_false, is_true, members, positional, text
from idemlint.orm.sqlalchemy.columns import PRIMARY
from idemlint.orm.sqlalchemy.words import Reader
from idemlint.program import ClassType, ColumnType, UniqueKey
from idemlint.syntax import facts as f

_UNIQUE = frozenset({"UniqueConstraint", "PrimaryKeyConstraint", "ExcludeConstraint"})
_NO_KEY = frozenset("CheckConstraint ForeignKeyConstraint ForeignKey Comment Sequence DDL".split())
_REFLEXIVE = frozenset({"=", "&&", "@>", "<@"})
_WHERE = ("postgresql_where", "sqlite_where", "mssql_where")

# Stands in a condition for a column that could not be read.
UNREAD = "?"


@dataclass(frozen=True, slots=True)
class Names:
    """How columns are spelled where keys are declared: `stored` leads from the database's name to the attribute."""

    stored: Mapping[str, str]
    reader: Reader

    def column(self, written: f.Expr) -> tuple[str, ...] | None:
        """The columns of one member of a key: a name, an attribute, or an expression over them (equal columns give
        equal expressions); None if it cannot be read."""
        name = text(written)
        if name is not None:
            return (self.stored.get(name, name),)
        found = self.reader.resolve(written)
        if isinstance(found, ColumnType) and isinstance(written, f.Attribute):
            return (found.column,)
        match written:
            case f.Name(id=name) if name in self.stored.values():
                return (name,)
            case f.Attribute(base=base, name=name) if name in self.stored.values() and self.of_model(base):
                return (name,)
            case f.Attribute(base=base, name="c" | "columns"):
                return self.column(base)
            case f.Attribute(base=f.Attribute(name="c" | "columns"), name=name):
                return (self.stored.get(name, name),)
            case f.Constant():
                return ()
            case f.Call(function=f.Attribute(base=base, name=method)) if method in (
                "asc",
                "desc",
                "nullsfirst",
                "nullslast",
            ):
                return self.column(base)
            case f.Call(function=function) if self.reader.tail(function) == "text":
                return None
            case f.Call():
                return self.all(positional(written))
            case f.Operation(left=left, right=right):
                return self.all((left, right))
        return None

    def of_model(self, base: f.Expr) -> bool:
        return isinstance(base, f.Name) and isinstance(self.reader.resolve(base), ClassType)

    def all(self, written: tuple[f.Expr, ...]) -> tuple[str, ...] | None:
        found: list[str] = []
        for part in written:
            columns = self.column(part)
            if columns is None:
                return None
            found.extend(column for column in columns if column not in found)
        return tuple(found)


def table_keys(arguments: f.Expr | None, names: Names) -> tuple[tuple[UniqueKey, ...], bool]:
    """The unique keys of `__table_args__`, and whether all of it was read."""
    if isinstance(arguments, f.Name | f.Attribute):
        arguments = names.reader.assigned(arguments) or arguments
    if arguments is None or isinstance(arguments, f.Mapping):
        return (), True
    return keys_of(tuple(members(arguments)), names)


def keys_of(parts: tuple[f.Expr, ...], names: Names) -> tuple[tuple[UniqueKey, ...], bool]:
    """The unique keys among the constraints and indexes of a table, and whether all were read."""
    found: list[UniqueKey] = []
    whole = True
    for part in parts:
        written = names.reader.assigned(part) or part if isinstance(part, f.Name | f.Attribute) else part
        if isinstance(written, f.Mapping | f.Constant):
            continue
        key, known = key_of(written, names)
        whole = whole and known
        if key is not None:
            found.append(key)
    return tuple(found), whole


def key_of(part: f.Expr, names: Names) -> tuple[UniqueKey | None, bool]:
    """The unique key of a constraint or index, None for one that is none; then whether it was read."""
    word = names.reader.tail(part.function) if isinstance(part, f.Call) else ""
    if not isinstance(part, f.Call) or not (word in _UNIQUE or word in _NO_KEY or word == "Index"):
        return None, False
    if word in _NO_KEY or (word == "Index" and is_false(argument(part, None, "unique"))):
        return None, True
    given = positional(part)
    if word == "Index":
        given = given[1:]
    elif word == "ExcludeConstraint":
        given = tuple(_excluded(pair) for pair in given)
    columns = names.all(given)
    if not columns or any(each.star for each in part.arguments):
        return None, False
    where = next((value for value in (argument(part, None, word) for word in _WHERE) if value is not None), None)
    distinct = not is_true(argument(part, None, "postgresql_nulls_not_distinct"))
    if word == "PrimaryKeyConstraint":
        return UniqueKey(columns, source=PRIMARY), True
    return UniqueKey(columns, _condition(where, columns, names), distinct, word), True


def _excluded(pair: f.Expr) -> f.Expr:
    """The expression of a member of an exclusion; the pair itself, which cannot be read, where the operator lets two
    equal values pass."""
    if isinstance(pair, f.Display) and len(pair.items) == 2 and text(pair.items[1]) in _REFLEXIVE:
        return pair.items[0]
    return pair


def _condition(where: f.Expr | None, columns: tuple[str, ...], names: Names) -> tuple[str, ...]:
    """Columns of a partial key's condition. That the key's own columns are not NULL says what the key says anyway."""
    if where is None or _says_not_null(where, columns, names):
        return ()
    return tuple(dict.fromkeys(_conditioned(where, names)))


def _says_not_null(where: f.Expr, columns: tuple[str, ...], names: Names) -> bool:
    if isinstance(where, f.Call) and isinstance(where.function, f.Attribute):
        found = names.column(where.function.base)
        return where.function.name in ("isnot", "is_not") and bool(found) and set(found or ()) <= set(columns)
    return False


def _conditioned(where: f.Expr, names: Names) -> Iterator[str]:
    match where:
        case f.Comparison(left=left, rights=rights):
            sides = [names.column(side) or () for side in (left, *rights) if not isinstance(side, f.Constant)]
            found = [column for side in sides for column in side]
            yield from found or [UNREAD]
        case f.Operation(left=left, right=right):
            yield from _conditioned(left, names)
            yield from _conditioned(right, names)
        case f.Unary(operand=operand):
            yield from _conditioned(operand, names)
        case f.Call(function=f.Attribute(base=base)) if names.column(base):
            yield from names.column(base) or ()
        case f.Call() if names.reader.tail(where.function) in ("and_", "or_", "not_"):
            for part in positional(where):
                yield from _conditioned(part, names)
        case f.Name() | f.Attribute():
            yield from names.column(where) or (UNREAD,)
        case _:
            yield UNREAD
