"""The settings of a project's frameworks as they are in force, and those that have no effect as written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from idemlint.catalog.settings import AppSettings, app_settings
from idemlint.link.apps import App, Source, find_apps, source_reference
from idemlint.link.bindings import State
from idemlint.link.constants import Constants
from idemlint.link.setting_names import Ignored, ignored, in_force, latest
from idemlint.link.settings_modules import SettingsModules, made
from idemlint.link.values import Reference, Unknown, lifted
from idemlint.program import NOTHING, Setting


def framework_settings(constants: Constants, modules: SettingsModules) -> tuple[Setting, ...]:
    """The settings of every framework's apps, app by app, those without effect last; `*` stands for a source that could
    not be read.

    An app that is told nothing has the setting `NOTHING`: it does not read what another one is told. Where the project
    makes no app, the settings modules or the framework's default module are read for it.
    """
    found: list[Setting] = []
    for table in app_settings():
        reader = _Reader(table, constants, modules)
        apps = find_apps(table, constants)
        for app in apps:
            own = list(reader.of_app(app))
            found.extend(own or [Setting(NOTHING, "", None, True, None, framework=table.framework, app=app.id)])
        found.extend(() if apps else reader.without_app())
    return tuple(found)


class _Reader:
    def __init__(self, table: AppSettings, constants: Constants, modules: SettingsModules) -> None:
        self.table = table
        self.constants = constants
        self.modules = modules

    def of_app(self, app: App) -> Iterator[Setting]:
        opaque = list(app.opaque)
        read: Mapping[str, State] = {}
        if app.source is not None:
            held = self._held(app.source, app.path)
            if isinstance(held, Unknown):
                opaque.append(State(held, app.source.site))
            else:
                read = held
        # What is set on an app wins over what it reads, whichever comes first. Of both, arguments of the constructor
        # may be old or new names as they like.
        mixable = set(app.written) - app.passed if app.source is None else set()
        read_together = set(read) - app.passed
        own = in_force(self.table, latest(self.table, app.written), app.namespace, mixable)
        base = in_force(self.table, read, app.namespace, read_together)
        for name in self.table.names:
            key, states = (own[name], app.written) if name in own else (base.get(name), read)
            if key is not None:
                yield self._made(name, key, states[key], app.id)
        for name, state in app.tasks.items():
            attribute = f"{self.table.task_class}.{name}"
            yield self._made(attribute, attribute, state, app.id)
        for state in opaque:
            yield self._made("*", "*", state, app.id)
        faults = ignored(self.table, app.written, own, app.namespace, mixable)
        yield from self._ignored(faults, app.written, app.id)
        yield from self._ignored(ignored(self.table, read, base, app.namespace, read_together), read, app.id)

    def without_app(self) -> Iterator[Setting]:
        """Settings that an app which is not seen reads: in the settings modules by the usual namespace, else in the
        module that the default app looks for."""
        keys: Mapping[str, State] = {
            name: state for name in self.modules.names() if (state := self.modules.state(name)) is not None
        }
        namespace: str | None = self.table.namespace
        if not in_force(self.table, keys, namespace):
            namespace = None
            source = self.constants.names.modules.absolute(self.table.default_module, "")
            keys = self._attributes(Reference(source.path, "module")) if source else {}
        used = in_force(self.table, keys, namespace)
        for name, key in used.items():
            yield self._made(name, key, keys[key], None)
        yield from self._ignored(ignored(self.table, keys, used, namespace), keys, None)

    def _held(self, source: Source, near: str) -> Mapping[str, State] | Unknown:
        """The names in the object that settings are read from, or why they cannot be told."""
        found = source_reference(source.value, self.constants, near)
        if isinstance(found, Unknown):
            return found
        held = found.value
        if isinstance(held, dict):
            return {str(key): State(lifted(each), source.site) for key, each in held.items() if key is not ...}
        if isinstance(held, Reference) and held.path in self.modules.table.objects:
            missing = self.modules.missing(near)
            if missing:
                return Unknown(missing)
            names = self.modules.names(near)
            return {name: state for name in names if (state := self.modules.state(name, near)) is not None}
        if isinstance(held, Reference) and held.kind in ("module", "class"):
            return self._attributes(held)
        return Unknown(f"{held.path if isinstance(held, Reference) else 'what is read'} is not in the project")

    def _attributes(self, owner: Reference) -> Mapping[str, State]:
        states = {name: self.constants.attribute(owner, name) for name in self.constants.names_in(owner)}
        return {name: state for name, state in states.items() if state is not None}

    def _ignored(self, faults: list[Ignored], states: Mapping[str, State], app: str | None) -> Iterator[Setting]:
        for fault in faults:
            # An unknown name that other code reads is that code's business.
            if fault.exists or not self._is_read(fault.key):
                name = fault.name or fault.key
                yield self._made(name, fault.key, states[fault.key], app, fault.reason, fault.meant)

    def _is_read(self, name: str) -> bool:
        """Whether the name occurs anywhere but where it is set."""
        modules = self.constants.names.modules
        word = re.compile(rf"\b{re.escape(name)}\b")
        set_here = re.compile(rf"(?m)^[ \t]*{re.escape(name)}[ \t]*(?::[^=\n]*)?=(?!=)")
        pieces = (piece for source in modules.project.mentioning([name]) for piece in modules.load(source).pieces)
        return any(len(word.findall(piece.text)) > len(set_here.findall(piece.text)) for piece in pieces)

    def _made(self, name: str, key: str, state: State, app: str | None, ignored: str = "", meant: str = "") -> Setting:
        return made(name, key, state, self.table.framework, app, ignored, meant)
