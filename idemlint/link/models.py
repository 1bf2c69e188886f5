"""The models of the project: classes that a data layer stores, and tables that no class stands for."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from idemlint import orm
from idemlint.link.classes import ClassInfo
from idemlint.link.production import is_production
from idemlint.program import ClassType, LibraryInstance, LibraryType, Model, Site, Type
from idemlint.syntax import facts as f

if TYPE_CHECKING:
    from idemlint.link.linker import Linker


class Models:
    """All models met so far, by id. What is asked of them is read once."""

    def __init__(self, linker: Linker) -> None:
        self._linker = linker
        self._found: dict[str, Model | None] = {}
        self._complete = False
        self._related: dict[tuple[str, str], tuple[str, bool]] | None = None

    def of(self, cls: str) -> Model | None:
        """The model a class is, or None; a library model by its id."""
        if cls not in self._found:
            self._found[cls] = None
            self._found[cls] = self._read(cls)
        return self._found[cls]

    def add(self, model: Model) -> None:
        """Keep a model that no class stands for, such as a table."""
        self._found.setdefault(model.name, model)

    def replace(self, model: Model) -> None:
        """Keep what is known of a model by now."""
        self._found[model.name] = model

    def known(self) -> list[Model]:
        """The models met so far, by id."""
        return [model for _, model in sorted(self._found.items()) if model is not None]

    def all(self) -> list[Model]:
        """Every model of the project, by id. Reads each file that could define one."""
        if self._complete:
            return self.known()
        self._complete = True
        words = sorted({word for layer in orm.LAYERS for word in layer.relations})
        pattern = re.compile(r"\b(?:" + "|".join(map(re.escape, words)) + r")\b")
        for source in self._linker.project.mentioning(words):
            if not is_production(source.path):
                continue
            module = self._linker.modules.load(source)
            for _index, piece in enumerate(module.pieces):
                if piece.defines is not None and pattern.search(piece.text) and _CLASS.search(piece.text):
                    found = self._linker.found(self._linker.names.find(module, piece.defines))
                    if isinstance(found, ClassType):
                        self.of(found.name)
        for layer in orm.LAYERS:
            self._found.update(layer.settle({model.name: model for model in self.known() if model.layer == layer.name}))
        return self.known()

    def related(self) -> dict[tuple[str, str], tuple[str, bool]]:
        """The ways back of relations: (model, attribute) -> (other model, single)."""
        if self._related is None:
            self._related = related_names(self.all())
        return self._related

    def user(self) -> Type | None:
        """The project's own user model, the library's when it has none."""
        for layer in orm.LAYERS:
            own = [model for model in self.all() if layer.is_user(model)]
            if len(own) == 1:
                return ClassType(own[0].name)
        return None

    def _read(self, cls: str) -> Model | None:
        info = self._linker.classes.known.get(cls)
        if info is None:
            return orm.library_model(cls.replace(":", "."))
        _, library = self._linker.classes.order(cls)
        decorators = [self._linker.module_level(decorator, info.module) for decorator in info.fact.decorators]
        made = [kind.path for kind in decorators if isinstance(kind, LibraryType | LibraryInstance)]
        layers = [layer for layer in orm.LAYERS if any(layer.model_base(path) for path in (*library, *made))]
        return self._read_as(min(layers, key=lambda layer: layer.name), info) if layers else None

    def _read_as(self, layer: orm.Layer, info: ClassInfo) -> Model:
        """A class as a model, or as what lends its columns to models."""
        cls = info.id
        parents: list[Model] = []
        unknown = False
        for base in info.fact.bases:
            found = self._linker.module_level(base.base if isinstance(base, f.Subscript) else base, info.module)
            if isinstance(found, ClassType):
                parent = self.of(found.name)
                if parent is None and layer.mixins and found.name in self._linker.classes.known:
                    parent = self._read_as(layer, self._linker.classes.known[found.name])
                if parent is not None:
                    parents.append(parent)
            elif isinstance(found, LibraryType | LibraryInstance):
                known = layer.library_model(found.path)
                if known is not None:
                    parents.append(known)
                elif not layer.model_base(found.path) and _may_bring_columns(found.path):
                    unknown = True
            elif not isinstance(base, f.Subscript):
                unknown = True
        model = layer.read_model(
            cls,
            info.fact,
            Site(info.module.file.path, info.piece, info.fact.name_at),
            parents,
            unknown,
            lambda expr: self._linker.class_level(expr, info),
            self._linker.library_base,
            lambda expr: self._linker.assigned(expr, info.module),
        )
        for call in _calls_beside(info) if layer.mixins else ():
            model = layer.outside_key(model, call, lambda expr: self._linker.class_level(expr, info))
        return model


def _may_bring_columns(path: str) -> bool:
    """Whether a library base may bring columns along that nobody has seen; those of Python itself do not."""
    return path.partition(".")[0] not in sys.stdlib_module_names


def _calls_beside(info: ClassInfo) -> list[f.Call]:
    """Calls that stand as statements of their own in the module of a class and name it."""
    found: list[f.Call] = []
    for _, body in info.module.loose_pieces():
        for statement in body:
            value = statement.value if isinstance(statement, f.Assign | f.Evaluate) else None
            if isinstance(value, f.Call) and any(info.fact.name in _names_of(each) for each in value.arguments):
                found.append(value)
    return found


def _names_of(given: f.Argument) -> set[str]:
    """The name that the attribute given as an argument starts from."""
    value = given.value
    while isinstance(value, f.Attribute):
        value = value.base
    return {value.id} if isinstance(value, f.Name) else set()


_CLASS = re.compile(r"^class\s", re.MULTILINE)


def related_names(models: Iterable[Model]) -> dict[tuple[str, str], tuple[str, bool]]:
    """The ways back of relations among these models: (model, attribute) -> (other model, single)."""
    given = list(models)
    found: dict[tuple[str, str], tuple[str, bool]] = {}
    for layer in orm.LAYERS:
        found.update(layer.related_names([model for model in given if model.layer == layer.name]))
    return found
