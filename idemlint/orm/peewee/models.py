"""Models: their columns and their unique keys, from the class and from the indexes beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from idemlint.orm.arguments import argument, is_false, is_true, last_name, members, positional, strings, text
from idemlint.orm.classes import PRIMARY, UNIQUE, Body, Declared, Reader, fields_in, model_of, options
from idemlint.orm.defaults import stability
from idemlint.orm.peewee.words import KINDS, NAME
from idemlint.orm.terms import Assigned, LibraryBase, Resolve
from idemlint.program import Field, Model, Site, UniqueKey
from idemlint.syntax import facts as f

INDEXES = "Meta.indexes"
CONSTRAINTS = "Meta.constraints"
INDEX = "add_index"

_UNIQUE = re.compile(r"(?i)\bunique\s*\(([^()]*)\)")


def read_model(
    name: str,
    cls: f.Class,
    site: Site,
    parents: Sequence[Model],
    unknown_bases: bool,
    resolve: Resolve,
    library_base: LibraryBase,
    assigned: Assigned,
) -> Model:
    """The model that the class `cls` with the id `name` is."""
    reader = Reader(resolve, library_base)
    found = fields_in(cls.body, reader, KINDS)
    own = [_declared(name, attribute, kind, call, at, reader) for attribute, kind, _, call, at in found]
    meta = options(cls)
    declared, known = _declared_keys(meta)
    key = meta.get("primary_key")
    body = Body(
        tuple(each.field for each in own),
        (*(each.key for each in own if each.key is not None), *declared),
        known,
        numbered=is_false(key) and not _says_false(key),
        table=text(meta.get("table_name")) or cls.name.lower(),
    )
    return model_of(name, cls, NAME, site, parents, unknown_bases, body)


def _says_false(key: f.Expr | None) -> bool:
    return isinstance(key, f.Constant) and key.value is False


def _declared(model: str, name: str, kind: str, call: f.Call, at: int, reader: Reader) -> Declared:
    given = {each.name: each.value for each in call.arguments if each.name}
    primary = kind == "id" or is_true(given.get("primary_key"))
    source = PRIMARY if primary else UNIQUE if not is_false(given.get("unique")) else ""
    target = related = None
    if kind in ("relation", "relation-many"):
        to = argument(call, 0, "model")
        target = reader.model(to, model) if to is not None else None
        back = text(given.get("backref"))
        related = back or f"{model.rpartition(':')[2].lower()}_set"
    default = given.get("default")
    field = Field(
        name,
        "id" if primary else kind,
        is_true(given.get("null")),
        stability(default, reader) if default is not None else None,
        target,
        related,
        at,
    )
    return Declared(field, UniqueKey((name,), source=source) if source else None)


def _declared_keys(meta: Mapping[str, f.Expr]) -> tuple[tuple[UniqueKey, ...], bool]:
    """The unique keys of a Meta, and whether all of it could be read."""
    found: list[UniqueKey] = []
    whole = True
    primary = meta.get("primary_key")
    if isinstance(primary, f.Call) and last_name(primary.function) == "CompositeKey":
        columns = strings(f.Display(primary.at, "tuple", positional(primary)))
        found.extend([UniqueKey(columns, source=PRIMARY)] if columns else [])
    for part in members(meta["indexes"]) if "indexes" in meta else ():
        key, known = _index(part)
        whole = whole and known
        found.extend([key] if key is not None else [])
    for part in members(meta["constraints"]) if "constraints" in meta else ():
        written = text(argument(part, 0, "sql")) if isinstance(part, f.Call) else None
        whole = whole and written is not None
        for columns in _UNIQUE.findall(written or ""):
            found.append(UniqueKey(tuple(each.strip(' "`') for each in columns.split(",")), source=CONSTRAINTS))
    return tuple(found), whole


def _index(part: f.Expr) -> tuple[UniqueKey | None, bool]:
    """`(("user", "number"), True)`: the columns, and whether they are unique."""
    if isinstance(part, f.Display) and len(part.items) == 2:
        columns, unique = strings(part.items[0]), part.items[1]
        if is_false(unique):
            return None, True
        return (UniqueKey(columns, source=INDEXES), True) if columns and is_true(unique) else (None, False)
    return None, False


def outside_key(model: Model, call: f.Call, resolve: Resolve) -> Model:
    """The model with the index that a call beside its class adds: `Order.add_index(Order.number, unique=True)`."""
    if last_name(call.function) != INDEX:
        return model
    inner = next((part for part in positional(call) if isinstance(part, f.Call)), call)
    while isinstance(inner.function, f.Attribute) and isinstance(inner.function.base, f.Call):
        inner = inner.function.base
    unique = argument(inner, None, "unique")
    columns = [part.name for part in positional(inner) if isinstance(part, f.Attribute)]
    if is_false(unique):
        return model
    if inner is not call or not columns or len(columns) < len(positional(inner)) or not is_true(unique):
        return replace(model, seen=False)
    key = UniqueKey(tuple(model.column(column) for column in columns), source=INDEX)
    return replace(model, unique=(*model.unique, key))
