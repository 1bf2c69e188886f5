"""What the place we write to can show."""

from __future__ import annotations

import shutil
from collections.abc import Mapping

WIDTH_OF_A_FILE = 100


def takes_color(choice: str, environ: Mapping[str, str], *, is_terminal: bool) -> bool:
    """Whether to colour. `choice` is what the user asked for: `always`, `never` or `auto`. An empty variable counts
    as unset."""
    if choice != "auto":
        return choice == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return is_terminal and environ.get("TERM") != "dumb"


def width() -> int:
    """The columns of standard output; those of $COLUMNS if set; 100 in a pipe."""
    return shutil.get_terminal_size((WIDTH_OF_A_FILE, 24)).columns
