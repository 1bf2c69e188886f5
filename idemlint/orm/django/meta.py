"""`class Meta`: the unique keys it declares and those it takes over from the Meta of an abstract parent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from idemlint.orm.arguments import Pairs, is_true, last_name, named, positional, strings, text
from idemlint.orm.django.fields import assignments
from idemlint.orm.django.words import Words, library_id
from idemlint.program import LibraryType, Model, UniqueKey
from idemlint.syntax import facts as f

TOGETHER = "unique_together"
CONSTRAINTS = "constraints"

_REFLEXIVE = frozenset({"=", "&&", "@>", "<@", "EQUAL", "OVERLAPS", "CONTAINS", "CONTAINED_BY"})

# Stands in a condition for a column that could not be read.
UNREAD = "?"


@dataclass(frozen=True, slots=True)
class Meta:
    """What a Meta says. `complete` is False when a unique key may hide in a part that could not be read."""

    keys: tuple[UniqueKey, ...]
    complete: bool
    abstract: bool = False
    managed: bool = True
    default_manager: str | None = None
    default_related_name: str | None = None


def read_meta(cls: f.Class, parents: Sequence[Model], words: Words) -> Meta:
    """The Meta of a model. Without one of its own the model has that of its first abstract parent; one of its own
    inherits only what it names as its base (`class Meta(Parent.Meta)`)."""
    own = next((part for part in cls.body if isinstance(part, f.Class) and part.name == "Meta"), None)
    if own is None:
        above = next((parent for parent in parents if parent.abstract), None)
        return Meta(meta_keys(above) if above else (), True)
    values = {name: value for name, value, _ in assignments(own.body)}
    bases, complete = _bases(own, parents, words)
    keys: list[UniqueKey] = []
    for option in (TOGETHER, CONSTRAINTS):
        if option in values:
            found, known = _declared(option, values[option], parents, words)
        else:
            found, known = _first_declared(option, bases), True
        keys.extend(found)
        complete = complete and known
    managed = values.get("managed")
    return Meta(
        tuple(keys),
        complete,
        is_true(values.get("abstract")),
        not (isinstance(managed, f.Constant) and managed.value is False),
        text(values.get("default_manager_name")),
        text(values.get("default_related_name")),
    )


def meta_keys(model: Model) -> tuple[UniqueKey, ...]:
    """The unique keys of a model that its Meta declares, not its fields."""
    return tuple(key for key in model.unique if key.source in (TOGETHER, CONSTRAINTS))


def _first_declared(option: str, models: Sequence[Model]) -> tuple[UniqueKey, ...]:
    for model in models:
        found = tuple(key for key in model.unique if key.source == option)
        if found:
            return found
    return ()


def _bases(meta: f.Class, parents: Sequence[Model], words: Words) -> tuple[tuple[Model, ...], bool]:
    found: list[Model] = []
    complete = True
    for base in meta.bases:
        parent = _owner(base, parents, words)
        if parent is not None:
            found.append(parent)
        else:
            # Base classes of Meta from libraries are typing helpers.
            complete = complete and (isinstance(words.resolve(base), LibraryType) or last_name(base) == "object")
    return tuple(found), complete


def _owner(expression: f.Expr, parents: Sequence[Model], words: Words) -> Model | None:
    """The parent P of `P.Meta`."""
    if not (isinstance(expression, f.Attribute) and expression.name == "Meta"):
        return None
    base = expression.base
    found = words.resolve(base)
    name = library_id(found.path) if isinstance(found, LibraryType) else words.project_class(base)
    by_id = next((parent for parent in parents if parent.name == name), None)
    return by_id or next((parent for parent in parents if parent.title == last_name(base)), None)


def _declared(option: str, value: f.Expr, parents: Sequence[Model], words: Words) -> tuple[tuple[UniqueKey, ...], bool]:
    """The keys of the value of `unique_together` or `constraints`, and whether all of it could be read."""
    parts = tuple(_parts(value))
    flat = tuple(column for column in map(text, parts) if column is not None)
    if option == TOGETHER and flat and len(flat) == len(parts):
        return (UniqueKey(flat, source=TOGETHER),), True
    keys: list[UniqueKey] = []
    complete = True
    for part in parts:
        if isinstance(part, f.Starred):
            parent = _owner(part.value.base, parents, words) if isinstance(part.value, f.Attribute) else None
            keys.extend(_first_declared(option, [parent]) if parent else ())
            complete = complete and parent is not None
            continue
        if option == TOGETHER:
            columns = strings(part)
            found, known = (UniqueKey(columns, source=TOGETHER) if columns else None), columns is not None
        else:
            found, known = _constraint(part, words)
        keys.extend([found] if found else [])
        complete = complete and known
    return tuple(keys), complete


def _parts(value: f.Expr) -> Iterator[f.Expr]:
    """The members of lists that are displayed, added or unpacked; a starred one stands for a list elsewhere."""
    if isinstance(value, f.Display):
        for item in value.items:
            if isinstance(item, f.Starred):
                yield from _parts(item.value)
            else:
                yield item
    elif isinstance(value, f.Operation) and value.operator == "+":
        yield from _parts(value.left)
        yield from _parts(value.right)
    elif isinstance(value, f.Call) and last_name(value.function) in ("list", "tuple") and positional(value):
        yield from _parts(positional(value)[0])
    else:
        yield f.Starred(value.at, value)


def _constraint(part: f.Expr, words: Words) -> tuple[UniqueKey | None, bool]:
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
        expressions = tuple(_excluded(pair) for pair in _parts(listed)) if listed is not None else ()
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
        return (column,)
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
