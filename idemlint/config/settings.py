"""The settings of a run, all decided."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from pathlib import Path

from idemlint.config.patterns import Pattern
from idemlint.diagnostic import Confidence, Severity


class FailOn(enum.IntEnum):
    """The lowest severity that makes a run fail; `NEVER` is above them all."""

    NOTE = Severity.NOTE
    WARNING = Severity.WARNING
    ERROR = Severity.ERROR
    NEVER = Severity.ERROR + 1

    def __str__(self) -> str:
        return self.name.lower()


class Scope(enum.StrEnum):
    """The code the transaction rules speak about: what tasks reach, or the whole project."""

    TASKS = "tasks"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Config:
    """What a run obeys.

    `rules` holds the names of the rules that run; None stands for all of them. `severity` gives the rules a level of
    their own, whatever the delivery of the task. `per_file_ignores` names the rules that are silent in the files a
    pattern matches. `catalogs` are files of the user's own that say what calls do, the last of which has the last word.
    `sources` are the files the settings were read from, the nearest last.
    """

    rules: frozenset[str] | None = None
    per_file_ignores: tuple[tuple[Pattern, frozenset[str]], ...] = ()
    severity: tuple[tuple[str, Severity], ...] = ()
    exclude: tuple[Pattern, ...] = ()
    source_roots: tuple[Path, ...] = ()
    settings_module: str | None = None
    catalogs: tuple[Path, ...] = ()
    min_severity: Severity = Severity.WARNING
    min_confidence: Confidence = Confidence.MEDIUM
    fail_on: FailOn = FailOn.NOTE
    scope: Scope = Scope.TASKS
    sources: tuple[Path, ...] = ()

    def runs(self, rule: str) -> bool:
        """Whether the rule called `rule` is to run."""
        return self.rules is None or rule in self.rules
