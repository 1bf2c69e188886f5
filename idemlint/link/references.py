"""Tasks that nothing decorates: functions handed to a queue, listed for a worker or scheduled, and classes of tasks."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from idemlint.catalog.lookup import word_of
from idemlint.catalog.rows import DeclareClass, Framework, Listing
from idemlint.link.alternatives import Place, mapping_in
from idemlint.link.entries import function_info, functions_in, receiver_of
from idemlint.link.linker import Linker
from idemlint.link.modules import Module, bindings_in
from idemlint.link.production import is_production
from idemlint.link.referring import worker_option
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
        if row.by in ("function", "functions")
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
    """Lists in modules and classes and in dicts there, and what is added to them later."""
    names = "|".join(map(re.escape, row.attributes))
    pattern = re.compile(rf"\b(?:{names})\b[\"']?\s*(?:[:=]|\+=|\.(?:append|extend|insert)\()")
    for module, index in _pieces(linker, row.attributes, pattern):
        place = Place(module, index, (), linker.names)
        for statement, scope in _statements(module.statements(index), ""):
            match statement:
                case f.Class(name=name, body=body):
                    _in_body(linker, row, body, place, f"{module.id}:{name}" if not scope else "")
                case f.Assign(targets=(f.Name(id=name), *_), value=value) if not scope and value is not None:
                    _in_body(linker, row, (statement,), place, None)
                    _in_mapping(linker, row, mapping_in(value), place, f"{module.id}:{name}")
                case f.Assign(targets=(f.Attribute(name=name), *_), value=value) if value is not None:
                    _added(linker, row, name, value, place)
                case f.Augment(target=f.Attribute(name=name), value=value):
                    _added(linker, row, name, value, place)
                case f.Evaluate(
                    value=f.Call(function=f.Attribute(base=f.Attribute(name=name), name=method), arguments=words)
                ) if method in _ADDING and words:
                    given = words[-1].value
                    single = f.Display(given.at, "list", (given,))
                    _added(linker, row, name, given if method == "extend" else single, place)


_ADDING = ("append", "extend", "insert")


def _statements(body: f.Body, scope: str) -> Iterator[tuple[f.Statement, str]]:
    """The statements of a body and of the functions in it, with the names of these."""
    for statement in body:
        yield statement, scope
        if isinstance(statement, f.Function):
            yield from _statements(statement.body, f"{scope}{statement.name}.")


def _in_body(linker: Linker, row: Listing, body: f.Body, place: Place, app: str | None) -> None:
    """The lists in the body of a class `app` ("": one in a function, known by nothing else), or of a module."""
    bound = [
        (binding.name, binding.fact.value)
        for binding in bindings_in(body, place.piece)
        if isinstance(binding.fact, f.Assign) and binding.fact.value is not None
    ]
    told = [worker_option(name, value, place) for name, value in bound if app == "" and name in row.options]
    for name, listed in bound:
        # Only dicts that name a function are listed outside of what a worker reads.
        if name in row.attributes and (app is not None or row.key):
            walk = linker.walk(linker, place.module, place.piece)
            walk.listed(row, f"{row.framework}.{name}", listed, place, app or None, told)


def _in_mapping(linker: Linker, row: Listing, value: f.Mapping | None, place: Place, app: str) -> None:
    if value is not None:
        linker.walk(linker, place.module, place.piece).listed_in(row, value, place, app)


def _added(linker: Linker, row: Listing, name: str, listed: f.Expr, place: Place) -> None:
    """`WorkerSettings.functions.append(charge)`: an attribute of a class that a worker reads, by its name."""
    if name in row.attributes:
        linker.walk(linker, place.module, place.piece).listed(row, f"{row.framework}.{name}", listed, place, None)


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
