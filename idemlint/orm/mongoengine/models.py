"""Documents: their fields and their unique keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from idemlint.orm.arguments import argument, entries, is_false, is_true, members, strings, text
from idemlint.orm.classes import PRIMARY, UNIQUE, Body, Declared, Reader, assignments, fields_in, model_of
from idemlint.orm.defaults import stability
from idemlint.orm.mongoengine.words import KINDS, NAME, is_open
from idemlint.orm.terms import Assigned, LibraryBase, Resolve
from idemlint.program import Field, LibraryInstance, LibraryType, Model, Site, UniqueKey
from idemlint.syntax import facts as f

INDEXES = 'meta["indexes"]'

# What a column of an index may begin with: its direction, or its kind.
_MARKS = "+-#$*("


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
    meta, known = _meta(cls)
    indexes, read = _indexes(meta.get("indexes"))
    abstract = is_true(meta.get("abstract"))
    bases = [resolve(base) for base in cls.bases]
    body = Body(
        tuple(declared.field for declared, _ in own),
        (*(key for declared, more in own for key in (declared.key, *more) if key is not None), *indexes),
        known and read,
        numbered=not abstract,
        table=text(meta.get("collection")) or "",
        abstract=abstract,
        open=any(isinstance(base, LibraryType | LibraryInstance) and is_open(base.path) for base in bases),
    )
    return model_of(name, cls, NAME, site, parents, unknown_bases, body)


def _meta(cls: f.Class) -> tuple[Mapping[str, f.Expr], bool]:
    """What `meta = {...}` says, and whether all of it could be read."""
    written = [value for name, value, _ in assignments(cls.body) if name == "meta"]
    if not written:
        return {}, True
    pairs, known = entries(written[-1])
    return dict(pairs), known


def _declared(
    model: str, name: str, kind: str, word: str, call: f.Call, at: int, reader: Reader
) -> tuple[Declared, tuple[UniqueKey, ...]]:
    given = {each.name: each.value for each in call.arguments if each.name}
    primary = is_true(given.get("primary_key"))
    once = not is_false(given.get("unique"))
    # A document without the field takes the place of the one that may lack it, unless the index is sparse.
    sparse = is_true(given.get("sparse"))
    key = UniqueKey((name,), nulls_distinct=sparse, source=PRIMARY if primary else UNIQUE)
    others = _named(given.get("unique_with"))
    together = (UniqueKey((name, *others), nulls_distinct=sparse, source="unique_with"),) if others else ()
    target = None
    if kind == "relation":
        to = argument(call, 0, "document_type")
        target = reader.model(to, model) if to is not None else None
    written = given.get("default")
    # Each document gets a number of its own.
    default = "unstable" if word == "SequenceField" else stability(written, reader) if written is not None else None
    field = Field(
        name, "id" if primary else kind, not primary and not is_true(given.get("required")), default, target, None, at
    )
    # `unique_with` alone makes no key of the field itself.
    return Declared(field, key if primary or (once and not others) else None), together


def _named(given: f.Expr | None) -> tuple[str, ...]:
    """One name, or several."""
    one = text(given)
    return (one,) if one is not None else strings(given) or ()


def _indexes(given: f.Expr | None) -> tuple[tuple[UniqueKey, ...], bool]:
    """The unique keys among `"indexes": [...]`, and whether all of it could be read."""
    found: list[UniqueKey] = []
    for part in members(given) if given is not None else ():
        if isinstance(part, f.Starred):
            return tuple(found), False
        if not isinstance(part, f.Mapping):
            continue
        said, known = entries(part)
        index = dict(said)
        if is_false(index.get("unique")) and known:
            continue
        columns = strings(index.get("fields"))
        if not columns:
            return tuple(found), False
        partial = "partialFilterExpression" in index or "partial_filter_expression" in index
        found.append(
            UniqueKey(
                tuple(column.lstrip(_MARKS) for column in columns),
                ("?",) if partial else (),
                nulls_distinct=is_true(index.get("sparse")),
                source=INDEXES,
            )
        )
    return tuple(found), True
