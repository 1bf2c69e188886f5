"""Where the analysis starts: tasks, functions that send them or hook into a commit, and the callers of those."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from idemlint.link.linker import FunctionInfo, Linker
from idemlint.link.modules import Module
from idemlint.link.production import is_production
from idemlint.link.within import calls_in, last_word, names_in
from idemlint.program import Body, ClassType, DataCall, EnqueueCall, InstanceType, LibraryCall, ProjectCall
from idemlint.syntax import facts as f

# How far up the callers of a function that sends a task are followed in search of the transaction around it.
LEVELS = 3
# A name in more places than this says too little about who calls whom.
CROWD = 24
ROUNDS = 3


def find_tasks(linker: Linker) -> None:
    """Fill `linker.drafts` with every task of the project.

    Decorators are tried where their text holds a word of the catalog. A module-level name or a function made from such
    a word (`retrying = partial(shared_task, ...)`, a project's own `@task`) is a word too, for the next round.
    """
    words = {word for framework in linker.frameworks for word in framework.words}
    tried: set[str] = set()
    for _ in range(ROUNDS):
        fresh = words - tried
        if not fresh:
            break
        tried |= fresh
        pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, sorted(fresh))) + r")\b")
        for source in linker.project.mentioning(sorted(fresh)):
            if is_production(source.path):
                words |= _read(linker, linker.modules.load(source), pattern)


def _read(linker: Linker, module: Module, pattern: re.Pattern[str]) -> set[str]:
    """Declare the tasks of a module whose decorators match; give the names of what may declare more."""
    aliases: set[str] = set()
    if any(name == "Migration" for name in module.definitions()):
        return aliases
    for index, piece in enumerate(module.pieces):
        if not pattern.search(piece.text):
            continue
        if piece.defines is None:
            aliases |= _loose(linker, module, index, pattern)
            continue
        header = _DECORATOR.findall(piece.text)
        if any(pattern.search(line) for line in header) or _TASK_CLASS.search(piece.text):
            for name, cls in functions_in(module.statements(index)):
                _declare(linker, module, index, name, cls)
        elif _WRAPS.search(piece.text):
            aliases.add(piece.defines)
    return aliases


_DECORATOR = re.compile(r"^[ \t]*@[^\n]*(?:\([^)]*\))?", re.MULTILINE)
_TASK_CLASS = re.compile(r"^class[ \t]+\w+\([^)]*Task", re.MULTILINE)
_WRAPS = re.compile(r"\b(?:task|actor|job)\s*\(|\bshared_task\b|\bperiodic_task\b")


def _loose(linker: Linker, module: Module, piece: int, pattern: re.Pattern[str]) -> set[str]:
    """Module-level statements: aliases, and tasks declared by a plain call."""
    found: set[str] = set()
    for statement in module.statements(piece):
        if isinstance(statement, f.Import) and statement.name not in (None, "*", statement.bind):
            found.update([statement.bind] if pattern.search(str(statement.name)) else [])
        value = statement.value if isinstance(statement, f.Assign | f.Evaluate) else None
        if value is None:
            continue
        if isinstance(value, (f.Call, f.Attribute | f.Name)):
            linker.walk(linker, module, piece).evaluate(value)
        if isinstance(statement, f.Assign) and _mentions(value, pattern):
            found.update(target.id for target in statement.targets if isinstance(target, f.Name))
    return found


def _mentions(expr: f.Expr, pattern: re.Pattern[str]) -> bool:
    """Whether the words stand in what is called or handed over, not in a string."""
    attributes = {call.function.name for call in calls_in(expr) if isinstance(call.function, f.Attribute)}
    words = [word.value for call in calls_in(expr) for word in call.arguments]
    attributes.update(word.name for word in (expr, *words) if isinstance(word, f.Attribute))
    return any(pattern.search(name) for name in names_in(expr) | attributes)


def functions_in(
    body: Iterable[f.Statement], cls: f.Class | None = None
) -> Iterator[tuple[f.Function, f.Class | None]]:
    """Functions at module level and the methods of classes."""
    for statement in body:
        if isinstance(statement, f.Function):
            yield statement, cls
        elif isinstance(statement, f.Class):
            yield from functions_in(statement.body, statement)
        elif isinstance(statement, f.If):
            yield from functions_in((*statement.body, *statement.orelse), cls)
        elif isinstance(statement, f.Try):
            yield from functions_in(statement.body, cls)


def _declare(linker: Linker, module: Module, piece: int, fact: f.Function, cls: f.Class | None) -> None:
    if not fact.decorators:
        return
    info = function_info(linker, module, piece, fact, cls)
    linker.decorated(info)


def function_info(linker: Linker, module: Module, piece: int, fact: f.Function, cls: f.Class | None) -> FunctionInfo:
    """The function (or method of a top-level class) that stands in a piece."""
    if cls is None:
        return linker.function(f"{module.id}:{fact.name}", fact, module, piece)
    owner = linker.classes.add(f"{module.id}:{cls.name}", cls, module, piece)
    return linker.function(f"{owner.id}.{fact.name}", fact, module, piece, owner)


def receiver_of(info: FunctionInfo) -> InstanceType | ClassType | None:
    """What a method is called on when nobody is seen calling it."""
    if info.owner is None or not isinstance(info.fact, f.Function):
        return None
    names = {decorator.id for decorator in info.fact.decorators if isinstance(decorator, f.Name)}
    if "staticmethod" in names:
        return None
    return ClassType(info.owner.id) if "classmethod" in names else InstanceType(info.owner.id)


def find_senders(linker: Linker) -> list[FunctionInfo]:
    """Functions, no tests, that send a task or register a commit hook."""
    words = sorted((linker.catalog.scan_words(linker.frameworks) | _sent_by_calling(linker)) - {"task"})
    tying = _Tying.of(linker)
    pattern = re.compile(_any_of(words) + tying.pattern)
    methods = {
        name
        for framework in linker.frameworks
        for row in framework.methods
        if row.does == "enqueue"
        for name in row.names
    }
    found: list[FunctionInfo] = []
    libraries = [library for framework in linker.frameworks for library in framework.libraries]
    imported = set(linker.project.mentioning(libraries))
    for source in sorted({*linker.project.mentioning(words), *imported}, key=lambda source: source.path):
        if not is_production(source.path):
            continue
        module = linker.modules.load(source)
        for index, piece in enumerate(module.pieces):
            if piece.defines is None or not pattern.search(piece.text):
                continue
            for fact, cls in functions_in(module.statements(index)):
                if any(_sends(call, methods, words) for call in calls_in(fact.body)) or tying.starts(fact):
                    found.append(function_info(linker, module, index, fact, cls))
    return found


def _sent_by_calling(linker: Linker) -> set[str]:
    """The names of tasks that are sent by being called."""
    calling = {
        framework.name
        for framework in linker.frameworks
        if (row := framework.method("__call__")) is not None and row.does == "enqueue"
    }
    declared = (draft for draft in linker.drafts.values() if draft.framework in calling and not draft.referred)
    return {draft.function.rpartition(":")[2].rpartition(".")[2] for draft in declared}


def _sends(call: f.Call, methods: set[str], words: list[str]) -> bool:
    names = {argument.value.name for argument in call.arguments if isinstance(argument.value, f.Attribute)}
    if isinstance(call.function, f.Attribute):
        return call.function.name in methods or call.function.name in words or bool(names & methods)
    return isinstance(call.function, f.Name) and (call.function.id in words or bool(names & methods))


@dataclass(frozen=True, slots=True)
class _Tying:
    """The words of what is built first and sent later: calls of `makers` that tie several tasks together or take a
    function, methods of a task that give a `composition` of several, and those that give a `signature` of it."""

    makers: frozenset[str]
    compositions: frozenset[str]
    signatures: frozenset[str]

    @classmethod
    def of(cls, linker: Linker) -> _Tying:
        catalog, frameworks = linker.catalog, linker.frameworks
        built = (catalog.building_words(frameworks, does) for does in ("composition", "signature"))
        return cls(frozenset(catalog.tying_words(frameworks)), *built)

    @property
    def pattern(self) -> str:
        """What text has to hold for one of them to be in it, to go on after the pattern for others."""
        makers = rf"|(?<![.\w]){_any_of(sorted(self.makers))}\(" if self.makers else ""
        methods = sorted(self.compositions | self.signatures)
        return makers + (rf"|\.{_any_of(methods)}\(" if methods else "")

    def starts(self, fact: f.Function) -> bool:
        """Whether something that was built is called, or a method of it: `chord(parts)(last)`, `(a.s() | b.s())()`,
        `group(parts).run()`, also by the name that it was given in this function."""
        named = {
            target.id
            for part in f.walk(fact.body)
            if isinstance(part, f.Assign) and part.value is not None and self._builds(part.value)
            for target in part.targets
            if isinstance(target, f.Name)
        }
        return any(self._is_started(call, named) for call in calls_in(fact.body))

    def _is_started(self, call: f.Call, named: Collection[str]) -> bool:
        built = call.function.base if isinstance(call.function, f.Attribute) else call.function
        return built.id in named if isinstance(built, f.Name) else self._builds(built)

    def _builds(self, expr: f.Expr) -> bool:
        if isinstance(expr, f.Operation):
            return expr.operator == "|" and any(map(self._is_part, (expr.left, expr.right)))
        if not isinstance(expr, f.Call):
            return False
        maker = expr.function
        return maker.id in self.makers if isinstance(maker, f.Name) else last_word(maker) in self.compositions

    def _is_part(self, expr: f.Expr) -> bool:
        """Whether an expression is a signature, or several of them."""
        return self._builds(expr) or (isinstance(expr, f.Call) and last_word(expr.function) in self.signatures)


def _any_of(words: Iterable[str]) -> str:
    return r"\b(?:" + "|".join(map(re.escape, words)) + r")\b"


def callers(linker: Linker, function: str, name: str) -> list[FunctionInfo]:
    """Functions that are found to call `function` when they are linked."""
    pattern = re.compile(rf"\b{re.escape(name)}\s*\(|\b{re.escape(name)}\s*[,)]")
    return _reaching(linker, function, name, pattern, lambda call: _calls(call, name))


def savers(linker: Linker, function: str, model: str) -> list[FunctionInfo]:
    """Functions that are found to save rows of a model whose signal `function` receives."""
    title = model.rpartition(":")[2]
    pattern = re.compile(rf"\b{re.escape(title)}\b[\s\S]*(?:create|save|delete)\s*\(")
    return _reaching(linker, function, title, pattern, lambda call: isinstance(call.function, f.Attribute))


def _reaching(
    linker: Linker, function: str, name: str, pattern: re.Pattern[str], likely: Callable[[f.Call], bool]
) -> list[FunctionInfo]:
    """Functions in pieces that hold a name and fit a pattern, of which linking shows that they reach `function`."""
    held = (
        (module, index)
        for source in linker.project.mentioning([name])
        if is_production(source.path)
        for module in (linker.modules.load(source),)
        for index in module.holding(name)
        if module.pieces[index].defines is not None and pattern.search(module.pieces[index].text)
    )
    # One more than may be: the files behind it need not be read.
    places = list(islice(held, CROWD + 1))
    if len(places) > CROWD:
        return []
    candidates = [
        function_info(linker, module, index, fact, cls)
        for module, index in places
        for fact, cls in functions_in(module.statements(index))
        if any(likely(call) for call in calls_in(fact.body))
    ]
    found: list[FunctionInfo] = []
    for info in candidates:
        if info.id == function:
            continue
        body = linker.link(info, receiver_of(info))
        if body is not None and any(reached == function for reached in reached_functions(linker, body)):
            found.append(info)
    return found


def _calls(call: f.Call, name: str) -> bool:
    function = call.function
    return (
        function.id if isinstance(function, f.Name) else function.name if isinstance(function, f.Attribute) else ""
    ) == name


def reached_functions(linker: Linker, body: Body) -> Iterator[str]:
    """Functions that a body calls itself."""
    for target in body.reached:
        if isinstance(target, ProjectCall):
            yield linker.bodies[target.body].function
        elif isinstance(target, DataCall):
            yield from (linker.bodies[key].function for key in target.entered)


def sends_now(body: Body) -> bool:
    """Whether a function sends a task at once, so that the transaction of a caller matters."""
    return any(
        isinstance(target, EnqueueCall) and target.does == "enqueue" and target.commit != "deferred"
        for target in body.reached
    )


_OPENS = frozenset({"transaction", "session", "session-begin", "begin"})


def holds_transaction(linker: Linker, body: Body) -> bool:
    """Whether a function opens a transaction itself, or calls a project's own wrapper around one."""
    for target in (*body.reached, *(context for context, _ in body.contexts)):
        if isinstance(target, LibraryCall) and linker.catalog.role(target.path) in _OPENS:
            return True
        if isinstance(target, ProjectCall):
            inner = linker.bodies[target.body]
            if inner.is_generator and holds_transaction(linker, inner):
                return True
    return False
