"""Tasks while their declarations are still being gathered: what each is named, is told and runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from idemlint.catalog.rows import Companion
from idemlint.link.values import Known, Value
from idemlint.link.within import calls_in
from idemlint.program import (
    ClassType,
    Intake,
    LibraryInstance,
    Option,
    PartialType,
    RoutineType,
    SignatureType,
    Site,
    TaskType,
    Type,
)
from idemlint.syntax import facts as f

if TYPE_CHECKING:
    from idemlint.link.linker import Linker
    from idemlint.link.modules import Module
    from idemlint.link.reading import Reading

TASK_PREFIX = "task:"
"""Starts the path of what a running task is handed (`task:celery.request.id`), so that no module can have it."""


@dataclass(frozen=True, slots=True)
class Attached:
    """A function that a message has run beside the task, and the row of the catalog that says how."""

    row: Companion
    routine: RoutineType


@dataclass(frozen=True, slots=True)
class Draft:
    """A task as its declaration says it: `function` is the id of the `def`, `routine` what the worker calls, `base` the
    project class it is an instance of, `declared` the decorator, `app` the app whose method that is. `commit` is
    "deferred" for a task that is always sent on commit. `referred` marks one that nothing declares: it is a task by
    being handed to something at `declared`, the first of these places, or the first that is `told` how to deliver it.
    `library` are the library classes that it is an instance of, `workers` the apps that run it where several do.
    `intake` is how it comes by its messages where no framework brings them, `given` what is known of the arguments it
    is then called with. `attached` is what messages have run beside it."""

    function: str
    framework: str
    path: str
    routine: RoutineType
    options: tuple[Option, ...]
    declared: Site
    base: str | None = None
    app: str | None = None
    commit: str = "now"
    referred: bool = False
    told: bool = False
    library: tuple[str, ...] = ()
    workers: tuple[str, ...] = ()
    intake: Intake | None = None
    given: tuple[tuple[str, Type], ...] = ()
    attached: tuple[Attached, ...] = ()

    @property
    def apps(self) -> tuple[str, ...]:
        """The apps whose settings hold for it."""
        return self.workers or ((self.app,) if self.app is not None else ())

    @property
    def place(self) -> tuple[str, int, int]:
        """Where it is declared, for an order that does not hang on who was read first."""
        return (self.declared.path, self.declared.piece, self.declared.at)

    def having(self, options: tuple[Option, ...], declared: Site) -> Draft:
        return replace(self, options=options, declared=declared)

    def option(self, name: str) -> Option | None:
        """The first, and so the winning, option of this name."""
        return next((option for option in self.options if option.name == name), None)


def refer(linker: Linker, draft: Draft) -> None:
    """A function is a task by being handed to something; of several such places the first one counts, and all say
    how it is delivered."""
    known = linker.drafts.get(draft.function)
    if known is None:
        linker.drafts[draft.function] = draft
    elif known.referred and (not draft.told, draft.place) < (not known.told, known.place):
        linker.drafts[draft.function] = replace(draft, options=known.options)
    note(linker, draft.function, draft.options)


def note(linker: Linker, task: str, options: Iterable[Option]) -> None:
    """Keep options that something beside its declaration gives a task, in the order of the code."""
    draft = linker.drafts[task]
    have = {(option.name, option.site) for option in draft.options}
    fresh = [option for option in options if (option.name, option.site) not in have]
    if fresh:
        own = [option for option in draft.options if option.source != "message"]
        sent = [option for option in (*draft.options, *fresh) if option.source == "message"]
        sent.sort(key=lambda option: (option.site.path, option.site.piece, option.site.at))
        own.extend(option for option in fresh if option.source != "message")
        linker.drafts[task] = replace(draft, options=(*own, *sent))


def valued(option: Option, value: Value) -> Option:
    """An option with what it is worth, or the reason why that is not known."""
    if isinstance(value, Known):
        return replace(option, value=value.value, known=True, environment=value.environment)
    return replace(option, value=value.made, reason=value.reason, environment=value.environment)


def attach(linker: Linker, task: str, attached: Iterable[Attached]) -> None:
    """Keep what a message has run beside a task."""
    draft = linker.drafts[task]
    fresh = [each for each in attached if each not in draft.attached]
    if fresh:
        linker.drafts[task] = replace(draft, attached=(*draft.attached, *fresh))


def class_options(linker: Linker, cls: str, inside: str = "") -> list[Option]:
    """The attributes of a class as options, nearest class first; with `inside`, those of that class within it."""
    if inside:
        member = linker.class_member(cls, inside)
        inner = linker.member_type(*member) if member is not None else None
        return class_options(linker, inner.name) if isinstance(inner, ClassType) else []
    found: list[Option] = []
    for info in linker.classes.order(cls)[0]:
        for name, bindings in sorted(info.members.items()):
            fact = bindings[-1].fact
            if isinstance(fact, f.Assign) and fact.value is not None:
                site = Site(info.module.file.path, info.piece, fact.value.at)
                found.append(Option(name, fact.value, info.module.id, site, "base class"))
    return found


def task_routine(linker: Linker, draft: Draft) -> RoutineType:
    """What the worker calls, with the task itself as receiver where the framework hands it over."""
    if draft.routine.receiver is not None:
        return draft.routine
    if bound(linker, draft):
        return replace(draft.routine, receiver=TaskType(draft.function))
    if _asks(linker, draft, linker.catalog.framework(draft.framework).context):
        return replace(draft.routine, receiver=LibraryInstance(f"{TASK_PREFIX}{draft.framework}"))
    return draft.routine


def bound(linker: Linker, draft: Draft) -> bool:
    """Whether the worker hands the task itself over as first parameter."""
    return _asks(linker, draft, linker.catalog.framework(draft.framework).bound)


def _asks(linker: Linker, draft: Draft, rule: str) -> bool:
    if rule in ("", "always"):
        return rule == "always"
    option = draft.option(rule)
    return option is not None and isinstance(option.expression, f.Constant) and option.expression.value is True


def task_named(linker: Linker, expr: f.Expr, walk: Reading) -> str | None:
    """The task that an expression names: the object, its function, a signature, or its name as a string."""
    kind = walk.evaluate(expr)
    if isinstance(kind, TaskType | SignatureType):
        return kind.task
    if isinstance(kind, RoutineType) and linker.origin(kind) in linker.drafts:
        return linker.origin(kind)
    if isinstance(expr, f.Constant) and isinstance(expr.value, str):
        return by_name(linker, expr.value)
    return None


def by_name(linker: Linker, name: str) -> str | None:
    """The task with this name in the queue, or at this dotted path."""
    for function, draft in sorted(linker.drafts.items()):
        if task_name(linker, draft) == name:
            return function
    kind = linker.at_path(name)
    if isinstance(kind, RoutineType) and linker.origin(kind) in linker.drafts:
        return linker.origin(kind)
    return kind.task if isinstance(kind, TaskType) else None


def task_name(linker: Linker, draft: Draft) -> str:
    """The name the task has in the queue."""
    row, cls = linker.catalog.declares(draft.path), linker.catalog.task_base(draft.path)
    names = [slot.name for slot in row.name if slot.name is not None] if row is not None else ["name"]
    if cls is not None:
        names = [cls.name]
    for name in names:
        option = draft.option(name)
        given = option.expression if option is not None else None
        if isinstance(given, f.Constant) and isinstance(given.value, str):
            return given.value
    module, _, function = draft.function.partition(":")
    if cls is not None:
        function = function.rpartition(".")[0]
    return linker.catalog.framework(draft.framework).naming.format(module=module, function=function)


def declaring_wrapper(linker: Linker, kind: RoutineType | PartialType) -> str | None:
    """The declaring call that a project's own decorator hides: somewhere in it an object nobody can resolve is
    asked to make a task of a function (`scanner.config.registry["celery.app"].task(**kw)(wrapped)`)."""
    target = kind.target if isinstance(kind, PartialType) else kind
    if not isinstance(target, RoutineType):
        return None
    info = linker.functions[target.function.partition(".<lambda")[0]]
    outermost = linker.functions.get(info.id.partition(":")[0] + ":" + info.id.partition(":")[2].split(".")[0], info)
    for call in calls_in(outermost.fact.body):
        inner = call.function
        if isinstance(inner, f.Call) and isinstance(inner.function, f.Attribute) and len(call.arguments) == 1:
            for path in _declaring(linker, inner.function.name):
                if mentions(linker, info.module, path.partition(".")[0]):
                    return path
    return None


def _declaring(linker: Linker, name: str) -> list[str]:
    """The declaring calls of all frameworks whose last word is `name`, one for each framework."""
    found: list[str] = []
    for framework in linker.frameworks:
        calls = [call for row in framework.declares for call in row.calls if call.rpartition(".")[2] == name]
        found.extend(calls[:1])
    return found


def mentions(linker: Linker, module: Module, library: str) -> bool:
    """Whether a module imports a library."""
    return any(
        isinstance(statement, f.Import) and statement.module.partition(".")[0] == library
        for _, body in module.loose_pieces()
        for statement in body
    )
