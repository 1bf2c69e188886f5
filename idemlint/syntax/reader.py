"""What is to be known of a text of Python, by itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from idemlint.syntax import facts as f
from idemlint.syntax.check import Fault, fault
from idemlint.syntax.extract import extract


@dataclass(frozen=True, slots=True)
class Reader:
    """`extract` and `fault`, or functions that give the same at less cost."""

    facts: Callable[[str], f.Body] = extract
    fault: Callable[[str], Fault | None] = fault


READER = Reader()
