"""The text of a catalog file -> its frozen rows, or a CatalogError that names the file, the line and the key."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from idemlint.catalog import names, rows, vocabulary
from idemlint.catalog import values as read
from idemlint.catalog.consumer import KEPT, Consumer
from idemlint.catalog.errors import CatalogError, EntryError
from idemlint.spelling import did_you_mean
from idemlint.toml import fault, line_of


@dataclass(frozen=True, slots=True)
class Same:
    """Other names under which the thing called `of` can be imported, or things that behave the same."""

    names: tuple[str, ...]
    of: str


@dataclass(frozen=True, slots=True)
class CatalogFile:
    """What one file says. `modules` are the import names it speaks about; `unknown` says what a call into them that
    no row covers counts as: `quiet` (it changes nothing outside) or `unresolved`. The rows from `declare` on belong to
    the framework that each of them names. `source` is the file's name in messages, `text` what stands in it."""

    title: str
    source: str
    text: str = field(repr=False)
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
    consumer: tuple[Consumer, ...] = ()
    kind: Mapping[str, names.Kind] = field(default_factory=dict)
    words: names.Words | None = None
    framework: rows.Framework | None = None
    declare: tuple[rows.Declare, ...] = ()
    declare_class: tuple[rows.DeclareClass, ...] = ()
    listing: tuple[rows.Listing, ...] = ()
    method: tuple[rows.Method, ...] = ()
    send: tuple[rows.Send, ...] = ()
    compose: tuple[rows.Compose, ...] = ()
    companion: tuple[rows.Companion, ...] = ()

    def place(self, key: str) -> str:
        """A key with the file and line where it stands."""
        return _place(self.source, self.text, key)

    def wrong(self, key: str, said: str) -> CatalogError:
        """What is said of an entry that makes no sense beside those of other files."""
        return CatalogError(f"{self.place(key)}: {said}")


OF_FRAMEWORK = ("declare", "declare_class", "listing", "method", "send", "compose", "companion")
"""The tables whose rows belong to a framework."""

BY_CALL = ("effect", "returns", "role", "origin", "guard", "declare", "listing", "send", "compose")
"""The tables whose rows are looked up by what is called."""

BY_NAME = ("constant", "exception")
"""The tables whose rows are looked up by what is named."""


def parse(text: str, source: str, frameworks: Collection[str] = ()) -> CatalogFile:
    """The rows that `text` spells. `source` is the file's name in messages, `frameworks` are those whose rows it may
    add to beside its own."""
    try:
        document = tomllib.loads(text)
        found = read.members(CatalogFile, _FILE, document, "")
        _refuse_repeats(found)
        return CatalogFile(source=source, text=text, **_named(found, frameworks))
    except tomllib.TOMLDecodeError as error:
        line, said = fault(text, error)
        raise CatalogError(f"{source}:{line}: not valid TOML: {said}") from None
    except EntryError as error:
        raise CatalogError(f"{_place(source, text, error.key)}: {error.wrong}") from None


def _place(source: str, text: str, key: str) -> str:
    return f"{source}:{line_of(text, key)}: {key}"


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
    "http": read.row(rows.Http, url=_slots, verb=read.string, verb_argument=_slots, heard=_slots),
}
_TEST: Mapping[str, read.Reader] = {"argument": read.many(read.slot), "matches": read.regex}
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
    "follows": _slots,
    "holder": read.string,
}

_FRAMEWORK: Mapping[str, read.Reader] = {"framework": read.string}

_OF_FRAMEWORK: Mapping[str, read.Reader] = {
    "declare": read.row(
        rows.Declare,
        calls=read.patterns,
        function=_slots,
        name=_slots,
        positional=_strings,
        inside=_strings,
        commit=read.word_of({"now", "deferred", "configured"}),
        instance=read.boolean,
        **_FRAMEWORK,
    ),
    "declare_class": read.row(
        rows.DeclareClass,
        bases=read.patterns,
        run=read.string,
        register=read.patterns,
        options=read.string,
        abstract=read.string,
        name=read.string,
        **_FRAMEWORK,
    ),
    "listing": read.row(
        rows.Listing,
        attributes=_strings,
        calls=read.patterns,
        positional=_strings,
        options=_strings,
        key=read.string,
        coroutines=read.boolean,
        **_FRAMEWORK,
    ),
    "method": read.row(
        rows.Method,
        names=_strings,
        of=read.many(read.word_of({"task", "signature", "composition"})),
        **_SENDING,
        **_FRAMEWORK,
    ),
    "send": read.row(
        rows.Send,
        calls=read.patterns,
        task=_slots,
        by=read.word_of({"name", "function", "functions", "signature", "any"}),
        telling=read.boolean,
        **_SENDING,
        **_FRAMEWORK,
    ),
    "compose": read.row(rows.Compose, calls=read.patterns, **_FRAMEWORK),
    "companion": read.row(
        rows.Companion,
        given=_slots,
        again=read.word_of(vocabulary.AGAIN),
        wraps=read.patterns,
        bound=read.boolean,
        passes=read.by_name(read.path),
        **_FRAMEWORK,
    ),
}

