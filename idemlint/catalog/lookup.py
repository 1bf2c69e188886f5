"""The catalog as the rest of the linter asks it: by dotted path, by name, by address."""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from idemlint.catalog import rows
from idemlint.catalog.errors import CatalogError
from idemlint.catalog.patterns import Index, expand
from idemlint.catalog.schema import parse

T = TypeVar("T")
C = TypeVar("C", rows.Returns, rows.Role, rows.Origin, rows.Guard, rows.Effect, rows.Declare, rows.Send, rows.Compose)

_HOLE = re.compile(r"\{([^{}]*)\}")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class Catalog:
    """All that is known of things outside the project.

    A *path* is the dotted way to what is used: `requests.post`, and through what calls gave, `requests.Session.post`
    (attributes append to the path of the call that made the instance, unless `returns` says what it is). An item
    `x[i]` is `x.__getitem__`, a builtin is `len` or `builtins.len`. Every look-up takes a path as it was written;
    other names of the same thing are put right first.
    """

    frameworks: Mapping[str, rows.Framework]
    kinds: Mapping[str, rows.Kind] = field(repr=False)
    words: rows.Words = field(repr=False)
    _same: Mapping[str, str] = field(repr=False)
    _modules: Mapping[str, str] = field(repr=False)
    _effects: Index[rows.Effect] = field(repr=False)
    _returns: Index[rows.Returns] = field(repr=False)
    _roles: Index[rows.Role] = field(repr=False)
    _origins: Index[rows.Origin] = field(repr=False)
    _guards: Index[rows.Guard] = field(repr=False)
    _declares: Index[rows.Declare] = field(repr=False)
    _classes: Index[rows.DeclareClass] = field(repr=False)
    _registers: Index[rows.DeclareClass] = field(repr=False)
    _sends: Index[rows.Send] = field(repr=False)
    _composes: Index[rows.Compose] = field(repr=False)
    _exceptions: Mapping[str, rows.ExceptionRow] = field(repr=False)
    _hosts: tuple[rows.Host, ...] = field(repr=False)
    _headers: Mapping[str, tuple[str, ...]] = field(repr=False)
    _paths: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    # --- By path -----------------------------------------------------------------------------------------------------

    def canonical(self, path: str) -> str:
        """The one path for a thing with several: `redis.asyncio.client.Redis.incr` is `redis.Redis.incr`."""
        if path not in self._paths:
            self._paths[path] = self._resolve(path)
        return self._paths[path]

    def _resolve(self, path: str) -> str:
        parts = path.split(".")
        if parts[0] in _BUILTINS and parts[0] not in self._modules:
            return f"builtins.{path}"
        # A row of `same` may name another row's name; each step leaves the table for good, so this ends.
        for length in range(len(parts), 0, -1):
            other = self._same.get(".".join(parts[:length]))
            if other is not None:
                return self._resolve(".".join([other, *parts[length:]]))
        return path

    def effect(self, path: str) -> rows.Effect | None:
        """What a call of `path` changes or reads outside; `Effect.given` narrows it by the call's arguments. None if
        the catalog knows of no effect."""
        return self._effects.get(self.canonical(path))

    def returns(self, path: str, arguments: rows.Arguments | None = None) -> str | None:
        """The path of what a call of `path` gives an instance of, if the catalog says so; None if not, or if it hangs
        on an argument that is no literal. Without a row the result is an instance of `path` itself."""
        row = self._returns.get(self.canonical(path))
        return None if row is None else _filled(row.type, arguments or {})

    def returns_class(self, path: str) -> bool:
        """Whether what `returns` names is given as a class or module, still to be called, and not as an instance."""
        row = self._returns.get(self.canonical(path))
        return row is not None and row.is_class

    def role(self, path: str) -> str | None:
        """The structural role of a call, decorator or context manager: a word of `vocabulary.ROLES`."""
        row = self._roles.get(self.canonical(path))
        return row.role if row else None

    def origin(self, path: str, arguments: int = 0) -> str | None:
        """Where the value of a call with so many arguments, or of an attribute, comes from: a word of
        `vocabulary.ORIGINS`. `arguments` means that it depends on its arguments (and receiver) only."""
        row = self._origins.get(self.canonical(path))
        if row is None:
            return None
        return "arguments" if row.pure_from is not None and arguments >= row.pure_from else row.origin

    def guard(self, path: str, arguments: rows.Arguments | None = None) -> rows.Guard | None:
        """The guard that a call of `path` with these arguments puts up; None if it guards nothing."""
        row = self._guards.get(self.canonical(path))
        return row if row and (row.only is None or row.only.holds(arguments or {})) else None

    def exception(self, path: str) -> rows.ExceptionRow | None:
        """What is known of an exception class of a library or of Python itself."""
        return self._exceptions.get(self.canonical(path))

    def ancestors(self, path: str) -> tuple[str, ...]:
        """An exception class and the classes it derives from, nearest first, as far as they are known."""
        chain = [self.canonical(path)]
        while (row := self._exceptions.get(chain[-1])) is not None:
            chain.append(row.base)
        last = chain[-1].removeprefix("builtins.")
        known = getattr(builtins, last, None)
        bases = known.__mro__[1:-1] if isinstance(known, type) else ()
        return (*chain, *(f"builtins.{base.__name__}" for base in bases))

    def knows(self, path: str) -> bool:
        """Whether a call of `path` is understood: builtin, standard library, covered by a row, or in a module whose
        other calls are harmless. A call that is not known counts as unresolved."""
        path = self.canonical(path)
        if self.role(path) == "opaque":
            return False
        if path.partition(".")[0] in sys.stdlib_module_names or path.startswith("builtins."):
            return True
        tables: tuple[Index[Any], ...] = (
            self._effects, self._returns, self._roles, self._origins, self._guards,
            self._declares, self._classes, self._registers, self._sends, self._composes,
        )  # fmt: skip
        return any(table.get(path) is not None for table in tables) or self._module(path) == "quiet"

    def covers(self, path: str) -> bool:
        """Whether some file of the catalog speaks about the module `path` lies in."""
        return self._module(self.canonical(path)) is not None

    def _module(self, path: str) -> str | None:
        parts = path.split(".")
        prefixes = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
        return next((self._modules[prefix] for prefix in prefixes if prefix in self._modules), None)

    # --- Task frameworks ---------------------------------------------------------------------------------------------

    def framework(self, name: str) -> rows.Framework:
        """The framework of that name; KeyError if there is none."""
        return self.frameworks[name]

    def declares(self, path: str) -> rows.Declare | None:
        """How a call of `path`, bare as a decorator or with options, makes a function a task."""
        return self._declares.get(self.canonical(path))

    def task_base(self, path: str) -> rows.DeclareClass | None:
        """How a subclass of the class `path` is a task."""
        return self._classes.get(self.canonical(path))

    def registers(self, path: str) -> rows.DeclareClass | None:
        """Whose task class a call of `path` registers."""
        return self._registers.get(self.canonical(path))

    def sends(self, path: str) -> rows.Send | None:
        """How a call of `path` sends the task that it is given."""
        return self._sends.get(self.canonical(path))

    def composes(self, path: str) -> rows.Compose | None:
        """Whether a call of `path` ties signatures together."""
        return self._composes.get(self.canonical(path))

    def scan_words(self) -> frozenset[str]:
        """The identifiers that make a file worth reading: declarations, sends and commit hooks."""
        words = {word for framework in self.frameworks.values() for word in framework.words}
        for framework in self.frameworks.values():
            words.update(name for row in framework.methods if row.does == "enqueue" for name in row.names)
            named = (row for row in framework.sends if row.does == "enqueue" and row.by != "signature")
            words.update(_last(call) for row in named for pattern in row.calls for call in expand(pattern))
        words.update(_last(path) for path, row in self._roles.exact() if row.role == "on-commit")
        return frozenset(word for word in words if not word.startswith("__") and "*" not in word)

    # --- By name and address -----------------------------------------------------------------------------------------

    def is_key_header(self, name: str, host: str | None = None) -> bool:
        """Whether a request header makes the provider at `host` (None: unknown, any of them) recognise a repeat."""
        hosts = self._headers.get(name.casefold())
        if hosts is None:
            return self.is_key_name(name)
        return not hosts or host is None or _host_fits(host, hosts)

    def is_key_name(self, name: str, host: str | None = None) -> bool:
        """Whether the name of a parameter or header alone says that its value is there to recognise repeats. A header
        that only some hosts read so counts where `host` is one of them."""
        hosts = self._headers.get(name.casefold())
        if hosts is not None and (not hosts or (host is not None and _host_fits(host, hosts))):
            return True
        spelled = name.casefold().replace("_", "-")
        if any(fnmatchcase(spelled, pattern) for pattern in self.words.no_key):
            return False
        return any(fnmatchcase(spelled, pattern) for pattern in self.words.key)

    def host(self, url: str) -> rows.Host | None:
        """What is known of the provider behind an address; a trailing part that is unknown may simply be left out."""
        address = urlsplit(url if "//" in url else f"//{url}")
        name = (address.hostname or "").casefold()
        return next(
            (
                row
                for row in self._hosts
                if _host_fits(name, row.hosts) and (row.path is None or row.path.search(address.path))
            ),
            None,
        )

    def reads(self, name: str) -> bool:
        """Whether the name of a function, or an address, says that a POST to it only reads."""
        return any(word in self.words.reads for word in _words(name))

    def stakes_of(self, field_name: str) -> str:
        """Who is hurt when a column of this name is wrong: `money`, `internal` or, where the name says nothing,
        `customer`. The last word that says something decides: `credit_attempts` are attempts."""
        for word in reversed(_words(field_name)):
            for stakes in ("money", "internal"):
                if word in getattr(self.words, stakes):
                    return stakes
        return "customer"

    def one_row_per_run(self, model_name: str) -> bool:
        """Whether a model's name says that it is meant to get a row each time something is tried."""
        return model_name.endswith(self.words.one_row_per_run)


