"""A model: its columns, its managers and its unique keys, from its class and those of its parents."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from idemlint.orm.arguments import positional, strings
from idemlint.orm.django.constraints import CONSTRAINTS
from idemlint.orm.django.fields import PRIMARY, Declared, assignments, declared_fields
from idemlint.orm.django.managers import declared_managers
from idemlint.orm.django.meta import Meta, meta_keys, read_meta
from idemlint.orm.django.relations import app_label
from idemlint.orm.django.words import NAME, Words
from idemlint.orm.terms import Assigned, LibraryBase, Resolve
from idemlint.program import Field, Model, RoutineType, Site, UniqueKey
from idemlint.syntax import facts as f


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
    """The model that the class `cls` with the id `name` is.

    `parents` are its base classes that are models, of the project or of a library, in order; `unknown_bases` says that
    it has others which could not be resolved. `resolve` says what an expression in its body is, `library_base` the
    library class that a project class derives from, so that fields and managers of the project's own are known.
    """
    words = Words(resolve, library_base)
    meta = read_meta(cls, parents, words)
    own = _own_fields(name, cls, meta, words)
    replaced = {declared.field.name for declared in own} | _removed(cls, parents)
    inherited = _inherited_fields(name, parents, replaced)
    composite = _composite_key(cls, words)
    if not (meta.abstract or composite or any(field.kind == "id" for field in inherited) or _has_key(own)):
        own = (Declared(Field("id", "id"), PRIMARY), *own)
    keys = (
        *_inherited_keys(parents, replaced),
        *(UniqueKey((declared.field.name,), source=declared.unique) for declared in own if declared.unique),
        *((composite,) if composite else ()),
        *meta.keys,
    )
    managers, querysets = declared_managers(cls, parents, meta.abstract, meta.default_manager, words)
    model = Model(
        name,
        cls.name,
        NAME,
        site,
        (*inherited, *(declared.field for declared in own)),
        (),
        meta.abstract,
        _seen(cls, meta, parents, words) and not unknown_bases,
        managers,
        tuple(dict.fromkeys(base for parent in parents for base in (parent.name, *parent.bases))),
        querysets,
        table="" if meta.abstract else (meta.table or f"{meta.label or app_label(name)}_{cls.name}").lower(),
    )
    return replace(model, unique=tuple(dict.fromkeys(_normalised(model, key, meta) for key in keys)))


def _nullable(model: Model, key: UniqueKey) -> tuple[str, ...]:
    """The columns of the key whose NULLs escape it."""
    if not key.nulls_distinct:
        return ()
    fields = {field.name: field for field in model.fields}
    return tuple(column for column in key.columns if column in fields and fields[column].null)


def _own_fields(name: str, cls: f.Class, meta: Meta, words: Words) -> tuple[Declared, ...]:
    found = {declared.field.name: declared for declared in declared_fields(name, cls.body, words)}
    way_back = meta.default_related_name
    return tuple(
        replace(declared, field=replace(declared.field, related=way_back))
        if way_back and declared.field.target and declared.field.related is None
        else declared
        for declared in found.values()
    )


def _removed(cls: f.Class, parents: Sequence[Model]) -> set[str]:
    """Fields of abstract parents that the class takes away with `name = None`; a parent's table keeps its columns."""
    kept = {field.name for parent in parents if not parent.abstract for field in parent.fields}
    none = {name for name, value, _ in assignments(cls.body) if isinstance(value, f.Constant) and value.value is None}
    return none - kept


def _has_key(own: Sequence[Declared]) -> bool:
    return any(declared.field.kind == "id" for declared in own)


def _inherited_fields(name: str, parents: Sequence[Model], replaced: Collection[str]) -> tuple[Field, ...]:
    fields: dict[str, Field] = {}
    for parent in parents:
        for field in parent.fields:
            if field.name not in replaced:
                to_itself = parent.abstract and field.target == parent.name
                fields.setdefault(field.name, replace(field, target=name) if to_itself else field)
    return tuple(fields.values())


def _inherited_keys(parents: Sequence[Model], replaced: Collection[str]) -> Iterator[UniqueKey]:
    """Keys of the fields that are inherited, and all keys of a parent that has a table of its own."""
    settled = set(replaced)
    for parent in parents:
        from_meta = meta_keys(parent)
        for key in parent.unique:
            if not parent.abstract if key in from_meta else settled.isdisjoint(key.columns):
                yield key
        settled.update(field.name for field in parent.fields)


def _composite_key(cls: f.Class, words: Words) -> UniqueKey | None:
    """The key of `pk = models.CompositePrimaryKey("tenant", "id")`."""
    for name, value, _ in assignments(cls.body):
        if name == "pk" and isinstance(value, f.Call) and words.tail(value.function) == "CompositePrimaryKey":
            columns = strings(f.Display(value.at, "tuple", positional(value)))
            return UniqueKey(columns, source=PRIMARY) if columns else None
    return None


def _seen(cls: f.Class, meta: Meta, parents: Sequence[Model], words: Words) -> bool:
    """Whether no unique key can hide: in a Meta that was not read, in a table that others manage, in a parent, or in
    what a function of the project returns for a field."""
    made_elsewhere = any(
        name.islower() and isinstance(value, f.Call) and isinstance(words.resolve(value.function), RoutineType)
        for name, value, _ in assignments(cls.body)
    )
    return meta.complete and meta.managed and not made_elsewhere and all(parent.seen for parent in parents)


def _normalised(model: Model, key: UniqueKey, meta: Meta) -> UniqueKey:
    """The key in the one spelling of its columns. Where a second key holds for the NULLs of the first, none escape."""
    columns = tuple(dict.fromkeys(model.column(column) for column in key.columns))
    if key.source == CONSTRAINTS and model.seen and not model.abstract:
        # Texts in an expression may be no columns: `KeyTextTransform("reference", "data")`.
        columns = tuple(column for column in columns if model.field(column)) or columns
    found = replace(key, columns=columns, condition=tuple(model.column(column) for column in key.condition))
    weak = () if found.condition else _nullable(model, found)
    for others, column in meta.null_twins:
        null = model.column(column)
        if weak == (null,) and set(columns) == {null, *(model.column(other) for other in others)}:
            return replace(found, nulls_distinct=False)
    return found
