"""What lists and dicts of the program hold, as types: what their methods give, and how they grow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from idemlint.program import (
    ClassType,
    EitherType,
    InstanceType,
    LibraryInstance,
    LibraryType,
    PartialType,
    RecordType,
    RoutineType,
    SeveralType,
    TableType,
    TaskMethodType,
    TaskType,
    Type,
)
from idemlint.syntax import facts as f

_STRING = LibraryInstance("builtins.str")
# A choice among more is no choice that anybody has made by hand.
CHOICES = 16
_CHOSEN = (RoutineType, PartialType, ClassType, InstanceType, LibraryType, TaskType, TaskMethodType)
# Methods that give what the container holds.
GIVING = frozenset(
    [f"builtins.dict.{name}" for name in ("get", "pop", "setdefault", "values", "items", "popitem", "copy")]
    + ["builtins.list.pop", "builtins.list.copy"]
)


def agree(kinds: Iterable[Type | None]) -> Type | None:
    """The one type that several values have, as far as known; None where they differ."""
    known = list(dict.fromkeys(kind for kind in kinds if kind is not None))
    return known[0] if len(known) == 1 else None


def either(kinds: Iterable[Type | None]) -> Type | None:
    """The same, or one of them where they are functions, classes or objects of the project."""
    known = list(dict.fromkeys(each for kind in kinds if kind is not None for each in _flat(kind)))
    if len(known) == 1:
        return known[0]
    fits = 1 < len(known) <= CHOICES and all(isinstance(kind, _CHOSEN) for kind in known)
    return EitherType(tuple(known)) if fits else None


def _flat(kind: Type) -> tuple[Type, ...]:
    return kind.kinds if isinstance(kind, EitherType) else (kind,)


def under(table: TableType, key: f.Expr) -> Type | None:
    """What a dict holds under a key."""
    items = dict(table.items)
    if not isinstance(key, f.Constant):
        return either((*items.values(), table.rest))
    return items.get(str(key.value), table.rest)


def contents(held: Type | None, method: str, expr: f.Call, arguments: tuple[Type | None, ...]) -> Type | None:
    """What a method of `GIVING` gives, called on a container."""
    match held:
        case SeveralType(item):
            return held if method == "copy" else item
        case TableType(items, rest):
            every = either((*(kind for _, kind in items), rest))
            match method:
                case "get" | "pop" | "setdefault" if expr.arguments:
                    found = under(held, expr.arguments[0].value)
                    return either((found, *arguments[1:])) or found
                case "values":
                    return SeveralType(every)
                case "items":
                    return SeveralType(RecordType((_STRING, every)))
                case "popitem":
                    return RecordType((_STRING, every))
                case "copy":
                    return held
    return None


def grown(held: Type | None, method: str, added: Type | None) -> Type | None:
    """What a container is after a method that adds to it, or `+=` (`extend`): its first item says what it holds."""
    if not isinstance(held, SeveralType) or held.item is not None:
        return held
    if method in ("append", "add", "appendleft", "insert"):
        return SeveralType(added)
    if method in ("extend", "update", "extendleft"):
        return added if isinstance(added, SeveralType) else held
    return held


def stored(held: Type | None, key: f.Expr, value: Type | None) -> Type | None:
    """What a dict is after `held[key] = value`."""
    if not isinstance(held, TableType) or value is None:
        return held
    if isinstance(key, f.Constant) and isinstance(key.value, str):
        return replace(held, items=tuple({**dict(held.items), key.value: value}.items()))
    return replace(held, rest=value) if held.rest is None else held
