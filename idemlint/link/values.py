"""What an expression is worth: a plain Python value, or the reason why it cannot be told; and arithmetic on both.

Where a container is known but a member of it is not, that member is an `Unknown`. A dict of which only some keys are
known has the key `...` for the others.
"""

from __future__ import annotations

import operator
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeAlias

# Beyond this many members, characters or bits a value cannot matter to delivery, and working it out could take long.
LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class Reference:
    """A thing that has a name in the code: `kind` is "module", "class" or "function" of the project, `path` then its
    id; or "library", with its dotted path."""

    path: str
    kind: str = "library"

    @property
    def name(self) -> str:
        """The last part of it, as code would call it."""
        return self.path.replace(":", ".").rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Known:
    """A plain value or a `Reference`. Where `environment` is set the value is the default of that variable."""

    value: object
    environment: str | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """What a call of something in a library gave: its path, and its arguments as members of a container, positional
    ones as `#0`. `on` is the object whose method it is, `later` are methods called on it afterwards."""

    path: str
    arguments: tuple[tuple[str, object], ...] = ()
    on: Made | None = None
    later: tuple[Made, ...] = ()

    @property
    def first(self) -> Made:
        """The object at the beginning of `Class(...).method(...).method(...)`."""
        return self.on.first if self.on is not None else self

    @property
    def steps(self) -> tuple[Made, ...]:
        """That object and the method calls on it, in order."""
        return (*(self.on.steps if self.on is not None else ()), self, *self.later)

    def get(self, *names: str) -> object | None:
        """The first argument given by one of these names; None if there is none."""
        given = dict(self.arguments)
        return next((given[name] for name in names if name in given), None)


@dataclass(frozen=True, slots=True)
class Unknown:
    """No value, and why. `start` is the beginning of a text of which that much is known, `environment` the variable it
    hangs on, `made_by` the class that was called to make it, `made` the call if that is of a library."""

    reason: str
    start: str = ""
    environment: str | None = None
    made_by: Reference | None = None
    made: Made | None = None


Value: TypeAlias = Known | Unknown


def seconds(value: object) -> float | None:
    """A number of seconds or a `timedelta` as a number; None for anything else."""
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def plain(value: Value) -> object:
    """The value as a member of a container."""
    return value.value if isinstance(value, Known) else value


def lifted(member: object, environment: str | None = None) -> Value:
    """A member of a container as a value."""
    return member if isinstance(member, Unknown) else Known(member, environment)


def environment_of(values: Iterable[Value]) -> str | None:
    """The first variable that one of these values hangs on."""
    return next((value.environment for value in values if value.environment), None)


def same(one: Value, other: Value) -> bool:
    """Whether two values are certainly equal, and of one type: 1 is not True here."""
    return (
        isinstance(one, Known)
        and isinstance(other, Known)
        and type(one.value) is type(other.value)
        and one.value == other.value
    )


def truth(value: Value) -> bool | None:
    """Whether a test on the value passes in every environment; None if that cannot be told."""
    if isinstance(value, Unknown) or value.environment or not _has_truth(value.value):
        return None
    return bool(value.value)


def joined(one: Value, other: Value, reason: str) -> Value:
    """One of two values, nobody knows which."""
    if same(one, other):
        return one
    return Unknown(reason, posixpath.commonprefix([start_of(one), start_of(other)]))


def start_of(value: Value) -> str:
    """As much of a text as is known."""
    if isinstance(value, Unknown):
        return value.start
    return value.value if isinstance(value.value, str) else ""


# --- Containers ------------------------------------------------------------------------------------------------------


def member(container: Value, key: Value) -> Value | None:
    """`container[key]`; None if the container is known and has no such member."""
    if isinstance(container, Unknown):
        return Unknown(container.reason, environment=container.environment)
    if isinstance(key, Unknown):
        return Unknown(key.reason)
    environment = environment_of((container, key))
    held, index = container.value, key.value
    if isinstance(held, dict):
        if not _hashable(index):
            return None
        return lifted(held[index], environment) if index in held else held.get(...)
    if isinstance(held, list | tuple | str) and isinstance(index, int) and -len(held) <= index < len(held):
        return lifted(held[index], environment)
    return None


