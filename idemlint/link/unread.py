"""Files that could not be read or parsed, wholly or in part."""

from __future__ import annotations

from idemlint.link.modules import Modules
from idemlint.link.production import is_production
from idemlint.project import UnreadableFile
from idemlint.syntax.check import Fault


def unread(modules: Modules) -> tuple[tuple[str, int, int, str], ...]:
    """The first fault of each file, as (path, line, column, reason), by path.

    Every file that could hold a task is looked at, whether something led there or not; of tests, whose broken files are
    often meant to be, only what was read.
    """
    read = {module.file.path: module for module in modules.read()}
    found: dict[str, Fault | None] = {}
    for source in modules.project.files:
        problem = _fault(modules, source.path) if is_production(source.path) else modules.unread.get(source.path)
        if problem is None and source.path in read:
            problem = min(read[source.path].problems, default=None)
        found[source.path] = problem
    return tuple((path, *problem) for path, problem in found.items() if problem is not None)


def _fault(modules: Modules, path: str) -> Fault | None:
    try:
        return modules.reader.fault(modules.project.text(path))
    except UnreadableFile as unreadable:
        return unreadable.line, unreadable.column, unreadable.reason
