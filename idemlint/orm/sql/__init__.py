"""Statements as text: what they do, and the tables they speak of. No layer of models, so none of `LAYERS`."""

from idemlint.orm.sql.commands import Assigned, Command, Lookup, Part, commands, is_sql
from idemlint.orm.sql.guess import AUTOMATIC, guess
from idemlint.orm.sql.models import NAME, by_table, deleted, extended, named, table
from idemlint.orm.sql.schema import SPEAKS, changes
from idemlint.orm.sql.terms import sums
from idemlint.orm.sql.tree import Apply, Column, Given, Hole, Literal, Query, Row, Term
from idemlint.orm.sql.words import ASKS, COUNTS, GIVES, MADE, MANY, SETS_ALONE, commits_alone, source

__all__ = [
    "ASKS",
    "AUTOMATIC",
    "COUNTS",
    "GIVES",
    "MADE",
    "MANY",
    "NAME",
    "SETS_ALONE",
    "SPEAKS",
    "Apply",
    "Assigned",
    "Column",
    "Command",
    "Given",
    "Hole",
    "Literal",
    "Lookup",
    "Part",
    "Query",
    "Row",
    "Term",
    "by_table",
    "changes",
    "commands",
    "commits_alone",
    "deleted",
    "extended",
    "guess",
    "is_sql",
    "named",
    "source",
    "sums",
    "table",
]
