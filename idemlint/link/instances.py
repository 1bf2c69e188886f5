"""What an instance keeps of the arguments it was made with, where its class alone does not say what they are."""

from __future__ import annotations

from collections.abc import Sequence

from idemlint.link.annotations import annotated
from idemlint.link.linker import Linker
from idemlint.link.modules import Module
from idemlint.link.within import last_word
from idemlint.program import InstanceType, PartialType, RoutineType, Type, bind
from idemlint.syntax import facts as f


def kept_by_instance(
    linker: Linker, cls: str, positional: Sequence[Type | None], keywords: dict[str, Type | None]
) -> tuple[tuple[str, Type], ...]:
    """The attributes that hold a function of this call of the class, or an object of a more special class than the
    parameter is annotated with."""
    if not any(_is_own(kind) for kind in (*positional, *keywords.values())):
        return ()
    made = _constructor(linker, cls)
    if made is None:
        return ()
    module, parameters, attributes = made
    bound, _, _ = bind(parameters, positional, keywords)
    found: list[tuple[str, Type]] = []
    for parameter in parameters:
        kind = bound.get(parameter.name)
        if kind is None or parameter.name not in attributes or not _is_own(kind):
            continue
        if not isinstance(kind, InstanceType) or _is_special(
            linker, kind, annotated(linker, parameter.annotation, module)
        ):
            found.append((attributes[parameter.name], kind))
    return tuple(sorted(found, key=lambda pair: pair[0]))


def _is_own(kind: Type | None) -> bool:
    return isinstance(kind, RoutineType | PartialType | InstanceType)


def _is_special(linker: Linker, kind: InstanceType, told: Type | None) -> bool:
    if not isinstance(told, InstanceType) or told.name == kind.name or kind.name not in linker.classes.known:
        return False
    return any(info.id == told.name for info in linker.classes.order(kind.name)[0])


def _constructor(linker: Linker, cls: str) -> tuple[Module, tuple[f.Parameter, ...], dict[str, str]] | None:
    """The parameters of a class, and the attribute that keeps each of them."""
    member = linker.class_member(cls, "__init__")
    if member is not None:
        fact = member[1].fact
        if not isinstance(fact, f.Function):
            return None
        kept = {
            statement.value.id: statement.targets[0].name
            for statement in fact.body
            if isinstance(statement, f.Assign) and isinstance(statement.value, f.Name)
            if isinstance(statement.targets[0], f.Attribute) and isinstance(statement.targets[0].base, f.Name)
        }
        return member[0].module, fact.parameters[1:], kept
    info = linker.classes.known.get(cls)
    if info is None or not any(_makes_fields(decorator) for decorator in info.fact.decorators):
        return None
    fields = [name for name in info.members if info.annotation(name) is not None]
    parameters = tuple(f.Parameter(name, annotation=info.annotation(name)) for name in fields)
    return info.module, parameters, {name: name for name in fields}


def _makes_fields(decorator: f.Expr) -> bool:
    return last_word(decorator.function if isinstance(decorator, f.Call) else decorator) == "dataclass"
