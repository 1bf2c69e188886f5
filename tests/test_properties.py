"""What holds of every program: it is read to its end, and what is said of it hangs on nothing but what it does."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import hypothesmith
import pages
import programs
import pytest
import rewriting
from hypothesis import HealthCheck, example, given, settings
from pages import Example

from idemlint.checks import ALL
from idemlint.config import Config
from idemlint.diagnostic import Report
from idemlint.engine import check
from idemlint.project import discover

FOLDER = Path(__file__).parent
# These rules speak of comments, or of what is no Python.
ABOUT_TEXT = {"unused-suppression", "unknown-rule-in-suppression", "unparsable-file"}
PAGES = [
    pages.read((FOLDER.parent / "rules" / f"{rule.name}.md").read_text(encoding="utf-8"))
    for rule in ALL
    if rule.name not in ABOUT_TEXT
]
EXAMPLES = [example for page in PAGES for example in page.examples]
FIRST = [page.of("Bad")[0] for page in PAGES]
PROJECTS = sorted(place.parent for place in (FOLDER / "fixtures").glob("*/*/expected.txt"))
BESIDE = {
    "aside/__init__.py": "",
    "aside/models.py": "from django.db import models\n\n\nclass Aside(models.Model):\n    note = models.TextField()\n",
    "aside/lists.py": "from aside.models import Aside\n\n\ndef notes():\n    return list(Aside.objects.all())\n",
}


def checked(files: Mapping[str, str]) -> Report:
    """What is found in a project of these files, packages all."""
    with tempfile.TemporaryDirectory() as folder:
        Example("", "", "", files, frozenset(), frozenset()).write(Path(folder))
        return check(discover([Path(folder)], root=Path(folder), isolated=True), Config())


def rules(files: Mapping[str, str]) -> list[tuple[str, str]]:
    """The rules that speak, and of which file."""
    return sorted((found.rule, found.span.path) for found in checked(files).findings)


def sources(files: Mapping[str, str]) -> dict[str, str]:
    return {path: text for path, text in files.items() if path.endswith(".py")}


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_an_example_written_another_way_is_the_same(example: Example) -> None:
    files = dict(example.files)
    said = rules(files)
    for way in (rewriting.wrapped, rewriting.split):
        assert rules(files | {path: way(text) for path, text in sources(files).items()}) == said


@pytest.mark.parametrize("example", FIRST, ids=str)
def test_a_file_beside_it_changes_nothing(example: Example) -> None:
    assert checked({**example.files, **BESIDE}).findings == checked(example.files).findings


@pytest.mark.parametrize("project", PROJECTS, ids=lambda place: place.name)
def test_a_file_beside_a_project_changes_nothing(project: Path) -> None:
    files = {
        file.relative_to(project).as_posix(): file.read_text(encoding="utf-8")
        for file in sorted(project.rglob("*"))
        if file.is_file() and file.suffix in (".py", ".sql", ".toml", ".txt")
    }
    once, again, more = checked(files), checked(dict(reversed(files.items()))), checked(files | BESIDE)
    assert again == once
    assert more.findings == once.findings


TWICE_IN_MEMORY = """\
pay()
if pk in DONE:
    return
Entry.objects.create(order_id=pk, amount=1)
if pk in DONE:
    DONE.add(pk)
else:
    pay(str(timezone.now()))
"""
"""Two guards of one strength: which of them counts must not hang on how their places are spelled."""


@given(programs.bodies)
@example(TWICE_IN_MEMORY)
@settings(max_examples=40, deadline=None)
def test_a_program_made_up_is_read_and_written_another_way_is_the_same(body: str) -> None:
    text = programs.program(body)
    first = checked({"shop/tasks.py": text})
    assert checked({"shop/tasks.py": text}) == first
    said = sorted(found.rule for found in first.findings)
    for way in (rewriting.wrapped, rewriting.split):
        assert sorted(found.rule for found in checked({"shop/tasks.py": way(text)}).findings) == said


@given(hypothesmith.from_node())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_any_python_beside_a_task_is_read(text: str) -> None:
    body = f"{programs.program('pay()')}\n\n{text}"
    checked({"shop/tasks.py": body, "shop/other.py": text})
