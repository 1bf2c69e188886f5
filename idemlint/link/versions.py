"""The version of a library that a project installs, as far as its lock files and requirements say."""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from idemlint.project import Project, UnreadableFile

Version = tuple[int, ...]

_RELEASE = re.compile(r"\s*(?:v?\d+!)?v?(\d+(?:\.\d+)*)")
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;#)]*)")
# Only bounds from below say what is installed at least; the newest that fits is what most people have, but not all.
_BOUND = re.compile(r"(===?|~=|>=|\^|~)\s*v?(\d+(?:\.\d+)*)")

_OTHER_FILE = re.compile(r"\s*(?:-r|-c|--requirement|--constraint)[ =]*(\S+)")

_LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml")
_REQUIREMENTS = (
    "requirements.txt",
    "requirements/production.txt",
    "requirements/prod.txt",
    "requirements/base.txt",
    "requirements/common.txt",
    "requirements/requirements.txt",
    "requirements/main.txt",
    "requirements.in",
    "requirements/base.in",
    "requirements/production.in",
    "constraints.txt",
    "setup.cfg",
)


def framework_versions(project: Project, distributions: Iterable[str]) -> dict[str, Version]:
    """The versions of distributions: what a lock file has, else what requirements pin, else their lower bound. Those
    that nothing is said of are left out; files that cannot be read say nothing."""
    locked: dict[str, Version] = {}
    for path in _LOCKS:
        document = _toml(project, path)
        for package in (*_list(document, "package"), *_list(document, "packages")):
            if isinstance(package, dict) and (version := _release(str(package.get("version", "")))):
                locked.setdefault(_normal(str(package.get("name", ""))), version)
    for name, wanted in _table(_json(project, "Pipfile.lock"), "default").items():
        if isinstance(wanted, dict) and (version := _release(wanted.get("version", ""))):
            locked.setdefault(_normal(name), version)
    bounds: dict[str, list[tuple[str, Version]]] = {}
    for required, clause in _requirements(project):
        found = [(sign, _release(version)) for sign, version in _BOUND.findall(clause)]
        bounds.setdefault(_normal(required), []).extend((sign, version) for sign, version in found if version)
    known = {name: locked.get(_normal(name)) or _bound(bounds.get(_normal(name), ())) for name in distributions}
    return {name: version for name, version in known.items() if version is not None}


def _bound(bounds: Iterable[tuple[str, Version]]) -> Version | None:
    """The first pin in the requirements of a distribution, or else the highest of the lower bounds."""
    found = list(bounds)
    pinned = [version for sign, version in found if sign.startswith("==")]
    return next(iter(pinned), None) or max((version for _, version in found), default=None)


def _requirements(project: Project) -> Iterator[tuple[str, str]]:
    """What the project says it needs, as (distribution, version clause)."""
    seen: set[str] = set()
    for path in _REQUIREMENTS:
        for line in _lines(project, path, seen):
            yield from _requirement(line)
    document = _toml(project, "pyproject.toml")
    described, groups = _table(document, "project"), _table(document, "dependency-groups")
    optional = _table(described, "optional-dependencies")
    for table, key in [(described, "dependencies"), *((optional, key) for key in optional)]:
        for line in _list(table, key):
            yield from _requirement(str(line))
    for key in groups:
        for line in _list(groups, key):
            yield from _requirement(str(line))
    poetry = _table(_table(_table(document, "tool"), "poetry"), "dependencies")
    for table in (poetry, _table(_toml(project, "Pipfile"), "packages")):
        for name, wanted in table.items():
            clause = str(wanted.get("version", "") if isinstance(wanted, dict) else wanted)
            # In these tables a bare number is the version or a bound from below.
            yield name, f">={clause}" if _RELEASE.match(clause) else clause


def _lines(project: Project, path: str, seen: set[str]) -> Iterator[str]:
    """The lines of a requirements file and of those it names by `-r` or `-c`."""
    if path in seen:
        return
    seen.add(path)
    for line in (_text(project, path) or "").splitlines():
        other = _OTHER_FILE.match(line)
        if other:
            yield from _lines(project, posixpath.normpath(posixpath.join(posixpath.dirname(path), other[1])), seen)
        else:
            yield line


def _requirement(line: str) -> Iterator[tuple[str, str]]:
    found = _REQUIREMENT.match(line)
    if found:
        yield found[1], found[2]


def _release(text: object) -> Version | None:
    """The numbers of a version, `5.3.0rc1` as (5, 3, 0)."""
    found = _RELEASE.match(str(text).lstrip("="))
    return tuple(int(number) for number in found[1].split(".")) if found else None


def _normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def _table(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The table under a key; empty if there is none."""
    found = table.get(key)
    return found if isinstance(found, dict) else {}


def _list(table: Mapping[str, Any], key: str) -> list[Any]:
    """The list under a key; empty if there is none."""
    found = table.get(key)
    return found if isinstance(found, list) else []


def _toml(project: Project, path: str) -> Mapping[str, Any]:
    return _parsed(project, path, tomllib.loads)


def _json(project: Project, path: str) -> Mapping[str, Any]:
    return _parsed(project, path, json.loads)


def _parsed(project: Project, path: str, parse: Callable[[str], Any]) -> Mapping[str, Any]:
    text = _text(project, path)
    try:
        document = parse(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _text(project: Project, path: str) -> str | None:
    try:
        return project.read_optional(path)
    except UnreadableFile:
        return None
