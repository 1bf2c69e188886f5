"""SARIF: valid, without the faults that validators miss, and the same bytes each time."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from linting import printed
from sample_report import CHARGED_TWICE, RENEW, SENT_EARLY, report
from sarif_faults import faults

from idemlint import pages
from idemlint.checks import ALL
from idemlint.cli import run
from idemlint.diagnostic import (
    Applicability,
    Diagnostic,
    Edit,
    Fix,
    Report,
    Severity,
    Span,
    Step,
    StepKind,
    Suppression,
)
from idemlint.project import UnreadableFile
from idemlint.report import FORMATS
from idemlint.report.scan import Scan
from idemlint.report.sheet import Sheet

ROOT = Path(__file__).parent.parent
SCHEMA = json.loads((ROOT / "tests" / "data" / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft4Validator(SCHEMA)
PROJECTS = sorted(
    place
    for folder in (ROOT / "tests" / "fixtures" / "projects", ROOT / "tests" / "fixtures" / "article", ROOT / "examples")
    for place in folder.iterdir()
    if place.is_dir()
)

TASK = """\
import stripe
from celery import shared_task


@shared_task(acks_late=True)
def pay(order_id):
    stripe.Charge.create(amount=1, currency="usd")
"""


def laid(folder: Path, files: dict[str, str | bytes]) -> Path:
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def told(folder: Path, *arguments: str) -> dict[str, Any]:
    """The log of a run in `folder`, checked."""
    log: dict[str, Any] = json.loads(printed(folder, "--output-format", "sarif", *arguments))
    VALIDATOR.validate(log)
    assert faults(log, folder) == []
    return log


def rendered(reported: Report, files: dict[str, bytes] | None = None, **scan: Any) -> dict[str, Any]:
    """The one run of the log of a report on files that are held in memory."""

    def data(path: str) -> bytes:
        if files is None or path not in files:
            raise UnreadableFile(path, "cannot be read")
        return files[path]

    scan = {"rules": ALL, "data": data, "text": lambda path: data(path).decode("utf-8-sig"), **scan}
    log = json.loads(FORMATS["sarif"](reported, Sheet(place=str, scan=Scan(**scan))))
    VALIDATOR.validate(log)
    [only] = log["runs"]
    assert isinstance(only, dict)
    return only


@pytest.mark.parametrize("project", PROJECTS, ids=lambda place: place.name)
@pytest.mark.parametrize("arguments", [[], ["--min-severity", "note", "--min-confidence", "low", "--show-suppressed"]])
def test_the_log_of_a_project_is_valid_and_without_faults(project: Path, arguments: list[str]) -> None:
    told(project, "--sarif-root", ".", *arguments)


def test_the_same_project_gives_the_same_bytes() -> None:
    [shop] = [project for project in PROJECTS if project.name == "shop"]
    once, again = (printed(shop, "--output-format", "sarif") for _ in range(2))
    assert once == again
    assert once.endswith("}\n")


def test_every_rule_that_ran_is_described_from_its_page(tmp_path: Path) -> None:
    log = told(laid(tmp_path, {"tasks.py": "x = 1\n"}))
    [only] = log["runs"]
    rules = only["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.code for rule in ALL]
    assert only["results"] == []
    for rule, described in zip(ALL, rules, strict=True):
        opening = pages.page(rule.name).split("\n## ")[0].partition("\n")[2]
        assert described["fullDescription"]["text"].split() == opening.replace("`", "`").split()
        assert pages.page(rule.name).partition("\n")[2].strip() in described["help"]["markdown"]
        assert described["helpUri"] == pages.url(rule.name)


def test_a_rule_that_is_not_selected_is_not_described(tmp_path: Path) -> None:
    log = told(laid(tmp_path, {"tasks.py": TASK}), "--select", "IDM301,IDM101")
    assert [rule["id"] for rule in log["runs"][0]["tool"]["driver"]["rules"]] == ["IDM101", "IDM301"]


def test_a_rule_without_a_page_is_described_by_its_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise LookupError(name)

    monkeypatch.setattr(pages, "page", missing)
    [rule] = rendered(report(), rules=ALL[:1])["tool"]["driver"]["rules"]
    assert rule["fullDescription"] == rule["shortDescription"]


COLUMNS = {
    "two bytes": "    é = 1; stripe.Charge.create(amount=1, currency='usd')\n",
    "beyond the basic plane": "    é = '漢😀'; stripe.Charge.create(amount=1, currency='😀')\n",
    "tabs": "\tx = 1;\tstripe.Charge.create(amount=1,\tcurrency='usd')\n",
    "a form feed and a separator": "    x = '\x0c\u2028\x85'; stripe.Charge.create(amount=1, currency='usd')\n",
    "several lines": "    stripe.Charge.create(  # 漢😀\n        amount=1, currency='usd',\n    )\n",
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("line", COLUMNS.values(), ids=list(COLUMNS))
def test_columns_count_utf_16_code_units(tmp_path: Path, line: str, mark: str, end: str) -> None:
    body = mark + TASK.rpartition("    stripe")[0] + line
    log = told(laid(tmp_path, {"tasks.py": body.replace("\n", end)}))
    [region] = [each["locations"][0]["physicalLocation"]["region"] for each in log["runs"][0]["results"]]
    start = line.index("stripe")
    assert region["startLine"] == 7
    assert region["startColumn"] == len(line[:start].encode("utf-16-le")) // 2 + 1
    assert region["snippet"]["text"] == line[start:].split("\n", maxsplit=1)[0].rstrip()
    assert log["runs"][0]["columnKind"] == "utf16CodeUnits"


def test_paths_are_encoded_and_start_at_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    folder = laid(tmp_path / "back end", {"pyproject.toml": "", "my tasks#1%é.py": TASK})
    monkeypatch.chdir(folder)
    assert run(["check", "--output-format", "sarif", "-o", "out.sarif"]) == 1
    log = json.loads((folder / "out.sarif").read_text(encoding="utf-8"))
    assert faults(log, tmp_path) == []
    [artifact] = log["runs"][0]["artifacts"]
    assert artifact["location"]["uri"] == "back%20end/my%20tasks%231%25%C3%A9.py"


def test_the_root_of_paths_may_be_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    laid(tmp_path, {"a/b/pyproject.toml": "", "a/b/tasks.py": TASK})
    monkeypatch.chdir(tmp_path / "a" / "b")
    log = told_to_file(tmp_path / "log.sarif", "--sarif-root", "..")
    assert [artifact["location"]["uri"] for artifact in log["runs"][0]["artifacts"]] == ["b/tasks.py"]
    assert run(["check", "--output-format", "sarif", "--sarif-root", str(ROOT)]) == 2


def told_to_file(file: Path, *arguments: str) -> dict[str, Any]:
    run(["check", "--output-format", "sarif", "-o", str(file), *arguments])
    log = json.loads(file.read_text(encoding="utf-8"))
    assert isinstance(log, dict)
    return log


def test_a_category_is_written_only_when_asked_for() -> None:
    assert "automationDetails" not in rendered(report())
    for given in ("backend", "backend/"):
        assert rendered(report(), category=given)["automationDetails"] == {"id": "backend/"}


def test_a_file_that_cannot_be_read_is_a_result_and_a_notification(tmp_path: Path) -> None:
    broken = TASK.replace("order_id)", "order_id")
    log = told(laid(tmp_path, {"tasks.py": TASK, "broken.py": broken}), "--select", "IDM1")
    [only] = log["runs"]
    assert [result["ruleId"] for result in only["results"]] == ["IDM901", "IDM101"]
    [invocation] = only["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (True, 0)  # printed() asks for --exit-zero
    [notification] = invocation["toolExecutionNotifications"]
    assert notification["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "broken.py"
    described = only["tool"]["driver"]["rules"][notification["associatedRule"]["index"]]
    assert described["id"] == notification["associatedRule"]["id"] == "IDM901"


def test_a_file_in_another_encoding_has_its_columns_and_its_hash(tmp_path: Path) -> None:
    text = "# coding: latin-1\n" + TASK.replace("    stripe", "    é = 1; stripe")
    folder = laid(tmp_path, {"tasks.py": text.encode("latin-1")})
    log = json.loads(printed(folder, "--output-format", "sarif"))
    [result] = log["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["region"]["startColumn"] == 12
    assert "primaryLocationLineHash" in result["partialFingerprints"]


def test_the_story_is_one_flow_and_each_of_its_places_is_linked() -> None:
    [result] = rendered(report(CHARGED_TWICE))["results"]
    assert result["message"]["text"] == (
        "charge_order charges the card again when its message is delivered twice. "
        'Fix: pass idempotency_key=f"charge-{order_id}". See [cause](1), [first run](2), [cut](3).'
    )
    [flow] = result["codeFlows"]
    steps = [step["location"] for step in flow["threadFlows"][0]["locations"]]
    assert [step["message"]["text"].partition(":")[0] for step in steps] == [
        "cause", "first run", "cut", "again", "result",
    ]  # fmt: skip
    # The result is no place in the code: it is told where the story was last.
    assert steps[-1]["physicalLocation"] == steps[-2]["physicalLocation"]


def test_a_cause_that_is_no_place_stands_on_the_task() -> None:
    files = {"shop/tasks.py": b"\n" * 37 + b"def charge_order(order_id):\n" + b"\n" * 10}
    cause = Step(StepKind.CAUSE, "the framework's default")
    [result] = rendered(report(replace(CHARGED_TWICE, steps=(cause, *CHARGED_TWICE.steps[1:]))), files)["results"]
    place = result["codeFlows"][0]["threadFlows"][0]["locations"][0]["location"]["physicalLocation"]
    assert place["region"]["snippet"]["text"] == "def charge_order(order_id):"


def test_further_tasks_are_linked_too_as_far_as_they_are_read() -> None:
    others = tuple(replace(RENEW, name=f"renew[{number}]", line=number) for number in range(1, 30))
    [result] = rendered(report(replace(SENT_EARLY, other_tasks=others)))["results"]
    assert len(result["relatedLocations"]) == 10
    assert r"[also renew\[1\]](2)" in result["message"]["text"]


def test_what_only_looks_like_a_link_is_none() -> None:
    step = Step(StepKind.FIRST, "handlers[kind](order)", Span("shop/a.py", 1, 1, 1, 2))
    [result] = rendered(report(replace(SENT_EARLY, message="x calls\nlist[int](1).", steps=(step,))))["results"]
    assert result["message"]["text"] == "x calls list[int] (1). See [first run](1)."
    assert result["relatedLocations"][0]["message"]["text"] == "handlers[kind] (order)"


def test_suppressed_findings_say_so_and_then_all_others_say_that_they_are_not() -> None:
    accepted = replace(CHARGED_TWICE, suppression=Suppression("shop/tasks.py", 41, "a test account"))
    results = rendered(report(SENT_EARLY, accepted, replace(accepted, suppression=Suppression("a.py", 1, ""))))[
        "results"
    ]
    assert [result["suppressions"] for result in results] == [
        [],
        [{"kind": "inSource", "status": "accepted", "justification": "a test account"}],
        [{"kind": "inSource", "status": "accepted"}],
    ]
    assert "suppressions" not in rendered(report(SENT_EARLY))["results"][0]


def test_a_fix_is_the_edits_it_makes() -> None:
    files = {"a.py": "x = '😀'\r\ny = 1\r\n".encode()}
    edits = (Edit("a.py", 5, 6, ""), Edit("a.py", 9, 16, "z"), Edit("a.py", 16, 16, "end"))
    fixed = replace(SENT_EARLY, span=Span("a.py", 1, 1, 1, 2), steps=(), fix=Fix("mend it", Applicability.SAFE, edits))
    [result] = rendered(report(fixed), files)["results"]
    [fix] = result["fixes"]
    [change] = fix["artifactChanges"]
    assert [
        (tuple(replacement["deletedRegion"].values()), replacement["insertedContent"]["text"])
        for replacement in change["replacements"]
    ] == [((1, 6, 1, 8), ""), ((2, 1, 3, 1), "z"), ((3, 1, 3, 1), "end")]


def test_a_fix_that_only_a_person_can_make_is_told_in_the_message() -> None:
    [result] = rendered(report(replace(SENT_EARLY, fix=Fix("send it on commit", Applicability.DISPLAY))))["results"]
    assert "fixes" not in result
    assert "Fix: send it on commit." in result["message"]["text"]


@pytest.mark.parametrize(
    ("severity", "level"), [(Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.NOTE, "note")]
)
def test_the_level_is_that_of_the_finding(severity: Severity, level: str) -> None:
    [result] = rendered(report(replace(SENT_EARLY, severity=severity)))["results"]
    assert result["level"] == level


def test_a_surrogate_does_not_break_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    [result] = rendered(report(replace(SENT_EARLY, span=Span("a\udcff.py", 1, 1, 1, 2), steps=())))["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%FF.py"


def _first(log: dict[str, Any]) -> dict[str, Any]:
    result = log["runs"][0]["results"][0]
    assert isinstance(result, dict)
    return result


BROKEN: dict[str, Callable[[dict[str, Any]], object]] = {
    "links and related locations differ": lambda log: _first(log)["relatedLocations"][0].update(id=7),
    "links": lambda log: _first(log)["relatedLocations"].append(_first(log)["relatedLocations"][0]),
    "ruleIndex": lambda log: _first(log).update(ruleIndex=1),
    "suppressions in some": lambda log: _first(log).update(suppressions=[]),
    "without an empty text": lambda log: _first(log)["fixes"][0]["artifactChanges"][0]["replacements"].append({}),
    "security-severity": lambda log: log["runs"][0]["tool"]["driver"]["rules"][0]["properties"].update(
        {"security-severity": 9.8}
    ),
    "uri": lambda log: _first(log)["locations"][0]["physicalLocation"]["artifactLocation"].update(uri="no such.py"),
    "the columns hold": lambda log: _first(log)["locations"][0]["physicalLocation"]["region"].update(startColumn=1),
    "no line hash": lambda log: _first(log)["partialFingerprints"].pop("primaryLocationLineHash"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_fault_is_noticed(tmp_path: Path, fault: str) -> None:
    twice = "    stripe.Charge.create(amount=2, currency='usd')\n    x = 1  # idemlint: ignore[IDM101]\n"
    log = told(laid(tmp_path, {"tasks.py": twice.join([TASK.rpartition("    stripe")[0], ""]) + "\n\n" + TASK}))
    results = log["runs"][0]["results"]
    results[0]["fixes"] = next(result["fixes"] for result in results if "fixes" in result)
    assert faults(log, tmp_path) == []
    broken = copy.deepcopy(log)
    BROKEN[fault](broken)
    assert any(fault in found for found in faults(broken, tmp_path))


def test_findings_of_a_diagnostic_without_a_story_have_no_flow() -> None:
    bare: Diagnostic = replace(SENT_EARLY, steps=())
    [result] = rendered(report(bare))["results"]
    assert "codeFlows" not in result
    assert "relatedLocations" not in result


def test_the_project_has_one_home() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["urls"]["Homepage"] == pages.HOME
    assert f"- repo: {pages.HOME}\n" in (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
