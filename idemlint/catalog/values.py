"""Readers for the values that TOML gives: (value, key) in, the value as a row wants it out, or an EntryError that
names the key."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeAlias, TypeVar

from idemlint.catalog.errors import EntryError
from idemlint.catalog.patterns import PatternError, expand, is_exact
from idemlint.catalog.rows import Slot
from idemlint.spelling import did_you_mean

T = TypeVar("T")
Reader: TypeAlias = Callable[[Any, str], Any]

_SLOT = re.compile(r"(?:#(?P<position>\d+)|(?P<name>\w+))(?P<items>(?:\.(?:#\d+|[\w-]+))*(?:\.\*)?)")
_HOLE = re.compile(r"\{([^{}]*)\}")
_TOML_NAMES = {str: "a string", bool: "a boolean", int: "an integer", float: "a float", list: "a list", dict: "a table"}


def typed(kind: type[T]) -> Callable[[Any, str], T]:
    """Reads a plain value of exactly this type."""

    def read(value: Any, where: str) -> T:
        if type(value) is not kind:
            raise _wrong_type(where, _TOML_NAMES[kind], value)
        return value

    return read


string = typed(str)
boolean = typed(bool)
integer = typed(int)
table = typed(dict)


def many(reader: Callable[[Any, str], T]) -> Callable[[Any, str], tuple[T, ...]]:
    """Reads a list, each item with `reader`."""

    def read(value: Any, where: str) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise _wrong_type(where, "a list", value)
        return tuple(reader(item, f"{where}[{index}]") for index, item in enumerate(value))

    return read


def by_name(reader: Callable[[Any, str], T], known: Collection[str] = ()) -> Callable[[Any, str], dict[str, T]]:
    """Reads a table whose keys are free, or the words `known`, each value with `reader`."""

    def read(value: Any, where: str) -> dict[str, T]:
        for name in table(value, where):
            if known and name not in known:
                raise EntryError(f"{where}.{name}", f"unknown key{did_you_mean(name, known)}")
        return {name: reader(item, f"{where}.{name}") for name, item in table(value, where).items()}

    return read


def word_of(known: Collection[str]) -> Callable[[Any, str], str]:
    """Reads one of the words `known`."""

    def read(value: Any, where: str) -> str:
        word = string(value, where)
        if word not in known:
            choices = ", ".join(sorted(known))
            raise EntryError(where, f'expected one of {choices}, found "{word}"{did_you_mean(word, known)}')
        return word

    return read


def patterns(value: Any, where: str) -> tuple[str, ...]:
    """Reads a list of patterns and writes their alternations out."""
    found = many(_expanded)(value, where)
    if not found:
        raise EntryError(where, "empty; such a row can match nothing")
    return tuple(path for spelled in found for path in spelled)


def exacts(value: Any, where: str) -> tuple[str, ...]:
    """Reads a list of patterns without wildcards."""
    found = patterns(value, where)
    for path in found:
        if not is_exact(path):
            raise EntryError(where, f'"{path}" has a wildcard; names are written out here')
    return found


def path(value: Any, where: str) -> str:
    """Reads one path."""
    found = exacts([value], where)
    if found != (value,):
        raise EntryError(where, f'"{value}" has braces; one path is wanted here')
    return found[0]


def type_template(value: Any, where: str) -> str:
    """Reads a path in which `{#0,name}` stands for an argument."""
    template = string(value, where)
    for hole in _HOLE.findall(template):
        for spelled in hole.split(","):
            slot(spelled, where)
    path(_HOLE.sub("x", template), where)
    return template


def slot(value: Any, where: str) -> Slot:
    """Reads where in a call something is passed."""
    spelled = string(value, where)
    found = _SLOT.fullmatch(spelled)
    if found is None:
        raise EntryError(where, f'"{spelled}" is no argument; write "#0", "name", "name.item" or "headers.*"')
    position = found["position"]
    items = tuple(found["items"].split(".")[1:])
    return Slot(None if position is None else int(position), found["name"], items)


def regex(value: Any, where: str) -> re.Pattern[str]:
    """Reads a regular expression."""
    try:
        return re.compile(string(value, where))
    except re.error as error:
        raise EntryError(where, f"not a regular expression: {error}") from None


def row(kind: type[T], /, **readers: Reader) -> Callable[[Any, str], T]:
    """Reads a table into the dataclass `kind`, each field with its reader; a field without default must be there."""

    def read(value: Any, where: str) -> T:
        return kind(**members(kind, readers, table(value, where), where))

    return read


def members(kind: type[Any], readers: Mapping[str, Reader], found: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The fields of the dataclass `kind` that the table `found` spells."""
    prefix = f"{where}." if where else ""
    for key in found:
        if key not in readers:
            raise EntryError(f"{prefix}{key}", f"unknown key{did_you_mean(key, readers)}")
    for field in fields(kind):
        if field.name in readers and field.name not in found and field.default is field.default_factory is MISSING:
            raise EntryError(f"{prefix}{field.name}", "missing")
    return {key: readers[key](value, f"{prefix}{key}") for key, value in found.items()}


def _expanded(value: Any, where: str) -> tuple[str, ...]:
    try:
        return expand(string(value, where))
    except PatternError as error:
        raise EntryError(where, str(error)) from None


def _wrong_type(where: str, wanted: str, value: object) -> EntryError:
    return EntryError(where, f"expected {wanted}, found {_TOML_NAMES.get(type(value), 'something else')}")
