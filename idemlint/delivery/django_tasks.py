"""Django's own tasks: the core knows no retry, and what a message's fate is the backend decides.

After django/tasks of 6.0 and 6.1, django_tasks of 0.8 to 0.12, django_tasks_db of 0.13, django_tasks_rq of 0.12 and
huey/contrib/djhuey/tasks_backend.py of 3.5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from idemlint.delivery.cause import Delivery, RetryCall
from idemlint.delivery.reader import Reader, once
from idemlint.delivery.said import Said
from idemlint.diagnostic import Severity
from idemlint.link.values import Known, Unknown, Value
from idemlint.program import Option, Setting, Task

FRAMEWORK = "django-tasks"

_AT_ONCE = ("ImmediateBackend", "DummyBackend")
_IN_DATABASE = "DatabaseBackend"
_ONCE = {
    _IN_DATABASE: "a task whose worker dies stays RUNNING: only one enqueued twice runs again",
    "RQBackend": "the backend asks for no retries: only a task enqueued twice runs again",
    "HueyBackend": "the task leaves the queue before it runs: only one enqueued twice runs again",
}


def deliver(
    task: Task,
    settings: Sequence[Setting],
    evaluate: Callable[[Option], Value],
    version: tuple[int, ...] | None = None,
    retried: Sequence[RetryCall] = (),
    swallows: bool = False,
) -> Delivery:
    """Why and when the task runs again; arguments as for `delivery.deliver`."""
    reader = Reader(task, settings, evaluate, version, retried, swallows)
    alias = reader.option("backend").value
    name = str(alias.value) if isinstance(alias, Known) and alias.value else "default"
    said = reader.setting(f"TASKS.{name}")
    backend = _backend(said)
    backends = reader.setting("TASKS").value
    if isinstance(backends, Unknown) and not said.written:
        return reader.delivery([once("a queue may hand out a message twice")], Severity.WARNING)
    if backend in _AT_ONCE or not said.written:
        text = "no backend with a queue is set: the task runs where it is called"
        return reader.delivery([once(text, said)], Severity.NOTE, broker=backend)
    if backend in _ONCE:
        return reader.delivery([once(_ONCE[backend], said)], Severity.NOTE, late=False, broker=backend)
    reader.unknown[f"{backend or said.written}: how this backend delivers is not known"] = None
    return reader.delivery([once("a queue may hand out a message twice", said)], Severity.WARNING, broker=backend)


def _backend(said: Said) -> str:
    """The last word of a backend's class; empty if it is not known."""
    held = said.value.value if isinstance(said.value, Known) else None
    path = held.get("BACKEND") if isinstance(held, dict) else None
    return path.rpartition(".")[2] if isinstance(path, str) else ""


def on_commit(settings: Mapping[str, Setting], versions: Mapping[str, tuple[int, ...]]) -> bool | None:
    """Whether nobody runs a task before the transaction that enqueues it commits; None if that is not known."""
    found = settings.get("TASKS.default")
    if found is None or not found.known:
        return None
    backend = _backend(Said(Known(found.value)))
    if backend in (_IN_DATABASE, *_AT_ONCE):
        return True
    version = versions.get("django-tasks")
    # To 0.8.1 the backport waited for the commit unless it was told not to.
    return None if version is not None and version < (0, 9) else False if backend in _ONCE else None
