"""Classes of the project: their members, bases and the order in which methods are looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from idemlint.link.modules import Binding, Module, bindings_in
from idemlint.program import ClassType, LibraryInstance, LibraryType, Type
from idemlint.syntax import facts as f


@dataclass(slots=True)
class ClassInfo:
    """A class where it stands; `members` are its own names, `scope` the id of the function it is nested in, if any."""

    id: str
    fact: f.Class
    module: Module
    piece: int
    members: dict[str, list[Binding]] = field(default_factory=dict)
    attributes: dict[str, Type] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for binding in bindings_in(self.fact.body, self.piece):
            self.members.setdefault(binding.name, []).append(binding)

    def annotation(self, name: str) -> f.Expr | None:
        """The annotation of a class-level name, as dataclasses and typed models write it."""
        for binding in self.members.get(name, ()):
            if isinstance(binding.fact, f.Assign) and binding.fact.annotation is not None:
                return binding.fact.annotation
        return None


@dataclass(slots=True)
class Classes:
    """All classes met so far, by id. `evaluate` says what an expression at module level is, `implements` whether a
    decorator has a class stand for the interfaces that it is given."""

    evaluate: Callable[[f.Expr, Module], Type | None]
    implements: Callable[[str], bool]
    known: dict[str, ClassInfo] = field(default_factory=dict)
    _orders: dict[str, tuple[tuple[ClassInfo, ...], tuple[str, ...]]] = field(default_factory=dict)

    def add(self, id: str, fact: f.Class, module: Module, piece: int) -> ClassInfo:
        if id not in self.known:
            self.known[id] = ClassInfo(id, fact, module, piece)
        return self.known[id]

    def order(self, id: str) -> tuple[tuple[ClassInfo, ...], tuple[str, ...]]:
        """The class and its project bases, nearest first, then the library bases by path ("?" for an unknown one)."""
        if id not in self._orders:
            self._orders[id] = ((self.known[id],), ())
            chain: list[ClassInfo] = [self.known[id]]
            library: list[str] = []
            for base in (*self.known[id].fact.bases, *self._announced(self.known[id])):
                found = self.evaluate(base.base if isinstance(base, f.Subscript) else base, self.known[id].module)
                if isinstance(found, ClassType) and found.name in self.known:
                    inner, outer = self.order(found.name)
                    chain = [info for info in chain if info not in inner] + list(inner)
                    library.extend(path for path in outer if path not in library)
                else:
                    library.append(found.path if isinstance(found, LibraryType | LibraryInstance) else "?")
            self._orders[id] = (tuple(chain), tuple(library))
        return self._orders[id]

    def _announced(self, info: ClassInfo) -> Iterator[f.Expr]:
        """The interfaces that a class is decorated with: it comes before them, as before its bases."""
        for decorator in info.fact.decorators:
            if isinstance(decorator, f.Call) and decorator.arguments:
                found = self.evaluate(decorator.function, info.module)
                if isinstance(found, LibraryType) and self.implements(found.path):
                    yield from (argument.value for argument in decorator.arguments)

    def member(self, id: str, name: str, after: str | None = None) -> tuple[ClassInfo, Binding] | None:
        """The nearest definition of a member; with `after`, only in the classes behind that one (`super()`)."""
        chain, _ = self.order(id)
        skip = after is not None
        for info in chain:
            if not skip and name in info.members:
                return info, info.members[name][-1]
            if info.id == after:
                skip = False
        return None

    def library_bases(self, id: str) -> tuple[str, ...]:
        return self.order(id)[1]

    def annotation(self, id: str, name: str) -> tuple[ClassInfo, f.Expr] | None:
        for info in self.order(id)[0]:
            found = info.annotation(name)
            if found is not None:
                return info, found
        return None
