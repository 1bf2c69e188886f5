"""A project: its Python files, and what they hold."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path

from idemlint.project.errors import UnreadableFile
from idemlint.project.names import SourceFile, importable_names, likeliest_first
from idemlint.project.place import located
from idemlint.project.text import decoded, encoded, read_optional

# Everything that cannot be part of an identifier becomes a space; bytes above ASCII may be letters.
_IDENTIFIERS = bytes(byte if byte > 127 or re.match(rb"\w", bytes([byte])) else 32 for byte in range(256))


_SCHEMA_LIMIT = 1 << 20


class Project:
    """The Python files under `root`, by path. Each is read once, when first asked for. `schemas` are the paths of the
    SQL files beside them."""

    def __init__(self, root: Path, files: Iterable[SourceFile], schemas: Iterable[str] = ()) -> None:
        self.root = root
        self.files = tuple(sorted(files, key=lambda file: file.path))
        self.schemas = tuple(sorted(schemas))
        self._data: dict[str, bytes] = {}

    def data(self, path: str) -> bytes:
        """The bytes of a file. UnreadableFile if it cannot be opened."""
        if path not in self._data:
            try:
                self._data[path] = (self.root / path).read_bytes()
            except OSError as error:
                raise UnreadableFile(path, f"cannot be read: {error.strerror}") from None
        return self._data[path]

    def text(self, path: str) -> str:
        """A file decoded as Python would, without a byte order mark and with its newlines as they are.

        UnreadableFile if it cannot be opened or is not in the encoding it claims.
        """
        return decoded(path, self.data(path))

    def encoded(self, path: str, text: str) -> bytes:
        """`text` as the bytes to write into the file: in its encoding, with its byte order mark if it has one."""
        return encoded(path, self.data(path), text)

    def read_optional(self, path: str) -> str | None:
        """The text of any UTF-8 file under the root, None if there is none. UnreadableFile if it is not text."""
        return read_optional(self.root, path)

    def schema(self, path: str) -> str:
        """The text of a SQL file; nothing of one that is no text, or so long that it holds data."""
        try:
            if (self.root / path).stat().st_size > _SCHEMA_LIMIT:
                return ""
            return self.read_optional(path) or ""
        except (OSError, UnreadableFile):
            return ""

    def mentioning(self, words: Iterable[str]) -> tuple[SourceFile, ...]:
        """The files in which one of the identifiers `words` occurs as a whole word, be it in code, string or comment.

        A file that cannot be opened mentions nothing.
        """
        found = {index for word in words for index in self._mentions.get(word.encode(), ())}
        return tuple(self.files[index] for index in sorted(found))

    def named(self, module: str, near: str = "") -> SourceFile | None:
        """The file that `import module` finds when written in the file `near`: the first of `candidates`."""
        return next(iter(self.candidates(module, near)), None)

    def candidates(self, module: str, near: str = "") -> tuple[SourceFile, ...]:
        """The files that `import module` may find when written in the file `near`, the likeliest first."""
        return tuple(likeliest_first(self._names.get(module, ()), module, near))

    def within(self, paths: Sequence[Path]) -> Callable[[str], bool]:
        """Whether a path is one of the files or lies in one of the folders `paths` (all of the project if empty)."""
        places = {place for path in paths for place in (located(path), path.resolve())}
        if not paths or any(self.root.is_relative_to(place) for place in places):
            return lambda path: True
        asked = {Path(os.path.relpath(place, self.root)).as_posix() for place in places}
        folders = tuple(f"{path}/" for path in asked)
        return lambda path: path in asked or path.startswith(folders)

    @cached_property
    def _mentions(self) -> dict[bytes, list[int]]:
        mentions: dict[bytes, list[int]] = {}
        for index, file in enumerate(self.files):
            try:
                data = self.data(file.path)
            except UnreadableFile:
                continue
            for word in set(data.translate(_IDENTIFIERS).split()):
                mentions.setdefault(word, []).append(index)
        return mentions

    @cached_property
    def _names(self) -> dict[str, list[SourceFile]]:
        names: dict[str, list[SourceFile]] = {}
        for file in self.files:
            for name in importable_names(file):
                names.setdefault(name, []).append(file)
        return names
