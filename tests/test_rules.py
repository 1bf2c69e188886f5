"""Every project that a rule's page shows, linted: the marked findings, and no other."""

from __future__ import annotations

from pathlib import Path

import pages
import pytest
from linting import findings, printed
from pages import Example, Mark, Page

from idemlint.checks import ALL
from idemlint.diagnostic import Severity

FOLDER = Path(__file__).parent.parent / "rules"
RULES = {rule.name: rule for rule in ALL}


def text(name: str) -> str:
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")


PAGES: dict[str, Page] = {name: pages.read(text(name)) for name in RULES if (FOLDER / f"{name}.md").exists()}
EXAMPLES = [example for page in PAGES.values() for example in page.examples]


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_example(example: Example, tmp_path: Path) -> None:
    example.write(tmp_path)
    found = spoken(tmp_path, example.page)
    no_longer_missed = found & example.misses
    assert not no_longer_missed, "no longer missed: move it to Bad"
    assert sorted(found, key=repr) == sorted(example.errors, key=repr)


def spoken(folder: Path, rule: str) -> set[Mark]:
    """What a user sees by default; and the notes of the page's own rule, which would not show."""
    shown = [
        finding
        for finding in findings(folder, "--min-severity", "note")
        if finding["severity"] != "note" or (finding["rule"] == rule and RULES[rule].severity is Severity.NOTE)
    ]
    return {Mark(finding["path"], finding["line"], finding["rule"]) for finding in shown}


@pytest.mark.parametrize("name", PAGES)
def test_story(name: str, tmp_path: Path, update: bool) -> None:
    page = PAGES[name]
    page.of("Bad")[0].write(tmp_path)
    notes = ["--min-severity", "note", "--select", name] if RULES[name].severity is Severity.NOTE else []
    story = printed(tmp_path, "--quiet", *notes).strip("\n")
    if update:
        (FOLDER / f"{name}.md").write_text(pages.retold(text(name), story), encoding="utf-8")
    else:
        assert page.story == story


@pytest.mark.parametrize("name", PAGES)
def test_page_shows_what_it_claims(name: str) -> None:
    page = PAGES[name]
    assert all(example.errors for example in page.of("Bad"))
    assert not any(example.errors or example.misses for example in page.of("Good"))
    assert all(example.misses for example in page.of("Known misses"))
