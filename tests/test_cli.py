"""The command line: what it asks of the engine, what it shows, and how it ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

import pytest
from sample_report import CHARGED_TWICE, RENEW, SENT_EARLY, report, span

from idemlint import checks, pages
from idemlint.checks.rule import Rule
from idemlint.cli import run
from idemlint.config import Config, FailOn
from idemlint.diagnostic import Confidence, Diagnostic, Report, Severity, Suppression
from idemlint.project import Project
from idemlint.replay import Finding, Replay
from idemlint.report import FORMATS


def nothing(replay: Replay) -> Iterator[Finding]:
    yield from ()


RULES = (
    Rule("unkeyed-external-call", "IDM101", Severity.ERROR, "an outside call repeated", "0.1.0", nothing),
    Rule("enqueue-in-transaction", "IDM402", Severity.WARNING, "a task sent too early", "0.1.0", nothing),
)
NOTED = replace(SENT_EARLY, severity=Severity.NOTE)
UNSURE = replace(CHARGED_TWICE, confidence=Confidence.LOW)
ACCEPTED = replace(CHARGED_TWICE, suppression=Suppression("shop/tasks.py", 41, "a test account"))


@dataclass
class Engine:
    """Stands for the analysis: what it finds, and what it was asked."""

    finds: tuple[Diagnostic, ...] = ()
    breaks: BaseException | None = None
    asked: list[tuple[Project, Config]] = field(default_factory=list)
    jobs: int = 0

    def check(
        self,
        project: Project,
        config: Config,
        progress: Callable[[str, int, int], None] | None,
        *,
        unknown: bool,
        jobs: int,
    ) -> Report:
        self.asked.append((project, config))
        self.jobs = jobs
        if self.breaks:
            raise self.breaks
        return report(*self.finds)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Engine:
    fake = Engine()
    module = ModuleType("idemlint.engine")
    module.check = fake.check  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "idemlint.engine", module)
    monkeypatch.setattr(checks, "ALL", RULES, raising=False)
    return fake


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that is also the working folder, and an environment that says nothing."""
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "IDEMLINT_OUTPUT_FORMAT"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "project"
    for path in ("shop/tasks.py", "shop/orders.py", "shop/renewal.py", "config/celery.py"):
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("", encoding="utf-8")
    (root / "pyproject.toml").write_text("", encoding="utf-8")
    monkeypatch.chdir(root)
    return root


