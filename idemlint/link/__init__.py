"""Facts -> Program, pulled outward from the entry points."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from idemlint.catalog import Catalog
from idemlint.catalog.settings import REQUEST_TRANSACTION
from idemlint.link.companions import companion_roots, companions, link_companion
from idemlint.link.consumers import find_consumers
from idemlint.link.drafts import Attached, Draft, bound, task_name, task_routine, valued
from idemlint.link.entries import (
    LEVELS,
    callers,
    find_senders,
    find_tasks,
    holds_transaction,
    receiver_of,
    savers,
    sends_now,
)
from idemlint.link.handlers import find_handlers
from idemlint.link.indexes import find_indexes
from idemlint.link.linker import FunctionInfo, Linker
from idemlint.link.models import related_names
from idemlint.link.modules import Module
from idemlint.link.production import is_production
from idemlint.link.queues import queue_options
from idemlint.link.references import find_references
from idemlint.link.schema import read_database
from idemlint.link.settings import framework_settings
from idemlint.link.settings_modules import SettingsModules
from idemlint.link.signals import receivers, receiving
from idemlint.link.unread import unread
from idemlint.link.values import Known, lifted
from idemlint.link.versions import framework_versions
from idemlint.link.walk import Walk
from idemlint.link.wrappers import wrappers
from idemlint.program import SPREAD, Body, Option, Program, Root, Site, Task
from idemlint.progress import Progress, silent, told
from idemlint.project import Project
from idemlint.syntax import facts as f
from idemlint.syntax.reader import READER, Reader
from idemlint.syntax.split import Piece

SMALL = 8
"""A model with more columns is no journal, so nobody asks whether it is purged."""


def link(
    project: Project,
    catalog: Catalog,
    settings_module: str | None = None,
    progress: Progress = silent,
    reader: Reader = READER,
) -> Program:
    """The program as far as the entry points reach; what cannot be read or resolved is in the result.

    `settings_module` is the dotted name of the Django settings in force, where the user has said it. `reader`
    makes facts of their text.
    """
    linker = Linker(project, catalog, Walk, reader)
    # Settings first: options such as `time_limit=settings.LIMIT` are answered from them.
    settings = SettingsModules(linker.constants, settings_module)
    linker.receivers = receivers(linker)
    find_tasks(linker)
    find_references(linker)
    find_consumers(linker)
    find_handlers(linker)
    link_tasks(linker, progress)
    around = answers_in_transaction(settings)
    outer = outer_roots(linker, around is not None, progress)
    link_tasks(linker, progress)
    tasks = {
        draft.function: task(linker, draft) for draft in sorted(linker.drafts.values(), key=lambda each: each.place)
    }
    roots = [task_root(linker, linker.drafts[id], task) for id, task in tasks.items() if task.body]
    for id in tasks:
        roots.extend(companion_roots(linker, linker.drafts[id]))
    for info in outer:
        body = linker.link(info, receiver_of(info))
        if body is not None and info.id not in tasks:
            roots.append(Root(body.key, None, around if is_view(linker, info) else None))
    expiring = find_indexes(linker)
    database = read_database(linker)
    return Program(
        bodies=dict(linker.bodies),
        tasks=tasks,
        roots=tuple(dict.fromkeys(roots)),
        models=database.models,
        settings=(*framework_settings(linker.constants, settings), *queue_options(linker, settings)),
        versions=framework_versions(project, sorted(catalog.packages())),
        purged=purged(linker) | database.purged | expiring,
        modules=len(linker.modules.read()),
        unread=unread(linker.modules),
        related=related_names(database.models.values()),
    )


def link_tasks(linker: Linker, progress: Progress) -> None:
    """Link the bodies of the tasks known so far and of what runs beside them, and of those that they hand to a queue in
    turn."""
    done: dict[str, tuple[Attached, ...]] = {}
    while fresh := [draft for draft in linker.drafts.values() if done.get(draft.function) != draft.attached]:
        for draft in told(sorted(fresh, key=lambda each: each.place), "reading tasks", progress):
            done[draft.function] = draft.attached
            link_body(linker, draft)
            for attached in companions(linker, draft):
                link_companion(linker, draft, attached)


def link_body(linker: Linker, draft: Draft) -> Body | None:
    """What the worker runs."""
    routine = task_routine(linker, draft)
    return linker.link(linker.functions[routine.function], routine.receiver, draft.given, routine.captured)


def task_root(linker: Linker, draft: Draft, task: Task) -> Root:
    """A task as the analysis starts from it, with what its wrappers and its class put around it."""
    atomic = draft.declared if task_routine(linker, draft).within else None
    return Root(task.body, draft.function, atomic, wrappers(linker, draft.base))


def task(linker: Linker, draft: Draft) -> Task:
    """The task behind a declaration, its body linked."""
    info = linker.functions[draft.function]
    body = link_body(linker, draft)
    assert isinstance(info.fact, f.Function)
    return Task(
        id=draft.function,
        name=task_name(linker, draft),
        framework=draft.framework,
        body=body.key if body else "",
        function=draft.function.partition(":")[2],
        site=Site(info.module.file.path, info.piece, info.fact.name_at),
        declared=draft.declared,
        options=tuple(each for option in draft.options for each in members(linker, option)),
        # What the settings of several say differently is not known.
        app=draft.app if len(draft.apps) == 1 else None,
        bound=bound(linker, draft),
        library=draft.library,
        intake=draft.intake,
    )


def members(linker: Linker, option: Option) -> Iterator[Option]:
    """An option with its value worked out, or the reason why that cannot be done; for a dict that is spread, one for
    each member."""
    if option.known or option.reason:
        yield option
        return
    module = linker.modules.identified(option.module)
    assert module is not None
    value = linker.constants.evaluate(option.expression, module)
    if isinstance(value, Known) and option.name == SPREAD and isinstance(value.value, dict):
        for name, each in value.value.items():
            member = replace(option, name=name if isinstance(name, str) else SPREAD)
            yield valued(member, lifted(each, value.environment))
    else:
        yield valued(option, value)


def answers_in_transaction(settings: SettingsModules) -> Site | None:
    """The setting that puts every request into a transaction of its own."""
    found = settings.setting(REQUEST_TRANSACTION)
    return found.site if found.known and found.value is True else None


def is_view(linker: Linker, info: FunctionInfo) -> bool:
    """Whether a function answers a request, and is not taken out of the transaction around it."""
    names = [parameter.name for parameter in info.fact.parameters if parameter.name not in ("self", "cls")]
    if names[:1] != ["request"] or not isinstance(info.fact, f.Function):
        return False
    kinds = (linker.module_level(decorator, info.module) for decorator in info.fact.decorators)
    return not any(linker.catalog.role(getattr(kind, "path", "")) == "non-atomic" for kind in kinds)


def outer_roots(linker: Linker, views: bool, progress: Progress) -> list[FunctionInfo]:
    """Functions that send tasks or hook into a commit, and above them the callers that open a transaction; with `views`
    also those that answer one."""
    found: dict[str, FunctionInfo] = {}
    received = receiving(linker)
    for info in told(find_senders(linker), "reading who sends them", progress):
        found.setdefault(info.id, info)
        sender = linker.link(info, receiver_of(info))
        level = [info] if sender is not None and sends_now(sender) else []
        for _ in range(LEVELS if level else 0):
            above: list[FunctionInfo] = []
            for called in level:
                if isinstance(called.fact, f.Function):
                    above.extend(callers(linker, called.id, called.fact.name))
                for model in sorted(name for name in received.get(called.id, ()) if name is not None):
                    above.extend(savers(linker, called.id, model))
            for info_above in above:
                body = linker.link(info_above, receiver_of(info_above))
                if body is not None and (holds_transaction(linker, body) or (views and is_view(linker, info_above))):
                    found.setdefault(info_above.id, info_above)
            level = above
    return [found[id] for id in sorted(found)]


def purged(linker: Linker) -> frozenset[str]:
    """Models whose name stands near a delete anywhere in the project, be it in a command nobody links."""
    found: set[str] = set()
    for model in linker.models.known():
        near = re.compile(
            rf"\b{re.escape(model.title)}\b[^\n]*(?:\n[^\n]*){{0,6}}?(?:delete|purge|truncate|partition)", re.IGNORECASE
        )
        for source in linker.project.mentioning([model.title]) if len(model.fields) <= SMALL else ():
            if is_production(source.path) and purges(linker, linker.modules.load(source), near):
                found.add(model.name)
                break
    return frozenset(found)


def purges(linker: Linker, module: Module, near: re.Pattern[str]) -> bool:
    """Whether a pattern is met in a module, and not in functions alone that nobody mentions."""
    if not near.search(module.text):
        return False
    met = [piece for piece in module.pieces if near.search(piece.text)]
    return not met or not all(idle(linker, piece) for piece in met)


def idle(linker: Linker, piece: Piece) -> bool:
    """Whether a piece is a function without decorators whose name stands nowhere else."""
    name = piece.defines
    if name is None or not re.match(r"(?:async\s+)?def\b", piece.text):
        return False
    word = re.compile(rf"\b{re.escape(name)}\b")
    mentioned = (source for source in linker.project.mentioning([name]) if is_production(source.path))
    return sum(len(word.findall(linker.modules.load(source).text)) for source in mentioned) <= 1
