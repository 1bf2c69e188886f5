"""A project given as text, linked: what the calls of its functions reach."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from idemlint.catalog import load
from idemlint.link import link
from idemlint.program import (
    Body,
    ChoiceCall,
    Construction,
    DataCall,
    EnqueueCall,
    LibraryCall,
    Program,
    ProjectCall,
    Target,
    UnresolvedCall,
)
from idemlint.project import discover


@dataclass(frozen=True, slots=True)
class Linked:
    """A linked project. Functions are named as in ids: `shop.mail:send`, `shop.models:Order.save`."""

    program: Program

    def body(self, name: str) -> Body:
        """The function with this id, or this end of it, in the context it was first linked in."""
        bodies = self.program.bodies.values()
        return next(body for body in bodies if body.function == name or body.function.endswith(f":{name}"))

    def called(self, name: str = "task") -> list[str]:
        """What the calls in a function reach, in the order of the code."""
        return [self.said(target) for _, target in sorted(self.body(name).targets.items())]

    def reached(self, name: str = "task") -> set[str]:
        """The same for all that it reaches in turn."""
        found: set[str] = set()
        waiting, seen = [self.body(name)], set()
        while waiting:
            body = waiting.pop()
            if body.key in seen:
                continue
            seen.add(body.key)
            for target in (*body.reached, *(target for target, _ in body.contexts)):
                found.add(self.said(target))
            inner = [self.program.bodies[key] for key in callees(body)]
            found.update(each.function for each in inner)
            waiting.extend(inner)
        return found

    def said(self, target: Target) -> str:
        """A target in words."""
        match target:
            case ProjectCall(body=key):
                return self.program.bodies[key].function
            case LibraryCall(path=path):
                return path
            case DataCall(operation=operation):
                return f"{operation.kind} {operation.model.rpartition(':')[2]}"
            case EnqueueCall(task=task, method=method):
                return f"{method} {task}"
            case Construction(cls=cls):
                return f"new {cls}"
            case ChoiceCall(targets=targets):
                return " or ".join(map(self.said, targets))
            case UnresolvedCall(name=name):
                return f"? {name}"


def callees(body: Body) -> Iterator[str]:
    """The bodies that a body enters itself."""
    for entered in body.managers.values():
        yield from filter(None, entered)
    for target in (*body.reached, *(target for target, _ in body.contexts)):
        match target:
            case ProjectCall(body=key):
                yield key
            case Construction(body=str(key)):
                yield key
            case LibraryCall(callbacks=callbacks):
                yield from (callback for _, callback in callbacks if isinstance(callback, str))
            case DataCall(entered=keys):
                yield from keys


def linked(folder: Path, files: Mapping[str, str]) -> Linked:
    """Write the files and link them. A folder is a package where `__init__.py` is among them."""
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")
    return Linked(link(discover([folder], isolated=True), load()))
