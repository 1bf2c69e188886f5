"""Patterns over dotted paths, and the index that finds the row whose pattern fits a path best.

`{a,b.c}` is spelled out, `*` stands for one whole component or for part of one (`create*`), `**` for any number of
components, none included. A hyphen is allowed in a component: some services are called so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise, product
from typing import Generic, TypeVar

T = TypeVar("T")

_GROUP = re.compile(r"\{([^{}]*)\}")
_COMPONENT = re.compile(r"[\w*-]+")


class PatternError(ValueError):
    """A pattern that means nothing; the message says why."""


@cache
def expand(pattern: str) -> tuple[str, ...]:
    """The patterns that `pattern` spells with its alternations written out, in order. PatternError if malformed."""
    parts = _GROUP.split(pattern)
    choices = [part.split(",") if index % 2 else [part] for index, part in enumerate(parts)]
    spelled = tuple("".join(chosen) for chosen in product(*choices))
    for path in spelled:
        _refuse_malformed(path, pattern)
    return spelled


def is_exact(pattern: str) -> bool:
    """Whether an expanded pattern names one path only."""
    return "*" not in pattern


class Index(Generic[T]):
    """Rows by pattern. Of several that fit a path the most exact one counts; of equals, the one given last. A row of
    `above` counts before all others."""

    __slots__ = ("_above", "_exact", "_memo", "_wild")

    def __init__(self, rows: Iterable[tuple[str, T]], above: Iterable[tuple[str, T]] = ()) -> None:
        """`rows` and `above` are (expanded pattern, row)."""
        first = [*above]
        self._above: Index[T] | None = Index(first) if first else None
        self._exact: dict[str, T] = {}
        self._memo: dict[str, T | None] = {}
        self._wild: dict[str, list[tuple[str, T]]] = {}
        for pattern, row in rows:
            if is_exact(pattern):
                self._exact[pattern] = row
            else:
                head = pattern.partition(".")[0]
                self._wild.setdefault(head if is_exact(head) else "*", []).append((pattern, row))

    def get(self, path: str) -> T | None:
        """The row whose pattern fits `path` best; None if none does."""
        first = self._above.get(path) if self._above is not None else None
        if first is not None:
            return first
        if path in self._exact:
            return self._exact[path]
        if path not in self._memo:
            self._memo[path] = self._best(path)
        return self._memo[path]

    def exact(self) -> Iterator[tuple[str, T]]:
        """The paths that stand in the index without a wildcard, with their rows."""
        if self._above is not None:
            yield from self._above.exact()
        yield from self._exact.items()

    def _best(self, path: str) -> T | None:
        near = [*self._wild.get("*", ()), *self._wild.get(path.partition(".")[0], ())]
        fitting = [(pattern, row) for pattern, row in reversed(near) if _compiled(pattern).fullmatch(path)]
        return min(fitting, key=lambda found: _looseness(found[0]))[1] if fitting else None


def _refuse_malformed(path: str, pattern: str) -> None:
    if "{" in path or "}" in path:
        raise PatternError(f'"{pattern}" has braces that do not pair, or one group inside another')
    components = path.split(".")
    for component in components:
        if not _COMPONENT.fullmatch(component):
            raise PatternError(f'"{pattern}" has a component that is no name: "{component}"')
        if "**" in component and component != "**":
            raise PatternError(f'"{pattern}" has "**" inside a component: it stands for whole ones')
    if any(left == right == "**" for left, right in pairwise(components)):
        raise PatternError(f'"{pattern}" has "**" twice in a row')


def _looseness(pattern: str) -> tuple[int, int, int]:
    components = pattern.split(".")
    literal = sum(len(component.replace("*", "")) for component in components)
    return components.count("**"), sum("*" in component for component in components), -literal


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    components = pattern.split(".")
    regex = ""
    joined = True
    for index, component in enumerate(components):
        if component == "**":
            first, last = index == 0, index == len(components) - 1
            regex += r".*" if first and last else r"(?:[^.]+\.)*" if first else r"(?:\.[^.]+)*"
            joined = first
        else:
            name = r"[^.]+" if component == "*" else re.escape(component).replace(r"\*", r"[^.]*")
            regex += name if joined else rf"\.{name}"
            joined = False
    return re.compile(regex)
