"""What a process remembers: sets, dicts and lists of a module that its functions add to."""

from __future__ import annotations

from collections.abc import Iterator

from idemlint.program import Program
from idemlint.syntax import facts as f

_ADDS = frozenset({"add", "append", "setdefault", "update"})


class Memory:
    """Worked out once a module, from those of its functions that something reaches."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._growing: dict[str, frozenset[str]] = {}

    def growing(self, path: str) -> frozenset[str]:
        """The names that functions in a file add something to."""
        if path not in self._growing:
            bodies = {body.function: body for body in self._program.bodies.values() if body.path == path}
            self._growing[path] = frozenset(
                name for body in bodies.values() for part in f.walk(body.statements) for name in _added_to(part)
            )
        return self._growing[path]


def _added_to(fact: object) -> Iterator[str]:
    match fact:
        case f.Call(function=f.Attribute(base=f.Name(id=held), name=method)) if method in _ADDS:
            yield held
        case f.Assign(targets=targets):
            for target in targets:
                if isinstance(target, f.Subscript) and isinstance(target.base, f.Name):
                    yield target.base.id
