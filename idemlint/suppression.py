"""Findings and the comments of the code -> findings, those that a comment suppresses marked so, and what is wrong with
the comments themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from idemlint.config import Config, Named, one
from idemlint.diagnostic import Applicability, Confidence, Diagnostic, Fix, Severity, Suppression
from idemlint.directive import MARKS, Directive, directives, without
from idemlint.placing import digest, numbered
from idemlint.project import Project, UnreadableFile
from idemlint.spelling import nearest
from idemlint.syntax.comments import comments
from idemlint.syntax.extract import SyntaxProblem

UNUSED, UNKNOWN = "unused-suppression", "unknown-rule-in-suppression"


@dataclass(slots=True, eq=False)
class _Standing:
    """A directive, the rules it speaks of (their names, with the word it has for each), and those of them it was used
    for so far."""

    directive: Directive
    names: dict[str, str]
    used: set[str] = field(default_factory=set)


def suppress(
    found: Sequence[Diagnostic], project: Project, config: Config, rules: Sequence[Named], unread: Collection[str]
) -> list[Diagnostic]:
    """What was found and what is wrong with the comments, sorted; a finding that a comment suppresses says so.

    `rules` are all rules there are. In the files `unread`, those that could not be analysed whole, no comment is called
    unused.
    """
    standing = [
        _Standing(directive, dict(_named(directive, rules)))
        for file in project.files
        for directive in _directives(project, file.path)
    ]
    result = [_judged(finding, standing) for finding in found]
    faults = [fault for each in standing for fault in _faults(each, project, config, rules, unread)]
    result += [_judged(fault, standing) for fault in numbered(faults)]
    return sorted(result, key=lambda finding: (finding.span, finding.rule))


def _directives(project: Project, path: str) -> Iterator[Directive]:
    try:
        if any(mark.encode() in project.data(path) for mark in MARKS):
            for comment in comments(project.text(path), MARKS):
                yield from directives(comment, path)
    except (UnreadableFile, SyntaxProblem):
        return  # that the file cannot be read is a finding of its own where it matters


def _named(directive: Directive, rules: Sequence[Named]) -> Iterator[tuple[str, str]]:
    for word in directive.rules:
        for rule in rules:
            if word in (rule.name, rule.code):
                yield rule.name, word


def _judged(finding: Diagnostic, standing: Iterable[_Standing]) -> Diagnostic:
    """The finding, with its suppression if it has one; the directives that bear on it count as used from now on."""
    speaking = [each for each in standing if finding.rule in each.names]
    accepting = [each for each in speaking if _is_at(finding, each.directive)] or _over_tasks(finding, speaking)
    for each in accepting:
        each.used.add(finding.rule)
    if not accepting:
        return finding
    first = accepting[0].directive
    return replace(finding, suppression=Suppression(first.path, first.span.line, first.reason))


def _is_at(finding: Diagnostic, directive: Directive) -> bool:
    """Whether the finding starts in what the directive speaks about. A formatter moves a trailing comment to the end of
    an expression, so there the end counts too."""
    if finding.span.path != directive.path:
        return False
    lines = (finding.span.line,) if directive.statement else (finding.span.line, finding.span.end_line)
    return any(directive.first <= line <= directive.last for line in lines)


def _over_tasks(finding: Diagnostic, speaking: Sequence[_Standing]) -> list[_Standing]:
    """The directives over the tasks that lead to the finding, if there is one over every task."""
    tasks = [task for task in (finding.task, *finding.other_tasks) if task is not None]
    over = [
        [
            each
            for each in speaking
            if each.directive.statement
            and each.directive.path == task.path
            and each.directive.first <= task.line <= each.directive.last
        ]
        for task in tasks
    ]
    return [each for group in over for each in group] if all(over) else []


def _faults(
    standing: _Standing, project: Project, config: Config, rules: Sequence[Named], unread: Collection[str]
) -> Iterator[Diagnostic]:
    directive, names = standing.directive, standing.names
    unknown = [word for word in directive.rules if word not in names.values()]
    if config.runs(UNKNOWN) and (unknown or not directive.rules):
        yield _fault(UNKNOWN, directive, _unknown(unknown, rules), rules)
    # A comment may also suppress what is said of itself, which nobody can know before it is said.
    unused = {
        rule: word
        for rule, word in names.items()
        if config.runs(rule) and rule not in standing.used and rule not in (UNUSED, UNKNOWN)
    }
    if config.runs(UNUSED) and unused and directive.path not in unread:
        edit = without(directive, set(unused.values()), project.text(directive.path))
        fix = Fix(f"take {_listed(unused.values())} out of the comment", Applicability.SAFE, (edit,))
        message = f"The comment suppresses {_listed(unused)}, but nothing of the kind is found here."
        yield _fault(UNUSED, directive, message, rules, fix)


def _unknown(words: Sequence[str], rules: Sequence[Named]) -> str:
    if not words:
        return "The comment names no rule, so it suppresses nothing: write '# idemlint: ignore[RULE] -- reason'."
    known = [word for rule in rules for word in (rule.name, rule.code)]
    meant = {word: nearest(word, known) for word in words}
    said = ", ".join(f"'{word}'" + (f" (did you mean '{near}'?)" if near else "") for word, near in meant.items())
    return f"The comment names what is no rule: {said}."


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"'{word}'" for word in words)


def _fault(rule: str, directive: Directive, message: str, rules: Sequence[Named], fix: Fix | None = None) -> Diagnostic:
    return Diagnostic(
        rule=rule,
        code=one(rule, rules).code,
        severity=Severity.WARNING,
        confidence=Confidence.HIGH,
        message=message,
        span=directive.span,
        fix=fix,
        fingerprint=digest(rule, directive.path, "", " ".join(directive.listed)),
    )
