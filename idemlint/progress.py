"""How far a long run has come, told to whoever watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypeVar

Progress: TypeAlias = Callable[[str, int, int], None]
"""Takes the name of a stage, how much of it is done and how much there is."""

T = TypeVar("T")


def silent(stage: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


def told(items: Sequence[T], stage: str, progress: Progress) -> Iterator[T]:
    """The items, with word of each as it is begun and of the last one's end."""
    for done, item in enumerate(items):
        progress(stage, done, len(items))
        yield item
    progress(stage, len(items), len(items))
