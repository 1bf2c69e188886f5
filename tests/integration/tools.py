"""The programs that `.ci/tools` installs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
TOOLS = ROOT / "build" / "tools"
MULTITOOL = TOOLS / "node_modules" / "@microsoft" / "sarif-multitool-linux" / "Sarif.Multitool"


def needs(name: str, place: Path) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not os.access(place, os.X_OK), reason=f"{name} is not there: run .ci/tools")


def in_venv(name: str) -> Path:
    return TOOLS / "venv" / "bin" / name


def ran(*command: str | Path, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*map(str, command)],
        check=False,
        cwd=cwd,
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=900,
    )
