"""The text of a catalog file -> its frozen rows, or a CatalogError that names the file and the key."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from idemlint.catalog import names, rows, vocabulary
from idemlint.catalog import values as read
from idemlint.catalog.errors import CatalogError


@dataclass(frozen=True, slots=True)
class Same:
    """Other names under which the thing called `of` can be imported, or things that behave the same."""

    names: tuple[str, ...]
    of: str


@dataclass(frozen=True, slots=True)
class CatalogFile:
    """What one file says. `modules` are the import names it speaks about; `unknown` says what a call into them that
    no row covers counts as: `quiet` (it changes nothing outside) or `unresolved`."""

    title: str
    source: str
    modules: tuple[str, ...] = ()
    unknown: str = "quiet"
    same: tuple[Same, ...] = ()
    effect: tuple[rows.Effect, ...] = ()
    returns: tuple[rows.Returns, ...] = ()
    role: tuple[rows.Role, ...] = ()
    origin: tuple[rows.Origin, ...] = ()
    guard: tuple[rows.Guard, ...] = ()
    exception: tuple[rows.ExceptionRow, ...] = ()
    constant: tuple[rows.Constant, ...] = ()
    host: tuple[names.Host, ...] = ()
    header: tuple[names.Header, ...] = ()
    kind: Mapping[str, names.Kind] = field(default_factory=dict)
    words: names.Words | None = None
    framework: rows.Framework | None = None


def parse(text: str, source: str) -> CatalogFile:
    """The rows that `text` spells. `source` is the file's name in messages."""
    try:
        document = tomllib.loads(text)
        found = read.members(CatalogFile, _FILE, {"source": source, **document}, "")
        _refuse_repeats(found)
        return CatalogFile(**_named(found))
    except (tomllib.TOMLDecodeError, CatalogError) as error:
        raise CatalogError(f"{source}: {error}") from None


# --- Rows ------------------------------------------------------------------------------------------------------------

_slots = read.many(read.slot)
_strings = read.many(read.string)

_CONSEQUENCE: Mapping[str, read.Reader] = {
    "kind": read.word_of(vocabulary.KINDS),
    "stakes": read.word_of(vocabulary.STAKES),
    "key": _slots,
    "does": read.string,
    "result": read.string,
    "fix": read.string,
}
_EFFECT: Mapping[str, read.Reader] = {
    **_CONSEQUENCE,
    "calls": read.patterns,
    "replay": read.word_of(vocabulary.REPLAYS),
    "target": _slots,
    "random_key": read.boolean,
    "http": read.row(rows.Http, url=_slots, verb=read.string, verb_argument=_slots),
}
_TEST: Mapping[str, read.Reader] = {"argument": read.many(read.whole_slot), "matches": read.regex}
_test = read.row(rows.Test, **_TEST)


def _effect(value: Any, where: str) -> rows.Effect:
    table = dict(read.table(value, where))
    variants = read.many(read.table)(table.pop("when", []), f"{where}.when")
    return rows.Effect(
        **read.members(rows.Effect, _EFFECT, table, where),
        variants=tuple(_variant(table, changes, f"{where}.when[{index}]") for index, changes in enumerate(variants)),
    )


def _variant(base: Mapping[str, Any], table: Mapping[str, Any], where: str) -> rows.Variant:
    test = {key: value for key, value in table.items() if key in _TEST}
    changes = {key: value for key, value in table.items() if key not in _TEST}
    # What the base row says of its kind does not hold for another kind.
    dropped = ("stakes", "does", "result", "fix") if "kind" in changes else ()
    kept = {key: value for key, value in base.items() if key not in dropped}
    effect = rows.Effect(**read.members(rows.Effect, _EFFECT, {**kept, **changes}, where))
    return rows.Variant(_test(test, where), effect)


_SENDING: Mapping[str, read.Reader] = {
    "does": read.word_of(vocabulary.SENDINGS),
    "arguments": read.word_of({"direct", "args-kwargs", "items", "none"}),
    "args": _slots,
    "kwargs": _slots,
    "options": _strings,
    "commit": read.word_of({"now", "deferred", "configured"}),
    "countdown": _slots,
    "moment": _slots,
}

_OF_FRAMEWORK: Mapping[str, tuple[str, read.Reader]] = {
    "declare": (
        "declares",
        read.row(
            rows.Declare,
            calls=read.patterns,
            function=_slots,
            name=_slots,
            bare=read.boolean,
            positional=_strings,
            commit=read.word_of({"now", "deferred", "configured"}),
            instance=read.boolean,
        ),
    ),
    "declare_class": (
        "classes",
        read.row(
            rows.DeclareClass,
            bases=read.patterns,
            run=read.string,
            register=read.patterns,
            options=read.string,
            abstract=read.string,
            name=read.string,
        ),
    ),
    "listing": (
        "listings",
        read.row(rows.Listing, attributes=_strings, calls=read.patterns, key=read.string, coroutines=read.boolean),
    ),
    "method": (
        "methods",
        read.row(
            rows.Method,
            names=_strings,
            of=read.many(read.word_of({"task", "signature", "composition"})),
            **_SENDING,
        ),
    ),
    "send": (
        "sends",
        read.row(
            rows.Send,
            calls=read.patterns,
            task=_slots,
            by=read.word_of({"name", "function", "signature", "any"}),
            telling=read.boolean,
            **_SENDING,
        ),
    ),
    "compose": ("composes", read.row(rows.Compose, calls=read.patterns)),
}
"""Table of the file -> field of the framework, and how its rows are read."""

