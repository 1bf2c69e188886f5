"""Whole projects, small ones: what is printed of them stands beside them, and of the article's remedies nothing is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from linting import findings, printed

FIXTURES = Path(__file__).parent / "fixtures"
PROJECTS = sorted(place.parent for place in FIXTURES.glob("*/*/expected.txt"))
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


@pytest.mark.parametrize(
    ("remedy", "file", "protection", "without", "rule"),
    [
        ("deterministic_key", "payments.py", "headers=headers,", "", "unkeyed-external-call"),
        ("journal_before_keyed_call", "tasks.py", 'process_once(f"confirm-{order_id}")', "True", "unguarded-message"),
        ("journal_before_keyed_call", "models.py", ", unique=True", "", "unguarded-message"),
        ("journal_with_database_effect", "models.py", ", unique=True", "", "unguarded-increment"),
        ("unique_log_and_increment", "models.py", "unique_together", "index_together", "unguarded-increment"),
        ("unique_log_and_increment", "services.py", "if not created:", "if points == 0:", "unguarded-increment"),
        ("outbox_relay", "tasks.py", "idempotency_key=message.key,", "", "unkeyed-external-call"),
        ("push_not_twice_an_hour", "tasks.py", "nx=True, ", "", "unguarded-message"),
    ],
)
def test_without_its_protection_the_remedy_is_none(
    remedy: str, file: str, protection: str, without: str, rule: str, tmp_path: Path
) -> None:
    shutil.copytree(FIXTURES / "article" / remedy, tmp_path, dirs_exist_ok=True)
    changed = tmp_path / "shop" / file
    text = changed.read_text(encoding="utf-8")
    assert protection in text
    changed.write_text(text.replace(protection, without), encoding="utf-8")
    assert rule in {finding["rule"] for finding in findings(tmp_path)}
