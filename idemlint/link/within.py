"""What stands in a piece of code, nested functions included."""

from __future__ import annotations

from idemlint.syntax import facts as f


def calls_in(fact: object) -> list[f.Call]:
    """Every call."""
    return [part for part in f.walk(fact) if isinstance(part, f.Call)]


def last_word(expr: f.Expr | None) -> str:
    """The last word of a dotted name; "" for anything else."""
    return expr.id if isinstance(expr, f.Name) else expr.name if isinstance(expr, f.Attribute) else ""


def names_in(fact: object) -> set[str]:
    """Every name that is mentioned."""
    return {part.id for part in f.walk(fact) if isinstance(part, f.Name)}
