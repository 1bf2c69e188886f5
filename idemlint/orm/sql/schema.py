"""What `CREATE TABLE`, `CREATE UNIQUE INDEX` and `ALTER TABLE` say of tables. Read by hand: a dump of a schema is long,
full of words that only one database knows, and little of it matters here."""

from __future__ import annotations

import re
from collections.abc import Iterator

from idemlint.orm.sql.text import HOLE, statements, table_name
from idemlint.orm.terms import Change
from idemlint.program import Field, UniqueKey

SPEAKS = re.compile(
    r"\b(?:create\s+(?:\w+\s+){0,3}(?:table|unique\s+index)|alter\s+table|create\s+unique)\b", re.IGNORECASE
)
"""Text in which this is found may say something of tables."""

PRIMARY = "PRIMARY KEY"

_NAME = r"""(?:"[^"]+"|`[^`]+`|\[[^\]]+\]|[\w$]+)"""
_TABLE = rf"(?P<table>{_NAME}(?:\s*\.\s*{_NAME})*)"
_CREATE = re.compile(
    rf"create\s+(?:(?:global|local|(?P<temporary>temp|temporary)|unlogged|foreign)\s+)*table\s+(?:if\s+not\s+exists\s+)?{_TABLE}\s*(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_INDEX = re.compile(
    rf"create\s+unique\s+(?:clustered\s+|nonclustered\s+)?index\s+(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?(?:{_NAME}(?:\s*\.\s*{_NAME})?\s+)?"
    rf"on\s+(?:only\s+)?{_TABLE}\s*(?:using\s+\w+\s*)?(?P<rest>\(.*)",
    re.IGNORECASE | re.DOTALL,
)
_ALTER = re.compile(
    rf"alter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?{_TABLE}\s+(?P<rest>.*)", re.IGNORECASE | re.DOTALL
)
_ADDED = re.compile(
    rf"add\s+(?:constraint\s+{_NAME}\s+)?(?P<rest>(?:unique|primary\s+key|exclude)\b.*)", re.IGNORECASE | re.DOTALL
)
_NEW_COLUMN = re.compile(
    rf"add\s+(?:column\s+)?(?:if\s+not\s+exists\s+)?(?P<rest>{_NAME}\s+[A-Za-z].*)", re.IGNORECASE | re.DOTALL
)
_KEY = re.compile(
    rf"(?:constraint\s+{_NAME}\s+)?(?P<word>unique|primary\s+key)(?P<nulls>\s+nulls\s+not\s+distinct)?"
    rf"(?:\s+(?:key|index))?(?:\s+(?!\(){_NAME})?\s*(?:using\s+\w+\s*)?(?P<rest>\(.*)",
    re.IGNORECASE | re.DOTALL,
)
# MySQL's `KEY by_date (day)` is no column, `key varchar(40)` is one.
_NO_COLUMN = re.compile(
    r"(?:constraint|check|exclude|foreign\s+key|period\s+for)\b"
    rf"|(?:(?:fulltext|spatial)\s+)?(?:index|key)(?:\s+{_NAME})?\s*(?:using\s+\w+\s*)?\((?!\s*\d)|(?:fulltext|spatial)\s*\(",
    re.IGNORECASE,
)
_EXCLUDES = re.compile(
    rf"(?:constraint\s+{_NAME}\s+)?exclude\s*(?:using\s+\w+\s*)?(?P<rest>\(.*)", re.IGNORECASE | re.DOTALL
)
_EXCLUDED = re.compile(r"(.*?)\s+with\s+(?:=|&&|@>|<@)\s*", re.IGNORECASE | re.DOTALL)
# In a dump, data stand between the statements.
_DATA = re.compile(r"^copy\s[^;]*?\sfrom\s+stdin\b[^;]*;.*?^\\\.$", re.IGNORECASE | re.DOTALL | re.MULTILINE)
_PART = re.compile(
    rf"""({_NAME})(?:\s*\(\s*\d+\s*\))?(?:\s+(?:asc|desc|collate\s+\S+|nulls\s+(?:first|last)|\w+_ops))*\s*""",
    re.IGNORECASE,
)
_FUNCTION = re.compile(
    rf"\(*\s*(?:lower|upper|trim|date|md5|coalesce)\s*\(\s*\(?\s*({_NAME})[^()]*\)*\s*", re.IGNORECASE
)
_COLUMN = re.compile(rf"({_NAME})\s+(.*)", re.DOTALL)
_DEFAULT = re.compile(r"\bdefault\s+(.+)", re.IGNORECASE | re.DOTALL)
_UNSTABLE = re.compile(
    r"\(*\s*(?:now|current_|clock_|gen_random|uuid|random|nextval|localtime|statement_|getdate|sysdate|newid|datetime|randomblob)",
    re.IGNORECASE,
)
_KINDS = (
    ("json", r"json|hstore|[\w\s(),]*\[\]|array"),
    ("text", r"char|text|clob|uuid|enum|citext|inet|bytea|blob|binary|name"),
    ("time", r"timestamp|date|time|interval"),
    ("flag", r"bool|bit\b|tinyint\(1\)"),
    ("money", r"money"),
    (
        "number",
        r"int|serial|bigserial|smallserial|bigint|smallint|tinyint|mediumint|numeric|decimal|real|double|float|number|dec\b",
    ),
)
_KIND = tuple((kind, re.compile(rf"\w*(?:{words})", re.IGNORECASE)) for kind, words in _KINDS)


