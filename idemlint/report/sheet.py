"""What a report is written on."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.color import ColorSystem
from rich.console import Console
from rich.style import Style
from rich.text import Text

from idemlint.report.scan import NO_SCAN, Scan


def unlinked(rule: str) -> None:
    """The link of no rule: the reader has nothing to follow it with."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a format may count on.

    `place` turns a path relative to the project's root into the path the reader sees. `width` is in terminal cells.
    `link` gives the address of a rule's page where the terminal can follow it. `closing` asks for the line that says
    what was analysed. `scan` is what a document for machines tells of the run.
    """

    place: Callable[[str], str]
    width: int = 100
    color: bool = False
    link: Callable[[str], str | None] = unlinked
    closing: bool = True
    scan: Scan = NO_SCAN


def seen_from(folder: Path, root: Path) -> Callable[[str], str]:
    """A function from paths relative to `root` to paths relative to `folder`, with forward slashes."""

    def place(path: str) -> str:
        try:
            return Path(os.path.relpath(root / path, folder)).as_posix()
        except ValueError:  # another drive has no relative path
            return (root / path).as_posix()

    return place


def drawn(lines: list[Text], sheet: Sheet) -> str:
    """The lines as characters, with the escape codes of their styles where the sheet takes colour."""
    colors = ColorSystem.STANDARD if sheet.color else None
    # To print on a console would wrap the lines or strip them: here a line stays as long as it is.
    console = Console()
    return "".join(
        "".join(
            (segment.style or Style()).render(segment.text, color_system=colors) for segment in line.render(console)
        )
        + "\n"
        for line in lines
    )
