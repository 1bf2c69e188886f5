"""What is found out about a project that is given as text: its models, and the effects of its tasks."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path

from linting import findings

from idemlint.catalog import load
from idemlint.domain.effect import Effect
from idemlint.domain.summary import Summary, Transaction
from idemlint.link import link
from idemlint.program import Model, Program
from idemlint.project import discover
from idemlint.summarize import summarize


@dataclass(frozen=True, slots=True)
class Walked:
    """A project of one module `shop`, and what each run does."""

    program: Program
    runs: tuple[Summary, ...]
    folder: Path
    lines: tuple[str, ...]

    @property
    def said(self) -> list[str]:
        """The findings that are shown, as `rule: the line it stands on`."""
        return [f"{found['rule']}: {self.lines[found['line'] - 1].strip()}" for found in findings(self.folder)]

    @property
    def rules(self) -> list[str]:
        return [found.partition(":")[0] for found in self.said]

    def model(self, title: str) -> Model:
        return next(model for model in self.program.models.values() if model.title == title)

    def run(self, name: str = "task") -> Summary:
        """The run of the task with this name."""
        return next(run for run in self.runs if run.root.task == f"shop:{name}")

    def effects(self, *kinds: str, task: str = "task") -> list[Effect]:
        """The effects of a task, of some kinds or all."""
        return [effect for effect in self.run(task).effects if not kinds or effect.kind in kinds]

    def only(self, *kinds: str, task: str = "task") -> Effect:
        (effect,) = self.effects(*kinds, task=task)
        return effect

    def transaction(self, effect: Effect, task: str = "task") -> Transaction:
        """The outermost transaction of an effect."""
        return next(tx for tx in self.run(task).transactions if tx.id == effect.transactions[0])


def walk(folder: Path, source: str) -> Walked:
    """Write the module and walk it."""
    text = textwrap.dedent(source)
    (folder / "shop.py").write_text(text, encoding="utf-8")
    program = link(discover([folder], isolated=True), load())
    return Walked(program, summarize(program, load()), folder, tuple(text.splitlines()))
