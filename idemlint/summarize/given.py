"""The arguments of one call as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from idemlint.catalog import Arguments, Slot
from idemlint.domain.value import Value


class Given:
    """The arguments of one call as values, with the ordinals of the expressions they were written as."""

    def __init__(
        self,
        positional: Sequence[Value],
        keywords: Mapping[str, Value],
        places: Mapping[int | str, int] | None = None,
        rest: Value | None = None,
    ) -> None:
        """`rest` stands for what `*args` and `**kwargs` of the function around bring along, unseen."""
        self.positional = tuple(positional)
        self.keywords = dict(keywords)
        self.places = places or {}
        self.rest = rest

    def at(self, slots: Sequence[Slot]) -> Value | None:
        """The value at the first slot that is filled; an item of a dict, or of those in a list, where the slot names
        one."""
        for slot in slots:
            found = self._whole(slot)
            for item in slot.items:
                found = found.inside(item) if found is not None else None
            if found is not None:
                return found
        return None

    def may_be_at(self, slot: Slot) -> bool:
        """Whether what the slot names may be there without having been seen."""
        *outer, last = slot.items or ("",)
        whole = self.at([replace(slot, items=tuple(outer))])
        return bool(last) and whole is not None and whole.may_hold(last)

    def place(self, slot: Slot) -> int | None:
        """The ordinal of the argument at a slot."""
        return self.places.get(slot.position if slot.position is not None else slot.name or "")

    def _whole(self, slot: Slot) -> Value | None:
        if slot.position is not None:
            return self.positional[slot.position] if slot.position < len(self.positional) else None
        return self.keywords.get(slot.name or "")

    def literals(self) -> Arguments:
        """As the catalog tests them: literals, `...` for what cannot be told; `#0.method` is what the object given
        there was made with."""
        found: dict[str, object] = {}
        for name, value in arguments_of(self):
            found[name] = _literal(value)
            if value.made:
                found.update({f"{name}.{inner}": _literal(part) for inner, part in value.entries or ()})
        return found

    def all(self) -> list[Value]:
        return [*self.positional, *self.keywords.values()]


def arguments_of(given: Given) -> tuple[tuple[str, Value], ...]:
    """Arguments by name, positional ones as `#0`."""
    return (*((f"#{index}", value) for index, value in enumerate(given.positional)), *given.keywords.items())


def _literal(value: Value) -> object:
    return value.literal[0] if value.literal is not None else ...
