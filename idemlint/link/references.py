"""Tasks that nothing decorates: functions handed to a queue, listed for a worker or scheduled, and classes of tasks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from idemlint.catalog.lookup import word_of
from idemlint.catalog.rows import DeclareClass, Framework, Listing
from idemlint.link.alternatives import Place
from idemlint.link.entries import function_info, functions_in, receiver_of
from idemlint.link.linker import Linker
from idemlint.link.modules import Module, bindings_in
from idemlint.link.production import is_production
from idemlint.link.within import calls_in
from idemlint.program import ClassType
from idemlint.syntax import facts as f

# How many helpers may hand a function on to each other before it reaches the queue.
_ROUNDS = 3


def find_references(linker: Linker) -> None:
    """Add to `linker.drafts` the tasks that the project's code makes without a decorator."""
    words = {
        word_of(call)
        for framework in linker.frameworks
        for row in framework.sends
        if row.by == "function"
        for call in row.calls
    }
    registers = {
        call.rpartition(".")[2] for framework in linker.frameworks for row in framework.classes for call in row.register
    }
    workers = {word_of(call) for framework in linker.frameworks for row in framework.listings for call in row.calls}
    _read(linker, words | registers | workers | _makers(linker.frameworks))
    for framework in linker.frameworks:
        for listing in framework.listings:
            _find_listed(linker, listing)
        for row in framework.classes:
            if not row.register:
                _find_classes(linker, row)
    _follow_forwarders(linker)


def _makers(frameworks: Iterable[Framework]) -> set[str]:
    """The names of calls that are handed a function and make a task of it."""
    rows = (row for framework in frameworks for row in framework.declares if row.function)
    return {call.rpartition(".")[2] for row in rows for call in row.calls}


def _follow_forwarders(linker: Linker) -> None:
    """What is handed to a helper that hands it on to a queue is a task too."""
    done: set[str] = set()
    for _ in range(_ROUNDS):
        fresh = linker.forwarders - done
        if not fresh:
            return
        done |= fresh
        _read(linker, {function.rpartition(".")[2].rpartition(":")[2] for function in fresh})


def _read(linker: Linker, words: Collection[str]) -> None:
    """Link the functions that call something of these names, and read such statements at the top of modules."""
    if not words:
        return
    pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, sorted(words))) + r")\s*\(")
    for module, index in _pieces(linker, words, pattern):
        if module.pieces[index].defines is None:
            linker.walk(linker, module, index).statements(module.statements(index))
            continue
        for fact, cls in functions_in(module.statements(index)):
            if any(_name(call) in words for call in calls_in(fact.body)):
                info = function_info(linker, module, index, fact, cls)
                linker.link(info, receiver_of(info))


def _name(call: f.Call) -> str:
    """The last word of what is called; of a model's manager, the model."""
    function = call.function
    if isinstance(function, f.Attribute) and isinstance(function.base, f.Attribute) and function.base.name == "objects":
        function = function.base.base
    if isinstance(function, f.Name):
        return function.id
    return function.name if isinstance(function, f.Attribute) else ""


def _pieces(linker: Linker, words: Collection[str], pattern: re.Pattern[str]) -> Iterator[tuple[Module, int]]:
    """The pieces of production code that the pattern is found in; they hold one of the words."""
    for source in linker.project.mentioning(words):
        if is_production(source.path):
            module = linker.modules.load(source)
            for index, piece in enumerate(module.pieces):
                if pattern.search(piece.text):
                    yield module, index


# --- Lists -----------------------------------------------------------------------------------------------------------


def _find_listed(linker: Linker, row: Listing) -> None:
    """Lists at the top of a module or class, and in dicts there."""
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, row.attributes))})\b[\"']?\s*[:=]")
    for module, index in _pieces(linker, row.attributes, pattern):
        for statement in module.statements(index):
            if isinstance(statement, f.Class):
                app = f"{module.id}:{statement.name}"
                _in_body(linker, row, statement.body, Place(module, index, (), linker.names), app)
            elif isinstance(statement, f.Assign):
                place = Place(module, index, (), linker.names)
                _in_body(linker, row, (statement,), place, None)
                if isinstance(statement.value, f.Mapping):
                    _in_mapping(linker, row, statement, statement.value, place)


def _in_body(linker: Linker, row: Listing, body: f.Body, place: Place, app: str | None) -> None:
    for binding in bindings_in(body, place.piece):
        listed = binding.fact.value if isinstance(binding.fact, f.Assign) else None
        # Only dicts that name a function are listed outside of what a worker reads.
        if binding.name in row.attributes and listed is not None and (app is not None or row.key):
            walk = linker.walk(linker, place.module, place.piece)
            walk.listed(row, f"{row.framework}.{binding.name}", listed, place, app)


def _in_mapping(linker: Linker, row: Listing, statement: f.Assign, value: f.Mapping, place: Place) -> None:
    target = statement.targets[0]
    app = f"{place.module.id}:{target.id}" if isinstance(target, f.Name) else None
    for key, listed in value.items:
        if isinstance(key, f.Constant) and key.value in row.attributes:
            walk = linker.walk(linker, place.module, place.piece)
            walk.listed(row, f"{row.framework}.{key.value}", listed, place, app)


# --- Classes ---------------------------------------------------------------------------------------------------------


def _find_classes(linker: Linker, row: DeclareClass) -> None:
    """Classes that are tasks by deriving from a base of the framework's, near or far."""
    words = {base.rpartition(".")[2] for base in row.bases}
    tried: set[str] = set()
    while words - tried:
        fresh = words - tried
        tried |= fresh
        pattern = re.compile(rf"(?m)^class\s+\w+\s*\([^)]*\b(?:{'|'.join(map(re.escape, sorted(fresh)))})\b")
        for module, index in _pieces(linker, fresh, pattern):
            for statement in module.statements(index):
                if isinstance(statement, f.Class):
                    words |= _declared(linker, row, statement, module, index)


def _declared(linker: Linker, row: DeclareClass, fact: f.Class, module: Module, piece: int) -> set[str]:
    """The name of the class, if it derives from a base of tasks; it is a task itself unless it says that it is not."""
    info = linker.classes.add(f"{module.id}:{fact.name}", fact, module, piece)
    if not any(linker.catalog.task_base(path) == row for path in linker.classes.library_bases(info.id)):
        return set()
    if not _is_abstract(info.fact, row):
        linker.walk(linker, module, piece).declare_class(row, ClassType(info.id), fact.name_at)
    return {fact.name}


def _is_abstract(fact: f.Class, row: DeclareClass) -> bool:
    """Whether a class says of itself that it is only a base."""
    body = fact.body
    if row.options:
        inner = (each for each in body if isinstance(each, f.Class) and each.name == row.options)
        body = tuple(statement for each in inner for statement in each.body)
    found = (
        binding.fact.value
        for binding in bindings_in(body, 0)
        if binding.name == row.abstract and isinstance(binding.fact, f.Assign)
    )
    return any(isinstance(value, f.Constant) and value.value is True for value in found)
