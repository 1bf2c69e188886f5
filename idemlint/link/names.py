"""Module-level names: through imports, re-exports and star imports to what defines them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from idemlint.link.modules import Binding, Module, Modules
from idemlint.program import LibraryType, ModuleType
from idemlint.project import SourceFile
from idemlint.syntax import facts as f


@dataclass(frozen=True, slots=True)
class Definition:
    """A function, class or assignment of a project module."""

    module: Module
    binding: Binding


Found: TypeAlias = Definition | ModuleType | LibraryType


class Names:
    """Looks names up; cycles of imports end in None."""

    def __init__(self, modules: Modules) -> None:
        self.modules = modules
        self._found: dict[tuple[str, str], Found | None] = {}

    def find(self, module: Module, name: str) -> Found | None:
        """What a module-level name stands for, or None when the module does not bind it."""
        key = (module.file.path, name)
        if key not in self._found:
            self._found[key] = None
            self._found[key] = self._find(module, name)
        return self._found[key]

    def _find(self, module: Module, name: str) -> Found | None:
        bindings = module.bindings(name)
        # A fallback such as `except ImportError: name = None` must not hide the real thing.
        solid = [binding for binding in bindings if not _is_none(binding.fact)] or bindings
        for binding in reversed(solid):
            if not isinstance(binding.fact, f.Import):
                return Definition(module, binding)
            found = self.imported(module, binding.fact)
            if found is not None:
                return found
        for star in reversed(module.star_imports()):
            source = self.modules.imported(module, star)
            if isinstance(source, SourceFile):
                found = self.find(self.modules.load(source), name)
                if found is not None:
                    return found
        return None

    def imported(self, module: Module, statement: f.Import) -> Found | None:
        """What an import statement binds its local name to."""
        source = self.modules.imported(module, statement)
        if statement.name is None:
            if isinstance(source, SourceFile):
                return ModuleType(source.path)
            return ModuleType(source) if self.modules.is_package(source) else LibraryType(source)
        if isinstance(source, SourceFile):
            found = self.member(source, statement.name)
            # `from celery import Celery` beside or in a `celery.py` of the package that is checked: the library's.
            asked = source.module if statement.level else statement.module
            return found if found is not None else LibraryType(f"{asked}.{statement.name}")
        inner = self.modules.absolute(f"{source}.{statement.name}", module.file.path)
        if inner is not None and (statement.level or self.modules.is_package(source)):
            return ModuleType(inner.path)
        if statement.level:
            return self._sibling(module, statement)
        return LibraryType(f"{source}.{statement.name}")

    def _sibling(self, module: Module, statement: f.Import) -> Found | None:
        """`from . import name` in a folder without `__init__.py`."""
        dotted = f"{statement.module}.{statement.name}" if statement.module else str(statement.name)
        source = self.modules.imported(module, f.Import(0, dotted, None, "", statement.level))
        return ModuleType(source.path) if isinstance(source, SourceFile) else None

    def member(self, source: SourceFile, name: str) -> Found | None:
        """An attribute of a module: a name it binds, or a module inside the package."""
        found = self.find(self.modules.load(source), name)
        if found is not None:
            return found
        inner = self.modules.submodule(source, name)
        return ModuleType(inner.path) if inner else None

    def attribute(self, module: ModuleType, name: str, near: str) -> Found | None:
        """`module.name` where `module` is a project module or namespace package."""
        loaded = self.modules.identified(module.name)
        if loaded is not None:
            return self.member(loaded.file, name)
        inner = self.modules.absolute(f"{module.name}.{name}", near)
        if inner is not None:
            return ModuleType(inner.path)
        dotted = f"{module.name}.{name}"
        return ModuleType(dotted) if self.modules.is_package(dotted) else None

    def dotted(self, path: str, near: str = "") -> Found | None:
        """What a dotted string such as `shop.tasks.charge` names; a library's path when no project file has it."""
        parts = path.split(".")
        for cut in range(len(parts), 0, -1):
            source = self.modules.absolute(".".join(parts[:cut]), near)
            if source is None:
                continue
            found: Found | None = ModuleType(source.path)
            for part in parts[cut:]:
                if not isinstance(found, ModuleType):
                    return None
                found = self.attribute(found, part, near)
            return found
        return LibraryType(path)


def _is_none(fact: object) -> bool:
    return isinstance(fact, f.Assign) and isinstance(fact.value, f.Constant) and fact.value.value is None
