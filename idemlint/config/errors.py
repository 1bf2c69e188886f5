"""What is said when configuration makes no sense."""

from __future__ import annotations


class ConfigError(Exception):
    """A setting nobody can obey. The message names the file, the line, the key, and where it can, what was meant."""


class Misfit(Exception):
    """The same before it is known where the key stands: the key (`severity.IDM301`), and what is wrong with it."""

    def __init__(self, key: str, wrong: str) -> None:
        super().__init__(key, wrong)
        self.key = key
        self.wrong = wrong
