"""Tables that no class stands for, and keys that migrations add to those that one does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from idemlint.orm.sql.schema import PRIMARY
from idemlint.orm.sql.text import table_name
from idemlint.orm.terms import Change
from idemlint.program import Field, Model, Site, UniqueKey

NAME = "sql"

_NAMED = re.compile(
    r"""\b(insert\s+(?:or\s+\w+\s+|ignore\s+)?into|replace\s+into|update(?:\s+only)?|delete\s+from|from|join|truncate(?:\s+table)?)
    \s+((?:["`\[]?\w+["`\]]?\s*\.\s*)?["`\[]?[A-Za-z_]\w*["`\]]?)(?![\w.])(?!\s+import\b)""",
    re.IGNORECASE | re.VERBOSE,
)


def named(text: str) -> Iterator[str]:
    """The tables that statements in a program's text may speak of; words that are none do no harm."""
    return (table for _, table in _mentioned(text))


def deleted(text: str) -> Iterator[str]:
    """Those of them that rows are deleted from."""
    return (table for word, table in _mentioned(text) if word.startswith(("delete", "truncate")))


def _mentioned(text: str) -> Iterator[tuple[str, str]]:
    for found in _NAMED.finditer(text):
        yield found[1].lower(), table_name(found[2])


def table(name: str, found: Iterable[tuple[Change, Site]] = ()) -> Model:
    """The table `name` as all that is said of it together; one of which nothing whole is said was not seen."""
    fields: dict[str, Field] = {}
    keys: list[UniqueKey] = []
    site: Site | None = None
    whole = hidden = False
    for change, place in found:
        site = place if site is None or (change.whole and not whole) else site
        whole, hidden = whole or change.whole, hidden or change.hidden
        for field in change.fields:
            fields.setdefault(field.name, field)
        keys.extend(key for key in change.unique if key not in keys)
    for key in keys:
        if key.source == PRIMARY and len(key.columns) == 1 and key.columns[0] in fields:
            fields[key.columns[0]] = replace(fields[key.columns[0]], kind="id", null=False)
    return Model(
        f"{NAME}:{name}",
        name,
        NAME,
        site or Site("", 0, 0),
        tuple(fields.values()),
        tuple(keys),
        seen=whole and not hidden,
        table=name,
    )


def extended(model: Model, found: Iterable[Change]) -> Model:
    """A model with the unique keys that migrations give its table and that it does not name itself."""
    known = {frozenset(key.columns) for key in model.unique if not key.condition}
    added: dict[str, UniqueKey] = {}
    seen = model.seen
    for number, change in enumerate(found):
        seen = seen and not (change.hidden and not change.whole)
        if change.drops:
            for name, key in list(added.items()):
                if name == change.name or (not change.name and key.source in {each.source for each in change.unique}):
                    del added[name]
        for key in () if change.drops else change.unique:
            columns = tuple(model.column(column) for column in key.columns)
            condition = tuple(model.column(column) for column in key.condition)
            if frozenset(columns) not in known:
                added[change.name or f"{number}"] = replace(key, columns=columns, condition=condition)
    return replace(model, unique=(*model.unique, *dict.fromkeys(added.values())), seen=seen)


def by_table(models: Mapping[str, Model]) -> dict[str, str]:
    """The id of the model behind each table, of several (a parent and those that share its table) the first."""
    found: dict[str, str] = {}
    for name, model in models.items():
        if model.table:
            found.setdefault(model.table.lower(), name)
    return found
