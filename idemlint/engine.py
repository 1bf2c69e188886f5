"""The pipeline, whole: files -> facts -> program -> summaries -> findings -> report."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace

from idemlint import checks
from idemlint.catalog import Catalog, load
from idemlint.checks import precedence
from idemlint.config import Config
from idemlint.delivery import Delivery, RetryCall, deliver, deliver_message, of_companion
from idemlint.diagnostic import Report, Summary
from idemlint.domain.effect import Effect
from idemlint.domain.journal import journals
from idemlint.domain.summary import Summary as Run
from idemlint.link import link
from idemlint.link.forecast import forecast, foreseen
from idemlint.link.values import Known, Made, Unknown
from idemlint.placing import Places, place
from idemlint.processes import Beside
from idemlint.program import Option, Program, Task
from idemlint.progress import Progress, silent
from idemlint.project import Project
from idemlint.replay import Finding, Replay
from idemlint.summarize import from_the_last, handling, summarize
from idemlint.suppression import suppress
from idemlint.syntax.reader import READER
from idemlint.unknown import unknown_calls

# Real code nests expressions a few hundred levels deep at the most; the walks recurse several frames a level.
_RECURSION = 20_000


def check(
    project: Project, config: Config, progress: Progress | None = None, *, unknown: bool = False, jobs: int = 1
) -> Report:
    """Everything the enabled rules say of a project, sorted; the caller filters what is shown. `unknown` asks for the
    calls most worth a row in a catalog. With two `jobs` another process helps, which changes nothing but the time.

    A crash in a rule is raised with the rule and the task named in a note.
    """
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _RECURSION))
    tell = progress or silent
    catalog = load(config.catalogs)
    with Beside(forecast(project, catalog)) if jobs > 1 else nullcontext() as beside:
        reader = foreseen(beside) if beside is not None else READER
        program = link(project, catalog, config.settings_module, tell, reader)
    with Beside(from_the_last(program, catalog)) if jobs > 1 else nullcontext() as beside:
        runs = summarize(program, catalog, tell, beside)
    found = findings(program, runs, catalog, config)
    places = Places(project)
    placed = place(found, program, places, {rule.name: rule.code for rule in checks.ALL})
    diagnostics = suppress(placed, project, config, checks.ALL, {path for path, *_ in program.unread})
    worth_a_row = unknown_calls(program, runs, places) if unknown else ()
    return Report(tuple(diagnostics), counted(program, runs), worth_a_row, catalog.own.replaced, partly(program, runs))


def findings(program: Program, runs: tuple[Run, ...], catalog: Catalog, config: Config) -> Iterator[Finding]:
    """What the rules say of each root, as far as precedence lets them."""
    delivered = deliveries(program, runs, catalog)
    reads: dict[str, frozenset[str]] = {}
    for run in runs:
        if run.root.task is not None:
            reads[run.root.task] = reads.get(run.root.task, frozenset()) | run.reads
    views = [
        Replay(
            program,
            catalog,
            run,
            task_of(program, run),
            delivery_beside(run, delivered),
            config.scope == "project",
            reads=reads,
        )
        for run in runs
    ]
    # Nobody is accused of sending a task for what it may do by a name, and may be kept from.
    harmful = frozenset(
        view.task.id
        for view in views
        if view.task is not None
        and any(not (effect.by_name and view.may_be_guarded(effect)) for effect in view.repeated())
    )
    views = [replace(view, harmful=harmful, deliveries=delivered) for view in views]
    unsafe = frozenset(view.task.id for view in views if view.task is not None and view.does_harm())
    keyed = carrying_keys(views)
    kept = journals(program.models, runs)
    for view in views:
        replay = replace(view, unsafe=unsafe, keyed=keyed, journals=kept)
        spoken = [finding for rule in checks.ALL if config.runs(rule.name) for finding in ask(rule, replay)]
        yield from precedence.choose(spoken, {effect.id: replay.stakes(effect) for effect in view.summary.effects})
    for rule in checks.ALL:
        if rule.of_program is not None and config.runs(rule.name):
            yield from rule.of_program(program)


def deliveries(program: Program, runs: tuple[Run, ...], catalog: Catalog) -> dict[str, Delivery]:
    """Why each task is delivered again, by its id."""
    own = [run for run in runs if run.root.task is not None and run.root.companion is None]
    return {run.root.task or "": delivery_of(program, run, catalog) for run in own}


def task_of(program: Program, run: Run) -> Task | None:
    """The task that a run belongs to, for what runs beside it in the place of that."""
    task = program.tasks[run.root.task] if run.root.task is not None else None
    if task is None or run.root.companion is None:
        return task
    site = run.root.companion.site
    return replace(task, site=site, declared=site, options=(), library=())


def delivery_beside(run: Run, delivered: dict[str, Delivery]) -> Delivery | None:
    """Why the task of a run is delivered again, or what runs beside it."""
    delivery = delivered.get(run.root.task or "")
    if delivery is None or run.root.companion is None:
        return delivery
    return of_companion(delivery, run.root.companion.again)


def carrying_keys(views: list[Replay]) -> tuple[tuple[str, Effect], ...]:
    """Calls of all tasks that carry a key, in the order of the code."""
    found = [
        (view.task.id, effect)
        for view in views
        if view.task is not None
        for effect in view.summary.effects
        if effect.key is not None
    ]
    return tuple(sorted(found, key=lambda pair: pair[1].site))


def delivery_of(program: Program, run: Run, catalog: Catalog) -> Delivery:
    """Why and when the task of a run is delivered again."""
    assert run.root.task is not None
    task = program.tasks[run.root.task]
    if task.intake is not None:
        return deliver_message(task, task.intake, worth, handling(run, task.intake, catalog))
    retried = tuple(
        RetryCall(
            effect.site,
            effect.handling,
            {
                name: Known(value.literal[0]) if value.literal is not None else Unknown("worked out in the task")
                for name, value in effect.arguments
            },
            effect.path,
        )
        for effect in run.effects
        if effect.kind == "retry"
    )
    return deliver(task, program.settings, worth, program.versions.get(task.framework), retried, run.swallows)


def worth(option: Option) -> Known | Unknown:
    """What an option is worth, as delivery asks it."""
    if option.known:
        return Known(option.value, option.environment)
    made = option.value if isinstance(option.value, Made) else None
    return Unknown(option.reason, environment=option.environment, made=made)


def ask(rule: checks.Rule, replay: Replay) -> list[Finding]:
    """The findings of one rule on one root."""
    try:
        return list(rule.check(replay))
    except Exception as error:
        error.add_note(f"rule {rule.name}, {replay.task.name if replay.task else replay.summary.root.body}")
        raise


def counted(program: Program, runs: tuple[Run, ...]) -> Summary:
    """What was looked at."""
    unresolved = {site for run in runs for site, _ in run.unresolved}
    return Summary(
        tasks=len(program.tasks),
        modules=program.modules,
        calls=sum(run.calls for run in runs),
        unresolved_calls=len(unresolved),
        unread_files=len({path for path, *_ in program.unread}),
    )


def partly(program: Program, runs: tuple[Run, ...]) -> tuple[str, ...]:
    """The names of the tasks that reached the bounds of a walk, so that more may be wrong with them than was found."""
    # What runs beside a task has a run of its own, under the same name.
    cut = {run.root.task for run in runs if run.capped and run.root.task is not None}
    return tuple(sorted(program.tasks[task].name for task in cut))
