"""What the trials of Celery share: its worker, and how to tell that it knows of a run."""

from __future__ import annotations

import subprocess
from contextlib import AbstractContextManager
from pathlib import Path

from trial import Trial, trial

ACCEPTING = """
from celery.worker.request import Request

import runs


class Noted(Request):
    def on_accepted(self, pid, time_accepted):
        super().on_accepted(pid, time_accepted)
        runs.begin(f"{self.name}.accepted")
"""

NOTED = """

app.Task.Request = "accepting:Noted"
"""


def celery_project(folder: Path, tasks: str) -> AbstractContextManager[Trial]:
    """A module of tasks, with an app above them whose workers note what they accept."""
    return trial(folder, {"tasks.py": tasks + NOTED, "accepting.py": ACCEPTING}, "celery")


def worker(at: Trial, name: str = "worker") -> subprocess.Popen[bytes]:
    """A worker with enough processes for all tasks of a trial; their names differ."""
    quiet = "--without-gossip", "--without-mingle", "--without-heartbeat"
    return at.start(*f"celery -A tasks worker -P prefork -c 5 -n {name}@localhost".split(), *quiet)


def send(at: Trial, *names: str) -> dict[str, str]:
    """Sends tasks without arguments; the ids of their messages."""
    code = "; ".join(f"print(tasks.{name}.delay().id)" for name in names)
    return dict(zip(names, at.do(f"import tasks; {code}").split(), strict=True))


def begun(at: Trial, name: str, times: int) -> None:
    """Waits until a task has begun so many times and its worker has heard of it from the process that runs it: only
    then is an early message acknowledged, and the process missed when it dies."""
    at.ran(name, times)
    at.ran(f"tasks.{name}.accepted", times)
