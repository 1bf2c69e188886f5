"""What can be wrong with the files of a project."""

from __future__ import annotations


class ProjectError(Exception):
    """The project cannot be laid out; the message is for the user."""


class UnreadableFile(Exception):
    """A file whose text cannot be had, and the place in it that is to blame (line and column are 1-based)."""

    def __init__(self, path: str, reason: str, line: int = 1, column: int = 1) -> None:
        super().__init__(path, reason, line, column)
        self.path = path
        self.reason = reason
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.reason}"
