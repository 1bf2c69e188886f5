"""Findings -> diagnostics: sites become places, the code they name is quoted, one finding stands for all its tasks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from idemlint.diagnostic import Confidence, Diagnostic, Reason, Severity, Span, Step, StepKind, TaskName
from idemlint.program import Program, Site, Task
from idemlint.project import Project
from idemlint.replay import Finding, Mark
from idemlint.syntax.locate import Place, locate
from idemlint.syntax.split import Piece, split

WIDTH = 72
"""Quoted code longer than this loses the inside of its innermost brackets."""


class Places:
    """Where sites stand, worked out for the slices that a report names and no others."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._pieces: dict[str, tuple[Piece, ...]] = {}
        self._wanted: dict[tuple[str, int], set[int]] = {}
        self._found: dict[tuple[str, int], dict[int, Place]] = {}

    def want(self, sites: Iterable[Site | None]) -> None:
        """Say which sites will be asked for, so that each slice is read once."""
        for site in sites:
            if site is not None:
                self._wanted.setdefault((site.path, site.piece), set()).add(site.at)

    def at(self, site: Site) -> Place:
        """The place of a site."""
        key = (site.path, site.piece)
        if site.at not in self._found.get(key, {}):
            if site.path not in self._pieces:
                self._pieces[site.path] = split(self._project.text(site.path))
            piece = self._pieces[site.path][site.piece]
            wanted = self._wanted.get(key, set()) | {site.at}
            self._found[key] = locate(piece.text, piece.line, sorted(wanted))
        return self._found[key][site.at]

    def span(self, site: Site) -> Span:
        place = self.at(site)
        return Span(site.path, place.line, place.column, place.end_line, place.end_column)

    def code(self, site: Site) -> str:
        """The code at a site, on one line and short enough for a step."""
        return shorten(uncommented(self.at(site).text))


def place(found: Iterable[Finding], program: Program, places: Places, codes: Mapping[str, str]) -> list[Diagnostic]:
    """Diagnostics in order of path, line, column and rule. `codes` are the rules' codes by name."""
    groups: dict[tuple[str, Site], list[Finding]] = {}
    for finding in found:
        groups.setdefault((finding.rule, finding.site), []).append(finding)
    ordered = [sorted(group, key=lambda finding: loudness(finding, program)) for group in groups.values()]
    for group in ordered:
        places.want((group[0].site, *(mark.site for mark in group[0].steps)))
        places.want(program.tasks[finding.task].site for finding in group if finding.task is not None)
    diagnostics = [diagnostic(group, program, places, codes) for group in ordered]
    diagnostics.extend(unreadable(program, codes))
    diagnostics.sort(key=lambda item: (item.span, item.rule))
    return numbered(diagnostics)


def loudness(finding: Finding, program: Program) -> tuple[int, int, str, int, int]:
    """Of findings about one effect the loudest comes first, then that of the first task by path and place."""
    task = program.tasks.get(finding.task or "")
    site = task.site if task is not None else finding.site
    return (-finding.severity, -finding.confidence, site.path, site.piece, site.at)


def name_of(task: Task, places: Places) -> TaskName:
    return TaskName(task.name, task.function, task.site.path, places.at(task.site).line, task.framework)


def diagnostic(group: list[Finding], program: Program, places: Places, codes: Mapping[str, str]) -> Diagnostic:
    """One effect reached from several tasks is told once, under the first."""
    first = group[0]
    names = [name_of(program.tasks[finding.task], places) for finding in group if finding.task is not None]
    task = names[0] if names and first.task is not None else None
    rest = {name for name in names if name != task}
    steps = tuple(step(mark, places) for mark in first.steps)
    cause = next((item for item in steps if item.kind is StepKind.CAUSE), None)
    code = re.sub(r"\s+", "", uncommented(places.at(first.site).text))
    return Diagnostic(
        rule=first.rule,
        code=codes[first.rule],
        severity=first.severity,
        confidence=first.confidence,
        message=first.message,
        span=places.span(first.site),
        task=task,
        other_tasks=tuple(sorted(rest, key=lambda name: (name.path, name.line, name.function))),
        causes=(Reason(cause.text, *(_where(cause))),) if cause is not None and task is not None else (),
        steps=steps,
        fix=first.fix,
        fingerprint=digest(first.rule, first.site.path, first.about.partition(":")[2], code),
    )


