"""How deeply code nests, counted before it is parsed: the parser recurses on the machine's stack, which kills the
process where it ends, and takes the square of the depth in time."""

from __future__ import annotations

import re

from idemlint.syntax.strings import OPENER, string_end

BRACKETS = 200
"""The interpreter takes no brackets nested deeper."""

CHAIN = 1_000
"""Operators, attributes, calls or `elif` in a row; the interpreter's compiler takes three times as many."""

_TOKEN = re.compile(
    rf"""(?P<string>{OPENER})|(?P<open>[(\[{{])|(?P<close>[)\]}}])|\#[^\r\n]*|\\\r\n|\\.|(?P<end>\r\n|\r|\n|;)|(?P<comma>,)
    |(?P<elif>\belif\b)|(?P<signs>[-+*/%@&|^~<>.=!]+)|(?P<word>\b(?:not|and|or|in|is|if|for|await|lambda|yield)\b)""",
    re.DOTALL | re.VERBOSE,
)


def too_deep(text: str) -> int | None:
    """The offset at which code nests too deeply to be parsed; None where it nowhere does."""
    if len(text) < 2 * BRACKETS or (len(text) < 2 * CHAIN and sum(map(text.count, "([{")) <= BRACKETS):
        return None
    chains = [0]
    position = branches = 0
    while found := _TOKEN.search(text, position):
        start, position = found.span()
        match found.lastgroup:
            case "string":
                position = string_end(text, position, found.group()) or position
            case "open":
                chains[-1] += 1
                chains.append(0)
            case "close" if len(chains) > 1:
                chains.pop()
            case "end" if len(chains) == 1:
                chains[-1] = 0
            case "comma":
                chains[-1] = 0
            case "signs":
                chains[-1] += position - start
            case "word":
                chains[-1] += 1
            case "elif":
                branches += 1
        if len(chains) > BRACKETS + 1 or chains[-1] > CHAIN or branches > CHAIN:
            return start
    return None
