"""(slice, ordinals) -> places, by reading the slice once more with libcst's positions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from idemlint.syntax.extract import Extractor, parse


@dataclass(frozen=True, slots=True)
class Place:
    """Lines and columns are 1-based code points, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


def locate(text: str, first_line: int, ordinals: Iterable[int]) -> dict[int, Place]:
    """Where the numbered nodes of a slice stand, and their source text. Raises SyntaxProblem."""
    wrapper = MetadataWrapper(parse(text), unsafe_skip_copy=True)
    positions = wrapper.resolve(PositionProvider)
    extractor = Extractor(keep_nodes=True)
    extractor.body(wrapper.module)
    nodes = extractor.nodes or []
    lost = lost_feeds(text, wrapper.module)
    shift = first_line - 1
    places: dict[int, Place] = {}
    for ordinal in ordinals:
        node = nodes[ordinal]
        span = positions[node]
        places[ordinal] = Place(
            span.start.line + shift,
            span.start.column + lost.get(span.start.line, 0) + 1,
            span.end.line + shift,
            span.end.column + lost.get(span.end.line, 0) + 1,
            wrapper.module.code_for_node(node),
        )
    return places


def lost_feeds(text: str, module: cst.Module) -> dict[int, int]:
    """How many form feeds at the beginning of a line its columns do not count: the parser drops those before code."""
    if "\f" not in text:
        return {}
    pairs = zip(_LINE_END.split(text), _LINE_END.split(module.code), strict=False)
    return {number: len(line) - len(kept) for number, (line, kept) in enumerate(pairs, 1) if line != kept}


_LINE_END = re.compile(r"\r\n|\r|\n")
