"""The catalog as the rest of the linter asks it: by dotted path, by name, by address."""

from __future__ import annotations

import builtins
import re
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from idemlint.catalog import names, rows
from idemlint.catalog.consumer import Consumer
from idemlint.catalog.own import Own
from idemlint.catalog.patterns import Index
from idemlint.catalog.renaming import Renaming

_HOLE = re.compile(r"\{([^{}]*)\}")
_ADDRESS = re.compile(r"(?:(?:[\w+.-]+:)?//)?(?:[^/@]*@)?(?P<host>[^/:?#]*)(?::\d*)?(?P<path>[^?#]*)")
_ANYTHING = frozenset({"contents", "import", "lazy"})
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True, slots=True)
class Tables:
    """The rows of all files, by what they are asked for."""

    modules: Mapping[str, str]
    effects: Index[rows.Effect]
    returns: Index[rows.Returns]
    roles: Index[rows.Role]
    origins: Index[rows.Origin]
    guards: Index[rows.Guard]
    declares: Index[rows.Declare]
    classes: Index[rows.DeclareClass]
    registers: Index[rows.DeclareClass]
    sends: Index[rows.Send]
    composes: Index[rows.Compose]
    listings: Index[rows.Listing]
    receives: Index[Consumer]
    acknowledges: Index[Consumer]
    blocks: Index[Consumer]
    renews: Index[Consumer]
    constants: Mapping[str, str]
    exceptions: Mapping[str, rows.ExceptionRow]
    hosts: tuple[names.Host, ...]
    headers: Mapping[str, tuple[str, ...]]

    def cover(self, path: str) -> bool:
        """Whether a row speaks of this path."""
        indexes: tuple[Index[Any], ...] = (
            self.effects, self.returns, self.roles, self.origins, self.guards,
            self.declares, self.classes, self.registers, self.sends, self.composes, self.listings,
            self.receives, self.acknowledges, self.blocks, self.renews,
        )  # fmt: skip
        return path in self.exceptions or any(index.get(path) is not None for index in indexes)


