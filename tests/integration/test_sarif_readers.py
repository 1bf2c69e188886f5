"""SARIF as others read it: Microsoft's validator with GitHub's rules, its line hashes, and sarif-tools."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from linting import printed
from tools import MULTITOOL, ROOT, in_venv, needs, ran

from idemlint.report.line_hash import line_hashes

CONFIG = ROOT / "tests" / "data" / "multitool-config.xml"
SARIF_TOOLS = in_venv("sarif")
FIXTURES = ROOT / "tests" / "fixtures"
PROJECTS = sorted(
    place
    for folder in (FIXTURES / "projects", FIXTURES / "article", ROOT / "examples")
    for place in folder.iterdir()
    if place.is_dir()
)
SEEN = {"usual": [], "all": ["--min-severity", "note", "--min-confidence", "low", "--show-suppressed"]}


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A log of each project, of what is shown by default and of all there is."""
    folder = tmp_path_factory.mktemp("logs")
    written = {}
    for project in PROJECTS:
        for name, arguments in SEEN.items():
            file = folder / f"{project.name}.{name}.sarif"
            file.write_text(
                printed(project, "--output-format", "sarif", "--sarif-root", ".", *arguments), encoding="utf-8"
            )
            written[f"{project.name} {name}"] = file
    return written


@needs("sarif-multitool", MULTITOOL)
def test_the_validator_finds_neither_error_nor_warning(logs: dict[str, Path], tmp_path: Path) -> None:
    verdict = tmp_path / "verdict.sarif"
    done = ran(
        MULTITOOL,
        "validate",
        *logs.values(),
        *("--rule-kind", "Sarif;Ghas", "--level", "Error;Warning"),
        *("-c", CONFIG),
        *("-o", verdict),
        cwd=tmp_path,
    )
    # It exits with 0 whatever it finds: its own log is the verdict.
    [judged] = json.loads(verdict.read_text(encoding="utf-8-sig"))["runs"]
    assert judged["results"] == [], done.stdout
    assert f"{len(logs)} files scanned" in done.stdout


@needs("sarif-multitool", MULTITOOL)
def test_the_validator_would_find_something(logs: dict[str, Path], tmp_path: Path) -> None:
    log = json.loads(logs["shop all"].read_text(encoding="utf-8"))
    del log["runs"][0]["results"][0]["message"]["text"]
    broken, verdict = tmp_path / "broken.sarif", tmp_path / "verdict.sarif"
    broken.write_text(json.dumps(log), encoding="utf-8")
    ran(MULTITOOL, "validate", broken, "--rule-kind", "Sarif;Ghas", "-c", CONFIG, "-o", verdict, cwd=tmp_path)
    [judged] = json.loads(verdict.read_text(encoding="utf-8-sig"))["runs"]
    assert any(result["ruleId"].startswith("GH") for result in judged["results"])


# No byte order mark, which the validator drops before it counts and the upload does not.
ODD = "é = '漢😀'\r\n\tx = 1 \n\n\n    \n# \u2028 \x0c \x85\nx = 1\nx = 1" + "\ny = 2" * 40


@needs("sarif-multitool", MULTITOOL)
def test_its_line_hashes_are_ours(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_bytes(ODD.encode())
    files = [*sorted(FIXTURES.rglob("*.py")), *sorted((ROOT / "tests").glob("*.py")), tmp_path / "odd.py"]
    asked = [(file, line) for file in files for line in range(1, len(line_hashes(file.read_bytes())) + 1)]
    log = {
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "none"}},
                "results": [
                    {
                        "message": {"text": "A line."},
                        "locations": [
                            {
                                "physicalLocation": {
                                    "artifactLocation": {"uri": file.as_uri()},
                                    "region": {"startLine": line},
                                }
                            }
                        ],
                    }
                    for file, line in asked
                ],
            }
        ],
    }
    before, after = tmp_path / "before.sarif", tmp_path / "after.sarif"
    before.write_text(json.dumps(log), encoding="utf-8")
    done = ran(MULTITOOL, "rewrite", before, "--insert", "RollingHashPartialFingerprints", "-o", after, cwd=tmp_path)
    assert after.is_file(), done.stdout
    results = json.loads(after.read_text(encoding="utf-8-sig"))["runs"][0]["results"]
    theirs = [result["partialFingerprints"]["primaryLocationLineHash"] for result in results]
    ours = {file: line_hashes(file.read_bytes()) for file in files}
    assert theirs == [ours[file][line - 1] for file, line in asked]


@needs("sarif-multitool", MULTITOOL)
def test_its_snippets_are_ours(logs: dict[str, Path], tmp_path: Path) -> None:
    shop = next(project for project in PROJECTS if project.name == "shop")
    log = json.loads(logs["shop all"].read_text(encoding="utf-8"))
    log["runs"][0]["originalUriBaseIds"]["%SRCROOT%"]["uri"] = f"{shop.as_uri()}/"
    ours = snippets(log)
    for region in regions(log):
        del region["snippet"]
    before, after = tmp_path / "before.sarif", tmp_path / "after.sarif"
    before.write_text(json.dumps(log), encoding="utf-8")
    ran(MULTITOOL, "rewrite", before, "--insert", "RegionSnippets", "-o", after, cwd=tmp_path)
    assert snippets(json.loads(after.read_text(encoding="utf-8-sig"))) == ours
    assert any(ours)


def regions(log: dict[str, Any]) -> list[dict[str, Any]]:
    places = [result["locations"][0]["physicalLocation"] for result in log["runs"][0]["results"]]
    return [place["region"] for place in places]


def snippets(log: dict[str, Any]) -> list[str]:
    return [region["snippet"]["text"] for region in regions(log)]


@needs("sarif-tools", SARIF_TOOLS)
def test_sarif_tools_reads_the_same_counts_and_paths(logs: dict[str, Path], tmp_path: Path) -> None:
    file = logs["shop all"]
    table = tmp_path / "table.csv"
    done = ran(SARIF_TOOLS, "csv", "--output", table, file, cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    with table.open(encoding="utf-8-sig", newline="") as lines:
        theirs = Counter(
            (row["Severity"], row["Code"], row["Location"], int(row["Line"])) for row in csv.DictReader(lines)
        )
    log = json.loads(file.read_text(encoding="utf-8"))
    ours = Counter(
        (
            result["level"],
            result["ruleId"],
            result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            result["locations"][0]["physicalLocation"]["region"]["startLine"],
        )
        for result in log["runs"][0]["results"]
    )
    assert theirs == ours
    assert ours
