"""(slice, ordinals) -> places, by reading the slice once more with libcst's positions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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
    shift = first_line - 1
    places: dict[int, Place] = {}
    for ordinal in ordinals:
        node = nodes[ordinal]
        span = positions[node]
        places[ordinal] = Place(
            span.start.line + shift,
            span.start.column + 1,
            span.end.line + shift,
            span.end.column + 1,
            wrapper.module.code_for_node(node),
        )
    return places
