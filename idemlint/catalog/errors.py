"""What is said when a catalog file makes no sense."""

from __future__ import annotations


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
