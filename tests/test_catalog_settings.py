"""The tables about settings are read whole, and what makes no sense in them is named."""

from __future__ import annotations

import pytest

from idemlint.catalog.errors import CatalogError
from idemlint.catalog.settings import (
    app_settings,
    environment,
    parse_app_settings,
    parse_environment,
    parse_project_settings,
    project_settings,
)


def test_every_setting_has_an_old_name_of_its_own() -> None:
    for table in app_settings():
        assert len(table.current) == len(table.names)
        assert set(table.arguments.values()) <= set(table.names)
        assert set(table.arguments) <= set(table.parameters)


def test_the_variable_and_the_marks_are_names_in_capitals() -> None:
    table = project_settings()
    assert all(name.isupper() for name in (table.variable, *table.marks, *table.inside))


def test_readers_of_the_environment_are_found_by_each_path_they_spell() -> None:
    readers = environment().readers
    assert readers["os.getenv"] is readers["os.environ.get"]
    assert readers["environs.Env.int"].type == "int"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("framework = ", "table.toml: Invalid value"),
        ("framwork = 'x'", 'table.toml: framwork: unknown key; did you mean "framework"?'),
        ("apps = 'x'", "table.toml: apps: expected list, found str"),
        ("framework = 'x'", "table.toml: AppSettings.__init__() missing"),
    ],
)
def test_a_table_that_makes_no_sense_is_an_error(text: str, message: str) -> None:
    with pytest.raises(CatalogError) as caught:
        parse_app_settings(text, "table.toml")
    assert str(caught.value).startswith(message)


def test_the_place_of_an_error_is_named() -> None:
    with pytest.raises(CatalogError, match=r"table\.toml: variable: expected str, found int"):
        parse_project_settings("variable = 5", "table.toml")
    with pytest.raises(CatalogError, match=r"table\.toml: reader\[0\]: defaults: unknown key"):
        parse_environment("[[reader]]\ndefaults = []", "table.toml")
    with pytest.raises(CatalogError, match=r"table\.toml: reader\[0\]\.calls: "):
        parse_environment("[[reader]]\ncalls = ['a.{b']", "table.toml")
