"""The line that opens a finding, the same in every form for people."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text

from idemlint.diagnostic import Confidence, Diagnostic, Severity
from idemlint.report.printable import printable
from idemlint.report.sheet import Sheet

_COLORS = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}


def heading(finding: Diagnostic, sheet: Sheet) -> Text:
    """Where it is, how bad, which rule; and how sure, where that is not plain; and that it is suppressed, if it is."""
    span = finding.span
    line = Text.assemble(
        (f"{printable(sheet.place(span.path))}:{span.line}:{span.column}", "bold"),
        "  ",
        (str(finding.severity), _COLORS[finding.severity]),
        "  ",
        (finding.rule, Style(bold=True, link=sheet.link(finding.rule))),
        f" ({finding.code})",
    )
    if finding.confidence < Confidence.HIGH:
        line.append("  ").append(f"{finding.confidence} confidence", style="dim")
    if finding.suppression is not None:
        reason = printable(finding.suppression.reason)
        line.append("  ").append(f"suppressed: {reason}" if reason else "suppressed", style="dim")
    return line
