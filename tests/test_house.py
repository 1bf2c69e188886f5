"""What every rule, page, message and catalog file has in common."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pages
import pytest
from linting import findings

from idemlint.catalog.load import _shipped
from idemlint.checks import ALL, Rule
from idemlint.checks.precedence import ORDER

ROOT = Path(__file__).parent.parent
RULES = ROOT / "rules"
INDEX = RULES / "README.md"
CHECKS = ROOT / "idemlint" / "checks"
# Modules beside the checks that are no rule.
SHARED = {"__init__", "rule", "precedence"}
SETTINGS = ROOT / "idemlint" / "catalog" / "settings.py"
NAMED = re.compile(r'"settings/([a-z.-]+)"')
LONGEST_MESSAGE = 240
GROUPS = {
    "1": "Outside effects",
    "2": "Records",
    "3": "Updates",
    "4": "Transactions",
    "5": "Composition",
    "6": "Delivery",
    "7": "Weak guards",
    "8": "Observability",
    "9": "The tool itself",
}


def test_each_rule_has_a_page_and_a_check_and_each_of_these_a_rule() -> None:
    names = {rule.name for rule in ALL}
    assert len(names) == len(ALL)
    assert {page.stem for page in RULES.glob("*.md")} - {"README"} == names
    assert {check.stem.replace("_", "-") for check in CHECKS.glob("*.py") if check.stem not in SHARED} == names


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.name)
def test_a_rule_is_what_its_module_is_called_after(rule: Rule) -> None:
    module = import_module(f"idemlint.checks.{rule.name.replace('-', '_')}")
    assert module.RULE is rule
    assert (module.__doc__ or "").startswith(f"{rule.name}: ")
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert re.fullmatch(r"IDM[1-9]\d\d", rule.code)
    assert 0 < len(rule.summary) <= 80
    assert not rule.summary.endswith(".")


def test_codes_are_unique_and_in_order() -> None:
    codes = [rule.code for rule in ALL]
    assert codes == sorted(set(codes))


def test_precedence_speaks_of_rules_only() -> None:
    assert set(ORDER) <= {rule.name for rule in ALL}


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.name)
def test_a_page_has_its_headings_in_order(rule: Rule) -> None:
    text = (RULES / f"{rule.name}.md").read_text(encoding="utf-8")
    page = pages.read(text)
    assert page.name == rule.name
    assert page.headings == pages.HEADINGS
    assert re.fullmatch(r".+(\n.+)*", page.summary), "one paragraph"
    assert page.of("Bad")
    assert page.of("Good")
    assert not [line for line in text.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.name)
def test_messages_keep_to_the_house_style(rule: Rule, tmp_path: Path) -> None:
    text = (RULES / f"{rule.name}.md").read_text(encoding="utf-8")
    for number, example in enumerate(pages.read(text).of("Bad")):
        folder = tmp_path / str(number)
        example.write(folder)
        for finding in findings(folder, "--min-severity", "note", "--min-confidence", "low"):
            assert list(faults(finding["message"])) == []
            if finding["task"] is not None and finding["rule"] == rule.name and rule.code[3] in "1235":
                assert finding["task"]["function"].rpartition(".")[2] in finding["message"]


def faults(message: str) -> Iterator[str]:
    """What is wrong with the sentence that stands for a finding."""
    if message != " ".join(message.split()):
        yield "spaces"
    if not message.endswith("."):
        yield "no period"
    if len(message) > LONGEST_MESSAGE:
        yield "too long"
    if len(re.findall(r"[.!?](?= [A-Z]|$)", message)) > 2:
        yield "more than two sentences"


def test_the_index_lists_every_rule(update: bool) -> None:
    text = index()
    if update:
        INDEX.write_text(text, encoding="utf-8")
    else:
        assert INDEX.read_text(encoding="utf-8") == text, "run: pytest tests/test_house.py --update"


def index() -> str:
    """`rules/README.md`, as ALL has it."""
    lines = [INTRODUCTION]
    for digit, title in GROUPS.items():
        rules = [rule for rule in ALL if rule.code[3] == digit]
        if rules:
            lines += [f"\n## {title}\n", "| code | rule | severity | |", "| --- | --- | --- | --- |"]
            lines += [
                f"| {rule.code} | [{rule.name}]({rule.name}.md) | {rule.severity} | {rule.summary} |" for rule in rules
            ]
    return "\n".join(lines) + "\n"


INTRODUCTION = """\
# The rules

One page a rule: what is wrong, an example, the story that idemlint tells of it, the cure, and what it misses. The
examples are run as tests: `# error` marks a line that is reported, `# miss` one that should be. A file that an example
does not show is the one of the page's first example. `idemlint rule NAME` prints a page.

The severity is what a rule has at most. A finding in a task is no louder than the task's delivery makes it: error where
the message is redelivered by design (late acknowledgement, retries), warning under Celery's default, note where it
hardly ever runs again.

This file is made from the list of rules: `pytest tests/test_house.py --update`."""


def test_every_catalog_file_is_loaded() -> None:
    loaded = {file.source for file in _shipped()} | {"settings/" + name for name in NAMED.findall(SETTINGS.read_text())}
    folder = SETTINGS.parent
    assert {file.relative_to(folder).as_posix() for file in folder.rglob("*.toml")} == loaded
