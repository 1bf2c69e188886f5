"""Cut a module into its top-level statements by lines alone, so that only those that matter need be parsed.

The cut costs a thousandth of a parse: it follows strings, brackets and backslashes. In a file that does not parse, a
function or class at the first column starts a piece whatever was left open before it, so the fault stays where it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import reduce

from idemlint.syntax.strings import OPENER, string_end

# A string opener with its prefix, a bracket, a comment or a line end: everything else cannot change where we stand.
_TOKEN = re.compile(rf"(?P<string>{OPENER})|[()\[\]{{}}]|\#[^\r\n]*|\\\r\n|\\.|\r\n|\r|\n", re.DOTALL)
_LINE_END = re.compile(r"\r\n|\r|\n")
# Whole lines that begin with a blank or a comment, as long as it is plain where their strings and brackets end: nothing
# starts in them, so they are passed at once. A formatted string may hold quotes of its own, so it is not plain.
_NOT_FORMATTED = r"(?<![fFtT])(?<![fFtT][rRbB])"
_STRING = (
    rf"""{_NOT_FORMATTED}(?:"(?!"")(?:[^"\\\r\n]++|\\[^\r\n])*+"|'(?!'')(?:[^'\\\r\n]++|\\[^\r\n])*+'"""
    rf"""|\"{{3}}(?:[^"\\]++|\\.|"(?!""))*+\"{{3}}|'{{3}}(?:[^'\\]++|\\.|'(?!''))*+'{{3}})"""
)
_CODE = r"""[^"'()\[\]{}\\\#\r\n\f]++"""
_WITHIN = rf"{_CODE}|{_STRING}|(?:\#[^\r\n\f]*+)?(?:\r\n|\r|\n)(?=[ \t)\]}}])"
_BRACKETS = reduce(lambda inner, _: rf"[(\[{{](?:{_WITHIN}|{inner})*+[)\]}}]", range(3), r"[(\[{][)\]}]")
_INDENTED = re.compile(
    rf"(?:(?=[ \t\#\r\n])(?:{_CODE}|{_STRING}|{_BRACKETS})*+(?:\#[^\r\n\f]*+)?(?:\r\n|\r|\n))++", re.DOTALL
)
# A name is whatever stands up to what may follow one: `\w` leaves out marks that names may hold.
_DEFINITION = r"(?:async[ \t]+def|def|class)[ \t]+([^\s()\[\]:\\#]+)"
_DEFINED = re.compile(rf"(?:\s|\#[^\r\n]*)*+(?:@.*?(?<=[\r\n\f]))?{_DEFINITION}", re.DOTALL)
# No expression in brackets goes on with these.
_ANEW = re.compile(rf"(?:@[^\r\n]*[\r\n]+)*{_DEFINITION}")
_CONTINUES = re.compile(r"(?:else|elif|except|finally)\b")
# A form feed sets the column back to the first.
_FEED = re.compile(r"(?:[ \t]*\f)*")


@dataclass(frozen=True, slots=True)
class Piece:
    """One top-level statement: its text, the 1-based line it starts on, its offset in code points, and the name it
    defines when it is a function or a class (None otherwise)."""

    text: str
    line: int
    offset: int
    defines: str | None


def split(text: str) -> tuple[Piece, ...]:
    """Pieces that put together give `text` again. Comments and blank lines go with the statement before them, those at
    the top with the first."""
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


def _statement_starts(text: str) -> list[int]:
    """Offsets of the lines on which a top-level statement starts."""
    starts: list[int] = []
    depth = 0
    position = 0
    decorated = False
    fresh = True
    while position < len(text):
        if fresh and depth and _ANEW.match(text, position):
            depth = 0
        if fresh and depth == 0 and (indented := _INDENTED.match(text, position)):
            position = indented.end()
        if fresh and depth == 0:
            column = _FEED.match(text, position)
            after = column.end() if column else position
            first = text[after : after + 1]
            if first == "@":
                if not decorated:
                    starts.append(position)
                decorated = True
            elif first not in " \t\r\n#\\)]}":
                if not decorated and not _CONTINUES.match(text, after):
                    starts.append(position)
                decorated = False
        fresh = False
        found = _TOKEN.search(text, position)
        if found is None:
            break
        position = found.end()
        token = found.group()
        if quote := found.group("string"):
            position = string_end(text, position, quote) or position
        elif token in "([{":
            depth += 1
        elif token in ")]}":
            depth = max(depth - 1, 0)
        elif token[0] in "\r\n":
            fresh = True
    return starts


def _defined(chunk: str) -> str | None:
    found = _DEFINED.match(chunk)
    return found.group(1) if found else None
