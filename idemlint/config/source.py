"""Where settings are written, in the words of messages."""

from __future__ import annotations

from dataclasses import dataclass

from idemlint.toml import line_of


@dataclass(frozen=True, slots=True)
class Source:
    """A text with settings in it: what it is called (a file, or `--config`), the text, and the table of it that is ours
    (`tool.idemlint`; empty: all of it). A text that is no file has no lines to speak of."""

    name: str
    text: str
    table: str = ""
    is_file: bool = True

    def place(self, key: str) -> str:
        """What an error begins with that is about one of our keys: `pyproject.toml:7: tool.idemlint.select`."""
        whole = f"{self.table}.{key}" if self.table else key
        return f"{self.name}:{line_of(self.text, whole)}: {whole}" if self.is_file else f"{self.name}: {whole}"
