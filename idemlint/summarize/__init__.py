"""Program -> summaries: what one run from each root does."""

from __future__ import annotations

from collections.abc import Iterator

from idemlint.catalog import Catalog
from idemlint.domain.summary import Summary
from idemlint.processes import Beside
from idemlint.program import Program
from idemlint.progress import Progress, silent, told
from idemlint.summarize.cursors import CursorWalk
from idemlint.summarize.messages import handling
from idemlint.summarize.weights import Weights


def summarize(
    program: Program, catalog: Catalog, progress: Progress = silent, beside: Beside | None = None
) -> tuple[Summary, ...]:
    """One summary a root, in the order of `program.roots`. `beside` does `from_the_last`: where the two meet,
    all is done."""
    weights = Weights(program, catalog)
    found: list[Summary] = []
    for root in told(program.roots, "following what they do", progress):
        known = beside.take(len(found)) if beside is not None else None
        found.append(known or CursorWalk(program, catalog, root, weights).run())
    return tuple(found)


def from_the_last(program: Program, catalog: Catalog) -> Iterator[tuple[int, Summary]]:
    """Positions of roots with their summaries, backwards."""
    weights = Weights(program, catalog)
    for index, root in reversed(list(enumerate(program.roots))):
        yield index, CursorWalk(program, catalog, root, weights).run()


__all__ = ["handling", "summarize"]
