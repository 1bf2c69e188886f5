"""The command line, run on a folder: what it finds and what it prints."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from idemlint.cli import run


def printed(folder: Path, *arguments: str) -> str:
    """What `idemlint check . ARGUMENTS` writes to standard output in `folder`, which is the whole project."""
    return checked(folder, ".", "--isolated", *arguments)


def checked(folder: Path, *arguments: str) -> str:
    """What `idemlint check ARGUMENTS` writes to standard output when it is run in `folder`."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with _inside(folder, out):
        code = run(["check", "--color", "never", "--exit-zero", *arguments])
    assert code == 0, "what went wrong is on standard error"
    out.seek(0)
    return out.read()


def findings(folder: Path, *arguments: str) -> list[dict[str, Any]]:
    """The findings of such a run, as its JSON has them."""
    found = json.loads(printed(folder, "--output-format", "json", *arguments))["findings"]
    assert isinstance(found, list)
    return found


@contextmanager
def _inside(folder: Path, out: io.TextIOWrapper) -> Iterator[None]:
    before, stdout = Path.cwd(), sys.stdout
    columns = os.environ.pop("COLUMNS", None)
    os.chdir(folder)
    sys.stdout = out
    try:
        yield
    finally:
        sys.stdout = stdout
        os.chdir(before)
        if columns is not None:
            os.environ["COLUMNS"] = columns
