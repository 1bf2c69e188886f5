"""A rule's page, as `idemlint rule` shows it."""

from __future__ import annotations

from io import StringIO

from rich.console import Console
from rich.markdown import Markdown

from idemlint.report.sheet import Sheet

# Prose in longer lines is hard to read.
_WIDEST = 100


def page(markdown: str, facts: str, sheet: Sheet, *, is_terminal: bool) -> str:
    """The page with `facts` (code, severity) under its title: typeset for a terminal, else the Markdown as it is."""
    title, _, rest = markdown.partition("\n")
    whole = f"{title}\n\n{facts}\n{rest}"
    if not is_terminal:
        return whole if whole.endswith("\n") else f"{whole}\n"
    console = Console(
        file=StringIO(),
        force_terminal=True,
        color_system="standard" if sheet.color else None,
        no_color=not sheet.color,
        width=min(sheet.width, _WIDEST),
        legacy_windows=False,
    )
    with console.capture() as capture:
        console.print(Markdown(whole, code_theme="ansi_dark", hyperlinks=sheet.color))
    return capture.get()
