"""What the worker runs beside a task: functions that its options and messages name, methods of its class, and what the
worker itself was told to run around each of them."""

from __future__ import annotations

from collections.abc import Iterator

from idemlint.link.drafts import Attached, Draft
from idemlint.link.linker import Linker
from idemlint.program import (
    Body,
    ClassType,
    Companion,
    InstanceType,
    LibraryInstance,
    Root,
    RoutineType,
    Site,
    TaskType,
    Type,
)
from idemlint.syntax import facts as f


def companion_roots(linker: Linker, draft: Draft) -> Iterator[Root]:
    """One root for each function that runs beside a task."""
    for attached in companions(linker, draft):
        body = link_companion(linker, draft, attached)
        info = linker.functions[attached.routine.function]
        if body is not None and isinstance(info.fact, f.Function):
            site = Site(info.module.file.path, info.piece, info.fact.name_at)
            yield Root(body.key, draft.function, companion=Companion(site, attached.row.again))


def companions(linker: Linker, draft: Draft) -> Iterator[Attached]:
    """All that runs beside a task, by whatever it is said."""
    yield from draft.attached
    for row in linker.catalog.framework(draft.framework).companions:
        for option in draft.options:
            module = linker.modules.identified(option.module)
            if option.name in row.names and option.source != "message" and module is not None:
                walk = linker.walk(linker, module, option.site.piece)
                routine = walk.companion(row, option.expression)
                if routine is not None:
                    yield Attached(row, routine)
        for cls in (*([draft.base] if draft.base is not None else ()), *draft.apps):
            for name in row.names:
                routine = _member(linker, cls, name, row.bound)
                if routine is not None:
                    yield Attached(row, routine)


def _member(linker: Linker, cls: str, name: str, bound: bool) -> RoutineType | None:
    """A method of a class of the project's, or the function that an attribute of it is; `bound` says that it is called
    on an instance."""
    kind = linker.at_path(cls)
    member = linker.class_member(cls, name) if isinstance(kind, ClassType) else None
    found = linker.member_type(*member) if member is not None else None
    if member is None or not isinstance(found, RoutineType):
        return None
    own = bound and isinstance(member[1].fact, f.Function)
    return RoutineType(found.function, InstanceType(cls)) if own else found


def link_companion(linker: Linker, draft: Draft, attached: Attached) -> Body | None:
    """What runs beside a task, as its framework calls it."""
    routine, row = attached.routine, attached.row
    info = linker.functions[routine.function]
    receiver: Type | None = routine.receiver
    if receiver is None and row.bound:
        receiver = TaskType(draft.function)
    parameters = info.fact.parameters[1 if receiver is not None else 0 :]
    given = tuple(
        (parameter.name, LibraryInstance(row.passes[f"#{index}"]))
        for index, parameter in enumerate(parameters)
        if f"#{index}" in row.passes
    )
    return linker.link(info, receiver, given, routine.captured)
