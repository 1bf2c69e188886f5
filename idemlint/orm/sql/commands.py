"""Statements -> commands: which table, what selects its rows, what is written into them, what comes back."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from idemlint.orm.sql import words
from idemlint.orm.sql.parse import VERBS, parse
from idemlint.orm.sql.terms import asks, clamped, columns_of, conjuncts, counted, own_column, step, tables_in
from idemlint.orm.sql.text import Prepared, statements, table_name
from idemlint.orm.sql.tree import (
    Apply,
    Column,
    Delete,
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

_COMPARED = {"=": "", "<>": "__ne", "<": "__lt", "<=": "__lte", ">": "__gt", ">=": "__gte", "in": "__in"}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
_MATCHED = {"like": "__contains", "ilike": "__icontains", "between": "__range"}

_DROPPED = re.compile(r'drop\s+table\s+(?:if\s+exists\s+)?(["`\w.]+)', re.IGNORECASE)

Condition = tuple[str, Term]
"""A column, with its operator as every layer spells it (`status__in`), and what it is compared with."""


@dataclass(frozen=True, slots=True)
class Assigned:
    """A column that is written. `itself` says how the new value hangs on the old one: "expression" when it counts on
    from it, "append" when an item is put behind it, "join" when a text is, "" where it does not."""

    column: str
    term: Term
    itself: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of each row that comes back: its name, the column it is, or what it tells: "exists" and "absent" whether
    there are rows, "count" how many, "whole" something about all of them."""

    name: str
    column: str = ""
    tells: str = ""


@dataclass(frozen=True, slots=True)
class Lookup:
    """What selects rows: conditions that all of them fulfil, whether these are all there are, whether the rows are
    locked."""

    conditions: tuple[Condition, ...] = ()
    complete: bool = True
    locks: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """One statement on one table.

    verb: "select", "insert", "update", "delete", "mutex" (a lock that hangs on no row; `scope` says whether to the end
    of the "transaction" or of the "session"), "begin", "commit", "rollback". `values` are what is written; a name such
    as `#0` stands for the first column of the table. `opaque` says that not all of it could be read. `conflict`,
    `conflict_on` and `updates` say what an insert does about the row in its way, `absent` what must not be there for it
    to be made. `parts` are what each row that comes back is made of, None where that cannot be told; `one` says that
    exactly one comes back, whatever is found. `follows` are the positions of commands before it, in the same statement,
    whose rows it needs; `gives` says that what comes back is the result of the statement.
    """

    verb: str
    table: str = ""
    lookup: Lookup = Lookup()
    values: tuple[Assigned, ...] = ()
    opaque: bool = False
    many: bool = False
    conflict: str = ""
    conflict_on: tuple[str, ...] = ()
    updates: tuple[Assigned, ...] = ()
    absent: Lookup | None = None
    parts: tuple[Part, ...] | None = ()
    one: bool = False
    scope: str = ""
    style: str = ""
    follows: tuple[int, ...] = ()
    gives: bool = True


def commands(text: str) -> tuple[Command, ...] | None:
    """What the statements in `text` do, in order; the last one gives the result. None where it is no SQL, or where one
    of its statements cannot be read."""
    found: list[Command] = []
    for prepared in statements(text):
        word = prepared.word
        if word in words.CONTROL and len(prepared.text.split()) <= 6:
            # `ROLLBACK TO` ends no transaction.
            if " to " not in f" {prepared.text.lower()} ":
                found.append(Command(words.CONTROL[word]))
        elif word == "lock":
            found.append(Command("mutex", scope="transaction"))
        elif word == "drop" and (dropped := _DROPPED.match(prepared.text)) is not None:
            # What is made anew afterwards starts empty.
            found.append(Command("delete", table_name(dropped[1])))
        elif word in VERBS:
            parsed = parse(prepared)
            if parsed is None:
                return None
            found.extend(_of(parsed, prepared.style, len(found)))
        elif word not in words.HARMLESS:
            return None
    return tuple(found)


def is_sql(text: str) -> bool:
    """Whether a text begins as a statement does."""
    first = next(statements(text[:200]), Prepared(""))
    rest = first.text.lower().split()[1:2]
    return (first.word in VERBS and bool(rest)) or (first.word in ("create", "alter", "lock") and rest[:1] == ["table"])


def _of(parsed: Parsed, style: str, position: int) -> Iterator[Command]:
    """The commands of one statement, the first of which is at `position` in the whole text."""
    reader = _Commands(dict(parsed.before))
    main = parsed.statement
    asked = main.tables[0].name if isinstance(main, Select) and main.tables else ""
    # `WITH done AS (UPDATE ... RETURNING id) SELECT id FROM done` gives what the update gives.
    changes = {name: statement for name, statement in parsed.before if not isinstance(statement, Select)}
    places: dict[str, int] = {}
    for name, statement in (*changes.items(), ("", main)):
        if statement is main and asked in changes:
            continue
        needed = tables_in(statement)
        follows = tuple(place for known, place in places.items() if known in needed)
        gives = name == (asked if asked in changes else "")
        for command in reader.command(statement):
            yield replace(
                command,
                opaque=command.opaque or not parsed.whole,
                lookup=replace(command.lookup, complete=command.lookup.complete and parsed.whole),
                style=style,
                follows=follows,
                gives=gives,
            )
            places[name] = position
            position += 1


