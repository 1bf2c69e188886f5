"""Text from a stranger's code, made safe to print."""

from __future__ import annotations

import unicodedata

_INVISIBLE = frozenset({"Cc", "Cs", "Zl", "Zp"})
_REORDERING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    """`text` with control characters, line ends and marks that reorder what follows written as escapes, so that it
    stays on one line and cannot speak to the terminal. All else is kept."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(character) for character in text)


def _escaped(character: str) -> str:
    if unicodedata.category(character) in _INVISIBLE or character in _REORDERING:
        return character.encode("unicode_escape").decode("ascii")
    return character
