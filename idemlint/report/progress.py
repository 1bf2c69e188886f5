"""A bar for a run that takes long enough to wonder about."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

_PATIENCE = 1.0
_INTERVAL = 0.1


@contextmanager
def progress_bar(
    terminal: TextIO, *, color: bool, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[str, int, int], None]]:
    """A function that takes the name of a stage, how much of it is done and how much there is. It shows a bar on
    `terminal` once a second has gone by; the bar vanishes at the end of the block."""
    # It draws when told, not from a thread of its own: a process with threads must not fork.
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        console=Console(file=terminal, force_terminal=True, no_color=not color),
        transient=True,
        auto_refresh=False,
    )
    task = bar.add_task("", total=None)
    begun = shown = clock()

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal shown
        now = clock()
        if now - begun < _PATIENCE or now - shown < _INTERVAL:
            return
        shown = now
        bar.update(task, description=stage, completed=done, total=total)
        bar.start()
        bar.refresh()

    try:
        yield tell
    finally:
        bar.stop()