def changes(text: str) -> Iterator[Change]:
    """What the statements in `text` say of tables, in order."""
    plain = _DATA.sub(" ", text)
    for prepared in statements(plain, len(plain)):
        statement = prepared.text
        if SPEAKS.match(statement):
            yield from _change(statement)


def _change(statement: str) -> Iterator[Change]:
    created = _CREATE.match(statement)
    if created is not None and created["temporary"]:
        # Nobody else sees its rows.
        return
    if created is not None:
        found = _created(table_name(created["table"]), created["rest"])
        if found is not None:
            yield found
        return
    index = _INDEX.match(statement)
    if index is not None:
        inner, behind = _parenthesised(index["rest"])
        key = _key_over(inner, "CREATE UNIQUE INDEX", behind)
        table = table_name(index["table"])
        if table:
            yield Change(table, unique=(key,)) if key is not None else Change(table, hidden=True)
        return
    altered = _ALTER.match(statement)
    table = table_name(altered["table"]) if altered is not None else ""
    for action in _items(altered["rest"]) if altered is not None and table else ():
        added = _ADDED.match(action)
        if added is not None:
            key = _key(added["rest"])
            # A constraint that takes over an index has the columns of that.
            yield Change(table, unique=(key,)) if key is not None else Change(table, hidden=True)
            continue
        column = _NEW_COLUMN.match(action)
        if column is not None and not _NO_COLUMN.match(column["rest"]):
            field, key = _column(column["rest"])
            yield Change(table, fields=(field,), unique=(key,) if key is not None else ())


def _created(table: str, rest: str) -> Change | None:
    """A table with its columns; None where its text names none, as for a part of another table."""
    if not table or not rest.startswith("("):
        return Change(table, hidden=True) if table else None
    inner, _ = _parenthesised(rest)
    fields: list[Field] = []
    keys: list[UniqueKey] = []
    hidden = HOLE in inner
    for item in _items(inner):
        key = _key(item)
        if key is not None:
            keys.append(key)
        elif _KEY.match(item) or _EXCLUDES.match(item) or re.match(r"like\b|inherits\b|select\b", item, re.IGNORECASE):
            hidden = True
        elif not _NO_COLUMN.match(item):
            field, own = _column(item)
            fields.append(field)
            keys.extend([own] if own is not None else [])
    return Change(table, tuple(fields), tuple(keys), whole=bool(fields), hidden=hidden)


