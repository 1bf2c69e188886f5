"""The apps of a framework in a project, and all that is written about the settings of each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace

from idemlint.catalog.settings import AppSettings
from idemlint.link.bindings import Local, State
from idemlint.link.constants import Constants
from idemlint.link.history import Placed, changes, flatten
from idemlint.link.modules import Module
from idemlint.link.names import Definition
from idemlint.link.production import is_production
from idemlint.link.values import Known, Reference, Unknown, Value, joined, lifted, replaced, same
from idemlint.program import LibraryType, ModuleType, Site
from idemlint.project import SourceFile
from idemlint.syntax import facts as f


@dataclass(frozen=True, slots=True)
class Source:
    """An object that settings are read from, and the prefix of their names in it."""

    value: Value
    namespace: str | None
    site: Site


@dataclass(slots=True)
class App:
    """An app: the id of the name it is bound to, and the file it is made in.

    `written` are its settings by the names they were given. Of those, `passed` are arguments of its constructor.
    `tasks` are attributes set on the class that its tasks derive from.
    `opaque` are the places from which settings come that cannot be told.
    """

    id: str
    path: str
    namespace: str | None = None
    source: Source | None = None
    written: dict[str, State] = field(default_factory=dict)
    passed: set[str] = field(default_factory=set)
    tasks: dict[str, State] = field(default_factory=dict)
    opaque: list[State] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Place:
    """A statement at the top of a module, or in the function of this qualified name, with what that binds."""

    module: Module
    placed: Placed
    function: str = ""
    local: Local | None = None

    def site(self, at: int) -> Site:
        return Site(self.module.file.path, self.placed.piece, at)

    def id(self, name: str) -> str:
        """The id of a name bound here."""
        return f"{self.module.id}:{self.function}.{name}" if self.function else f"{self.module.id}:{name}"


def find_apps(table: AppSettings, constants: Constants) -> list[App]:
    """The apps that the project makes outside of its tests, by file and place, and what is written about them."""
    reader = _Reader(table, constants)
    reader.find()
    reader.configure()
    return list({id(app): app for app in reader.apps.values()}.values())


class _Reader:
    def __init__(self, table: AppSettings, constants: Constants) -> None:
        self.table = table
        self.constants = constants
        self.names = constants.names
        self.modules = constants.names.modules
        # By the id of each name that is bound to one, and by the id of the function that makes one.
        self.apps: dict[str, App] = {}
        self.makers: dict[str, App] = {}

    # --- Finding them

    def find(self) -> None:
        classes = self._class_names()
        for place in self._places(classes, rf"\b{_either(classes)}\s*\("):
            for names, call in _calls_bound(place.placed.statement):
                if self._is_app(self._value(call.function, place)):
                    app = App(place.id(names[0] if names else "<app>"), place.module.file.path)
                    self.apps.update({place.id(name): app for name in names})
                    self.apps.setdefault(app.id, app)
                    if place.function:
                        self.makers[place.id("").rstrip(".")] = app
                    self._construct(app, call, place)
        makers = sorted({id.rpartition(":")[2].rpartition(".")[2] for id in self.makers})
        for place in self._places(makers, rf"\b{_either(makers)}\s*\("):
            self._bind_made(place)

    def _class_names(self) -> list[str]:
        """The names of the framework's classes of apps and of those that the project derives from them."""
        names = {path.rpartition(".")[2] for path in self.table.apps}
        fresh = names
        while fresh:
            fresh = {
                place.placed.statement.name
                for place in self._places(sorted(fresh), rf"\bclass\s+\w+\s*\([^)]*\b{_either(sorted(fresh))}\b")
                if isinstance(place.placed.statement, f.Class)
                and any(self._is_app(self._value(base, place)) for base in place.placed.statement.bases)
            } - names
            names = names | fresh
        return sorted(names)

    def _is_app(self, cls: Value) -> bool:
        """Whether a value is a class of apps."""
        if not isinstance(cls, Known) or not isinstance(cls.value, Reference):
            return False
        named = cls.value
        derived = named.kind == "class" and any(base.path in self.table.apps for base in self.constants.bases(named))
        return derived or (named.kind == "library" and named.path in self.table.apps)

    def _bind_made(self, place: _Place) -> None:
        """A module-level name bound to what a function made is what the app is known by."""
        for names, call in _calls_bound(place.placed.statement):
            value = self._value(call.function, place)
            maker = value.value if isinstance(value, Known) else None
            if isinstance(maker, Reference) and maker.path in self.makers and names and not place.function:
                app = self.makers[maker.path]
                app.id = place.id(names[0])
                self.apps.update({place.id(name): app for name in names})

    def _construct(self, app: App, call: f.Call, place: _Place) -> None:
        positional = iter(self.table.parameters)
        for argument in call.arguments:
            if argument.star:
                for name, value, at in self._spread(app, argument.value, place):
                    self._pass(app, name, value, place.site(at))
            else:
                name = argument.name or next(positional, "")
                self._pass(app, name, self._value(argument.value, place), place.site(argument.value.at))

    def _pass(self, app: App, name: str, value: Value, site: Site) -> None:
        if name == "changes":
            held = value.value if isinstance(value, Known) else None
            if isinstance(held, dict):
                app.written.update({str(key): State(lifted(each), site) for key, each in held.items()})
            elif held is not None:
                app.opaque.append(State(value, site))
        elif name == "config_source" and not same(value, Known(None)):
            app.source = Source(value, app.namespace, site)
        elif name == "namespace" and isinstance(value, Known) and isinstance(value.value, str):
            app.namespace = value.value
            app.source = replace(app.source, namespace=value.value) if app.source else None
        elif name in self.table.arguments and not same(value, Known(None)):
            app.written[self.table.arguments[name]] = State(value, site)
            app.passed.add(self.table.arguments[name])
        elif name not in self.table.parameters:
            app.written[name] = State(value, site)
            app.passed.add(name)

    # --- What is written about them elsewhere

    def configure(self) -> None:
        ways = (self.table.configuration, self.table.source, self.table.variable_source, self.table.task_class)
        bound = sorted({id.rpartition(":")[2].rpartition(".")[2] for id in self.apps})
        places = list(self._places(bound, rf"\b{_either(bound)}\.{_either(ways)}\b"))
        for at_home in (True, False):
            for place in places:
                self._configure(place, at_home)

    def _configure(self, place: _Place, at_home: bool) -> None:
        match place.placed.statement:
            case f.Assign(targets=targets, value=value) if value is not None:
                for target in targets:
                    found = self._target(target, place)
                    site = place.site(place.placed.statement.at)
                    if found and (found[0].path == place.module.file.path) is at_home:
                        self._write(*found, self._value(value, place), place, site)
                    of_tasks = self._task_attribute(target, place)
                    if of_tasks and (of_tasks[0].path == place.module.file.path) is at_home:
                        owner, name = of_tasks
                        self._write(owner, name, (), self._value(value, place), place, site, owner.tasks)
            case f.Evaluate(value=f.Call(function=f.Attribute(base=base, name=method)) as call):
                app = self._configuration(base, place)
                if app and method == "update" and (app.path == place.module.file.path) is at_home:
                    self._update(app, call, place)
                app = self._app(base, place)
                if app and (app.path == place.module.file.path) is at_home:
                    self._load(app, method, call, place)

    def _target(self, expr: f.Expr, place: _Place) -> tuple[App, str, tuple[Value, ...]] | None:
        """The app, setting and item in it that an assignment sets."""
        keys: list[Value] = []
        while isinstance(expr, f.Subscript):
            keys.insert(0, self._value(expr.index, place))
            expr = expr.base
        if isinstance(expr, f.Attribute) and (app := self._configuration(expr.base, place)):
            return app, expr.name, tuple(keys)
        app = self._configuration(expr, place)
        if app and keys and isinstance(keys[0], Known):
            return app, str(keys[0].value), tuple(keys[1:])
        return None

    def _task_attribute(self, expr: f.Expr, place: _Place) -> tuple[App, str] | None:
        """The app, and the attribute of the class of its tasks, that an assignment sets."""
        cls = expr.base if isinstance(expr, f.Attribute) else None
        app = self._app(cls.base, place) if isinstance(cls, f.Attribute) and cls.name == self.table.task_class else None
        return (app, expr.name) if app and isinstance(expr, f.Attribute) else None

    def _update(self, app: App, call: f.Call, place: _Place) -> None:
        for argument in call.arguments:
            if argument.name is not None:
                value = self._value(argument.value, place)
                self._write(app, argument.name, (), value, place, place.site(argument.value.at))
            else:
                for name, value, at in self._spread(app, argument.value, place):
                    self._write(app, name, (), value, place, place.site(at))

    def _spread(self, app: App, expr: f.Expr, place: _Place) -> Iterator[tuple[str, Value, int]]:
        """The items of a dict and where each stands; what cannot be told is noted with the app."""
        if isinstance(expr, f.Mapping):
            for key, value in expr.items:
                name = self._value(key, place) if key is not None else None
                if name is None:
                    yield from self._spread(app, value, place)
                elif isinstance(name, Known):
                    yield str(name.value), self._value(value, place), value.at
            return
        found = self._value(expr, place)
        held = found.value if isinstance(found, Known) else {...: found}
        if isinstance(held, dict):
            yield from ((key, lifted(each), expr.at) for key, each in held.items() if isinstance(key, str))
        if not isinstance(held, dict) or ... in held:
            unknown = held[...] if isinstance(held, dict) else Unknown("what it is updated with is no dict")
            app.opaque.append(State(lifted(unknown), place.site(expr.at)))

    def _load(self, app: App, method: str, call: f.Call, place: _Place) -> None:
        """A call that names the object settings are read from."""
        if method not in (self.table.source, self.table.variable_source):
            return
        site = place.site(call.at)
        held = self.constants.holds(place.placed.conditions, place.module)
        given = {argument.name: argument.value for argument in call.arguments if argument.name and not argument.star}
        positional = [argument.value for argument in call.arguments if argument.name is None and not argument.star]
        expr = positional[0] if positional else given.get("obj")
        prefix = given.get("namespace") or (positional[3] if len(positional) > 3 else None)
        namespace = self._value(prefix, place) if prefix is not None else Known(app.namespace)
        if held is False:
            return
        if held is not True:
            app.opaque.append(State(Unknown(f"they are read under a condition: {held}"), site))
        elif method == self.table.variable_source or expr is None:
            app.opaque.append(State(Unknown("they are read from where the environment says"), site))
        elif isinstance(namespace, Known) and isinstance(namespace.value, str | None):
            app.namespace = namespace.value
            app.source = Source(self._value(expr, place), namespace.value, site)
        else:
            app.opaque.append(State(Unknown("the namespace of their names is not known"), site))

    def _write(
        self,
        app: App,
        name: str,
        keys: tuple[Value, ...],
        value: Value,
        place: _Place,
        site: Site,
        into: dict[str, State] | None = None,
    ) -> None:
        written = app.written if into is None else into
        held = self.constants.holds(place.placed.conditions, place.module)
        if held is False:
            return
        before = written.get(name)
        if keys:
            value = replaced(before.value if before else Unknown("not set before"), keys, value)
        if held is not True:
            reason = f"{name} is set under a condition: {held}"
            value = joined(before.value if before else Unknown(reason), value, reason)
        elsewhere = before and before.site and before.site.path not in (app.path, site.path)
        if before and elsewhere and not keys:
            value = joined(before.value, value, f"{site.path} and {before.site and before.site.path} both set {name}")
        written[name] = State(value, site)

    # --- Expressions in their places

    def _value(self, expr: f.Expr, place: _Place) -> Value:
        if place.local is None:
            return self.constants.evaluate_at(expr, place.module, place.placed.position)
        return self.constants.evaluate(expr, place.module, place.local)

    def _configuration(self, expr: f.Expr, place: _Place) -> App | None:
        """The app whose configuration an expression is."""
        named = isinstance(expr, f.Attribute) and expr.name == self.table.configuration
        return self._app(expr.base, place) if isinstance(expr, f.Attribute) and named else None

    def _app(self, expr: f.Expr, place: _Place) -> App | None:
        """The app that an expression is."""
        if isinstance(expr, f.Name):
            here = self.apps.get(place.id(expr.id)) or self.apps.get(f"{place.module.id}:{expr.id}")
            found = self.names.find(place.module, expr.id)
            there = f"{found.module.id}:{found.binding.name}" if isinstance(found, Definition) else ""
            return here or self.apps.get(there)
        if isinstance(expr, f.Attribute):
            base = self._value(expr.base, place)
            owner = base.value if isinstance(base, Known) else None
            module = self.modules.identified(owner.path) if isinstance(owner, Reference) else None
            return self.apps.get(f"{module.id}:{expr.name}") if module else None
        return None

    def _places(self, words: Collection[str], pattern: str) -> Iterator[_Place]:
        """The statements of the pieces that the pattern is found in, of files that mention a word, but for tests. The
        rest need not be parsed."""
        found_in = re.compile(pattern)
        for source in self.modules.project.mentioning(words):
            if is_production(source.path):
                module = self.modules.load(source)
                for index, piece in enumerate(module.pieces):
                    if found_in.search(piece.text):
                        yield from self._unfolded(module, module.statements(index), index)

    def _unfolded(
        self, module: Module, body: f.Body, piece: int, function: str = "", local: Local | None = None
    ) -> Iterator[_Place]:
        for placed in flatten(body, piece):
            yield _Place(module, placed, function, local)
            match placed.statement:
                case f.Function(name=name, body=inner) as fact:
                    qualified = f"{function}.{name}".lstrip(".")
                    bound = {**(local or {}), **self._locals(fact, module)}
                    yield from self._unfolded(module, inner, piece, qualified, bound)
                case f.Class(name=name, body=inner):
                    yield from self._unfolded(module, inner, piece, f"{function}.{name}".lstrip("."), local)

    def _locals(self, fact: f.Function, module: Module) -> dict[str, f.Expr | Value]:
        """What a function binds, as far as each name is bound once."""
        bound: dict[str, f.Expr | Value] = {
            parameter.name: Unknown(f"{parameter.name} is passed in") for parameter in fact.parameters
        }
        for name, events in changes(flatten(fact.body, 0)).items():
            placed, single = events[0].placed, len(events) == 1 and not events[0].keys
            match placed.statement:
                case f.Import() as statement:
                    bound[name] = self._imported(statement, module)
                case f.Assign(value=value) if value is not None and single and events[0].element is None:
                    bound[name] = Unknown(f"{name} is set under a condition") if placed.conditions else value
                case f.Assign():
                    bound[name] = Unknown(f"{name} is set more than once")
        return bound

    def _imported(self, statement: f.Import, module: Module) -> Value:
        match self.names.imported(module, statement):
            case LibraryType(path):
                return Known(Reference(path))
            case ModuleType(path):
                return Known(Reference(path, "module"))
            case Definition(found, binding):
                state = self.constants.state(found, binding.name)
                return state.value if state else Unknown(f"{binding.name} is not set in {found.file.path}")
        return Unknown("what is imported is not found")


