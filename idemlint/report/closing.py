"""The last line: how much was found, and in how much code."""

from __future__ import annotations

from collections import Counter

from idemlint.diagnostic import Report, Severity


def closing(report: Report) -> str:
    """`3 errors, 5 warnings in 41 tasks (23 modules read, 312 calls followed, 17 unresolved, 0 files unread)`.

    Suppressed findings, where the report holds any, are counted apart: `1 error, 2 suppressed in 41 tasks (...)`.
    """
    of = Counter(finding.severity for finding in report.findings if finding.suppression is None)
    suppressed = len(report.findings) - of.total()
    counts = [_counted(of[level], str(level)) for level in sorted(Severity, reverse=True) if of[level]]
    found = ", ".join([*counts, *([f"{suppressed} suppressed"] if suppressed else [])])
    looked_at = report.summary
    return (
        f"{found or 'No findings'} in {_counted(looked_at.tasks, 'task')} ("
        f"{_counted(looked_at.modules, 'module')} read, {_counted(looked_at.calls, 'call')} followed, "
        f"{looked_at.unresolved_calls} unresolved, {_counted(looked_at.unread_files, 'file')} unread)"
    )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
