"""A parsed statement, as plain values that do not hang on the parser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Column:
    """A column, and the table or alias it is written with."""

    name: str
    table: str = ""


@dataclass(frozen=True, slots=True)
class Literal:
    value: str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Given:
    """A parameter: the argument it stands for, by position or name."""

    at: int | str


@dataclass(frozen=True, slots=True)
class Hole:
    """A part of the text that the program puts in."""


@dataclass(frozen=True, slots=True)
class Star:
    """`*`, `t.*`."""


@dataclass(frozen=True, slots=True)
class Apply:
    """A function, by its name in lower case, or an operator, by its sign ("=", "and", "||", "is not", "cast jsonb")."""

    name: str
    parts: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """`(a, b)`."""

    items: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """A query inside of a statement."""

    select: Select


Term: TypeAlias = Column | Literal | Given | Hole | Star | Apply | Row | Query


@dataclass(frozen=True, slots=True)
class Table:
    """A table that a statement names, or the `query` that stands in its place."""

    name: str
    alias: str = ""
    query: Select | None = None


@dataclass(frozen=True, slots=True)
class Select:
    """`columns` are what each row is made of, with the names they are given. `grouped` says that rows are put together,
    `locks` that they are locked."""

    columns: tuple[tuple[Term, str], ...]
    tables: tuple[Table, ...] = ()
    where: Term | None = None
    grouped: bool = False
    locks: bool = False


@dataclass(frozen=True, slots=True)
class Insert:
    """Without `columns` the rows fill the table's columns in order. `conflict` is "", "ignore" or "update"; `on` are
    the columns named with it ("" for an expression over some, or a constraint), `updates` what is written over the row
    in the way."""

    table: Table
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Term, ...], ...] = ()
    query: Select | None = None
    conflict: str = ""
    on: tuple[str, ...] = ()
    updates: tuple[tuple[str, Term], ...] = ()
    returning: tuple[tuple[Term, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Update:
    table: Table
    sets: tuple[tuple[str, Term], ...]
    tables: tuple[Table, ...] = ()
    where: Term | None = None
    returning: tuple[tuple[Term, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Delete:
    table: Table
    tables: tuple[Table, ...] = ()
    where: Term | None = None
    returning: tuple[tuple[Term, str], ...] = ()


Statement: TypeAlias = Select | Insert | Update | Delete


@dataclass(frozen=True, slots=True)
class Parsed:
    """A statement, and those that stand before it under a name (`WITH done AS (UPDATE ...)`). It is not `whole` where
    the program puts more clauses in."""

    statement: Statement
    before: tuple[tuple[str, Statement], ...] = ()
    whole: bool = True
