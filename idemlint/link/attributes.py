"""What an attribute is: of a module, a class, an instance, a row, rows, a task, or a library's object."""

from __future__ import annotations

from idemlint import orm
from idemlint.link.containers import either
from idemlint.link.drafts import TASK_PREFIX
from idemlint.link.implementations import implementations
from idemlint.link.reading import Reading
from idemlint.link.sending import method_of
from idemlint.program import (
    Body,
    ClassType,
    ColumnType,
    DataMethodType,
    EitherType,
    InstanceType,
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
    TaskMethodType,
    TaskType,
    TextType,
    Type,
)
from idemlint.syntax import facts as f


class Attributes(Reading):
    """The part of a walk that looks attributes up."""

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
            case EitherType(kinds):
                return either(self.attribute(kind, name) for kind in kinds)
            case SignatureType():
                return method_of(base, name)
            case TextType(plain=kind):
                return self.attribute(kind, name)
            case TableType() | SeveralType() | RecordType():
                return LibraryType(f"builtins.{_BUILTIN_OF[type(base)]}.{name}")
        return None

    def table_in(self, path: str, name: str | None) -> Type | None:
        """What an attribute or item of a library's object is, where that is a table or leads to one."""
        return orm.member(self.linker.catalog.canonical(path), name) if orm.holds_tables(path) else None

    def class_attribute(self, cls: str, name: str) -> Type | None:
        found = self.linker.class_member(cls, name)
        if found is not None:
            info, binding = found
            model = self.linker.models.of(cls)
            if model is not None and isinstance(binding.fact, f.Assign):
                from_layer = self.layer(model.layer).static(model, name)
                if from_layer is not None:
                    return from_layer
            kind = self.linker.member_type(info, binding)
            if isinstance(kind, RoutineType) and self.linker.method_kind(binding) == "class":
                return RoutineType(kind.function, ClassType(cls), kind.captured)
            return kind
        model = self.linker.models.of(cls)
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
        if name == "__class__":
            return ClassType(cls)
        for attribute, kept in base.kept:
            if attribute == name:
                return kept
        known = cls in self.linker.classes.known
        written = implementations(self.linker, cls, name) if known else ()
        if written:
            return either(self.instance_attribute(InstanceType(each), each, name) for each in written)
        model = self.linker.models.of(cls)
        found = self.linker.class_member(self._private(cls, name), name) if known else None
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
            kind = self.linker.instance_attribute(cls, name) or self.library_member(cls, name)
            return kind or self.linker.own.attribute(base, name)
        return None

    def _private(self, cls: str, name: str) -> str:
        """The class in which a member is looked up: one whose name begins with `__` is that of the class around."""
        if not name.startswith("__") or name.endswith("__") or self.owner is None:
            return cls
        return self.owner.id if self.owner in self.linker.classes.order(cls)[0] else cls

    def row_attribute(self, base: InstanceType, model: Model, name: str, known: bool) -> Type | None:
        """A column, a relation or a method of a row."""
        layer = self.layer(model.layer)
        field = model.field(name)
        textual = field is not None and field.target is not None and ":" not in field.target
        ask = known and not _is_method(name) and (field is None or textual)
        found = layer.attribute(model, name, self.linker.models.related() if ask else {})
        if isinstance(found, RowsType):
            other = self.linker.models.of(found.model)
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
        if self.linker.models.of(cls) is not None and receiver is not None:
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
        model = self.linker.models.of(base.model)
        known = self.layer(model.layer).rows_attribute(base, model, name) if model is not None else None
        return known or DataMethodType(base, name)

    def task_attribute(self, task: str, name: str) -> Type | None:
        draft = self.linker.drafts[task]
        framework = self.linker.catalog.framework(draft.framework)
        row = framework.method(name)
        # A base class that overrides one way of sending is behind the other ways too: `delay` calls `apply_async`.
        own = (method for method in framework.methods if method.does == "enqueue" and "task" in method.of)
        sending = [way for method in own for way in method.names]
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
        paths = (f"{base.bases[0]}.{name}" for base in framework.classes)
        return next((LibraryType(path) for path in paths if self.linker.catalog.sends(path) is not None), None)

    def method_body(self, kind: InstanceType, name: str) -> Body | None:
        """The body of a method, None where the project has no such method."""
        method = self.attribute(kind, name)
        if not isinstance(method, RoutineType):
            return None
        return self.linker.link(self.linker.functions[method.function], method.receiver, (), method.captured)

    def enter_property(self, at: int, holder: InstanceType, name: str) -> None:
        """Note which function runs when a property is read."""
        written = implementations(self.linker, holder.name, name)
        holder = InstanceType(written[0]) if len(written) == 1 else holder
        found = self.linker.class_member(holder.name, name)
        if found is None or self.linker.method_kind(found[1]) != "property":
            return
        kind = self.linker.member_type(*found)
        if isinstance(kind, RoutineType):
            body = self.linker.link(self.linker.functions[kind.function], holder)
            if body is not None:
                self.targets[at] = ProjectCall(body.key)


_BUILTIN_OF: dict[type[object], str] = {TableType: "dict", SeveralType: "list", RecordType: "tuple"}


# Asking for the ways back of relations reads every model of the project, so plain row methods must not ask.
_METHODS = frozenset("save asave delete adelete refresh_from_db arefresh_from_db full_clean clean pk id".split())


def _is_method(name: str) -> bool:
    return name in _METHODS or name.startswith("get_")