def source_reference(value: Value, constants: Constants, near: str) -> Value:
    """The object behind what an app is told to read its settings from: a dotted name stands for what it names."""
    if isinstance(value, Unknown):
        return Known(value.made_by) if value.made_by else value
    if not isinstance(value.value, str):
        return value
    dotted = value.value.replace(":", ".")
    source = constants.names.modules.absolute(dotted, near)
    if isinstance(source, SourceFile):
        return Known(Reference(source.path, "module"))
    above, _, name = dotted.rpartition(".")
    outer = constants.names.modules.absolute(above, near) if above else None
    if outer is None:
        return Known(Reference(dotted))
    state = constants.attribute(Reference(outer.path, "module"), name, near)
    return source_reference(state.value, constants, near) if state else Unknown(f"{outer.path} has no {name}")


def _calls_bound(statement: f.Statement) -> Iterator[tuple[list[str], f.Call]]:
    """A call that a statement binds to names (none if it returns what the call gives)."""
    match statement:
        case f.Assign(targets=targets, value=f.Call() as call):
            named = [target for target in targets if isinstance(target, f.Name)]
            attributes = [target for target in targets if isinstance(target, f.Attribute)]
            yield [*(target.id for target in named), *(target.name for target in attributes)], call
        case f.Return(value=f.Call() as call):
            yield [], call


def _either(words: Iterable[str]) -> str:
    """A pattern for any of the words; for nothing if there are none."""
    return f"(?:{'|'.join(map(re.escape, words)) or '(?!)'})"
