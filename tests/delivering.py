"""How a task is delivered that has these options under these settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from idemlint.catalog import load
from idemlint.delivery import Delivery, RetryCall, deliver
from idemlint.engine import deliveries
from idemlint.link import link
from idemlint.link.values import Known, Made, Unknown, Value
from idemlint.program import Option, Program, Setting, Site, Task
from idemlint.project import discover
from idemlint.summarize import summarize
from idemlint.syntax import facts as f

DECORATOR = Site("shop/tasks.py", 3, 1)
CONFIG = Site("shop/settings.py", 2, 5)


def made(path: str, *arguments: object, **keywords: object) -> Unknown:
    """What a call of something in a library gave, as a value."""
    positional = tuple((f"#{index}", plain(each)) for index, each in enumerate(arguments))
    named = tuple((name, plain(each)) for name, each in keywords.items())
    return Unknown(f"what {path}() gives is not known", made=Made(path, (*positional, *named)))


def plain(value: object) -> object:
    return value.value if isinstance(value, Known) else value


def delivered(
    framework: str,
    options: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
    *,
    version: tuple[int, ...] | None = None,
    retried: tuple[RetryCall, ...] = (),
    swallows: bool = False,
) -> Delivery:
    """Values that are no `Known` or `Unknown` are known."""
    values: dict[str, Value] = {name: lifted(value) for name, value in (options or {}).items()}
    task = Task(
        id="shop.tasks:charge",
        name="shop.tasks.charge",
        framework=framework,
        body="shop.tasks:charge",
        function="charge",
        site=Site("shop/tasks.py", 3, 0),
        declared=DECORATOR,
        options=tuple(
            Option(name, f.Name(index, name), "shop.tasks", Site("shop/tasks.py", 3, 10 + index), "decorator")
            for index, name in enumerate(values)
        ),
    )
    found = tuple(setting(framework, name, value) for name, value in (settings or {}).items())
    return deliver(task, found, lambda option: values[option.name], version, retried, swallows)


def lifted(value: object) -> Value:
    return value if isinstance(value, Known | Unknown) else Known(value)


def setting(framework: str, name: str, value: object) -> Setting:
    worth = lifted(value)
    known = isinstance(worth, Known)
    held = worth.value if isinstance(worth, Known) else worth.made or worth.start or None
    reason = worth.reason if isinstance(worth, Unknown) else ""
    return Setting(name, name, held, known, CONFIG, reason, framework, None, worth.environment)


def causes(delivery: Delivery) -> str:
    """The kinds of the causes, with how often at most (`*`: without end)."""
    return " ".join(
        cause.kind + ("*" if cause.endless else f"={cause.again}" if cause.again is not None else "")
        for cause in delivery.causes
    )


def waits(delivery: Delivery) -> list[tuple[str, str]]:
    """The first and the longest wait of each retry."""
    return [(str(retry.delay), str(retry.longest)) for retry in delivery.retries]


def linked(folder: Path) -> tuple[Program, dict[str, Delivery]]:
    """A project, and how its tasks are delivered, by their ids."""
    catalog = load()
    program = link(discover([folder], isolated=True), catalog)
    runs = summarize(program, catalog)
    return program, deliveries(program, runs, catalog)
