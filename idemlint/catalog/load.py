"""The files of the catalog -> one frozen `Catalog`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TypeVar

from idemlint.catalog import names, rows
from idemlint.catalog.errors import CatalogError
from idemlint.catalog.lookup import Catalog, Tables
from idemlint.catalog.patterns import Index
from idemlint.catalog.renaming import Renaming
from idemlint.catalog.schema import CatalogFile, parse

C = TypeVar(
    "C",
    rows.Returns,
    rows.Role,
    rows.Origin,
    rows.Guard,
    rows.Effect,
    rows.Declare,
    rows.Send,
    rows.Compose,
    rows.Listing,
)
E = TypeVar("E", rows.Effect, names.Host)


def load(extra: Sequence[Path] = ()) -> Catalog:
    """The catalog that ships with idemlint, and the files `extra` on top: of rows that fit a path equally well, the
    one of the later file counts. CatalogError, naming file and key, for an entry that makes no sense or a file that
    cannot be read."""
    return _built([*_shipped(), *(parse(_text(path), str(path)) for path in extra)]) if extra else _plain()


@cache
def _plain() -> Catalog:
    return _built(_shipped())


@cache
def _shipped() -> tuple[CatalogFile, ...]:
    folder = resources.files("idemlint.catalog")
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return tuple(parse(file.read_text(encoding="utf-8"), file.name) for file in files)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogError(f"{path}: cannot be read: {error}") from None


def _built(files: Sequence[CatalogFile]) -> Catalog:
    kinds = {name: kind for file in files for name, kind in file.kind.items()}
    frameworks = {file.framework.name: file.framework for file in files if file.framework}
    renaming = _renaming(files)
    return Catalog(
        frameworks,
        kinds,
        _merged(file.words for file in files if file.words),
        renaming,
        Tables(
            modules={module: file.unknown for file in files for module in file.modules},
            effects=_index(renaming, (_explained(row, kinds) for file in files for row in file.effect)),
            returns=_index(renaming, (row for file in files for row in file.returns)),
            roles=_index(renaming, (row for file in files for row in file.role)),
            origins=_index(renaming, (row for file in files for row in file.origin)),
            guards=_index(renaming, (row for file in files for row in file.guard)),
            declares=_index(renaming, (row for framework in frameworks.values() for row in framework.declares)),
            classes=_classes(renaming, frameworks.values(), lambda row: row.bases),
            registers=_classes(renaming, frameworks.values(), lambda row: row.register),
            sends=_index(renaming, (row for framework in frameworks.values() for row in framework.sends)),
            listings=_index(renaming, (row for framework in frameworks.values() for row in framework.listings)),
            composes=_index(renaming, (row for framework in frameworks.values() for row in framework.composes)),
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
    )


def _renaming(files: Sequence[CatalogFile]) -> Renaming:
    renaming = Renaming({name: row.of for file in files for row in file.same for name in row.names})
    circle = renaming.circle()
    if circle is not None:
        source = next(
            f"{file.source}: same[{i}]"
            for file in reversed(files)
            for i, row in enumerate(file.same)
            if circle in row.names
        )
        raise CatalogError(f'{source}: "{circle}" leads back to itself')
    return renaming


def _index(renaming: Renaming, found: Iterable[C]) -> Index[C]:
    return Index((renaming.pattern(pattern), row) for row in found for pattern in row.calls)


def _classes(
    renaming: Renaming,
    frameworks: Iterable[rows.Framework],
    paths: Callable[[rows.DeclareClass], tuple[str, ...]],
) -> Index[rows.DeclareClass]:
    found = (row for framework in frameworks for row in framework.classes)
    return Index((renaming.pattern(pattern), row) for row in found for pattern in paths(row))


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
