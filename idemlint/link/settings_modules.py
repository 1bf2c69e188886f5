"""The modules that hold a project's settings, and what they say: one answer where all of them agree."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from itertools import takewhile

from idemlint.catalog.settings import ProjectSettings, app_settings, project_settings
from idemlint.link.bindings import State
from idemlint.link.constants import Constants
from idemlint.link.history import Placed, flatten
from idemlint.link.modules import Module
from idemlint.link.production import is_production
from idemlint.link.values import Known, Reference, Unknown, Value, lifted, member, same, start_of
from idemlint.program import Setting
from idemlint.project import SourceFile
from idemlint.syntax import facts as f

# A module of these names is what `settings = ...` is imported from in a project that tells nobody which one it is.
_USUAL = "settings"
_OF_TESTS = re.compile(r"(?:^|_)(?:tests?|testing|ci|pytest)(?:_|$)")


class SettingsModules:
    """Finds the settings modules of a project: the one chosen by the user, else those that the environment variable is
    set to, with the variants beside them, else files called `settings`."""

    def __init__(self, constants: Constants, chosen: str | None = None, table: ProjectSettings | None = None) -> None:
        """`chosen` is a module's dotted name. Code that reads a setting through the library is answered from here."""
        self.constants = constants
        self.table = table or project_settings()
        self._chosen = chosen
        self._modules = constants.names.modules
        self._found: tuple[Module, ...] | None = None
        self._states: dict[tuple[str, tuple[str, ...]], State | None] = {}
        for path in self.table.objects:
            constants.provide(path, self.value)

    def candidates(self, near: str = "") -> tuple[Module, ...]:
        """The settings modules that may be in force, by path; of several projects in one tree those of the project that
        the file `near` is in."""
        if self._found is None:
            self._found = tuple(self._modules.load(source) for source in self._search())
        shared = {module.file.path: _shared(module.file.path, near) for module in self._found}
        most = max(shared.values(), default=0)
        return tuple(module for module in self._found if shared[module.file.path] == most)

    def missing(self, near: str = "") -> str:
        """Why nothing can be told of the settings; empty where something can."""
        if not self.candidates(near):
            return "no settings module was found"
        if not self.names(near):
            return f"{self.candidates(near)[0].file.path} does not set names at its top level"
        return ""

    def names(self, near: str = "") -> list[str]:
        """The names that any of the modules binds and the framework would read: those in capitals."""
        bound = (self.constants.names_in(Reference(module.file.path, "module")) for module in self.candidates(near))
        return sorted({name for names in bound for name in names if name.isupper()})

    def state(self, name: str, near: str = "") -> State | None:
        """What the modules say of a name, and where; None if none of them says anything."""
        candidates = self.candidates(near)
        key = (name, tuple(module.file.path for module in candidates))
        if key not in self._states:
            said = [(module, self.constants.state(module, name)) for module in candidates]
            self._states[key] = _agreed(name, said)
        return self._states[key]

    def value(self, name: str, near: str = "") -> Value | None:
        """What the modules say of a name; None if none of them says anything."""
        state = self.state(name, near)
        return state.value if state else None

    def setting(self, name: str, near: str = "") -> Setting:
        """A setting by its name, `value` None where the default is in force. `near` is the file that asks."""
        missing = self.missing(near)
        if missing:
            return Setting(name, name, None, False, None, missing, self.table.framework)
        if name in self.table.inside:
            # Read inside another setting only: at the top nobody looks at it.
            outer, inner = self.table.inside[name]
            state = _inside(self.state(outer, near), inner, name)
        else:
            state = self.state(name, near)
        return made(name, name, state or State(Known(None)), self.table.framework)

    # --- Where they are

    def _search(self) -> list[SourceFile]:
        if self._chosen is not None:
            source = self._modules.absolute(self._chosen, "")
            return [source] if source else []
        declared = list(dict.fromkeys(self._declared()))
        found = [*declared, *(variant for source in declared for variant in self._variants(source))]
        found = found or list(self._unnamed())
        starred = {path for source in found for path in self._bases(source)}
        kept = {source.path: source for source in found if source in declared or source.path not in starred}
        return [kept[path] for path in sorted(kept)]

    def _declared(self) -> Iterator[SourceFile]:
        """The modules that the environment variable is set to in code that runs in production."""
        for source in self._modules.project.mentioning([self.table.variable]):
            if is_production(source.path):
                yield from self._declared_in(self._modules.load(source))

    def _declared_in(self, module: Module) -> Iterator[SourceFile]:
        for piece, part in enumerate(module.pieces):
            if self.table.variable not in part.text:
                continue
            for placed in _with_functions(module.statements(piece), piece):
                expr = _assigned(placed.statement, self.table.variable)
                if expr is None or self.constants.holds(placed.conditions, module) is False:
                    continue
                value = self.constants.evaluate(expr, module)
                if isinstance(value, Known) and isinstance(value.value, str):
                    source = self._modules.absolute(value.value, module.file.path)
                    if source is not None and not _OF_TESTS.search(_stem(source)):
                        yield source

    def _variants(self, source: SourceFile) -> Iterator[SourceFile]:
        """Modules beside one that are made from the same base, such as `production` beside `local`."""
        folder = posixpath.dirname(source.path)
        family = {source.path, *self._bases(source)}
        for other in self._modules.project.files:
            if posixpath.dirname(other.path) != folder or other.path == source.path or not is_production(other.path):
                continue
            # Looked for in the text first: the rest of the folder need not be parsed.
            starred = any("import *" in piece.text for piece in self._modules.load(other).pieces)
            if starred and not _OF_TESTS.search(_stem(other)) and family.intersection(self._bases(other)):
                yield other

    def _unnamed(self) -> Iterator[SourceFile]:
        """Files called `settings`, or in a package of that name, that hold what settings hold."""
        for source in self._modules.project.files:
            parts = source.module.split(".")
            usual = parts[-1] == _USUAL or _USUAL in source.path.split("/")[-2:-1]
            if usual and is_production(source.path) and not _OF_TESTS.search(_stem(source)):
                names = self.constants.names_in(Reference(source.path, "module"))
                if self.table.marks.intersection(names) or any(map(_is_of_an_app, names)):
                    yield source

    def _bases(self, source: SourceFile) -> tuple[str, ...]:
        """The files that a module takes all names from, directly or through others."""
        found: dict[str, None] = {}
        waiting = [source]
        while waiting:
            module = self._modules.load(waiting.pop())
            for star in module.star_imports():
                base = self._modules.imported(module, star)
                if isinstance(base, SourceFile) and base.path not in found and base.path != source.path:
                    found[base.path] = None
                    waiting.append(base)
        return tuple(found)


