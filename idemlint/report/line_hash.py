"""The hash by which GitHub code scanning knows a line again: `primaryLocationLineHash`.

It must be what `fingerprints.ts` of github/codeql-action computes, to the digit: the upload works it out once more and
warns of every difference.
"""

from __future__ import annotations

import re
import struct
from collections import Counter

_WINDOW = 100
_BASE = 37
_MODULUS = 2**64
_OUTGOING = pow(_BASE, _WINDOW, _MODULUS)
_END = 65535
_LF = 10
_LINE_END = re.compile(r"\r\n?")


def line_hashes(data: bytes) -> tuple[str, ...]:
    """`hash:n` of every line of a file, n counting the lines so far that have the hash.

    Blanks and tabs do not count. A line's hash is over the hundred UTF-16 code units from its start on, those of the
    following lines among them.
    """
    text = data.decode("utf-8", "replace")
    units = _utf16(_without_blanks(text))
    starts = [0, *(index + 1 for index, unit in enumerate(units) if unit == _LF)]
    units += [_END, *[0] * _WINDOW]
    # One hash for the beginning up to each unit; that of a window is the difference of two.
    upto = [0]
    for unit in units:
        upto.append((upto[-1] * _BASE + unit) % _MODULUS)
    seen: Counter[int] = Counter()
    result = []
    for start in starts:
        value = (upto[start + _WINDOW] - upto[start] * _OUTGOING) % _MODULUS
        seen[value] += 1
        result.append(f"{value:x}:{seen[value]}")
    return tuple(result)


def _without_blanks(text: str) -> str:
    # A blank between the two ends keeps them apart, which a plain removal of blanks would not.
    return re.sub(r"[ \t]", "", _LINE_END.sub("\n", text))


def _utf16(text: str) -> list[int]:
    data = text.encode("utf-16-le")
    return list(struct.unpack(f"<{len(data) // 2}H", data))
