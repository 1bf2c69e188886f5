"""How a report is told: one function a format, by the name the command line gives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from idemlint.diagnostic import Report
from idemlint.report import concise, document, full, github, sarif
from idemlint.report.sheet import Sheet

FORMATS: Mapping[str, Callable[[Report, Sheet], str]] = {
    "full": full.render,
    "concise": concise.render,
    "json": document.render,
    "sarif": sarif.render,
    "github": github.render,
}
