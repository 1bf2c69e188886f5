"""Procrastinate on its queue in memory, which its own tests use too: jobs that fail are retried as often as is said."""

from __future__ import annotations

from pathlib import Path

from trial import again, trial

TASKS = """
from procrastinate import App, RetryStrategy
from procrastinate.testing import InMemoryConnector

import runs

app = App(connector=InMemoryConnector())
FEW = RetryStrategy(max_attempts=3)


@app.task
def fails():
    runs.begin("fails")
    raise OSError


@app.task(retry=5)
def fails_with_number():
    runs.begin("fails_with_number")
    raise OSError


@app.task(retry=FEW)
def fails_with_strategy():
    runs.begin("fails_with_strategy")
    raise OSError


@app.task(retry=RetryStrategy(max_attempts=3, retry_exceptions={KeyError}))
def fails_otherwise():
    runs.begin("fails_otherwise")
    raise OSError


@app.task(retry=True)
def fails_a_while():
    runs.begin("fails_a_while")
    if len((runs.HERE / "fails_a_while.runs").read_text().split()) < 30:
        raise OSError
"""

RUN = """
import tasks

with tasks.app.open():
    for name in ("fails", "fails_with_number", "fails_with_strategy", "fails_otherwise", "fails_a_while"):
        getattr(tasks, name).defer()
    # It ends when nothing is left to do.
    tasks.app.run_worker(wait=False, install_signal_handlers=False)
"""


def test_jobs_are_retried_as_often_as_is_said(tmp_path: Path) -> None:
    with trial(tmp_path, {"tasks.py": TASKS}, "procrastinate") as at:
        at.do(RUN)
        said = {name: again(delivery, "retry", stop=29) for name, delivery in at.said().items()}
        happened = {name: len(at.runs(name)) - 1 for name in said}
        # A retry for exceptions of another kind is one that this task never asks for.
        assert happened.pop("fails_otherwise") == 0
        assert at.said()["fails_otherwise"].retries[0].on == ("builtins.KeyError",)
        assert happened == {name: times for name, times in said.items() if name in happened}
