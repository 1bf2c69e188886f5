"""The words of SQL that say where a value comes from, and what a lock is."""

from __future__ import annotations

from collections.abc import Mapping

from idemlint.orm.sql.tree import Apply, Literal

CLOCK = frozenset(
    """now currenttimestamp currentdate currenttime currentdatetime localtime localtimestamp transaction_timestamp
    statement_timestamp clock_timestamp timeofday sysdate systimestamp utc_timestamp utctimestamp utcdate utctime
    getdate
    current_timestamp current_date current_time curdate curtime unixepoch julianday""".split()
)
"""Functions that give the time of the call. Those of `AT_NOW` do so where they are asked for now."""

AT_NOW = frozenset(
    {"datetime", "date", "time", "strftime", "timestamp", "unix_timestamp", "unixtimestamp", "tsordstodate"}
)

CHANCE = frozenset(
    """random rand randn uuid gen_random_uuid uuid_generate_v1 uuid_generate_v4 uuidv4 uuidv7 newid nextval randomblob
    gen_random_bytes nextvaluefor""".split()
)
"""Functions that give another value at each call."""


def source(term: Apply) -> str:
    """Where the value of a function comes from beside its arguments: "clock", "random", or "" for nowhere."""
    if term.name in CLOCK:
        return "clock"
    if term.name in AT_NOW and any(isinstance(part, Literal) and part.value == "now" for part in term.parts):
        return "clock"
    return "random" if term.name in CHANCE else ""


SUMS = frozenset({"count", "max", "min", "sum", "avg", "arrayagg", "groupconcat", "stringagg", "jsonagg", "countif"})
"""Functions that put all rows together into one."""

UNTIL_COMMIT = ("pg_advisory_xact_lock", "pg_try_advisory_xact_lock")
UNTIL_UNLOCKED = ("pg_advisory_lock", "pg_try_advisory_lock", "get_lock")
"""Functions that take a lock which hangs on no row."""

CONTROL = {
    "begin": "begin",
    "start": "begin",
    "commit": "commit",
    "end": "commit",
    "rollback": "rollback",
    "abort": "rollback",
}
"""What statements that are one word or two do to the transaction."""

HARMLESS = frozenset(
    """set show explain analyze vacuum reindex refresh notify listen unlisten discard deallocate prepare comment grant
    revoke create alter drop savepoint release use pragma reset copy call do execute declare fetch close checkpoint
    cluster values table describe optimize attach detach""".split()
)
"""What other statements begin with: SQL, but nothing that is followed."""

GIVES = {
    "fetchrow": "first",
    "fetch_one": "first",
    "fetchval": "value",
    "fetch_val": "value",
    "scalar": "value",
    "fetch": "rows",
    "fetch_all": "rows",
    "iterate": "rows",
    "scalars": "scalars",
    "execute_fetchall": "rows",
    "execute_insert": "first",
}
"""What a call that runs a statement gives at once, where that is not its result to be asked; by the method's name."""

ASKS = {
    **dict.fromkeys(("fetchone", "first", "one_or_none"), "first"),
    "one": "get",
    **dict.fromkeys(("scalar", "scalar_one_or_none"), "value"),
    "scalar_one": "only",
    **dict.fromkeys(("fetchall", "fetchmany", "all", "partitions"), "rows"),
    "scalars": "scalars",
    **dict.fromkeys(("mappings", "unique", "tuples", "yield_per", "columns"), "same"),
}
"""What the methods of a result give: a row or None, one row for sure, a value of one, all rows, a value of each."""

MANY = frozenset({"executemany", "execute_many", "execute_batch", "execute_values"})
"""Calls that run a statement once for each row of parameters."""

COUNTS = frozenset({"rowcount"})
"""Attributes of a result that say how many rows there were."""

SETS_ALONE = frozenset({"autocommit", "set_autocommit", "set_session"})
"""Attributes and methods of a connection that say whether its statements commit alone."""


def commits_alone(arguments: Mapping[str, object]) -> bool:
    """Whether a call with these arguments (`#0` for the first) makes statements commit alone: `autocommit=True`."""
    level = arguments.get("isolation_level", ...)
    return True in (arguments.get("autocommit"), arguments.get("#0")) or level is None


MADE = frozenset({"lastrowid"})
"""Attributes of a result that are the primary key of the row that was inserted."""
