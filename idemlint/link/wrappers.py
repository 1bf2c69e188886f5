"""What the class of a task puts around each run: its `__call__`, and what it sets in place of the method that runs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from idemlint.catalog.rows import Framework
from idemlint.link.linker import Linker
from idemlint.link.production import is_production
from idemlint.program import Body, ClassType, InstanceType, RoutineType, Type
from idemlint.syntax import facts as f

_MAKES = ("__new__", "__init__")


def class_for_all(linker: Linker, framework: Framework) -> ClassType | None:
    """The class of the project that an app is told in passing to make its tasks of (`app.Task = AfterCommit`), where
    there is one such class: all tasks whose app says nothing else are of it."""
    if framework.name not in linker.task_classes:
        told = {kind for name in framework.made_of for kind in _told(linker, name)}
        bases = {path for row in framework.classes for path in row.bases}
        fits = [kind for kind in told if bases.intersection(map(linker.catalog.canonical, _bases(linker, kind)))]
        linker.task_classes[framework.name] = fits[0] if len(fits) == 1 else None
    return linker.task_classes[framework.name]


def _bases(linker: Linker, kind: ClassType) -> tuple[str, ...]:
    return linker.classes.library_bases(kind.name) if kind.name in linker.classes.known else ()


def _told(linker: Linker, name: str) -> Iterator[ClassType]:
    """The classes that an attribute of this name is set to, anywhere in production."""
    sets = re.compile(rf"\.{name}[ \t]*=[ \t]*[A-Za-z_]")
    sources = (source for source in linker.project.mentioning([name]) if is_production(source.path))
    for module in (linker.modules.load(source) for source in sources):
        pieces = (index for index, piece in enumerate(module.pieces) if sets.search(piece.text))
        for part in (part for index in pieces for part in f.walk(module.statements(index))):
            if isinstance(part, f.Assign) and part.value is not None:
                kind = linker.module_level(part.value, module) if _sets(part, name) else None
                if isinstance(kind, ClassType):
                    yield kind


def _sets(statement: f.Assign, name: str) -> bool:
    return any(isinstance(target, f.Attribute) and target.name == name for target in statement.targets)


def wrappers(linker: Linker, cls: str | None) -> tuple[str, ...]:
    """The bodies that run around a task of this class, outermost first."""
    if cls is None or cls not in linker.classes.known:
        return ()
    bodies = (_called(linker, cls), *(_replacing(linker, cls, maker) for maker in _MAKES))
    return tuple(body.key for body in bodies if body is not None)


def _called(linker: Linker, cls: str) -> Body | None:
    """The class's own `__call__`."""
    return _linked(linker, cls, "__call__", InstanceType(cls))


def _linked(linker: Linker, cls: str, name: str, receiver: Type) -> Body | None:
    member = linker.class_member(cls, name)
    kind = linker.member_type(*member) if member is not None else None
    if not isinstance(kind, RoutineType):
        return None
    return linker.link(linker.functions[kind.function], receiver, (), kind.captured)


def _replacing(linker: Linker, cls: str, maker: str) -> Body | None:
    """The function that a new object is given for the method that runs: `task.run = wrapped`."""
    rows = (linker.catalog.task_base(path) for path in linker.classes.library_bases(cls))
    runs = {row.run for row in rows if row is not None}
    member = linker.class_member(cls, maker) if runs else None
    if member is None or not isinstance(member[1].fact, f.Function):
        return None
    given = [value for name, value in _attributes_set(member[1].fact) if name in runs]
    made = _linked(linker, cls, maker, ClassType(cls) if maker == "__new__" else InstanceType(cls)) if given else None
    kinds = (made.types.get(value.at) for value in given) if made is not None else iter(())
    for kind in kinds:
        if isinstance(kind, RoutineType):
            return linker.link(linker.functions[kind.function], kind.receiver, (), kind.captured)
    return None


def _attributes_set(function: f.Function) -> Iterator[tuple[str, f.Expr]]:
    """The attributes that a function gives a value, wherever in it."""
    for statement in f.walk(function.body):
        if isinstance(statement, f.Assign) and statement.value is not None:
            for target in statement.targets:
                yield from _pairs(target, statement.value)


def _pairs(target: f.Expr, value: f.Expr) -> Iterator[tuple[str, f.Expr]]:
    if isinstance(target, f.Attribute):
        yield target.name, value
    elif isinstance(target, f.Display) and isinstance(value, f.Display) and len(target.items) == len(value.items):
        for each, given in zip(target.items, value.items, strict=True):
            yield from _pairs(each, given)
