"""How long idemlint takes over a project, beside what else reads the same files.

    python benchmarks/speed.py PROJECT [--rounds N] [--beside 'semgrep scan --config rules.yml {project}']

Prints ratios, which hold on any machine. The yardstick is libcst's parse of every Python file that idemlint finds
there, in one process. Commands take turns, so that a machine that slows down slows all of them; the median counts.
"""

from __future__ import annotations

import argparse
import os
import shlex
import statistics
import subprocess
import sys
import time
from pathlib import Path

PARSE = """
import sys
from pathlib import Path
import libcst
from idemlint.project import discover
project = discover([Path(sys.argv[1])])
for file in project.files:
    try:
        libcst.parse_module(project.data(file.path))
    except (libcst.ParserSyntaxError, UnicodeDecodeError):
        pass
"""


def timed(command: list[str]) -> tuple[float, float]:
    """Seconds on the clock and seconds of processor that a command takes; what it prints is dropped."""
    before, started = os.times(), time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = os.times()
    spent = after.children_user - before.children_user + after.children_system - before.children_system
    return time.perf_counter() - started, spent


def main() -> None:
    """Time each command in turns and print a line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("project", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--beside", action="append", default=[], help="another command; {project} is the project")
    given = parser.parse_args()
    commands = {
        "libcst parses every file": [sys.executable, "-c", PARSE, str(given.project)],
        "idemlint check": [sys.executable, "-m", "idemlint", "check", str(given.project), "--isolated", "--exit-zero"],
    }
    for command in given.beside:
        commands[command] = [part.format(project=given.project) for part in shlex.split(command)]
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(given.rounds):
        for name, command in commands.items():
            taken[name].append(timed(command))
    clock = {name: statistics.median(wall for wall, _ in times) for name, times in taken.items()}
    yardstick = next(iter(clock.values()))
    for name, times in taken.items():
        processor = statistics.median(spent for _, spent in times)
        print(f"{clock[name] / yardstick:6.2f}x  {clock[name]:7.2f} s  {processor:7.2f} s of processor  {name}")


if __name__ == "__main__":
    main()
