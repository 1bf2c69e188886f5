"""Cut a module into its top-level statements by lines alone, so that only those that matter need be parsed.

The cut is a guess that costs a thousandth of a parse: it follows strings, brackets and backslashes. A slice that turns
out not to parse is no verdict on the file: the caller then parses the whole text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

# A string opener with its prefix, a bracket, a comment or a line end: everything else cannot change where we stand.
_TOKEN = re.compile(
    r"""(?P<string>[rbuftRBUFT]{0,2}(?:\"\"\"|'''|"|'))|[()\[\]{}]|\#[^\r\n]*|\\\r\n|\\.|\r\n|\r|\n""", re.DOTALL
)
_ENDS = {
    '"""': re.compile(r'(?:[^"\\]|\\.|"(?!""))*"""', re.DOTALL),
    "'''": re.compile(r"(?:[^'\\]|\\.|'(?!''))*'''", re.DOTALL),
    '"': re.compile(r'(?:[^"\\\r\n]|\\\r\n|\\.)*"', re.DOTALL),
    "'": re.compile(r"(?:[^'\\\r\n]|\\\r\n|\\.)*'", re.DOTALL),
}
_DEFINITION = re.compile(r"(?:async[ \t]+def|def|class)[ \t]+(\w+)")
_DECORATED = re.compile(r"^(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)
_CONTINUES = re.compile(r"(?:else|elif|except|finally)\b")


@dataclass(frozen=True, slots=True)
class Piece:
    """One top-level statement: its text, the 1-based line it starts on, its offset in code points, and the name it
    defines when it is a function or a class (None otherwise)."""

    text: str
    line: int
    offset: int
    defines: str | None


def split(text: str) -> tuple[Piece, ...]:
    """Pieces that put together give `text` again. Leading comments and blank lines go with the statement after them."""
    starts = _statement_starts(text)
    if not starts:
        return (Piece(text, 1, 0, None),)
    starts[0] = 0
    pieces: list[Piece] = []
    line = 1
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        chunk = text[start:end]
        pieces.append(Piece(chunk, line, start, _defined(chunk)))
        line += len(_LINE_END.findall(chunk))
    return tuple(pieces)


_LINE_END = re.compile(r"\r\n|\r|\n")


def _statement_starts(text: str) -> list[int]:
    """Offsets of the lines on which a top-level statement starts."""
    starts: list[int] = []
    depth = 0
    position = 0
    decorated = False
    fresh = True
    while position < len(text):
        if fresh and depth == 0:
            first = text[position]
            if first == "@":
                if not decorated:
                    starts.append(position)
                decorated = True
            elif first not in " \t\f\r\n#\\)]}":
                if not decorated and not _CONTINUES.match(text, position):
                    starts.append(position)
                decorated = False
        fresh = False
        found = _TOKEN.search(text, position)
        if found is None:
            break
        position = found.end()
        token = found.group()
        if quote := found.group("string"):
            end = _ENDS[quote.lstrip("rbuftRBUFT")].match(text, position)
            position = end.end() if end else position
        elif token in "([{":
            depth += 1
        elif token in ")]}":
            depth = max(depth - 1, 0)
        elif token[0] in "\r\n":
            fresh = True
    return starts


def _defined(chunk: str) -> str | None:
    body = chunk.lstrip()
    while body.startswith("#"):
        body = body.partition("\n")[2].lstrip()
    found = _DECORATED.search(body) if body.startswith("@") else _DEFINITION.match(body)
    return found.group(1) if found else None
