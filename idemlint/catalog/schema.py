"""The text of a catalog file -> its frozen rows, or a CatalogError that names the file and the key."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, fields, replace
from typing import Any, TypeAlias, TypeVar

from idemlint.catalog import rows, vocabulary
from idemlint.catalog.errors import CatalogError, did_you_mean
from idemlint.catalog.patterns import PatternError, expand, is_exact

T = TypeVar("T")
Reader: TypeAlias = Callable[[Any, str], Any]

_SLOT = re.compile(r"(?:#(?P<position>\d+)|(?P<name>\w+))(?P<items>(?:\.(?:#\d+|[\w-]+))*(?:\.\*)?)")
_HOLE = re.compile(r"\{([^{}]*)\}")
_TOML_NAMES = {str: "a string", bool: "a boolean", int: "an integer", float: "a float", list: "a list", dict: "a table"}


def parse(text: str, source: str) -> rows.CatalogFile:
    """The rows that `text` spells. `source` is the file's name in messages."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CatalogError(f"{source}: {error}") from None
    try:
        read = _fields(rows.CatalogFile, _FILE, {"source": source, **document}, "")
        _refuse_repeats(read)
        return rows.CatalogFile(**_titled(read))
    except CatalogError as error:
        raise CatalogError(f"{source}: {error}") from None


# --- Plain values ----------------------------------------------------------------------------------------------------


def _typed(kind: type[T]) -> Callable[[Any, str], T]:
    def read(value: Any, where: str) -> T:
        if type(value) is not kind:
            raise _wrong_type(where, _TOML_NAMES[kind], value)
        return value

    return read


_string = _typed(str)
_boolean = _typed(bool)
_integer = _typed(int)
_table = _typed(dict)


def _many(reader: Callable[[Any, str], T]) -> Callable[[Any, str], tuple[T, ...]]:
    def read(value: Any, where: str) -> tuple[T, ...]:
        if not isinstance(value, list):
            raise _wrong_type(where, "a list", value)
        return tuple(reader(item, f"{where}[{index}]") for index, item in enumerate(value))

    return read


def _word_of(known: Collection[str]) -> Callable[[Any, str], str]:
    def read(value: Any, where: str) -> str:
        word = _string(value, where)
        if word not in known:
            choices = ", ".join(sorted(known))
            raise CatalogError(f'{where}: expected one of {choices}, found "{word}"{did_you_mean(word, known)}')
        return word

    return read


def _wrong_type(where: str, wanted: str, value: object) -> CatalogError:
    return CatalogError(f"{where}: expected {wanted}, found {_TOML_NAMES.get(type(value), 'something else')}")


def _pattern(value: Any, where: str) -> str:
    pattern = _string(value, where)
    try:
        expand(pattern)
    except PatternError as error:
        raise CatalogError(f"{where}: {error}") from None
    return pattern


def _exact(value: Any, where: str) -> str:
    path = _pattern(value, where)
    if not is_exact(path):
        raise CatalogError(f'{where}: "{path}" has a wildcard; names are written out here')
    return path


def _path(value: Any, where: str) -> str:
    path = _exact(value, where)
    if expand(path) != (path,):
        raise CatalogError(f'{where}: "{path}" has braces; one path is wanted here')
    return path


def _type(value: Any, where: str) -> str:
    template = _string(value, where)
    for hole in _HOLE.findall(template):
        for slot in hole.split(","):
            _slot(slot, where)
    _path(_HOLE.sub("x", template), where)
    return template


def _slot(value: Any, where: str) -> rows.Slot:
    spelled = _string(value, where)
    found = _SLOT.fullmatch(spelled)
    if found is None:
        raise CatalogError(f'{where}: "{spelled}" is no argument; write "#0", "name", "name.item" or "headers.*"')
    position = found["position"]
    items = tuple(found["items"].split(".")[1:])
    return rows.Slot(None if position is None else int(position), found["name"], items)


