"""The calls into libraries that the catalog knows nothing of, those most worth a row first."""

from __future__ import annotations

from collections.abc import Sequence

from idemlint.diagnostic import UnknownCall
from idemlint.domain.summary import Summary
from idemlint.placing import Places
from idemlint.program import Program, Site, UnresolvedCall

MOST = 10
"""So many are worth reading at once."""


def unknown_calls(program: Program, runs: Sequence[Summary], places: Places) -> tuple[UnknownCall, ...]:
    """The `MOST` library calls without a row that most tasks reach, each with the first of its places. A call that
    makes an object is none: what counts is what is done with it."""
    paths = {
        Site(body.path, body.piece, at): target.name
        for body in program.bodies.values()
        for at, target in body.targets.items()
        if isinstance(target, UnresolvedCall) and target.library and not _makes_an_object(target.name)
    }
    tasks: dict[str, set[str]] = {}
    sites: dict[str, set[Site]] = {}
    for run in runs:
        for site, _ in run.unresolved:
            if run.root.task is not None and site in paths:
                tasks.setdefault(paths[site], set()).add(run.root.task)
                sites.setdefault(paths[site], set()).add(site)
    first = sorted(tasks, key=lambda path: (-len(tasks[path]), -len(sites[path]), path))[:MOST]
    places.want(min(sites[path]) for path in first)
    return tuple(UnknownCall(path, len(tasks[path]), places.span(min(sites[path]))) for path in first)


def _makes_an_object(path: str) -> bool:
    return path.rpartition(".")[2][:1].isupper()
