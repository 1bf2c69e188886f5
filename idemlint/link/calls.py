"""What a call reaches, and what it gives: one case for each thing that can be called."""

from __future__ import annotations

from collections.abc import Sequence

from idemlint import orm
from idemlint.catalog.rows import Method, Send, Slot
from idemlint.link.classes import ClassInfo
from idemlint.link.linker import Draft, FunctionInfo, Linker, element
from idemlint.link.modules import Module
from idemlint.link.names import Definition
from idemlint.program import (
    ClassType,
    Construction,
    DataCall,
    DataMethodType,
    DataOperation,
    DeclarerType,
    EnqueueCall,
    InstanceType,
    LibraryCall,
    LibraryInstance,
    LibraryType,
    ModuleType,
    Option,
    PartialType,
    ProjectCall,
    RecordType,
    RoutineType,
    RowsType,
    SeveralType,
    SignatureType,
    Site,
    TableType,
    Target,
    TaskMethodType,
    TaskType,
    Type,
    UnresolvedCall,
    bind,
)
from idemlint.syntax import facts as f

Reached = tuple[Target | None, Type | None]

_BUILTIN_METHODS = frozenset(
    name for kind in (str, bytes, list, dict, set, tuple, int, float) for name in dir(kind) if not name.startswith("__")
) | {"total_seconds", "isoformat", "strftime", "date", "timestamp"}


