"""The files of a project: where it starts, which of them belong to it, what they are called, what they hold.

Paths are relative to the project's root, with forward slashes.
"""

from idemlint.project.discover import discover, find_root
from idemlint.project.errors import ProjectError, UnreadableFile
from idemlint.project.names import SourceFile
from idemlint.project.project import Project
from idemlint.project.repository import repository
from idemlint.project.text import read_optional

__all__ = [
    "Project",
    "ProjectError",
    "SourceFile",
    "UnreadableFile",
    "discover",
    "find_root",
    "read_optional",
    "repository",
]
