"""A file as a SARIF document speaks of it: regions on one line, in UTF-16 code units, and their text."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from idemlint.diagnostic import Edit, Span

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
_AROUND = 2


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a file, without a byte order mark, in lines with their ends (those of Python: not the form feeds and
    separators that `str.splitlines` knows)."""

    text: str
    lines: tuple[str, ...] = field(init=False, repr=False)
    starts: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        lines = _LINE.findall(self.text)
        object.__setattr__(self, "lines", tuple(lines))
        # The last start is the end of the text, where a line may yet be written.
        object.__setattr__(self, "starts", tuple(accumulate(map(len, lines), initial=0)))

    def region(self, span: Span) -> dict[str, Any]:
        """The part of a span on its first line: an annotation is only shown where all lines of a region changed."""
        line = self._line(span.line).rstrip()
        begin = min(span.column - 1, len(line))
        end = min(span.end_column - 1, len(line)) if span.end_line == span.line else len(line)
        return {
            "startLine": span.line,
            "startColumn": _units(line[:begin]) + 1,
            "endLine": span.line,
            "endColumn": _units(line[:end]) + 1,
            "snippet": {"text": line[begin:end]},
        }

    def context(self, span: Span) -> dict[str, Any]:
        """The lines around the first line of a span."""
        first = max(span.line - _AROUND, 1)
        last = max(min(span.line + _AROUND, len(self.lines)), first)
        return {
            "startLine": first,
            "endLine": last,
            "snippet": {"text": "".join(self.lines[first - 1 : last])},
        }

    def whole_line(self, path: str, number: int) -> Span:
        """The span of what is written on a line."""
        line = self._line(number)
        return Span(path, number, len(line) - len(line.lstrip()) + 1, number, len(line.rstrip()) + 1)

    def deleted(self, edit: Edit) -> dict[str, Any]:
        """The region that an edit replaces."""
        (line, column), (end_line, end_column) = self._position(edit.start), self._position(edit.end)
        return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}

    def _line(self, number: int) -> str:
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def _position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self.starts, offset)
        if line > len(self.lines) and not self.text.endswith(("\r", "\n")):
            line = max(len(self.lines), 1)
        return line, _units(self.text[self.starts[line - 1] : offset]) + 1


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
