"""The files of the catalog -> one frozen `Catalog`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

from idemlint.catalog import names, rows
from idemlint.catalog.errors import CatalogError
from idemlint.catalog.lookup import Catalog, Tables, word_of
from idemlint.catalog.own import Own, own_names
from idemlint.catalog.patterns import Index
from idemlint.catalog.renaming import Renaming
from idemlint.catalog.schema import OF_FRAMEWORK, CatalogFile, parse

E = TypeVar("E", rows.Effect, names.Host)

_PARTS = {
    "declare": "declares",
    "declare_class": "classes",
    "listing": "listings",
    "method": "methods",
    "send": "sends",
    "compose": "composes",
    "companion": "companions",
}
"""Table of a file -> field of the framework that its rows fill."""


def load(own: Sequence[Path] = ()) -> Catalog:
    """The catalog that ships with idemlint, and the user's `own` files on top: where a row of theirs fits a path it
    counts, that of the last file first. CatalogError, naming file, line and key, for an entry that makes no sense or a
    file that cannot be read."""
    return _built(_shipped(), _read(own)) if own else _plain()


@cache
def _plain() -> Catalog:
    return _built(_shipped(), ())


@cache
def _shipped() -> tuple[CatalogFile, ...]:
    folder = resources.files("idemlint.catalog")
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return tuple(parse(file.read_text(encoding="utf-8"), file.name) for file in files)


def _read(own: Sequence[Path]) -> tuple[CatalogFile, ...]:
    """The user's files; each may add to the frameworks that ship and to those of the files before it."""
    built_in = frozenset(file.framework.name for file in _shipped() if file.framework is not None)
    found: list[CatalogFile] = []
    for path in own:
        source = _seen(path)
        earlier = {file.framework.name for file in found if file.framework is not None}
        file = parse(_text(path, source), source, built_in | earlier)
        if file.framework is not None and file.framework.name in built_in | earlier:
            name = file.framework.name
            said = f'"{name}" is known already; leave [framework] out and write framework = "{name}" in the rows'
            raise file.wrong("framework.name", said)
        found.append(file)
    return tuple(found)


def _seen(path: Path) -> str:
    """The path as it is seen from the working folder."""
    try:
        return Path(os.path.relpath(path)).as_posix()
    except ValueError:  # another drive
        return path.as_posix()


def _text(path: Path, source: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise CatalogError(f"{source}: cannot be read: {said}") from None


def _built(shipped: Sequence[CatalogFile], own: Sequence[CatalogFile]) -> Catalog:
    files = (*shipped, *own)
    kinds = {name: kind for file in files for name, kind in file.kind.items()}
    renaming = _renaming(files)

    def index(rows_of: Callable[[CatalogFile], Iterable[Any]], paths_of: Callable[[Any], Iterable[str]]) -> Index[Any]:
        below, above = (
            [(renaming.pattern(path), row) for file in some for row in rows_of(file) for path in paths_of(row)]
            for some in (shipped, own)
        )
        return Index(below, above)

    def by_call(rows_of: Callable[[CatalogFile], Iterable[Any]]) -> Index[Any]:
        return index(rows_of, lambda row: row.calls)

    return Catalog(
        _frameworks(shipped, own),
        kinds,
        _merged(file.words for file in files if file.words),
        renaming,
        tuple(row for file in files for row in file.consumer),
        Tables(
            modules={module: file.unknown for file in files for module in file.modules},
            effects=by_call(lambda file: (_explained(row, kinds) for row in file.effect)),
            returns=by_call(lambda file: file.returns),
            roles=by_call(lambda file: file.role),
            origins=by_call(lambda file: file.origin),
            guards=by_call(lambda file: file.guard),
            declares=by_call(lambda file: file.declare),
            classes=index(lambda file: file.declare_class, lambda row: row.bases),
            registers=index(lambda file: file.declare_class, lambda row: row.register),
            sends=by_call(lambda file: file.send),
            listings=by_call(lambda file: file.listing),
            composes=by_call(lambda file: file.compose),
            receives=index(lambda file: file.consumer, lambda row: row.receive),
            acknowledges=index(lambda file: file.consumer, lambda row: row.acknowledge),
            blocks=index(lambda file: file.consumer, lambda row: row.blocks),
            renews=index(lambda file: file.consumer, lambda row: row.renew),
            constants={
                renaming.canonical(name): row.value for file in files for row in file.constant for name in row.names
            },
            exceptions={
                renaming.canonical(name): replace(row, base=renaming.canonical(row.base))
                for file in files
                for row in file.exception
                for name in row.names
            },
            # The last file is asked first, as in the other tables.
            hosts=tuple(_of_kind(row, kinds) for file in reversed(files) for row in file.host),
            headers={name.casefold(): row.hosts for file in files for row in file.header for name in row.names},
        ),
        own_names(own, renaming, _built_in(_plain().tables)) if own else Own(),
    )


def _built_in(tables: Tables) -> dict[str, Index[Any]]:
    return {
        "effect": tables.effects,
        "returns": tables.returns,
        "role": tables.roles,
        "origin": tables.origins,
        "guard": tables.guards,
    }


def _frameworks(shipped: Sequence[CatalogFile], own: Sequence[CatalogFile]) -> dict[str, rows.Framework]:
    """The frameworks by name, each with the rows that files give it."""
    found: dict[str, rows.Framework] = {}
    for file in (*shipped, *own):
        if file.framework is not None:
            found[file.framework.name] = file.framework
        for table in OF_FRAMEWORK:
            for row in getattr(file, table):
                framework, part = found[row.framework], _PARTS[table]
                more: dict[str, Any] = {part: (*getattr(framework, part), row)}
                found[row.framework] = replace(framework, **more)
    for file in own:
        named = {file.framework.name} if file.framework is not None else set()
        for name in named | {row.framework for table in OF_FRAMEWORK for row in getattr(file, table)}:
            calls = [call for row in file.declare if row.framework == name for call in row.calls]
            bases = [base for row in file.declare_class if row.framework == name for base in row.bases]
            words = [word for word in map(word_of, (*calls, *bases)) if "*" not in word]
            found[name] = replace(found[name], own=True, words=(*found[name].words, *words))
    return found


def _renaming(files: Sequence[CatalogFile]) -> Renaming:
    renaming = Renaming({name: row.of for file in files for row in file.same for name in row.names})
    circle = renaming.circle()
    if circle is not None:
        raise next(
            file.wrong(f"same[{i}]", f'"{circle}" leads back to itself')
            for file in reversed(files)
            for i, row in enumerate(file.same)
            if circle in row.names
        )
    return renaming


def _explained(row: rows.Effect, kinds: Mapping[str, names.Kind]) -> rows.Effect:
    variants = tuple(replace(variant, effect=_of_kind(variant.effect, kinds)) for variant in row.variants)
    return replace(_of_kind(row, kinds), variants=variants)


def _of_kind(row: E, kinds: Mapping[str, names.Kind]) -> E:
    kind = kinds[row.kind]
    return replace(row, stakes=row.stakes or kind.stakes, does=row.does or kind.does, result=row.result or kind.result)


def _merged(found: Iterable[names.Words]) -> names.Words:
    words = list(found)
    return names.Words(
        **{
            field.name: tuple(word for each in words for word in getattr(each, field.name))
            for field in fields(names.Words)
        }
    )
