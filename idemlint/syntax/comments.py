"""Source text -> the comments in it and the lines each speaks about, from the tree: a `#` in a string is none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from idemlint.syntax.extract import SyntaxProblem, parse
from idemlint.syntax.locate import lost_feeds
from idemlint.syntax.split import Piece, split

_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment: its text from the `#` on, its 1-based line and column, and its offset in the module, in code points.

    `trailing` says that code stands before it on its line. `last` is the last line it speaks about, the first being
    its own. That of a trailing comment is its own line; that of a comment on a line of its own is the end of the
    statement after it (of the whole function when it stands before or among its decorators; inside brackets, the next
    line of code), or its own line where nothing follows in its block.
    """

    text: str
    line: int
    column: int
    offset: int
    trailing: bool
    last: int


def comments(text: str, marks: Sequence[str]) -> tuple[Comment, ...]:
    """The comments of the module `text` that hold one of `marks`, in order. SyntaxProblem if they cannot be told.

    Only the top-level statements with a mark in them are parsed, each with the next: a comment before a statement may
    be cut off with the one before it.
    """
    pieces = split(text)
    marked = [index for index, piece in enumerate(pieces) if _holds(piece.text, marks)]
    try:
        return tuple(found for run in _runs(marked, pieces) for found in _read(*run, marks))
    except SyntaxProblem:
        return tuple(_read(text, 1, 0, marks))


def _holds(text: str, marks: Iterable[str]) -> bool:
    return any(mark in text for mark in marks)


def _runs(marked: Iterable[int], pieces: Sequence[Piece]) -> Iterator[tuple[str, int, int]]:
    """Stretches of pieces that hold each marked one and the one after it: text, first line, offset."""
    wanted = sorted({near for index in marked for near in (index, index + 1) if near < len(pieces)})
    while wanted:
        length = next((n for n in range(1, len(wanted)) if wanted[n] != wanted[0] + n), len(wanted))
        run = [pieces[index] for index in wanted[:length]]
        yield "".join(piece.text for piece in run), run[0].line, run[0].offset
        wanted = wanted[length:]


def _read(text: str, first_line: int, offset: int, marks: Iterable[str]) -> Iterator[Comment]:
    wrapper = MetadataWrapper(parse(text), unsafe_skip_copy=True)
    positions = wrapper.resolve(PositionProvider)
    lost = lost_feeds(text, wrapper.module)
    reader = _Reader()
    wrapper.module.visit(reader)
    starts = [0, *(found.end() for found in _LINE_END.finditer(text))]
    for comment in reader.comments:
        if not _holds(comment.value, marks):
            continue
        line = positions[comment].start.line
        column = positions[comment].start.column + lost.get(line, 0)
        start = starts[line - 1]
        trailing = not text[start : start + column].isspace() and column > 0
        if trailing or comment in reader.closing:
            last = line
        elif comment in reader.before:
            last = max(positions[reader.before[comment]].end.line, line)
        else:
            last = _next_code(text, starts, line)
        shift = first_line - 1
        yield Comment(comment.value, line + shift, column + 1, offset + start + column, trailing, last + shift)


def _next_code(text: str, starts: Sequence[int], line: int) -> int:
    for number in range(line + 1, len(starts) + 1):
        end = starts[number] if number < len(starts) else len(text)
        code = text[starts[number - 1] : end].strip()
        if code and not code.startswith("#"):
            return number
    return line


class _Reader(cst.CSTVisitor):
    """Notes every comment, the node it stands before if any, and those that end a block."""

    def __init__(self) -> None:
        super().__init__()
        self.comments: list[cst.Comment] = []
        self.before: dict[cst.Comment, cst.CSTNode] = {}
        self.closing: set[cst.Comment] = set()

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Comment):
            self.comments.append(node)
        elif isinstance(node, cst.Module):
            for line in node.header if node.body else ():
                self._stands_before(line, node.body[0])
        for decorator in getattr(node, "decorators", ()):
            for line in decorator.leading_lines:
                self._stands_before(line, node)
        for field in ("leading_lines", "lines_after_decorators"):
            for line in getattr(node, field, ()):
                self._stands_before(line, node)
        for line in getattr(node, "footer", ()):
            if line.comment is not None:
                self.closing.add(line.comment)
        return True

    def _stands_before(self, line: cst.EmptyLine, node: cst.CSTNode) -> None:
        if line.comment is not None:
            self.before.setdefault(line.comment, node)
