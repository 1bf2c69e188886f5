"""Which task frameworks a project has anything to do with: those that it imports."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress

from idemlint.catalog import Catalog
from idemlint.catalog.rows import Framework
from idemlint.project import Project, UnreadableFile


def imported(project: Project, libraries: Iterable[str]) -> frozenset[str]:
    """The ones of `libraries`, by dotted path, that an import statement in the project names."""
    return frozenset(library for library in libraries if _is_imported(project, library))


def used(project: Project, catalog: Catalog) -> tuple[Framework, ...]:
    """The frameworks that the project imports, or that its own catalog speaks of, by name."""
    return tuple(
        framework
        for _, framework in sorted(catalog.frameworks.items())
        if framework.own or any(_is_imported(project, library) for library in framework.libraries)
    )


def _is_imported(project: Project, library: str) -> bool:
    parent, _, last = library.rpartition(".")
    spelled = re.escape(library)
    # `from django.tasks import task` and `from django import tasks`
    names = r"(?:[^\r\n]*|[ \t]*\([^)]*)"
    also = rf"|from[ \t]+{re.escape(parent)}[ \t]+import\b{names}\b{re.escape(last)}" if parent else ""
    statement = re.compile(
        rf"{_START}(?:(?:from|import)[ \t]+(?:[^\r\n#]*,[ \t]*)?{spelled}{also})\b".encode("latin-1")
    )
    # The statement is a slow search; most files that it would fail in lack what it is about.
    named, from_parent = (
        library.encode("latin-1"),
        re.compile(rf"from[ \t]+{re.escape(parent)}[ \t]+import\b".encode("latin-1")),
    )
    for source in project.mentioning([last]):
        with suppress(UnreadableFile):
            data = project.data(source.path)
            if (named in data or (parent and from_parent.search(data))) and statement.search(data):
                return True
    return False


# A statement starts a line, be it after a byte order mark, or follows another one.
_START = r"(?:^|[\r\n\f;:]|\xef\xbb\xbf)[ \t]*(?:lazy[ \t]+)?"
