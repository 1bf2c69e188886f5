"""What the shape of a statement says by itself: whether it raises or leaves, which names it binds."""

from __future__ import annotations

from idemlint.syntax import facts as f


def counts(iterable: f.Expr) -> bool:
    """`range(3)`: a loop of attempts, not of items."""
    return isinstance(iterable, f.Call) and isinstance(iterable.function, f.Name) and iterable.function.id == "range"


def raises(body: f.Body) -> bool:
    """Whether a handler ends by raising, so that the error is not swallowed."""
    for statement in body:
        if isinstance(statement, f.Raise):
            return True
        if isinstance(statement, f.If) and raises(statement.body) and raises(statement.orelse):
            return True
        if isinstance(statement, f.Evaluate | f.Return) and _retries(statement.value):
            return True
    return False


def plainly(body: f.Body) -> f.Body:
    """The statements of a body, with what stands under a test that is always true in its place."""
    found: list[f.Statement] = []
    for statement in body:
        if isinstance(statement, f.If) and isinstance(statement.test, f.Constant) and statement.test.value:
            found.extend(plainly(statement.body))
        else:
            found.append(statement)
    return tuple(found)


def may_raise(body: f.Body) -> bool:
    """Whether a handler raises on one of its ways."""
    return any(isinstance(part, f.Raise) or _retries(part) for part in f.walk(body))


def _retries(part: object) -> bool:
    return isinstance(part, f.Call) and isinstance(part.function, f.Attribute) and part.function.name == "retry"


def asks(expr: f.Expr) -> bool:
    """Whether an expression runs code that may raise: a call, a look-up by a key, an await."""
    return any(isinstance(part, f.Call | f.Subscript | f.Await | f.Yield) for part in f.walk(expr))


def ends(body: f.Body) -> bool:
    """Whether a body ends the loop around it."""
    return bool(body) and (isinstance(body[-1], f.Return | f.Raise) or breaks(body[-1:]))


def breaks(body: f.Body) -> bool:
    for statement in body:
        if isinstance(statement, f.Jump) and statement.kind == "break":
            return True
        inner = [getattr(statement, name) for name in ("body", "orelse", "final") if hasattr(statement, name)]
        if not isinstance(statement, f.For | f.While | f.Function | f.Class) and any(breaks(part) for part in inner):
            return True
    return False


def leaves(body: f.Body) -> bool:
    """Whether a function may return from within a body."""
    return any(isinstance(part, f.Return) for part in f.walk(body))


def bound(statement: f.For | f.While) -> frozenset[str]:
    """Names that each turn of a loop binds anew."""
    found: set[str] = set()
    todo: list[object] = [statement.body]
    if isinstance(statement, f.For):
        found |= target_names(statement.target)
    while todo:
        part = todo.pop()
        if isinstance(part, tuple):
            todo.extend(part)
        elif isinstance(part, f.Assign):
            for target in part.targets:
                found |= target_names(target)
        elif isinstance(part, f.Augment):
            found |= target_names(part.target)
        elif isinstance(part, f.Function | f.Class):
            found.add(part.name)
        elif isinstance(part, f.For):
            found |= target_names(part.target)
            todo.extend((part.body, part.orelse))
        elif isinstance(part, f.With):
            for _, bound in part.items:
                found |= target_names(bound) if bound is not None else set()
            todo.append(part.body)
        elif hasattr(part, "body"):
            todo.extend(
                getattr(part, name) for name in ("body", "orelse", "handlers", "final", "cases") if hasattr(part, name)
            )
    return frozenset(found)


def target_names(target: f.Expr) -> set[str]:
    match target:
        case f.Name(id=name):
            return {name}
        case f.Display(items=items):
            return {name for item in items for name in target_names(item)}
        case f.Starred(value=value):
            return target_names(value)
    return set()
