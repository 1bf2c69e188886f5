"""The JSON document, as `docs/json.md` promises it. A change of shape is a change of `version`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from idemlint.diagnostic import Diagnostic, Fix, Report, Suppression, TaskName
from idemlint.report.sheet import Sheet

VERSION = 1


def render(report: Report, sheet: Sheet) -> str:
    """The report as one JSON object in ASCII, so that no encoding on its way can spoil it."""
    summary = report.summary
    document = {
        "version": VERSION,
        "findings": [_finding(finding, sheet.place) for finding in report.findings],
        "summary": {
            "tasks": summary.tasks,
            "modules": summary.modules,
            "calls": summary.calls,
            "unresolved_calls": summary.unresolved_calls,
            "unread_files": summary.unread_files,
        },
    }
    return json.dumps(document, indent=2) + "\n"


def _finding(finding: Diagnostic, place: Callable[[str], str]) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "code": finding.code,
        "severity": str(finding.severity),
        "confidence": str(finding.confidence),
        "message": finding.message,
        "path": place(finding.span.path),
        "line": finding.span.line,
        "column": finding.span.column,
        "end_line": finding.span.end_line,
        "end_column": finding.span.end_column,
        "task": _task(finding.task, place) if finding.task else None,
        "other_tasks": [_task(task, place) for task in finding.other_tasks],
        "causes": [
            {
                "text": cause.text,
                "path": None if cause.path is None else place(cause.path),
                "line": cause.line,
            }
            for cause in finding.causes
        ],
        "steps": [
            {
                "kind": str(step.kind),
                "text": step.text,
                "path": place(step.span.path) if step.span else None,
                "line": step.span.line if step.span else None,
                "column": step.span.column if step.span else None,
            }
            for step in finding.steps
        ],
        "fix": _fix(finding.fix, place) if finding.fix else None,
        "fingerprint": finding.fingerprint,
        "suppression": _suppression(finding.suppression, place) if finding.suppression else None,
    }


def _task(task: TaskName, place: Callable[[str], str]) -> dict[str, Any]:
    return {
        "name": task.name,
        "function": task.function,
        "path": place(task.path),
        "line": task.line,
        "framework": task.framework,
    }


def _suppression(suppression: Suppression, place: Callable[[str], str]) -> dict[str, Any]:
    return {"path": place(suppression.path), "line": suppression.line, "reason": suppression.reason}


def _fix(fix: Fix, place: Callable[[str], str]) -> dict[str, Any]:
    return {
        "title": fix.title,
        "applicability": str(fix.applicability),
        "edits": [
            {"path": place(edit.path), "start": edit.start, "end": edit.end, "text": edit.text} for edit in fix.edits
        ],
    }