def _column(item: str) -> tuple[Field, UniqueKey | None]:
    named = _COLUMN.match(item.strip())
    name = table_name(named[1]) if named is not None else table_name(item.strip())
    rest = named[2] if named is not None else ""
    lowered = " ".join(rest.lower().split())
    primary = "primary key" in lowered
    unique = bool(re.search(r"\bunique\b", lowered))
    serial = re.match(r"(?:big|small)?serial\b", lowered) or "identity" in lowered or "auto" in lowered
    default = _DEFAULT.search(rest)
    if serial:
        given: str | None = "unstable"
    elif default is not None:
        given = "unstable" if _UNSTABLE.match(default[1]) else "constant"
    else:
        given = None
    kind = next((kind for kind, pattern in _KIND if pattern.match(lowered)), "other")
    if primary:
        kind = "id"
    elif re.search(r"\breferences\b", lowered) or (kind == "number" and name.endswith("_id")):
        kind = "relation"
    null = not (primary or "not null" in lowered or bool(serial))
    distinct = "nulls not distinct" not in lowered
    key = UniqueKey((name,), (), distinct, PRIMARY if primary else "UNIQUE") if primary or unique else None
    return Field(name, kind, null, given), key


def _key(item: str) -> UniqueKey | None:
    """The key that a constraint declares, None for anything else."""
    excludes = _EXCLUDES.match(item.strip())
    if excludes is not None:
        parts = [_EXCLUDED.fullmatch(part) for part in _items(_parenthesised(excludes["rest"])[0])]
        known = [part[1] for part in parts if part is not None]
        return _key_over(", ".join(known), "EXCLUDE", "") if len(known) == len(parts) else None
    found = _KEY.match(item.strip())
    if found is None:
        return None
    inner, _ = _parenthesised(found["rest"])
    source = PRIMARY if found["word"].lower() != "unique" else "UNIQUE"
    return _key_over(inner, source, found["nulls"] or "")


def _key_over(inner: str, source: str, behind: str) -> UniqueKey | None:
    """The key over a list of columns; None where one of them cannot be read."""
    columns: list[str] = []
    for item in _items(inner):
        part = _PART.fullmatch(item.strip()) or _FUNCTION.fullmatch(item.strip())
        name = table_name(part[1]) if part is not None else ""
        if not name:
            return None
        columns.append(name)
    where = re.search(r"\bwhere\b(.*)", behind, re.IGNORECASE | re.DOTALL)
    distinct = not re.search(r"nulls\s+not\s+distinct", behind, re.IGNORECASE)
    return UniqueKey(tuple(columns), _condition(where[1], columns) if where else (), distinct, source)


def _condition(where: str, columns: list[str]) -> tuple[str, ...]:
    """The columns of a partial key's condition. That its own columns are not NULL says what the key says anyway."""
    rest = re.sub(
        rf"\(?\s*({_NAME})\s+is\s+not\s+null\s*\)?",
        lambda found: "" if table_name(found[1]) in columns else found[0],
        where,
        flags=re.IGNORECASE,
    )
    rest = re.sub(r"'(?:''|[^'])*'|::\w+", " ", rest)
    names = re.findall(_NAME, rest)
    known = [table_name(name) for name in names if table_name(name) not in _WORDS and not name.isdecimal()]
    return tuple(dict.fromkeys(known)) if names else ()


_WORDS = frozenset("and or not null is true false in any array between like".split())


_PAREN = re.compile(r"""'(?:''|[^'])*'|"[^"]*"|`[^`]*`|[(),]""")


def _parenthesised(text: str) -> tuple[str, str]:
    """What stands between the first parenthesis of `text` and the one that closes it, and what follows."""
    depth = 0
    for found in _PAREN.finditer(text):
        depth += {"(": 1, ")": -1}.get(found.group(), 0)
        if depth == 0 and found.group() == ")":
            return text[text.index("(") + 1 : found.start()], text[found.end() :]
    return text.partition("(")[2], ""


def _items(text: str) -> Iterator[str]:
    """The parts of a list between commas."""
    depth = last = 0
    for found in _PAREN.finditer(text):
        depth += {"(": 1, ")": -1}.get(found.group(), 0)
        if depth == 0 and found.group() == ",":
            yield text[last : found.start()].strip()
            last = found.end()
    if text[last:].strip():
        yield text[last:].strip()
