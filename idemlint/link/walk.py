"""Reading one function (or one module-level expression): what its names are, what its calls reach.

The walk follows the order of the code. Where two branches disagree about a name, what is known wins: a wrong guess
about a type shows as a call into a thing that has no such method, not as a finding.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable

from idemlint import orm
from idemlint.link.calls import Calls
from idemlint.link.classes import ClassInfo
from idemlint.link.linker import TASK_PREFIX, FunctionInfo, Linker, element
from idemlint.link.modules import Module, bindings_in
from idemlint.link.names import Definition
from idemlint.link.values import Known
from idemlint.orm import sql
from idemlint.program import (
    Body,
    ClassType,
    ColumnType,
    DataMethodType,
    InstanceType,
    LibraryCall,
    LibraryInstance,
    LibraryType,
    Model,
    ModuleType,
    ProjectCall,
    RecordType,
    RoutineType,
    RowsType,
    SeveralType,
    SignatureType,
    TableType,
    Target,
    TaskMethodType,
    TaskType,
    Type,
)
from idemlint.syntax import facts as f

_BUILTINS = frozenset(dir(builtins))


class Walk(Calls):
    """One pass over one function."""

    def __init__(
        self,
        linker: Linker,
        module: Module,
        piece: int,
        owner: ClassInfo | None = None,
        receiver: Type | None = None,
        function: FunctionInfo | None = None,
        in_class: bool = False,
    ) -> None:
        self.linker = linker
        self.module = module
        self.piece = piece
        self.owner = owner
        self.receiver = receiver
        self.function = function
        self.in_class = in_class
        self.env: dict[str, Type | None] = {}
        self.captured: dict[str, Type] = {}
        self.used: set[str] = set()
        self.local: dict[str, f.Function | f.Class | f.Import] = {}
        self.targets: dict[int, Target] = {}
        self.types: dict[int, Type] = {}
        self.constants: dict[int, object] = {}
        self.managers: dict[int, tuple[str, str]] = {}
        self.returned: list[Type | None] = []
        self.yielded: list[Type | None] = []
        self.receiver_name: str | None = None

    # --- a whole function

    def body(self, key: str, info: FunctionInfo, arguments: dict[str, Type], captured: dict[str, Type]) -> Body:
        """Link `info` with what is known of its arguments and of the names it closes over."""
        fact = info.fact
        self.captured = captured
        parameters = fact.parameters
        contexts: list[tuple[Target, int]] = []
        for parameter in parameters:
            known = arguments.get(parameter.name)
            if known is None:
                known = self._parameter(parameter)
            self.env[parameter.name] = known
        static = isinstance(fact, f.Function) and self._is_static(fact)
        has_receiver = self.receiver is not None and bool(parameters) and not static
        if has_receiver and parameters[0].kind == "*":
            # A wrapper that hands on whatever it is called with.
            self.env[parameters[0].name] = RecordType((self.receiver,))
            has_receiver = False
        if has_receiver:
            self.receiver_name = parameters[0].name
            self.env[parameters[0].name] = self.receiver
        statements: f.Body
        if isinstance(fact, f.Lambda):
            statements = (f.Return(fact.at, fact.body),)
            generator = False
        else:
            statements, generator = fact.body, fact.is_generator
            contexts = self.contexts(fact)
        known_arguments = {name: kind for name, kind in self.env.items() if kind is not None}
        self.statements(statements)
        if generator:
            returns: Type | None = SeveralType(_agree(self.yielded))
        else:
            returns = _agree(self.returned)
            if returns is None and isinstance(fact, f.Function):
                returns = self.linker.annotated(fact.returns, self.module, self.receiver)
        return Body(
            key=key,
            function=info.id,
            path=self.module.file.path,
            piece=self.piece,
            name=info.name,
            parameters=parameters,
            statements=statements,
            is_generator=generator,
            at=fact.name_at if isinstance(fact, f.Function) else fact.at,
            targets=self.targets,
            types=self.types,
            constants=self.constants,
            arguments=known_arguments,
            returns=returns,
            captured=tuple(sorted(self.used)),
            receiver=has_receiver,
            contexts=tuple(contexts),
            managers=self.managers,
        )

    def _is_static(self, fact: f.Function) -> bool:
        return any(isinstance(decorator, f.Name) and decorator.id == "staticmethod" for decorator in fact.decorators)

    def _parameter(self, parameter: f.Parameter) -> Type | None:
        if parameter.kind == "*":
            return None
        if parameter.kind == "**":
            return TableType(())
        known = self.linker.annotated(parameter.annotation, self.module, self.receiver)
        return known or self.by_default(parameter.default)

    def by_default(self, default: f.Expr | None) -> Type | None:
        """What a parameter is by its default: the thing named there, or what a framework passes for
        `db=Depends(get_db)`, which is what the function gives, or yields."""
        if isinstance(default, f.Name):
            return self.evaluate(default)
        if not isinstance(default, f.Call) or not default.arguments:
            return None
        kind = self.evaluate(default.function)
        if not isinstance(kind, LibraryType) or self.linker.catalog.role(kind.path) != "depends":
            return None
        given = self.evaluate(default.arguments[0].value)
        body = self.linker.link(self.linker.functions[given.function]) if isinstance(given, RoutineType) else None
        return None if body is None else self.item(body.returns) if body.is_generator else body.returns

    def contexts(self, fact: f.Function) -> list[tuple[Target, int]]:
        """Context managers a function is decorated with: they are open while its body runs."""
        found: list[tuple[Target, int]] = []
        for decorator in fact.decorators:
            kind = self.evaluate(decorator)
            at = decorator.at
            target = self.targets.get(at)
            if isinstance(kind, LibraryType | LibraryInstance):
                catalog = self.linker.catalog
                if catalog.role(kind.path) == "transaction" or catalog.guard(kind.path) is not None:
                    found.append((target or LibraryCall(kind.path), at))
            elif isinstance(target, ProjectCall) and self.linker.bodies[target.body].is_generator:
                found.append((target, at))
        return found

    # --- statements

    def statements(self, body: Iterable[f.Statement]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, statement: f.Statement) -> None:
        match statement:
            case f.Assign(targets=targets, value=value, annotation=annotation):
                kind = self.evaluate(value) if value is not None else None
                if annotation is not None:
                    kind = kind or self.linker.annotated(annotation, self.module, self.receiver)
                for target in targets:
                    self.assign(target, kind)
            case f.Augment(target=target, value=value):
                self.evaluate(target)
                self.evaluate(value)
            case f.Evaluate(value=value):
                self.evaluate(value)
            case f.Return(value=value):
                if value is not None and not (isinstance(value, f.Constant) and value.value is None):
                    self.returned.append(self.evaluate(value))
            case f.Raise(exception=exception):
                if exception is not None:
                    self.evaluate(exception)
            case f.Delete(targets=targets):
                for target in targets:
                    self.evaluate(target)
            case f.Assert(test=test):
                self.evaluate(test)
                self.narrow(test)
            case f.If(test=test, body=body, orelse=orelse):
                self.evaluate(test)
                before = dict(self.env)
                self.narrow(test)
                self.statements(body)
                after = self.env
                self.env = before
                self.statements(orelse)
                self.env = _merge(after, self.env, _leaves(body), _leaves(orelse))
            case f.For(target=target, iterable=iterable, body=body, orelse=orelse):
                self.assign(target, self.item(self.evaluate(iterable)))
                self.statements(body)
                self.statements(orelse)
            case f.While(test=test, body=body, orelse=orelse):
                self.evaluate(test)
                self.narrow(test)
                self.statements(body)
                self.statements(orelse)
            case f.With(items=items, body=body):
                for manager, bound in items:
                    entered = self.entered(manager, self.evaluate(manager))
                    if bound is not None:
                        self.assign(bound, entered)
                self.statements(body)
            case f.Try(body=body, handlers=handlers, orelse=orelse, final=final):
                self.statements(body)
                self.statements(orelse)
                after = dict(self.env)
                for handler in handlers:
                    if handler.exception is not None:
                        self.evaluate(handler.exception)
                    self.statements(handler.body)
                    after = _merge(after, self.env, False, _leaves(handler.body))
                    self.env = dict(after)
                self.statements(final)
            case f.Match(subject=subject, cases=cases):
                self.evaluate(subject)
                for case in cases:
                    for name in case.binds:
                        self.env[name] = None
                    for value in case.values:
                        self.evaluate(value)
                    if case.guard is not None:
                        self.evaluate(case.guard)
                    self.statements(case.body)
            case f.Function():
                self.nested(statement)
            case f.Class() | f.Import():
                self.define(statement)
            case f.Jump() | f.Outer():
                pass

    def define(self, statement: f.Class | f.Import) -> None:
        prefix = f"{self.function.id}." if self.function else f"{self.module.id}:"
        for binding in bindings_in((statement,), self.piece):
            self.env[binding.name] = self.linker.definition(self.module, binding, prefix)

    def nested(self, statement: f.Function) -> None:
        """A function defined inside this one: its free names are those of this moment (Python looks them up later)."""
        prefix = f"{self.function.id}." if self.function else f"{self.module.id}:"
        info = self.linker.function(f"{prefix}{statement.name}", statement, self.module, self.piece, self.owner)
        kind: Type = RoutineType(info.id, None, self.closure(statement))
        for decorator in reversed(statement.decorators):
            kind = self.decorate(decorator, kind, info)
        self.env[statement.name] = kind
        self.types[statement.at] = kind

    def closure(self, fact: f.Function | f.Lambda) -> tuple[tuple[str, Type], ...]:
        """Names of this function that a nested one uses, with what they are."""
        own = {parameter.name for parameter in fact.parameters}
        names = sorted(names_in(fact.body) - own)
        found: list[tuple[str, Type]] = []
        for name in names:
            kind = self.env.get(name) or self.captured.get(name)
            if kind is not None:
                found.append((name, kind))
        if "super" in names and self.receiver is not None:
            found.append(("super", self.receiver))
        return tuple(found)

    def assign(self, target: f.Expr, kind: Type | None) -> None:
        match target:
            case f.Name(id=name):
                self.env[name] = kind
                if kind is not None:
                    self.types[target.at] = kind
            case f.Starred(value=value):
                self.assign(value, SeveralType(None))
            case f.Display(items=items):
                for position, item in enumerate(items):
                    self.assign(item, element(kind, position))
            case f.Attribute(base=base, name=name):
                holder = self.evaluate(base)
                if isinstance(holder, InstanceType) and kind is not None and self.owner is not None:
                    if isinstance(base, f.Name) and base.id == self.receiver_name:
                        self.owner.attributes.setdefault(name, kind)
            case f.Subscript(base=base, index=index):
                self.evaluate(base)
                self.evaluate(index)
            case _:
                self.evaluate(target)

    def narrow(self, test: f.Expr) -> None:
        """`isinstance(name, Class)` says what the name is in the branch."""
        for part in test.operands if isinstance(test, f.Boolean) and test.operator == "and" else (test,):
            match part:
                case f.Call(function=f.Name(id="isinstance"), arguments=(f.Argument(value=f.Name(id=name)), second)):
                    kind = self.linker.annotated(second.value, self.module)
                    if kind is not None:
                        self.env[name] = kind

    def item(self, kind: Type | None) -> Type | None:
        """What iterating over a value gives."""
        match kind:
            case SeveralType(item):
                return item
            case RowsType(model):
                found = self.linker.model(model)
                return self.layer(found.layer).item(kind) if found is not None else None
            case RecordType(items):
                return _agree(items)
        return None

    def entered(self, manager: f.Expr, kind: Type | None) -> Type | None:
        """What `with manager as name` binds."""
        target = self.targets.get(manager.at)
        if isinstance(target, ProjectCall) and self.linker.bodies[target.body].is_generator:
            return self.item(kind)
        if isinstance(kind, InstanceType):
            enter = self.method_body(kind, "__enter__") or self.method_body(kind, "__aenter__")
            leave = self.method_body(kind, "__exit__") or self.method_body(kind, "__aexit__")
            if enter is not None or leave is not None:
                self.managers[manager.at] = (enter.key if enter else "", leave.key if leave else "")
            return (enter.returns if enter is not None else None) or kind
        return kind

    def method_body(self, kind: InstanceType, name: str) -> Body | None:
        """The body of a method, None where the project has no such method."""
        method = self.attribute(kind, name)
        if not isinstance(method, RoutineType):
            return None
        return self.linker.link(self.linker.functions[method.function], method.receiver, (), method.captured)

    # --- expressions

    def evaluate(self, expr: f.Expr) -> Type | None:
        kind = self._evaluate(expr)
        if kind is not None:
            self.types[expr.at] = kind
        return kind

    def _evaluate(self, expr: f.Expr) -> Type | None:
        match expr:
            case f.Name(id=name):
                if name not in self.env and name not in self.captured:
                    self.constant(expr)
                return self.name(name)
            case f.Constant(value=value):
                return None if value is None else LibraryInstance(f"builtins.{type(value).__name__}")
            case f.Attribute(base=base, name=name):
                if _is_super(base):
                    return self.inherited(name)
                holder = self.evaluate(base)
                if isinstance(holder, ModuleType):
                    self.constant(expr)
                if isinstance(holder, InstanceType):
                    self.enter_property(expr.at, holder, name)
                if isinstance(holder, InstanceType | ClassType):
                    self.class_constant(expr, holder.name)
                return self.attribute(holder, name)
            case f.Call():
                return self.call(expr)
            case f.Await(value=value) | f.Starred(value=value):
                return self.evaluate(value)
            case f.Walrus(target=target, value=value):
                kind = self.evaluate(value)
                self.assign(target, kind)
                return kind
            case f.Conditional(test=test, body=body, orelse=orelse):
                self.evaluate(test)
                chosen, other = self.evaluate(body), self.evaluate(orelse)
                return chosen or other
            case f.Boolean(operands=operands):
                kinds = [self.evaluate(operand) for operand in operands]
                return next((kind for kind in kinds if kind is not None), None)
            case f.Unary(operand=operand, operator=operator):
                kind = self.evaluate(operand)
                return LibraryInstance("builtins.bool") if operator == "not" else kind
            case f.Operation(operator=operator, left=left, right=right):
                return self.operation(operator, self.evaluate(left), self.evaluate(right))
            case f.Comparison(left=left, rights=rights):
                for side in (left, *rights):
                    self.evaluate(side)
                return LibraryInstance("builtins.bool")
            case f.Format(parts=parts):
                for part in parts:
                    self.evaluate(part)
                return LibraryInstance("builtins.str")
            case f.Formatted(value=value, specification=parts):
                for part in (value, *parts):
                    self.evaluate(part)
                return LibraryInstance("builtins.str")
            case f.Display(kind=kind, items=items):
                inside = tuple(self.evaluate(item) for item in items)
                return RecordType(inside) if kind == "tuple" else SeveralType(_agree(inside))
            case f.Mapping(items=pairs):
                return self.mapping(pairs)
            case f.Subscript(base=base, index=index):
                return self.subscript(self.evaluate(base), index)
            case f.Slice(parts=parts):
                for part in parts:
                    self.evaluate(part)
                return None
            case f.Lambda():
                prefix = f"{self.function.id}." if self.function else f"{self.module.id}:"
                info = self.linker.function(f"{prefix}<lambda {expr.at}>", expr, self.module, self.piece, self.owner)
                return RoutineType(info.id, None, self.closure(expr))
            case f.Comprehension():
                return self.comprehension(expr)
            case f.Yield(value=given):
                self.yielded.append(self.evaluate(given) if given is not None else None)
                return None

    def constant(self, expr: f.Name | f.Attribute) -> None:
        """Note the plain value of a module-level name, where its assignment looks as if it had one."""
        if isinstance(expr, f.Name):
            found = self.linker.names.find(self.module, expr.id)
        else:
            base = self.types.get(expr.base.at)
            assert isinstance(base, ModuleType)
            found = self.linker.names.attribute(base, expr.name, self.module.file.path)
        if not isinstance(found, Definition) or not isinstance(found.binding.fact, f.Assign):
            return
        written = found.binding.fact.value
        if isinstance(written, f.Constant):
            self.constants[expr.at] = written.value
        elif isinstance(written, f.Format | f.Operation | f.Mapping):
            value = self.linker.constants.evaluate(expr, self.module)
            if isinstance(value, Known) and isinstance(value.value, str | int | float | bool | bytes | dict):
                self.constants[expr.at] = value.value
        elif isinstance(written, f.Call) and (text := self.statement_text(written, found.module)) is not None:
            self.constants[expr.at] = text

    def class_constant(self, expr: f.Attribute, cls: str) -> None:
        """Note the text of a class attribute that is spelled as a constant, or holds a statement: `self.insert_sql`."""
        found = self.linker.class_member(cls, expr.name)
        written = found[1].fact.value if found is not None and isinstance(found[1].fact, f.Assign) else None
        if found is None or found[1].position is not None:
            return
        if not isinstance(written, f.Constant | f.Format | f.Operation | f.Call):
            return
        value = self.linker.constants.evaluate(written, found[0].module)
        if isinstance(value, Known) and isinstance(value.value, str):
            if expr.name.isupper() or sql.is_sql(value.value):
                self.constants[expr.at] = value.value
        elif isinstance(written, f.Call) and (text := self.statement_text(written, found[0].module)) is not None:
            self.constants[expr.at] = text

    def statement_text(self, call: f.Call, module: Module) -> str | None:
        """The statement in `text("SELECT ...")`, `dedent(...)`: made by a function that only passes it on."""
        given = call.arguments[0].value if len(call.arguments) == 1 else None
        value = self.linker.constants.evaluate(given, module) if given is not None else None
        if not isinstance(value, Known) or not isinstance(value.value, str) or not sql.is_sql(value.value):
            return None
        kind = self.linker.module_level(call.function, module)
        passes = isinstance(kind, LibraryType) and self.linker.catalog.origin(kind.path, 1) == "arguments"
        return value.value if passes else None

    def enter_property(self, at: int, holder: InstanceType, name: str) -> None:
        """Note which function runs when a property is read."""
        found = self.linker.class_member(holder.name, name)
        if found is None or self.linker.method_kind(found[1]) != "property":
            return
        kind = self.linker.member_type(*found)
        if isinstance(kind, RoutineType):
            body = self.linker.link(self.linker.functions[kind.function], holder)
            if body is not None:
                self.targets[at] = ProjectCall(body.key)

    def name(self, name: str) -> Type | None:
        if name in self.env:
            return self.env[name]
        if name in self.captured:
            self.used.add(name)
            return self.captured[name]
        if self.in_class and self.owner is not None and name in self.owner.members:
            binding = self.owner.members[name][-1]
            return self.linker.member_type(self.owner, binding)
        found = self.linker.names.find(self.module, name)
        if found is not None:
            return self.linker.found(found)
        return LibraryType(f"builtins.{name}") if name in _BUILTINS else None

    def mapping(self, pairs: tuple[tuple[f.Expr | None, f.Expr], ...]) -> Type | None:
        known: list[tuple[str, Type | None]] = []
        for key, value in pairs:
            kind = self.evaluate(value)
            if key is None:
                known.extend(kind.items if isinstance(kind, TableType) else ())
                continue
            self.evaluate(key)
            if isinstance(key, f.Constant) and isinstance(key.value, str):
                known.append((key.value, kind))
        return TableType(tuple(known))

    def subscript(self, base: Type | None, index: f.Expr) -> Type | None:
        self.evaluate(index)
        match base:
            case RecordType(items) if isinstance(index, f.Constant) and isinstance(index.value, int):
                return items[index.value] if -len(items) <= index.value < len(items) else None
            case TableType(items) if isinstance(index, f.Constant):
                return dict(items).get(str(index.value))
            case RowsType() | SeveralType():
                return base if isinstance(index, f.Slice) else self.item(base)
            case LibraryInstance(path) | LibraryType(path):
                return self.context_item(path, index) or self.library_item(path, index)
            case ClassType() | ColumnType():
                return base
        return None

    def context_item(self, path: str, index: f.Expr) -> Type | None:
        """`ctx["redis"]`: an item of what the worker hands to a task."""
        if not path.startswith(TASK_PREFIX) or not isinstance(index, f.Constant) or not isinstance(index.value, str):
            return None
        given = self.linker.catalog.returns(f"{path.removeprefix(TASK_PREFIX)}.context.{index.value}")
        return LibraryInstance(given) if given else LibraryType(f"{path}.{index.value}")

    def library_item(self, path: str, index: f.Expr) -> Type | None:
        """`caches["default"]`: what subscripting a library's object gives, if the catalog or a data layer says so."""
        if orm.holds_tables(path):
            name = self.linker.constants.evaluate(index, self.module)
            known = name.value if isinstance(name, Known) and isinstance(name.value, str) else None
            table = self.table_in(path, known)
            if table is not None:
                return table
        given = self.linker.catalog.returns(f"{path}.__getitem__")
        return LibraryInstance(given) if given else None

    def table_in(self, path: str, name: str | None) -> Type | None:
        """What an attribute or item of a library's object is, where that is a table or leads to one."""
        return orm.member(self.linker.catalog.canonical(path), name) if orm.holds_tables(path) else None

    def operation(self, operator: str, left: Type | None, right: Type | None) -> Type | None:
        if isinstance(left, SeveralType | RowsType | SignatureType):
            return left
        if isinstance(left, ColumnType) or isinstance(right, ColumnType):
            return left if isinstance(left, ColumnType) else right
        if operator == "/" and isinstance(left, LibraryInstance):
            given = self.linker.catalog.returns(f"{left.path}.__truediv__")
            return LibraryInstance(given) if given else None
        return left if left == right else None

    def comprehension(self, expr: f.Comprehension) -> Type | None:
        outer = dict(self.env)
        for generator in expr.generators:
            self.assign(generator.target, self.item(self.evaluate(generator.iterable)))
            for test in generator.tests:
                self.evaluate(test)
        if expr.key is not None:
            self.evaluate(expr.key)
        kind = self.evaluate(expr.element)
        self.env = outer
        return TableType(()) if expr.kind == "dict" else SeveralType(kind)

    # --- attributes

    def attribute(self, base: Type | None, name: str) -> Type | None:
        match base:
            case ModuleType():
                found = self.linker.names.attribute(base, name, self.module.file.path)
                return self.linker.found(found)
            case LibraryType(path) | LibraryInstance(path):
                return self.table_in(path, name) or LibraryType(f"{path}.{name}")
            case ClassType(cls):
                return self.class_attribute(cls, name)
            case InstanceType(cls):
                return self.instance_attribute(base, cls, name)
            case RowsType():
                return self.rows_attribute(base, name)
            case ColumnType() | DataMethodType(receiver=ColumnType()):
                return DataMethodType(base if isinstance(base, ColumnType) else base.receiver, name)
            case TaskType(task):
                return self.task_attribute(task, name)
            case SignatureType(task, framework, options, delay):
                return TaskMethodType(task, framework, name, "signature" if task else "composition", options, delay)
            case TableType() | SeveralType() | RecordType():
                return LibraryType(f"builtins.{_BUILTIN_OF[type(base)]}.{name}")
        return None

    def class_attribute(self, cls: str, name: str) -> Type | None:
        found = self.linker.class_member(cls, name)
        if found is not None:
            info, binding = found
            model = self.linker.model(cls)
            if model is not None and isinstance(binding.fact, f.Assign):
                from_layer = self.layer(model.layer).static(model, name)
                if from_layer is not None:
                    return from_layer
            kind = self.linker.member_type(info, binding)
            if isinstance(kind, RoutineType) and self.linker.method_kind(binding) == "class":
                return RoutineType(kind.function, ClassType(cls), kind.captured)
            return kind
        model = self.linker.model(cls)
        if model is not None:
            return self.layer(model.layer).static(model, name) or DataMethodType(ClassType(cls), name)
        return self.library_member(cls, name)

    def library_member(self, cls: str, name: str) -> Type | None:
        """An attribute that only a library base of the class can have."""
        for path in self.linker.classes.library_bases(cls) if cls in self.linker.classes.known else ():
            if path != "?":
                return self.task_member(path, cls, name) or LibraryType(f"{path}.{name}")
        return None

    def task_member(self, base: str, cls: str, name: str) -> Type | None:
        """The same where the base makes tasks of the classes that derive from it."""
        row = self.linker.catalog.task_base(base)
        if row is None:
            return None
        framework = self.linker.catalog.framework(row.framework)
        task = f"{cls}.{row.run}"
        if framework.method(name) is not None and task in self.linker.drafts:
            return TaskMethodType(task, row.framework, name)
        if any(path.split(".")[0] == name for path in framework.request):
            return LibraryType(f"{TASK_PREFIX}{row.framework}.{name}")
        return None

    def instance_attribute(self, base: InstanceType, cls: str, name: str) -> Type | None:
        known = cls in self.linker.classes.known
        model = self.linker.model(cls)
        found = self.linker.class_member(cls, name) if known else None
        if found is not None and not (model is not None and model.field(name)):
            info, binding = found
            kind = self.linker.member_type(info, binding)
            if isinstance(binding.fact, f.Function) and isinstance(kind, RoutineType):
                how = self.linker.method_kind(binding)
                if how == "property":
                    body = self.linker.link(self.linker.functions[kind.function], base)
                    return body.returns if body else None
                receiver = {"static": None, "class": ClassType(cls)}.get(how, base)
                return RoutineType(kind.function, receiver, kind.captured)
            if kind is not None:
                return kind
        if model is not None:
            return self.row_attribute(base, model, name, known)
        if known:
            return self.linker.instance_attribute(cls, name) or self.library_member(cls, name)
        return None

    def row_attribute(self, base: InstanceType, model: Model, name: str, known: bool) -> Type | None:
        """A column, a relation or a method of a row."""
        layer = self.layer(model.layer)
        field = model.field(name)
        textual = field is not None and field.target is not None and ":" not in field.target
        ask = known and not _is_method(name) and (field is None or textual)
        found = layer.attribute(model, name, self.linker.related() if ask else {})
        if isinstance(found, RowsType):
            other = self.linker.model(found.model)
            return layer.managed(found, other) if other is not None else found
        if found is not None or field is not None:
            return found
        path = layer.library_method(model, name)
        return LibraryType(path) if path is not None else DataMethodType(base, name)

    def inherited(self, name: str) -> Type | None:
        """`super().name`."""
        receiver = self.receiver or self.captured.get("super")
        cls = receiver.name if isinstance(receiver, InstanceType | ClassType) else None
        if isinstance(receiver, TaskType):
            return self.inherited_by_task(receiver, name)
        if cls is None or self.owner is None:
            return DataMethodType(receiver, name) if isinstance(receiver, RowsType) else None
        found = self.linker.class_member(cls, name, after=self.owner.id)
        if found is not None:
            kind = self.linker.member_type(*found)
            return RoutineType(kind.function, receiver, kind.captured) if isinstance(kind, RoutineType) else kind
        if self.linker.model(cls) is not None and receiver is not None:
            return DataMethodType(receiver, name)
        return self.library_member(cls, name)

    def inherited_by_task(self, receiver: TaskType, name: str) -> Type | None:
        """`super().apply_async` in a task's base class: the next override, else the framework's own method."""
        draft = self.linker.drafts[receiver.task]
        if draft.base is not None and self.owner is not None:
            found = self.linker.class_member(draft.base, name, after=self.owner.id)
            kind = self.linker.member_type(*found) if found is not None else None
            if isinstance(kind, RoutineType):
                return RoutineType(kind.function, receiver, kind.captured)
        row = self.linker.catalog.framework(draft.framework).method(name)
        return TaskMethodType(receiver.task, draft.framework, name) if row is not None else None

    def rows_attribute(self, base: RowsType, name: str) -> Type | None:
        for manager in (base.manager, base.queryset):
            found = self.linker.class_member(manager, name) if manager is not None else None
            if found is not None:
                kind = self.linker.member_type(*found)
                return RoutineType(kind.function, base, kind.captured) if isinstance(kind, RoutineType) else kind
        model = self.linker.model(base.model)
        known = self.layer(model.layer).rows_attribute(base, model, name) if model is not None else None
        return known or DataMethodType(base, name)

    def task_attribute(self, task: str, name: str) -> Type | None:
        draft = self.linker.drafts[task]
        framework = self.linker.catalog.framework(draft.framework)
        row = framework.method(name)
        # A base class that overrides one way of sending is behind the other ways too: `delay` calls `apply_async`.
        sending = [way for method in framework.methods if method.does == "enqueue" for way in method.names]
        ways = [name, *sending] if row is not None and row.does == "enqueue" else [name]
        for way in ways if draft.base is not None else ():
            found = self.linker.class_member(draft.base or "", way)
            if found is not None:
                kind = self.linker.member_type(*found)
                return RoutineType(kind.function, TaskType(task)) if isinstance(kind, RoutineType) else kind
        if row is not None:
            return TaskMethodType(task, draft.framework, name)
        if any(path.split(".")[0] == name for path in framework.request):
            return LibraryType(f"{TASK_PREFIX}{draft.framework}.{name}")
        return None