def load(extra: Sequence[Path] = ()) -> Catalog:
    """The catalog that ships with idemlint, and the files `extra` on top: where both speak of a path, the later file
    wins. CatalogError, naming file and key, for an entry that makes no sense or a file that cannot be read."""
    return _built([*_shipped(), *(parse(_text(path), str(path)) for path in extra)]) if extra else _plain()


@cache
def _plain() -> Catalog:
    return _built(_shipped())


def _shipped() -> list[rows.CatalogFile]:
    folder = resources.files("idemlint.catalog")
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=lambda file: file.name)
    return [parse(file.read_text(encoding="utf-8"), file.name) for file in files]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CatalogError(f"{path}: cannot be read: {error}") from None


def _built(files: Sequence[rows.CatalogFile]) -> Catalog:
    kinds = {name: kind for file in files for name, kind in file.kind.items()}
    frameworks = {file.framework.name: file.framework for file in files if file.framework}
    of_frameworks = frameworks.values()
    return Catalog(
        frameworks=frameworks,
        kinds=kinds,
        words=_merged(file.words for file in files if file.words),
        _same={name: row.of for file in files for row in file.same for names in row.names for name in expand(names)},
        _modules={module: file.unknown for file in files for module in file.modules},
        _effects=_index(_explained(row, kinds) for file in files for row in file.effect),
        _returns=_index(row for file in files for row in file.returns),
        _roles=_index(row for file in files for row in file.role),
        _origins=_index(row for file in files for row in file.origin),
        _guards=_index(row for file in files for row in file.guard),
        _declares=_index(row for framework in of_frameworks for row in framework.declares),
        _classes=Index((path, row) for framework in of_frameworks for row in framework.classes for path in row.bases),
        _registers=Index(
            (path, row) for framework in of_frameworks for row in framework.classes for path in row.register
        ),
        _sends=_index(row for framework in of_frameworks for row in framework.sends),
        _composes=_index(row for framework in of_frameworks for row in framework.composes),
        _exceptions={
            name: row for file in files for row in file.exception for names in row.names for name in expand(names)
        },
        # The last file is asked first, as in the other tables.
        _hosts=tuple(_of_kind(row, kinds) for file in reversed(files) for row in file.host),
        _headers={name.casefold(): row.hosts for file in files for row in file.header for name in row.names},
    )


