"""What a call of a data layer says in its arguments: literals that can be read, and whether all of it could."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from idemlint.syntax import facts as f

Pairs = tuple[tuple[str, f.Expr], ...]


def argument(call: f.Call, index: int | None, name: str) -> f.Expr | None:
    """The argument called `name`, else the one at position `index` where that position can be told."""
    for given in call.arguments:
        if given.name == name:
            return given.value
    leading = positional(call)
    return leading[index] if index is not None and index < len(leading) else None


def positional(call: f.Call) -> tuple[f.Expr, ...]:
    """The positional arguments up to the first `*expr`."""
    found: list[f.Expr] = []
    for given in call.arguments:
        if given.star == "*":
            break
        if given.name is None and not given.star:
            found.append(given.value)
    return tuple(found)


def spread(call: f.Call) -> bool:
    """Whether positional arguments come from a `*expr`."""
    return any(given.star == "*" for given in call.arguments)


def named(call: f.Call, skip: Collection[str] = ()) -> tuple[Pairs, bool]:
    """The keyword arguments but those in `skip`, a splatted dict display included, and whether these are all."""
    found: list[tuple[str, f.Expr]] = []
    complete = True
    for given in call.arguments:
        if given.name is not None:
            found.append((given.name, given.value))
        elif given.star == "**":
            inner, known = entries(given.value)
            found.extend(inner)
            complete = complete and known
    return tuple(pair for pair in found if pair[0] not in skip), complete


def entries(expression: f.Expr) -> tuple[Pairs, bool]:
    """The items of a dict display or `dict(...)` with literal string keys, and whether these are all."""
    if isinstance(expression, f.Mapping):
        found: list[tuple[str, f.Expr]] = []
        complete = True
        for key, value in expression.items:
            if isinstance(key, f.Constant) and isinstance(key.value, str):
                found.append((key.value, value))
            elif key is None:
                inner, known = entries(value)
                found.extend(inner)
                complete = complete and known
            else:
                complete = False
        return _last_wins(found), complete
    if isinstance(expression, f.Call) and last_name(expression.function) == "dict":
        given, complete = named(expression)
        for base in positional(expression):
            inner, known = entries(base)
            given, complete = inner + given, complete and known
        return _last_wins(given), complete and not spread(expression)
    if isinstance(expression, f.Operation) and expression.operator == "|":
        (left, left_known), (right, right_known) = entries(expression.left), entries(expression.right)
        return _last_wins(left + right), left_known and right_known
    return (), False


def members(value: f.Expr) -> Iterator[f.Expr]:
    """The members of lists that are displayed, added or unpacked; a starred one stands for a list elsewhere."""
    if isinstance(value, f.Display):
        for item in value.items:
            if isinstance(item, f.Starred):
                yield from members(item.value)
            else:
                yield item
    elif isinstance(value, f.Operation) and value.operator == "+":
        yield from members(value.left)
        yield from members(value.right)
    elif isinstance(value, f.Call) and last_name(value.function) in ("list", "tuple") and positional(value):
        yield from members(positional(value)[0])
    else:
        yield f.Starred(value.at, value)


def strings(expression: f.Expr | None) -> tuple[str, ...] | None:
    """The literal strings of a list, tuple or set display, sums of such included; None if one cannot be read."""
    if isinstance(expression, f.Operation) and expression.operator == "+":
        left, right = strings(expression.left), strings(expression.right)
        return None if left is None or right is None else left + right
    if not isinstance(expression, f.Display):
        return None
    found: list[str] = []
    for item in expression.items:
        if isinstance(item, f.Constant) and isinstance(item.value, str):
            found.append(item.value)
            continue
        inner = strings(item.value) if isinstance(item, f.Starred) else None
        if inner is None:
            return None
        found.extend(inner)
    return tuple(found)


def text(expression: f.Expr | None) -> str | None:
    """The value of a string literal, None for anything else."""
    return expression.value if isinstance(expression, f.Constant) and isinstance(expression.value, str) else None


def is_true(expression: f.Expr | None) -> bool:
    """Whether it is the literal `True`."""
    return isinstance(expression, f.Constant) and expression.value is True


def is_false(expression: f.Expr | None) -> bool:
    """Whether it is absent or the literal `False` or `None`."""
    return expression is None or (isinstance(expression, f.Constant) and expression.value in (False, None))


def last_name(expression: f.Expr) -> str:
    """The last part of a dotted name as written, "" for what is no name."""
    if isinstance(expression, f.Name):
        return expression.id
    return expression.name if isinstance(expression, f.Attribute) else ""


def _last_wins(pairs: Collection[tuple[str, f.Expr]]) -> Pairs:
    return tuple(dict(pairs).items())