def made(
    name: str, written: str, state: State, framework: str, app: str | None = None, ignored: str = "", meant: str = ""
) -> Setting:
    """A setting that is worth what `state` says."""
    value = state.value
    known = isinstance(value, Known)
    return Setting(
        name=name,
        written=written,
        value=value.value if isinstance(value, Known) else value.made or value.start or None,
        known=known,
        site=state.site,
        reason=value.reason if isinstance(value, Unknown) else "",
        framework=framework,
        app=app,
        environment=value.environment,
        ignored=ignored,
        meant=meant,
    )


def _agreed(name: str, said: list[tuple[Module, State | None]]) -> State | None:
    """What all modules say, or that they do not agree."""
    states = [state for _, state in said]
    first = next(filter(None, states), None)
    if first is None or all(state is not None and _same(first.value, state.value) for state in states):
        return first
    silent = next((module.file.path for module, state in said if state is None), None)
    saying = [(module.file.path, state) for module, state in said if state is not None]
    if silent is not None:
        reason = f"{saying[0][0]} sets {name}, {silent} does not"
    else:
        other = next(path for path, state in saying if not _same(first.value, state.value))
        reason = f"{saying[0][0]} and {other} do not agree on {name}"
    start = posixpath.commonprefix([start_of(state.value) for state in states if state is not None])
    return State(Unknown(reason, start), first.site)


def _same(one: Value, other: Value) -> bool:
    return one == other or same(one, other)


def _inside(outer: State | None, key: str, name: str) -> State | None:
    """A setting that stands in the member `key` of another one, or in any member if not there."""
    if outer is None:
        return None
    if isinstance(outer.value, Unknown):
        return outer
    held = outer.value.value
    others = [lifted(each) for each in held.values()] if isinstance(held, dict) else []
    for each in (member(outer.value, Known(key)), *others):
        inner = member(each, Known(name)) if each is not None else None
        if inner is not None:
            return State(inner, outer.site)
    return None


def _assigned(statement: f.Statement, variable: str) -> f.Expr | None:
    """What a statement puts into the environment variable."""
    match statement:
        case f.Evaluate(
            value=f.Call(
                function=f.Attribute(name="setdefault"),
                arguments=(f.Argument(value=f.Constant(value=name)), f.Argument(value=value), *_),
            )
        ) if name == variable:
            return value
        case f.Assign(targets=(f.Subscript(index=f.Constant(value=name)),), value=value) if name == variable:
            return value
    return None


def _with_functions(body: f.Body, piece: int) -> Iterator[Placed]:
    """The statements of a body and those of the functions in it."""
    for placed in flatten(body, piece):
        yield placed
        if isinstance(placed.statement, f.Function):
            yield from _with_functions(placed.statement.body, piece)


def _is_of_an_app(name: str) -> bool:
    return any(name.startswith(f"{table.namespace}_") for table in app_settings())


def _stem(source: SourceFile) -> str:
    parts = source.path.removesuffix(".py").split("/")
    return parts[-2] if parts[-1] == "__init__" and len(parts) > 1 else parts[-1]


def _shared(path: str, near: str) -> int:
    """How many leading folders two files share."""
    folders = zip(path.split("/")[:-1], near.split("/")[:-1], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], folders))
