"""Which files are left out: `.gitignore` as git reads it, and our own exclude patterns in the same grammar."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from warnings import catch_warnings, simplefilter

from pathspec import GitIgnoreSpec, RegexPattern

from idemlint.project.errors import ProjectError

# What ruff leaves out, and our own cache. As patterns, so that an exclude of `!build` takes one back.
_NOT_SOURCES = (
    *(".bzr", ".direnv", ".eggs", ".git", ".git-rewrite", ".hg", ".idemlint_cache", ".ipynb_checkpoints"),
    *(".mypy_cache", ".nox", ".pants.d", ".pyenv", ".pytest_cache", ".pytype", ".ruff_cache", ".svn", ".tox", ".venv"),
    *(".vscode", "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules"),
    *("site-packages", "venv"),
)

_LAST_STARS = re.compile(r"(^!?|/)(\*\*?)(?=/?\s*$)")


@dataclass(frozen=True, slots=True)
class Patterns:
    """The patterns of one `.gitignore`, in order, and the folder they are relative to (with a closing slash)."""

    folder: str
    patterns: tuple[RegexPattern, ...]

    def verdict(self, entry: str) -> bool | None:
        """Whether a file or folder (its name ends in a slash) is ignored, in a folder that is not; None if no pattern
        speaks of it."""
        name = entry[len(self.folder) :]
        for pattern in reversed(self.patterns):
            found = pattern.match_file(name)
            if found is not None and not _is_of_folder_above(found.match, name):
                return pattern.include
        return None


def is_ignored(entry: str, ignores: Sequence[Patterns]) -> bool:
    """The word of the deepest of the folders counts, and in it that of the last pattern that speaks of the entry."""
    verdicts = (patterns.verdict(entry) for patterns in reversed(ignores))
    return next((verdict for verdict in verdicts if verdict is not None), False)


def excluding(globs: Sequence[str], root: Path) -> Patterns:
    """The usual folders of builds and environments, and `globs`. ProjectError for one that is no pattern."""
    patterns: list[RegexPattern] = []
    for glob in (*_NOT_SOURCES, *globs):
        try:
            patterns += _pattern(glob)
        except ValueError:
            raise ProjectError(f"exclude: not a pattern: {glob!r}") from None
    return Patterns(prefix(root), tuple(patterns))


def ignore_file(file: Path, folder: Path) -> Patterns:
    """What an ignore file says of `folder`: nothing if it is not there, and lines that are no pattern say nothing."""
    try:
        lines = file.read_bytes().removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").split("\n")
    except OSError:
        lines = []
    patterns: list[RegexPattern] = []
    for line in lines:
        with suppress(ValueError):
            patterns += _pattern(line)
    return Patterns(prefix(folder), tuple(patterns))


def ignores_above(folder: Path) -> tuple[Patterns, ...]:
    """What the repository around `folder` ignores, the weakest first; nothing if it ignores `folder` itself, which
    was then chosen in spite of it."""
    above = (folder, *folder.parents)
    top = next((place for place in above if os.path.exists(place / ".git")), None)
    if top is None:
        return ()
    ignores = [ignore_file(_git_folder(top / ".git") / "info" / "exclude", top)]
    for place in reversed(above[: above.index(top)]):
        ignores.append(ignore_file(place.parent / ".gitignore", place.parent))
        if is_ignored(prefix(place), ignores):
            return ()
    return tuple(ignores)


def prefix(folder: Path) -> str:
    """What the paths of all things in `folder` begin with."""
    return f"{folder.as_posix().rstrip('/')}/"


def _pattern(line: str) -> Iterator[RegexPattern]:
    """The pattern in a line, if any. ValueError if it cannot be one."""
    # pathspec takes the folder `a/` itself for a match of `a/**`, and loses the place of the slash in `*/`.
    line = _LAST_STARS.sub(lambda stars: stars[1] + ("**/?*" if stars[2] == "**" else "?*"), line)
    with catch_warnings():
        # `[[:digit:]]` becomes a regular expression that Python has misgivings about; nobody here can act on them.
        simplefilter("ignore")
        try:
            patterns = GitIgnoreSpec.from_lines([line]).patterns
        except re.error as error:
            raise ValueError(str(error)) from None
    # A comment is a pattern that includes nothing either way.
    return (pattern for pattern in patterns if pattern.include is not None)


def _is_of_folder_above(match: re.Match[str], name: str) -> bool:
    # Such a folder has had its verdict: in `*` `!*/` `!*.py` the second line must not bring back every file.
    # pathspec's group ps_d is the slash after what matched; a match without it is of the whole name.
    return "ps_d" in match.re.groupindex and match.end("ps_d") not in (-1, len(name))


def _git_folder(git: Path) -> Path:
    """Where a repository keeps what its worktrees share: `.git`, or the place that a file of that name tells."""
    if not git.is_file():
        return git
    own = git.parent / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
    common = own / "commondir"
    return own / common.read_text(encoding="utf-8").strip() if common.is_file() else own
