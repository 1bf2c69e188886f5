"""Which pieces of a project linking is likely to ask for, read in another process while linking goes on.

A guess by names alone: from what may declare or send a task through the names in its code to what defines them. What is
not foreseen is read by whoever needs it, so a wrong guess costs time and nothing else.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Iterable, Iterator, Set
from contextlib import suppress

from idemlint import orm
from idemlint.catalog import Catalog
from idemlint.link.frameworks import used
from idemlint.link.modules import Module, Modules
from idemlint.link.names import Definition, Found, Names
from idemlint.link.production import is_production
from idemlint.processes import Beside
from idemlint.program import ModuleType
from idemlint.project import Project, UnreadableFile
from idemlint.syntax import facts as f
from idemlint.syntax.check import Fault, fault
from idemlint.syntax.extract import extract
from idemlint.syntax.reader import Reader


def foreseen(beside: Beside) -> Reader:
    """A reader that takes what `forecast` has read by then in another process."""

    def facts(text: str) -> f.Body:
        known = beside.take((_FACTS, digest(text)))
        return known[0] if known is not None else extract(text)

    def first_fault(text: str) -> Fault | None:
        known = beside.take((_FAULT, digest(text)))
        return known[0] if known is not None else fault(text)

    return Reader(facts, first_fault)


def forecast(project: Project, catalog: Catalog) -> Iterator[tuple[tuple[str, bytes], tuple[object]]]:
    """What `foreseen` takes, under the text's digest. It begins with what is asked for last, as what is asked for soon
    would come too late."""
    made: dict[bytes, f.Body] = {}

    def facts(text: str) -> f.Body:
        body = made[digest(text)] = extract(text)
        return body

    for source in project.files:
        if is_production(source.path):
            with suppress(UnreadableFile):
                text = project.text(source.path)
                yield (_FAULT, digest(text)), (fault(text),)
    modules = Modules(project, Reader(facts))
    for module, index in likely(modules, catalog):
        module.statements(index)
        yield from (((_FACTS, key), (body,)) for key, body in made.items())
        made.clear()


_FACTS, _FAULT = "facts", "fault"


def digest(text: str) -> bytes:
    """What is told of a text is kept under this."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def likely(modules: Modules, catalog: Catalog) -> Iterator[tuple[Module, int]]:
    """Pieces that linking will look at, the latest first."""
    frameworks = used(modules.project, catalog)
    tasks = {word for framework in frameworks for word in framework.words}
    yield from holding(modules, {word for layer in orm.LAYERS for word in layer.migrates})
    starts = (*holding(modules, tasks), *holding(modules, catalog.scan_words(frameworks) - tasks))
    yield from near(Names(modules), reversed(starts))


def holding(modules: Modules, words: Set[str]) -> Iterator[tuple[Module, int]]:
    """The pieces in production whose text holds one of the words."""
    pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, sorted(words))) + r")\b")
    for source in modules.project.mentioning(words):
        if is_production(source.path):
            module = modules.load(source)
            for index, piece in enumerate(module.pieces):
                if pattern.search(piece.text):
                    yield module, index


def near(names: Names, starts: Iterable[tuple[Module, int]]) -> Iterator[tuple[Module, int]]:
    """Pieces and those that define what they mention, the nearest first."""
    todo = deque(starts)
    seen = {(module.file.path, index) for module, index in todo}
    while todo:
        module, index = todo.popleft()
        yield module, index
        for found in mentioned(names, module, module.statements(index)):
            if isinstance(found, Definition):
                place = (found.module.file.path, found.binding.piece)
                if place not in seen:
                    seen.add(place)
                    todo.append((found.module, found.binding.piece))


def mentioned(names: Names, module: Module, body: f.Body) -> Iterator[Found | None]:
    """What the names in a piece of code stand for at module level."""
    for part in f.walk(body):
        if isinstance(part, f.Name):
            yield names.find(module, part.id)
        elif isinstance(part, f.Attribute) and isinstance(part.base, f.Name):
            holder = names.find(module, part.base.id)
            if isinstance(holder, ModuleType):
                yield names.attribute(holder, part.name, module.file.path)