def _regex(value: Any, where: str) -> re.Pattern[str]:
    try:
        return re.compile(_string(value, where))
    except re.error as error:
        raise CatalogError(f"{where}: not a regular expression: {error}") from None


def _by_name(reader: Callable[[Any, str], T]) -> Callable[[Any, str], dict[str, T]]:
    def read(value: Any, where: str) -> dict[str, T]:
        return {name: reader(item, f"{where}.{name}") for name, item in _table(value, where).items()}

    return read


def _anything(value: Any, where: str) -> object:
    return value


# --- Rows ------------------------------------------------------------------------------------------------------------


def _fields(row: type[Any], readers: Mapping[str, Reader], table: Mapping[str, Any], where: str) -> dict[str, Any]:
    prefix = f"{where}." if where else ""
    for key in table:
        if key not in readers:
            raise CatalogError(f"{prefix}{key}: unknown key{did_you_mean(key, readers)}")
    for field in fields(row):
        if field.name in readers and field.name not in table and field.default is field.default_factory is MISSING:
            raise CatalogError(f"{prefix}{field.name}: missing")
    return {key: readers[key](value, f"{prefix}{key}") for key, value in table.items()}


def _row(row: type[T], /, **readers: Reader) -> Callable[[Any, str], T]:
    def read(value: Any, where: str) -> T:
        return row(**_fields(row, readers, _table(value, where), where))

    return read


_patterns = _many(_pattern)
_exacts = _many(_exact)
_slots = _many(_slot)
_strings = _many(_string)

_CONSEQUENCE: Mapping[str, Reader] = {
    "kind": _word_of(vocabulary.KINDS),
    "stakes": _word_of(vocabulary.STAKES),
    "key": _slots,
    "does": _string,
    "result": _string,
    "fix": _string,
}
_HTTP = _row(rows.Http, url=_slots, verb=_string, verb_argument=_slots)
_EFFECT: Mapping[str, Reader] = {
    **_CONSEQUENCE,
    "calls": _patterns,
    "replay": _word_of(vocabulary.REPLAYS),
    "target": _slots,
    "random_key": _boolean,
    "http": _HTTP,
}
_TEST: Mapping[str, Reader] = {"argument": _slots, "matches": _regex}
_test = _row(rows.Test, **_TEST)


def _effect(value: Any, where: str) -> rows.Effect:
    table = dict(_table(value, where))
    variants = _many(_table)(table.pop("when", []), f"{where}.when")
    return rows.Effect(
        **_fields(rows.Effect, _EFFECT, table, where),
        variants=tuple(_variant(table, changes, f"{where}.when[{index}]") for index, changes in enumerate(variants)),
    )


def _variant(base: Mapping[str, Any], table: Mapping[str, Any], where: str) -> rows.Variant:
    test = {key: value for key, value in table.items() if key in _TEST}
    changes = {key: value for key, value in table.items() if key not in _TEST}
    # What the base row says of its kind does not hold for another kind.
    kept = {k: v for k, v in base.items() if "kind" not in changes or k not in ("stakes", "does", "result", "fix")}
    return rows.Variant(_test(test, where), rows.Effect(**_fields(rows.Effect, _EFFECT, {**kept, **changes}, where)))


_SENDING: Mapping[str, Reader] = {
    "does": _word_of(vocabulary.SENDINGS),
    "arguments": _word_of({"direct", "args-kwargs", "items", "none"}),
    "args": _slots,
    "kwargs": _slots,
    "options": _strings,
    "commit": _word_of({"now", "deferred"}),
}

_FRAMEWORK_ROWS: Mapping[str, Reader] = {
    "declare": _row(rows.Declare, calls=_patterns, function=_slots, name=_slots, bare=_boolean),
    "declare_class": _row(rows.DeclareClass, bases=_patterns, run=_string, register=_patterns),
    "method": _row(rows.Method, names=_strings, of=_many(_word_of({"task", "signature", "composition"})), **_SENDING),
    "send": _row(
        rows.Send,
        calls=_patterns,
        task=_slots,
        by=_word_of({"name", "function", "signature", "any"}),
        **_SENDING,
    ),
    "compose": _row(rows.Compose, calls=_patterns),
}
_FRAMEWORK_FIELDS = {
    "declare": "declares",
    "declare_class": "classes",
    "method": "methods",
    "send": "sends",
    "compose": "composes",
}