_FILE: Mapping[str, read.Reader] = {
    "source": read.string,
    "title": read.string,
    "modules": read.many(read.path),
    "unknown": read.word_of({"quiet", "unresolved"}),
    "same": read.many(read.row(Same, names=read.exacts, of=read.path)),
    "effect": read.many(_effect),
    "returns": read.many(read.row(rows.Returns, calls=read.patterns, type=read.type_template)),
    "role": read.many(read.row(rows.Role, calls=read.patterns, role=read.word_of(vocabulary.ROLES))),
    "origin": read.many(
        read.row(rows.Origin, calls=read.patterns, origin=read.word_of(vocabulary.ORIGINS), pure_from=read.integer)
    ),
    "guard": read.many(
        read.row(
            rows.Guard,
            calls=read.patterns,
            guard=read.word_of(vocabulary.GUARDS),
            won=read.word_of(vocabulary.OUTCOMES),
            scope=read.word_of({"shared", "process"}),
            key=_slots,
            expiry=_slots,
            expires=read.word_of({"always", "never", "given"}),
            own_retry=read.boolean,
            only=_test,
        )
    ),
    "constant": read.many(read.row(rows.Constant, names=read.exacts, value=read.string)),
    "exception": read.many(
        read.row(
            rows.ExceptionRow,
            names=read.exacts,
            means=read.word_of(vocabulary.MEANINGS),
            base=read.path,
            keeps_transaction=read.boolean,
        )
    ),
    "host": read.many(read.row(names.Host, hosts=read.patterns, path=read.regex, quiet=read.boolean, **_CONSEQUENCE)),
    "header": read.many(read.row(names.Header, names=_strings, hosts=read.patterns)),
    "kind": read.by_name(
        read.row(names.Kind, stakes=read.word_of(vocabulary.STAKES), does=read.string, result=read.string),
        vocabulary.KINDS,
    ),
    "words": read.row(
        names.Words,
        money=_strings,
        internal=_strings,
        neutral=_strings,
        reads=_strings,
        writes=_strings,
        key=_strings,
        no_key=_strings,
        one_row_per_run=_strings,
        measured=_strings,
        credential=_strings,
    ),
    "framework": read.row(
        rows.Framework,
        name=read.string,
        words=_strings,
        packages=_strings,
        bound=read.string,
        context=read.string,
        naming=read.string,
        options=_strings,
        sent=_strings,
        unique=_strings,
        defaults=read.by_name(read.anything),
        request=read.by_name(read.word_of(vocabulary.ORIGINS)),
    ),
    **{table: read.many(reader) for table, (_, reader) in _OF_FRAMEWORK.items()},
}


# --- What the file says of its own rows ------------------------------------------------------------------------------


def _named(found: dict[str, Any]) -> dict[str, Any]:
    """The file's fields with its title and its framework's name in the rows that carry them."""
    title = found["title"]
    effects = tuple(
        replace(
            row, title=title, variants=tuple(replace(v, effect=replace(v.effect, title=title)) for v in row.variants)
        )
        for row in found.get("effect", ())
    )
    titled = {name: tuple(replace(row, title=title) for row in found.get(name, ())) for name in ("guard", "host")}
    of_framework = {name: found.pop(name, ()) for name in _OF_FRAMEWORK}
    framework = found.get("framework")
    if framework is None:
        stray = next((name for name, of_name in of_framework.items() if of_name), None)
        if stray:
            raise CatalogError(f"{stray}: belongs to a [framework], and the file has none")
        return {**found, **titled, "effect": effects}
    owned = {
        _OF_FRAMEWORK[name][0]: tuple(replace(row, framework=framework.name) for row in of_name)
        for name, of_name in of_framework.items()
    }
    return {
        **found,
        **titled,
        "effect": effects,
        "framework": replace(framework, title=title, libraries=found["modules"], **owned),
    }


def _refuse_repeats(found: Mapping[str, Any]) -> None:
    for name in ("effect", "returns", "role", "origin", "guard"):
        seen: dict[str, int] = {}
        for index, row in enumerate(found.get(name, ())):
            for path in row.calls:
                if path in seen:
                    raise CatalogError(f'{name}[{index}].calls: "{path}" already stands in {name}[{seen[path]}]')
                seen[path] = index
