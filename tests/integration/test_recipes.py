"""The recipes of `docs/ci.md`: what is to be copied is well formed, and its commands do what is said of them."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from pathlib import Path

import pytest
from tools import ROOT, in_venv, needs, ran

DOCUMENT = ROOT / "docs" / "ci.md"
TEXT = DOCUMENT.read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(# (\S+)\n.*?)```", TEXT, re.DOTALL)
CHECK_JSONSCHEMA, PRE_COMMIT, SARIF_TOOLS = map(in_venv, ("check-jsonschema", "pre-commit", "sarif"))
SCHEMAS = {".github/workflows/idemlint.yml": "vendor.github-workflows", ".gitlab-ci.yml": "vendor.gitlab-ci"}
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

TASK = """\
import stripe
from celery import shared_task


@shared_task(acks_late=True)
def pay(order_id):
    stripe.Charge.create(amount=1, currency="usd")
"""


def test_every_recipe_is_looked_at() -> None:
    assert {path for _, path in BLOCKS} == {*SCHEMAS, ".pre-commit-config.yaml"}


def test_recipes_name_this_version() -> None:
    assert set(re.findall(r"idemlint==(\S+)|rev: v(\S+)", TEXT)) == {(VERSION, ""), ("", VERSION)}


@needs("check-jsonschema", CHECK_JSONSCHEMA)
@pytest.mark.parametrize(("block", "path"), [block for block in BLOCKS if block[1] in SCHEMAS])
def test_a_workflow_is_valid(block: str, path: str, tmp_path: Path) -> None:
    file = tmp_path / "recipe.yml"
    file.write_text(block, encoding="utf-8")
    done = ran(CHECK_JSONSCHEMA, "--builtin-schema", SCHEMAS[path], file, cwd=tmp_path)
    assert done.returncode == 0, done.stdout


@needs("pre-commit", PRE_COMMIT)
def test_the_configuration_for_pre_commit_is_valid(tmp_path: Path) -> None:
    [block] = [block for block, path in BLOCKS if path == ".pre-commit-config.yaml"]
    (tmp_path / ".pre-commit-config.yaml").write_text(block, encoding="utf-8")
    assert ran(PRE_COMMIT, "validate-config", cwd=tmp_path).returncode == 0
    manifest = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    assert set(re.findall(r"^- id: (\S+)$", manifest, re.MULTILINE)) == {"idemlint", "idemlint-changed"}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "tasks.py").write_text(TASK, encoding="utf-8")
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


def shell(script: str, folder: Path) -> tuple[int, str]:
    """What a step of a job ends with, and what it prints."""
    path = os.pathsep.join([str(Path(sys.executable).parent), str(SARIF_TOOLS.parent), os.environ["PATH"]])
    done = ran("bash", "-eo", "pipefail", "-c", script, cwd=folder, PATH=path)
    return done.returncode, done.stdout


@pytest.mark.parametrize("command", re.findall(r"- run: (idemlint .*)", TEXT))
def test_a_step_keeps_the_exit_code(command: str, shop: Path) -> None:
    code, text = shell(command, shop)
    assert code == 1
    assert "::error" in text or (shop / "idemlint.sarif").is_file()
    (shop / "tasks.py").write_text("", encoding="utf-8")
    assert shell(command, shop)[0] == 0


@needs("sarif-tools", SARIF_TOOLS)
def test_the_script_for_gitlab_keeps_the_exit_code_and_the_paths(shop: Path) -> None:
    [job] = [block for block, path in BLOCKS if path == ".gitlab-ci.yml"]
    script = "\n".join(line for line in re.findall(r"^    - (.*)$", job, re.MULTILINE) if not line.startswith("pip"))
    report = shop / "gl-code-quality-report.json"
    assert shell(script, shop)[0] == 1
    [issue] = json.loads(report.read_text(encoding="utf-8"))
    assert (issue["check_name"], issue["location"]["path"]) == ("IDM101", "tasks.py")
    (shop / "pyproject.toml").write_text("[tool.idemlint]\nselct = []", encoding="utf-8")
    report.unlink()
    assert shell(script, shop)[0] != 0
    assert not report.exists()
    (shop / "pyproject.toml").write_text("", encoding="utf-8")
    (shop / "tasks.py").write_text("", encoding="utf-8")
    assert shell(script, shop)[0] == 0
    assert json.loads(report.read_text(encoding="utf-8")) == []
