"""Where a string literal ends, be it one with replacement fields that hold strings with the same quotes."""

from __future__ import annotations

import re

OPENER = r"""[rbuftRBUFT]{0,2}(?:\"{3}|'{3}|"|')"""
"""The prefix and quotes that a string starts with, as a part of a pattern."""

_ENDS = {
    '"""': re.compile(r'(?:[^"\\]++|\\.|"(?!""))*+"""', re.DOTALL),
    "'''": re.compile(r"(?:[^'\\]++|\\.|'(?!''))*+'''", re.DOTALL),
    '"': re.compile(r'(?:[^"\\\r\n]++|\\\r\n|\\.)*+"', re.DOTALL),
    "'": re.compile(r"(?:[^'\\\r\n]++|\\\r\n|\\.)*+'", re.DOTALL),
}
# Text of a formatted string up to the next replacement field or the end of the string.
_TEXTS = {
    '"""': re.compile(r'(?:[^"\\{}]++|\\.|\{\{|\}|"(?!""))*+', re.DOTALL),
    "'''": re.compile(r"(?:[^'\\{}]++|\\.|\{\{|\}|'(?!''))*+", re.DOTALL),
    '"': re.compile(r'(?:[^"\\{}\r\n]++|\\\r\n|\\.|\{\{|\})*+', re.DOTALL),
    "'": re.compile(r"(?:[^'\\{}\r\n]++|\\\r\n|\\.|\{\{|\})*+", re.DOTALL),
}
_IN_FIELD = re.compile(rf"(?P<string>{OPENER})|[()\[\]{{}}:]|\#[^\r\n]*")
_IN_SPECIFICATION = re.compile(r"[{}]")

# The interpreter itself goes no deeper.
_NESTED = 150


def string_end(text: str, start: int, opener: str, depth: int = 0) -> int | None:
    """The offset behind the string whose `opener` ends at `start`; None where it is not closed."""
    quote = opener.lstrip("rbuftRBUFT")
    plain = _ENDS[quote].match(text, start)
    if not set(opener) & set("fFtT"):
        return plain.end() if plain else None
    # Before Python 3.12 a field could not hold the quotes of its string, so the plain end is the right one.
    if plain and text.count("{", start, plain.end()) == text.count("}", start, plain.end()):
        return plain.end()
    end = _formatted_end(text, start, quote, depth) if depth < _NESTED else None
    # A guess is made for the outermost string only: guesses within guesses would have no end.
    return plain.end() if end is None and plain and not depth else end


def _formatted_end(text: str, start: int, quote: str, depth: int) -> int | None:
    position: int | None = start
    while position is not None:
        found = _TEXTS[quote].match(text, position)
        position = found.end() if found else position
        if text.startswith(quote, position):
            return position + len(quote)
        position = _field_end(text, position + 1, depth) if text.startswith("{", position) else None
    return None


def _field_end(text: str, start: int, depth: int) -> int | None:
    """The offset behind the brace that closes the replacement field whose first character is at `start`."""
    position, brackets = start, 1
    while found := _IN_FIELD.search(text, position):
        position = found.end()
        token = found.group()
        if opener := found.group("string"):
            end = string_end(text, position, opener, depth + 1)
            if end is None:
                return None
            position = end
        elif token in "([{":
            brackets += 1
        elif token in ")]}":
            brackets -= 1
            if not brackets:
                return position
        elif token == ":" and brackets == 1:
            return _specification_end(text, position, depth + 1)
    return None


def _specification_end(text: str, start: int, depth: int) -> int | None:
    position: int | None = start
    while position is not None and (found := _IN_SPECIFICATION.search(text, position)):
        if found.group() == "}":
            return found.end()
        position = _field_end(text, found.end(), depth) if depth < _NESTED else None
    return None
