"""Calls of Python's own whose result follows from the values given: conversions, methods of texts, dicts and times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from idemlint.link.values import (
    LIMIT,
    Known,
    Made,
    Unknown,
    Value,
    converted,
    dict_of,
    environment_of,
    lifted,
    member,
    plain,
    replaced,
    sequence_of,
)


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments of a call. A keyword that is None is a dict spread into them; `open` says that a sequence is spread
    into the positional ones whose length is not known."""

    positional: tuple[Value, ...] = ()
    keywords: tuple[tuple[str | None, Value], ...] = ()
    open: bool = False

    def get(self, *slots: int | str) -> Value | None:
        """The first argument given at one of these positions or by one of these keywords."""
        by_name = dict(self.keywords)
        for slot in slots:
            if isinstance(slot, str) and slot in by_name:
                return by_name[slot]
            if isinstance(slot, int) and slot < len(self.positional):
                return self.positional[slot]
        return None

    def plain(self) -> tuple[list[Any], dict[str, Any]] | None:
        """Positional and keyword arguments as plain values; None unless all of them are known."""
        values = (*self.positional, *(value for _, value in self.keywords))
        if self.open or any(isinstance(value, Unknown) for value in values) or None in dict(self.keywords):
            return None
        return [plain(value) for value in self.positional], {str(key): plain(value) for key, value in self.keywords}

    def environment(self) -> str | None:
        """The first variable that one of the arguments hangs on."""
        return environment_of((*self.positional, *(value for _, value in self.keywords)))

    def reason(self) -> str:
        """Why not all of them are known."""
        values = (*self.positional, *(value for _, value in self.keywords))
        return next((value.reason for value in values if isinstance(value, Unknown)), "an argument is not known")


_TRUE = frozenset({"y", "yes", "t", "true", "on", "1", "ok"})
_FALSE = frozenset({"n", "no", "f", "false", "off", "0", "none", ""})


def flag(text: object) -> object:
    """A truth value as people spell it in the environment; ValueError for any other text."""
    if not isinstance(text, str):
        return bool(text)
    if text.strip().lower() not in _TRUE | _FALSE:
        raise ValueError(text)
    return text.strip().lower() in _TRUE


CASTS: Mapping[str, Callable[[Any], object]] = {
    "builtins.int": int,
    "builtins.float": float,
    "builtins.str": str,
    "builtins.bool": flag,
}
"""What a call that reads the environment can be told to make of the text."""


def _length(value: object) -> int:
    if not isinstance(value, str | list | tuple | set | dict) or (isinstance(value, dict) and ... in value):
        raise TypeError(value)
    return len(value)


def _string(value: object = "") -> str:
    if not isinstance(value, str | int | float | None):
        raise TypeError(value)
    return str(value)


_FUNCTIONS: Mapping[str, Callable[..., object]] = {
    "builtins.int": int,
    "builtins.float": float,
    "builtins.str": _string,
    "builtins.bool": bool,
    "builtins.list": list,
    "builtins.tuple": tuple,
    "builtins.set": set,
    "builtins.frozenset": set,
    "builtins.abs": abs,
    "builtins.round": round,
    "builtins.min": min,
    "builtins.max": max,
    "builtins.sum": sum,
    "builtins.len": _length,
    "datetime.timedelta": timedelta,
    "distutils.util.strtobool": flag,
    "copy.copy": lambda value: value,
    "copy.deepcopy": lambda value: value,
    "typing.cast": lambda kind, value: value,
}

_METHODS: Mapping[type, frozenset[str]] = {
    str: frozenset(
        {"lower", "upper", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "split", "join"}
        | {"startswith", "endswith", "isdigit"}
    ),
    timedelta: frozenset({"total_seconds"}),
    dict: frozenset({"copy"}),
    list: frozenset({"copy"}),
}


def call(path: str, arguments: Arguments) -> Value | None:
    """What the function at `path` gives; None if it is none of those that are known here."""
    if path == "builtins.dict":
        pairs = [] if not arguments.positional else _pairs(arguments.positional[0])
        keywords = [(None if key is None else Known(key), value) for key, value in arguments.keywords]
        return dict_of([*pairs, *keywords])
    if path in ("builtins.list", "builtins.tuple", "builtins.set") and len(arguments.positional) == 1:
        return sequence_of(path.removeprefix("builtins."), [(True, arguments.positional[0])])
    if path not in _FUNCTIONS:
        return None
    if len(arguments.positional) == 1 and not arguments.keywords and not arguments.open:
        return converted(_FUNCTIONS[path], arguments.positional[0])
    return _applied(_FUNCTIONS[path], arguments)


