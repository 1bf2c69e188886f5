"""A model: its columns, relations and unique keys, from its class, its mixins and its parents, or from a `Table`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from idemlint.orm.arguments import argument, entries, last_name, positional, text
from idemlint.orm.sqlalchemy.columns import (
    PRIMARY,
    Declared,
    Given,
    Relation,
    assignments,
    column,
    declaration,
    fills,
    is_many,
)
from idemlint.orm.sqlalchemy.keys import Names, key_of, keys_of, table_keys
from idemlint.orm.sqlalchemy.words import DECLARATIVE, NAME, REFLECTED, SQLMODEL, TABLE, Reader, model_base
from idemlint.orm.terms import Assigned, LibraryBase, Resolve
from idemlint.program import ClassType, Field, LibraryInstance, LibraryType, Model, RowsType, Site, Type, UniqueKey
from idemlint.syntax import facts as f

_TABLES = frozenset({"sqlalchemy.Table", "sqlalchemy.schema.Table", "sqlalchemy.sql.schema.Table"})


def _nothing(_: Type) -> str | None:
    return None


def _unassigned(_: f.Expr) -> f.Expr | None:
    return None


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
    """The model that the class `cls` with the id `name` is; a mixin is an abstract one of no layer.

    `parents` are its base classes that are models or mixins, in order; `unknown_bases` says that it has others which
    could not be resolved. `resolve` says what an expression in its body is, `library_base` the library class that a
    project class derives from, `assigned` what a module-level name was set to.
    """
    reader = Reader(resolve, library_base, assigned)
    bases = [resolve(base.base if isinstance(base, f.Subscript) else base) for base in cls.bases]
    direct = {base.path for base in bases if isinstance(base, LibraryType | LibraryInstance)}
    direct |= {reader.path(each.function if isinstance(each, f.Call) else each) for each in cls.decorators}
    bare = bool(direct & SQLMODEL) or (library_base(ClassType(name)) or "") in SQLMODEL
    body = {given.name: given for given in assignments(cls.body)}
    own = [
        found
        for given in body.values()
        if not given.name.startswith("__") and (found := declaration(given, reader, bare)) is not None
    ]
    columns = [found for found in own if isinstance(found, Declared)]
    relations = [found for found in own if isinstance(found, Relation)]
    whole = not unknown_bases and not direct & REFLECTED
    table = body.get("__table__")
    constraints: tuple[UniqueKey, ...] = ()
    if table is not None:
        call = table.value
        if isinstance(call, f.Call) and reader.path(call.function) in _TABLES:
            more, constraints, read = table_parts(positional(call)[2:], call, reader)
            columns, whole = [*more, *columns], whole and read
        else:
            whole = False
    replaced = {found.field.name for found in own}
    fields, stored = _columns(columns, parents, replaced)
    arguments = body.get("__table_args__")
    keys, known = table_keys(arguments.value if arguments is not None else None, Names(stored, reader))
    if arguments is not None and arguments.value is None:
        known = False
    mixin = not any(model_base(path) for path in direct) and not any(parent.layer for parent in parents)
    abstract = mixin or _abstract(cls, body, direct, bare)
    inherited = [key for parent in parents for key in parent.unique if not replaced & set(key.columns)]
    unique = (*inherited, *_column_keys(columns, fields), *constraints, *keys)
    has_key = any(key.source == PRIMARY for key in unique)
    aliases = dict(alias for parent in parents for alias in parent.aliases)
    aliases.update(_aliases(relations, columns, parents))
    aliases.update({spelled: attribute for spelled, attribute in stored.items() if spelled != attribute})
    return Model(
        name,
        cls.name,
        "" if mixin else NAME,
        site,
        (*fields, *(_settled_kind(relation, tuple(columns)) for relation in relations)),
        tuple(dict.fromkeys(unique)),
        abstract,
        whole
        and known
        and (has_key or abstract)
        and not any(declared.hidden for declared in columns)
        and all(parent.seen for parent in parents),
        bases=tuple(dict.fromkeys(base for parent in parents for base in (parent.name, *parent.bases))),
        aliases=tuple(aliases.items()),
        version=_version(body.get("__mapper_args__"), parents),
        table="" if abstract else _table_name(cls, body, bare, parents),
    )


def table(
    path: str, call: f.Call, site: Site, module: str, resolve: Resolve, library_base: LibraryBase
) -> tuple[Model, RowsType] | None:
    """The model that `Table("orders", metadata, Column(...))` is, and what the call gives; None for any other call."""
    name = text(argument(call, 0, "name"))
    if not (path in _TABLES or path.endswith("SQLAlchemy.Table")) or name is None:
        return None
    columns, keys, whole = table_parts(positional(call)[2:], call, Reader(resolve, library_base, _unassigned))
    fields, _ = _columns(columns, (), set())
    unique = (*_column_keys(columns, fields), *keys)
    seen = whole and bool(columns) and not any(declared.hidden for declared in columns)
    model = Model(f"{module}:{name}", name, NAME, site, fields, tuple(dict.fromkeys(unique)), seen=seen, table=name)
    return model, RowsType(model.name, stage=TABLE, values=True)


def outside_key(model: Model, call: f.Call, resolve: Resolve) -> Model:
    """The model with the key that an index beside its class declares: `Index("ix", Order.number, unique=True)`."""
    if last_name(call.function) not in ("Index", "UniqueConstraint"):
        return model
    stored = dict(model.aliases) | {field.name: field.name for field in model.fields}
    key, _ = key_of(call, Names(stored, Reader(resolve, _nothing, _unassigned)))
    return replace(model, unique=(*model.unique, key)) if key is not None else model


def table_parts(
    parts: Sequence[f.Expr], call: f.Call, reader: Reader
) -> tuple[list[Declared], tuple[UniqueKey, ...], bool]:
    """Columns and keys of a `Table` among the arguments `parts` of the call, and whether all of it was read: one that
    is loaded from the database is not."""
    found: list[Declared] = []
    rest: list[f.Expr] = []
    for part in parts:
        written = reader.assigned(part) or part if isinstance(part, f.Name) else part
        if isinstance(written, f.Call) and reader.tail(written.function) == "Column":
            name = text(argument(written, 0, "name"))
            if name is not None:
                found.append(column(name, written, None, written.at, reader))
                continue
        rest.append(written)
    names = {declared.field.name: declared.field.name for declared in found}
    keys, known = keys_of(tuple(rest), Names(names, reader))
    loaded = any(given.name in ("autoload", "autoload_with") or given.star for given in call.arguments)
    return found, keys, known and not loaded


def _columns(
    columns: list[Declared], parents: Sequence[Model], replaced: set[str]
) -> tuple[tuple[Field, ...], dict[str, str]]:
    """All columns, inherited ones first, and the attribute for each name in the database."""
    fields: dict[str, Field] = {}
    for parent in parents:
        fields.update({field.name: field for field in parent.fields if field.name not in replaced})
    fields.update({declared.field.name: declared.field for declared in columns})
    stored = {name: name for name in fields}
    for parent in parents:
        stored.update({alias: name for alias, name in parent.aliases if parent.field(alias) is None})
    stored.update({declared.stored: declared.field.name for declared in columns if declared.stored})
    return tuple(fields.values()), stored


def _column_keys(columns: list[Declared], fields: tuple[Field, ...]) -> list[UniqueKey]:
    """Keys that columns declare themselves; all primary ones together are one key."""
    primary = tuple(declared.field.name for declared in columns if declared.unique == PRIMARY)
    found = [UniqueKey(primary, source=PRIMARY)] if primary else []
    names = {field.name for field in fields}
    for declared in columns:
        if declared.unique and declared.unique != PRIMARY and declared.field.name in names:
            found.append(UniqueKey((declared.field.name,), source=declared.unique))
    return found


def _settled_kind(relation: Relation, columns: tuple[Declared, ...]) -> Field:
    return replace(relation.field, kind="relation-many" if is_many(relation, columns) else "relation")


def _aliases(relations: list[Relation], columns: list[Declared], parents: Sequence[Model]) -> dict[str, str]:
    """Relation to one row -> the foreign key column that it fills."""
    inherited = [
        Declared(field, tables=("?",)) for parent in parents for field in parent.fields if field.kind == "relation"
    ]
    keys = (*inherited, *columns)
    return {
        relation.field.name: filled
        for relation in relations
        if not is_many(relation, tuple(columns)) and (filled := fills(relation, keys))
    }


def _abstract(cls: f.Class, body: dict[str, Given], direct: set[str], bare: bool) -> bool:
    said = body.get("__abstract__")
    if said is not None:
        return isinstance(said.value, f.Constant) and said.value.value is True
    if bare:
        return not any(name == "table" for name, _ in cls.keywords)
    named = any(name in body for name in ("__tablename__", "__table__"))
    return not named and bool(direct & DECLARATIVE)


def _table_name(cls: f.Class, body: dict[str, Given], bare: bool, parents: Sequence[Model]) -> str:
    """The name of the table, "" where it is worked out when the program runs."""
    said = body.get("__tablename__")
    if said is not None:
        return text(said.value) or ""
    table = body.get("__table__")
    if table is not None:
        return text(argument(table.value, 0, "name")) or "" if isinstance(table.value, f.Call) else ""
    return cls.name.lower() if bare else next((parent.table for parent in parents if parent.table), "")


def _version(arguments: Given | None, parents: Sequence[Model]) -> str:
    """The column that the mapper compares at each update."""
    if arguments is not None and arguments.value is not None:
        given = dict(entries(arguments.value)[0])
        if "version_id_col" in given:
            return last_name(given["version_id_col"])
    return next((parent.version for parent in parents if parent.version), "")
