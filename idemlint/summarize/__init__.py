"""Program -> summaries: what one run from each root does."""

from __future__ import annotations

from idemlint.catalog import Catalog
from idemlint.domain.summary import Summary
from idemlint.program import Program
from idemlint.progress import Progress, silent, told
from idemlint.summarize.cursors import CursorWalk
from idemlint.summarize.messages import handling
from idemlint.summarize.weights import Weights


def summarize(program: Program, catalog: Catalog, progress: Progress = silent) -> tuple[Summary, ...]:
    """One summary a root, in the order of `program.roots`."""
    weights = Weights(program, catalog)
    roots = told(program.roots, "following what they do", progress)
    return tuple(CursorWalk(program, catalog, root, weights).run() for root in roots)


__all__ = ["handling", "summarize"]
