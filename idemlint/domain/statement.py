"""Statements that change rows, put together first and run later by a session."""

from __future__ import annotations

from dataclasses import dataclass

from idemlint.domain.effect import Write


@dataclass(frozen=True, slots=True)
class Statement:
    """What a statement will do when it is run: `verb` is "insert", "update", "delete" or, for a query that only asks if
    there are rows, "exists". `writes` are the values it stores, `conflict` what an insert does about a row in its way
    ("", "ignore", "update"), `conflict_on` the columns it names for that, `updates` what it then writes over that row.
    `many` says that it stores several rows, `opaque` that not all of its values could be read."""

    verb: str
    writes: tuple[Write, ...] = ()
    conflict: str = ""
    conflict_on: tuple[str, ...] = ()
    updates: tuple[Write, ...] = ()
    many: bool = False
    opaque: bool = False
