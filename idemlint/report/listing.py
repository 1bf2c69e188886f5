"""Tables: the rules there are, and how often each has spoken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rich.text import Text

from idemlint.diagnostic import Report, Severity
from idemlint.report.sheet import Sheet, drawn

_COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def rules(rows: Iterable[tuple[str, str, Severity, str]], sheet: Sheet) -> str:
    """One line a rule: code, name, severity, summary."""
    known = list(rows)
    name_width = max((len(name) for _, name, _, _ in known), default=0)
    severity_width = max(len(str(severity)) for severity in Severity)
    return drawn(
        [
            Text.assemble(
                f"{code}  ",
                (name, "bold"),
                " " * (name_width - len(name) + 2),
                (f"{severity!s:<{severity_width}}", _COLORS[severity]),
                f"  {summary}",
            )
            for code, name, severity, summary in known
        ],
        sheet,
    )


def statistics(report: Report, sheet: Sheet) -> str:
    """One line a rule that has spoken: how often, code, name; the most frequent first."""
    spoken = Counter((finding.code, finding.rule) for finding in report.findings)
    ranked = sorted(spoken.items(), key=lambda item: (-item[1], item[0]))
    width = len(str(ranked[0][1])) if ranked else 0
    return drawn(
        [Text.assemble(f"{count:>{width}}  {code}  ", (name, "bold")) for (code, name), count in ranked], sheet
    )
