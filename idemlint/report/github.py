"""Annotations: workflow commands that GitHub Actions shows beside the code of a pull request, forks included."""

from __future__ import annotations

from collections import Counter

from idemlint.diagnostic import Diagnostic, Report, Severity
from idemlint.report.closing import closing
from idemlint.report.printable import printable
from idemlint.report.sheet import Sheet

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
# Of one step, for each command; the rest is dropped without a word.
_MOST = 10


def render(report: Report, sheet: Sheet) -> str:
    """One command a finding, the worst first, and what GitHub will not show as annotations.

    What a comment suppresses is no annotation.
    """
    findings = [finding for finding in report.findings if finding.suppression is None]
    findings.sort(key=lambda finding: (-finding.severity, finding.span, finding.rule))
    lines = [_command(finding, sheet) for finding in findings]
    counts = Counter(finding.severity for finding in findings)
    more = sum(max(count - _MOST, 0) for count in counts.values())
    if more:
        lines.append(
            f"idemlint: {more} more not shown as annotations: GitHub takes {_MOST} of each kind from one step."
        )
    if sheet.closing:
        lines.append(closing(report))
    return "".join(f"{line}\n" for line in lines)


def _command(finding: Diagnostic, sheet: Sheet) -> str:
    span, path = finding.span, sheet.scan.in_repository(finding.span.path)
    properties = {"title": f"idemlint ({finding.code})", "file": path, "line": str(span.line)}
    # On a region of several lines GitHub takes columns for an error.
    if span.line == span.end_line:
        properties |= {"col": str(span.column), "endLine": str(span.line), "endColumn": str(span.end_column)}
    else:
        properties["endLine"] = str(span.end_line)
    given = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_COMMANDS[finding.severity]} {given}::{_data(chr(10).join(_text(finding, path, sheet)))}"


def _text(finding: Diagnostic, path: str, sheet: Sheet) -> list[str]:
    place = f"{path}:{finding.span.line}:{finding.span.column}"
    lines = [f"{printable(place)}: {finding.code} {printable(finding.message)}"]
    for number, step in enumerate(finding.steps, start=1):
        where = f"  {sheet.scan.in_repository(step.span.path)}:{step.span.line}" if step.span is not None else ""
        lines.append(f"{number}. {step.kind}: {printable(step.text)}{printable(where)}")
    if finding.fix is not None:
        lines.append(f"Fix: {printable(finding.fix.title)}")
    return lines


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