_FILE: Mapping[str, read.Reader] = {
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
            scope=read.word_of(vocabulary.SCOPES),
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
    "consumer": read.many(
        read.row(
            Consumer,
            name=read.string,
            title=read.string,
            receive=read.patterns,
            acknowledge=read.patterns,
            blocks=read.patterns,
            renew=read.patterns,
            telling=_slots,
            mixins=read.patterns,
            method=read.string,
            handlers=_strings,
            records=read.string,
            parts=_strings,
            until=read.string,
            callback=_slots,
            passes=read.by_name(read.path),
            kept=read.word_of(KEPT),
            dropped=_test,
            group=_slots,
            commits=_slots,
            lease=_slots,
            unit=read.typed(float),
            batch=_slots,
            fresh=lambda value, where: frozenset(_strings(value, where)),
            key=read.string,
            message=read.string,
        )
    ),
    "kind": read.by_name(
        read.row(names.Kind, stakes=read.word_of(vocabulary.STAKES), does=read.string, result=read.string),
        vocabulary.KINDS,
    ),
    "words": read.row(
        names.Words,
        money=_strings,
        internal=_strings,
        reads=_strings,
        writes=_strings,
        again=_strings,
        key=_strings,
        no_key=_strings,
        one_row_per_run=_strings,
        measured=_strings,
        credential=_strings,
        locks=_strings,
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
        request=read.by_name(read.word_of(vocabulary.ORIGINS)),
        made_of=_strings,
    ),
    **{table: read.many(reader) for table, reader in _OF_FRAMEWORK.items()},
}


# --- What the file says of its own rows ------------------------------------------------------------------------------


def _named(found: dict[str, Any], frameworks: Collection[str]) -> dict[str, Any]:
    """The file's fields with its title and its framework's name in the rows that carry them."""
    title = found["title"]
    effects = tuple(
        replace(
            row, title=title, variants=tuple(replace(v, effect=replace(v.effect, title=title)) for v in row.variants)
        )
        for row in found.get("effect", ())
    )
    titled = {name: tuple(replace(row, title=title) for row in found.get(name, ())) for name in ("guard", "host")}
    titled["consumer"] = tuple(replace(row, modules=found.get("modules", ())) for row in found.get("consumer", ()))
    own = found.get("framework")
    if own is not None:
        titled["framework"] = replace(own, title=title, libraries=found.get("modules", ()))
    known = {*frameworks, *([own.name] if own is not None else [])}
    for name in OF_FRAMEWORK:
        titled[name] = tuple(
            _of_framework(row, f"{name}[{index}]", own, known) for index, row in enumerate(found.get(name, ()))
        )
    return {**found, **titled, "effect": effects}


def _of_framework(row: Any, where: str, own: rows.Framework | None, known: Collection[str]) -> Any:
    if not row.framework and own is None:
        raise EntryError(f"{where}.framework", "missing, and the file has no [framework] of its own")
    name = row.framework or (own.name if own is not None else "")
    if name not in known:
        raise EntryError(f"{where}.framework", f'unknown framework "{name}"{did_you_mean(name, known)}')
    return replace(row, framework=name)


def _refuse_repeats(found: Mapping[str, Any]) -> None:
    for name in (*BY_CALL, *BY_NAME):
        seen: dict[str, int] = {}
        for index, row in enumerate(found.get(name, ())):
            part = "names" if name in BY_NAME else "calls"
            for path in getattr(row, part):
                if path in seen:
                    raise EntryError(f"{name}[{index}].{part}", f'"{path}" already stands in {name}[{seen[path]}]')
                seen[path] = index
