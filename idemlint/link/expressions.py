"""What an expression is: one case for each kind of expression."""

from __future__ import annotations

import builtins

from idemlint import orm
from idemlint.catalog.consumer import ITERATIONS
from idemlint.link.attributes import Attributes
from idemlint.link.calls import Calls
from idemlint.link.containers import either, stored
from idemlint.link.drafts import TASK_PREFIX, task_named
from idemlint.link.linker import element
from idemlint.link.named_values import of_class, of_module
from idemlint.link.sending import tied, together
from idemlint.link.values import Known
from idemlint.link.within import names_in
from idemlint.program import (
    ClassType,
    ColumnType,
    InstanceType,
    LibraryInstance,
    LibraryType,
    ModuleType,
    RecordType,
    RoutineType,
    RowsType,
    SeveralType,
    SignatureType,
    TableType,
    TaskType,
    Type,
)
from idemlint.syntax import facts as f

_BUILTINS = frozenset(dir(builtins))


class Expressions(Calls, Attributes):
    """The part of a walk that reads expressions."""

    def evaluate(self, expr: f.Expr) -> Type | None:
        kind = self._evaluate(expr)
        if kind is not None:
            self.types[expr.at] = kind
        return kind

    def _evaluate(self, expr: f.Expr) -> Type | None:
        match expr:
            case f.Name(id=name):
                if name not in self.env and name not in self.captured:
                    self.note(
                        expr, of_module(self.linker, expr, self.linker.names.find(self.module, name), self.module)
                    )
                return self.name(name)
            case f.Constant(value=value):
                return None if value is None else LibraryInstance(f"builtins.{type(value).__name__}")
            case f.Attribute(base=base, name=name):
                if _is_super(base):
                    return self.inherited(name)
                holder = self.evaluate(base)
                if isinstance(holder, ModuleType):
                    found = self.linker.names.attribute(holder, name, self.module.file.path)
                    self.note(expr, of_module(self.linker, expr, found, self.module))
                if isinstance(holder, InstanceType):
                    self.enter_property(expr.at, holder, name)
                if isinstance(holder, InstanceType | ClassType):
                    self.note(expr, of_class(self.linker, expr, holder.name))
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
                return RecordType(inside) if kind == "tuple" else SeveralType(together(inside))
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

    def note(self, expr: f.Expr, value: Known | None) -> None:
        """Keep the plain value that an expression has."""
        if value is not None:
            self.constants[expr.at] = value.value

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
            return self.linker.found(self.linker.before(found))
        return LibraryType(f"builtins.{name}") if name in _BUILTINS else None

    def assign_written(self, target: f.Expr, kind: Type | None, value: f.Expr | None) -> None:
        """The same as `assign`, where what is assigned stands in the code."""
        before = self.written.get(target.id, []) if isinstance(target, f.Name) else []
        self.assign(target, kind)
        if isinstance(target, f.Name) and value is not None:
            self.written[target.id] = [*before, value]

    def assign(self, target: f.Expr, kind: Type | None) -> None:
        match target:
            case f.Name(id=name):
                self.env[name] = kind
                self.written[name] = []
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
                held = self.evaluate(base)
                self.evaluate(index)
                if isinstance(base, f.Name) and base.id in self.env:
                    self.env[base.id] = stored(held, index, kind)
            case _:
                self.evaluate(target)

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

    def item(self, kind: Type | None) -> Type | None:
        """What iterating over a value gives."""
        match kind:
            case SeveralType(item):
                return item
            case RowsType(model):
                found = self.linker.models.of(model)
                return self.layer(found.layer).item(kind) if found is not None else None
            case RecordType(items):
                return either(items)
            case LibraryInstance(path) | LibraryType(path):
                turns = (self.linker.catalog.returns(f"{path}.{turn}") for turn in ITERATIONS)
                given = next((turn for turn in turns if turn is not None), None)
                return LibraryInstance(given) if given is not None else None
        return None

    def mapping(self, pairs: tuple[tuple[f.Expr | None, f.Expr], ...]) -> Type | None:
        known: list[tuple[str, Type | None]] = []
        others: list[Type | None] = []
        for key, value in pairs:
            kind = self.evaluate(value)
            if key is None:
                known.extend(kind.items if isinstance(kind, TableType) else ())
                continue
            self.evaluate(key)
            text = key.value if isinstance(key, f.Constant) else self.constants.get(key.at)
            if isinstance(text, str):
                known.append((text, kind))
            else:
                others.append(kind)
        return TableType(tuple(known), either(others))

    def subscript(self, base: Type | None, index: f.Expr) -> Type | None:
        self.evaluate(index)
        match base:
            case RecordType(items) if isinstance(index, f.Constant) and isinstance(index.value, int):
                return items[index.value] if -len(items) <= index.value < len(items) else None
            case TableType():
                return self.under_text(base, index)
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
        if self.linker.catalog.sends(f"{path}.__getitem__") is not None:
            task = task_named(self.linker, index, self)
            return TaskType(task) if task is not None else None
        given = self.linker.catalog.returns(f"{path}.__getitem__")
        return LibraryInstance(given) if given else None

    def operation(self, operator: str, left: Type | None, right: Type | None) -> Type | None:
        if isinstance(left, SignatureType):
            return SignatureType(None, left.framework, parts=tied((left, right)))
        if isinstance(left, SeveralType | RowsType):
            return left
        if isinstance(left, ColumnType) or isinstance(right, ColumnType):
            return left if isinstance(left, ColumnType) else right
        if operator == "/" and isinstance(left, LibraryInstance):
            given = self.linker.catalog.returns(f"{left.path}.__truediv__")
            return LibraryInstance(given) if given else None
        return left if left == right else None

    def comprehension(self, expr: f.Comprehension) -> Type | None:
        outer, outside = dict(self.env), dict(self.written)
        for generator in expr.generators:
            item = self.item(self.evaluate(generator.iterable))
            self.assign_written(generator.target, item, f.Starred(expr.at, generator.iterable))
            for test in generator.tests:
                self.evaluate(test)
        if expr.key is not None:
            self.evaluate(expr.key)
        kind = self.evaluate(expr.element)
        self.env, self.written = outer, outside
        return TableType((), kind) if expr.kind == "dict" else SeveralType(kind)


def _is_super(base: f.Expr) -> bool:
    return isinstance(base, f.Call) and isinstance(base.function, f.Name) and base.function.id == "super"