def found(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """The rules and places that a run tells."""
    run(["check", "--output-format", "json", *arguments])
    return [f"{finding['code']} {finding['path']}" for finding in json.loads(capsys.readouterr().out)["findings"]]


EXIT_CODES = [
    ([], (), 0),
    ([], (CHARGED_TWICE,), 1),
    ([], (SENT_EARLY,), 1),
    ([], (NOTED,), 0),
    ([], (UNSURE,), 0),
    (["--min-severity", "note"], (NOTED,), 1),
    (["--min-severity", "error"], (SENT_EARLY,), 0),
    (["--min-confidence", "low"], (UNSURE,), 1),
    (["--min-confidence", "high"], (SENT_EARLY,), 0),
    (["--fail-on", "error"], (SENT_EARLY,), 0),
    (["--fail-on", "error"], (CHARGED_TWICE,), 1),
    (["--fail-on", "warning", "--min-severity", "note"], (NOTED,), 0),
    (["--fail-on", "note"], (NOTED,), 0),
    (["--fail-on", "never"], (CHARGED_TWICE,), 0),
    (["--exit-zero"], (CHARGED_TWICE,), 0),
    (["-e"], (CHARGED_TWICE,), 0),
    (["--quiet"], (CHARGED_TWICE,), 1),
    (["-o", "report.txt"], (CHARGED_TWICE,), 1),
    (["shop/orders.py"], (CHARGED_TWICE,), 0),
    (["--exit-zero", "missing"], (), 2),
    (["--exit-zero", "--select", "IDM9"], (), 2),
    (["missing"], (), 2),
    (["empty"], (), 2),
    (["--force-exclude", "empty"], (), 0),
    (["--report-only-paths", "empty"], (CHARGED_TWICE,), 0),
    (["--report-only-paths", "shop/tasks.py"], (CHARGED_TWICE,), 1),
    (["--report-only-paths", "missing"], (), 2),
    (["--show-suppressed"], (ACCEPTED,), 0),
    (["--config", "pyproject.toml"], (), 2),
    (["--isolated", "--config", "idemlint.toml"], (), 2),
    (["--select", "no-such-rule"], (), 2),
    (["--sarif-root", "shop"], (), 2),
    (["--no-such-option"], (), 2),
    (["--fail-on", "sometimes"], (), 2),
    (["--config", "missing.toml"], (), 2),
    (["--config", "fail-on=3"], (), 2),
    (["--root", "missing"], (), 2),
    (["-o", "missing/report.txt"], (), 2),
]


def test_a_large_project_is_read_by_two_processes_where_there_are_processors(
    engine: Engine, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    run(["check"])
    small = engine.jobs
    for number in range(200):
        (shop / f"module{number}.py").touch()
    run(["check"])
    large = engine.jobs
    run(["check", "--jobs", "1"])
    chosen = engine.jobs
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    run(["check"])
    assert (small, large, chosen, engine.jobs) == (1, 2, 1, 1)


@pytest.mark.parametrize("count", ["0", "-1", "many"])
def test_a_number_of_processes_that_is_none_is_refused(count: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--jobs", count]) == 2
    assert "--jobs" in capsys.readouterr().err


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("arguments", "finds", "code"), EXIT_CODES)
def test_the_exit_code_tells_clean_from_findings_from_failure_whatever_the_form(
    engine: Engine, shop: Path, form: str, arguments: list[str], finds: tuple[Diagnostic, ...], code: int
) -> None:
    (shop / "empty").mkdir()
    engine.finds = finds
    assert run(["check", "--output-format", form, *arguments]) == code


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("arguments", [[], ["--exit-zero"]])
def test_a_crash_of_ours_is_one_line_and_exit_2(
    engine: Engine, capsys: pytest.CaptureFixture[str], form: str, arguments: list[str]
) -> None:
    engine.breaks = KeyError("amount")
    engine.breaks.add_note("rule read-modify-write, task shop.tasks.pay")
    assert run(["check", "--output-format", form, *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    [line] = captured.err.splitlines()
    assert line.startswith("idemlint: internal error in cli.py:")
    assert "KeyError: 'amount' rule read-modify-write, task shop.tasks.pay; please report it" in line


def test_a_crash_of_ours_shows_its_traceback_when_asked(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.breaks = KeyError("amount")
    assert run(["check", "-v"]) == 2
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_an_interrupt_ends_the_run_without_a_story(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.breaks = KeyboardInterrupt()
    assert run(["check"]) == 130
    captured = capsys.readouterr()
    assert (captured.out, captured.err.strip()) == ("", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "shpo"], "no such file or folder: shpo (did you mean shop?)"),
        (["check", "--selct", "IDM1"], "No such option"),
        (
            ["check", "--select", "enqueue-in-transacton"],
            '--select: unknown rule "enqueue-in-transacton"; did you mean',
        ),
        (["check", "--config", "fial-on=note"], '--config: fial-on: unknown key; did you mean "fail-on"?'),
        (["check", "--output-format", "jsno"], "Invalid value for '--output-format'"),
        (["check", "--output-format", "json", "--statistics"], "--statistics is for people"),
        (["check", "-o", "missing/x.json"], "--output-file: missing/x.json: No such file or directory"),
        (["rule", "idm101"], 'unknown rule "idm101"; did you mean "IDM101"?'),
        (["rule"], "Missing argument"),
        (["chekc"], "No such command 'chekc'."),
    ],
)
def test_a_mistake_is_answered_in_one_line(
    engine: Engine, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    [line] = captured.err.splitlines()
    assert line.startswith(f"idemlint: error: {said}")


def test_without_a_command_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    assert "Usage: idemlint" in capsys.readouterr().out


def test_help_ends_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "-h"]) == 0
    assert "--min-severity" in capsys.readouterr().out


def test_the_version_is_that_of_the_project(capsys: pytest.CaptureFixture[str]) -> None:
    pyproject = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"idemlint {pyproject['project']['version']}\n"


def test_paths_filter_what_is_told_and_not_what_is_analysed(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.finds = (CHARGED_TWICE, SENT_EARLY)
    assert found(capsys, "shop/orders.py") == ["IDM402 shop/orders.py"]
    [(project, _)] = engine.asked
    assert [file.path for file in project.files] == [
        "config/celery.py",
        "shop/orders.py",
        "shop/renewal.py",
        "shop/tasks.py",
    ]


def test_a_finding_is_told_where_its_task_stands_too(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.finds = (replace(CHARGED_TWICE, span=span("config/celery.py", 3), other_tasks=(RENEW,)),)
    for path in ("config", "shop/tasks.py", "shop/renewal.py"):
        assert found(capsys, path) == ["IDM101 config/celery.py"]
    assert found(capsys, "shop/orders.py") == []


def test_paths_are_told_from_the_working_folder(
    engine: Engine, shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.finds = (SENT_EARLY,)
    monkeypatch.chdir(shop / "config")
    assert found(capsys, "..") == ["IDM402 ../shop/orders.py"]


def test_files_ignored_for_a_rule_and_levels_of_its_own_are_obeyed(
    engine: Engine, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop / "pyproject.toml").write_text(
        """
        [tool.idemlint]
        severity.IDM402 = "error"
        per-file-ignores."shop/tasks.py" = ["IDM1"]
        """,
        encoding="utf-8",
    )
    engine.finds = (CHARGED_TWICE, NOTED)
    assert run(["check", "--output-format", "concise"]) == 1
    assert capsys.readouterr().out.startswith("shop/orders.py:9:5  error  enqueue-in-transaction (IDM402)")


def test_the_engine_is_given_the_rules_that_run(engine: Engine) -> None:
    run(["check", "--select", "IDM1,IDM4", "--ignore", "IDM402", "--fail-on", "error"])
    [(_, config)] = engine.asked
    assert config.rules == frozenset({"unkeyed-external-call"})
    assert config.fail_on is FailOn.ERROR


def test_excluded_files_are_not_in_the_project(engine: Engine, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop / "shop")
    run(["check", "--exclude", "/tasks.py, renewal.py"])
    [(project, _)] = engine.asked
    assert [file.path for file in project.files] == ["config/celery.py", "shop/orders.py"]


def test_isolated_is_deaf_to_configuration(engine: Engine, shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop / "pyproject.toml").write_text("[tool.idemlint]\nignore = ['IDM402']", encoding="utf-8")
    run(["check", "--isolated", "shop"])
    [(project, config)] = engine.asked
    assert project.root == shop / "shop"
    assert config.runs("enqueue-in-transaction")


def test_the_root_stands_for_paths_not_given(engine: Engine, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shop.parent)
    assert run(["check", "--root", "project/shop"]) == 0
    [(project, _)] = engine.asked
    assert [file.path for file in project.files] == ["orders.py", "renewal.py", "tasks.py"]


def test_the_form_may_come_from_the_environment(
    engine: Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IDEMLINT_OUTPUT_FORMAT", "json")
    run(["check"])
    assert json.loads(capsys.readouterr().out)["findings"] == []


def test_a_report_in_a_file_leaves_standard_output_empty(
    engine: Engine, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.finds = (CHARGED_TWICE,)
    assert run(["check", "--output-format", "json", "--output-file", "report.json"]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("idemlint: 1 error in 41 tasks")
    assert json.loads((shop / "report.json").read_text(encoding="utf-8"))["version"] == 1


@pytest.mark.parametrize("arguments", [[], ["-v"], ["-q"]])
def test_a_document_is_alone_on_standard_output(
    engine: Engine, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    engine.finds = (CHARGED_TWICE,)
    run(["check", "--output-format", "json", *arguments])
    assert len(json.loads(capsys.readouterr().out)["findings"]) == 1


def test_quiet_says_nothing_of_a_clean_project(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "-q"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_verbose_says_what_was_read_and_what_is_hidden(
    engine: Engine, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.finds = (NOTED, UNSURE, CHARGED_TWICE)
    run(["check", "-v"])
    assert capsys.readouterr().err.splitlines() == [
        f"idemlint: root: {shop}",
        "idemlint: settings: none",
        "idemlint: files: 4",
        "idemlint: 2 findings are not shown",
    ]


def test_statistics_take_the_place_of_findings(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.finds = (CHARGED_TWICE, CHARGED_TWICE, SENT_EARLY)
    assert run(["check", "--statistics"]) == 1
    assert capsys.readouterr().out.splitlines()[:2] == [
        "2  IDM101  unkeyed-external-call",
        "1  IDM402  enqueue-in-transaction",
    ]


def test_files_are_listed_and_nothing_is_analysed(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--show-files", "--exclude", "config"]) == 0
    assert capsys.readouterr().out == "shop/orders.py\nshop/renewal.py\nshop/tasks.py\n"
    assert engine.asked == []


def test_settings_are_shown_as_toml_that_says_the_same(
    engine: Engine, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = """
        [tool.idemlint]
        select = ["enqueue-in-transaction"]
        exclude = ["shop/gen/"]
        source-roots = ["src"]
        settings-module = "настройки"
        catalogs = ["shop/acme.toml"]
        min-severity = "note"
        min-confidence = "low"
        fail-on = "never"
        scope = "project"
        [tool.idemlint.severity]
        enqueue-in-transaction = "note"
        [tool.idemlint.per-file-ignores]
        "a/*.py" = ["enqueue-in-transaction"]
        """
    (shop / "pyproject.toml").write_text(written, encoding="utf-8")
    (shop / "shop" / "acme.toml").touch()
    assert run(["check", "--show-settings"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"# root: {shop}\n# read from: pyproject.toml\n")
    assert tomllib.loads(shown) == tomllib.loads(written)["tool"]["idemlint"]
    assert engine.asked == []


def test_the_rules_are_listed(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rules"]) == 0
    assert capsys.readouterr().out == (
        "IDM101  unkeyed-external-call   error    an outside call repeated\n"
        "IDM402  enqueue-in-transaction  warning  a task sent too early\n"
    )


@pytest.mark.parametrize("word", ["unkeyed-external-call", "IDM101"])
def test_a_rule_prints_its_page(
    engine: Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    monkeypatch.setattr(pages, "page", lambda name: f"# {name}\n\nWhy it is wrong.\n")
    assert run(["rule", word]) == 0
    assert capsys.readouterr().out == (
        "# unkeyed-external-call\n\nCode IDM101, severity error, since 0.1.0.\n\nWhy it is wrong.\n"
    )


def test_a_rule_without_a_page_is_said_to_have_none() -> None:
    with pytest.raises(LookupError, match="no page for the rule 'no-such-rule'"):
        pages.page("no-such-rule")
    assert pages.address("no-such-rule") is None


def test_colour_is_given_when_asked_for_and_never_to_a_file(
    engine: Engine, shop: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.finds = (CHARGED_TWICE,)
    run(["check", "--color", "always"])
    assert "\x1b[1;31merror" in capsys.readouterr().out
    monkeypatch.setenv("FORCE_COLOR", "1")
    run(["check"])
    assert "\x1b[1;31merror" in capsys.readouterr().out
    run(["check", "--color", "never"])
    assert "\x1b" not in capsys.readouterr().out


def test_a_reader_who_leaves_is_no_error(
    engine: Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.finds = (CHARGED_TWICE,)
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        assert run(["check"]) == 1
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no such device")
def test_a_full_disk_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert run(["rules"]) == 2
    assert capsys.readouterr().err == "idemlint: error: standard output: No space left on device\n"


def test_help_to_a_reader_who_leaves_is_quiet() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen(
        [sys.executable, "-m", "idemlint", "--help"], stdout=writing, stderr=subprocess.PIPE
    ) as process:
        os.close(writing)
        assert process.communicate(timeout=60)[1] == b""


def test_what_the_encoding_of_standard_output_lacks_is_escaped(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    engine.finds = (replace(CHARGED_TWICE, message="заказ → paid"),)
    with (tmp_path / "out").open("w", encoding="ascii") as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert run(["check", "--output-format", "concise"]) == 1
    assert "\\u0437\\u0430\\u043a\\u0430\\u0437 \\u2192 paid" in (tmp_path / "out").read_text(encoding="ascii")


def test_what_a_comment_suppresses_is_shown_when_asked_for(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.finds = (ACCEPTED, SENT_EARLY)
    assert found(capsys) == ["IDM402 shop/orders.py"]
    assert found(capsys, "--show-suppressed") == ["IDM101 shop/tasks.py", "IDM402 shop/orders.py"]


def test_what_is_excluded_stays_out_though_it_is_named(engine: Engine, shop: Path) -> None:
    run(["check", "--exclude", "config", "config/celery.py", "shop"])
    run(["check", "--exclude", "config", "--force-exclude", "config/celery.py", "shop"])
    run(["check", "--exclude", "config", "--force-exclude", "--isolated", "config/celery.py", "shop/tasks.py"])
    assert [[file.path for file in project.files] for project, _ in engine.asked] == [
        ["config/celery.py", "shop/orders.py", "shop/renewal.py", "shop/tasks.py"],
        ["shop/orders.py", "shop/renewal.py", "shop/tasks.py"],
        ["shop/tasks.py"],
    ]


def test_paths_that_only_filter_do_not_choose_the_project(
    engine: Engine, shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop / "shop" / "pyproject.toml").write_text("", encoding="utf-8")
    (shop / "notes.txt").write_text("", encoding="utf-8")
    engine.finds = (CHARGED_TWICE, SENT_EARLY)
    assert found(capsys, "--report-only-paths", "shop/orders.py", "notes.txt") == ["IDM402 shop/orders.py"]
    assert found(capsys, "--report-only-paths", str(shop.parent)) == ["IDM101 shop/tasks.py", "IDM402 shop/orders.py"]
    assert all(project.root == shop and len(project.files) == 4 for project, _ in engine.asked)


def test_a_document_is_utf_8_whatever_the_terminal_speaks(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    engine.finds = (replace(CHARGED_TWICE, message="заказ 😀"),)
    with (tmp_path / "out").open("w", encoding="ascii") as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert run(["check", "--output-format", "sarif"]) == 1
    log = json.loads((tmp_path / "out").read_text(encoding="utf-8"))
    assert log["runs"][0]["results"][0]["message"]["text"].startswith("заказ 😀")


def test_sarif_tells_the_exit_code_and_the_rules_that_ran(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    engine.finds = (CHARGED_TWICE,)
    for arguments, code in ((["--select", "IDM1"], 1), (["--select", "IDM1", "--exit-zero"], 0)):
        assert run(["check", "--output-format", "sarif", *arguments]) == code
        [told] = json.loads(capsys.readouterr().out)["runs"]
        assert told["invocations"][0]["exitCode"] == code
        assert [rule["id"] for rule in told["tool"]["driver"]["rules"]] == ["IDM101"]


def test_the_hooks_call_commands_there_are() -> None:
    manifest = (Path(__file__).parent.parent / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    entries = re.findall(r"^  entry: idemlint (.*)$", manifest, re.MULTILINE)
    assert len(entries) == 2
    assert [run([*entry.split(), "--help"]) for entry in entries] == [0, 0]
