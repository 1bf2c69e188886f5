"""Where a file or folder is that somebody named, and what was meant if it is nowhere."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from idemlint.project.errors import ProjectError


def located(path: Path) -> Path:
    """The absolute place of `path`: a link to a folder is followed, a link to a file keeps its name.

    ProjectError if there is nothing, or a folder that is closed to us.
    """
    if not os.path.exists(path):
        raise ProjectError(f"no such file or folder: {path}{_suggestion(path)}")
    if not path.is_dir():
        return path.parent.resolve() / path.name
    try:
        os.scandir(path).close()
    except OSError as error:
        raise ProjectError(f"{path}: cannot be read: {error.strerror}") from None
    return path.resolve()


def _suggestion(path: Path) -> str:
    for depth, part in enumerate(path.parts):
        folder = Path(*path.parts[:depth])
        if not os.path.exists(folder / part):
            close = difflib.get_close_matches(part, _names(folder), n=1)
            meant = [Path(folder, name, *path.parts[depth + 1 :]) for name in close]
            return "".join(f" (did you mean {other}?)" for other in meant if os.path.exists(other))
    return ""


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:  # a file, or a folder that is closed to us
        return []
