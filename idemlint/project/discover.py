"""From what was named on the command line to the project it lies in."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from idemlint.project.errors import ProjectError
from idemlint.project.ignore import excluding
from idemlint.project.names import source_files
from idemlint.project.place import located
from idemlint.project.project import Project
from idemlint.project.walk import project_files

_ROOT_MARKS = (".idemlint.toml", "idemlint.toml", "pyproject.toml", ".git")


def find_root(paths: Sequence[Path], *, root: Path | None = None, isolated: bool = False) -> Path:
    """The folder the project of `paths` starts in (of the working folder if they are none).

    It is `root` if given, with `isolated` the folder that holds all of `paths`, else the nearest one at or above the
    first path that holds idemlint's configuration, a `pyproject.toml` or `.git`. ProjectError if something named is
    missing.
    """
    folders = [place if place.is_dir() else place.parent for place in map(located, paths or [Path()])]
    if root is not None:
        if not located(root).is_dir():
            raise ProjectError(f"the root is not a folder: {root}")
        return root.resolve()
    if isolated:
        return Path(os.path.commonpath(folders))
    first = folders[0]
    marked = (
        folder for folder in (first, *first.parents) if any(os.path.exists(folder / mark) for mark in _ROOT_MARKS)
    )
    return next(marked, first)


def discover(
    paths: Sequence[Path],
    *,
    root: Path | None = None,
    isolated: bool = False,
    exclude: Sequence[str] = (),
    source_roots: Sequence[Path] = (),
    respect_gitignore: bool = True,
    force_exclude: bool = False,
) -> Project:
    """The whole project that `paths` lie in, whichever part of it they name; with `isolated`, they alone.

    `exclude` are patterns as in `.gitignore`, relative to the root. They, `.gitignore` and the usual folders of
    builds and environments hide what is below the root, but not what is named, unless `force_exclude` says so. Module
    names start at `source_roots` where those are given. ProjectError if something named is missing or there is no
    Python file; with `force_exclude` there may be none.
    """
    base = find_root(paths, root=root, isolated=isolated)
    places = [located(path) for path in paths or [base]]
    for place in places:
        if not place.is_relative_to(base):
            raise ProjectError(f"{place} is outside of the project in {base}: give a --root that holds both")
    folders = [place for place in places if place.is_dir()]
    walked = [base] if force_exclude else folders if isolated else [base, *folders]
    found = project_files(walked, excluded=excluding(exclude, base), respect_gitignore=respect_gitignore)
    named = {_in_project(place, base).as_posix() for place in places if _is_python(place)}
    if force_exclude and isolated:
        found = {path for path in found if path in named or any(Path(path).is_relative_to(one) for one in folders)}
    elif not force_exclude:
        found |= named
    every = sorted(Path(path).relative_to(base).as_posix() for path in found)
    relative = [path for path in every if not path.endswith(".sql")]
    schemas = [path for path in every if path.endswith(".sql")]
    project = Project(base, source_files(base, relative, source_roots), schemas)
    if not force_exclude and not any(map(project.within(paths), relative)):
        raise ProjectError(f"no Python file in {', '.join(map(str, paths)) or base}")
    return project


def _in_project(file: Path, root: Path) -> Path:
    """What a link means, where that is in the project: a file is not to be read under two names."""
    target = file.resolve()
    return target if target.is_relative_to(root) else file


def _is_python(place: Path) -> bool:
    if place.suffix or not place.is_file():
        return place.suffix == ".py" and place.is_file()
    # Programs are named without a suffix, but so are Makefile and LICENSE.
    with place.open("rb") as file:
        return re.match(rb"#!.*python", file.readline(256)) is not None
