"""What `-v` says of the analysis: what was followed in part, which rows of the catalog the user replaced, and which are
missing most."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from idemlint.diagnostic import Report


def remarks(report: Report, place: Callable[[str], str]) -> Iterator[str]:
    """Lines in aligned columns: `acme.Client.charge  3 tasks  shop/billing.py:12`. `place` says how a path is shown."""
    yield from report.replaced
    for task in report.partly:
        yield f"{task} does so much that it was followed in part only; there may be more to find in it"
    if not report.unknown:
        return
    yield "calls most worth a row in a catalog of your own, by how many tasks reach them:"
    rows = [
        (call.path, "1 task" if call.tasks == 1 else f"{call.tasks} tasks", f"{place(call.span.path)}:{call.span.line}")
        for call in report.unknown
    ]
    paths, tasks = (max(len(row[column]) for row in rows) for column in (0, 1))
    for path, reached, where in rows:
        yield f"  {path:<{paths}}  {reached:<{tasks}}  {where}"
