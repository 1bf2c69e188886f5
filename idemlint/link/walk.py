"""Reading one function (or one module-level expression): what its names are, what its calls reach.

The walk follows the order of the code. Where two branches disagree about a name, what is known wins: a wrong guess
about a type shows as a call into a thing that has no such method, not as a finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from idemlint.link.annotations import annotated
from idemlint.link.containers import agree, grown
from idemlint.link.drafts import TASK_PREFIX
from idemlint.link.expressions import Expressions
from idemlint.link.linker import FunctionInfo
from idemlint.link.modules import bindings_in
from idemlint.program import (
    Body,
    InstanceType,
    LibraryCall,
    LibraryInstance,
    LibraryType,
    PartialType,
    ProjectCall,
    RecordType,
    RoutineType,
    SeveralType,
    TableType,
    Target,
    TaskType,
    Type,
)
from idemlint.syntax import facts as f


class Walk(Expressions):
    """One pass over one function."""

    # --- a whole function

    def body(self, key: str, info: FunctionInfo, arguments: dict[str, Type], captured: dict[str, Type]) -> Body:
        """Link `info` with what is known of its arguments and of the names it closes over."""
        fact = info.fact
        self.captured = captured
        parameters = fact.parameters
        contexts: list[tuple[Target, int]] = []
        for parameter in parameters:
            if isinstance(parameter.default, f.Name | f.Attribute):
                # Before the parameters hide what the names outside stand for.
                self.evaluate(parameter.default)
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
            returns: Type | None = SeveralType(agree(self.yielded))
        else:
            returns = agree(self.returned) or _decorating(info, self.returned, arguments)
            if isinstance(fact, f.Function) and (returns is None or isinstance(returns, LibraryInstance | LibraryType)):
                told = annotated(self.linker, fact.returns, self.module, self.receiver)
                if returns is None or self.unheard_of(returns):
                    returns = told or returns
                elif isinstance(returns, LibraryInstance) and _leads_home(told):
                    # What a library gives is said to be something of the project's own.
                    returns = told
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

    def unheard_of(self, kind: Type) -> bool:
        """Whether a value is something in a library's object that the library does not put there."""
        return isinstance(kind, LibraryType) and not self.linker.catalog.knows(kind.path)

    def _is_static(self, fact: f.Function) -> bool:
        return any(isinstance(decorator, f.Name) and decorator.id == "staticmethod" for decorator in fact.decorators)

    def _parameter(self, parameter: f.Parameter) -> Type | None:
        if parameter.kind == "*":
            return None
        if parameter.kind == "**":
            return TableType(())
        known = annotated(self.linker, parameter.annotation, self.module, self.receiver)
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
                if catalog.role(kind.path) in ("transaction", "memory") or catalog.guard(kind.path) is not None:
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
                if annotation is not None and (kind is None or _is_handed(kind)):
                    # What the worker hands over is kept in a dict of anything.
                    kind = annotated(self.linker, annotation, self.module, self.receiver) or kind
                for target in targets:
                    self.assign_written(target, kind, value)
            case f.Augment(target=target, value=value):
                self.evaluate(target)
                self.evaluate(value)
                self.grow(target, "extend", value)
            case f.Evaluate(value=f.Call(function=f.Attribute(base=base, name=method), arguments=(*_, last)) as call):
                self.evaluate(call)
                self.grow(base, method, last.value)
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
                item = self.item(self.evaluate(iterable))
                self.assign_written(target, item, f.Starred(iterable.at, iterable))
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

    def grow(self, container: f.Expr, method: str, added: f.Expr) -> None:
        """`jobs.append(job)`, `jobs += [job]`: a list that began empty holds what is put into it."""
        if isinstance(container, f.Name) and container.id in self.env:
            self.env[container.id] = grown(self.env[container.id], method, self.types.get(added.at))

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

    def narrow(self, test: f.Expr) -> None:
        """`isinstance(name, Class)` says what the name is in the branch."""
        for part in test.operands if isinstance(test, f.Boolean) and test.operator == "and" else (test,):
            match part:
                case f.Call(function=f.Name(id="isinstance"), arguments=(f.Argument(value=f.Name(id=name)), second)):
                    kind = annotated(self.linker, second.value, self.module)
                    if kind is not None:
                        self.env[name] = kind

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

    # --- expressions

    # --- attributes


# Asking for the ways back of relations reads every model of the project, so plain row methods must not ask.


def _decorating(info: FunctionInfo, returned: Sequence[Type | None], arguments: dict[str, Type]) -> Type | None:
    """What a decorator gives that may be written with and without brackets, `def job(function=None, **options)`: with
    them itself again, or a decorator inside it; without, what it makes of the function that it is handed."""
    optional = [each.name for each in info.fact.parameters if isinstance(each.default, f.Constant)]
    handed = any(isinstance(arguments.get(name), RoutineType | TaskType) for name in optional)
    routines = [(kind.target if isinstance(kind, PartialType) else kind, kind) for kind in returned]
    ids = [(plain.function if isinstance(plain, RoutineType) else "", kind) for plain, kind in routines]
    again = [kind for id, kind in ids if id == info.id] or [
        kind for id, kind in ids if id.rpartition(".")[0] == info.id
    ]
    made = [kind for kind in returned if kind not in again]
    return agree(made if handed else again) if optional and again else None


def _leads_home(kind: Type | None) -> bool:
    """Whether a value is, or holds, something of the project's own."""
    held = kind.item if isinstance(kind, SeveralType) else kind.of if isinstance(kind, LibraryInstance) else kind
    return isinstance(held, InstanceType)


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


def _is_handed(kind: Type) -> bool:
    """Whether a value is something that a running task is handed and whose class nobody tells."""
    return isinstance(kind, LibraryType | LibraryInstance) and kind.path.startswith(TASK_PREFIX)
