"""Models that are classes with a field an attribute and an inner class of options, as most layers have them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from idemlint.orm.arguments import last_name, members, strings, text
from idemlint.orm.terms import LibraryBase, Resolve
from idemlint.program import ClassType, Field, LibraryInstance, LibraryType, Model, Site, UniqueKey
from idemlint.syntax import facts as f

PRIMARY = "primary key"
UNIQUE = "unique=True"


@dataclass(frozen=True, slots=True)
class Reader:
    """`resolve` says what an expression in a class body is, `library_base` the first library class that a class of the
    project derives from, so that fields of the project's own are known."""

    resolve: Resolve
    library_base: LibraryBase

    def path(self, expression: f.Expr) -> str:
        """The library path of what the expression names; the last name as written where that is unknown."""
        found = self.resolve(expression)
        if isinstance(found, LibraryType | LibraryInstance):
            return found.path
        if isinstance(found, ClassType):
            return self.library_base(found) or last_name(expression)
        return last_name(expression)

    def tail(self, expression: f.Expr) -> str:
        """The last part of `path`."""
        return self.path(expression).rpartition(".")[2]

    def model(self, expression: f.Expr, own: str) -> str | None:
        """The id of the class that an expression names, `own` for the class itself; a text that names one as it is."""
        found = self.resolve(expression)
        if isinstance(found, ClassType):
            return found.name
        written = text(expression)
        return own if written == "self" else written


@dataclass(frozen=True, slots=True)
class Declared:
    """A field of a class body and its unique key, if it has one of its own."""

    field: Field
    key: UniqueKey | None = None


def assignments(body: f.Body) -> Iterator[tuple[str, f.Expr, int]]:
    """Names, values and ordinals of what a class body assigns, the branches of its `if` included."""
    for statement in body:
        if isinstance(statement, f.Assign) and statement.value is not None:
            for target in statement.targets:
                if isinstance(target, f.Name):
                    yield target.id, statement.value, statement.at
        elif isinstance(statement, f.If):
            yield from assignments(statement.body + statement.orelse)


def options(cls: f.Class, name: str = "Meta") -> dict[str, f.Expr]:
    """What the inner class of options assigns."""
    inner = (statement for statement in cls.body if isinstance(statement, f.Class) and statement.name == name)
    return {option: value for each in inner for option, value, _ in assignments(each.body)}


def kind_of(word: str, kinds: Mapping[str, str]) -> str | None:
    """The kind of a field by the end of its class's name: `BigIntegerField` is an `IntegerField`."""
    ends = [end for end in kinds if word.endswith(end)]
    return kinds[max(ends, key=len)] if ends else None


def together(value: f.Expr | None, source: str) -> tuple[tuple[UniqueKey, ...], bool]:
    """The keys of `unique_together` and the like, and whether all of it could be read: `("a", "b")` is one of them,
    `(("a", "b"), ("c",))` are two."""
    if value is None:
        return (), True
    parts = tuple(members(value))
    flat = strings(f.Display(value.at, "tuple", parts))
    if flat:
        return (UniqueKey(flat, source=source),), True
    named = [strings(part) for part in parts]
    return tuple(UniqueKey(columns, source=source) for columns in named if columns), None not in named


def inherited(parents: Sequence[Model], replaced: Collection[str]) -> tuple[tuple[Field, ...], tuple[UniqueKey, ...]]:
    """The columns that a class gets from its parents, and their unique keys, but those it replaces."""
    fields: dict[str, Field] = {}
    keys: dict[UniqueKey, None] = {}
    for parent in parents:
        for field in parent.fields:
            if field.name not in replaced:
                fields.setdefault(field.name, field)
        keys.update(dict.fromkeys(key for key in parent.unique if not set(key.columns) & set(replaced)))
    return tuple(fields.values()), tuple(keys)


def bases_of(parents: Sequence[Model]) -> tuple[str, ...]:
    """The ids of all models that a class inherits from, nearest first."""
    return tuple(dict.fromkeys(base for parent in parents for base in (parent.name, *parent.bases)))


def fields_in(body: f.Body, reader: Reader, kinds: Mapping[str, str]) -> Iterator[tuple[str, str, str, f.Call, int]]:
    """The attributes of a class body that are fields: name, kind, the class of the field, the call that makes it, and
    the ordinal of the assignment."""
    for name, value, at in assignments(body):
        if isinstance(value, f.Call):
            word = reader.tail(value.function)
            kind = kind_of(word, kinds)
            if kind is not None:
                yield name, kind, word, value, at


@dataclass(frozen=True, slots=True)
class Body:
    """What the body of a class says of its model: the fields, all unique keys, whether all of it could be read,
    whether the layer adds an id where no field is one, and what `Model` has of these names."""

    fields: tuple[Field, ...]
    keys: tuple[UniqueKey, ...]
    whole: bool
    numbered: bool
    table: str
    abstract: bool = False
    open: bool = False


def model_of(
    name: str, cls: f.Class, layer: str, site: Site, parents: Sequence[Model], unknown_bases: bool, body: Body
) -> Model:
    """The model that the class `cls` with the id `name` is, by what its body says and what it gets from `parents`;
    `unknown_bases` says that it has others which could not be resolved."""
    fields, keys = inherited(parents, [field.name for field in body.fields])
    fields, keys = (*fields, *body.fields), (*keys, *body.keys)
    if body.numbered and not any(field.kind == "id" for field in fields):
        fields = (Field("id", "id"), *fields)
        keys = (UniqueKey(("id",), source=PRIMARY), *keys)
    model = Model(
        name,
        cls.name,
        layer,
        site,
        fields,
        (),
        body.abstract,
        seen=not unknown_bases and body.whole and all(parent.seen for parent in parents),
        bases=bases_of(parents),
        table=body.table,
        open=body.open or any(parent.open for parent in parents),
    )
    return replace(model, unique=tuple(dict.fromkeys(_normalised(model, key) for key in keys)))


def _normalised(model: Model, key: UniqueKey) -> UniqueKey:
    """The key in the one spelling of its columns."""
    return replace(key, columns=tuple(dict.fromkeys(model.column(column) for column in key.columns)))


def settle(models: Mapping[str, Model]) -> dict[str, Model]:
    """The models with every relation that was written as text (`"User"`, `"models.User"`) pointing at the id of its
    model, if only one is so called."""
    titles: dict[str, list[str]] = {}
    for model in models.values():
        titles.setdefault(model.title, []).append(model.name)

    def target(name: str | None) -> str | None:
        if name is None or ":" in name:
            return name
        named = titles.get(name.rpartition(".")[2], [])
        return named[0] if len(named) == 1 else None

    return {
        name: replace(model, fields=tuple(replace(field, target=target(field.target)) for field in model.fields))
        for name, model in models.items()
    }
