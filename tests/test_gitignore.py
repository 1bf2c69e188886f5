"""The files found are those that git does not ignore."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idemlint.project import ProjectError, discover

FOLDERS = ("", "a/", "b/", "keep/", "a/a/", "a/b/", "b/keep/", "a/keep/b/")
FILES = tuple(f"{folder}{name}" for folder in FOLDERS for name in ("c.py", "d.py"))

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is the oracle")


def git(folder: Path, *words: str, given: str = "") -> str:
    # Only the repository's own files may speak: we do not read a user's global excludes either.
    alone = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    # check-ignore exits with 1 when it finds nothing.
    return subprocess.run(
        ["git", "-C", folder, *words], check=False, input=given, env=alone, stdout=subprocess.PIPE, text=True
    ).stdout


def lay(root: Path, ignores: Mapping[str, Iterable[str]], files: Iterable[str] = FILES) -> Path:
    for path in files:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    for path, lines in ignores.items():
        (root / path).write_text("".join(f"{line}\n" for line in lines))
    return root


def found(root: Path, *, exclude: Iterable[str] = (), respect_gitignore: bool = True) -> set[str]:
    project = discover([root], root=root, exclude=tuple(exclude), respect_gitignore=respect_gitignore)
    return {file.path for file in project.files}


def not_ignored(root: Path, files: Iterable[str] = FILES) -> set[str]:
    return set(files) - set(git(root, "check-ignore", "--stdin", "-z", given="\0".join(files)).split("\0"))


@needs_git
@pytest.mark.parametrize(
    "ignores",
    [
        {".gitignore": ["*", "!*/", "!*.py", "# d.py", "", "keep/"]},
        {".gitignore": ["a/**", "!a/c.py", "b/*", "!b/keep"]},
        {".gitignore": ["b/", "!a/keep/"]},
        {".gitignore": ["c.py", "!keep/", "b/"]},
        {".gitignore": ["/*", "!/a/", "/a/*", "!/a/keep/"]},
        {".gitignore": ["c.py"], "a/.gitignore": ["!c.py"], "a/b/.gitignore": ["*.py", "!d.py"]},
        {".gitignore": ["!d.py"], ".git/info/exclude": ["d.py", "keep"]},
        {".gitignore": ["\ufeffc.py", "d.p[y", "[z-a].py", "!", "/", "a/b/ ", "keep\r"]},
        {".gitignore": [r"\!c.py", r"\#d.py", "c.p?", "**/keep/**/d.py"]},
    ],
)
def test_files_are_ignored_as_git_ignores_them(tmp_path: Path, ignores: dict[str, list[str]]) -> None:
    git(tmp_path, "init", "-q")
    lay(tmp_path, ignores)
    assert found(tmp_path) == not_ignored(tmp_path)
    assert found(tmp_path) != set(FILES)


@needs_git
@given(
    st.lists(
        st.builds(
            "{}{}{}{}".format,
            st.sampled_from(["", "!"]),
            st.sampled_from(["", "/"]),
            st.lists(
                st.sampled_from(["a", "b", "c.py", "d.py", "keep", "*", "**", "*.py", "[ab]", "?", "k*"]),
                min_size=1,
                max_size=3,
            ).map("/".join),
            st.sampled_from(["", "/", " "]),
        ),
        min_size=1,
        max_size=5,
    )
)
@settings(max_examples=60, deadline=None)
def test_any_patterns_ignore_what_git_ignores(lines: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        git(root, "init", "-q")
        lay(root, {".gitignore": lines}, [*FILES, ".hidden.py"])
        (root / "found.py").touch()
        expected = not_ignored(root, [*FILES, ".hidden.py", "found.py"])
        if expected:
            assert found(root) == expected
        else:
            with pytest.raises(ProjectError, match="no Python file"):
                found(root)


@needs_git
def test_repository_around_the_root_is_asked(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    lay(tmp_path, {".gitignore": ["/a/b", "d.py"], "a/.gitignore": ["!/d.py"]})
    assert found(tmp_path / "a") == {"c.py", "d.py", "a/c.py", "keep/b/c.py"}


@needs_git
def test_root_that_is_itself_ignored_was_chosen(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    lay(tmp_path, {".gitignore": ["a/", "d.py"], "a/.gitignore": ["keep"]})
    assert found(tmp_path / "a") == {"c.py", "d.py", "a/c.py", "a/d.py", "b/c.py", "b/d.py"}


@needs_git
def test_worktree_shares_the_excludes_of_its_repository(tmp_path: Path) -> None:
    main = tmp_path / "main"
    main.mkdir()
    git(main, "init", "-q")
    git(main, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "--allow-empty", "-m", "first")
    git(main, "worktree", "add", "../other")
    lay(tmp_path / "other", {"../main/.git/info/exclude": ["d.py"]})
    assert (
        found(tmp_path / "other")
        == not_ignored(tmp_path / "other")
        == {path for path in FILES if path.endswith("c.py")}
    )


def test_ignore_files_count_without_a_repository(tmp_path: Path) -> None:
    lay(tmp_path, {".gitignore": ["a", "b"]})
    assert found(tmp_path) == {"c.py", "d.py", "keep/c.py", "keep/d.py"}


def test_ignore_files_can_be_disregarded(tmp_path: Path) -> None:
    lay(tmp_path, {".gitignore": ["*"]})
    assert found(tmp_path, respect_gitignore=False) == set(FILES)


def test_exclude_patterns_are_relative_to_the_root(tmp_path: Path) -> None:
    lay(tmp_path, {})
    assert found(tmp_path, exclude=["/a", "**/keep/", "d.py"]) == {"c.py", "b/c.py"}


def test_usual_folders_of_builds_are_excluded_unless_taken_back(tmp_path: Path) -> None:
    lay(tmp_path, {}, ["a.py", "build/b.py", "x/node_modules/c.py", ".venv/d.py", "old/e.py", "old/pyvenv.cfg"])
    assert found(tmp_path) == {"a.py"}
    assert found(tmp_path, exclude=["!build"]) == {"a.py", "build/b.py"}


def test_exclude_that_is_no_pattern_is_named(tmp_path: Path) -> None:
    lay(tmp_path, {})
    for glob in ("!", "[z-a]"):
        with pytest.raises(ProjectError, match=re.escape(f"exclude: not a pattern: {glob!r}")):
            found(tmp_path, exclude=[glob])


def test_pattern_with_a_character_class_raises_no_warning(tmp_path: Path) -> None:
    # Python warns of what pathspec makes of it, on the user's terminal; pytest is told to turn warnings into errors.
    lay(tmp_path, {".gitignore": ["[[:digit:]].py"]})
    assert found(tmp_path) == set(FILES)
