"""What is said when a catalog file makes no sense."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class CatalogError(Exception):
    """A catalog entry nobody can obey. The message names the file, the line, the key, and where it can, what was
    meant."""


class EntryError(Exception):
    """The same before the file is known: the key, as a reader of the file would say it (`effect[0].when[1].kind`), and
    what is wrong with it."""

    def __init__(self, key: str, wrong: str) -> None:
        super().__init__(key, wrong)
        self.key = key
        self.wrong = wrong


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A clause that proposes the word of `known` nearest to `word`; empty if none is near."""
    near = difflib.get_close_matches(word, known, n=1)
    return f'; did you mean "{near[0]}"?' if near else ""