_FILE: Mapping[str, Reader] = {
    "source": _string,
    "title": _string,
    "modules": _many(_path),
    "unknown": _word_of({"quiet", "unresolved"}),
    "same": _many(_row(rows.Same, names=_exacts, of=_path)),
    "effect": _many(_effect),
    "returns": _many(_row(rows.Returns, calls=_patterns, type=_type, is_class=_boolean)),
    "role": _many(_row(rows.Role, calls=_patterns, role=_word_of(vocabulary.ROLES))),
    "origin": _many(_row(rows.Origin, calls=_patterns, origin=_word_of(vocabulary.ORIGINS), pure_from=_integer)),
    "guard": _many(
        _row(
            rows.Guard,
            calls=_patterns,
            guard=_word_of(vocabulary.GUARDS),
            won=_word_of(vocabulary.OUTCOMES),
            scope=_word_of({"shared", "process"}),
            key=_slots,
            expiry=_slots,
            expires=_word_of({"always", "never", "given"}),
            only=_test,
        )
    ),
    "exception": _many(_row(rows.ExceptionRow, names=_exacts, means=_word_of(vocabulary.MEANINGS), base=_path)),
    "host": _many(_row(rows.Host, hosts=_patterns, path=_regex, quiet=_boolean, **_CONSEQUENCE)),
    "header": _many(_row(rows.Header, names=_strings, hosts=_patterns)),
    "kind": _by_name(_row(rows.Kind, stakes=_word_of(vocabulary.STAKES), does=_string, result=_string)),
    "words": _row(
        rows.Words,
        money=_strings,
        internal=_strings,
        neutral=_strings,
        reads=_strings,
        key=_strings,
        no_key=_strings,
        one_row_per_run=_strings,
    ),
    "framework": _row(
        rows.Framework,
        name=_string,
        words=_strings,
        bound=_string,
        options=_strings,
        defaults=_by_name(_anything),
        request=_by_name(_word_of(vocabulary.ORIGINS)),
    ),
    **{name: _many(reader) for name, reader in _FRAMEWORK_ROWS.items()},
}


# --- What the file says of its own rows ------------------------------------------------------------------------------


def _titled(read: dict[str, Any]) -> dict[str, Any]:
    title = read["title"]
    for name in ("effect", "guard", "host"):
        read[name] = tuple(replace(row, title=title) for row in read.get(name, ()))
    read["effect"] = tuple(
        replace(row, variants=tuple(replace(v, effect=replace(v.effect, title=title)) for v in row.variants))
        for row in read["effect"]
    )
    rows_of_framework = {name: read.pop(name, ()) for name in _FRAMEWORK_ROWS}
    framework = read.get("framework")
    if framework is None:
        stray = next((name for name, found in rows_of_framework.items() if found), None)
        if stray:
            raise CatalogError(f"{stray}: belongs to a [framework], and the file has none")
        return read
    named = {
        _FRAMEWORK_FIELDS[name]: tuple(replace(row, framework=framework.name) for row in found)
        for name, found in rows_of_framework.items()
    }
    return {**read, "framework": replace(framework, title=title, **named)}


def _refuse_repeats(read: Mapping[str, Any]) -> None:
    for name in ("effect", "returns", "role", "origin", "guard"):
        seen: dict[str, int] = {}
        for index, row in enumerate(read.get(name, ())):
            for path in (path for pattern in row.calls for path in expand(pattern)):
                if path in seen:
                    raise CatalogError(f'{name}[{index}].calls: "{path}" already stands in {name}[{seen[path]}]')
                seen[path] = index
