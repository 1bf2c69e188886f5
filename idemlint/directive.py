"""What a comment tells idemlint: `# idemlint: ignore[read-modify-write, IDM201] -- reason`, or `# noqa: IDM301`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from idemlint.diagnostic import Edit, Span
from idemlint.syntax.comments import Comment

MARKS = ("idemlint:", "IDM")
"""A file with none of these words holds no directive."""

# Another tool's words may share the comment: `# type: ignore  # idemlint: ignore[...] -- reason  # fmt: skip`.
_REST = r"(?P<rest>(?:(?!\s#\s).)*)"
_IGNORE = re.compile(rf"#\s*idemlint:\s*ignore\b(?:\s*\[(?P<names>[^\]]*)\])?{_REST}")
_NOQA = re.compile(rf"#\s*(?i:noqa)\s*:\s*(?P<names>[A-Za-z]+[0-9]+(?:[,\s]+[A-Za-z]+[0-9]+)*){_REST}")
_OWN_CODE = re.compile(r"IDM[0-9]+")
_NAME = re.compile(r"[^\s,]+")
_BLANKS = re.compile(r"[ \t]*")
_LINE_END = re.compile(r"\r\n|\r|\n|")


@dataclass(frozen=True, slots=True)
class Directive:
    """What a comment asks to ignore, and where: from line `first` to line `last` of the file `path`.

    `statement` says that it speaks about a whole statement, not about one line. `rules` are the rules it names, as it
    names them; `listed` are all names in its list, which may be another tool's, and `names` where the list stands in
    the file. `start` and `end` are the offsets of the directive itself, `span` its place, all in code points. `alone`
    says that nothing else stands on its line.
    """

    path: str
    first: int
    last: int
    statement: bool
    rules: tuple[str, ...]
    listed: tuple[str, ...]
    names: tuple[int, int]
    reason: str
    start: int
    end: int
    span: Span
    alone: bool


def directives(comment: Comment, path: str) -> Iterator[Directive]:
    """The directives in a comment of the file `path`. One that names no rule has no `rules`."""
    for found in _IGNORE.finditer(comment.text):
        listed = tuple(_NAME.findall(found["names"] or ""))
        yield _directive(found, comment, path, listed, listed, statement=not comment.trailing)
    for found in _NOQA.finditer(comment.text):
        listed = tuple(_NAME.findall(found["names"]))
        if own := tuple(name for name in listed if _OWN_CODE.fullmatch(name)):
            yield _directive(found, comment, path, own, listed, statement=False)


def _directive(
    found: re.Match[str],
    comment: Comment,
    path: str,
    rules: tuple[str, ...],
    listed: tuple[str, ...],
    *,
    statement: bool,
) -> Directive:
    text = found.group().rstrip()
    start, column = comment.offset + found.start(), comment.column + found.start()
    return Directive(
        path=path,
        first=comment.line,
        last=comment.last if statement else comment.line,
        statement=statement,
        rules=rules,
        listed=listed,
        names=(comment.offset + found.start("names"), comment.offset + found.end("names")),
        reason=found["rest"].strip().lstrip("-:\u2013\u2014 "),
        start=start,
        end=start + len(text),
        span=Span(path, comment.line, column, comment.line, column + len(text)),
        alone=not comment.trailing and text == comment.text.rstrip(),
    )


def without(directive: Directive, unwanted: Collection[str], text: str) -> Edit:
    """The edit of the file `text` that takes the rules `unwanted` out of a directive, or the whole of it when it would
    be left with none."""
    kept = [name for name in directive.listed if name not in unwanted]
    if kept:
        return Edit(directive.path, *directive.names, ", ".join(kept))
    return Edit(directive.path, *_stretch(directive, text), "")


def _stretch(directive: Directive, text: str) -> tuple[int, int]:
    """Where a directive stands, with the blanks that would be left hanging: its whole line where it stands alone."""
    start = directive.start
    end = _end(_BLANKS, text, directive.end)
    line_end = _end(_LINE_END, text, end)
    if line_end == end < len(text):
        return start, end
    return len(text[:start].rstrip(" \t")), line_end if directive.alone else end


def _end(pattern: re.Pattern[str], text: str, start: int) -> int:
    found = pattern.match(text, start)
    return found.end() if found else start
