"""The one place that knows the SQL parser: prepared text -> `tree`. It is loaded when the first statement is met."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from idemlint.orm.sql.text import HOLE, PARAMETER, Prepared, table_name
from idemlint.orm.sql.tree import (
    Apply,
    Column,
    Delete,
    Given,
    Hole,
    Insert,
    Literal,
    Parsed,
    Query,
    Row,
    Select,
    Star,
    Statement,
    Table,
    Term,
    Update,
)

VERBS = frozenset({"select", "insert", "update", "delete", "with", "replace", "truncate"})
"""What the statements begin with that are read."""

_DIALECTS = ("postgres", "mysql", "sqlite")
_MARKS = (("mysql", ("`", "on duplicate key", "insert ignore", "replace into")), ("sqlite", ("insert or ",)))
_SIGNS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "mod": "%",
    "dpipe": "||",
    "eq": "=",
    "neq": "<>",
    "nullsafeeq": "=",
    "nullsafeneq": "<>",
    "gt": ">",
    "gte": ">=",
    "lt": "<",
    "lte": "<=",
}
_HOLE = re.compile(rf"(\S+)\s+{HOLE}(?=\s|\)|$)")
_EXPECTS = frozenset(
    """SELECT DISTINCT FROM INTO UPDATE SET VALUES WHERE AND OR NOT IN ON JOIN BY LIMIT OFFSET HAVING RETURNING LIKE
    ILIKE BETWEEN THEN ELSE WHEN CASE AS IS USING TABLE INTERVAL ANY ALL EXISTS""".split()
)
_CALLED = {"concat": "concat", "safeconcat": "concat", "currenttimestamp": "now"}


@lru_cache(maxsize=4096)
def parse(prepared: Prepared) -> Parsed | None:
    """The statement that a prepared text is; None for one that does not parse or is of a kind nobody reads."""
    word = prepared.word
    if word not in VERBS:
        return None
    text = prepared.text
    if word == "replace":
        text = f"INSERT{text[len('replace') :]}"
    bare = _without_clauses(text)
    for written in dict.fromkeys((text, bare)):
        for dialect in _dialects(prepared.text):
            parsed = _parsed(written, dialect, prepared.parameters)
            if parsed is not None:
                statement = parsed.statement
                if word == "replace" and isinstance(statement, Insert):
                    statement = _replacing(statement)
                return Parsed(statement, parsed.before, written == text)
    return None


def _without_clauses(text: str) -> str:
    """The text without the holes that stand where a clause may follow: `WHERE a = 1 {more} ORDER BY b`."""

    def kept(found: re.Match[str]) -> str:
        return found[0] if found[1].upper() in _EXPECTS or found[1][-1] in "=<>+-*/|,(%" else found[1]

    return _HOLE.sub(kept, text)


def _dialects(text: str) -> list[str]:
    lowered = text.lower()
    marked = [dialect for dialect, marks in _MARKS if any(mark in lowered for mark in marks)]
    return [*marked, *(dialect for dialect in _DIALECTS if dialect not in marked)]


def _parsed(text: str, dialect: str, parameters: tuple[int | str, ...]) -> Parsed | None:
    import sqlglot
    from sqlglot.errors import SqlglotError

    # It warns of what it does not know; that is nothing to tell the user.
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
    try:
        return _Reader(parameters).parsed(sqlglot.parse_one(text, dialect=dialect))
    except (SqlglotError, RecursionError, AttributeError, TypeError, ValueError, LookupError):
        # Text that is no statement may lead to a tree of any shape.
        return None


def _replacing(insert: Insert) -> Insert:
    return Insert(insert.table, insert.columns, insert.rows, insert.query, "update")


class _Reader:
    """Reads one statement; `parameters` as in `Prepared`."""

    def __init__(self, parameters: tuple[int | str, ...]) -> None:
        self.parameters = parameters

    def parsed(self, node: Any) -> Parsed | None:
        before: list[tuple[str, Statement]] = []
        clause = _argument(node, "with")
        for inner in clause.args.get("expressions") or () if clause is not None else ():
            statement = self.statement(inner.this)
            if statement is not None:
                before.append((inner.alias.lower(), statement))
        statement = self.statement(node)
        return Parsed(statement, tuple(before)) if statement is not None else None

    def statement(self, node: Any) -> Statement | None:
        match node.key:
            case "select" | "union" | "except" | "intersect" | "subquery" | "paren":
                return self.select(node)
            case "insert":
                return self.insert(node)
            case "update":
                return self.update(node)
            case "delete":
                return self.delete(node)
            case "truncatetable":
                tables = node.expressions
                return Delete(self.table(tables[0])) if tables else None
        return None

    def select(self, node: Any) -> Select:
        if node.key in ("subquery", "paren"):
            return self.select(node.this) if node.this is not None else Select(())
        if node.key != "select":
            # What one side of a union finds is not what the whole finds.
            return Select(((Hole(), ""),), where=Hole())
        joined = [join.this for join in node.args.get("joins") or ()]
        first = _argument(node, "from")
        tables = [*([first.this] if first is not None else []), *joined]
        columns = tuple(self.selected(node.expressions))
        grouped = node.args.get("group") is not None or node.args.get("having") is not None
        return Select(
            columns,
            tuple(self.table(table) for table in tables),
            self.where(node),
            grouped,
            bool(node.args.get("locks")),
        )

    def selected(self, nodes: list[Any]) -> Iterator[tuple[Term, str]]:
        for node in nodes:
            term = self.term(node.this if node.key == "alias" else node)
            plain = term.name if isinstance(term, Column | Apply) else ""
            yield term, node.alias.lower() or plain

    def insert(self, node: Any) -> Insert | None:
        schema = node.this
        if schema is None or schema.key not in ("schema", "table"):
            return None
        columns = tuple(_name(each) for each in schema.expressions) if schema.key == "schema" else ()
        table = self.table(schema.this if schema.key == "schema" else schema)
        source = node.args.get("expression")
        rows: tuple[tuple[Term, ...], ...] = ()
        query = None
        if source is not None and source.key == "values":
            rows = tuple(self.values(row) for row in source.expressions)
        elif source is not None:
            query = self.select(source)
        conflict, on, updates = self.conflict(node)
        return Insert(table, columns, rows, query, conflict, on, updates, self.returning(node))

    def values(self, row: Any) -> tuple[Term, ...]:
        if row.key not in ("tuple", "paren"):
            # `VALUES %s`: whole rows are put in.
            return (Star(),)
        items = row.expressions if row.key in ("tuple", "paren") and row.expressions else [row]
        return tuple(self.term(item.this if item.key == "paren" else item) for item in items)

    def conflict(self, node: Any) -> tuple[str, tuple[str, ...], tuple[tuple[str, Term], ...]]:
        alternative = str(node.args.get("alternative") or "").upper()
        clause = node.args.get("conflict")
        if clause is None:
            ignored = node.args.get("ignore") or alternative == "IGNORE"
            return "ignore" if ignored else "update" if alternative == "REPLACE" else "", (), ()
        on = tuple(_name(key) for key in clause.args.get("conflict_keys") or ())
        if clause.args.get("constraint") is not None:
            on = ("",)
        updates = tuple(self.sets(clause.expressions))
        nothing = "NOTHING" in str(clause.args.get("action") or "").upper()
        return "ignore" if nothing else "update", on, updates

    def update(self, node: Any) -> Update | None:
        if node.this is None or node.this.key != "table":
            return None
        clause = _argument(node, "from")
        others = [clause.this] if clause is not None else []
        others += [join.this for join in node.this.args.get("joins") or ()]
        tables = tuple(self.table(other) for other in others)
        sets = tuple(self.sets(node.expressions))
        return Update(self.table(node.this), sets, tables, self.where(node), self.returning(node))

    def delete(self, node: Any) -> Delete | None:
        if node.this is None or node.this.key != "table":
            return None
        others = tuple(self.table(other) for other in node.args.get("using") or () if other.key == "table")
        return Delete(self.table(node.this), others, self.where(node), self.returning(node))

    def sets(self, nodes: list[Any]) -> Iterator[tuple[str, Term]]:
        for node in nodes:
            if node.key != "eq":
                yield "", Hole()
                continue
            left, right = node.this, node.expression
            if left.key == "tuple":
                values = right.expressions if right.key == "tuple" else [None] * len(left.expressions)
                for target, value in zip(left.expressions, values, strict=False):
                    yield _name(target), self.term(value) if value is not None else Hole()
            else:
                yield _name(left), self.term(right)

    def returning(self, node: Any) -> tuple[tuple[Term, str], ...]:
        clause = node.args.get("returning")
        return tuple(self.selected(clause.expressions)) if clause is not None else ()

    def where(self, node: Any) -> Term | None:
        clause = node.args.get("where")
        return self.term(clause.this) if clause is not None else None

    def table(self, node: Any) -> Table:
        if node.key == "table":
            name = node.name.lower()
            return Table(table_name(f"{node.db}.{name}" if node.db else name), node.alias.lower() or name)
        if node.key == "subquery":
            return Table("", node.alias.lower(), self.select(node))
        return Table("", node.alias.lower())

    # --- expressions

    def term(self, node: Any) -> Term:
        key = node.key
        match key:
            case "paren" | "any" | "collate" | "dot" if node.this is not None:
                return self.term(node.this)
            case "column":
                return self.column(node)
            case "identifier" | "var":
                return self.column(node)
            case "star":
                return Star()
            case "literal":
                return self.literal(node)
            case "null":
                return Literal(None)
            case "boolean":
                return Literal(bool(node.this))
            case "placeholder":
                return self.given(node.name)
            case "tuple" | "array":
                return Row(tuple(self.term(each) for each in node.expressions))
            case "subquery" | "select" | "union":
                return Query(self.select(node))
            case "exists":
                return Apply("exists", (Query(self.select(node.this)),)) if node.this is not None else Hole()
            case "not" if node.this.key == "is":
                return Apply("is not", (self.term(node.this.this), self.term(node.this.expression)))
            case "is":
                name = "is not" if node.args.get("negate") else "is"
                return Apply(name, (self.term(node.this), self.term(node.expression)))
            case "in":
                return self.among(node)
            case "cast" | "trycast":
                kind = node.args.get("to")
                return Apply(f"cast {kind.sql().lower() if kind is not None else ''}", (self.term(node.this),))
            case "neg" if node.this.key == "literal":
                found = self.literal(node.this)
                return Literal(-found.value) if isinstance(found.value, int | float) else found
        name = node.name.lower() if key == "anonymous" else _SIGNS.get(key, _CALLED.get(key, key))
        parts = tuple(self.term(each) for each in _operands(node))
        return Apply(name, parts)

    def among(self, node: Any) -> Term:
        query = node.args.get("query")
        if query is not None:
            return Apply("in", (self.term(node.this), self.term(query)))
        field = node.args.get("field")
        items = [field] if field is not None else node.expressions
        return Apply("in", (self.term(node.this), Row(tuple(self.term(each) for each in items))))

    def column(self, node: Any) -> Term:
        name = node.name.lower()
        if HOLE in name:
            return Hole()
        if node.key == "column" and node.this is not None and node.this.key == "star":
            return Star()
        return Column(name, node.text("table").lower())

    def literal(self, node: Any) -> Literal:
        text = str(node.this)
        if node.args.get("is_string"):
            return Literal(text)
        try:
            return Literal(int(text))
        except ValueError:
            try:
                return Literal(float(text))
            except ValueError:
                return Literal(text)

    def given(self, name: str) -> Term:
        number = name.removeprefix(PARAMETER)
        if name == number or not number.isdecimal() or int(number) >= len(self.parameters):
            return Hole()
        return Given(self.parameters[int(number)])


def _argument(node: Any, name: str) -> Any:
    """A clause by its name, which some versions of the parser spell with an underline behind."""
    return node.args.get(name) or node.args.get(f"{name}_")


def _name(node: Any) -> str:
    """The column that stands in a list of columns, "" for an expression."""
    inner = node
    while inner is not None and inner.key in ("ordered", "paren"):
        inner = inner.this
    if inner is None or inner.key not in ("column", "identifier", "var"):
        return ""
    name = str(inner.name).lower()
    return "" if HOLE in name else name


def _operands(node: Any) -> Iterator[Any]:
    for value in node.args.values():
        for each in value if isinstance(value, list) else (value,):
            if hasattr(each, "key") and hasattr(each, "args"):
                yield each
