"""SARIF 2.1.0, as GitHub code scanning reads it: one run, the rules that ran with their help, a code flow a finding.

The same project gives the same bytes: no times, no machine paths, no command line.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from idemlint import pages
from idemlint.diagnostic import Diagnostic, Fix, Report, Span, Step, StepKind, TaskName
from idemlint.project import UnreadableFile
from idemlint.report.line_hash import line_hashes
from idemlint.report.sarif_rules import LEVELS, descriptor
from idemlint.report.scan import Scan
from idemlint.report.sheet import Sheet
from idemlint.report.source import Source

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT = "%SRCROOT%"
_UNREAD = "IDM901"
_LINKED = {StepKind.CAUSE: "cause", StepKind.FIRST: "first run", StepKind.CUT: "cut", StepKind.AGAIN: "again"}
_IMPORTANT = frozenset({StepKind.CAUSE, StepKind.CUT})
# GitHub reads no more related locations of a result.
_MOST_RELATED = 10


def render(report: Report, sheet: Sheet) -> str:
    """The report as one SARIF log."""
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [_Run(report, sheet.scan).told()]}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


@dataclass(slots=True)
class _Run:
    report: Report
    scan: Scan
    _sources: dict[str, Source] = field(default_factory=dict)
    _hashes: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _artifacts: dict[str, int] = field(default_factory=dict)
    _rules: dict[str, int] = field(default_factory=dict)
    _tells_suppressions: bool = False

    def told(self) -> dict[str, Any]:
        findings, scan = self.report.findings, self.scan
        rules = sorted(scan.rules, key=lambda rule: rule.code)
        self._rules = {rule.code: index for index, rule in enumerate(rules)}
        self._artifacts = {path: index for index, path in enumerate(sorted(set(_paths(findings))))}
        self._tells_suppressions = any(finding.suppression is not None for finding in findings)
        told: dict[str, Any] = {
            "tool": {
                "driver": {
                    "name": "idemlint",
                    "organization": "idemlint contributors",
                    "version": scan.version,
                    "semanticVersion": scan.version,
                    "informationUri": pages.HOME,
                    "rules": [descriptor(rule) for rule in rules],
                }
            },
            "originalUriBaseIds": {_ROOT: {"description": {"text": "The root of the analysed repository."}}},
            "invocations": [
                {
                    "executionSuccessful": True,
                    "exitCode": scan.exit_code,
                    "toolExecutionNotifications": [
                        self._notification(finding) for finding in findings if finding.code == _UNREAD
                    ],
                    "toolConfigurationNotifications": [],
                }
            ],
            "artifacts": [
                {"location": self._artifact(path, indexed=False), "sourceLanguage": "python"}
                for path in self._artifacts
            ],
            "columnKind": "utf16CodeUnits",
            "results": [self._result(finding) for finding in findings],
        }
        if scan.category:
            told["automationDetails"] = {"id": f"{scan.category.rstrip('/')}/"}
        return told

    def _result(self, finding: Diagnostic) -> dict[str, Any]:
        related = list(self._related(finding))
        told: dict[str, Any] = {
            "ruleId": finding.code,
            "ruleIndex": self._rules[finding.code],
            "level": LEVELS[finding.severity],
            "message": {"text": _message(finding, [label for label, _, _ in related])},
            "locations": [{"physicalLocation": self._physical(finding.span)}],
        }
        if related:
            told["relatedLocations"] = [
                {"id": id, "physicalLocation": self._physical(span), "message": {"text": text}}
                for id, (_, span, text) in enumerate(related, start=1)
            ]
        if finding.steps:
            told["codeFlows"] = [self._flow(finding)]
        told["partialFingerprints"] = self._fingerprints(finding)
        if finding.fix is not None and finding.fix.edits:
            told["fixes"] = [self._fix(finding.fix)]
        if self._tells_suppressions:
            told["suppressions"] = _suppressions(finding)
        told["properties"] = {"confidence": str(finding.confidence)}
        if finding.task is not None:
            told["properties"]["task"] = finding.task.name
        return told

    def _related(self, finding: Diagnostic) -> Iterator[tuple[str, Span, str]]:
        """What the message links to: a label, the place and what is said of it. The other places of the story, each
        once, then the other tasks."""
        told = {_start(finding.span)}
        found: list[tuple[str, Span, str]] = []
        for step in finding.steps:
            if step.span is not None and step.kind in _LINKED and _start(step.span) not in told:
                told.add(_start(step.span))
                found.append((_LINKED[step.kind], step.span, _unlinked(step.text)))
        found += [
            (f"also {task.name}", self._definition(task), f"task '{task.name}' does the same")
            for task in finding.other_tasks
        ]
        yield from found[:_MOST_RELATED]

    def _flow(self, finding: Diagnostic) -> dict[str, Any]:
        """The story. A step that is no place in the code stands where the one before it does, the first one on the
        task: GitHub leaves out a step without a place."""
        place = self._definition(finding.task) if finding.task is not None else finding.span
        steps: list[dict[str, Any]] = []
        for step in finding.steps:
            place = step.span or place
            steps.append(
                {
                    "location": {"physicalLocation": self._physical(place), "message": {"text": _told(step)}},
                    "importance": "important" if step.kind in _IMPORTANT else "essential",
                }
            )
        return {
            "message": {"text": "From the cause to what the user of the system sees."},
            "threadFlows": [{"locations": steps}],
        }

    def _fingerprints(self, finding: Diagnostic) -> dict[str, str]:
        path, line = finding.span.path, finding.span.line
        if path not in self._hashes:
            try:
                self._hashes[path] = line_hashes(self.scan.data(path))
            except UnreadableFile:
                self._hashes[path] = ()
        hashes = self._hashes[path]
        # A hash that is not GitHub's own is worse than none.
        exact = {"primaryLocationLineHash": hashes[line - 1]} if line <= len(hashes) else {}
        return exact | {"idemlint/v1": finding.fingerprint}

    def _fix(self, fix: Fix) -> dict[str, Any]:
        changes: dict[str, list[dict[str, Any]]] = {}
        for edit in fix.edits:
            changes.setdefault(edit.path, []).append(
                {
                    "deletedRegion": self._source(edit.path).deleted(edit),
                    # Readers take it for granted, though the format does not ask for it in a deletion.
                    "insertedContent": {"text": edit.text},
                }
            )
        return {
            "description": {"text": f"{_unlinked(fix.title)}."},
            "artifactChanges": [
                {"artifactLocation": self._artifact(path), "replacements": replacements}
                for path, replacements in changes.items()
            ],
        }

    def _notification(self, finding: Diagnostic) -> dict[str, Any]:
        return {
            "associatedRule": {"id": finding.code, "index": self._rules[finding.code]},
            "level": "error",
            "message": {"text": _unlinked(finding.message)},
            "locations": [{"physicalLocation": self._physical(finding.span)}],
        }

    def _definition(self, task: TaskName) -> Span:
        return self._source(task.path).whole_line(task.path, task.line)

    def _physical(self, span: Span) -> dict[str, Any]:
        source = self._source(span.path)
        return {
            "artifactLocation": self._artifact(span.path),
            "region": source.region(span),
            "contextRegion": source.context(span),
        }

    def _artifact(self, path: str, *, indexed: bool = True) -> dict[str, Any]:
        location: dict[str, Any] = {"uri": quote(os.fsencode(self.scan.in_repository(path))), "uriBaseId": _ROOT}
        return location | ({"index": self._artifacts[path]} if indexed else {})

    def _source(self, path: str) -> Source:
        if path not in self._sources:
            try:
                self._sources[path] = Source(self.scan.text(path))
            except UnreadableFile:
                self._sources[path] = Source("")
        return self._sources[path]


def _paths(findings: Iterable[Diagnostic]) -> Iterator[str]:
    for finding in findings:
        yield finding.span.path
        yield from (step.span.path for step in finding.steps if step.span is not None)
        yield from (task.path for task in (finding.task, *finding.other_tasks) if task is not None)
        yield from (edit.path for edit in (finding.fix.edits if finding.fix is not None else ()))


def _start(span: Span) -> tuple[str, int, int]:
    return span.path, span.line, span.column


def _message(finding: Diagnostic, labels: list[str]) -> str:
    """The finding in a sentence that can be a title, the cure, then links to the places of the story."""
    parts = [_unlinked(finding.message)]
    if finding.fix is not None:
        parts.append(f"Fix: {_unlinked(finding.fix.title)}.")
    if labels:
        links = ", ".join(f"[{_escaped(label)}]({id})" for id, label in enumerate(labels, start=1))
        parts.append(f"See {links}.")
    return " ".join(parts)


def _told(step: Step) -> str:
    label = "result" if step.kind is StepKind.RESULT else _LINKED[step.kind]
    return f"{label}: {_unlinked(step.text)}"


def _unlinked(text: str) -> str:
    """Text in which nothing reads as a link: `list[int](x)` would."""
    return re.sub(r"\](?=\()", "] ", " ".join(text.split()))


def _escaped(label: str) -> str:
    return re.sub(r"([\[\]\\])", r"\\\1", label)


def _suppressions(finding: Diagnostic) -> list[dict[str, Any]]:
    if finding.suppression is None:
        return []
    reason = finding.suppression.reason
    return [{"kind": "inSource", "status": "accepted", **({"justification": reason} if reason else {})}]