class Calls:
    """The part of a walk that follows calls. `Walk` gives it the rest."""

    linker: Linker
    module: Module
    piece: int
    owner: ClassInfo | None
    receiver: Type | None
    function: FunctionInfo | None
    env: dict[str, Type | None]
    targets: dict[int, Target]
    declarer: f.Expr | None = None

    def evaluate(self, expr: f.Expr) -> Type | None:
        raise NotImplementedError

    def attribute(self, base: Type | None, name: str) -> Type | None:
        raise NotImplementedError

    def item(self, kind: Type | None) -> Type | None:
        raise NotImplementedError

    def layer(self, name: str) -> orm.Layer:
        return next(layer for layer in orm.LAYERS if name == layer.NAME)

    def call(self, expr: f.Call) -> Type | None:
        callee = self.evaluate(expr.function)
        positional: list[Type | None] = []
        keywords: dict[str, Type | None] = {}
        for argument in expr.arguments:
            kind = self.evaluate(argument.value)
            if argument.star == "*":
                positional.extend(kind.items if isinstance(kind, RecordType) else ())
            elif argument.star == "**":
                keywords.update(kind.items if isinstance(kind, TableType) else ())
            elif argument.name is not None:
                keywords[argument.name] = kind
            else:
                positional.append(kind)
        target, result = self.reach(callee, expr, positional, keywords)
        if target is not None:
            self.targets[expr.at] = target
        return result

    def reach(
        self, callee: Type | None, expr: f.Call, positional: Sequence[Type | None], keywords: dict[str, Type | None]
    ) -> Reached:
        """What calling `callee` with arguments of these types reaches, and what it gives."""
        match callee:
            case RoutineType():
                return self.routine(callee, positional, keywords)
            case PartialType(target, first, named):
                return self.reach(target, expr, [*first, *positional], {**dict(named), **keywords})
            case ClassType(cls):
                return self.construct(cls, expr, positional, keywords)
            case InstanceType():
                method = self.attribute(callee, "__call__")
                if isinstance(method, RoutineType):
                    return self.routine(method, positional, keywords)
            case DeclarerType(path, options):
                if positional and isinstance(positional[0], RoutineType):
                    return None, self.declare(path, positional[0], [*self.options(expr), *options], expr.at)
                return None, DeclarerType(path, (*self.options(expr), *options))
            case TaskType(task):
                framework = self.linker.drafts[task].framework
                return self.task_method(TaskMethodType(task, framework, "__call__"), expr, positional, keywords)
            case TaskMethodType():
                return self.task_method(callee, expr, positional, keywords)
            case DataMethodType(receiver, method_name):
                return self.data(receiver, method_name, expr)
            case LibraryType(path):
                return self.library(path, expr, positional, keywords)
            case SignatureType(task, framework_name):
                of = "signature" if task else "composition"
                return self.task_method(TaskMethodType(task, framework_name, "__call__", of), expr, positional, keywords)
        name = written(expr.function)
        if name.rpartition(".")[2] in _BUILTIN_METHODS and "." in name:
            return None, None
        return UnresolvedCall(name, "what is called is not known"), None

    # --- functions and classes of the project

    def routine(
        self, callee: RoutineType, positional: Sequence[Type | None], keywords: dict[str, Type | None]
    ) -> Reached:
        info = self.linker.functions[callee.function]
        parameters = info.fact.parameters[1:] if callee.receiver is not None else info.fact.parameters
        bound, extra, spare = bind(parameters, positional, keywords)
        known = {name: kind for name, kind in bound.items() if kind is not None}
        for parameter in parameters:
            if parameter.kind == "*" and any(extra):
                known[parameter.name] = RecordType(extra)
            elif parameter.kind == "**" and any(spare.values()):
                known[parameter.name] = TableType(tuple(spare.items()))
        body = self.linker.link(info, callee.receiver, tuple(sorted(known.items())), callee.captured)
        if body is None:
            return UnresolvedCall(info.name, "a cycle of calls"), None
        return ProjectCall(body.key), body.returns

    def construct(
        self, cls: str, expr: f.Call, positional: Sequence[Type | None], keywords: dict[str, Type | None]
    ) -> Reached:
        made = InstanceType(cls)
        model = self.linker.model(cls)
        if model is not None:
            layer = self.layer(model.layer)
            return DataCall(layer.construct(model, expr), model.layer), made
        found = self.linker.class_member(cls, "__init__")
        if found is not None:
            info, binding = found
            kind = self.linker.member_type(info, binding)
            if isinstance(kind, RoutineType):
                target, _ = self.routine(RoutineType(kind.function, made), positional, keywords)
                return Construction(cls, target.body if isinstance(target, ProjectCall) else None), made
        return Construction(cls), made

    # --- libraries

    def library(
        self, path: str, expr: f.Call, positional: Sequence[Type | None], keywords: dict[str, Type | None]
    ) -> Reached:
        catalog = self.linker.catalog
        if catalog.declares(path) is not None:
            if positional and isinstance(positional[0], RoutineType):
                return None, self.declare(path, positional[0], self.options(expr), expr.at)
            return None, DeclarerType(path, tuple(self.options(expr)))
        sent = self.sent(path, expr)
        if sent is not None:
            return sent
        role = catalog.role(path)
        first = positional[0] if positional else None
        if role == "partial" and first is not None:
            return None, self.partial(first, expr, positional, keywords)
        if role == "transparent" and first is not None:
            return LibraryCall(path), first
        for layer in orm.LAYERS:
            parts = layer.manager_parts(expr)
            if parts is not None:
                return None, self.evaluate(parts[1])
        if role == "user-model":
            return LibraryCall(path), self.linker.user_model()
        if path in _BUILTIN_RESULTS:
            return LibraryCall(path), self.builtin(path, expr, positional)
        for layer in orm.LAYERS:
            data = layer.shortcut(path, expr, self.evaluate)
            if data is not None:
                return DataCall(data[0], layer.NAME), data[1]
        given = catalog.returns(path, literals(expr))
        result = LibraryInstance(given if given is not None else path)
        if not catalog.knows(path):
            name = path.rpartition(".")[2]
            if name in _BUILTIN_METHODS and "." in path:
                return None, None
            return UnresolvedCall(path, "a library that no catalog row speaks of"), result
        return LibraryCall(path, self.callbacks(role, expr, positional)), result

    def partial(
        self, first: Type, expr: f.Call, positional: Sequence[Type | None], keywords: dict[str, Type | None]
    ) -> Type:
        if isinstance(first, DeclarerType):
            return DeclarerType(first.path, (*self.options(expr), *first.options))
        if isinstance(first, LibraryType) and self.linker.catalog.declares(first.path) is not None:
            return DeclarerType(first.path, tuple(self.options(expr)))
        return PartialType(first, tuple(positional[1:]), tuple(sorted(keywords.items())))

    def builtin(self, path: str, expr: f.Call, positional: Sequence[Type | None]) -> Type | None:
        first = positional[0] if positional else None
        match path.partition(".")[2]:
            case "getattr" if len(expr.arguments) > 1 and isinstance(expr.arguments[1].value, f.Constant):
                return self.attribute(first, str(expr.arguments[1].value.value))
            case "list" | "sorted" | "set" | "tuple" | "reversed" | "frozenset" | "iter":
                return first if isinstance(first, SeveralType) else SeveralType(self.item(first))
            case "next" | "min" | "max":
                return self.item(first)
            case "enumerate":
                return SeveralType(RecordType((None, self.item(first))))
            case "zip":
                return SeveralType(RecordType(tuple(self.item(kind) for kind in positional)))
            case "type":
                return ClassType(first.name) if isinstance(first, InstanceType) else None
            case "dict":
                named = ((argument.name, self.evaluate(argument.value)) for argument in expr.arguments)
                return TableType(tuple((name, kind) for name, kind in named if name is not None))
            case "filter":
                return SeveralType(self.item(positional[1])) if len(positional) > 1 else None
        return None

    def callbacks(
        self, role: str | None, expr: f.Call, positional: Sequence[Type | None]
    ) -> tuple[tuple[int, str | EnqueueCall], ...]:
        """Functions handed to a library that is known to call them."""
        if role not in ("on-commit", "apply"):
            return ()
        found: list[tuple[int, str | EnqueueCall]] = []
        plain = [argument for argument in expr.arguments if not argument.star]
        for argument in plain:
            kind = self.evaluate(argument.value)
            target: Target | None = None
            if isinstance(kind, RoutineType | PartialType):
                target, _ = self.reach(kind, f.Call(expr.at, argument.value, ()), (), {})
            elif isinstance(kind, TaskMethodType):
                target, _ = self.task_method(kind, f.Call(expr.at, argument.value, ()), (), {})
            if isinstance(target, ProjectCall):
                found.append((argument.value.at, target.body))
            elif isinstance(target, EnqueueCall):
                found.append((argument.value.at, target))
        return tuple(found)

    # --- the data layer

    def data(self, receiver: Type, method: str, expr: f.Call) -> Reached:
        name = receiver.model if isinstance(receiver, RowsType) else getattr(receiver, "name", "")
        model = self.linker.model(name)
        if model is not None:
            found = self.layer(model.layer).operation(receiver, method, expr, model)
            if found is not None:
                operation, result = found
                return DataCall(operation, model.layer), result
        if method in _BUILTIN_METHODS:
            return None, None
        return UnresolvedCall(f"{name.rpartition(':')[2]}.{method}", "a method the data layer does not have"), None

    # --- tasks

    def declare(self, path: str, routine: RoutineType, options: Sequence[Option], at: int) -> Type:
        """A function becomes a task; declared twice it keeps its first declaration."""
        row = self.linker.catalog.declares(path)
        assert row is not None
        function = self.linker.origin(routine)
        if function not in self.linker.drafts:
            site = Site(self.module.file.path, self.piece, at)
            base, inherited = self.task_base(options)
            self.linker.drafts[function] = Draft(
                function, row.framework, path, routine, (*options, *inherited), site, base, self.app
            )
        return TaskType(function)

    def task_base(self, options: Sequence[Option]) -> tuple[str | None, list[Option]]:
        """The project class given as `base`, and the options its attributes set, nearest class first."""
        given = next((option for option in options if option.name == "base"), None)
        kind = self.evaluate(given.expression) if given is not None and given.module == self.module.id else None
        if given is None:
            kind = self.app_task_class()
        if not isinstance(kind, ClassType) or kind.name not in self.linker.classes.known:
            return None, []
        found: list[Option] = []
        for info in self.linker.classes.order(kind.name)[0]:
            for name, bindings in sorted(info.members.items()):
                fact = bindings[-1].fact
                if isinstance(fact, f.Assign) and fact.value is not None:
                    site = Site(info.module.file.path, info.piece, fact.value.at)
                    found.append(Option(name, fact.value, info.module.id, site, "base class"))
        return kind.name, found

    def app_task_class(self) -> Type | None:
        """The class that the app makes its tasks of: `Celery("shop", task_cls=AfterCommit)`."""
        found = self.app_definition()
        value = found.binding.fact.value if found is not None and isinstance(found.binding.fact, f.Assign) else None
        if found is None or not isinstance(value, f.Call):
            return None
        given = next((argument.value for argument in value.arguments if argument.name == "task_cls"), None)
        return self.linker.module_level(given, found.module) if given is not None else None

    @property
    def app(self) -> str | None:
        """The id of the name whose method the decorator being applied is."""
        found = self.app_definition()
        return f"{found.module.id}:{found.binding.name}" if found is not None else None

    def app_definition(self) -> Definition | None:
        holder = self.declarer.base if isinstance(self.declarer, f.Attribute) else None
        found = None
        if isinstance(holder, f.Name):
            found = self.linker.names.find(self.module, holder.id)
        elif isinstance(holder, f.Attribute) and isinstance(holder.base, f.Name):
            module = self.linker.names.find(self.module, holder.base.id)
            if isinstance(module, ModuleType):
                found = self.linker.names.attribute(module, holder.name, self.module.file.path)
        return found if isinstance(found, Definition) else None

    def decorate(self, decorator: f.Expr, current: Type, info: FunctionInfo) -> Type:
        """What a name is once one decorator more has been applied to it; an unknown decorator is looked through."""
        kind = self.evaluate(decorator)
        self.declarer = decorator.function if isinstance(decorator, f.Call) else decorator
        match kind:
            case DeclarerType(path, options) if isinstance(current, RoutineType):
                self.linker.origins[current.function] = info.id
                return self.declare(path, current, options, decorator.at)
            case LibraryType(path) if isinstance(current, RoutineType) and self.linker.catalog.declares(path):
                self.linker.origins[current.function] = info.id
                return self.declare(path, current, (), decorator.at)
            case RoutineType() | PartialType():
                return self._project_decorator(kind, decorator, current, info)
        return current

    def _project_decorator(self, kind: Type, decorator: f.Expr, current: Type, info: FunctionInfo) -> Type:
        before = set(self.linker.drafts)
        if isinstance(current, RoutineType):
            self.linker.origins.setdefault(current.function, info.id)
        _, result = self.reach(kind, f.Call(decorator.at, decorator, ()), (current,), {})
        for made in self.linker.drafts.keys() - before:
            draft = self.linker.drafts[made]
            own = tuple(self.options(decorator)) if isinstance(decorator, f.Call) else ()
            self.linker.drafts[made] = draft.having((*draft.options, *own), Site(info.module.file.path, info.piece, decorator.at))
        if isinstance(result, TaskType):
            return result
        declared = self.linker.declaring_wrapper(kind)
        if declared is not None and isinstance(current, RoutineType):
            own = tuple(self.options(decorator)) if isinstance(decorator, f.Call) else ()
            return self.declare(declared, current, own, decorator.at)
        if isinstance(result, RoutineType):
            self.linker.origins.setdefault(result.function, info.id)
            return result
        return current

    def options(self, expr: f.Expr) -> list[Option]:
        """The keywords of a declaring call as options; `**options` is read through to the dict it names."""
        found: list[Option] = []
        if not isinstance(expr, f.Call):
            return found
        for argument in expr.arguments:
            if argument.name is not None:
                site = Site(self.module.file.path, self.piece, argument.value.at)
                found.append(Option(argument.name, argument.value, self.module.id, site, "decorator"))
            elif argument.star == "**":
                found.extend(self.splat(argument.value))
        return found

    def splat(self, expr: f.Expr) -> list[Option]:
        pairs, module, piece = self._pairs(expr, self.module, self.piece)
        return [
            Option(name, value, module.id, Site(module.file.path, piece, value.at), "options dict")
            for name, value in pairs
        ]

    def _pairs(self, expr: f.Expr, module: Module, piece: int) -> tuple[list[tuple[str, f.Expr]], Module, int]:
        match expr:
            case f.Mapping(items=items):
                pairs = [
                    (key.value, value)
                    for key, value in items
                    if isinstance(key, f.Constant) and isinstance(key.value, str)
                ]
                return pairs, module, piece
            case f.Call(function=f.Name(id="dict"), arguments=arguments):
                return [(word.name, word.value) for word in arguments if word.name is not None], module, piece
            case f.Name(id=name):
                found = self.linker.names.find(module, name)
                if isinstance(found, Definition) and isinstance(found.binding.fact, f.Assign):
                    value = found.binding.fact.value
                    if value is not None and not isinstance(value, f.Name):
                        return self._pairs(value, found.module, found.binding.piece)
        return [], module, piece

    def task_method(
        self, callee: TaskMethodType, expr: f.Call, positional: Sequence[Type | None], keywords: dict[str, Type | None]
    ) -> Reached:
        row = self.linker.catalog.framework(callee.framework).method(callee.method, callee.of)
        if row is None:
            return None, None
        match row.does:
            case "enqueue" | "retry":
                return self.enqueue(callee, row, expr), None
            case "signature" | "configure":
                return None, SignatureType(callee.task, callee.framework)
            case "local" if callee.task is not None:
                draft = self.linker.drafts[callee.task]
                arguments = positional if row.arguments == "direct" else ()
                routine = self.linker.task_routine(draft)
                return self.routine(routine, list(arguments), keywords if row.arguments == "direct" else {})
        return None, None

    def enqueue(self, callee: TaskMethodType, row: Method, expr: f.Call) -> EnqueueCall:
        options = tuple(
            (word.name, word.value) for word in expr.arguments if word.name is not None and word.name in row.options
        )
        arguments: tuple[tuple[str, f.Expr], ...] = ()
        if callee.task is not None and row.does == "enqueue":
            arguments = self.task_arguments(callee.task, row, expr, skip=0)
        return EnqueueCall(callee.framework, callee.task, callee.method, arguments, options, row.commit, row.does)

    def task_arguments(
        self, task: str, row: Method | Send, expr: f.Call, skip: int
    ) -> tuple[tuple[str, f.Expr], ...]:
        """The task's own arguments in a call that sends it, by parameter name."""
        positional: list[f.Expr] = []
        keywords: dict[str, f.Expr] = {}
        if row.arguments == "direct":
            for argument in expr.arguments:
                if argument.star:
                    continue
                if argument.name is None:
                    positional.append(argument.value)
                elif argument.name not in row.options:
                    keywords[argument.name] = argument.value
            positional = positional[skip:]
        elif row.arguments == "args-kwargs":
            args, named = slot_value(row.args, expr), slot_value(row.kwargs, expr)
            if isinstance(args, f.Display):
                positional = list(args.items)
            if isinstance(named, f.Mapping):
                keywords = {
                    key.value: value
                    for key, value in named.items
                    if isinstance(key, f.Constant) and isinstance(key.value, str)
                }
        draft = self.linker.drafts[task]
        info = self.linker.functions[draft.routine.function]
        hidden = 1 if self.linker.task_routine(draft).receiver is not None else 0
        bound, _, spare = bind(info.fact.parameters[hidden:], positional, keywords)
        return tuple({**bound, **spare}.items())

    def sent(self, path: str, expr: f.Call) -> Reached | None:
        """`app.send_task("name")`, `chain(a.s(), b.s())`: tasks sent or tied together by a library function."""
        composed = self.linker.catalog.composes(path)
        if composed is not None:
            return LibraryCall(path), SignatureType(None, composed.framework)
        row = self.linker.catalog.sends(path)
        if row is None:
            return None
        given = slot_value(row.task, expr)
        task = self.linker.task_named(given, self) if given is not None else None
        arguments = self.task_arguments(task, row, expr, len(row.task)) if task is not None else ()
        options = tuple((word.name, word.value) for word in expr.arguments if word.name in row.options and word.name)
        return EnqueueCall(row.framework, task, path, arguments, options, row.commit, row.does), None


