"""Where a file or folder is that somebody named, and what was meant if it is nowhere."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from idemlint.project.errors import ProjectError


def located(path: Path) -> Path:
    """The absolute place of `path`: a link to a folder is followed, a link to a file keeps its name.

    ProjectError if there is nothing.
    """
    if not os.path.exists(path):
        raise ProjectError(f"no such file or folder: {path}{_suggestion(path)}")
    return path.resolve() if path.is_dir() else path.parent.resolve() / path.name


def _suggestion(path: Path) -> str:
    for depth, part in enumerate(path.parts):
        folder = Path(*path.parts[:depth])
        if not os.path.exists(folder / part):
            siblings = sorted(os.listdir(folder)) if folder.is_dir() else []
            close = difflib.get_close_matches(part, siblings, n=1)
            meant = [Path(folder, name, *path.parts[depth + 1 :]) for name in close]
            return "".join(f" (did you mean {other}?)" for other in meant if other.exists())
    return ""
