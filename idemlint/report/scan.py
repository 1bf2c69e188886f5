"""What a document for machines tells of a run beside its findings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from idemlint.diagnostic import Severity
from idemlint.project import UnreadableFile


class Ruled(Protocol):
    """Anything that has what is told of a rule."""

    @property
    def name(self) -> str: ...

    @property
    def code(self) -> str: ...

    @property
    def severity(self) -> Severity: ...

    @property
    def summary(self) -> str: ...


def _no_file(path: str) -> bytes:
    raise UnreadableFile(path, "there are no files")


def _no_text(path: str) -> str:
    raise UnreadableFile(path, "there are no files")


@dataclass(frozen=True, slots=True)
class Scan:
    """`rules` are those that ran, and any other that speaks in the report. `data` gives the bytes of a file and `text`
    what they mean, UnreadableFile where they mean nothing. `in_repository` turns a path relative to the project's root
    into one relative to the repository's. `category` names this run beside others of the same repository, `exit_code`
    is what it ends with, `version` that of idemlint.
    """

    rules: tuple[Ruled, ...] = ()
    data: Callable[[str], bytes] = _no_file
    text: Callable[[str], str] = _no_text
    in_repository: Callable[[str], str] = str
    category: str | None = None
    exit_code: int = 0
    version: str = "0"


NO_SCAN = Scan()
"""What is told where nobody will ask."""
