"""One line a finding: `path:line:column  severity  rule (CODE)  message`."""

from __future__ import annotations

from rich.text import Text

from idemlint.diagnostic import Report
from idemlint.report.closing import closing
from idemlint.report.heading import heading
from idemlint.report.printable import printable
from idemlint.report.sheet import Sheet, drawn


def render(report: Report, sheet: Sheet) -> str:
    """The report, one line a finding, and the closing line."""
    lines = [heading(finding, sheet).append(f"  {printable(finding.message)}") for finding in report.findings]
    return drawn([*lines, Text(closing(report))] if sheet.closing else lines, sheet)
