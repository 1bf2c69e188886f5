"""Whole projects, small ones: what is printed of them stands beside them, and of the article's remedies nothing is."""

from __future__ import annotations

from pathlib import Path

import pytest
from linting import findings, printed

FIXTURES = Path(__file__).parent / "fixtures"
PROJECTS = sorted(place for place in (FIXTURES / "projects").iterdir() if place.is_dir())
REMEDIES = sorted(place for place in (FIXTURES / "article").iterdir() if place.is_dir())


@pytest.mark.parametrize("project", PROJECTS, ids=lambda place: place.name)
def test_project_reads_as_before(project: Path, update: bool) -> None:
    expected = project / "expected.txt"
    text = printed(project)
    if update:
        expected.write_text(text, encoding="utf-8")
    else:
        assert text == expected.read_text(encoding="utf-8"), "if it is meant to: pytest tests/test_fixtures.py --update"


@pytest.mark.parametrize("remedy", REMEDIES, ids=lambda place: place.name)
def test_remedy_is_left_in_peace(remedy: Path) -> None:
    assert findings(remedy) == []


def test_remedy_is_looked_at() -> None:
    assert all("No findings in 0 tasks" not in printed(remedy) for remedy in REMEDIES)
