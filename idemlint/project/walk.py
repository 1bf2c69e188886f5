"""Which Python files, and which schemas beside them, lie in a folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from idemlint.project.ignore import Patterns, ignore_file, ignores_above, is_ignored, prefix

SUFFIXES = (".py", ".sql")


def project_files(starts: Sequence[Path], *, excluded: Patterns, respect_gitignore: bool) -> set[str]:
    """The absolute paths of the Python and SQL files in the folders `starts`, whatever hides these folders themselves.

    Links to folders are not followed, so they cannot lead in circles or out. Virtual environments are left out.
    """
    files: set[str] = set()
    links: set[str] = set()
    waiting = [(prefix(start), ignores_above(start) if respect_gitignore else ()) for start in reversed(starts)]
    chosen = {folder for folder, _ in waiting}
    seen: set[str] = set()
    while waiting:
        folder, ignores = waiting.pop()
        entries = _entries(folder)
        names = {entry.name for entry in entries}
        if folder in seen or ("pyvenv.cfg" in names and folder not in chosen):
            continue
        seen.add(folder)
        if respect_gitignore and ".gitignore" in names:
            ignores = (*ignores, ignore_file(Path(folder, ".gitignore"), Path(folder)))
        for entry in entries:
            is_folder = entry.is_dir(follow_symlinks=False)
            path = f"{folder}{entry.name}/" if is_folder else f"{folder}{entry.name}"
            if not is_folder and not (path.endswith(SUFFIXES) and os.path.isfile(path)):
                continue
            if excluded.verdict(path) or is_ignored(path, ignores):
                continue
            if is_folder:
                waiting.append((path, ignores))
            else:
                (links if entry.is_symlink() else files).add(path)
    return files | _new(links, files)


def _new(links: set[str], files: set[str]) -> set[str]:
    """Those of the links whose targets are not among the files, one for each target."""
    by_target = {Path(link).resolve().as_posix(): link for link in sorted(links, reverse=True)}
    return {link for target, link in by_target.items() if target not in files}


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:  # a folder closed to us, such as a database's, holds no sources of this project
        return []
