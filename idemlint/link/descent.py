"""What hangs on the class that a method is called on: who derives from it, and what its objects were given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from idemlint.link.alternatives import Alternative, Place
from idemlint.link.classes import ClassInfo
from idemlint.link.production import is_production
from idemlint.link.within import calls_in
from idemlint.program import ClassType, InstanceType, RoutineType
from idemlint.syntax import facts as f

if TYPE_CHECKING:
    from idemlint.link.linker import Linker
    from idemlint.link.modules import Module


def descendants(linker: Linker, cls: str) -> list[ClassInfo]:
    """The classes at the top of production modules that derive from a class, near or far."""
    found: dict[str, ClassInfo] = {}
    names = {cls.rpartition(":")[2].rpartition(".")[2]}
    tried: set[str] = set()
    announced = any(linker.catalog.role(path) == "interface" for path in linker.classes.library_bases(cls))
    # A class may say what it implements by a decorator.
    begins = r"class\s+\w+\s*|@[\w.]+" if announced else r"class\s+\w+\s*"
    while fresh := names - tried:
        tried |= fresh
        named = "|".join(map(re.escape, sorted(fresh)))
        pattern = re.compile(rf"^(?:{begins})\([^)]*\b(?:{named})\b", re.MULTILINE)
        for module, index in _pieces(linker, fresh, pattern):
            for statement in module.statements(index):
                if isinstance(statement, f.Class):
                    info = linker.classes.add(f"{module.id}:{statement.name}", statement, module, index)
                    if info.id != cls and any(base.id == cls for base in linker.classes.order(info.id)[0]):
                        found[info.id] = info
                        names.add(statement.name)
    return [found[id] for id in sorted(found)]


def implementations(linker: Linker, routine: RoutineType) -> list[RoutineType]:
    """The methods that may run where a method is named through a class that nobody makes objects of: those of the
    classes derived from it. Any other function stands for itself."""
    receiver = routine.receiver
    if not isinstance(receiver, ClassType | InstanceType) or not _is_abstract(linker, receiver.name):
        return [routine]
    method = routine.function.rpartition(".")[2]
    walks = (
        (linker.walk(linker, info.module, info.piece), replace(receiver, name=info.id))
        for info in descendants(linker, receiver.name)
        if not _is_abstract(linker, info.id)
    )
    kinds = (walk.attribute(own, method) for walk, own in walks)
    return [kind for kind in kinds if isinstance(kind, RoutineType)]


def inherited(linker: Linker, routine: RoutineType) -> RoutineType:
    """A method with an id of its own for the class it is called on, where it was written in another one."""
    receiver, info = routine.receiver, linker.functions[routine.function]
    if not isinstance(receiver, ClassType | InstanceType) or info.owner is None or info.owner.id == receiver.name:
        return routine
    if receiver.name not in linker.classes.known or not isinstance(info.fact, f.Function):
        return routine
    own = f"{receiver.name}.{info.fact.name}"
    linker.function(own, info.fact, info.module, info.piece, info.owner)
    return replace(routine, function=own)


def kept(linker: Linker, cls: str, attribute: str) -> Iterator[Alternative]:
    """What the constructors of a class, and of those derived from it, are given for what an attribute keeps."""
    name = _kept_parameter(linker, cls, attribute)
    if name is None:
        return
    infos = [linker.classes.known[cls], *descendants(linker, cls)]
    for info in infos[1:]:
        for binding in info.members.get("__init__", ())[-1:]:
            if isinstance(binding.fact, f.Function):
                place = Place(info.module, info.piece, binding.fact.body, linker.names)
                yield from _given(binding.fact, name, lambda callee: _is_method(callee, "__init__"), place)
    made = {info.fact.name for info in infos}
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(made)))})\s*\(")
    for module, index in _pieces(linker, made, pattern):
        place = Place(module, index, (), linker.names)
        for statement in module.statements(index):
            yield from _given(statement, name, lambda callee: isinstance(callee, f.Name) and callee.id in made, place)


def _given(code: object, name: str, fits: object, place: Place) -> Iterator[Alternative]:
    assert callable(fits)
    for call in calls_in(code):
        if fits(call.function):
            yield from (Alternative(word.value, place) for word in call.arguments if word.name == name)


def _is_method(callee: f.Expr, name: str) -> bool:
    return isinstance(callee, f.Attribute) and callee.name == name


def _kept_parameter(linker: Linker, cls: str, attribute: str) -> str | None:
    """The parameter of the constructor that `self.attribute` keeps."""
    found = linker.class_member(cls, "__init__")
    fact = found[1].fact if found is not None else None
    if not isinstance(fact, f.Function):
        return None
    parameters = {each.name for each in fact.parameters}
    for statement in fact.body:
        if isinstance(statement, f.Assign) and isinstance(statement.value, f.Name):
            if statement.value.id in parameters and any(_is_method(each, attribute) for each in statement.targets):
                return statement.value.id
    return None


def _is_abstract(linker: Linker, cls: str) -> bool:
    """Whether a class leaves a method to those that derive from it."""
    if cls not in linker.classes.known:
        return False
    names = {name for info in linker.classes.order(cls)[0] for name in info.members}
    members = (linker.class_member(cls, name) for name in names)
    facts = (member[1].fact for member in members if member is not None)
    return any(isinstance(fact, f.Function) and any(map(_says_abstract, fact.decorators)) for fact in facts)


def _says_abstract(decorator: f.Expr) -> bool:
    name = decorator.id if isinstance(decorator, f.Name) else getattr(decorator, "name", "")
    return name in ("abstractmethod", "abstractclassmethod")


def _pieces(linker: Linker, words: set[str], pattern: re.Pattern[str]) -> Iterator[tuple[Module, int]]:
    for source in linker.project.mentioning(sorted(words)):
        if is_production(source.path):
            module = linker.modules.load(source)
            yield from ((module, index) for index, piece in enumerate(module.pieces) if pattern.search(piece.text))
