"""What a call reaches, and what it gives: one case for each thing that can be called."""

from __future__ import annotations

from collections.abc import Sequence

from idemlint.link.containers import either
from idemlint.link.instances import kept_by_instance
from idemlint.link.library_calls import BUILTIN_METHODS, Libraries
from idemlint.link.naming import plain
from idemlint.link.reading import Reached
from idemlint.link.sending import method_of
from idemlint.link.signals import received
from idemlint.program import (
    Body,
    ChoiceCall,
    ClassType,
    ColumnType,
    Construction,
    DataCall,
    DataMethodType,
    DataOperation,
    DeclarerType,
    EitherType,
    InstanceType,
    LibraryInstance,
    LibraryType,
    Model,
    PartialType,
    ProjectCall,
    RecordType,
    RoutineType,
    RowsType,
    SendingType,
    SignatureType,
    TableType,
    TaskMethodType,
    TaskType,
    Type,
    UnresolvedCall,
    bind,
)
from idemlint.syntax import facts as f


class Calls(Libraries):
    """The part of a walk that follows calls. `Walk` gives it the rest."""

    def call(self, expr: f.Call) -> Type | None:
        callee = self.evaluate(expr.function)
        positional: list[Type | None] = []
        keywords: dict[str, Type | None] = {}
        named = _is_routine(callee)
        for argument in expr.arguments:
            kind = self.evaluate(argument.value)
            if named and not argument.star:
                kind = self.worded(argument.value, kind)
            if argument.star == "*":
                items = kind.items if isinstance(kind, RecordType) else ()
                positional.extend(self.worded_items(argument.value, items) if named else map(plain, items))
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
            case SendingType(call):
                return call, None
            case DataMethodType(receiver, method_name):
                return self.data(receiver, method_name, expr)
            case RowsType():
                return self.data(callee, "__call__", expr)
            case LibraryType(path):
                return self.library(path, expr, positional, keywords)
            case LibraryInstance(path) if self.linker.catalog.returns(f"{path}.__call__") is not None:
                return self.library(f"{path}.__call__", expr, positional, keywords)
            case None if (guessed := self.guessed(expr)) is not None:
                return self.library(guessed, expr, positional, keywords)
            case SignatureType():
                return self.task_method(method_of(callee, "__call__"), expr, positional, keywords)
            case EitherType(kinds, by_name):
                return self.choice([self.reach(kind, expr, positional, keywords) for kind in kinds], by_name)
        queue = self.queue_call(expr) if callee is None else None
        if queue is not None:
            return self.library(queue, expr, positional, keywords)
        told = self.told_by_name(expr)
        if told is not None:
            return told
        name = written(expr.function)
        if name.rpartition(".")[2] in BUILTIN_METHODS and "." in name:
            return None, None
        return UnresolvedCall(name, "what is called is not known"), None

    def choice(self, ways: Sequence[Reached], by_name: bool) -> Reached:
        """One of several calls, and what all of them give."""
        targets = tuple(dict.fromkeys(target for target, _ in ways if target is not None))
        return ChoiceCall(targets, by_name) if targets else None, either(result for _, result in ways)

    # --- functions and classes of the project

    def routine(
        self, callee: RoutineType, positional: Sequence[Type | None], keywords: dict[str, Type | None]
    ) -> Reached:
        info = self.linker.functions[callee.function]
        parameters = info.fact.parameters[1:] if callee.receiver is not None else info.fact.parameters
        bound, extra, spare = bind(parameters, positional, keywords)
        known = {name: plain(kind) for name, kind in bound.items()}
        for parameter in parameters:
            if parameter.kind == "*":
                known[parameter.name] = RecordType(tuple(map(plain, extra))) if any(map(plain, extra)) else None
            elif parameter.kind == "**":
                others = tuple((name, plain(kind)) for name, kind in spare.items())
                known[parameter.name] = TableType(others) if any(kind for _, kind in others) else None
        body = self._read(callee, known)
        asked = self.linker.named.get(info.id, ())
        texts = {name: self.text_for(bound.get(name)) for name in sorted(asked)}
        starred = next((each.name for each in parameters if each.kind == "*" and each.name in asked), None)
        if starred is not None:
            texts[starred] = self.text_among(extra)
        if body is not None and any(texts.values()):
            body = self._read(callee, {**known, **{name: kind for name, kind in texts.items() if kind}}) or body
        if body is None:
            return UnresolvedCall(info.name, "a cycle of calls"), None
        return ProjectCall(body.key, callee.within), body.returns

    def _read(self, callee: RoutineType, arguments: dict[str, Type | None]) -> Body | None:
        known = tuple(sorted((name, kind) for name, kind in arguments.items() if kind is not None))
        return self.linker.link(self.linker.functions[callee.function], callee.receiver, known, callee.captured)

    def construct(
        self, cls: str, expr: f.Call, positional: Sequence[Type | None], keywords: dict[str, Type | None]
    ) -> Reached:
        made = InstanceType(cls)
        model = self.linker.models.of(cls)
        if model is not None:
            layer = self.layer(model.layer)
            return DataCall(layer.construct(model, expr), model.layer), made
        known = cls in self.linker.classes.known
        bases = tuple(base for base in self.linker.classes.library_bases(cls) if base != "?") if known else ()
        body: str | None = None
        found = self.linker.class_member(cls, "__init__")
        if found is not None:
            info, binding = found
            kind = self.linker.member_type(info, binding)
            if isinstance(kind, RoutineType):
                # An attribute keeps one type for all instances, so it must not be that of the caller's own argument.
                given, named = self._own_arguments(expr, positional, keywords)
                target, _ = self.routine(RoutineType(kind.function, made), given, named)
                body = target.body if isinstance(target, ProjectCall) else None
        kept = kept_by_instance(self.linker, cls, positional, keywords) if known else ()
        return Construction(cls, body, bases), InstanceType(cls, kept)

    def _own_arguments(
        self, expr: f.Call, positional: Sequence[Type | None], keywords: dict[str, Type | None]
    ) -> tuple[list[Type | None], dict[str, Type | None]]:
        """The arguments of a call without those that the function around it was given, which differ from call to
        call."""
        passed = {each.name for each in self.function.fact.parameters} if self.function is not None else set()
        handed_on = [isinstance(word.value, f.Name) and word.value.id in passed for word in expr.arguments]
        plain = [on for word, on in zip(expr.arguments, handed_on, strict=True) if word.name is None and not word.star]
        named = {word.name for word, on in zip(expr.arguments, handed_on, strict=True) if on}
        starred = any(word.star == "*" for word in expr.arguments)
        if not starred:
            positional = [None if on else kind for kind, on in zip(positional, plain, strict=False)]
        return list(positional), {name: None if name in named else kind for name, kind in keywords.items()}

    # --- the data layer

    def stored(self, operation: DataOperation, model: Model) -> DataCall:
        """A data call with the receivers of the signals that it sends, and the method that stores the row."""
        layer = self.layer(model.layer)
        signals = layer.sent(operation)
        saving = None
        if operation.kind == "insert" and not layer.unit_of_work:
            saving = self.method_body(InstanceType(model.name), "save")
        filling = None
        if operation.kind == "save" and layer.fills:
            filling = self.method_body(InstanceType(model.name), layer.fills)
        receiving = received(self.linker, model, signals) if signals else ()
        return DataCall(
            operation,
            model.layer,
            receiving,
            saving.key if saving is not None else None,
            filling.key if filling is not None else None,
        )

    def data(self, receiver: Type, method: str, expr: f.Call) -> Reached:
        if isinstance(receiver, ColumnType):
            return None, None
        name = receiver.model if isinstance(receiver, RowsType) else getattr(receiver, "name", "")
        model = self.linker.models.of(name)
        if model is not None:
            found = self.layer(model.layer).operation(receiver, method, expr, model, self.evaluate)
            if found is not None:
                operation, result = found
                return self.stored(operation, model), result
        if method in BUILTIN_METHODS:
            return None, None
        return UnresolvedCall(f"{name.rpartition(':')[2]}.{method}", "a method the data layer does not have"), None


def _is_routine(callee: Type | None) -> bool:
    """Whether what is called are functions of the project and nothing else."""
    match callee:
        case RoutineType():
            return True
        case PartialType(target):
            return _is_routine(target)
        case EitherType(kinds):
            return all(map(_is_routine, kinds))
    return False


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