@dataclass(frozen=True, slots=True)
class Catalog:
    """All that is known of things outside the project.

    A *path* is the dotted way to what is used: `requests.post`, and through what calls gave, `requests.Session.post`
    (attributes append to the path of the call that made the instance, unless `returns` says what it is). An item
    `x[i]` is `x.__getitem__`, a builtin is `len` or `builtins.len`. Every look-up takes a path as it was written;
    other names of the same thing are put right first.
    """

    frameworks: Mapping[str, rows.Framework]
    kinds: Mapping[str, names.Kind] = field(repr=False)
    words: names.Words = field(repr=False)
    renaming: Renaming = field(repr=False)
    consumers: tuple[Consumer, ...] = field(repr=False)
    tables: Tables = field(repr=False)
    own: Own = field(repr=False)

    # --- By path -----------------------------------------------------------------------------------------------------

    def canonical(self, path: str) -> str:
        """The one path for a thing with several: `redis.asyncio.client.Redis.incr` is `redis.Redis.incr`."""
        return self.renaming.canonical(path)

    def effect(self, path: str) -> rows.Effect | None:
        """What a call of `path` changes or reads outside; `Effect.given` narrows it by the call's arguments. None if
        the catalog knows of no effect."""
        return self.tables.effects.get(self.canonical(path))

    def returns(self, path: str, arguments: rows.Arguments | None = None) -> str | None:
        """The path of what a call of `path` gives an instance of, if the catalog says so; None if not, or if it hangs
        on an argument that is no literal. Without a row the result is an instance of `path` itself."""
        path = self.canonical(path)
        row = self.tables.returns.get(path)
        return None if row is None else _filled(row.type, {"owner": path.rpartition(".")[0], **(arguments or {})})

    def role(self, path: str) -> str | None:
        """What a call, decorator or context manager means to the code around it: a word of `vocabulary.ROLES`."""
        row = self.tables.roles.get(self.canonical(path))
        return row.role if row else None

    def origin(self, path: str, arguments: int = 0) -> str | None:
        """Where the value of a call with so many arguments, or of an attribute, comes from: a word of
        `vocabulary.ORIGINS`. `arguments` means that it depends on its arguments (and receiver) only."""
        row = self.tables.origins.get(self.canonical(path))
        if row is None:
            return None
        return "arguments" if row.pure_from is not None and arguments >= row.pure_from else row.origin

    def guard(self, path: str, arguments: rows.Arguments | None = None) -> rows.Guard | None:
        """The guard that a call of `path` with these arguments puts up; None if it guards nothing."""
        row = self.tables.guards.get(self.canonical(path))
        return row if row and (row.only is None or row.only.holds(arguments or {})) else None

    def constant(self, path: str) -> str | None:
        """The text that a name of a library stands for, if it is known."""
        return self.tables.constants.get(self.canonical(path))

    def exception(self, path: str) -> rows.ExceptionRow | None:
        """What is known of an exception class of a library or of Python itself."""
        return self.tables.exceptions.get(self.canonical(path))

    def ancestors(self, path: str) -> tuple[str, ...]:
        """An exception class and the classes it derives from, nearest first, as far as they are known."""
        chain = [self.canonical(path)]
        while (row := self.tables.exceptions.get(chain[-1])) is not None and row.base not in chain:
            chain.append(row.base)
        known = getattr(builtins, chain[-1].removeprefix("builtins."), None)
        bases = known.__mro__[1:-1] if isinstance(known, type) else ()
        return (*chain, *(f"builtins.{base.__name__}" for base in bases))

    def owns(self, path: str) -> bool:
        """Whether a row of the user's own speaks of this path, as it is written there."""
        return self.own.names.get(path) is not None

    def leads_to_own(self, path: str) -> bool:
        """Whether such a row speaks of something further along this path."""
        return path in self.own.above

    def knows(self, path: str) -> bool:
        """Whether a call of `path` is understood: builtin, standard library, covered by a row, or in a module whose
        other calls are harmless. A call that is not known counts as unresolved."""
        if self.owns(path) or self.owns(self.canonical(path)):
            return True
        path = self.canonical(path)
        ends = [index for index, letter in enumerate(path) if letter == "."]
        if self.role(path) == "opaque" or any(self.role(path[:end]) in _ANYTHING for end in ends):
            return False
        if path.partition(".")[0] in sys.stdlib_module_names or path.startswith("builtins."):
            return True
        return self.tables.cover(path) or self._module(path) == "quiet"

    def _module(self, path: str) -> str | None:
        parts = path.split(".")
        prefixes = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
        return next((self.tables.modules[prefix] for prefix in prefixes if prefix in self.tables.modules), None)

    # --- Task frameworks ---------------------------------------------------------------------------------------------

    def packages(self) -> frozenset[str]:
        """The distributions whose versions say how the frameworks behave."""
        return frozenset(
            name for framework in self.frameworks.values() for name in framework.packages or (framework.name,)
        )

    def framework(self, name: str) -> rows.Framework:
        """The framework of that name, or what is known as one of a queue without; KeyError if there is none."""
        if name in {row.name for row in self.consumers}:
            return rows.Framework(name, ())
        return self.frameworks[name]

    def declares(self, path: str) -> rows.Declare | None:
        """How a call of `path`, bare as a decorator or with options, makes a function a task."""
        path = self.canonical(path)
        return self.tables.declares.get(path) or self._extending(path)

    def _extending(self, path: str) -> rows.Declare | None:
        """The same for a package that extends a framework: it carries the framework's name among other words, and
        calls what declares tasks as the framework does (`tenant_schemas_celery.task`)."""
        package, _, rest = path.partition(".")
        words = set(package.split("_")) - {package}
        for framework in self.frameworks.values() if words and rest else ():
            if not words.isdisjoint(framework.libraries):
                name = path.rpartition(".")[2]
                calls = ((row, call) for row in framework.declares for call in row.calls)
                return next((row for row, call in calls if call.rpartition(".")[2] == name), None)
        return None

    def task_base(self, path: str) -> rows.DeclareClass | None:
        """How a subclass of the class `path` is a task."""
        return self.tables.classes.get(self.canonical(path))

    def registers(self, path: str) -> rows.DeclareClass | None:
        """The task classes of which a call of `path` registers one."""
        return self.tables.registers.get(self.canonical(path))

    def sends(self, path: str) -> rows.Send | None:
        """How a call of `path` sends the task that it is given."""
        return self.tables.sends.get(self.canonical(path))

    def lists(self, path: str) -> rows.Listing | None:
        """How a call of `path` is handed lists of functions that are tasks by standing there."""
        return self.tables.listings.get(self.canonical(path))

    def composes(self, path: str) -> rows.Compose | None:
        """Whether a call of `path` ties signatures together."""
        return self.tables.composes.get(self.canonical(path))

    def scan_words(self, frameworks: Iterable[rows.Framework] | None = None) -> frozenset[str]:
        """The identifiers that make a file worth reading: declarations, sends and commit hooks, of `frameworks` (all of
        them if not given)."""
        asked = tuple(self.frameworks.values() if frameworks is None else frameworks)
        found = {word for framework in asked for word in framework.words}
        for framework in asked:
            methods = (row for row in framework.methods if row.does == "enqueue" and "task" in row.of)
            found.update(name for row in methods for name in row.names)
            # What a running task does to itself is met where tasks are read.
            own = {base for row in framework.classes for base in row.bases}
            calls = (call for row in framework.sends if row.does == "enqueue" for call in row.calls)
            found.update(word_of(call) for call in calls if call.rpartition(".")[0] not in own)
        found.update(path.rpartition(".")[2] for path, row in self.tables.roles.exact() if row.role == "on-commit")
        return frozenset(word for word in found if not word.startswith("__") and "*" not in word)

    def tying_words(self, frameworks: Iterable[rows.Framework]) -> list[str]:
        """The names of what ties several tasks together, or is made of a function to be sent later, in these
        frameworks."""
        asked = tuple(frameworks)
        calls = [call for framework in asked for compose in framework.composes for call in compose.calls]
        made = (row for framework in asked for row in framework.sends if row.does == "signature")
        calls += [call for row in made if row.by in ("function", "functions") for call in row.calls]
        return sorted({word for word in map(word_of, calls) if not word.startswith("_")})

    def building_words(self, frameworks: Iterable[rows.Framework], does: str) -> frozenset[str]:
        """The methods of a task that build a `signature` of it, or a `composition` of several, in these frameworks."""
        methods = (row for framework in frameworks for row in framework.methods if "task" in row.of)
        return frozenset(name for row in methods if row.does == does for name in row.names)

    # --- Queues without a framework ----------------------------------------------------------------------------------

    def receives(self, path: str) -> Consumer | None:
        """The queue that a call of `path` takes messages from, or, of `path.__iter__`, the turns of a loop."""
        return self.tables.receives.get(self.canonical(path))

    def queue_call(self, name: str, given: Collection[str]) -> str | None:
        """The path of a call on a queue, by its name and the arguments that it is given, if that is enough."""
        told = (row.told(name, given) for row in self.consumers)
        return next((path for path in told if path is not None), None)

    def acknowledges(self, path: str) -> bool:
        """Whether a call of `path` tells a queue that a message is done with."""
        return self.tables.acknowledges.get(self.canonical(path)) is not None

    def acknowledges_at_end(self, path: str) -> bool:
        """Whether the block of the context manager `path` does so where it ends."""
        return self.tables.blocks.get(self.canonical(path)) is not None

    def renews(self, path: str) -> bool:
        """Whether a call of `path` makes a queue wait longer for a message."""
        return self.tables.renews.get(self.canonical(path)) is not None

    # --- By name and address -----------------------------------------------------------------------------------------

    def is_key_header(self, name: str, host: str | None = None) -> bool:
        """Whether a request header makes the provider at `host` (None: unknown, any of them) recognise a repeat."""
        hosts = self.tables.headers.get(name.casefold())
        if hosts is None:
            return self.is_key_name(name)
        return not hosts or host is None or _host_fits(host, hosts)

    def is_key_name(self, name: str, host: str | None = None) -> bool:
        """Whether the name of a parameter or header alone says that its value is there to recognise repeats. A header
        that only some hosts read so counts where `host` is one of them."""
        hosts = self.tables.headers.get(name.casefold())
        if hosts is not None and (not hosts or (host is not None and _host_fits(host, hosts))):
            return True
        spelled = name.casefold()
        if any(fnmatchcase(spelled, pattern) for pattern in self.words.no_key):
            return False
        return any(fnmatchcase(spelled, pattern) for pattern in self.words.key)

    def host(self, url: str) -> names.Host | None:
        """What is known of the provider behind an address; parts of the address that are unknown are left out."""
        host, path = _parts(url)
        for row in self.tables.hosts:
            if _host_fits(host, row.hosts) and (row.path is None or row.path.search(path)):
                return row
        return None

    def reads(self, name: str) -> bool:
        """Whether the name of a function says that a POST in it only reads, or may be repeated: `search_orders` does,
        `get_or_create` does not."""
        found = _words(name)
        return any(word in self.words.reads for word in found) and not any(word in self.words.writes for word in found)

    def harmless(self, url: str) -> bool:
        """Whether the address of a POST says that it only reads, or may be repeated: by its path, by the end of that
        (`orders/_refresh`, `contacts/createOrUpdate`), or by its query where the path says neither that nor the
        opposite."""
        path, _, query = (url.partition("://")[2].partition("/")[2] if "://" in url else url).partition("?")
        end = _words(path.rstrip("/").rpartition("/")[2])
        if self.reads(path) or any(word in self.words.again for word in (*end, "".join(end))):
            return True
        return not any(word in self.words.writes for word in _words(path)) and self.reads(query)

    def stakes_of(self, field_name: str) -> str:
        """Who is hurt when a column of this name is wrong: `money`, `internal` or, where the name says nothing,
        `customer`. The last word that says something decides: `credit_attempts` are attempts."""
        for word in reversed(_words(field_name)):
            if word in self.words.money:
                return "money"
            if word in self.words.internal:
                return "internal"
        return "customer"

    def is_credential(self, name: str) -> bool:
        """Whether the name of a column or parameter says that it holds a password, a code or the like."""
        return any(word in self.words.credential for word in _words(name))

    def one_row_per_run(self, model_name: str) -> bool:
        """Whether the name of a model, or a table, says that it is meant to get a row each time something is tried."""
        spelled = "".join(word.capitalize() for word in _words(model_name)) if model_name.islower() else model_name
        return spelled.endswith(self.words.one_row_per_run)

    def is_lock_name(self, method: str) -> bool:
        """Whether the name of a method alone says that it locks what it finds: `accounts.get_for_update(id)`."""
        return any(fnmatchcase(method, pattern) for pattern in self.words.locks)

    def measured(self, field_name: str) -> bool:
        """Whether the name of a numeric column says how an attempt went: how long it took, which status came back."""
        return any(word in self.words.measured for word in _words(field_name))


def word_of(path: str) -> str:
    """The part of a call's path that text is looked through for: its last one, or the model's name where the last ones
    are those of every manager."""
    return path.partition(".objects.")[0].rpartition(".")[2]


def _filled(template: str, arguments: rows.Arguments) -> str | None:
    holes = [hole.split(",") for hole in _HOLE.findall(template)]
    literals = [
        next((arguments[slot] for slot in hole if isinstance(arguments.get(slot), str)), None) for hole in holes
    ]
    if None in literals:
        return None
    fill = iter(literals)
    return _HOLE.sub(lambda _: str(next(fill)), template)


def _parts(url: str) -> tuple[str, str]:
    """Host and path. The standard library refuses addresses that were put together from what is known of them."""
    found = _ADDRESS.match(url)
    return (found["host"].casefold(), found["path"]) if found else ("", "")


def _host_fits(name: str, hosts: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in hosts)


def _words(name: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(name)]
