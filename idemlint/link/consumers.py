"""Tasks without a framework: functions that take messages from a queue and acknowledge them by themselves."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from idemlint.catalog.consumer import ITERATIONS, Consumer
from idemlint.link.callbacks import asks_for_time, intakes, receiving_options
from idemlint.link.drafts import Draft, refer
from idemlint.link.entries import CROWD, LEVELS, callers, function_info, functions_in, receiver_of
from idemlint.link.frameworks import imported
from idemlint.link.linker import FunctionInfo, Linker
from idemlint.link.modules import Module
from idemlint.link.production import is_production
from idemlint.link.reading import literals
from idemlint.program import (
    Body,
    Construction,
    DataCall,
    InstanceType,
    Intake,
    LibraryCall,
    LibraryInstance,
    LibraryType,
    ProjectCall,
    RoutineType,
    Site,
)
from idemlint.project import SourceFile
from idemlint.syntax import facts as f

ASSIGNMENTS = 3
"""Through so many names a message is followed from the call that gives it to the loop that names it."""


def find_consumers(linker: Linker) -> None:
    """Add to `linker.drafts` the functions that consume a queue by themselves.

    One that receives is a task where it, or else one of its callers, acknowledges as well; where the queue does not ask
    for that, if it receives in a loop.
    """
    rows = linker.catalog.consumers
    libraries = imported(linker.project, {module for row in rows for module in row.modules})
    known = [row for row in rows if not row.modules or libraries.intersection(row.modules)]
    _read_mixins(linker, known)
    for source, found in _worth_a_look(linker, known):
        words = {word for row in found for word in row.words}
        calls = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(words)))})\b")
        loops = any(row.loops for row in found)
        module = linker.modules.load(source)
        for index, piece in enumerate(module.pieces):
            if calls.search(piece.text) or (loops and " in " in piece.text):
                for info in _functions(linker, module, index):
                    if _may_receive(info.fact, words, loops):
                        _read(linker, info)


def _may_receive(fact: f.Function | f.Lambda, words: Collection[str], loops: bool) -> bool:
    """Whether a function names something of these words, or takes turns where loops may receive."""
    return any(
        (loops and isinstance(part, f.For))
        or (isinstance(part, f.Attribute) and part.name in words)
        or (isinstance(part, f.Name) and part.id in words)
        for part in f.walk(fact.body)
    )


def _worth_a_look(linker: Linker, rows: list[Consumer]) -> Iterator[tuple[SourceFile, list[Consumer]]]:
    """The files that may receive, each with the rows that say how.

    A word in many files, such as `get`, says nothing in one that names neither the library nor what acknowledges.
    """
    mentioning = linker.project.mentioning
    found: dict[SourceFile, list[Consumer]] = {}
    for row in rows:
        marked = frozenset(mentioning(row.marks))
        places = [frozenset(mentioning([word])) for word in sorted(row.words)]
        for source in sorted({source for files in places for source in files}, key=lambda source: source.path):
            telling = any(source in files and (len(files) <= CROWD or source in marked) for files in places)
            if telling and is_production(source.path):
                found.setdefault(source, []).append(row)
    for source in sorted(found, key=lambda source: source.path):
        yield source, found[source]


def _functions(linker: Linker, module: Module, piece: int) -> Iterator[FunctionInfo]:
    """The functions in a piece. A statement that runs with the module counts as one without parameters."""
    statements = module.statements(piece)
    if module.pieces[piece].defines is not None:
        for fact, cls in functions_in(statements):
            yield function_info(linker, module, piece, fact, cls)
    elif any(isinstance(statement, _COMPOUND) for statement in statements):
        at = statements[0].at
        fact = f.Function(at, at, MAIN, (), (), None, statements, is_async=False, is_generator=False)
        id = f"{module.id}:{MAIN}"
        yield linker.function(f"{id}{piece}" if id in linker.functions else id, fact, module, piece)
    else:
        linker.walk(linker, module, piece).statements(statements)


MAIN = "__main__"
"""The name of what runs with its module."""

_COMPOUND = (f.For, f.While, f.With, f.Try, f.If)


def _read_mixins(linker: Linker, rows: list[Consumer]) -> None:
    """Methods that are handed the receiving class."""
    for row in rows:
        words = sorted({path.rpartition(".")[2] for path in row.mixins})
        bases = re.compile(rf"(?m)^class\s+\w+\s*\([^)]*\b(?:{'|'.join(map(re.escape, words))})\b")
        for source in linker.project.mentioning(words):
            module = linker.modules.load(source) if is_production(source.path) else None
            for index, piece in enumerate(module.pieces if module is not None else ()):
                if module is not None and bases.search(piece.text):
                    for statement in module.statements(index):
                        if isinstance(statement, f.Class):
                            _read_mixin(linker, row, statement, module, index)


def _read_mixin(linker: Linker, row: Consumer, fact: f.Class, module: Module, piece: int) -> None:
    info = linker.classes.add(f"{module.id}:{fact.name}", fact, module, piece)
    method = next((each for each in fact.body if isinstance(each, f.Function) and each.name == row.method), None)
    derived = any(linker.catalog.canonical(path) in row.mixins for path in linker.classes.library_bases(info.id))
    if derived and method is not None and len(method.parameters) > 1:
        function = linker.function(f"{info.id}.{method.name}", method, module, piece, info)
        handed = ((method.parameters[1].name, LibraryType(row.receive[0])),)
        linker.link(function, InstanceType(info.id), handed)


def _read(linker: Linker, info: FunctionInfo) -> None:
    """Link a function, and those defined inside it, and see whether they receive."""
    body = linker.link(info, receiver_of(info))
    if body is None:
        return
    for inner in f.walk(info.fact.body):
        kind = body.types.get(inner.at) if isinstance(inner, f.Function) else None
        if isinstance(kind, RoutineType) and kind.function != info.id:
            nested = linker.link(linker.functions[kind.function], kind.receiver, (), kind.captured)
            if nested is not None:
                _consider(linker, linker.functions[kind.function], nested, kind)
    _consider(linker, info, body, RoutineType(info.id, receiver_of(info)))


def _consider(linker: Linker, info: FunctionInfo, body: Body, routine: RoutineType) -> None:
    for row, source in _receiving(linker, info.fact, body):
        wants = row.kept == "acknowledged" and not _dropped(row, source)
        if not _handles(linker, info, body, source.at, wants):
            _consider_callers(linker, info, row, source, wants)
            continue
        _declare(linker, info, routine, row, source, info)


def _consider_callers(linker: Linker, info: FunctionInfo, row: Consumer, source: f.For | f.Call, wants: bool) -> None:
    """The nearest callers of a function that receives for them."""
    level = [info]
    for _ in range(LEVELS):
        above: list[FunctionInfo] = []
        for called in level:
            for caller in callers(linker, called.id, called.name) if isinstance(called.fact, f.Function) else ():
                body = linker.link(caller, receiver_of(caller))
                at = _call_of(linker, body, called.id) if body is not None else None
                if body is None or at is None:
                    continue
                if _handles(linker, caller, body, at, wants):
                    _declare(linker, caller, RoutineType(caller.id, receiver_of(caller)), row, source, info)
                else:
                    above.append(caller)
        level = above


def _handles(linker: Linker, info: FunctionInfo, body: Body, at: int, wants: bool) -> bool:
    """Whether a function that receives at `at` deals with what it receives: acknowledges it or, where nobody wants
    that, comes back for more. A generator leaves that to others."""
    if body.is_generator:
        return False
    return _acknowledges(linker, body, set()) if wants else _in_loop(info.fact, at)


def _receiving(linker: Linker, fact: f.Function | f.Lambda, body: Body) -> Iterator[tuple[Consumer, f.For | f.Call]]:
    """The calls in a function that receive, and the loops whose turns do."""
    for part in f.walk(fact.body):
        if isinstance(part, f.Call):
            target = body.targets.get(part.at)
            row = linker.catalog.receives(target.path) if isinstance(target, LibraryCall) else None
            if row is not None and not row.callback:
                yield row, part
        elif isinstance(part, f.For):
            kind = body.types.get(part.iterable.at)
            path = kind.path if isinstance(kind, LibraryInstance | LibraryType) else None
            rows = (linker.catalog.receives(f"{path}.{turn}") for turn in ITERATIONS) if path is not None else ()
            row = next((row for row in rows if row is not None), None)
            if row is not None:
                yield row, part


def _acknowledges(linker: Linker, body: Body, seen: set[str]) -> bool:
    """Whether a function, or one that it calls, acknowledges."""
    if body.key in seen:
        return False
    seen.add(body.key)
    for target in body.targets.values():
        inner: tuple[str, ...] = ()
        match target:
            case LibraryCall(path=path):
                if linker.catalog.acknowledges(path) or linker.catalog.acknowledges_at_end(path):
                    return True
                inner = tuple(callback for _, callback in target.callbacks if isinstance(callback, str))
            case ProjectCall(body=key) | Construction(body=str(key)):
                inner = (key,)
            case DataCall(bodies=keys):
                inner = keys
        if any(_acknowledges(linker, linker.bodies[key], seen) for key in inner if key in linker.bodies):
            return True
    return False


def _call_of(linker: Linker, body: Body, function: str) -> int | None:
    """Where a body calls a function."""
    for at, target in sorted(body.targets.items()):
        if isinstance(target, ProjectCall) and linker.bodies[target.body].function == function:
            return at
    return None


def _in_loop(fact: f.Function | f.Lambda, at: int) -> bool:
    """Whether a node of a function stands in a loop, or is one."""
    for loop in f.walk(fact.body):
        if isinstance(loop, f.For) and loop.at == at:
            return True
        if isinstance(loop, f.For | f.While):
            inside = (*loop.body, loop.test) if isinstance(loop, f.While) else loop.body
            if any(getattr(part, "at", None) == at for part in f.walk(tuple(inside))):
                return True
    return False


def _declare(
    linker: Linker, info: FunctionInfo, routine: RoutineType, row: Consumer, source: f.For | f.Call, place: FunctionInfo
) -> None:
    if not intakes(linker, info.id):
        return
    call = source if isinstance(source, f.Call) else source.iterable
    options = receiving_options(row, call, place.module, place.piece) if isinstance(call, f.Call) else ()
    name = _message(info.fact, source) if info is place else ""
    site = Site(place.module.file.path, place.piece, call.at)
    renewed = asks_for_time(row, info.module, place.module)
    intake = Intake(row, True, row.key.replace("$message", name) if name else "", renewed)
    refer(linker, Draft(info.id, row.name, "", routine, options, site, referred=True, intake=intake))


def _dropped(row: Consumer, source: f.For | f.Call) -> bool:
    """Whether a message is gone once this hands it out."""
    call = source if isinstance(source, f.Call) else source.iterable
    return row.dropped is not None and isinstance(call, f.Call) and row.dropped.holds(literals(call))


# --- What messages are called -----------------------------------------------------------------------------------------


def _message(fact: f.Function | f.Lambda, source: f.For | f.Call) -> str:
    """The name of one message: of a loop over what was received, else of what was received; "" if it has none."""
    if isinstance(source, f.For):
        return source.target.id if isinstance(source.target, f.Name) else ""
    names: set[str] = set()
    parts = list(f.walk(fact.body))

    def holds(expr: f.Expr | None) -> bool:
        return any(part is source or (isinstance(part, f.Name) and part.id in names) for part in f.walk(expr))

    for _ in range(ASSIGNMENTS):
        for part in parts:
            if isinstance(part, f.For) and holds(part.iterable):
                return part.target.id if isinstance(part.target, f.Name) else ""
            if isinstance(part, f.Assign) and holds(part.value):
                names.update(target.id for target in part.targets if isinstance(target, f.Name))
    direct = (part.targets for part in parts if isinstance(part, f.Assign) and _plain(part.value) is source)
    return next((target.id for targets in direct for target in targets if isinstance(target, f.Name)), "")


def _plain(expr: f.Expr | None) -> f.Expr | None:
    return expr.value if isinstance(expr, f.Await) else expr
