"""Patterns over paths, in the grammar of `.gitignore`, each relative to the folder it was written in."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pathspec import GitIgnoreSpec


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern and the folder it is relative to."""

    folder: Path
    glob: str

    def matches(self, path: Path) -> bool:
        """Whether it covers the file `path` (absolute), by its own name or through a folder above it."""
        if not path.is_relative_to(self.folder):
            return False
        relative = path.relative_to(self.folder).as_posix()
        return bool(GitIgnoreSpec.from_lines([self.glob]).match_file(relative))


def rebased(pattern: Pattern, root: Path) -> tuple[str, ...]:
    """The patterns to write in the folder `root` for what this one means below it; none if it means nothing there."""
    sign = "!" if pattern.glob.startswith("!") else ""
    glob = pattern.glob.removeprefix("!")
    anchored = "/" in glob.rstrip("/")
    if root == pattern.folder:
        return (pattern.glob,)
    if pattern.folder.is_relative_to(root):
        between = pattern.folder.relative_to(root).as_posix()
        return (f"{sign}/{between}/{glob.removeprefix('/') if anchored else f'**/{glob}'}",)
    if not anchored or not root.is_relative_to(pattern.folder):
        return (pattern.glob,)
    rests = _below(root.relative_to(pattern.folder).parts, glob.removeprefix("/"))
    return tuple(f"{sign}/{rest}" for rest in sorted(rests))


def _below(folders: tuple[str, ...], glob: str) -> set[str]:
    """What may be left of an anchored pattern once it has matched `folders`."""
    head, _, rest = glob.partition("/")
    if not glob:
        return set()  # it means a folder above, and what is named is never excluded
    if not folders:
        return {glob}
    if head == "**":
        return _below(folders[1:], glob) | _below(folders, rest)
    return _below(folders[1:], rest) if fnmatchcase(folders[0], head) else set()
