"""Program -> summaries: what one run from each root does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from idemlint.catalog import Catalog
from idemlint.domain.summary import Summary
from idemlint.processes import Beside
from idemlint.program import Program, Root
from idemlint.progress import Progress, silent, told
from idemlint.summarize.cursors import CursorWalk
from idemlint.summarize.messages import handling
from idemlint.summarize.weights import Weights


def summarize(
    program: Program, catalog: Catalog, progress: Progress = silent, beside: Beside | None = None
) -> tuple[Summary, ...]:
    """One summary a root, in the order of `program.roots`. `beside` does `from_the_last`: where the two meet,
    all is done."""
    follow = _following(program, catalog)
    found: list[Summary] = []
    for root in told(program.roots, "following what they do", progress):
        known = beside.take(len(found)) if beside is not None else None
        found.append(known or follow(root))
    return tuple(found)


def from_the_last(program: Program, catalog: Catalog) -> Iterator[tuple[int, Summary]]:
    """Positions of roots with their summaries, backwards."""
    follow = _following(program, catalog)
    for index, root in reversed(list(enumerate(program.roots))):
        yield index, follow(root)


def _following(program: Program, catalog: Catalog) -> Callable[[Root], Summary]:
    """What gives the summary of a root. What runs beside a task does the same beside each: a hook of a class that
    hundreds of tasks share is followed once for each framework."""
    weights = Weights(program, catalog)
    beside: dict[tuple[str, str], Summary] = {}

    def follow(root: Root) -> Summary:
        if root.companion is None or root.task is None:
            return CursorWalk(program, catalog, root, weights).run()
        alike = (root.body, program.tasks[root.task].framework)
        if alike not in beside:
            beside[alike] = CursorWalk(program, catalog, root, weights).run()
        return replace(beside[alike], root=root)

    return follow


__all__ = ["handling", "summarize"]
