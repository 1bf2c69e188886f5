"""The linker's memory: what module-level names, classes and functions are, and the bodies linked so far."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from idemlint.catalog import Catalog
from idemlint.link.annotations import annotated
from idemlint.link.classes import Classes, ClassInfo
from idemlint.link.constants import Constants
from idemlint.link.frameworks import imported, used
from idemlint.link.models import Models
from idemlint.link.modules import Binding, Module, Modules
from idemlint.link.names import Definition, Found, Names
from idemlint.link.own import OwnRows
from idemlint.link.within import assigns, calls_in
from idemlint.program import (
    Body,
    ClassType,
    InstanceType,
    ModuleType,
    PartialType,
    RecordType,
    RoutineType,
    SeveralType,
    TextType,
    Type,
)
from idemlint.project import Project
from idemlint.syntax import facts as f
from idemlint.syntax.reader import READER, Reader

if TYPE_CHECKING:
    from idemlint.link.drafts import Draft
    from idemlint.link.walk import Walk

# Beyond this many kinds of calls on one receiver a function is read once more without what its arguments are, and no
# oftener, save for arguments that decide what it calls. These are let go beyond so many kinds of calls.
CONTEXTS = 8
CHOSEN = 256

# A method is followed into itself, of one instance after the other, up to so many times.
_NESTED = 4


@dataclass
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

    @cached_property
    def called(self) -> frozenset[str]:
        """The names that are called in it."""
        return frozenset(call.function.id for call in calls_in(self.fact) if isinstance(call.function, f.Name))


Context = tuple[Type | None, tuple[tuple[str, Type], ...], tuple[tuple[str, Type], ...]]
"""One kind of call: the receiver, what is known of the arguments, and of the names that the function closes over."""

Receivers = dict[tuple[str, str | None], list[FunctionInfo]]
"""(signal, model id; None: every model) -> the functions that receive it, in the order of the code."""


class Linker:
    """Everything is worked out once, on demand, and depends on the code alone, not on who asked first."""

    def __init__(self, project: Project, catalog: Catalog, walk: type[Walk], reader: Reader = READER) -> None:
        self.walk = walk
        self.project = project
        self.catalog = catalog
        self.modules = Modules(project, reader)
        self.names = Names(self.modules)
        self.constants = Constants(self.names)
        self.own = OwnRows(catalog, self.names)
        self.classes = Classes(self.module_level, lambda path: catalog.role(path) == "implements")
        self.functions: dict[str, FunctionInfo] = {}
        self.drafts: dict[str, Draft] = {}
        self.frameworks = used(project, catalog)
        # Functions that hand on to a queue what they are given.
        self.forwarders: set[str] = set()
        # Functions -> their parameters whose words name what is called.
        self.named: dict[str, set[str]] = {}
        # What decorators of the project's own are being applied to: the function they get, and the one as written.
        self.decorating: list[tuple[str, str]] = []
        self._imports: dict[str, bool] = {}
        self.origins: dict[str, str] = {}
        self.bodies: dict[str, Body] = {}
        self.contexts: dict[str, dict[Context, str]] = {}
        # The functions being linked, outermost first, each with its receiver.
        self.active: list[tuple[str, Type | None]] = []
        self._globals: dict[tuple[str, int, int, int | None], Type | None] = {}
        # The assignments at the top of modules whose values are being read.
        self._assigning: list[Binding] = []
        self.models = Models(self)
        # Classes -> those in production that derive from them.
        self.below: dict[str, tuple[str, ...]] = {}
        self.receivers: Receivers = {}
        # Framework -> the class that all its tasks are of, where the project says so.
        self.task_classes: dict[str, ClassType | None] = {}

    # --- names at module and class level

    def module_level(self, expr: f.Expr, module: Module) -> Type | None:
        """What an expression outside of any function is."""
        return self.walk(self, module, 0).evaluate(expr)

    def found(self, found: Found | None) -> Type | None:
        """What a looked-up name is."""
        if isinstance(found, Definition):
            return self.definition(found.module, found.binding, f"{found.module.id}:")
        return found

    def before(self, found: Found | None) -> Found | None:
        """The same; of `Charge = app.register_task(Charge())`, while its value is read, what the name was before."""
        if isinstance(found, Definition) and any(found.binding is binding for binding in self._assigning):
            bindings = found.module.bindings(found.binding.name)
            place = (found.binding.piece, found.binding.fact.at)
            earlier = [each for each in bindings if (each.piece, each.fact.at) < place]
            return Definition(found.module, earlier[-1]) if earlier else found
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
        result = self.own.known(f"{prefix}{binding.name}".replace(":", "."), result)
        self._globals[key] = result
        return result

    def _assigned(self, module: Module, fact: f.Assign, binding: Binding, owner: ClassInfo | None) -> Type | None:
        value: Type | None = None
        if fact.value is not None:
            self._assigning.append(binding)
            value = self.walk(self, module, binding.piece, owner=owner).evaluate(fact.value)
            self._assigning.pop()
            if binding.position is not None:
                value = element(value, binding.position)
        if value is None and fact.annotation is not None:
            value = annotated(self, fact.annotation, module)
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
            typed = annotated(self, found[1], found[0].module)
            if typed is not None:
                return typed
        for info in self.classes.order(cls)[0]:
            if name not in info.attributes:
                self._read_constructor(info, cls)
            if name in info.attributes:
                return info.attributes[name]
        for info in self.classes.order(cls)[0]:
            for method, bindings in info.members.items():
                if name not in info.attributes and any(assigns(binding.fact, name) for binding in bindings):
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
        return any(function == active for active, _ in self.active)

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

    def library_base(self, kind: Type) -> str | None:
        """The first library class that a project class derives from."""
        if not isinstance(kind, ClassType) or kind.name not in self.classes.known:
            return None
        return next((path for path in self.classes.library_bases(kind.name) if path != "?"), None)

    def class_level(self, expr: f.Expr, info: ClassInfo) -> Type | None:
        """What an expression in a class body is: names of the class come before those of the module."""
        return self.walk(self, info.module, info.piece, owner=info, in_class=True).evaluate(expr)

    def imports(self, path: str) -> bool:
        """Whether the project imports the library that a path begins with."""
        library = path.partition(".")[0]
        if library not in self._imports:
            self._imports[library] = bool(imported(self.project, [library]))
        return self._imports[library]

    def origin(self, routine: RoutineType) -> str:
        """The function as written behind what its decorators made of it."""
        function = routine.function
        if isinstance(routine.receiver, ClassType | InstanceType):
            own = f"{routine.receiver.name}.{function.rpartition('.')[2]}"
            if own in self.drafts:
                return own
        seen = {function}
        while function in self.origins and self.origins[function] not in seen:
            function = self.origins[function]
            seen.add(function)
        return function

    def at_path(self, path: str, near: str = "") -> Type | None:
        """What a path such as `shop.tasks.charge`, `shop.tasks:charge`, `shop.jobs.Job.run` or `shop.jobs.job.run`
        names."""
        dotted = path.replace(":", ".")
        found = self.found(self.names.dotted(dotted, near))
        if found is None and "." in dotted:
            above, _, name = dotted.rpartition(".")
            owner = self.found(self.names.dotted(above, near))
            if not isinstance(owner, ClassType | InstanceType) or owner.name not in self.classes.known:
                return None
            info = self.classes.known[owner.name]
            return self.walk(self, info.module, info.piece).attribute(owner, name)
        return found

    # --- bodies

    def _comes_back(self, function: str, receiver: Type | None) -> bool:
        """Whether a call leads back to what is being linked. A method of a shared base that goes on to the same one of
        another instance does not, as long as there is an end to it."""
        known = [other for active, other in self.active if active == function]
        instances = all(isinstance(each, InstanceType) for each in (*known, receiver))
        return bool(known) and (receiver in known or not instances or len(known) >= _NESTED)

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
        # A decorator is called once for each function, and its wrapper is another one each time.
        if context not in known and not self.decorating:
            choosing = tuple(pair for pair in arguments if _chooses(info, pair))
            alike = sum(each[0] == receiver and all(pair in each[1] for pair in choosing) for each in known)
            if alike >= CONTEXTS:
                context = (receiver, choosing if len(known) < CHOSEN else (), captured)
        if context in known:
            return self.bodies.get(known[context])
        if self._comes_back(info.id, context[0]):
            return None
        key = f"{info.id}#{len(known)}"
        known[context] = key
        self.active.append((info.id, context[0]))
        walk = self.walk(self, info.module, info.piece, owner=info.owner, receiver=context[0], function=info)
        self.bodies[key] = walk.body(key, info, dict(context[1]), dict(context[2]))
        self.active.pop()
        return self.bodies[key]


def _chooses(info: FunctionInfo, argument: tuple[str, Type]) -> bool:
    """Whether it hangs on an argument what a function calls: a function that it calls, or the name of one."""
    name, kind = argument
    if any(isinstance(each, TextType) for each in (kind.items if isinstance(kind, RecordType) else (kind,))):
        return True
    return isinstance(kind, RoutineType | PartialType) and name in info.called


def element(whole: Type | None, position: int) -> Type | None:
    """The type of one element of an unpacked value."""
    if isinstance(whole, RecordType):
        return whole.items[position] if position < len(whole.items) else None
    return whole.item if isinstance(whole, SeveralType) else None
