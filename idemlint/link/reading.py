"""What the parts of a walk share: its state, and the questions that each part leaves to another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from idemlint import orm
from idemlint.catalog.rows import Slot
from idemlint.link.classes import ClassInfo
from idemlint.link.linker import FunctionInfo, Linker
from idemlint.link.modules import Module
from idemlint.program import Body, InstanceType, RoutineType, Target, Type
from idemlint.syntax import facts as f

Reached: TypeAlias = tuple[Target | None, Type | None]
"""What a call reaches, and what it gives."""


class Reading:
    """A walk over one function, or over statements at the top of a module."""

    def __init__(
        self,
        linker: Linker,
        module: Module,
        piece: int,
        owner: ClassInfo | None = None,
        receiver: Type | None = None,
        function: FunctionInfo | None = None,
        in_class: bool = False,
    ) -> None:
        self.linker = linker
        self.module = module
        self.piece = piece
        self.owner = owner
        self.receiver = receiver
        self.function = function
        self.in_class = in_class
        self.env: dict[str, Type | None] = {}
        self.captured: dict[str, Type] = {}
        self.used: set[str] = set()
        self.targets: dict[int, Target] = {}
        self.types: dict[int, Type] = {}
        self.constants: dict[int, object] = {}
        self.managers: dict[int, tuple[str, str]] = {}
        self.returned: list[Type | None] = []
        self.yielded: list[Type | None] = []
        # What is assigned to each local name, a list that it runs through starred; nothing where that cannot be told.
        self.written: dict[str, list[f.Expr]] = {}
        self.receiver_name: str | None = None

    def layer(self, name: str) -> orm.Layer:
        """The data layer of this name."""
        return next(layer for layer in orm.LAYERS if name == layer.name)

    def evaluate(self, expr: f.Expr) -> Type | None:
        """What an expression is."""
        raise NotImplementedError

    def attribute(self, base: Type | None, name: str) -> Type | None:
        """What an attribute of something of this type is."""
        raise NotImplementedError

    def method_body(self, kind: InstanceType, name: str) -> Body | None:
        """The body of a method, None where the project has no such method."""
        raise NotImplementedError

    def item(self, kind: Type | None) -> Type | None:
        """What iterating over something of this type gives."""
        raise NotImplementedError

    def reach(
        self, callee: Type | None, expr: f.Call, positional: Sequence[Type | None], keywords: dict[str, Type | None]
    ) -> Reached:
        """What calling `callee` with arguments of these types reaches, and what it gives."""
        raise NotImplementedError

    def routine(
        self, callee: RoutineType, positional: Sequence[Type | None], keywords: dict[str, Type | None]
    ) -> Reached:
        """The same for a function of the project."""
        raise NotImplementedError


def slot_value(slots: Sequence[Slot], expr: f.Call) -> f.Expr | None:
    """The argument of a call that stands at the first slot given, or the member of what is written there."""
    plain = [argument.value for argument in expr.arguments if not argument.star and argument.name is None]
    named = {argument.name: argument.value for argument in expr.arguments if argument.name is not None}
    for slot in slots:
        found = named.get(slot.name) if slot.name is not None else None
        if slot.position is not None and slot.position < len(plain):
            found = plain[slot.position]
        for item in slot.items:
            found = _member(found, item)
        if found is not None:
            return found
    return None


def _member(expr: f.Expr | None, key: str) -> f.Expr | None:
    """A member of a dict, or an argument of a call, as it is written."""
    match expr:
        case f.Mapping(items=pairs):
            return next((value for name, value in pairs if isinstance(name, f.Constant) and name.value == key), None)
        case f.Call(arguments=words):
            return next((word.value for word in words if word.name == key), None)
    return None


def literals(expr: f.Call) -> dict[str, object]:
    """The arguments of a call as the catalog tests them: literals, `...` for what cannot be told."""
    found: dict[str, object] = {}
    position = 0
    for argument in expr.arguments:
        value = argument.value.value if isinstance(argument.value, f.Constant) else ...
        if argument.name is not None:
            found[argument.name] = value
        elif not argument.star:
            found[f"#{position}"] = value
            position += 1
    return found
