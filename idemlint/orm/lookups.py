"""What a call selects by: keyword lookups and the conjunctive parts of `Q` objects."""

from __future__ import annotations

from collections.abc import Collection

from idemlint.orm.arguments import Pairs, entries, last_name, named, positional, spread, text
from idemlint.syntax import facts as f


def lookups(call: f.Call, skip: Collection[str] = ()) -> tuple[Pairs, bool]:
    """The (column with operator, value) pairs that all selected rows fulfil, and whether nothing else selects."""
    pairs, complete = named(call, skip)
    for part in positional(call):
        found, known = conditions(part)
        pairs, complete = pairs + found, complete and known
    return pairs, complete and not spread(call)


def conditions(expression: f.Expr) -> tuple[Pairs, bool]:
    """The pairs of `Q(...) & Q(...)`, and whether these are all it says: `|`, `~` or a `Q` made elsewhere hide some."""
    if isinstance(expression, f.Operation) and expression.operator == "&":
        (left, left_known), (right, right_known) = conditions(expression.left), conditions(expression.right)
        return left + right, left_known and right_known
    if isinstance(expression, f.Call) and last_name(expression.function) == "Q":
        return _parts(expression)
    if isinstance(expression, f.Mapping):
        return entries(expression)
    return (), False


def _parts(call: f.Call) -> tuple[Pairs, bool]:
    pairs, complete = named(call)
    if any(name in ("_connector", "_negated") for name, _ in pairs) or spread(call):
        return (), False
    for part in positional(call):
        key = text(part.items[0]) if isinstance(part, f.Display) and len(part.items) == 2 else None
        if isinstance(part, f.Display) and key is not None:
            pairs += ((key, part.items[1]),)
            continue
        found, known = conditions(part)
        pairs, complete = pairs + found, complete and known
    return pairs, complete
