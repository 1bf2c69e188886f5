"""Of all that was found, what this user asked to see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from idemlint.config import Config
from idemlint.diagnostic import Diagnostic, Report


def shown(
    report: Report, config: Config, *, root: Path, wanted: Callable[[str], bool], suppressed: bool = False
) -> Report:
    """The report without the findings that `config` hides, those of files nobody named and, unless `suppressed` asks
    for them, those that a comment suppresses.

    `wanted` says of a path relative to `root` whether it was named. A finding is of a file when it stands there or
    when a task that leads to it does: the fault of a task may lie in what it calls.
    """
    levels = dict(config.severity)
    findings = (replace(found, severity=levels.get(found.rule, found.severity)) for found in report.findings)
    return replace(
        report,
        findings=tuple(
            finding
            for finding in findings
            if (suppressed or finding.suppression is None)
            and finding.severity >= config.min_severity
            and finding.confidence >= config.min_confidence
            and any(wanted(path) for path in _files(finding))
            and not _ignored(finding, config, root)
        ),
    )


def fails(report: Report, config: Config) -> bool:
    """Whether what is shown is bad enough for the run to fail; what a comment suppresses is not."""
    return any(finding.severity >= config.fail_on for finding in report.findings if finding.suppression is None)


def _files(finding: Diagnostic) -> set[str]:
    tasks = (finding.task, *finding.other_tasks)
    return {finding.span.path, *(task.path for task in tasks if task is not None)}


def _ignored(finding: Diagnostic, config: Config, root: Path) -> bool:
    return any(
        finding.rule in rules and pattern.matches(root / finding.span.path)
        for pattern, rules in config.per_file_ignores
    )
