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
        return GitIgnoreSpec.from_lines([self.glob]).match_file(path.relative_to(self.folder).as_posix())


def rebased(pattern: Pattern, root: Path) -> str | None:
    """The pattern as it would be written in the folder `root`; None if it can match nothing below `root`."""
    sign = "!" if pattern.glob.startswith("!") else ""
    glob = pattern.glob.removeprefix("!")
    anchored = "/" in glob.rstrip("/")
    if root == pattern.folder:
        return pattern.glob
    if pattern.folder.is_relative_to(root):
        between = pattern.folder.relative_to(root).as_posix()
        return f"{sign}/{between}/{glob.removeprefix('/') if anchored else f'**/{glob}'}"
    if not anchored or not root.is_relative_to(pattern.folder):
        return pattern.glob
    rest = _below(root.relative_to(pattern.folder).parts, glob.removeprefix("/"))
    return f"{sign}/{rest}" if rest else None


def _below(folders: tuple[str, ...], glob: str) -> str:
    """What is left of an anchored pattern once it has matched `folders`; empty if it does not."""
    for folder in folders:
        head, _, rest = glob.partition("/")
        if head == "**":
            return glob
        if not fnmatchcase(folder, head):
            return ""
        glob = rest
    return glob
