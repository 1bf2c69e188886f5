"""What the terms of a statement are to a table: its columns, steps from an old value, queries about its rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace

from idemlint.orm.sql import words
from idemlint.orm.sql.tree import Apply, Column, Literal, Query, Row, Select, Table, Term

_APPENDS = frozenset(
    {"||", "concat", "concatws", "array_append", "arrayappend", "array_cat", "arrayconcat", "arrayconcatagg"}
)
_STEPS = frozenset({"+", "-", "*", "/"})
_LIMITS = frozenset(
    {"coalesce", "greatest", "least", "max", "min", "ifnull", "nvl", "round", "abs", "cast", "floor", "ceil"}
)


def sums(term: Term) -> bool:
    """Whether a term puts rows together: `MAX(number) + 1`."""
    return isinstance(term, Apply) and (term.name in words.SUMS or any(sums(part) for part in term.parts))


def counted(term: Term, select: Select) -> Term:
    """A term of an `INSERT ... SELECT`, with what it says of all rows as a query of its own."""
    return Query(replace(select, columns=((term, ""),))) if sums(term) else term


def tables_in(part: object) -> set[str]:
    """The names of all tables that a statement speaks of."""
    if isinstance(part, tuple):
        return {name for each in part for name in tables_in(each)}
    if not is_dataclass(part):
        return set()
    own = {part.name} if isinstance(part, Table) else set()
    return own.union(*(tables_in(getattr(part, field.name)) for field in fields(part)))


def columns_of(term: Term) -> set[str]:
    """The tables and aliases that the columns in a term are written with."""
    if isinstance(term, Column):
        return {term.table}
    return {alias for part in term.parts for alias in columns_of(part)} if isinstance(term, Apply) else set()


def step(term: Term, column: str, table: Table) -> str:
    """How a written value hangs on the old one of its own column: see `Assigned.itself`."""
    if not isinstance(term, Apply):
        return ""

    def is_old(part: Term) -> bool:
        return clamped(part, table) == column

    if term.name in _STEPS and any(is_old(part) for part in term.parts):
        return "expression"
    if term.name in _APPENDS and term.parts and is_old(term.parts[0]):
        # To an object a key is added that is there already the second time.
        if any(_is_object(part) for part in term.parts[1:]):
            return ""
        return "append" if "array" in term.name or any(isinstance(part, Row) for part in term.parts) else "join"
    if term.name in _STEPS | _LIMITS or term.name.startswith("cast "):
        return next((found for part in term.parts if (found := step(part, column, table))), "")
    return ""


def clamped(term: Term, table: Table) -> str:
    """The column behind `COALESCE(n, 0)` and its kin, "" for anything else."""
    while isinstance(term, Apply) and term.parts and (term.name in _LIMITS or term.name.startswith("cast ")):
        term = term.parts[0]
    return own_column(term, table, True)


def own_column(term: Term, table: Table, alone: bool) -> str:
    """The column of `table` that a term is, "" for anything else; `alone` says that no other table has a say."""
    if (
        isinstance(term, Apply)
        and (term.name.startswith("cast ") or term.name in ("lower", "upper", "date"))
        and term.parts
    ):
        return own_column(term.parts[0], table, alone)
    if not isinstance(term, Column):
        return ""
    if not term.table:
        return term.name if alone else ""
    return term.name if term.table in (table.alias, table.name.rpartition(".")[2]) else ""


def _is_object(term: Term) -> bool:
    if isinstance(term, Apply):
        return term.name.startswith("cast json") or term.name in (
            "jsonb_build_object",
            "json_build_object",
            "jsonobject",
        )
    return isinstance(term, Literal) and str(term.value).lstrip().startswith("{")


def asks(term: Term) -> tuple[Select, bool] | None:
    """The query that `EXISTS (...)` or `NOT EXISTS (...)` asks about, and which of both it is."""
    if isinstance(term, Apply) and term.name == "exists" and term.parts and isinstance(term.parts[0], Query):
        return term.parts[0].select, True
    if isinstance(term, Apply) and term.name == "not" and term.parts:
        inner = asks(term.parts[0])
        return (inner[0], not inner[1]) if inner is not None else None
    return None


def conjuncts(where: Term) -> Iterator[Term]:
    if isinstance(where, Apply) and where.name == "and":
        for part in where.parts:
            yield from conjuncts(part)
    else:
        yield where
