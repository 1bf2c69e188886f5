"""The repository that a project lies in, which may hold others beside it."""

from __future__ import annotations

import os
from pathlib import Path

from idemlint.project.errors import ProjectError


def repository(root: Path, given: Path | None = None) -> Path:
    """The folder of the repository that the project in `root` is part of: `given`, else the nearest one at or above
    `root` with a `.git`, else `root`. ProjectError if `given` does not hold the project."""
    if given is not None:
        if not root.is_relative_to(given.resolve()):
            raise ProjectError(f"{given} does not hold the project, which is in {root}")
        return given.resolve()
    # In a work tree of its own or a submodule, .git is a file.
    return next((folder for folder in (root, *root.parents) if os.path.exists(folder / ".git")), root)
