"""The settings of frameworks that are configured by broker objects, by classes that a worker reads, and by dicts in the
settings of a web project."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator

from idemlint.catalog.settings import QueueSettings, queue_settings
from idemlint.link.bindings import State
from idemlint.link.drafts import Draft
from idemlint.link.linker import Linker
from idemlint.link.modules import Module
from idemlint.link.production import is_production
from idemlint.link.settings_modules import SettingsModules, made
from idemlint.link.values import Known, Made, Reference, Unknown, Value, lifted
from idemlint.link.within import calls_in
from idemlint.program import Setting, Site
from idemlint.syntax import facts as f

OBJECT = "broker"
"""The name of the setting that is a broker or the like; its value is the call that made it."""


def queue_options(linker: Linker, modules: SettingsModules) -> tuple[Setting, ...]:
    """The settings of the frameworks that the project uses, those without effect marked as such."""
    names = {framework.name for framework in linker.frameworks}
    found: list[Setting] = []
    for table in queue_settings():
        if table.framework in names:
            reader = _Reader(table, linker, modules)
            found.extend(reader.of_project())
            found.extend(reader.of_objects())
            found.extend(reader.of_classes())
            found.extend(reader.marks())
    return tuple(found)


class _Reader:
    def __init__(self, table: QueueSettings, linker: Linker, modules: SettingsModules) -> None:
        self.table = table
        self.linker = linker
        self.constants = linker.constants
        self.modules = modules

    def _setting(self, name: str, written: str, state: State, app: str | None = None) -> Setting:
        return made(name, written, state, self.table.framework, app)

    # --- A web project's settings

    def of_project(self) -> Iterator[Setting]:
        for name, members in self.table.projects.items():
            state = self.modules.state(name)
            if state is None:
                continue
            yield self._setting(name, name, state)
            held = state.value.value if isinstance(state.value, Known) else None
            for key, value in held.items() if isinstance(held, dict) else ():
                if isinstance(key, str):
                    yield self._member(name, key, State(lifted(value, state.value.environment), state.site), members)

    def _member(self, name: str, key: str, state: State, members: tuple[str, ...]) -> Setting:
        written = f'{name}["{key}"]'
        if not members or key in members:
            return self._setting(f"{name}.{key}", written, state)
        near = difflib.get_close_matches(key, members, n=1)
        meant = f'{name}["{near[0]}"]' if near else ""
        return made(f"{name}.{key}", written, state, self.table.framework, None, "there is no such setting", meant)

    # --- Brokers

    def of_objects(self) -> Iterator[Setting]:
        if not self.table.objects:
            return
        given = [self._setting(OBJECT, "set_broker", state) for state in self._given()]
        if given:
            yield from given[:1]
            return
        apps = set(self._apps())
        for app in sorted({*apps, *self._bound()}):
            state = self._object(app)
            if state is not None:
                yield self._setting(OBJECT, app.rpartition(":")[2], state, app)
            elif app in apps:
                yield self._untold(app)

    def _untold(self, app: str) -> Setting:
        """Stands for all that an app says which cannot be read, lest its tasks are taken to be told what another one
        is."""
        return self._setting("*", "*", State(Unknown(f"what {app.rpartition(':')[2]} is cannot be told")), app)

    def _apps(self) -> Iterator[str]:
        """The objects whose methods declare tasks."""
        drafts: Iterable[Draft] = self.linker.drafts.values()
        return (app for draft in drafts if draft.framework == self.table.framework for app in draft.apps)

    def _bound(self) -> Iterator[str]:
        """Names at the top of modules that are bound to an object where it is made."""
        makes = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(self.table.objects)))})\s*\(")
        for module, index in self._pieces(self.table.objects, makes):
            if module.pieces[index].defines is None:
                for statement in module.statements(index):
                    targets = statement.targets if isinstance(statement, f.Assign) else ()
                    yield from (f"{module.id}:{target.id}" for target in targets if isinstance(target, f.Name))

    def _given(self) -> Iterator[State]:
        """The objects that a call says are in use."""
        words = {path.rpartition(".")[2] for path in self.table.given_by}
        if not words:
            return
        calls = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(words)))})\s*\(")
        for module, index in self._pieces(words, calls):
            for call in calls_in(module.statements(index)):
                value = self.constants.evaluate(call.function, module)
                named = value.value.path if isinstance(value, Known) and isinstance(value.value, Reference) else ""
                if named in self.table.given_by and call.arguments:
                    state = self._known(call.arguments[0].value, module, Site(module.file.path, index, call.at))
                    if state is not None:
                        yield state

    def _known(self, expr: f.Expr, module: Module, site: Site) -> State | None:
        if isinstance(expr, f.Name) and module.bindings(expr.id):
            return self._object(f"{module.id}:{expr.id}")
        value = self.constants.evaluate(expr, module)
        return State(value, site) if self._is_object(value) else None

    def _object(self, app: str) -> State | None:
        """What is known of the object that a name at the top of a module is bound to."""
        identity, _, name = app.rpartition(":")
        module = self.linker.modules.identified(identity)
        state = self.constants.state(module, name) if module is not None else None
        if module is None or state is None or self._is_object(state.value):
            return state
        # Of several, one for tests does not count: `if TESTING: broker = InMemoryBroker()`.
        bound = [(each.fact, each.piece) for each in module.bindings(name) if isinstance(each.fact, f.Assign)]
        values = [
            (self.constants.evaluate(fact.value, module), fact, piece)
            for fact, piece in bound
            if fact.value is not None
        ]
        real = [each for each in values if not self._is_double(each[0])]
        if len(real) != 1 or len(values) < 2 or not self._is_object(real[0][0]):
            return state
        value, fact, piece = real[0]
        # What was called on it until the other took its place is known as well.
        after = next((each for each in values if (each[2], each[1].at) > (piece, fact.at)), None)
        if after is not None:
            value = self.constants.evaluate_at(f.Name(0, name), module, (after[2], after[1].at))
        return State(value, Site(module.file.path, piece, fact.at))

    def _is_object(self, value: Value) -> bool:
        return self._class(value) in self.table.objects

    def _is_double(self, value: Value) -> bool:
        return self._class(value) in self.table.doubles

    def _class(self, value: Value) -> str:
        """The last word of the class that a value is an instance of, if that is the framework's."""
        made_by: Made | None = value.made.first if isinstance(value, Unknown) and value.made is not None else None
        head, _, _ = (made_by.path if made_by is not None else "").partition(".")
        return made_by.path.rpartition(".")[2] if made_by is not None and head in self.table.libraries else ""

    # --- Classes that a worker reads

    def of_classes(self) -> Iterator[Setting]:
        if not self.table.attributes:
            return
        for app in sorted(set(self._apps())):
            identity, _, name = app.rpartition(":")
            module = self.linker.modules.identified(identity)
            state = self.constants.state(module, name) if module is not None else None
            held = state.value.value if state is not None and isinstance(state.value, Known) else None
            if isinstance(held, Reference) and held.kind == "class":
                for attribute in self.constants.names_in(held):
                    found = self.constants.attribute(held, attribute)
                    if found is not None and attribute in self.table.attributes:
                        yield self._setting(attribute, attribute, found, app)
            elif isinstance(held, dict) and state is not None:
                for key, value in held.items():
                    if key in self.table.attributes:
                        yield self._setting(str(key), f'"{key}"', State(lifted(value), state.site), app)

    # --- Marks

    def marks(self) -> Iterator[Setting]:
        """What the presence of a text says."""
        for name, text in self.table.marks.items():
            pattern = re.compile(text)
            words = set(re.findall(r"[A-Za-z_]{4,}", re.sub(r"\\.", " ", text))) - {"import", "from"}
            for module, index in self._pieces(sorted(words), pattern):
                first = next(iter(module.statements(index)), None)
                if first is not None:
                    site = Site(module.file.path, index, first.at)
                    yield self._setting(name, name, State(Known(True), site))
                    break

    def _pieces(self, words: Iterable[str], pattern: re.Pattern[str]) -> Iterator[tuple[Module, int]]:
        for source in self.linker.project.mentioning(words):
            if is_production(source.path):
                module = self.linker.modules.load(source)
                for index, piece in enumerate(module.pieces):
                    if pattern.search(piece.text):
                        yield module, index
