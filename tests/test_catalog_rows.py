"""Every row of the catalog, read back through the pipeline from code that was made of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from catalog_rows import Snippet, effect_snippets, snippet
from library_names import names_of, noted
from walking import Walked, walk

from idemlint.catalog import load
from idemlint.catalog.load import _shipped
from idemlint.catalog.patterns import Index
from idemlint.catalog.rows import Effect
from idemlint.domain import effect as domain
from idemlint.program import LibraryCall, LibraryType

FILES = {file.source: file for file in _shipped()}


def walked(folder: Path, snippets: list[Snippet]) -> Walked:
    """A module with a task for each snippet."""
    modules = sorted({module for each in snippets for module in each.modules})
    lines = ["from celery import shared_task", *(f"import {module}" for module in modules), "", ""]
    for number, each in enumerate(snippets):
        lines += ["@shared_task(acks_late=True)", f"def task{number}(order_id):", f"    {each}", "", ""]
    return walk(folder, "\n".join(lines))


def recorded(found: Walked, number: int) -> list[domain.Effect]:
    return [effect for effect in found.effects(task=f"task{number}") if effect.row is not None]


def brief(row: Effect) -> tuple[str, str, str, str]:
    return (row.kind, row.replay, row.title, row.does)


def meant(row: Effect) -> tuple[str, str, str, str]:
    """What a row as its file has it comes to: the words of its kind stand in where it says nothing."""
    return (row.kind, row.replay, row.title, row.does or load().kinds[row.kind].does)


@pytest.mark.parametrize("source", [name for name, file in FILES.items() if file.effect])
def test_a_call_is_what_its_row_says(source: str, tmp_path: Path) -> None:
    made = list(effect_snippets(FILES[source]))
    found = walked(tmp_path, [each for _, _, each in made])
    wrong = [
        f"{each}: {[brief(effect.row) for effect in recorded(found, number) if effect.row]} and not {meant(row)}"
        for number, (_, row, each) in enumerate(made)
        if meant(row) not in [brief(effect.row) for effect in recorded(found, number) if effect.row]
    ]
    assert wrong == []


@pytest.mark.parametrize("source", [name for name, file in FILES.items() if any(row.key for row in file.effect)])
def test_a_key_is_found_wherever_its_row_says(source: str, tmp_path: Path) -> None:
    made = [
        snippet(path).given(slot, "order_id") for row in FILES[source].effect for path in row.calls for slot in row.key
    ]
    found = walked(tmp_path, made)
    wrong = [
        str(each)
        for number, each in enumerate(made)
        if not any(
            effect.key is not None and {origin.kind for origin in effect.key.value.origins} == {"argument"}
            for effect in recorded(found, number)
        )
    ]
    assert wrong == []


@pytest.mark.parametrize("source", list(FILES))
def test_the_names_of_rows_are_those_of_the_library(source: str) -> None:
    """A name nobody has met is misspelt, or is one to hold against the library: tests/library_names.py."""
    assert names_of(FILES[source]) - noted().get(source, set()) == set()


LOOKED_UP = ("returns", "role", "origin", "guard")


@pytest.mark.parametrize("source", [name for name, file in FILES.items() if any(getattr(file, t) for t in LOOKED_UP)])
def test_a_call_reaches_the_row_that_speaks_of_it(source: str, tmp_path: Path) -> None:
    tables = load().tables
    indexes: dict[str, Index[Any]] = {
        "returns": tables.returns,
        "role": tables.roles,
        "origin": tables.origins,
        "guard": tables.guards,
    }
    made = [
        (table, row, snippet(path))
        for table in LOOKED_UP
        for row in getattr(FILES[source], table)
        for path in row.calls
    ]
    found = walked(tmp_path, [each for *_, each in made])
    wrong = [
        f"{table}: {each} reaches {paths}"
        for number, (table, row, each) in enumerate(made)
        for paths in [reached(found, number)]
        if row not in [indexes[table].get(load().canonical(path)) for path in paths]
    ]
    assert wrong == []


def reached(found: Walked, number: int) -> list[str]:
    """The paths of the libraries' functions that a task calls, and of the types of what it names."""
    (body,) = [body for body in found.program.bodies.values() if body.function == f"shop:task{number}"][:1]
    called = [target.path for target in body.targets.values() if isinstance(target, LibraryCall)]
    return [*called, *(kind.path for kind in body.types.values() if isinstance(kind, LibraryType))]
