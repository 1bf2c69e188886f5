"""Members of `constraints`: the unique keys they are, over columns, over expressions, over part of the rows."""

from __future__ import annotations

from collections.abc import Iterator

from idemlint.orm.arguments import Pairs, is_true, last_name, members, named, positional, strings, text
from idemlint.orm.django.words import Words
from idemlint.program import UniqueKey
from idemlint.syntax import facts as f

CONSTRAINTS = "constraints"

_REFLEXIVE = frozenset({"=", "&&", "@>", "<@", "EQUAL", "OVERLAPS", "CONTAINS", "CONTAINED_BY"})

# Stands in a condition for a column that could not be read.
UNREAD = "?"


def constraint(part: f.Expr, words: Words) -> tuple[UniqueKey | None, bool]:
    """The unique key of a member of `constraints`, None for one that is no unique key; then whether it was read."""
    word = words.tail(part.function) if isinstance(part, f.Call) else ""
    if not isinstance(part, f.Call) or word not in ("UniqueConstraint", "ExclusionConstraint", "CheckConstraint"):
        return None, False
    if word == "CheckConstraint":
        return None, True
    pairs, complete = named(part)
    given = dict(pairs)
    columns, filled = _constrained(word, part, given)
    if not complete or not columns:
        return None, False
    nulls = given.get("nulls_distinct")
    distinct = not (isinstance(nulls, f.Constant) and nulls.value is False) and not filled >= set(columns)
    condition = _condition(given.get("condition"), columns) if distinct else condition_columns(given.get("condition"))
    return UniqueKey(columns, condition, distinct, CONSTRAINTS), True


def null_twins(constraints: f.Expr | None) -> Iterator[tuple[tuple[str, ...], str]]:
    """Keys with a condition that is nothing but `Q(column__isnull=True)`."""
    for part in members(constraints) if constraints is not None else ():
        given = dict(named(part)[0]) if isinstance(part, f.Call) else {}
        columns, condition = strings(given.get("fields")), given.get("condition")
        if columns and isinstance(condition, f.Call) and last_name(condition.function) == "Q":
            pairs, complete = named(condition)
            if complete and len(pairs) == 1 == len(condition.arguments) and is_true(pairs[0][1]):
                column, _, operator = pairs[0][0].partition("__")
                if operator == "isnull" and column not in columns:
                    yield columns, column


def _constrained(word: str, call: f.Call, given: dict[str, f.Expr]) -> tuple[tuple[str, ...], set[str]]:
    """The columns of a constraint, none if one of them could not be read, and those of them with NULL replaced.

    Equal columns give equal expressions, and a value excludes itself from its own range: so a key over expressions, or
    an exclusion, stops a second row with the same columns just as a plain key does.
    """
    if word == "UniqueConstraint" and "fields" in given:
        return strings(given["fields"]) or (), set()
    expressions: tuple[f.Expr, ...] = positional(call)
    if word == "ExclusionConstraint":
        listed = given.get("expressions")
        expressions = tuple(_excluded(pair) for pair in members(listed)) if listed is not None else ()
    columns: list[str] = []
    filled: set[str] = set()
    for expression in expressions:
        found = _expression_columns(expression)
        if found is None:
            return (), set()
        columns.extend(column for column in found if column not in columns)
        if isinstance(expression, f.Call) and last_name(expression.function) == "Coalesce":
            filled.update(found)
    return tuple(columns), filled


def _excluded(pair: f.Expr) -> f.Expr:
    """The expression of a member of `expressions`; the member itself, which cannot be read, where the operator lets two
    equal values pass."""
    if isinstance(pair, f.Display) and len(pair.items) == 2:
        operator = text(pair.items[1]) or last_name(pair.items[1])
        return pair.items[0] if operator in _REFLEXIVE else pair
    return pair


def _expression_columns(expression: f.Expr) -> tuple[str, ...] | None:
    """Columns in a database expression: `Lower("email").desc()`, `F("a") + 1`; None if it cannot be read."""
    column = text(expression)
    if column is not None:
        return (column.partition("__")[0],)
    if isinstance(expression, f.Constant):
        return ()
    if isinstance(expression, f.Operation):
        left, right = _expression_columns(expression.left), _expression_columns(expression.right)
        return None if left is None or right is None else left + right
    if not isinstance(expression, f.Call):
        return None
    if isinstance(expression.function, f.Attribute) and expression.function.name in ("asc", "desc"):
        return _expression_columns(expression.function.base)
    if last_name(expression.function) == "Value":
        return ()
    found: list[str] = []
    for part in positional(expression):
        columns = _expression_columns(part)
        if columns is None:
            return None
        found.extend(columns)
    return tuple(found)


def _condition(condition: f.Expr | None, columns: tuple[str, ...]) -> tuple[str, ...]:
    """Columns of a partial key's condition. That the key's own columns are not NULL says what the key says anyway."""
    if isinstance(condition, f.Call) and last_name(condition.function) == "Q" and not positional(condition):
        pairs, complete = named(condition)
        if complete and all(_says_not_null(pair, columns) for pair in pairs):
            return ()
    return condition_columns(condition)


def _says_not_null(pair: tuple[str, f.Expr], columns: tuple[str, ...]) -> bool:
    column, _, operator = pair[0].partition("__")
    return column in columns and operator == "isnull" and isinstance(pair[1], f.Constant) and pair[1].value is False


def condition_columns(condition: f.Expr | None) -> tuple[str, ...]:
    """The columns a `Q` speaks of, "?" among them when part of it could not be read."""
    if condition is None:
        return ()
    return tuple(dict.fromkeys(_conditioned(condition)))


def _conditioned(condition: f.Expr) -> Iterator[str]:
    if isinstance(condition, f.Operation):
        yield from _conditioned(condition.left)
        yield from _conditioned(condition.right)
    elif isinstance(condition, f.Unary):
        yield from _conditioned(condition.operand)
    elif isinstance(condition, f.Call) and last_name(condition.function) == "Q":
        pairs, complete = named(condition, ("_connector", "_negated"))
        yield from _stems(pairs)
        for inner in positional(condition):
            yield from _conditioned(inner)
        if not complete:
            yield UNREAD
    else:
        yield UNREAD


def _stems(pairs: Pairs) -> Iterator[str]:
    return (name.partition("__")[0] for name, _ in pairs)
