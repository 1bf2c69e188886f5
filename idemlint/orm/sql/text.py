"""Statement text as programs write it: where its parameters and holes are, where one ends and the next begins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LIMIT = 40_000
"""A longer text in a program is data, and not read."""

HOLE = "idm_hole"
"""Stands in prepared text for a part that the program puts in."""

PARAMETER = "idm_p"
"""Starts the name of a parameter in prepared text; its number in `Prepared.parameters` follows."""

_TOKEN = re.compile(
    r"""
      (?P<comment> --[^\n]* | /\*.*?(?:\*/|\Z) )
    | (?P<quoted> [eE]?'(?:''|\\.|[^'\\])*(?:'|\Z) | "(?:""|[^"])*(?:"|\Z) | `[^`]*(?:`|\Z)
               | (?P<tag>\$(?:[A-Za-z_]\w*)?\$).*?(?:(?P=tag)|\Z) )
    | (?P<cast> :: )
    | (?P<percent> %% )
    | (?P<format> %s | %\((?P<key>[^()]*)\)s )
    | (?P<dollar> \$(?P<number>\d+) )
    | (?P<colon> (?<![\w:\]]):(?P<name>[A-Za-z_]\w*) )
    | (?P<mark> \?(?P<place>\d*)(?![|&?]) )
    | (?P<hole> \{[^{}'"]*\} )
    | (?P<end> ; )
    """,
    re.VERBOSE | re.DOTALL,
)
# What a table is in if nobody says otherwise.
_USUAL = frozenset({"public", "main", "dbo"})
_FIRST = re.compile(r"[\s(]*([A-Za-z]+)")


@dataclass(frozen=True, slots=True)
class Prepared:
    """One statement with its parameters numbered: `parameters` says for each which argument it stands for, by position
    or name. `style` is the sign they are written with: "%", "$", ":", "?" or "" for none."""

    text: str
    parameters: tuple[int | str, ...] = ()
    style: str = ""

    @property
    def word(self) -> str:
        """The word the statement begins with, in lower case; "" for text that begins with none."""
        found = _FIRST.match(self.text)
        return found[1].lower() if found else ""


def statements(text: str, limit: int = LIMIT) -> Iterator[Prepared]:
    """The statements in `text`, comments left out; none where it is longer than `limit`. `{}` in it, outside of quotes,
    is a hole."""
    if len(text) > limit:
        return
    style = _style(text)
    parts: list[str] = []
    parameters: list[int | str] = []
    counted = 0
    last = 0

    def ended() -> Iterator[Prepared]:
        written = "".join(parts)
        if written.strip():
            yield Prepared(written.strip(), tuple(parameters), style)
        parts.clear()
        parameters.clear()

    for found in _TOKEN.finditer(text):
        parts.append(text[last : found.start()])
        last = found.end()
        given: int | str | None = None
        if found["comment"]:
            parts.append(" ")
        elif found["percent"]:
            parts.append("%" if style == "%" else found.group())
        elif found["hole"]:
            parts.append(HOLE)
        elif found["end"]:
            yield from ended()
        elif found["key"] is not None and style == "%":
            given = found["key"]
        elif (found["format"] and style == "%") or (found["mark"] and style == "?" and not found["place"]):
            given, counted = counted, counted + 1
        elif found["mark"] and style == "?":
            given = int(found["place"]) - 1
        elif found["dollar"] and style == "$":
            given = int(found["number"]) - 1
        elif found["colon"] and style in (":", "?"):
            given = found["name"]
        else:
            parts.append(found.group())
        if given is not None:
            parts.append(f":{PARAMETER}{len(parameters)} ")
            parameters.append(given)
    parts.append(text[last:])
    yield from ended()


def table_name(written: str) -> str:
    """What a table is known by: in lower case, without quotes and without the schema that all tables are in; "" for a
    name with a hole."""
    parts = [part.strip().strip('"`[]').lower() for part in written.split(".")]
    if any(HOLE in part for part in parts):
        return ""
    return ".".join(parts[1:] if len(parts) > 1 and parts[0] in _USUAL else parts)


def _style(text: str) -> str:
    """The sign that parameters are written with: `?` is an operator where another sign is in use."""
    seen = {name for found in _TOKEN.finditer(text) for name in ("format", "dollar", "colon", "mark") if found[name]}
    signs = (("format", "%"), ("dollar", "$"), ("mark", "?"), ("colon", ":"))
    return next((sign for name, sign in signs if name in seen), "")
