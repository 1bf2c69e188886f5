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


def assigns(fact: object, name: str) -> bool:
    """Whether a method assigns `self.name`, whatever it calls itself."""
    todo = [fact.body] if isinstance(fact, f.Function) else []
    while todo:
        for statement in todo.pop():
            targets = statement.targets if isinstance(statement, f.Assign) else ()
            if any(isinstance(target, f.Attribute) and target.name == name for target in targets):
                return True
            todo.extend(getattr(statement, part) for part in ("body", "orelse", "final") if hasattr(statement, part))
            todo.extend(handler.body for handler in getattr(statement, "handlers", ()))
    return False