class _Commands:
    """Reads the statements of one text; `before` are those that have a name."""

    def __init__(self, before: Mapping[str, Statement]) -> None:
        self.before = before

    def command(self, statement: Statement) -> Iterator[Command]:
        match statement:
            case Select():
                yield from self.select(statement)
            case Insert():
                yield self.insert(statement)
            case Update():
                yield self.update(statement)
            case Delete():
                lookup = self.lookup(statement.where, statement.table, statement.tables)
                parts = self.parts(statement.returning, statement.table)
                yield Command("delete", statement.table.name, lookup, parts=parts)

    def select(self, statement: Select) -> Iterator[Command]:
        for term, _ in statement.columns:
            if isinstance(term, Apply) and term.name in (*words.UNTIL_COMMIT, *words.UNTIL_UNLOCKED):
                scope = "transaction" if term.name in words.UNTIL_COMMIT else "session"
                yield Command("mutex", scope=scope, parts=(Part(term.name),), one=True)
                return
        asked = [(term, name) for term, name in statement.columns if asks(term) is not None]
        if not statement.tables and len(asked) == 1 == len(statement.columns):
            inner = asks(asked[0][0])
            assert inner is not None
            table, lookup = self.source(inner[0])
            part = Part(asked[0][1], tells="exists" if inner[1] else "absent")
            yield Command("select", table, lookup, parts=(part,), one=True)
            return
        table, lookup = self.source(statement)
        whole = [term for term, _ in statement.columns if isinstance(term, Apply) and term.name in words.SUMS]
        one = bool(whole) and not statement.grouped
        main = statement.tables[0] if statement.tables else Table("")
        parts = self.parts(statement.columns, main, single=len(statement.tables) == 1)
        yield Command("select", table, lookup, parts=parts, one=one)

    def source(self, select: Select) -> tuple[str, Lookup]:
        """The table a query reads first, and what selects its rows."""
        if not select.tables:
            return "", Lookup(complete=False)
        main, *rest = select.tables
        named = self.before.get(main.name)
        inner = main.query or (named if isinstance(named, Select) else None)
        lookup = self.lookup(select.where, main, tuple(rest))
        if inner is not None:
            if any(each is inner for each in self.followed):
                return "", Lookup(complete=False)
            table, found = self.inside(inner)
            both = (*found.conditions, *lookup.conditions)
            return table, Lookup(both, found.complete and lookup.complete, found.locks or select.locks)
        return main.name, replace(lookup, locks=select.locks or lookup.locks)

    followed: tuple[Select, ...] = ()

    def inside(self, select: Select) -> tuple[str, Lookup]:
        """A query inside of another, each followed once."""
        outer, self.followed = self.followed, (*self.followed, select)
        found = self.source(select)
        self.followed = outer
        return found

    def insert(self, statement: Insert) -> Command:
        values: list[Assigned] = []
        opaque = False
        many = len(statement.rows) > 1
        absent = None
        rows = list(statement.rows)
        if statement.query is not None:
            rows = [tuple(counted(term, statement.query) for term, _ in statement.query.columns)]
            absent = self.absent(statement)
            # MySQL's `dual` is no table.
            many = any(table.name != "dual" for table in statement.query.tables)
        names = statement.columns or tuple(f"#{index}" for index in range(max(map(len, rows), default=0)))
        for row in rows:
            if len(row) != len(names) or any(isinstance(term, Star) for term in row):
                # `VALUES %s`: the rows are put in by the program.
                opaque, many = True, True
                continue
            for name, term in zip(names, row, strict=True):
                opaque = opaque or not name
                values.append(Assigned(name, term))
        table = statement.table
        updates = tuple(Assigned(name, term, step(term, name, table)) for name, term in statement.updates)
        # A key that the statement names by what nobody can read is there all the same.
        hidden = not all(statement.on)
        return Command(
            "insert",
            table.name,
            values=tuple(each for each in values if each.column),
            opaque=opaque or hidden,
            many=many,
            conflict=statement.conflict,
            conflict_on=() if hidden else statement.on,
            updates=updates,
            absent=absent,
            parts=self.parts(statement.returning, table),
        )

    def absent(self, statement: Insert) -> Lookup | None:
        """The rows of the same table that must not be there: `SELECT ... WHERE NOT EXISTS (...)` and its kin."""
        query = statement.query
        own = {table.alias for table in query.tables if table.name == statement.table.name} if query else set()
        for term in conjuncts(query.where) if query is not None and query.where is not None else ():
            asked = asks(term)
            if asked is not None and not asked[1]:
                table, lookup = self.source(asked[0])
                if table == statement.table.name:
                    return lookup
            match term:
                case Apply(name="not", parts=(Apply(name="in", parts=(_, Query(select=inner))),)):
                    if self.source(inner)[0] == statement.table.name:
                        return Lookup(complete=False)
                case Apply(name="is", parts=(Column(table=alias), Literal(value=None))) if alias in own:
                    # A row that a join finds no partner for.
                    return Lookup(complete=False)
        return None

    def update(self, statement: Update) -> Command:
        table = statement.table
        # What is added up from other rows is worked out anew: which of them count is up to that query.
        summed = {other.alias for other in statement.tables if other.query is not None or other.name in self.before}
        values = tuple(
            Assigned(name, term, "" if columns_of(term) & summed else step(term, name, table))
            for name, term in statement.sets
        )
        return Command(
            "update",
            table.name,
            self.lookup(statement.where, table, statement.tables),
            tuple(each for each in values if each.column),
            opaque=any(not each.column for each in values),
            parts=self.parts(statement.returning, table),
        )

    def parts(
        self, columns: tuple[tuple[Term, str], ...], table: Table, *, single: bool = True
    ) -> tuple[Part, ...] | None:
        found: list[Part] = []
        for term, name in columns:
            asked = asks(term)
            if isinstance(term, Star | Hole):
                return None
            if isinstance(term, Column):
                own = term.table in ("", table.alias, table.name) if term.table else single
                found.append(Part(name, term.name if own else ""))
            elif asked is not None:
                found.append(Part(name, tells="exists" if asked[1] else "absent"))
            elif isinstance(term, Apply) and term.name in words.SUMS:
                found.append(Part(name, tells="count" if term.name.startswith("count") else "whole"))
            else:
                found.append(Part(name, clamped(term, table) if single else ""))
        return tuple(found)

    # --- conditions

    def lookup(self, where: Term | None, table: Table, others: tuple[Table, ...]) -> Lookup:
        conditions: list[Condition] = []
        complete = not others
        locks = False
        for term in conjuncts(where) if where is not None else ():
            found = self.condition(term, table, alone=not others)
            if found is None:
                complete = False
                continue
            conditions.extend(found.conditions)
            complete, locks = complete and found.complete, locks or found.locks
        for other in others:
            # `UPDATE jobs ... FROM picked`, which picked rows of the same table before.
            named = self.before.get(other.name)
            inner = other.query or (named if isinstance(named, Select) else None)
            if inner is not None and not any(each is inner for each in self.followed):
                name, found = self.inside(inner)
                if name == table.name:
                    conditions.extend(found.conditions)
                    locks = locks or found.locks
        return Lookup(tuple(conditions), complete, locks)

    def condition(self, term: Term, table: Table, *, alone: bool) -> Lookup | None:
        """What one condition says of the rows of `table`; None for one that cannot be read."""
        if isinstance(term, Column):
            column = own_column(term, table, alone)
            return Lookup(((column, Literal(True)),)) if column else None
        if not isinstance(term, Apply):
            return None
        match term.name, term.parts:
            case "not", (Column() as inner,):
                column = own_column(inner, table, alone)
                return Lookup(((column, Literal(False)),)) if column else None
            case "not", (Apply(name="=", parts=parts),):
                return self.condition(Apply("<>", parts), table, alone=alone)
            case ("is" | "is not") as sign, (left, Literal(value=value)):
                column = own_column(left, table, alone)
                if not column:
                    return None
                if value is None:
                    return Lookup(((f"{column}__isnull", Literal(sign == "is")),))
                return Lookup(((column, Literal(value is (sign == "is"))),)) if isinstance(value, bool) else None
            case sign, (Row(items=left), Row(items=right)) if sign == "=" and len(left) == len(right):
                pairs = [self.condition(Apply("=", both), table, alone=alone) for both in zip(left, right, strict=True)]
                known = [pair for pair in pairs if pair is not None]
                return Lookup(tuple(each for pair in known for each in pair.conditions), len(known) == len(pairs))
            case sign, (left, right) if sign in _COMPARED:
                return self.compared(sign, left, right, table, alone)
            case sign, (left, *rest) if sign in _MATCHED and rest:
                column = own_column(left, table, alone)
                return Lookup(((f"{column}{_MATCHED[sign]}", rest[0]),)) if column else None
        return None

    def compared(self, sign: str, left: Term, right: Term, table: Table, alone: bool) -> Lookup | None:
        column = own_column(left, table, alone)
        if not column and sign in _MIRRORED and own_column(right, table, alone):
            column, right, sign = own_column(right, table, alone), left, _MIRRORED[sign]
        if not column:
            return None
        if isinstance(right, Query) and sign in ("=", "in"):
            name, found = self.inside(right.select)
            return found if name == table.name else Lookup(((f"{column}{_COMPARED[sign]}", right),), False)
        if isinstance(right, Column):
            # One column against another joins tables, or compares what is stored.
            return None
        return Lookup(((f"{column}{_COMPARED[sign]}", right),))
