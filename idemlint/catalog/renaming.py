"""One path for a thing that has several."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping

from idemlint.catalog.patterns import is_exact

_BUILTINS = frozenset(dir(builtins))


class Renaming:
    """Other names -> the name the catalog knows. A name stands for itself and for all paths that begin with it."""

    __slots__ = ("_heads", "_memo", "_same")

    def __init__(self, same: Mapping[str, str]) -> None:
        self._same = dict(same)
        self._heads = {name.partition(".")[0] for name in same}
        self._memo: dict[str, str] = {}

    def canonical(self, path: str) -> str:
        """The path by its known name; a builtin gets its module."""
        if path not in self._memo:
            self._memo[path] = self._followed(path)
        return self._memo[path]

    def pattern(self, pattern: str) -> str:
        """An expanded pattern with the components before its first wildcard by their known name."""
        components = pattern.split(".")
        plain = next((index for index, part in enumerate(components) if not is_exact(part)), len(components))
        known = self.canonical(".".join(components[:plain])) if plain else ""
        return ".".join([*([known] if known else []), *components[plain:]])

    def circle(self) -> str | None:
        """A name that leads back to itself; None if all is well."""
        return next((name for name in self._same if name in [*self._steps(self._same[name])]), None)

    def _followed(self, path: str) -> str:
        if path.partition(".")[0] in _BUILTINS:
            path = f"builtins.{path}"
        for name in self._steps(path):
            path = self._same[name] + path[len(name) :]
        return path

    def _steps(self, path: str) -> Iterator[str]:
        """The names that are put right one after another, each at most once, so that a circle ends."""
        used: set[str] = set()
        while (name := self._longest(path, used)) is not None:
            yield name
            used.add(name)
            path = self._same[name] + path[len(name) :]

    def _longest(self, path: str, used: set[str]) -> str | None:
        if path.partition(".")[0] not in self._heads:
            return None
        components = path.split(".")
        prefixes = (".".join(components[:length]) for length in range(len(components), 0, -1))
        return next((prefix for prefix in prefixes if prefix in self._same and prefix not in used), None)
