"""What the user's own files speak of: it is known by its rows, be it a library's or a function of the project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from idemlint.catalog.patterns import Index, is_exact
from idemlint.catalog.renaming import Renaming
from idemlint.catalog.schema import BY_CALL, CatalogFile


@dataclass(frozen=True, slots=True)
class Own:
    """`names` are the patterns of the user's rows, `above` the paths that lead to one of them (`shop.billing` and
    `shop` for `shop.billing.charge`), `replaced` says in a sentence each which rows stand in place of built-in ones."""

    names: Index[bool] = field(default_factory=lambda: Index(()), repr=False)
    above: frozenset[str] = frozenset()
    replaced: tuple[str, ...] = ()


def own_names(files: Sequence[CatalogFile], renaming: Renaming, built_in: Mapping[str, Index[Any]]) -> Own:
    """What the user's files speak of. `built_in` are the rows that ship, by the table that they stand in."""
    spoken = [name for file in files for name in _spoken(file)]
    return Own(
        Index((name, True) for written in spoken for name in (written, renaming.pattern(written))),
        frozenset(path for name in spoken for path in _above(name)),
        tuple(said for file in files for said in _replaced(file, built_in)),
    )


def _spoken(file: CatalogFile) -> Iterator[str]:
    for table in BY_CALL:
        for row in getattr(file, table):
            yield from row.calls
    for row in file.declare_class:
        yield from (*row.bases, *row.register)
    for row in file.consumer:
        yield from (*row.receive, *row.acknowledge, *row.blocks, *row.renew)
    for names in (row.names for rows in (file.exception, file.constant, file.same) for row in rows):
        yield from names


def _above(name: str) -> Iterator[str]:
    parts = name.split(".")
    for length in range(1, len(parts)):
        if not is_exact(parts[length - 1]):
            return
        yield ".".join(parts[:length])


def _replaced(file: CatalogFile, built_in: Mapping[str, Index[Any]]) -> Iterator[str]:
    for table, index in built_in.items():
        for at, row in enumerate(getattr(file, table)):
            paths = sorted({path for pattern in row.calls for path in _met(pattern, index)})
            if paths:
                more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
                yield f"{file.place(f'{table}[{at}]')} stands in place of the built-in row for {paths[0]}{more}"


def _met(pattern: str, index: Index[Any]) -> Iterator[str]:
    """The paths of built-in rows that a pattern fits, or that fit it."""
    if is_exact(pattern):
        yield from [pattern] if index.get(pattern) is not None else []
        return
    fits = Index([(pattern, True)])
    yield from (path for path, _ in index.exact() if fits.get(path))
