"""The project's modules, read piece by piece on demand: which name is bound where."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from idemlint.project import Project, SourceFile, UnreadableFile
from idemlint.syntax import facts as f
from idemlint.syntax.extract import SyntaxProblem
from idemlint.syntax.reader import READER, Reader
from idemlint.syntax.split import Piece, split


@dataclass(frozen=True, slots=True)
class Binding:
    """What a module-level or class-level name is bound to: a Function, Class, Import, or an assignment's value.

    `position` says which element of the value the name takes when a tuple is unpacked (None: all of it).
    """

    name: str
    fact: f.Function | f.Class | f.Import | f.Assign
    piece: int
    position: int | None = None


@dataclass(slots=True)
class Module:
    """A module of the project, its pieces parsed when first asked for."""

    file: SourceFile
    id: str
    pieces: tuple[Piece, ...]
    reader: Reader = READER
    problems: list[tuple[int, int, str]] = field(default_factory=list)
    _parsed: dict[int, f.Body] = field(default_factory=dict)
    _tables: dict[int, tuple[Binding, ...]] = field(default_factory=dict)
    _words: dict[str, list[int]] | None = None
    _defined: dict[str, list[int]] | None = None

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    def statements(self, piece: int) -> f.Body:
        """Facts of one piece; a piece that does not parse is empty and noted as a problem."""
        if piece not in self._parsed:
            part = self.pieces[piece]
            try:
                self._parsed[piece] = self.reader.facts(part.text)
            except SyntaxProblem as problem:
                self.problems.append((problem.line + part.line - 1, problem.column, problem.message))
                self._parsed[piece] = ()
        return self._parsed[piece]

    def definitions(self) -> dict[str, list[int]]:
        """Top-level function and class names -> the pieces that define them."""
        if self._defined is None:
            self._defined = {}
            for index, piece in enumerate(self.pieces):
                if piece.defines:
                    self._defined.setdefault(piece.defines, []).append(index)
        return self._defined

    def bindings(self, name: str) -> list[Binding]:
        """Every binding of a top-level name, in the order of the code."""
        found = [binding for index in self.mentioning(name) for binding in self._table(index) if binding.name == name]
        for index in self.definitions().get(name, ()):
            found.extend(
                Binding(name, statement, index)
                for statement in self.statements(index)
                if isinstance(statement, f.Function | f.Class) and statement.name == name
            )
        return sorted(found, key=lambda binding: binding.piece)

    def loose_pieces(self) -> Iterator[tuple[int, f.Body]]:
        """The pieces that are no function or class: imports, constants, calls at import time."""
        for index, piece in enumerate(self.pieces):
            if piece.defines is None:
                yield index, self.statements(index)

    def mentioning(self, word: str) -> list[int]:
        """The pieces, no functions or classes, whose text holds a word: only these can bind that name."""
        return [index for index in self.holding(word) if self.pieces[index].defines is None]

    def holding(self, word: str) -> list[int]:
        """All pieces whose text holds a word, in order."""
        if self._words is None:
            self._words = {}
            for index, piece in enumerate(self.pieces):
                for found in set(_WORD.findall(piece.text)):
                    self._words.setdefault(found, []).append(index)
        return self._words.get(word, [])

    def star_imports(self) -> list[f.Import]:
        """`from m import *` statements, in the order of the code."""
        return [
            binding.fact
            for index in self.mentioning("import")
            if "*" in self.pieces[index].text
            for binding in self._table(index)
            if binding.name == "*" and isinstance(binding.fact, f.Import)
        ]

    def _table(self, index: int) -> tuple[Binding, ...]:
        if index not in self._tables:
            self._tables[index] = tuple(bindings_in(self.statements(index), index))
        return self._tables[index]


_WORD = re.compile(r"[^\W\d]\w*")
_LINE_END = re.compile(r"\r\n?")
# A line starts anew after a form feed.
_FEED = re.compile(r"\n[ \t]*\f(?:[ \t]*\f)*")


def bindings_in(body: Iterable[f.Statement], piece: int) -> Iterator[Binding]:
    """Names that statements bind at their own level, through `if`, `try`, `with` and loops."""
    for statement in body:
        match statement:
            case f.Function(name=name) | f.Class(name=name):
                yield Binding(name, statement, piece)
            case f.Import(bind=name):
                yield Binding(name, statement, piece)
            case f.Assign(targets=targets):
                for target in targets:
                    if isinstance(target, f.Name):
                        yield Binding(target.id, statement, piece)
                    elif isinstance(target, f.Display):
                        for position, item in enumerate(target.items):
                            if isinstance(item, f.Name):
                                yield Binding(item.id, statement, piece, position)
            case f.If(body=inner, orelse=orelse) | f.While(body=inner, orelse=orelse):
                yield from bindings_in(inner, piece)
                yield from bindings_in(orelse, piece)
            case f.For(body=inner) | f.With(body=inner):
                yield from bindings_in(inner, piece)
            case f.Try(body=inner, handlers=handlers, orelse=orelse, final=final):
                yield from bindings_in(inner, piece)
                for handler in handlers:
                    yield from bindings_in(handler.body, piece)
                yield from bindings_in(orelse, piece)
                yield from bindings_in(final, piece)


class Modules:
    """All modules of a project, read on demand and found the way an import statement finds them."""

    def __init__(self, project: Project, reader: Reader = READER) -> None:
        self.project = project
        self.reader = reader
        self._by_path = {source.path: source for source in project.files}
        self._by_name: dict[str, list[SourceFile]] = {}
        self._folders: set[str] = set()
        self._read: dict[str, Module] = {}
        self.unread: dict[str, tuple[int, int, str]] = {}
        for source in project.files:
            self._by_name.setdefault(source.module, []).append(source)
            folder = posixpath.dirname(source.path)
            while folder and folder not in self._folders:
                self._folders.add(folder)
                folder = posixpath.dirname(folder)

    def identity(self, source: SourceFile) -> str:
        """What the ids of a module's things start with: its dotted name, or its path where two share the name."""
        return source.module if len(self._by_name[source.module]) == 1 else source.path

    def identified(self, identity: str) -> Module | None:
        """The module behind the part of an id before its colon."""
        source = self._by_path.get(identity)
        if source is None:
            found = self._by_name.get(identity, ())
            source = found[0] if len(found) == 1 else None
        return self.load(source) if source else None

    def load(self, source: SourceFile) -> Module:
        """The module of this file, read once, its newlines as Python reads them; an unreadable one is empty and noted
        in `unread`."""
        if source.path not in self._read:
            try:
                text = _FEED.sub("\n", _LINE_END.sub("\n", self.project.text(source.path)))
            except UnreadableFile as problem:
                self.unread[source.path] = (problem.line or 1, problem.column or 1, problem.reason)
                text = ""
            self._read[source.path] = Module(source, self.identity(source), split(text), self.reader)
        return self._read[source.path]

    def read(self) -> list[Module]:
        """The modules read so far, by path."""
        return [self._read[path] for path in sorted(self._read)]

    def absolute(self, name: str, near: str) -> SourceFile | None:
        """The file of an absolute dotted name, as an import in the file `near` would find it."""
        return self.project.named(name, near)

    def is_package(self, name: str) -> bool:
        """Whether some folder of the project is a package of this dotted name: with an `__init__.py` it has but one
        name, without one any end of its path may be it."""
        tail = name.replace(".", "/")
        found = (folder for folder in self._folders if folder == tail or folder.endswith("/" + tail))
        inits = (self._by_path.get(f"{folder}/__init__.py") for folder in found)
        return any(init is None or init.module == name for init in inits)

    def imported(self, module: Module, statement: f.Import) -> SourceFile | str:
        """What an import statement names before `import`: a file of the project, or the dotted name of a library."""
        if not statement.level:
            return self.absolute(statement.module, module.file.path) or statement.module
        folder = posixpath.dirname(module.file.path)
        for _ in range(statement.level - 1):
            folder = posixpath.dirname(folder)
        return self.beneath(folder, statement.module) or f".{statement.module}"

    def beneath(self, folder: str, name: str) -> SourceFile | None:
        """The file of the dotted `name` below a folder; the folder's own package when the name is empty."""
        stem = posixpath.join(folder, *name.split(".")) if name else folder
        for path in (f"{stem}.py", f"{stem}/__init__.py" if stem else "__init__.py"):
            if path in self._by_path:
                return self._by_path[path]
        return None

    def submodule(self, source: SourceFile, name: str) -> SourceFile | None:
        """The module `name` inside the package whose `__init__` this is."""
        return self.beneath(posixpath.dirname(source.path), name) if source.package else None
