"""TOML in the words of messages: which line a key stands on, and what is wrong with a text that does not parse. The
parser of the standard library tells neither in a form that an editor can jump to."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

Steps = tuple[str | int, ...]

_LONG = re.compile(r'"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'')
_NAME = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_NAMES = rf"{_NAME}(?:\s*\.\s*{_NAME})*"
_HEADER = re.compile(rf"\s*(?P<open>\[\[?)\s*(?P<names>{_NAMES})\s*\]")
_KEY = re.compile(rf"\s*(?P<names>{_NAMES})\s*=")
_STEP = re.compile(r'\[(\d+)\]|"([^"]*)"|([^.\[\]]+)')


def line_of(text: str, key: str) -> int:
    """The line of `effect[0].when[1].kind` in the text of a file that parses, or of the nearest thing around it that
    has a line of its own; the first line if there is none."""
    steps: Steps = tuple(int(index) if index else quoted or name for index, quoted, name in _STEP.findall(key))
    places: dict[Steps, int] = {}
    for place, line in _places(text):
        places.setdefault(place, line)
    return next((places[steps[:length]] for length in range(len(steps), 0, -1) if steps[:length] in places), 1)


def fault(text: str, error: tomllib.TOMLDecodeError) -> tuple[int, str]:
    """The line on which a text stops being TOML (its last with words, if it ends too soon), and what is wrong."""
    said, _, place = str(error).partition(" (at ")
    line = re.match(r"line (\d+)", place)
    return int(line[1]) if line else text.rstrip().count("\n") + 1, said


def _places(text: str) -> Iterator[tuple[Steps, int]]:
    """The tables and keys of a text, each with its line."""
    short = _LONG.sub(lambda found: "\n" * found[0].count("\n"), text)
    table: Steps = ()
    counts: dict[Steps, int] = {}
    for number, line in enumerate(short.split("\n"), 1):
        header, key = _HEADER.match(line), _KEY.match(line)
        if header is not None:
            *outer, last = _split(header["names"])
            table = ()
            for name in outer:
                table = _inside((*table, name), counts)
            table = (*table, last)
            if header["open"] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = _inside(table, counts)
            yield from ((table[:length], number) for length in range(len(table), 0, -1))
        elif key is not None:
            place = (*table, *_split(key["names"]))
            yield from ((place[:length], number) for length in range(len(place), len(table), -1))


def _inside(table: Steps, counts: dict[Steps, int]) -> Steps:
    """The member of a list of tables that is being written, or the table itself where it is no list."""
    return (*table, counts[table]) if table in counts else table


def _split(names: str) -> list[str]:
    return [name.strip("\"' \t") for name in re.findall(_NAME, names)]