def _where(cause: Step) -> tuple[str | None, int | None]:
    return (cause.span.path, cause.span.line) if cause.span is not None else (None, None)


def step(mark: Mark, places: Places) -> Step:
    """A step with its place and the code it quotes."""
    if mark.site is None:
        return Step(mark.kind, mark.text)
    return Step(mark.kind, mark.text.replace("{code}", places.code(mark.site)), places.span(mark.site))


def unreadable(program: Program, codes: Mapping[str, str]) -> list[Diagnostic]:
    """A finding for each place where a file could not be read or parsed."""
    return [
        Diagnostic(
            rule="unparsable-file",
            code=codes["unparsable-file"],
            severity=Severity.ERROR,
            confidence=Confidence.HIGH,
            message=f"This file is not checked: {reason}.",
            span=Span(path, line, column, line, column + 1),
            fingerprint=digest("unparsable-file", path, "", ""),
        )
        for path, line, column, reason in program.unread
    ]


def digest(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=10).hexdigest()


def numbered(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """Equal fingerprints get a number each, in order."""
    seen: dict[str, int] = {}
    result: list[Diagnostic] = []
    for item in diagnostics:
        count = seen[item.fingerprint] = seen.get(item.fingerprint, 0) + 1
        result.append(item if count == 1 else replace(item, fingerprint=digest(item.fingerprint, str(count))))
    return result


def uncommented(code: str) -> str:
    """Code without its comments: on one line they would swallow the rest, and they change nothing of what it does."""
    return _STRING_OR_COMMENT.sub(lambda found: "" if found.group().startswith("#") else found.group(), code)


_STRING_OR_COMMENT = re.compile(
    r"""(\"{3}|'{3})(?:\\.|(?!\1).)*\1|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|#[^\r\n]*""", re.DOTALL
)


_STATEMENT = re.compile(
    r"""[rRfFbBuU]*(\"{3}|'{3}|"|') ?((?:SELECT|INSERT|UPDATE|DELETE|WITH|REPLACE) (?:(?!\1).)+)""", re.IGNORECASE
)


_PART = re.compile(r"""[rbfuRBFU]*("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|[()\[\]{}]|[^()\[\]{}"']+""")


def shorten(code: str) -> str:
    """Code on one line; when too long, the inside of brackets gives way to dots, the innermost last arguments first. A
    statement that comes first keeps its beginning."""
    flat = re.sub(r"\s+", " ", code).strip()
    flat = re.sub(r"([(\[{]) | (?=[)\]}])", r"\1", flat)
    flat = flat.removeprefix("@")
    if len(flat) <= WIDTH:
        return flat
    head, bracket, inside = flat.partition("(")
    if not bracket:
        return flat[: WIDTH - 3] + "..."
    kept = re.sub(r"(\w+)=(?:[^,()\[\]{}]|\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\})*", r"\1=...", inside)
    if len(head) + len(kept) + 1 <= WIDTH:
        return f"{head}({kept}"
    text = _STATEMENT.match(inside)
    if text is not None and len(head) < WIDTH // 2:
        room = WIDTH - len(head) - len('("...")')
        return f'{head}("{text[2][:room].rstrip()}...")'
    emptied = _emptied(flat)
    return emptied if len(emptied) <= WIDTH else f"{head[: WIDTH - 5]}(...)"


def _emptied(flat: str) -> str:
    """Code with dots for what stands in its brackets: of `Mail(text).send(address)` both calls stay."""
    kept: list[str] = []
    depth = 0
    for found in _PART.finditer(flat):
        part = found.group()
        closes = part in (")", "]", "}")
        depth -= closes
        if depth == 0:
            kept.append(part)
        elif depth == 1 and kept[-1] in ("(", "[", "{") and not closes:
            kept.append("...")
        depth += part in ("(", "[", "{")
    return "".join(kept)
