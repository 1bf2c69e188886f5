"""Models: their columns and their unique keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from idemlint.orm.arguments import argument, is_false, is_true, last_name, members, strings, text
from idemlint.orm.classes import PRIMARY, UNIQUE, Body, Declared, Reader, fields_in, model_of, options, together
from idemlint.orm.defaults import stability
from idemlint.orm.terms import Assigned, LibraryBase, Resolve
from idemlint.orm.tortoise.words import KINDS, NAME
from idemlint.program import Field, Model, Site, UniqueKey
from idemlint.syntax import facts as f

TOGETHER = "unique_together"
CONSTRAINTS = "Meta.constraints"


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
    own = [_declared(name, *field, reader) for field in fields_in(cls.body, reader, KINDS)]
    meta = options(cls)
    abstract = is_true(meta.get("abstract"))
    declared, known = together(meta.get(TOGETHER), TOGETHER)
    constrained, read = _constraints(meta)
    body = Body(
        tuple(each.field for each in own),
        (*(each.key for each in own if each.key is not None), *declared, *constrained),
        known and read,
        numbered=not abstract,
        table=(text(meta.get("table")) or cls.name).lower(),
        abstract=abstract,
    )
    return model_of(name, cls, NAME, site, parents, unknown_bases, body)


def _declared(model: str, name: str, kind: str, word: str, call: f.Call, at: int, reader: Reader) -> Declared:
    given = {each.name: each.value for each in call.arguments if each.name}
    primary = is_true(given.get("primary_key", given.get("pk")))
    once = word.endswith("OneToOneField") or not is_false(given.get("unique"))
    source = PRIMARY if primary else UNIQUE if once else ""
    target = related = None
    if kind in ("relation", "relation-many"):
        to = argument(call, 0, "model_name" if word.startswith(("Foreign", "OneTo", "ManyTo")) else "to")
        target = reader.model(to, model) if to is not None else None
        written = given.get("related_name")
        # `related_name=False` says that there is no way back.
        related = "+" if isinstance(written, f.Constant) and written.value is False else text(written)
    field = Field(
        name,
        "id" if primary else kind,
        is_true(given.get("null")),
        _default(given, primary, word, reader),
        target,
        related,
        at,
    )
    return Declared(field, UniqueKey((name,), source=source) if source else None)


def _default(given: Mapping[str, f.Expr], primary: bool, word: str, reader: Reader) -> str | None:
    if any(not is_false(given.get(name)) for name in ("auto_now", "auto_now_add")):
        return "unstable"
    # A primary key of this kind is made up by the library.
    if primary and word == "UUIDField" and "default" not in given:
        return "unstable"
    value = given.get("default", given.get("db_default"))
    return stability(value, reader) if value is not None else None


def _constraints(meta: Mapping[str, f.Expr]) -> tuple[tuple[UniqueKey, ...], bool]:
    """The keys of `indexes` and `constraints`, and whether all of them could be read."""
    found: list[UniqueKey] = []
    whole = True
    for name in ("constraints", "indexes"):
        for part in members(meta[name]) if name in meta else ():
            if isinstance(part, f.Call) and last_name(part.function) in ("UniqueConstraint", "UniqueIndex"):
                columns = strings(argument(part, 0, "fields"))
                whole = whole and bool(columns)
                # What a condition asks about is in a text or an expression; any column may be in it.
                condition = () if is_false(argument(part, None, "condition")) else ("?",)
                found.extend([UniqueKey(columns, condition, source=CONSTRAINTS)] if columns else [])
            elif isinstance(part, f.Starred):
                whole = False
    return tuple(found), whole
