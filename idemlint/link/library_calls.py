"""Calls of libraries: what the catalog and the data layers say of them, and what Python's own functions give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from idemlint import orm
from idemlint.catalog.rows import Listing
from idemlint.link.alternatives import mapping_in
from idemlint.link.callbacks import call_back
from idemlint.link.containers import GIVING, contents
from idemlint.link.drafts import TASK_PREFIX
from idemlint.link.naming import Naming
from idemlint.link.reading import Reached, literals
from idemlint.link.sending import Sending
from idemlint.orm import sql
from idemlint.program import (
    ClassType,
    DataCall,
    DeclarerType,
    EnqueueCall,
    InstanceType,
    LibraryCall,
    LibraryInstance,
    LibraryType,
    PartialType,
    ProjectCall,
    RecordType,
    RoutineType,
    SendingType,
    SeveralType,
    Site,
    TableType,
    Target,
    TaskMethodType,
    TaskType,
    Type,
    UnresolvedCall,
)
from idemlint.syntax import facts as f

_BLOCK = frozenset({"__enter__", "__exit__", "__aenter__", "__aexit__"})

BUILTIN_METHODS = frozenset(
    name for kind in (str, bytes, list, dict, set, tuple, int, float) for name in dir(kind) if not name.startswith("__")
) | {"total_seconds", "isoformat", "strftime", "date", "timestamp"}


class Libraries(Sending, Naming):
    """The part of a walk that follows calls of libraries."""

    def _handed_lists(self, row: Listing, path: str, expr: f.Call) -> None:
        """The lists that a worker is handed, by name, by position, or in a dict or class that is made on the spot."""
        told = [replace(each, source="worker") for each in self.options(expr) if each.name in row.options]
        plain = iter(row.positional)
        for argument in expr.arguments:
            name = argument.name or next(plain, "")
            members = mapping_in(argument.value)
            if argument.star:
                continue
            if members is not None and argument.name is None:
                self.listed_in(row, members, self.place, None, told)
            elif name in row.attributes:
                self.listed(row, path, argument.value, self.place, None, told)

    def library(
        self, path: str, expr: f.Call, positional: Sequence[Type | None], keywords: dict[str, Type | None]
    ) -> Reached:
        catalog = self.linker.catalog
        if path in GIVING and isinstance(expr.function, f.Attribute):
            held = self.types.get(expr.function.base.at)
            return LibraryCall(path), contents(held, expr.function.name, expr, tuple(positional))
        declares = catalog.declares(path)
        if declares is not None:
            return self.declaring(declares, path, expr)
        sent = self.sent(path, expr)
        if sent is not None:
            return sent
        listing, registers = catalog.lists(path), catalog.registers(path)
        if listing is not None:
            self._handed_lists(listing, path, expr)
        if registers is not None:
            task = self.declare_class(registers, positional[0] if positional else None, expr.at)
            return LibraryCall(path), TaskType(task) if task is not None else None
        queue = catalog.receives(path)
        if queue is not None:
            call_back(self, queue, path, expr)
        role = catalog.role(path)
        if role == "contents" and (held := self.held(expr)) is not None:
            return LibraryCall(path), held
        first = positional[0] if positional else None
        if role == "partial" and expr.arguments and not expr.arguments[0].star:
            return LibraryCall(path), self.partial(first, expr, positional, keywords)
        if role in ("transparent", "enter-context") and first is not None:
            return LibraryCall(path), first
        if role == "lazy" and isinstance(first, RoutineType | PartialType):
            return LibraryCall(path), self.reach(first, f.Call(expr.at, expr.arguments[0].value, ()), (), {})[1]
        if role == "import" and expr.arguments:
            return LibraryCall(path), self.at_paths(expr.arguments[0].value) or LibraryInstance(path)
        if role == "transaction" and isinstance(first, RoutineType):
            return LibraryCall(path), replace(first, within=(*first.within, path))
        if path.rpartition(".")[2] in _BLOCK and catalog.role(path.rpartition(".")[0]) == "transaction":
            return LibraryCall(path), None
        for layer in orm.LAYERS:
            parts = layer.manager_parts(expr)
            if parts is not None:
                return None, self.evaluate(parts[1])
        if role == "user-model":
            return LibraryCall(path), self.linker.models.user()
        if role == "locate" or path.endswith(".__new__"):
            named = next((kind for kind in (first, *keywords.values()) if isinstance(kind, ClassType)), None)
            return LibraryCall(path), InstanceType(named.name) if named is not None else None
        if path in _BUILTIN_RESULTS:
            return LibraryCall(path, self.callbacks(role, expr, positional)), self.builtin(path, expr, positional)
        for layer in orm.LAYERS:
            data = layer.shortcut(catalog.canonical(path), expr, self.evaluate)
            if data is not None and (not data[0].model or self.linker.models.of(data[0].model) is not None):
                return DataCall(data[0], layer.name), data[1]
            site = Site(self.module.file.path, self.piece, expr.at)
            table = layer.table(path, expr, site, self.module.id, self.evaluate, self.linker.library_base)
            if table is not None:
                self.linker.models.add(table[0])
                return LibraryCall(path), table[1]
        given = catalog.returns(path, literals(expr))
        if role == "connection" and sql.commits_alone(literals(expr)):
            given = sql.AUTOMATIC
        if role is None and given is None and catalog.effect(path) is None:
            guessed = self.guessed(expr)
            if guessed is not None and guessed != catalog.canonical(path):
                return self.library(guessed, expr, positional, keywords)
        result: Type = LibraryInstance(given if given is not None else path)
        if given is not None and catalog.owns(path):
            made = self.linker.at_path(given)
            result = InstanceType(made.name) if isinstance(made, ClassType) else result
        if not catalog.knows(path):
            name = path.rpartition(".")[2]
            if name in BUILTIN_METHODS and "." in path:
                return None, None
            library = not path.startswith(TASK_PREFIX)
            return UnresolvedCall(path, "a library that no catalog row speaks of", library), result
        return LibraryCall(path, self.callbacks(role, expr, positional)), result

    def held(self, expr: f.Call) -> Type | None:
        """What the object holds whose method is called."""
        base = self.types.get(expr.function.base.at) if isinstance(expr.function, f.Attribute) else None
        return base.of if isinstance(base, LibraryInstance) else None

    def partial(
        self, first: Type | None, expr: f.Call, positional: Sequence[Type | None], keywords: dict[str, Type | None]
    ) -> Type | None:
        call = f.Call(expr.at, expr.arguments[0].value, expr.arguments[1:])
        sent = self.sent(first.path, call) if isinstance(first, LibraryType) else None
        if first is None:
            sent = self.told_by_name(call)
        if sent is not None and isinstance(sent[0], EnqueueCall):
            return SendingType(sent[0])
        if first is None:
            return None
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
            case "getattr" if len(expr.arguments) > 1:
                return self.named(first, expr.arguments[1].value)
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
        if role not in ("on-commit", "apply", "submit"):
            return ()
        found: list[tuple[int, str | EnqueueCall]] = []
        plain = [argument for argument in expr.arguments if not argument.star]
        for argument in plain:
            kind = self.evaluate(argument.value)
            target: Target | None = None
            if isinstance(kind, RoutineType | PartialType | SendingType):
                rest = positional[1:] if role == "submit" and argument is expr.arguments[0] else ()
                target, _ = self.reach(kind, f.Call(expr.at, argument.value, ()), rest, {})
            elif isinstance(kind, TaskMethodType):
                target, _ = self.task_method(kind, f.Call(expr.at, argument.value, ()), (), {})
            if isinstance(target, ProjectCall):
                found.append((argument.value.at, target.body))
            elif isinstance(target, EnqueueCall):
                found.append((argument.value.at, target))
        return tuple(found)

    # --- by what a call on something unknown is given

    def queue_call(self, expr: f.Call) -> str | None:
        """The call on a queue that one on something unknown must be, by its name and arguments."""
        if not isinstance(expr.function, f.Attribute):
            return None
        path = self.linker.catalog.queue_call(expr.function.name, literals(expr))
        return path if path is not None and self.linker.imports(path) else None

    def guessed(self, expr: f.Call) -> str | None:
        """The library method that a call on something unknown must be, by what it is given."""
        by_layer = (path for layer in orm.LAYERS if (path := self.guessed_by(layer, expr)) is not None)
        return next(by_layer, None) or sql.guess(expr)

    def guessed_by(self, layer: orm.Layer, expr: f.Call) -> str | None:
        def is_model(name: str) -> bool:
            model = self.linker.models.of(name)
            return model is not None and model.layer == layer.name

        return layer.guess(expr, self.evaluate, is_model)


_BUILTIN_RESULTS = frozenset(
    f"builtins.{name}"
    for name in """getattr list sorted set tuple reversed frozenset iter next min max enumerate zip type dict
    filter""".split()
)
