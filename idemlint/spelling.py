"""What was meant by a word that nobody knows."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The word of `known` that was most likely meant by `word`; None if none is near."""
    by_fold = {candidate.casefold(): candidate for candidate in known}
    near = difflib.get_close_matches(word.casefold(), by_fold, n=1)
    return by_fold[near[0]] if near else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A clause that proposes the word of `known` nearest to `word`; empty if none is near."""
    near = nearest(word, known)
    return f'; did you mean "{near}"?' if near else ""
