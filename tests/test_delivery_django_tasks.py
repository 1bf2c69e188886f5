"""Why and when a task of Django's own runs again, and whether it can run before the commit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from delivering import causes, delivered, setting

from idemlint.delivery import sent_on_commit

CASES: Mapping[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "no backend is set": ({}, {}, "NOTE"),
    "at once": ({}, {"TASKS.default": {"BACKEND": "django.tasks.backends.immediate.ImmediateBackend"}}, "NOTE"),
    "the database": ({}, {"TASKS.default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}, "NOTE"),
    "RQ": ({}, {"TASKS.default": {"BACKEND": "django_tasks_rq.RQBackend"}}, "NOTE"),
    "a backend of the project's own": ({}, {"TASKS.default": {"BACKEND": "shop.backend.Far"}}, "WARNING"),
    "the task's own backend": (
        {"backend": "far"},
        {"TASKS.default": {"BACKEND": "django_tasks_db.DatabaseBackend"}, "TASKS.far": {"BACKEND": "shop.backend.Far"}},
        "WARNING",
    ),
}


@pytest.mark.parametrize(("options", "settings", "cap"), CASES.values(), ids=CASES)
def test_causes(options: dict[str, Any], settings: dict[str, Any], cap: str) -> None:
    found = delivered("django-tasks", options, settings)
    assert (causes(found), found.cap.name) == ("early-ack", cap)


COMMITS: Mapping[str, tuple[str, dict[str, tuple[int, ...]], bool | None]] = {
    "a row of the database": ("django_tasks_db.DatabaseBackend", {}, True),
    "run at once": ("django.tasks.backends.immediate.ImmediateBackend", {}, True),
    "a queue beside it": ("django_tasks_rq.RQBackend", {"django-tasks": (0, 12)}, False),
    "a queue that waited for the commit": ("django_tasks_rq.RQBackend", {"django-tasks": (0, 8, 1)}, None),
    "nobody knows": ("shop.backend.Far", {}, None),
}


@pytest.mark.parametrize(("backend", "versions", "expected"), COMMITS.values(), ids=COMMITS)
def test_commit(backend: str, versions: dict[str, tuple[int, ...]], expected: bool | None) -> None:
    settings = [setting("django-tasks", "TASKS.default", {"BACKEND": backend})]
    assert sent_on_commit("django-tasks", settings, versions) is expected


def test_without_a_setting_nothing_is_known_of_the_commit() -> None:
    assert sent_on_commit("django-tasks", [], {}) is None
