"""What the database is like, beyond what models say: tables that only statements and schemas know, and unique keys that
migrations add to a model's table."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from idemlint import orm
from idemlint.link.linker import Linker
from idemlint.link.modules import Module
from idemlint.link.production import is_production
from idemlint.orm import sql
from idemlint.orm.layer import Layer
from idemlint.orm.terms import Change
from idemlint.program import LibraryCall, Model, Site
from idemlint.project import UnreadableFile
from idemlint.syntax import facts as f

Told = tuple[Change, Site]

_DEFINES = ("CREATE", "create", "Create", "ALTER", "alter", "Alter")
_STATES = ("INSERT", "insert", "UPDATE", "update", "DELETE", "delete", "SELECT", "select", "Select", "Insert", "Update")
_KEYS = re.compile(r"unique|remove", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Database:
    """All models by id, tables among them, and the ids of those that a statement deletes from."""

    models: dict[str, Model]
    purged: frozenset[str]


def read_database(linker: Linker) -> Database:
    """The models met so far with the keys of migrations; where statements are run as text, all models and tables."""
    raw = any(
        isinstance(target, LibraryCall) and linker.catalog.role(target.path) == "raw-sql"
        for body in linker.bodies.values()
        for target in body.reached
    )
    models = {model.name: model for model in (linker.models.all() if raw else linker.models.known())}
    tables = sql.by_table(models)
    found: dict[str, list[Told]] = defaultdict(list)
    for layer, change, site in told(linker, raw):
        table = change.table
        if change.label and layer is not None:
            labelled = layer.labelled(change.label, {name: m for name, m in models.items() if m.layer == layer.name})
            table = models[labelled].table.lower() if labelled is not None else ""
        if table:
            found[table].append((change, site))
    for table, name in tables.items():
        if table in found:
            models[name] = sql.extended(models[name], [change for change, _ in found[table]])
    if not raw:
        return Database(models, frozenset())
    named, deleted = spoken_of(linker)
    for table in sorted({*found, *named} - tables.keys()):
        model = sql.table(table, found.get(table, ()))
        models[model.name] = model
    tables = sql.by_table(models)
    return Database(models, frozenset(tables[table] for table in deleted if table in tables))


def told(linker: Linker, raw: bool) -> Iterator[tuple[Layer | None, Change, Site]]:
    """What migrations and schemas say, in the order of files and code. Without `raw` only keys matter."""
    words = {*_DEFINES, *(word for layer in orm.LAYERS for word in layer.migrates)}
    for source in linker.project.mentioning(sorted(words)):
        if is_production(source.path):
            yield from in_module(linker, linker.modules.load(source), raw)
    for path in linker.project.schemas:
        if is_production(path):
            for change in sql.changes(linker.project.schema(path)):
                yield None, change, Site("", 0, 0)


def in_module(linker: Linker, module: Module, raw: bool) -> Iterator[tuple[Layer | None, Change, Site]]:
    """What the migrations and the texts in a module say."""
    path = module.file.path
    for index, piece in enumerate(module.pieces):
        if not raw and not _KEYS.search(piece.text):
            continue
        layers = [layer for layer in orm.LAYERS if any(word in piece.text for word in layer.migrates)]
        speaks = sql.SPEAKS.search(piece.text) is not None
        if not layers and not speaks:
            continue
        body = module.statements(index)
        for layer in layers:
            for change, at in layer.migrated(
                body, path, lambda expr: linker.module_level(expr, module), linker.library_base
            ):
                yield layer, change, Site(path, index, at)
        for text, at in texts(body) if speaks else ():
            for change in sql.changes(text):
                yield None, change, Site(path, index, at)


def texts(body: f.Body) -> Iterator[tuple[str, int]]:
    """The texts in a piece of code that may say something of tables, in order; docstrings do not."""
    prose = {part.value.at for part in f.walk(body) if isinstance(part, f.Evaluate)}
    parts = [part for part in f.walk(body) if isinstance(part, f.Constant | f.Format) and part.at not in prose]
    inside = {inner.at for part in parts if isinstance(part, f.Format) for inner in part.parts}
    for part in sorted(parts, key=lambda part: part.at):
        text = written(part)
        if part.at not in inside and sql.SPEAKS.search(text):
            yield text, part.at


def written(part: f.Constant | f.Format) -> str:
    """A text, with `{}` for what is put in."""
    if isinstance(part, f.Constant):
        return part.value if isinstance(part.value, str) else ""
    return "".join(written(each) if isinstance(each, f.Constant) else "{}" for each in part.parts)


def spoken_of(linker: Linker) -> tuple[set[str], set[str]]:
    """The tables that statements in the project's files may be about, and those that some delete from."""
    named: set[str] = set()
    deleted: set[str] = set()
    texts: list[str] = []
    for source in linker.project.mentioning(_STATES):
        if is_production(source.path):
            with suppress(UnreadableFile):
                texts.append(linker.project.text(source.path))
    for text in texts:
        named.update(sql.named(text))
    for text in (*texts, *(linker.project.schema(path) for path in linker.project.schemas)):
        deleted.update(sql.deleted(text))
    return named, deleted