def _index(found: Iterable[C]) -> Index[C]:
    return Index((pattern, row) for row in found for pattern in row.calls)


def _explained(row: rows.Effect, kinds: Mapping[str, rows.Kind]) -> rows.Effect:
    variants = tuple(replace(variant, effect=_of_kind(variant.effect, kinds)) for variant in row.variants)
    return replace(_of_kind(row, kinds), variants=variants)


E = TypeVar("E", rows.Effect, rows.Host)


def _of_kind(row: E, kinds: Mapping[str, rows.Kind]) -> E:
    kind = kinds.get(row.kind)
    if kind is None:
        return row
    return replace(row, stakes=row.stakes or kind.stakes, does=row.does or kind.does, result=row.result or kind.result)


def _merged(words: Iterable[rows.Words]) -> rows.Words:
    names = rows.Words.__dataclass_fields__
    found = list(words)
    return rows.Words(**{name: tuple(word for each in found for word in getattr(each, name)) for name in names})


def _filled(template: str, arguments: rows.Arguments) -> str | None:
    complete = True

    def fill(hole: re.Match[str]) -> str:
        nonlocal complete
        given = [arguments[slot] for slot in hole[1].split(",") if isinstance(arguments.get(slot), str)]
        complete = complete and bool(given)
        return str(given[0]) if given else ""

    filled = _HOLE.sub(fill, template)
    return filled if complete else None


def _host_fits(name: str, hosts: Iterable[str]) -> bool:
    return any(fnmatchcase(name, spelled) for pattern in hosts for spelled in expand(pattern))


def _words(name: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(name)]


def _last(path: str) -> str:
    return path.rpartition(".")[2]
