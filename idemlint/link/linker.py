"""The linker's memory: what module-level names, classes and functions are, and the bodies linked so far."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from idemlint import orm
from idemlint.catalog import Catalog
from idemlint.link.classes import Classes, ClassInfo
from idemlint.link.constants import Constants
from idemlint.link.frameworks import imported, used
from idemlint.link.modules import Binding, Module, Modules
from idemlint.link.names import Definition, Found, Names
from idemlint.link.production import is_production
from idemlint.program import (
    Body,
    ClassType,
    InstanceType,
    LibraryInstance,
    LibraryType,
    Model,
    ModuleType,
    Option,
    PartialType,
    RecordType,
    RoutineType,
    SeveralType,
    SignatureType,
    Site,
    TaskType,
    Type,
)
from idemlint.project import Project
from idemlint.syntax import facts as f
from idemlint.syntax.extract import extract_expression

if TYPE_CHECKING:
    from idemlint.link.reading import Reading
    from idemlint.link.walk import Walk

TASK_PREFIX = "task:"
"""Starts the path of what a running task is handed (`task:celery.request.id`), so that no module can have it."""

# Beyond this many kinds of calls a function is read once more without what its arguments are, and no oftener.
CONTEXTS = 8


@dataclass(slots=True)
class FunctionInfo:
    """A function where it stands; `owner` is the class it is a method of, `within` the names its scopes bind."""

    id: str
    fact: f.Function | f.Lambda
    module: Module
    piece: int
    owner: ClassInfo | None = None

    @property
    def name(self) -> str:
        return self.fact.name if isinstance(self.fact, f.Function) else "<lambda>"


@dataclass(frozen=True, slots=True)
class Draft:
    """A task as its declaration says it: `function` is the id of the `def`, `routine` what the worker calls, `base` the
    project class it is an instance of, `declared` the decorator, `app` the app whose method that is. `commit` is
    "deferred" for a task that is always sent on commit. `referred` marks one that nothing declares: it is a task by
    being handed to something at `declared`, the first of these places, or the first that is `told` how to deliver it.
    `library` are the library classes that it is an instance of."""

    function: str
    framework: str
    path: str
    routine: RoutineType
    options: tuple[Option, ...]
    declared: Site
    base: str | None = None
    app: str | None = None
    commit: str = "now"
    referred: bool = False
    told: bool = False
    library: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[str, int, int]:
        """Where it is declared, for an order that does not hang on who was read first."""
        return (self.declared.path, self.declared.piece, self.declared.at)

    def having(self, options: tuple[Option, ...], declared: Site) -> Draft:
        return replace(self, options=options, declared=declared)

    def option(self, name: str) -> Option | None:
        """The first, and so the winning, option of this name."""
        return next((option for option in self.options if option.name == name), None)


Receivers = dict[tuple[str, str | None], list[FunctionInfo]]
"""(signal, model id; None: every model) -> the functions that receive it, in the order of the code."""


class Linker:
    """Everything is worked out once, on demand, and depends on the code alone, not on who asked first."""

    def __init__(self, project: Project, catalog: Catalog, walk: type[Walk]) -> None:
        self.walk = walk
        self.project = project
        self.catalog = catalog
        self.modules = Modules(project)
        self.names = Names(self.modules)
        self.constants = Constants(self.names)
        self.classes = Classes(self.module_level)
        self.functions: dict[str, FunctionInfo] = {}
        self.drafts: dict[str, Draft] = {}
        self.frameworks = used(project, catalog)
        # Functions that hand on to a queue what they are given.
        self.forwarders: set[str] = set()
        self._imports: dict[str, bool] = {}
        self.origins: dict[str, str] = {}
        self.bodies: dict[str, Body] = {}
        self.contexts: dict[str, dict[object, str]] = {}
        self.active: list[str] = []
        self._globals: dict[tuple[str, int, int, int | None], Type | None] = {}
        self._models: dict[str, Model | None] = {}
        self._all_models = False
        self.receivers: Receivers = {}
        self._related: dict[tuple[str, str], tuple[str, bool]] | None = None

    # --- names at module and class level

    def module_level(self, expr: f.Expr, module: Module) -> Type | None:
        """What an expression outside of any function is."""
        return self.walk(self, module, 0).evaluate(expr)

    def found(self, found: Found | None) -> Type | None:
        """What a looked-up name is."""
        if isinstance(found, Definition):
            return self.definition(found.module, found.binding, f"{found.module.id}:")
        return found

    def definition(self, module: Module, binding: Binding, prefix: str, owner: ClassInfo | None = None) -> Type | None:
        """What a binding at module or class level is; `prefix` is the id of the scope it stands in."""
        fact = binding.fact
        key = (prefix, binding.piece, fact.at, binding.position)
        if key in self._globals:
            return self._globals[key]
        self._globals[key] = None
        result: Type | None = None
        match fact:
            case f.Function():
                result = self.decorated(self.function(f"{prefix}{fact.name}", fact, module, binding.piece, owner))
            case f.Class():
                self.classes.add(f"{prefix}{fact.name}", fact, module, binding.piece)
                result = ClassType(f"{prefix}{fact.name}")
            case f.Import():
                result = self.found(self.names.imported(module, fact))
            case f.Assign():
                result = self._assigned(module, fact, binding, owner)
        self._globals[key] = result
        return result

    def _assigned(self, module: Module, fact: f.Assign, binding: Binding, owner: ClassInfo | None) -> Type | None:
        value: Type | None = None
        if fact.value is not None:
            value = self.walk(self, module, binding.piece, owner=owner).evaluate(fact.value)
            if binding.position is not None:
                value = element(value, binding.position)
        if value is None and fact.annotation is not None:
            value = self.annotated(fact.annotation, module)
        return value

    def function(
        self, id: str, fact: f.Function | f.Lambda, module: Module, piece: int, owner: ClassInfo | None = None
    ) -> FunctionInfo:
        if id not in self.functions:
            self.functions[id] = FunctionInfo(id, fact, module, piece, owner)
        return self.functions[id]

    def decorated(self, info: FunctionInfo) -> Type | None:
        """What the name of a function is once its decorators have been applied."""
        result: Type = RoutineType(info.id)
        assert isinstance(info.fact, f.Function)
        walk = self.walk(self, info.module, info.piece, owner=info.owner)
        for decorator in reversed(info.fact.decorators):
            result = walk.decorate(decorator, result, info)
        return result

    # --- classes

    def class_member(self, cls: str, name: str, after: str | None = None) -> tuple[ClassInfo, Binding] | None:
        return self.classes.member(cls, name, after) if cls in self.classes.known else None

    def member_type(self, info: ClassInfo, binding: Binding) -> Type | None:
        return self.definition(info.module, binding, f"{info.id}.", info)

    def method_kind(self, binding: Binding) -> str:
        """ "property", "static", "class" or "method", by the decorators a method is written with."""
        if isinstance(binding.fact, f.Function):
            for decorator in binding.fact.decorators:
                target = decorator.function if isinstance(decorator, f.Call) else decorator
                name = (
                    target.id if isinstance(target, f.Name) else target.name if isinstance(target, f.Attribute) else ""
                )
                if name in ("property", "cached_property", "hybrid_property", "classproperty", "getter", "setter"):
                    return "property"
                if name == "staticmethod":
                    return "static"
                if name == "classmethod":
                    return "class"
        return "method"

    def instance_attribute(self, cls: str, name: str) -> Type | None:
        """What `self.name` is, from annotations in the class and from what its methods assign, `__init__` first."""
        found = self.classes.annotation(cls, name)
        if found is not None:
            typed = self.annotated(found[1], found[0].module)
            if typed is not None:
                return typed
        for info in self.classes.order(cls)[0]:
            if name not in info.attributes:
                self._read_constructor(info, cls)
            if name in info.attributes:
                return info.attributes[name]
        for info in self.classes.order(cls)[0]:
            for method, bindings in info.members.items():
                if name not in info.attributes and any(_assigns(binding.fact, name) for binding in bindings):
                    self._read_method(info, cls, method)
            if name in info.attributes:
                return info.attributes[name]
        return None

    def _read_constructor(self, info: ClassInfo, cls: str) -> None:
        for method in ("__init__", "__aenter__", "__enter__", "setUp"):
            self._read_method(info, cls, method)

    def _read_method(self, info: ClassInfo, cls: str, method: str) -> None:
        for binding in info.members.get(method, ())[-1:]:
            if isinstance(binding.fact, f.Function) and not self._busy(f"{info.id}.{method}"):
                function = self.function(f"{info.id}.{method}", binding.fact, info.module, binding.piece, info)
                self.link(function, InstanceType(cls))

    def _busy(self, function: str) -> bool:
        return any(key.partition("#")[0] == function for key in self.active)

    # --- models

    def model(self, cls: str) -> Model | None:
        """The model a class is, or None; a library model by its id."""
        if cls not in self._models:
            self._models[cls] = None
            self._models[cls] = self._read_model(cls)
        return self._models[cls]

    def _read_model(self, cls: str) -> Model | None:
        info = self.classes.known.get(cls)
        if info is None:
            return orm.library_model(cls.replace(":", "."))
        _, library = self.classes.order(cls)
        decorators = [self.module_level(decorator, info.module) for decorator in info.fact.decorators]
        made = [kind.path for kind in decorators if isinstance(kind, LibraryType | LibraryInstance)]
        layers = [layer for layer in orm.LAYERS if any(layer.model_base(path) for path in (*library, *made))]
        return self._read_as(min(layers, key=lambda layer: layer.NAME), info) if layers else None

    def _read_as(self, layer: orm.Layer, info: ClassInfo) -> Model:
        """A class as a model, or as what lends its columns to models."""
        cls = info.id
        parents: list[Model] = []
        unknown = False
        for base in info.fact.bases:
            found = self.module_level(base.base if isinstance(base, f.Subscript) else base, info.module)
            if isinstance(found, ClassType):
                parent = self.model(found.name)
                if parent is None and layer.MIXINS and found.name in self.classes.known:
                    parent = self._read_as(layer, self.classes.known[found.name])
                if parent is not None:
                    parents.append(parent)
            elif isinstance(found, LibraryType | LibraryInstance):
                known = layer.library_model(found.path)
                if known is not None:
                    parents.append(known)
                elif not layer.model_base(found.path) and self.catalog_unknown_base(found.path):
                    unknown = True
            elif not isinstance(base, f.Subscript):
                unknown = True
        model = layer.read_model(
            cls,
            info.fact,
            Site(info.module.file.path, info.piece, info.fact.name_at),
            parents,
            unknown,
            lambda expr: self.class_level(expr, info),
            self.library_base,
            lambda expr: self.assigned(expr, info.module),
        )
        for call in _calls_beside(info) if layer.MIXINS else ():
            model = layer.outside_key(model, call, lambda expr: self.class_level(expr, info))
        return model

    def add_model(self, model: Model) -> None:
        """Keep a model that no class stands for, such as a table."""
        self._models.setdefault(model.name, model)

    def replace_model(self, model: Model) -> None:
        """Keep what is known of a model by now."""
        self._models[model.name] = model

    def assigned(self, expr: f.Expr, module: Module) -> f.Expr | None:
        """The expression that a name was set to at module level, in whichever module."""
        found: Found | None = None
        if isinstance(expr, f.Name):
            found = self.names.find(module, expr.id)
        elif isinstance(expr, f.Attribute) and isinstance(expr.base, f.Name):
            holder = self.names.find(module, expr.base.id)
            found = (
                self.names.attribute(holder, expr.name, module.file.path) if isinstance(holder, ModuleType) else None
            )
        if isinstance(found, Definition) and isinstance(found.binding.fact, f.Assign):
            return found.binding.fact.value
        return None

    def catalog_unknown_base(self, path: str) -> bool:
        """Whether a library base may bring columns along that nobody has seen; those of Python itself do not."""
        return path.partition(".")[0] not in sys.stdlib_module_names

    def library_base(self, kind: Type) -> str | None:
        """The first library class that a project class derives from."""
        if not isinstance(kind, ClassType) or kind.name not in self.classes.known:
            return None
        return next((path for path in self.classes.library_bases(kind.name) if path != "?"), None)

    def class_level(self, expr: f.Expr, info: ClassInfo) -> Type | None:
        """What an expression in a class body is: names of the class come before those of the module."""
        return self.walk(self, info.module, info.piece, owner=info, in_class=True).evaluate(expr)

    def known_models(self) -> list[Model]:
        """The models met so far, by id."""
        return [model for _, model in sorted(self._models.items()) if model is not None]

    def all_models(self) -> list[Model]:
        """Every model of the project, by id. Reads each file that could define one."""
        if self._all_models:
            return self.known_models()
        self._all_models = True
        words = sorted({word for layer in orm.LAYERS for word in layer.RELATIONS})
        pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, words)) + r")\b")
        for source in self.project.mentioning(words):
            if not is_production(source.path):
                continue
            module = self.modules.load(source)
            for _index, piece in enumerate(module.pieces):
                if piece.defines is not None and pattern.search(piece.text) and _CLASS.search(piece.text):
                    found = self.found(self.names.find(module, piece.defines))
                    if isinstance(found, ClassType):
                        self.model(found.name)
        for layer in orm.LAYERS:
            self._models.update(
                layer.settle({model.name: model for model in self.known_models() if model.layer == layer.NAME})
            )
        return self.known_models()

    def related(self) -> dict[tuple[str, str], tuple[str, bool]]:
        """The ways back of relations: (model, attribute) -> (other model, single)."""
        if self._related is None:
            self._related = {}
            models = self.all_models()
            for layer in orm.LAYERS:
                self._related.update(layer.related_names([model for model in models if model.layer == layer.NAME]))
        return self._related

    # --- annotations

    def annotated(self, expr: f.Expr | None, module: Module, receiver: Type | None = None) -> Type | None:
        """What a value with this annotation is."""
        match expr:
            case None:
                return None
            case f.Constant(value=str(text)):
                inner = extract_expression(text)
                return self.annotated(inner, module, receiver)
            case f.Operation(operator="|", left=left, right=right):
                return self.annotated(left, module, receiver) or self.annotated(right, module, receiver)
            case f.Subscript(base=base, index=index):
                return self._annotated_generic(base, index, module, receiver)
            case f.Name(id=name) if isinstance(alias := self.assigned(expr, module), f.Subscript):
                known = self.names.find(module, name)
                return self.annotated(alias, known.module if isinstance(known, Definition) else module, receiver)
        found = self.module_level(expr, module)
        match found:
            case ClassType(name):
                return InstanceType(name)
            case LibraryType("typing.Self" | "typing_extensions.Self"):
                return receiver
            case LibraryType(path):
                plain = path.removeprefix("typing.")
                if plain in ("Any", "Optional", "builtins.object", "None"):
                    return None
                rows = (layer.annotated_rows(path, None) for layer in orm.LAYERS)
                return next((kind for kind in rows if kind is not None), LibraryInstance(path))
        return None

    def _annotated_generic(self, base: f.Expr, index: f.Expr, module: Module, receiver: Type | None) -> Type | None:
        found = self.module_level(base, module)
        items = index.items if isinstance(index, f.Display) else (index,)
        path = found.path if isinstance(found, LibraryType) else ""
        name = path.rpartition(".")[2]
        seen_through = ("Optional", "Annotated", "Awaitable", "Final", "ClassVar", "Required", "NotRequired", "Depends")
        if name in seen_through or self.catalog.role(path) == "transparent":
            return self.annotated(items[0], module, receiver)
        if name == "Union":
            kinds = (self.annotated(item, module, receiver) for item in items)
            return next((kind for kind in kinds if kind is not None), None)
        if name in ("type", "Type"):
            inner = self.annotated(items[0], module, receiver)
            return ClassType(inner.name) if isinstance(inner, InstanceType) else None
        if name in ("tuple", "Tuple") and not any(isinstance(item, f.Name) and item.id == "..." for item in items):
            return RecordType(tuple(self.annotated(item, module, receiver) for item in items))
        inner = self.annotated(items[0], module, receiver)
        for layer in orm.LAYERS:
            rows = layer.annotated_rows(path, inner)
            if rows is not None:
                return rows
        if name in _COLLECTIONS:
            return SeveralType(inner)
        if isinstance(found, ClassType):
            return InstanceType(found.name)
        return LibraryInstance(path) if path and name not in ("dict", "Dict", "Mapping", "Callable") else None

    # --- tasks

    def refer(self, draft: Draft) -> None:
        """A function is a task by being handed to something; of several such places the first one counts, and all say
        how it is delivered."""
        known = self.drafts.get(draft.function)
        if known is None:
            self.drafts[draft.function] = draft
        elif known.referred and (not draft.told, draft.place) < (not known.told, known.place):
            self.drafts[draft.function] = replace(draft, options=known.options)
        self.note(draft.function, draft.options)

    def note(self, task: str, options: Iterable[Option]) -> None:
        """Keep options that something beside its declaration gives a task, in the order of the code."""
        draft = self.drafts[task]
        have = {(option.name, option.site) for option in draft.options}
        fresh = [option for option in options if (option.name, option.site) not in have]
        if fresh:
            own = [option for option in draft.options if option.source != "message"]
            sent = [option for option in (*draft.options, *fresh) if option.source == "message"]
            sent.sort(key=lambda option: (option.site.path, option.site.piece, option.site.at))
            own.extend(option for option in fresh if option.source != "message")
            self.drafts[task] = replace(draft, options=(*own, *sent))

    def imports(self, path: str) -> bool:
        """Whether the project imports the library that a path begins with."""
        library = path.partition(".")[0]
        if library not in self._imports:
            self._imports[library] = bool(imported(self.project, [library]))
        return self._imports[library]

    def class_options(self, cls: str, inside: str = "") -> list[Option]:
        """The attributes of a class as options, nearest class first; with `inside`, those of that class within it."""
        if inside:
            member = self.class_member(cls, inside)
            inner = self.member_type(*member) if member is not None else None
            return self.class_options(inner.name) if isinstance(inner, ClassType) else []
        found: list[Option] = []
        for info in self.classes.order(cls)[0]:
            for name, bindings in sorted(info.members.items()):
                fact = bindings[-1].fact
                if isinstance(fact, f.Assign) and fact.value is not None:
                    site = Site(info.module.file.path, info.piece, fact.value.at)
                    found.append(Option(name, fact.value, info.module.id, site, "base class"))
        return found

    def origin(self, routine: RoutineType) -> str:
        """The function as written behind what its decorators made of it."""
        function = routine.function
        seen = {function}
        while function in self.origins and self.origins[function] not in seen:
            function = self.origins[function]
            seen.add(function)
        return function

    def task_routine(self, draft: Draft) -> RoutineType:
        """What the worker calls, with the task itself as receiver where the framework hands it over."""
        if draft.routine.receiver is not None:
            return draft.routine
        if self.bound(draft):
            return replace(draft.routine, receiver=TaskType(draft.function))
        if self._asks(draft, self.catalog.framework(draft.framework).context):
            return replace(draft.routine, receiver=LibraryInstance(f"{TASK_PREFIX}{draft.framework}"))
        return draft.routine

    def bound(self, draft: Draft) -> bool:
        """Whether the worker hands the task itself over as first parameter."""
        return self._asks(draft, self.catalog.framework(draft.framework).bound)

    def _asks(self, draft: Draft, rule: str) -> bool:
        if rule in ("", "always"):
            return rule == "always"
        option = draft.option(rule)
        return option is not None and isinstance(option.expression, f.Constant) and option.expression.value is True

    def task_named(self, expr: f.Expr, walk: Reading) -> str | None:
        """The task that an expression names: the object, its function, a signature, or its name as a string."""
        kind = walk.evaluate(expr)
        if isinstance(kind, TaskType | SignatureType):
            return kind.task
        if isinstance(kind, RoutineType) and self.origin(kind) in self.drafts:
            return self.origin(kind)
        if isinstance(expr, f.Constant) and isinstance(expr.value, str):
            return self.by_name(expr.value)
        return None

    def by_name(self, name: str) -> str | None:
        """The task with this name in the queue, or at this dotted path."""
        for function, draft in sorted(self.drafts.items()):
            if self.task_name(draft) == name:
                return function
        kind = self.at_path(name)
        if isinstance(kind, RoutineType) and self.origin(kind) in self.drafts:
            return self.origin(kind)
        return kind.task if isinstance(kind, TaskType) else None

    def at_path(self, path: str, near: str = "") -> Type | None:
        """What a path such as `shop.tasks.charge`, `shop.tasks:charge` or `shop.jobs.Job.run` names."""
        dotted = path.replace(":", ".")
        found = self.found(self.names.dotted(dotted, near))
        if found is None and "." in dotted:
            above, _, name = dotted.rpartition(".")
            owner = self.found(self.names.dotted(above, near))
            member = self.class_member(owner.name, name) if isinstance(owner, ClassType) else None
            return self.member_type(*member) if member is not None else None
        return found

    def task_name(self, draft: Draft) -> str:
        """The name the task has in the queue."""
        row, cls = self.catalog.declares(draft.path), self.catalog.task_base(draft.path)
        names = [slot.name for slot in row.name if slot.name is not None] if row is not None else ["name"]
        if cls is not None:
            names = [cls.name]
        for name in names:
            option = draft.option(name)
            given = option.expression if option is not None else None
            if isinstance(given, f.Constant) and isinstance(given.value, str):
                return given.value
        module, _, function = draft.function.partition(":")
        if cls is not None:
            function = function.rpartition(".")[0]
        return self.catalog.framework(draft.framework).naming.format(module=module, function=function)

    def declaring_wrapper(self, kind: RoutineType | PartialType) -> str | None:
        """The declaring call that a project's own decorator hides: somewhere in it an object nobody can resolve is
        asked to make a task of a function (`scanner.config.registry["celery.app"].task(**kw)(wrapped)`)."""
        target = kind.target if isinstance(kind, PartialType) else kind
        if not isinstance(target, RoutineType):
            return None
        info = self.functions[target.function.partition(".<lambda")[0]]
        outermost = self.functions.get(info.id.partition(":")[0] + ":" + info.id.partition(":")[2].split(".")[0], info)
        for call in calls_in(outermost.fact.body):
            inner = call.function
            if isinstance(inner, f.Call) and isinstance(inner.function, f.Attribute) and len(call.arguments) == 1:
                for path in self._declaring(inner.function.name):
                    if self.mentions(info.module, path.partition(".")[0]):
                        return path
        return None

    def _declaring(self, name: str) -> list[str]:
        """The declaring calls of all frameworks whose last word is `name`, one for each framework."""
        found: list[str] = []
        for framework in self.frameworks:
            calls = [call for row in framework.declares for call in row.calls if call.rpartition(".")[2] == name]
            found.extend(calls[:1])
        return found

    def mentions(self, module: Module, library: str) -> bool:
        """Whether a module imports a library."""
        return any(
            isinstance(statement, f.Import) and statement.module.partition(".")[0] == library
            for _, body in module.loose_pieces()
            for statement in body
        )

    def user_model(self) -> Type | None:
        """The project's own user model, the library's when it has none."""
        for layer in orm.LAYERS:
            own = [model for model in self.all_models() if layer.is_user(model)]
            if len(own) == 1:
                return ClassType(own[0].name)
        return None

    # --- bodies

    def link(
        self,
        info: FunctionInfo,
        receiver: Type | None = None,
        arguments: tuple[tuple[str, Type], ...] = (),
        captured: tuple[tuple[str, Type], ...] = (),
    ) -> Body | None:
        """The function as one kind of call reaches it. None inside a cycle of calls."""
        known = self.contexts.setdefault(info.id, {})
        context = (receiver, arguments, captured)
        if context not in known and len(known) >= CONTEXTS:
            context = (receiver if info.owner is None else InstanceType(info.owner.id), (), ())
        if context in known:
            return self.bodies.get(known[context])
        if self._busy(info.id):
            return None
        key = f"{info.id}#{len(known)}"
        known[context] = key
        self.active.append(key)
        walk = self.walk(self, info.module, info.piece, owner=info.owner, receiver=context[0], function=info)
        self.bodies[key] = walk.body(key, info, dict(context[1]), dict(context[2]))
        self.active.pop()
        return self.bodies[key]


_COLLECTIONS = frozenset(
    """list List set Set frozenset FrozenSet Sequence MutableSequence Iterable Iterator Collection Generator
    AsyncIterable AsyncIterator AsyncGenerator deque tuple Tuple""".split()
)


def _calls_beside(info: ClassInfo) -> list[f.Call]:
    """Calls that stand as statements of their own in the module of a class and name it."""
    found: list[f.Call] = []
    for _, body in info.module.loose_pieces():
        for statement in body:
            value = statement.value if isinstance(statement, f.Assign | f.Evaluate) else None
            if isinstance(value, f.Call) and any(info.fact.name in _names_of(each) for each in value.arguments):
                found.append(value)
    return found


def _names_of(given: f.Argument) -> set[str]:
    """The name that the attribute given as an argument starts from."""
    value = given.value
    while isinstance(value, f.Attribute):
        value = value.base
    return {value.id} if isinstance(value, f.Name) else set()


_CLASS = re.compile(r"^class\s", re.MULTILINE)


def element(whole: Type | None, position: int) -> Type | None:
    """The type of one element of an unpacked value."""
    if isinstance(whole, RecordType):
        return whole.items[position] if position < len(whole.items) else None
    return whole.item if isinstance(whole, SeveralType) else None


def _assigns(fact: object, name: str) -> bool:
    """Whether a method assigns `self.name`, whatever it calls itself."""
    todo = [fact.body] if isinstance(fact, f.Function) else []
    while todo:
        for statement in todo.pop():
            targets = statement.targets if isinstance(statement, f.Assign) else ()
            if any(isinstance(target, f.Attribute) and target.name == name for target in targets):
                return True
            todo.extend(getattr(statement, part) for part in ("body", "orelse", "final") if hasattr(statement, part))
            todo.extend(handler.body for handler in getattr(statement, "handlers", ()))
    return False


def calls_in(fact: object) -> list[f.Call]:
    """Every call in a piece of code, nested functions included."""
    return [part for part in f.walk(fact) if isinstance(part, f.Call)]
