"""Hazards that people met in production, rewritten small: the bad form is spoken of, the good one is not.

`fixtures/cases/<case>/` holds `bad` and `good`, each a file or a package. `# HAZARD: kind` stands where a reviewer
would put the comment, `# ALSO-OK: kind` where a finding is right too; `expect.json` has the same marks with the line
span of the statement. `kinds.toml` says which rules answer for a kind.
"""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from linting import findings

FOLDER = Path(__file__).parent / "fixtures" / "cases"
RULES: dict[str, list[str]] = tomllib.loads((FOLDER / "kinds.toml").read_text(encoding="utf-8"))
CASES = sorted(place.parent.name for place in FOLDER.glob("*/expect.json"))
LOUD = {"error", "warning"}
# A note answers for these: nothing breaks at once.
QUIET_KINDS = {"journal-never-purged"}
# They speak about a task as a whole and may join any hazard.
WHOLE_TASK = {"retry-after-effect", "replayed-steps"}
MARK = re.compile(r"#\s*(HAZARD|ALSO-OK):[^\n]*")

# Hazards that no rule sees yet.
MISSED: set[str] = set()


@dataclass(frozen=True, slots=True)
class Place:
    """A statement of a case and the kind of hazard in it."""

    case: str
    file: str
    span: tuple[int, int]
    kind: str

    def __str__(self) -> str:
        return f"{self.case[:2]}-{self.file}-{self.span[0]}-{self.kind}"

    def holds(self, finding: dict[str, Any]) -> bool:
        return bool(finding["path"] == self.file and self.span[0] <= finding["line"] <= self.span[1])

    def heard(self, finding: dict[str, Any]) -> bool:
        loud = finding["severity"] in LOUD or self.kind in QUIET_KINDS
        return loud and self.holds(finding) and finding["rule"] in RULES[self.kind]


def expected(case: str, key: str) -> list[Place]:
    text = (FOLDER / case / "expect.json").read_text(encoding="utf-8")
    return [Place(case, each["file"], tuple(each["span"]), each["kind"]) for each in json.loads(text)[key]]


HAZARDS = [place for case in CASES for place in expected(case, "expect")]


def spoken(case: str, form: str, folder: Path) -> list[dict[str, Any]]:
    """Findings on one form of a case, laid out alone and without its marks."""
    source = FOLDER / case / form
    if source.is_dir():
        shutil.copytree(source, folder / form, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source.with_suffix(".py"), folder)
    for file in folder.rglob("*.py"):
        file.write_text(MARK.sub("", file.read_text(encoding="utf-8")), encoding="utf-8")
    return findings(folder, "--min-severity", "note")


@pytest.mark.parametrize(
    "hazard",
    [
        pytest.param(each, marks=[pytest.mark.xfail(reason="no rule sees it yet")] if str(each) in MISSED else [])
        for each in HAZARDS
    ],
    ids=str,
)
def test_the_hazard_is_found(hazard: Place, tmp_path: Path) -> None:
    assert any(hazard.heard(finding) for finding in spoken(hazard.case, "bad", tmp_path))


@pytest.mark.parametrize("case", CASES)
def test_nothing_else_is_found_in_the_bad_form(case: str, tmp_path: Path) -> None:
    places = [*expected(case, "expect"), *expected(case, "also_ok")]
    assert [
        told(finding)
        for finding in spoken(case, "bad", tmp_path)
        if finding["severity"] in LOUD
        and finding["rule"] not in WHOLE_TASK
        and not any(place.holds(finding) for place in places)
    ] == []


@pytest.mark.parametrize("case", CASES)
def test_the_good_form_is_silent(case: str, tmp_path: Path) -> None:
    tolerated = expected(case, "tolerated_in_good")
    assert [
        told(finding)
        for finding in spoken(case, "good", tmp_path)
        if finding["severity"] in LOUD and not any(place.heard(finding) for place in tolerated)
    ] == []


def told(finding: dict[str, Any]) -> str:
    return f"{finding['path']}:{finding['line']} {finding['rule']}"


def test_what_is_missed_is_a_hazard() -> None:
    assert set(map(str, HAZARDS)) >= MISSED