_BUILTIN_OF: dict[type[object], str] = {TableType: "dict", SeveralType: "list", RecordType: "tuple"}


def _is_super(base: f.Expr) -> bool:
    return isinstance(base, f.Call) and isinstance(base.function, f.Name) and base.function.id == "super"


# Asking for the ways back of relations reads every model of the project, so plain row methods must not ask.
_METHODS = frozenset("save asave delete adelete refresh_from_db arefresh_from_db full_clean clean pk id".split())


def _is_method(name: str) -> bool:
    return name in _METHODS or name.startswith("get_")


def _agree(kinds: Iterable[Type | None]) -> Type | None:
    """The one type that several values have, as far as known; None where they differ."""
    known = list(dict.fromkeys(kind for kind in kinds if kind is not None))
    return known[0] if len(known) == 1 else None


def _leaves(body: f.Body) -> bool:
    return bool(body) and isinstance(body[-1], f.Return | f.Raise | f.Jump)


def _merge(
    one: dict[str, Type | None], other: dict[str, Type | None], one_leaves: bool, other_leaves: bool
) -> dict[str, Type | None]:
    """Names after two branches: a branch that leaves has no say, and what is known wins over what is not."""
    if one_leaves != other_leaves:
        return dict(other if one_leaves else one)
    merged = dict(other)
    for name, kind in one.items():
        if kind is not None:
            merged[name] = kind
    return merged


def names_in(fact: object) -> set[str]:
    """Every name that a piece of code mentions."""
    return {part.id for part in f.walk(fact) if isinstance(part, f.Name)}