_BUILTIN_RESULTS = frozenset(
    f"builtins.{name}"
    for name in "getattr list sorted set tuple reversed frozenset iter next min max enumerate zip type dict filter".split()
)


def literals(expr: f.Call) -> dict[str, object]:
    """The arguments of a call as the catalog tests them: literals, `...` for what cannot be told."""
    found: dict[str, object] = {}
    position = 0
    for argument in expr.arguments:
        value = argument.value.value if isinstance(argument.value, f.Constant) else ...
        if argument.name is not None:
            found[argument.name] = value
        elif not argument.star:
            found[f"#{position}"] = value
            position += 1
    return found


def slot_value(slots: Sequence[Slot], expr: f.Call) -> f.Expr | None:
    """The argument of a call that stands at the first slot given."""
    plain = [argument.value for argument in expr.arguments if not argument.star and argument.name is None]
    for slot in slots:
        if slot.position is not None and slot.position < len(plain):
            return plain[slot.position]
        for argument in expr.arguments:
            if slot.name is not None and argument.name == slot.name:
                return argument.value
    return None


def written(expr: f.Expr) -> str:
    """A callee as its author wrote it, as far as it is names and dots."""
    match expr:
        case f.Name(id=name):
            return name
        case f.Attribute(base=base, name=name):
            return f"{written(base)}.{name}"
        case f.Call(function=function):
            return f"{written(function)}()"
        case f.Subscript(base=base):
            return f"{written(base)}[]"
        case f.Await(value=value):
            return written(value)
    return "..."


__all__ = ["Calls", "DataOperation", "element", "slot_value", "written"]
