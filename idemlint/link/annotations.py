"""What a value is by its annotation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from idemlint import orm
from idemlint.link.names import Definition
from idemlint.program import (
    ClassType,
    InstanceType,
    LibraryInstance,
    LibraryType,
    RecordType,
    SeveralType,
    Type,
)
from idemlint.syntax import facts as f
from idemlint.syntax.extract import extract_expression

if TYPE_CHECKING:
    from idemlint.link.linker import Linker
    from idemlint.link.modules import Module


def annotated(linker: Linker, expr: f.Expr | None, module: Module, receiver: Type | None = None) -> Type | None:
    """What a value with this annotation is."""
    match expr:
        case None:
            return None
        case f.Constant(value=str(text)):
            inner = extract_expression(text)
            return annotated(linker, inner, module, receiver)
        case f.Operation(operator="|", left=left, right=right):
            return annotated(linker, left, module, receiver) or annotated(linker, right, module, receiver)
        case f.Subscript(base=base, index=index):
            return _generic(linker, base, index, module, receiver)
        case f.Name(id=name) if isinstance(alias := linker.assigned(expr, module), f.Subscript):
            known = linker.names.find(module, name)
            return annotated(linker, alias, known.module if isinstance(known, Definition) else module, receiver)
    found = linker.module_level(expr, module)
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


def _generic(linker: Linker, base: f.Expr, index: f.Expr, module: Module, receiver: Type | None) -> Type | None:
    found = linker.module_level(base, module)
    items = index.items if isinstance(index, f.Display) else (index,)
    path = found.path if isinstance(found, LibraryType) else ""
    name = path.rpartition(".")[2]
    seen_through = ("Optional", "Annotated", "Awaitable", "Final", "ClassVar", "Required", "NotRequired", "Depends")
    if name in seen_through or linker.catalog.role(path) == "transparent":
        return annotated(linker, items[0], module, receiver)
    if name == "Union":
        kinds = (annotated(linker, item, module, receiver) for item in items)
        return next((kind for kind in kinds if kind is not None), None)
    if name in ("type", "Type"):
        inner = annotated(linker, items[0], module, receiver)
        return ClassType(inner.name) if isinstance(inner, InstanceType) else None
    if name in ("tuple", "Tuple") and not any(isinstance(item, f.Name) and item.id == "..." for item in items):
        return RecordType(tuple(annotated(linker, item, module, receiver) for item in items))
    inner = annotated(linker, items[0], module, receiver)
    for layer in orm.LAYERS:
        rows = layer.annotated_rows(path, inner)
        if rows is not None:
            return rows
    if name in _COLLECTIONS:
        return SeveralType(inner)
    if isinstance(found, ClassType):
        return InstanceType(found.name)
    if not path or name in ("dict", "Dict", "Mapping", "Callable"):
        return None
    return LibraryInstance(path, inner if isinstance(inner, InstanceType | SeveralType) and len(items) == 1 else None)


_COLLECTIONS = frozenset(
    """list List set Set frozenset FrozenSet Sequence MutableSequence Iterable Iterator Collection Generator
    AsyncIterable AsyncIterator AsyncGenerator deque tuple Tuple""".split()
)
