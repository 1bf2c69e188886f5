"""Which functions are worth following: those that reach an effect, and small ones for the value they give."""

from __future__ import annotations

from collections.abc import Iterator

from idemlint.catalog import Catalog
from idemlint.link.reading import literals
from idemlint.program import (
    Body,
    Construction,
    DataCall,
    EnqueueCall,
    LibraryCall,
    Program,
    ProjectCall,
    Target,
    each_of,
)
from idemlint.summarize.memory import Memory
from idemlint.syntax import facts as f

SMALL = 40
"""Calls that a function without effects may make, callees included, to be followed for its value's sake."""

_IDLE = frozenset(
    {None, "transparent", "partial", "wraps", "property", "memory", "log", "metric", "harmless", "contents"}
    | {"import", "lazy", "in-transaction"}
)
"""Roles of calls that leave all as it is: what makes only such calls is followed if it is small."""

_QUIET = frozenset({"new", "narrow", "build", "read", "get", "first", "exists", "refresh", "lock"})


class Weights:
    """Worked out once a program, callees first; functions in a cycle of calls count as they stand."""

    def __init__(self, program: Program, catalog: Catalog) -> None:
        self._program = program
        self._catalog = catalog
        self._acts: dict[str, bool] = {}
        self._sizes: dict[str, int] = {}
        self.memory = Memory(program)

    def worth(self, key: str) -> bool:
        """Whether a body is worth following."""
        return self.acts(key) or self.size(key) <= SMALL

    def acts(self, key: str) -> bool:
        """Whether a body, or what it calls, changes, locks or sends something."""
        if key not in self._acts:
            self._acts[key] = False
            body = self._program.bodies[key]
            self._acts[key] = any(self._acts_itself(body, at, target) for at, target in _targets(body)) or any(
                self.acts(inner) for inner in _callees(body)
            )
        return self._acts[key]

    def size(self, key: str) -> int:
        """How many calls a body makes, callees included."""
        if key not in self._sizes:
            self._sizes[key] = 0
            body = self._program.bodies[key]
            self._sizes[key] = 1 + len(body.targets) + sum(self.size(inner) for inner in _callees(body))
        return self._sizes[key]

    def _acts_itself(self, body: Body, at: int, target: Target) -> bool:
        match target:
            case EnqueueCall():
                return True
            case DataCall(operation=operation):
                return operation.kind not in _QUIET
            case LibraryCall(path=path):
                effect = self._catalog.effect(path)
                if effect is not None:
                    # A file may be opened to be read only, a request be of any kind where the caller says which.
                    ways = effect.possible(_literals(body, at)) if effect.variants else (effect,)
                    return any(way.replay != "natural" for way in ways)
                catalog = self._catalog
                queue = catalog.receives(path) is not None or catalog.acknowledges(path)
                return queue or catalog.role(path) not in _IDLE or catalog.guard(path) is not None
        return False


def _targets(body: Body) -> Iterator[tuple[int, Target]]:
    yield from ((at, each) for at, target in body.targets.items() for each in each_of(target))
    for target, at in body.contexts:
        yield at, target


def _literals(body: Body, at: int) -> dict[str, object]:
    """The arguments of a call in a body, as the catalog tests them."""
    calls = (part for part in f.walk(body.statements) if isinstance(part, f.Call) and part.at == at)
    return next((literals(call) for call in calls), {})


def _callees(body: Body) -> Iterator[str]:
    for keys in body.managers.values():
        yield from (key for key in keys if key)
    for _, target in _targets(body):
        match target:
            case ProjectCall(body=key):
                yield key
            case Construction(body=str(key)):
                yield key
            case DataCall(saving=str(key)):
                yield key
            case LibraryCall(callbacks=callbacks):
                yield from (callback for _, callback in callbacks if isinstance(callback, str))