def replaced(container: Value, keys: tuple[Value, ...], value: Value) -> Value:
    """The container after `container[key1][key2] = value`; no keys stand for the container itself."""
    if not keys:
        return value
    key, *rest = keys
    if isinstance(key, Unknown) or not _hashable(key.value):
        return Unknown("a key that is set in it is not known")
    held = {...: container} if isinstance(container, Unknown) else container.value
    if isinstance(held, dict):
        inner = replaced(lifted(held.get(key.value, Unknown("not set before"))), tuple(rest), value)
        return Known({**held, key.value: plain(inner)}, environment_of((container, inner)))
    if isinstance(held, list) and isinstance(key.value, int) and -len(held) <= key.value < len(held):
        copy = list(held)
        copy[key.value] = plain(replaced(lifted(copy[key.value]), tuple(rest), value))
        return Known(copy, environment_of((container, value)))
    return Unknown("an item is set in what is neither a dict nor a list")


def merged(one: Value, other: Value) -> Value:
    """`{**one, **other}`."""
    if isinstance(other, Unknown):
        # Whatever was known may be overridden.
        return Known({...: other})
    left = {...: one} if isinstance(one, Unknown) else one.value
    right = other.value
    if not isinstance(left, dict) or not isinstance(right, dict):
        return Unknown("what is merged is no dict")
    if ... in right:
        left = {key: Unknown("it may be overridden") for key in left}
    return Known({**left, **right}, environment_of((one, other)))


def dict_of(items: Iterable[tuple[Value | None, Value]]) -> Value:
    """A dict display; a key that is None marks a dict that is spread into it."""
    result: Value = Known({})
    for key, value in items:
        result = merged(result, value) if key is None else replaced(result, (key,), value)
        if isinstance(result, Unknown):
            return result
    return result


def sequence_of(kind: str, items: Iterable[tuple[bool, Value]]) -> Value:
    """A list, tuple or set display; True marks an item that is spread into it."""
    found: list[object] = []
    values: list[Value] = []
    for spread, value in items:
        values.append(value)
        if not spread:
            found.append(plain(value))
        elif isinstance(value, Known) and isinstance(value.value, list | tuple | set | dict):
            found.extend(value.value)
        else:
            return Unknown(value.reason if isinstance(value, Unknown) else "what is spread is no list")
    return converted({"tuple": tuple, "set": set}.get(kind, list), Known(found, environment_of(values)))


def converted(kind: Callable[[object], object], value: Value) -> Value:
    """`kind(value)`, where that succeeds."""
    if isinstance(value, Unknown):
        return Unknown(value.reason, environment=value.environment)
    if not _has_truth(value.value):
        return Unknown("what is converted is no plain value")
    try:
        return lifted(kind(value.value), value.environment)
    except (TypeError, ValueError, ArithmeticError):
        return Unknown(f"{getattr(kind, '__name__', 'this')}() of it fails")


# --- Operators -------------------------------------------------------------------------------------------------------

# A conversion that pads to a width of four digits or to one that is an argument.
_WIDE = re.compile(r"%[^%a-zA-Z]*(?:\d{4}|\*)")

_NUMBERS: Mapping[str, Callable[[Any, Any], object]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}
_COMPARISONS: Mapping[str, Callable[[Any, Any], object]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "is": lambda left, right: left is right,
    "is not": lambda left, right: left is not right,
    "in": lambda left, right: left in right,
    "not in": lambda left, right: left not in right,
}


def operation(sign: str, left: Value, right: Value) -> Value:
    """`left sign right` for numbers, times, texts, lists and dicts."""
    if sign == "|" and any(isinstance(side, Known) and isinstance(side.value, dict) for side in (left, right)):
        return merged(left, right)
    start = _start_of_operation(sign, left, right)
    if isinstance(left, Unknown):
        return Unknown(left.reason, start, left.environment)
    if isinstance(right, Unknown):
        return Unknown(right.reason, start, right.environment)
    if sign not in _NUMBERS or not _harmless(sign, left.value, right.value):
        return Unknown(f"a value of {sign} that is not worked out")
    try:
        return Known(_NUMBERS[sign](left.value, right.value), environment_of((left, right)))
    except (TypeError, ValueError, ArithmeticError):
        return Unknown(f"{sign} fails here")


