"""The hooks of this checkout, run by the programs that people run them with, on a sample project."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tools import ROOT, in_venv, needs, ran

PRE_COMMIT, PREK = in_venv("pre-commit"), in_venv("prek")
RUNNERS = [
    pytest.param(PRE_COMMIT, marks=needs("pre-commit", PRE_COMMIT), id="pre-commit"),
    pytest.param(PREK, marks=needs("prek", PREK), id="prek"),
]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

TASK = """\
import stripe
from celery import shared_task


@shared_task(acks_late=True)
def pay(order_id):
    stripe.Charge.create(amount=1, currency="usd")
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with a task to find in each of three files, one of them excluded."""
    folder = tmp_path / "shop"
    for path, text in {
        "pyproject.toml": '[tool.idemlint]\nexclude = ["legacy/"]\n',
        "orders/changed.py": TASK,
        "orders/unchanged.py": TASK.replace("pay", "pay_later"),
        "legacy/changed.py": TASK,
    }.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    for command in ("init -q", "add -A"):
        assert ran("git", *command.split(), cwd=folder).returncode == 0
    return folder


@pytest.mark.parametrize("runner", RUNNERS)
def test_both_hooks_install_and_tell_what_they_promise(runner: Path, shop: Path, tmp_path: Path) -> None:
    done = ran(
        runner,
        "try-repo",
        ROOT,
        *("--verbose", "--files", "orders/changed.py", "legacy/changed.py"),
        cwd=shop,
        IDEMLINT_OUTPUT_FORMAT="sarif",
        PRE_COMMIT_HOME=str(tmp_path / "pre-commit"),
        PREK_HOME=str(tmp_path / "prek"),
    )
    assert done.returncode == 1, done.stdout
    logs = list(documents(done.stdout))
    assert len(logs) == 2, done.stdout
    whole, changed = logs
    assert found(whole) == ["orders/changed.py", "orders/unchanged.py"]
    assert found(changed) == ["orders/changed.py"]
    for log in (whole, changed):
        assert log["runs"][0]["tool"]["driver"]["semanticVersion"] == VERSION


@pytest.mark.parametrize("runner", RUNNERS)
def test_the_manifest_is_valid(runner: Path, tmp_path: Path) -> None:
    done = ran(runner, "validate-manifest", ROOT / ".pre-commit-hooks.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout


def documents(text: str) -> Iterator[dict[str, Any]]:
    """The JSON documents among what a runner prints, indented or not."""
    position = 0
    while begin := re.compile(r"^ *\{$", re.MULTILINE).search(text, position):
        document, position = json.JSONDecoder().raw_decode(text, begin.end() - 1)
        yield document


def found(log: dict[str, Any]) -> list[str]:
    places = [result["locations"][0]["physicalLocation"] for result in log["runs"][0]["results"]]
    return sorted({place["artifactLocation"]["uri"] for place in places})
