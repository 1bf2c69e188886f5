"""A small project that is run for real and read by idemlint, so that what happens can be held against what is said."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from delivering import linked
from servers import end, running, until

from idemlint.delivery import Delivery

ROOT = Path(__file__).parent.parent.parent
PLACE = ROOT / "build" / "brokers"

# How the tasks tell that they run, and how they are held back.
RUNS = """
import asyncio
import os
import time
from pathlib import Path

HERE = Path(__file__).parent


def begin(name):
    with open(HERE / f"{name}.runs", "a") as file:
        file.write(f"{os.getpid()}\\n")


def hold(name):
    begin(name)
    while not (HERE / f"{name}.go").exists():
        time.sleep(0.05)


async def held(name):
    begin(name)
    while not (HERE / f"{name}.go").exists():
        await asyncio.sleep(0.05)
"""


class Trial:
    """The project's folder, the programs that work in it, and how often its tasks ran."""

    def __init__(self, folder: Path, files: Mapping[str, str], bin_: Path, stack: ExitStack) -> None:
        self.folder = folder
        self._bin = bin_
        self._stack = stack
        self._log = folder / "log.txt"
        for name, text in {"runs.py": RUNS, "requirements.txt": _versions(bin_.parent), **files}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text.lstrip("\n"), encoding="utf-8")

    # --- What happens

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Starts a program of the frameworks, which ends with the trial."""
        program = [str(self._bin / command[0]), *command[1:]]
        return self._stack.enter_context(running(program, self._log, self.folder, self._environ()))

    def do(self, code: str) -> str:
        """Runs code in the project; what it prints."""
        done = subprocess.run(
            [self._bin / "python", "-c", code],
            cwd=self.folder,
            env=self._environ(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout.strip()

    def runs(self, name: str) -> list[int]:
        """The process of each run that has begun."""
        file = self.folder / f"{name}.runs"
        return [int(line) for line in file.read_text().split()] if file.exists() else []

    def ran(self, name: str, times: int) -> None:
        """Waits until a task has begun so many times."""
        self.until(lambda: len(self.runs(name)) >= times, f"run {times} of {name}")

    def release(self, name: str) -> None:
        """Lets the task end, in this run and all that follow."""
        (self.folder / f"{name}.go").touch()

    def until(self, happened: Callable[[], object], what: str) -> None:
        """Waits until something has happened, and shows what the programs wrote if it never does."""
        until(happened, what, lambda: self.log()[-20_000:])

    def log(self) -> str:
        """What the programs have written so far."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    @staticmethod
    def kill(process: int | subprocess.Popen[bytes]) -> None:
        """Kills one process, or a program with all that it started."""
        if isinstance(process, int):
            os.kill(process, signal.SIGKILL)
        else:
            end(process)

    def _environ(self) -> dict[str, str]:
        path = os.pathsep.join((str(self._bin), os.environ.get("PATH", "")))
        return {**os.environ, "PATH": path, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}

    # --- What is said

    def said(self) -> dict[str, Delivery]:
        """How idemlint says the tasks are delivered, by the names of their functions."""
        return {task.rpartition(":")[2]: delivery for task, delivery in linked(self.folder)[1].items()}

    def lines(self, name: str) -> list[tuple[int, str]]:
        """A file's lines with their numbers."""
        return list(enumerate((self.folder / name).read_text(encoding="utf-8").splitlines(), 1))


@contextmanager
def trial(folder: Path, files: Mapping[str, str], program: str, among: str = "all") -> Iterator[Trial]:
    """A project of these files, run by a framework's program; all that was started in it ends with it."""
    if not (PLACE / among / "bin" / program).exists():
        pytest.skip(f"{program} is not installed: run .ci/brokers")
    with ExitStack() as stack:
        yield Trial(folder, files, PLACE / among / "bin", stack)


def again(delivery: Delivery, *kinds: str, stop: int) -> int:
    """How often a task is said to run again for these causes at most, if one stops counting at `stop`."""
    causes = [cause for cause in delivery.causes if cause.kind in kinds]
    return max((stop if cause.again is None else min(cause.again, stop) for cause in causes), default=0)


def _versions(venv: Path) -> str:
    """What is installed, as a project would pin it."""
    names = [path.name.removesuffix(".dist-info") for path in venv.glob("lib/*/site-packages/*.dist-info")]
    return "".join(f"{name}=={version}\n" for name, _, version in (each.partition("-") for each in sorted(names)))
