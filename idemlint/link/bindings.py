"""What names at the top of modules and classes are bound to, after each statement that changes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from idemlint.link import calculation
from idemlint.link.calculation import Arguments
from idemlint.link.history import Change, Condition, ImportFailed, Position, Test, changes, flatten
from idemlint.link.modules import Module
from idemlint.link.names import Definition, Found, Names
from idemlint.link.values import Known, Reference, Unknown, Value, joined, member, operation, replaced, sequence_of
from idemlint.program import LibraryType, ModuleType, Site
from idemlint.project import SourceFile
from idemlint.syntax import facts as f

Local: TypeAlias = Mapping[str, f.Expr | Value]

# A worker is never a type checker.
_FALSE_AT_RUN_TIME = frozenset({"typing.TYPE_CHECKING", "typing_extensions.TYPE_CHECKING"})

# No question is worth more steps than this, whatever web of imports it leads into.
_STEPS = 20_000


@dataclass(frozen=True, slots=True)
class State:
    """What a name is bound to, and the statement that bound or changed it last."""

    value: Value
    site: Site | None = None


@dataclass(frozen=True, slots=True)
class Space:
    """A module, or a class of it by its qualified name."""

    module: Module
    cls: str = ""

    @property
    def key(self) -> str:
        """Equal for equal spaces, and for them alone."""
        return f"{self.module.file.path}:{self.cls}"

    def id(self, name: str) -> str:
        """The id of a function or class defined here."""
        return f"{self.module.id}:{self.cls}.{name}" if self.cls else f"{self.module.id}:{name}"


@dataclass(frozen=True, slots=True)
class Scope:
    """Where an expression stands: the names it can see, and up to which statement they have been bound."""

    space: Space
    until: Position | None = None
    local: Local = field(default_factory=dict)


class Evaluator(Protocol):
    """Names are bound to what expressions are worth, which hold names: this is who is asked for the other half."""

    def value(self, expr: f.Expr, scope: Scope) -> Value:
        """What an expression is worth."""

    def truth(self, expr: f.Expr, scope: Scope) -> bool | str:
        """Whether a test passes, or why that cannot be told."""

    def arguments(self, call: f.Call, scope: Scope) -> Arguments:
        """What the arguments of a call are worth."""


class Bindings:
    """Answers what names are bound to. `cut` is set where an answer was cut short: by a name that is made from itself,
    or for want of steps."""

    def __init__(self, names: Names, evaluator: Evaluator) -> None:
        self.names = names
        self.functions: dict[str, tuple[Module, f.Function]] = {}
        self.cut = False
        self.steps = 0
        self._evaluator = evaluator
        self._classes: dict[str, tuple[Module, f.Class, int]] = {}
        self._histories: dict[str, dict[str, tuple[Change, ...]]] = {}
        self._events: dict[tuple[str, str], tuple[Change, ...]] = {}
        self._names: dict[str, frozenset[str]] = {}
        self._states: dict[tuple[str, str, int], State | None] = {}
        self._active: set[tuple[str, str, int]] = set()

    def step(self) -> bool:
        """Take one step more; False when there are none left."""
        self.steps += 1
        self.cut = self.cut or self.steps > _STEPS
        return self.steps <= _STEPS

    def forget(self) -> None:
        """Ask anew from here on: something that answers were made of has changed."""
        self._states.clear()

    def state(self, space: Space, name: str, until: Position | None = None, by_star: bool = False) -> State | None:
        """What a name is bound to before the statement at `until`, or in the end; None if it is not.

        `by_star` says that a star import asks, which takes nothing from a module that is itself still being read.
        """
        events = [change for change in self._changes(space, name) if until is None or change.placed.position < until]
        key = (space.key, name, len(events))
        if key in self._states:
            return self._states[key]
        if not self.step() or key in self._active:
            self.cut = True
            return None if by_star else State(Unknown(f"{name} is made from itself"))
        cut, self.cut = self.cut, False
        self._active.add(key)
        try:
            state: State | None = None
            for change in events:
                state = self._after(state, change, space, name)
        finally:
            self._active.discard(key)
        # What comes of an unfinished answer holds for the question at hand only.
        if not self.cut or not self._active:
            self._states[key] = state
        self.cut = cut or (self.cut and bool(self._active))
        return state

    def holds(self, conditions: tuple[Condition, ...], space: Space) -> bool | str:
        """Whether a statement runs that hangs on these conditions, or why that cannot be told."""
        reason = ""
        for condition in conditions:
            match condition:
                case Test(expression, wanted, position):
                    passes = self._evaluator.truth(expression, Scope(space, position))
                    if passes is (not wanted):
                        return False
                    reason = reason or (passes if isinstance(passes, str) else "")
                case ImportFailed(imports):
                    found = [self.names.imported(space.module, statement) for statement in imports]
                    if not any(isinstance(each, LibraryType) for each in found):
                        return False
                    reason = reason or "an import may fail"
                case _:
                    reason = reason or condition.reason
        return reason or True

    def attribute(self, owner: Reference, name: str, near: str) -> State | None:
        """What an attribute of a module or class of the project is bound to in the end."""
        if owner.kind == "class":
            return next(filter(None, (self.state(space, name) for space in self.line(owner))), None)
        if owner.kind != "module":
            return None
        module = self.names.modules.identified(owner.path)
        state = self.state(Space(module), name) if module else None
        if state is not None:
            return state
        found = self.names.attribute(ModuleType(owner.path), name, near)
        return State(self.found(found)) if found is not None else None

    def line(self, owner: Reference, seen: frozenset[str] = frozenset()) -> Iterator[Space]:
        """A class and its bases in the project, nearest first."""
        if owner.path in seen or not self._is_class(owner.path):
            return
        yield Space(self._classes[owner.path][0], owner.path.partition(":")[2])
        for base in self.bases(owner):
            yield from self.line(base, seen | {owner.path})

    def bases(self, owner: Reference) -> list[Reference]:
        """The classes that a class of the project names as its bases, where they are known."""
        module, fact, _ = self._classes[owner.path]
        values = [self._evaluator.value(base, Scope(Space(module))) for base in fact.bases]
        return [value.value for value in values if isinstance(value, Known) and isinstance(value.value, Reference)]

    def defined(self, space: Space, name: str) -> Iterator[f.Statement]:
        """The statements of a module or class that bind or change the name."""
        return (change.placed.statement for change in self._changes(space, name))

    def names_of(self, space: Space) -> set[str]:
        """The names that a module or class binds by itself."""
        own = set(self._history(space)) - {"*"}
        return own if space.cls else own | set(space.module.definitions())

    def names_in(self, module: Module) -> frozenset[str]:
        """The names that a module binds by itself or through star imports."""
        path = module.file.path
        if path not in self._names:
            found: set[str] = set()
            waiting, seen = [module], {path}
            while waiting:
                current = waiting.pop()
                names = self.names_of(Space(current))
                found.update(name for name in names if current is module or not name.startswith("_"))
                for star in current.star_imports():
                    source = self.names.modules.imported(current, star)
                    if isinstance(source, SourceFile) and source.path not in seen:
                        seen.add(source.path)
                        waiting.append(self.names.modules.load(source))
            self._names[path] = frozenset(found)
        return self._names[path]

    def found(self, found: Found | None) -> Value:
        """What a name that was looked up is worth."""
        match found:
            case Definition(module, binding):
                state = self.state(Space(module), binding.name)
                return state.value if state else Unknown(f"{binding.name} is not set in {module.file.path}")
            case ModuleType(name):
                return Known(Reference(name, "module"))
            case LibraryType(path):
                return Known(False) if path in _FALSE_AT_RUN_TIME else Known(Reference(path))
        return Unknown("what is imported is not found")

    def _is_class(self, id: str) -> bool:
        """Whether the id is that of a class, which is looked up if nobody named it yet."""
        identity, _, qualified = id.partition(":")
        module = self.names.modules.identified(identity)
        if id not in self._classes and module is not None:
            space = Space(module)
            for part in qualified.split("."):
                if self.state(space, part) is None or space.id(part) not in self._classes:
                    break
                space = Space(module, f"{space.cls}.{part}".lstrip("."))
        return id in self._classes

    # --- The statements that change a name

    def _history(self, space: Space) -> Mapping[str, tuple[Change, ...]]:
        """The changes of every name, but for the functions and classes at the top of a module, which are parsed only
        when they are asked for."""
        if space.key not in self._histories:
            if space.cls:
                _, fact, piece = self._classes[f"{space.module.id}:{space.cls}"]
                statements = flatten(fact.body, piece)
            else:
                pieces = space.module.loose_pieces()
                statements = (placed for piece, body in pieces for placed in flatten(body, piece))
            self._histories[space.key] = changes(statements)
        return self._histories[space.key]

    def _changes(self, space: Space, name: str) -> tuple[Change, ...]:
        key = (space.key, name)
        if key not in self._events:
            history = self._history(space)
            found = [*history.get(name, ()), *history.get("*", ())]
            for piece in () if space.cls else space.module.definitions().get(name, ()):
                found.extend(changes(flatten(space.module.statements(piece), piece)).get(name, ()))
            self._events[key] = tuple(sorted(found, key=lambda change: change.placed.position))
        return self._events[key]

    def _after(self, state: State | None, change: Change, space: Space, name: str) -> State | None:
        """What the name is bound to after a statement, which may not run."""
        held = self.holds(change.placed.conditions, space)
        if held is False:
            return state
        after = self._changed(state, change, space, name)
        if held is True or after == state:
            return after
        prefix = f"{name} is set under a condition: "
        # A chain of conditions, each on the outcome of the last, hangs on the first.
        reason = f"{prefix}{held.removeprefix(prefix)}"
        before = state.value if state else Unknown(reason)
        return State(joined(before, after.value if after else Unknown(reason), reason), after.site if after else None)

    def _changed(self, state: State | None, change: Change, space: Space, name: str) -> State | None:
        """What the name is bound to after a statement that runs."""
        scope = Scope(space, change.placed.position)
        piece, statement = change.placed.piece, change.placed.statement
        site = Site(space.module.file.path, piece, statement.at)
        match statement:
            case f.Import(name="*"):
                return self._starred(state, statement, space, name)
            case f.Import():
                return self._imported(statement, space, site)
            case f.Function():
                self.functions[space.id(name)] = (space.module, statement)
                return State(Known(Reference(space.id(name), "function")), site)
            case f.Class():
                self._classes[space.id(name)] = (space.module, statement, piece)
                return State(Known(Reference(space.id(name), "class")), site)
            case f.Delete():
                return self._deleted(state, change, scope, site)
            case f.Assign(value=value) if value is not None:
                new = self._evaluator.value(value, scope)
                return self._stored(state, change, _element(new, change.element), scope, site)
            case f.Augment(operator=sign, value=value):
                new = _augmented(sign, self._held(state, change, scope), self._evaluator.value(value, scope))
                return self._stored(state, change, new, scope, site)
            case f.Evaluate(value=f.Call(function=f.Attribute(name=method)) as call) if state is not None:
                old = self._held(state, change, scope)
                new = calculation.changed(old, method, self._evaluator.arguments(call, scope))
                return state if new is old else self._stored(state, change, new, scope, site)
        return state

    def _held(self, state: State | None, change: Change, scope: Scope) -> Value:
        """What stands at the place that a statement changes."""
        held = state.value if state else Unknown(f"{change.name} is not set before")
        for key in change.keys:
            inner = member(held, self._evaluator.value(key, scope))
            held = inner if inner is not None else Unknown("not set before")
        return held

    def _stored(self, state: State | None, change: Change, value: Value, scope: Scope, site: Site) -> State | None:
        if not change.keys:
            return State(value, site)
        if state is None:
            return None
        keys = tuple(self._evaluator.value(key, scope) for key in change.keys)
        return State(replaced(state.value, keys, value), site)

    def _deleted(self, state: State | None, change: Change, scope: Scope, site: Site) -> State | None:
        if not change.keys or state is None:
            return None
        if len(change.keys) > 1:
            return State(Unknown(f"a part of {change.name} is deleted"), site)
        return State(calculation.removed(state.value, self._evaluator.value(change.keys[0], scope)), site)

    def _starred(self, state: State | None, star: f.Import, space: Space, name: str) -> State | None:
        source = self.names.modules.imported(space.module, star)
        if not isinstance(source, SourceFile) or name.startswith("_"):
            return state
        module = self.names.modules.load(source)
        if name not in self.names_in(module):
            return state
        return self.state(Space(module), name, by_star=True) or state

    def _imported(self, statement: f.Import, space: Space, site: Site) -> State:
        source = self.names.modules.imported(space.module, statement)
        if statement.name is not None and isinstance(source, SourceFile):
            found = self.state(Space(self.names.modules.load(source)), statement.name)
            if found is not None:
                return found
        return State(self.found(self.names.imported(space.module, statement)), site)


def _element(value: Value, element: int | None) -> Value:
    """The part of a value that a name takes when it is unpacked."""
    if element is None:
        return value
    found = member(value, Known(element)) if element >= 0 else Unknown("what is unpacked into it is not worked out")
    return found if found is not None else Unknown("nothing is unpacked into it")


def _augmented(sign: str, old: Value, new: Value) -> Value:
    """What `old sign= new` leaves; a list takes items of any kind of sequence."""
    if sign == "+" and isinstance(old, Known) and isinstance(old.value, list):
        return sequence_of("list", [(True, old), (True, new)])
    return operation(sign, old, new)