def method(held: Value, name: str, arguments: Arguments) -> Value:
    """What a method of a plain value gives."""
    if isinstance(held, Unknown):
        return Unknown(held.reason, environment=held.environment)
    if isinstance(held.value, dict) and name in ("get", "pop") and arguments.positional:
        found = member(held, arguments.positional[0])
        return found if found is not None else arguments.get(1) or Known(None)
    if isinstance(held.value, str) and name == "format":
        return _formatted(held.value, arguments)
    if name not in _METHODS.get(type(held.value), ()):
        return Unknown(f"what .{name}() gives is not worked out")
    result = _applied(getattr(held.value, name), arguments)
    return Known(result.value, environment_of((held, result))) if isinstance(result, Known) else result


def changed(held: Value, name: str, arguments: Arguments) -> Value:
    """A dict or list after one of its methods was called, itself for a method that leaves it alone; of what a library
    made, the call is kept."""
    if isinstance(held, Unknown):
        return _told(held, name, arguments)
    if not isinstance(held.value, dict | list | set):
        return held
    first = arguments.get(0)
    match held.value, name:
        case dict(), "update":
            spread = [(None, value) for value in arguments.positional]
            named = [(None if key is None else Known(key), value) for key, value in arguments.keywords]
            return dict_of([(None, held), *spread, *named])
        case dict(), "setdefault" if first is not None:
            found = member(held, first)
            return held if found is not None else replaced(held, (first,), arguments.get(1) or Known(None))
        case dict(), "pop" if isinstance(first, Known):
            return removed(held, first)
        case list(), "append" if first is not None:
            return Known([*held.value, plain(first)], environment_of((held, first)))
        case list(), "extend" if first is not None:
            return sequence_of("list", [(True, held), (True, first)])
        case list(), "insert":
            where, what = first, arguments.get(1)
            if isinstance(where, Known) and isinstance(where.value, int) and what is not None:
                copy = list(held.value)
                copy.insert(where.value, plain(what))
                return Known(copy, environment_of((held, what)))
            return Unknown("something is inserted at an unknown place")
        case set(), "add" if isinstance(first, Known):
            return sequence_of("set", [(True, held), (False, first)])
        case _, "clear":
            return Known(type(held.value)())
        case _, "popitem" | "remove" | "discard" | "sort" | "reverse" | "pop" | "update" | "append" | "extend" | "add":
            return Unknown(f".{name}() changes it in a way that is not worked out")
    return held


def made(path: str, arguments: Arguments, on: Made | None = None) -> Made:
    """What the call of something in a library gave, with its arguments."""
    positional = ((f"#{index}", plain(value)) for index, value in enumerate(arguments.positional))
    named = ((key, plain(value)) for key, value in arguments.keywords if key is not None)
    return Made(path, (*positional, *named), on)


def _told(held: Unknown, name: str, arguments: Arguments) -> Value:
    """What a library made, after one more of its methods was called."""
    if held.made is None:
        return held
    step = made(f"{held.made.first.path}.{name}", arguments)
    return replace(held, made=replace(held.made, later=(*held.made.later, step)))


def removed(held: Value, key: Value) -> Value:
    """A dict without one of its keys."""
    if isinstance(held, Known) and isinstance(held.value, dict) and isinstance(key, Known):
        return Known({name: value for name, value in held.value.items() if name != key.value}, held.environment)
    return Unknown("a part of it is deleted that is not known")


def _applied(function: Callable[..., object], arguments: Arguments) -> Value:
    given = arguments.plain()
    if given is None:
        return Unknown(arguments.reason(), environment=arguments.environment())
    try:
        result = function(*given[0], **given[1])
    except (TypeError, ValueError, ArithmeticError):
        return Unknown("the call fails")
    return lifted(result, arguments.environment())


def _formatted(template: str, arguments: Arguments) -> Value:
    start = template.partition("{")[0]
    given = arguments.plain()
    if given is None:
        return Unknown(arguments.reason(), start)
    # A width or an attribute is more than settings need, and a wide one takes long.
    if ":" in "".join(part.partition("}")[0] for part in template.split("{")[1:]) or len(template) > LIMIT:
        return Unknown("a format that is not worked out", start)
    if not all(isinstance(value, str | int | float) for value in (*given[0], *given[1].values())):
        return Unknown("a part of the text is no plain value", start)
    result = _applied(template.format, arguments)
    return result if isinstance(result, Known) else Unknown(result.reason, start)


def _pairs(value: Value) -> list[tuple[Value | None, Value]]:
    """The first argument of `dict()`: a dict, or a list of pairs."""
    if isinstance(value, Known) and isinstance(value.value, list | tuple):
        pairs = [item for item in value.value if isinstance(item, list | tuple) and len(item) == 2]
        if len(pairs) == len(value.value):
            return [(lifted(key), lifted(item)) for key, item in pairs]
    return [(None, value)]
