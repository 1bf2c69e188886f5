"""Facts as tests compare them: without the numbers of their nodes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass

from idemlint.syntax import facts as f
from idemlint.syntax.extract import extract


def bare(fact: object) -> object:
    """A fact as a tuple of its kind and what it says, whichever numbers its nodes have."""
    if isinstance(fact, tuple):
        return tuple(bare(part) for part in fact)
    if is_dataclass(fact):
        said = (bare(getattr(fact, field.name)) for field in fields(fact) if field.name not in ("at", "name_at"))
        return (type(fact).__name__, *said)
    return fact


def read(text: str) -> str:
    """What the statements in `text` say, as text."""
    return repr(bare(extract(text)))


def joined(bodies: Iterable[f.Body]) -> str:
    """The same of statements that were read apart."""
    return repr(tuple(bare(statement) for body in bodies for statement in body))


def ordinals(fact: object) -> list[int]:
    """The numbers of all nodes in a fact, in order."""
    return sorted(at for part in f.walk(fact) for at in (getattr(part, "at", None),) if at is not None)
