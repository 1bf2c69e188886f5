"""Whether a module parses at all, for a tenth of what parsing it costs."""

from __future__ import annotations

import re
import symtable
import warnings
from typing import TypeAlias

from idemlint.syntax.extract import SyntaxProblem, parse
from idemlint.syntax.split import split

Fault: TypeAlias = tuple[int, int, str]
"""Line, column and reason."""


def fault(text: str) -> Fault | None:
    """The line, column and reason of the first thing in the module `text` that is no Python; None where it all is.

    The interpreter that runs idemlint is quick and asked first. What it refuses may only be newer than it is, so the
    parser of the facts judges, on those top-level statements that the interpreter does not take. The reason is that of
    the interpreter, which says more.
    """
    if _refused(text) is None:
        return None
    for piece in split(text):
        refused = _refused(piece.text)
        if refused is None:
            continue
        try:
            parse(piece.text)
        except SyntaxProblem as problem:
            line, column, reason = refused if refused[2] else (problem.line, problem.column, problem.message)
            return line + piece.line - 1, max(column, 1), reason
    return None


def _refused(text: str) -> Fault | None:
    """What the interpreter has against a text, without a reason where it gives up; None where it takes it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            # Of all that parses without making a tree of Python objects this does the least beyond it.
            symtable.symtable(text, "<source>", "exec")
        except (SyntaxError, ValueError) as error:
            if "\0" in text:
                before = _LINE_END.split(text.partition("\0")[0])
                return len(before), len(before[-1]) + 1, "a null byte is no source code"
            message = _LINE.sub("", str(getattr(error, "msg", "")).partition(". ")[0])
            return getattr(error, "lineno", None) or 1, getattr(error, "offset", None) or 1, _lowered(message)
        except (RecursionError, MemoryError):
            return 1, 1, ""
    return None


def _lowered(message: str) -> str:
    """Without a capital, as it stands within a sentence; names in capitals stay as they are."""
    return message[:1].lower() + message[1:] if message[1:2].islower() else message


# Lines are counted in the statement, so another line that a reason names is not that of the file.
_LINE = re.compile(r" \(detected at line \d+\)| on line \d+")
_LINE_END = re.compile(r"\r\n|\r|\n")
