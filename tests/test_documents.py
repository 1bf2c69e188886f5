"""README, ARCHITECTURE and their kin: what they show is what happens, and what they name is there."""

from __future__ import annotations

import json
import re
import shlex
import textwrap
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pages
import pytest
from linting import checked, findings

from idemlint import checks
from idemlint.catalog import load
from idemlint.checks import ALL
from idemlint.cli import app

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
SHOP = ROOT / "examples" / "shop"
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").glob("*.md")),
    SHOP / "README.md",
]
# Where a document's paths may start: at the root, beside the document, or in the package that most of them speak of.
STARTS = (ROOT, ROOT / "idemlint", ROOT / "tests")
FINDING = re.compile(r"(```text\n)(.*?)(```\n)", re.DOTALL)
PATH = re.compile(r"(?:[\w.-]+/)*[\w-]+\.(?:py|md|toml|txt|json|yaml)|(?:[\w.-]+/)+")
# Names of files that a user has, or is about to write.
PLACEHOLDERS = {"idemlint.toml", ".idemlint.toml"}


def test_the_readme_opens_with_what_the_shop_shows(update: bool) -> None:
    text = README.read_text(encoding="utf-8")
    shown = FINDING.search(text)
    assert shown is not None
    first = first_finding(checked(ROOT, "examples/shop", "--quiet"))
    if update:
        README.write_text(text.replace(shown[0], f"{shown[1]}{first}{shown[3]}", 1), encoding="utf-8")
    else:
        assert shown[2] == first


def first_finding(printed: str) -> str:
    """The first finding of a report, without the empty line behind it."""
    return re.split(r"\n\n(?=\S+:\d+:\d+  )", printed)[0].rstrip("\n") + "\n"


def test_the_shop_breaks_where_it_says_so() -> None:
    """Every task is spoken of, but for those whose name says `once` and the relay."""
    text = checked(ROOT, "examples/shop", "--output-format", "json")
    told = {
        task["function"]
        for finding in json.loads(text)["findings"]
        for task in (finding["task"], *finding["other_tasks"])
        if task is not None
    }
    source = (SHOP / "shop" / "tasks.py").read_text(encoding="utf-8")
    tasks = set(re.findall(r"^@shared_task\ndef (\w+)", source, re.MULTILINE))
    assert told == {name for name in tasks if not name.endswith("_once") and name != "relay_outbox"}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda file: str(file.relative_to(ROOT)))
def test_what_a_document_names_is_there(document: Path) -> None:
    assert [name for name in named(document.read_text(encoding="utf-8")) if not exists(name, document)] == []


def named(text: str) -> Iterator[str]:
    """Paths in backticks and in links, code blocks and the names of their files apart."""
    prose = re.sub(r"(?:^`[^`\n]+`:\n+)?```.*?```", "", text, flags=re.DOTALL | re.MULTILINE)
    for found in re.finditer(r"`([^`\n]+)`|\]\(([^)#\s]+)[^)]*\)", prose):
        name = found[1] or found[2]
        if PATH.fullmatch(name) and name not in PLACEHOLDERS:
            yield name


def exists(name: str, document: Path) -> bool:
    return any((start / name).exists() for start in (*STARTS, document.parent))


def test_commands_in_documents_have_their_options() -> None:
    for document in DOCUMENTS:
        for code in re.findall(r"```\w*\n(.*?)```", document.read_text(encoding="utf-8"), re.DOTALL):
            for line in re.findall(r"^(?:\S*/)?idemlint (.+)$", code, re.MULTILINE):
                words = shlex.split(line, comments=True)
                options = {option for parameter in app.commands[words[0]].params for option in parameter.opts}
                assert {word for word in words if word.startswith("-")} <= options, line


def test_the_changelog_knows_this_version_and_every_rule() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert f"## [{version}]" in text or "## [Unreleased]" in text
    assert [rule.name for rule in ALL if f"`{rule.name}` ({rule.code})" not in text] == []


def test_the_settings_in_the_readme_are_obeyed(tmp_path: Path) -> None:
    settings = re.search(r"```toml\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert settings is not None
    (tmp_path / "pyproject.toml").write_text(settings[1], encoding="utf-8")
    (tmp_path / "tasks.py").touch()
    assert 'fail-on = "error"' in checked(tmp_path, ".", "--show-settings")


def test_the_library_in_contributing_is_understood(tmp_path: Path) -> None:
    file = tmp_path / "acme.toml"
    file.write_text(block("toml"), encoding="utf-8")
    effect = load([file]).effect("acme_payments.Client.charges.capture")
    assert effect is not None
    assert effect.replay == "keyed"


def test_the_rule_in_contributing_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Page and check are taken as they stand there."""
    page = pages.read(block("markdown"))
    module = ModuleType("idemlint.checks.enqueue_in_loop")
    exec(block("python"), module.__dict__)
    monkeypatch.setattr(checks, "ALL", (*(rule for rule in ALL if rule.name != page.name), module.RULE))
    assert page.headings == pages.HEADINGS
    for number, example in enumerate(page.examples):
        folder = tmp_path / str(number)
        example.write(folder)
        found = {
            pages.Mark(finding["path"], finding["line"], finding["rule"])
            for finding in findings(folder, "--select", page.name)
        }
        assert found == example.errors


def block(language: str) -> str:
    """The first block of CONTRIBUTING in this language, pages apart."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    if language != "markdown":
        text = re.sub(r"````.*?````", "", text, flags=re.DOTALL)
    found = re.search(rf"^[ ]*(```+){language}\n(.*?)\n[ ]*\1\n", text, re.DOTALL | re.MULTILINE)
    assert found is not None
    return textwrap.dedent(found[2]) + "\n"
