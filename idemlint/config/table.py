"""A table of keys and values, as TOML gives it, read into a `Layer`; whatever does not fit is named."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from idemlint.config.errors import ConfigError, Misfit
from idemlint.config.layers import Layer
from idemlint.config.settings import FailOn, Scope
from idemlint.config.source import Source
from idemlint.diagnostic import Confidence, Severity
from idemlint.spelling import did_you_mean

E = TypeVar("E", bound=enum.Enum)

_TOML_NAMES = {str: "a string", bool: "a boolean", int: "an integer", float: "a float", list: "a list", dict: "a table"}


def layer_of(table: Mapping[str, Any], *, folder: Path, source: Source, file: Path | None = None) -> Layer:
    """The layer that `table` spells. `folder`, `source` and `file` are those of `Layer`. ConfigError, naming the place,
    for a key that is unknown or a value of the wrong type."""
    try:
        read = {name.replace("-", "_"): _read(name, value) for name, value in table.items()}
    except Misfit as misfit:
        raise ConfigError(f"{source.place(misfit.key)}: {misfit.wrong}") from None
    return Layer(folder=folder, source=source, file=file, **read)


def _read(name: str, value: Any) -> Any:
    if name not in _READERS:
        raise Misfit(name, f"unknown key{did_you_mean(name, _READERS)}")
    return _READERS[name](value, name)


def choices(kind: type[enum.Enum]) -> tuple[str, ...]:
    """The words a user has for the members of `kind`, the least first."""
    return tuple(str(member) for member in kind)


def chosen(word: str, kind: type[E]) -> E:
    """The member of `kind` that `word` names; ValueError if none does."""
    for member in kind:
        if str(member) == word:
            return member
    raise ValueError(word)


def _string(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise _wrong_type(where, "a string", value)
    return value


def _strings(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _wrong_type(where, "a list of strings", value)
    return tuple(_string(item, f"{where}[{index}]") for index, item in enumerate(value))


def _table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong_type(where, "a table", value)
    return value


def _wrong_type(where: str, wanted: str, value: object) -> Misfit:
    return Misfit(where, f"expected {wanted}, found {_TOML_NAMES.get(type(value), 'something else')}")


def _one_of(kind: type[enum.Enum]) -> Callable[[Any, str], enum.Enum]:
    def read(value: Any, where: str) -> enum.Enum:
        word = _string(value, where)
        try:
            return chosen(word, kind)
        except ValueError:
            known = ", ".join(choices(kind))
            hint = did_you_mean(word, choices(kind))
            raise Misfit(where, f'expected one of {known}, found "{word}"{hint}') from None

    return read


def _levels(value: Any, where: str) -> tuple[tuple[str, enum.Enum], ...]:
    level = _one_of(Severity)
    return tuple((rule, level(word, f"{where}.{rule}")) for rule, word in _table(value, where).items())


def _selectors_by_glob(value: Any, where: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((glob, _strings(rules, f'{where}."{glob}"')) for glob, rules in _table(value, where).items())


_READERS: Mapping[str, Callable[[Any, str], object]] = {
    "select": _strings,
    "ignore": _strings,
    "extend-select": _strings,
    "per-file-ignores": _selectors_by_glob,
    "severity": _levels,
    "exclude": _strings,
    "source-roots": _strings,
    "settings-module": _string,
    "catalogs": _strings,
    "min-severity": _one_of(Severity),
    "min-confidence": _one_of(Confidence),
    "fail-on": _one_of(FailOn),
    "scope": _one_of(Scope),
}
