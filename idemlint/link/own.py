"""The project's own code that rows of the user's catalog speak of."""

from __future__ import annotations

from functools import cached_property

from idemlint.catalog import Catalog
from idemlint.link.names import Definition, Names
from idemlint.program import InstanceType, LibraryInstance, LibraryType, TaskType, Type


class OwnRows:
    """Asked with the path at which something stands."""

    def __init__(self, catalog: Catalog, names: Names) -> None:
        self._catalog = catalog
        self._names = names

    def known(self, path: str, kind: Type | None) -> Type | None:
        """What the thing at a path is, that the code shows to be `kind`: where a row speaks of it, it is known by that
        as a library's would be. A task stays one."""
        written = path if self._catalog.owns(path) else self._elsewhere.get(path)
        if written is not None and not isinstance(kind, TaskType):
            return LibraryType(written)
        unknown = kind is None or (isinstance(kind, LibraryInstance) and not self._catalog.knows(kind.path))
        return LibraryType(path) if unknown and self._catalog.leads_to_own(path) else kind

    def attribute(self, owner: InstanceType, name: str) -> Type | None:
        """An attribute of which nothing is known but what a row says."""
        return self.known(f"{owner.name}.{name}".replace(":", "."), None)

    @cached_property
    def _elsewhere(self) -> dict[str, str]:
        """Where the code stands that a row names by a path it is imported from, and the path: `shop.billing.charge` ->
        `shop.charge`."""
        found: dict[str, str] = {}
        for name, _ in self._catalog.own.names.exact():
            parts = name.split(".")
            for length in range(len(parts), 1, -1):
                definition = self._names.dotted(".".join(parts[:length]))
                if isinstance(definition, Definition):
                    found[".".join([definition.module.id, definition.binding.name, *parts[length:]])] = name
                    break
        return found