def comparison(left: Value, sign: str, right: Value) -> Value:
    """`left sign right` as a truth value."""
    if isinstance(left, Unknown):
        return Unknown(left.reason, environment=left.environment)
    if isinstance(right, Unknown):
        return Unknown(right.reason, environment=right.environment)
    if _holds_unknown(left.value) or _holds_unknown(right.value):
        return Unknown("a part of what is compared is not known")
    if isinstance(left.value, Reference) or isinstance(right.value, Reference):
        return Unknown("what is compared is no plain value")
    try:
        return Known(bool(_COMPARISONS[sign](left.value, right.value)), environment_of((left, right)))
    except (TypeError, KeyError):
        return Unknown(f"{sign} fails here")


def negated(sign: str, value: Value) -> Value:
    """`-`, `+`, `~` or `not` of a value."""
    if isinstance(value, Unknown):
        return Unknown(value.reason, environment=value.environment)
    if sign == "not" and _has_truth(value.value):
        return Known(not value.value, value.environment)
    known: dict[str, Callable[[Any], object]] = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
    return converted(known.get(sign, _refused), value)


def text(parts: Iterable[Value]) -> Value:
    """The parts of a formatted text put together."""
    result = ""
    values: list[Value] = []
    for part in parts:
        values.append(part)
        if isinstance(part, Unknown):
            return Unknown(part.reason, result + part.start, part.environment)
        if not isinstance(part.value, str | int | float | None):
            return Unknown("a part of the text is no plain value", result)
        result += str(part.value)
        if len(result) > LIMIT:
            return Unknown("a text too long to work out", result[:LIMIT])
    return Known(result, environment_of(values))


def _start_of_operation(sign: str, left: Value, right: Value) -> str:
    if sign == "+":
        return start_of(left) + (start_of(right) if isinstance(left, Known) else "")
    return start_of(left).partition("%")[0] if sign == "%" and isinstance(left, Known) else ""


def _harmless(sign: str, left: object, right: object) -> bool:
    """Whether an operation is on values it means something for, and its result stays small."""
    both = (left, right)
    if all(isinstance(side, int | float | complex | timedelta) for side in both):
        if sign in ("**", "<<"):
            return all(abs(side) <= LIMIT for side in both if isinstance(side, int | float))
        return all(side.bit_length() <= LIMIT for side in both if isinstance(side, int))
    if sign == "%" and isinstance(left, str):
        members = right if isinstance(right, tuple) else (right,)
        plain_members = all(isinstance(member, str | int | float) for member in members)
        return plain_members and len(left) <= LIMIT and not _WIDE.search(left)
    if sign == "*":
        counts = [side for side in both if isinstance(side, int)]
        others = [side for side in both if isinstance(side, str | list | tuple)]
        return bool(counts and others) and len(others[0]) * max(counts[0], 0) <= LIMIT
    if sign == "+" and isinstance(left, str | list | tuple):
        return type(left) is type(right) and len(left) + len(right) <= LIMIT
    return isinstance(left, set) and isinstance(right, set)


def _refused(value: object) -> object:
    raise TypeError(value)


def _holds_unknown(value: object) -> bool:
    if isinstance(value, dict):
        return ... in value or any(_holds_unknown(inner) for inner in value.values())
    if isinstance(value, list | tuple | set):
        return any(_holds_unknown(inner) for inner in value)
    return isinstance(value, Unknown)


def _has_truth(value: object) -> bool:
    """Whether it is known what a test on the value says: a library's name may stand for anything."""
    if isinstance(value, Reference):
        return value.kind != "library"
    return not isinstance(value, dict) or set(value) != {...}


def _hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
