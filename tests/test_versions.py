"""The version of a library is read from whatever the project says about it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from idemlint.link.versions import framework_versions
from idemlint.project import discover

LOCK = '[[package]]\nname = "kombu"\nversion = "5.4.0"\n[[package]]\nname = "Celery"\nversion = "5.3.6"\n'


def _project(requirement: str) -> str:
    return f'[project]\nname = "x"\ndependencies = ["{requirement}"]'


FILES: Mapping[str, tuple[Mapping[str, str], tuple[int, ...] | None]] = {
    "a lock of uv": ({"uv.lock": LOCK}, (5, 3, 6)),
    "a lock of poetry": ({"poetry.lock": LOCK}, (5, 3, 6)),
    "a lock of pipenv": ({"Pipfile.lock": '{"default": {"celery": {"version": "==5.3.6"}}}'}, (5, 3, 6)),
    "a lock before a requirement": ({"uv.lock": LOCK, "requirements.txt": "celery==4.0"}, (5, 3, 6)),
    "a pin": ({"requirements.txt": "# tasks\nkombu==1.0\ncelery[redis]==5.2.7  # late\n"}, (5, 2, 7)),
    "a pin before a bound": ({"requirements.txt": "celery==5.2", "pyproject.toml": _project("celery>=5.3")}, (5, 2)),
    "a bound": ({"requirements.txt": "celery>=5.1,<6"}, (5, 1)),
    "a compatible release": ({"requirements/base.txt": "Celery~=5.1.2"}, (5, 1, 2)),
    "an included file": ({"requirements.txt": "-r deploy/all.txt", "deploy/all.txt": "celery==5.5rc1"}, (5, 5)),
    "files that include each other": ({"requirements.txt": "-r b.txt", "b.txt": "-r requirements.txt"}, None),
    "a marker": ({"requirements.txt": "celery>=5.4; python_version >= '3.13'"}, (5, 4)),
    "the project's dependencies": ({"pyproject.toml": _project("celery[sqs]>=5.4")}, (5, 4)),
    "a dependency group": ({"pyproject.toml": '[dependency-groups]\nworker = ["celery>=5.4"]'}, (5, 4)),
    "poetry's dependencies": ({"pyproject.toml": '[tool.poetry.dependencies]\ncelery = "^5.3.1"'}, (5, 3, 1)),
    "poetry's dependencies with extras": (
        {"pyproject.toml": '[tool.poetry.dependencies]\ncelery = {version = "5.3", extras = ["redis"]}'},
        (5, 3),
    ),
    "pipenv's packages": ({"Pipfile": '[packages]\ncelery = "==5.3.6"\nkombu = "*"'}, (5, 3, 6)),
    "a bound from above alone": ({"requirements.txt": "celery<6"}, None),
    "no version": ({"requirements.txt": "celery\ndjango-celery-beat==2.5"}, None),
    "an address": ({"requirements.txt": "celery @ git+https://host/celery@main"}, None),
    "no files": ({}, None),
    "files that cannot be read": (
        {"uv.lock": "= broken", "Pipfile.lock": "[]", "pyproject.toml": 'project = "x"\n[tool]\npoetry = 5'},
        None,
    ),
}


@pytest.mark.parametrize(("files", "version"), FILES.values(), ids=FILES)
def test_version_is_read(tmp_path: Path, files: Mapping[str, str], version: tuple[int, ...] | None) -> None:
    for path, text in {"a.py": "", **files}.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert framework_versions(discover([tmp_path], root=tmp_path), ["celery"]).get("celery") == version
