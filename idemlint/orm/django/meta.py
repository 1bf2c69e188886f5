"""`class Meta`: the unique keys it declares and those it takes over from the Meta of an abstract parent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from idemlint.orm.arguments import is_true, last_name, members, strings, text
from idemlint.orm.django.constraints import CONSTRAINTS, constraint, null_twins
from idemlint.orm.django.fields import assignments
from idemlint.orm.django.words import Words, library_id
from idemlint.program import LibraryType, Model, UniqueKey
from idemlint.syntax import facts as f

TOGETHER = "unique_together"


@dataclass(frozen=True, slots=True)
class Meta:
    """What a Meta says. `complete` is False when a unique key may hide in a part that could not be read. `null_twins`
    are (columns, other column) of the keys that hold for the rows in which that other column is NULL."""

    keys: tuple[UniqueKey, ...]
    complete: bool
    null_twins: tuple[tuple[tuple[str, ...], str], ...] = ()
    abstract: bool = False
    managed: bool = True
    default_manager: str | None = None
    table: str | None = None
    label: str | None = None
    default_related_name: str | None = None


def read_meta(cls: f.Class, parents: Sequence[Model], words: Words) -> Meta:
    """The Meta of a model. Without one of its own the model has that of its first abstract parent; one of its own
    inherits only what it names as its base (`class Meta(Parent.Meta)`)."""
    own = next((part for part in cls.body if isinstance(part, f.Class) and part.name == "Meta"), None)
    if own is None:
        above = next((parent for parent in parents if parent.abstract), None)
        return Meta(meta_keys(above) if above else (), True)
    values = {name: value for name, value, _ in assignments(own.body)}
    bases, complete = _bases(own, parents, words)
    keys: list[UniqueKey] = []
    for option in (TOGETHER, CONSTRAINTS):
        if option in values:
            found, known = _declared(option, values[option], parents, words)
        else:
            found, known = _first_declared(option, bases), True
        keys.extend(found)
        complete = complete and known
    managed = values.get("managed")
    return Meta(
        tuple(keys),
        complete,
        tuple(null_twins(values.get(CONSTRAINTS))),
        is_true(values.get("abstract")),
        not (isinstance(managed, f.Constant) and managed.value is False),
        text(values.get("default_manager_name")),
        text(values.get("db_table")),
        text(values.get("app_label")),
        text(values.get("default_related_name")),
    )


def meta_keys(model: Model) -> tuple[UniqueKey, ...]:
    """The unique keys of a model that its Meta declares, not its fields."""
    return tuple(key for key in model.unique if key.source in (TOGETHER, CONSTRAINTS))


def _first_declared(option: str, models: Sequence[Model]) -> tuple[UniqueKey, ...]:
    for model in models:
        found = tuple(key for key in model.unique if key.source == option)
        if found:
            return found
    return ()


def together(value: f.Expr) -> tuple[tuple[UniqueKey, ...], bool]:
    """The keys of a value of `unique_together`, and whether all of it could be read."""
    parts = tuple(members(value))
    flat = _flat(parts)
    if flat is not None:
        return (flat,), True
    named = [strings(part) for part in parts]
    return tuple(UniqueKey(columns, source=TOGETHER) for columns in named if columns), None not in named


def _flat(parts: tuple[f.Expr, ...]) -> UniqueKey | None:
    """`unique_together = ("order", "number")`: one key, its columns not in a tuple of their own."""
    flat = tuple(column for column in map(text, parts) if column is not None)
    return UniqueKey(flat, source=TOGETHER) if flat and len(flat) == len(parts) else None


def _bases(meta: f.Class, parents: Sequence[Model], words: Words) -> tuple[tuple[Model, ...], bool]:
    found: list[Model] = []
    complete = True
    for base in meta.bases:
        parent = _owner(base, parents, words)
        if parent is not None:
            found.append(parent)
        else:
            # Base classes of Meta from libraries are typing helpers.
            complete = complete and (isinstance(words.resolve(base), LibraryType) or last_name(base) == "object")
    return tuple(found), complete


def _owner(expression: f.Expr, parents: Sequence[Model], words: Words) -> Model | None:
    """The parent P of `P.Meta`."""
    if not (isinstance(expression, f.Attribute) and expression.name == "Meta"):
        return None
    base = expression.base
    found = words.resolve(base)
    name = library_id(found.path) if isinstance(found, LibraryType) else words.project_class(base)
    by_id = next((parent for parent in parents if parent.name == name), None)
    return by_id or next((parent for parent in parents if parent.title == last_name(base)), None)


def _declared(option: str, value: f.Expr, parents: Sequence[Model], words: Words) -> tuple[tuple[UniqueKey, ...], bool]:
    """The keys of the value of `unique_together` or `constraints`, and whether all of it could be read."""
    parts = tuple(members(value))
    flat = _flat(parts) if option == TOGETHER else None
    if flat is not None:
        return (flat,), True
    keys: list[UniqueKey] = []
    complete = True
    for part in parts:
        if isinstance(part, f.Starred):
            parent = _owner(part.value.base, parents, words) if isinstance(part.value, f.Attribute) else None
            keys.extend(_first_declared(option, [parent]) if parent else ())
            complete = complete and parent is not None
            continue
        if option == TOGETHER:
            columns = strings(part)
            found, known = (UniqueKey(columns, source=TOGETHER) if columns else None), columns is not None
        else:
            found, known = constraint(part, words)
        keys.extend([found] if found else [])
        complete = complete and known
    return tuple(keys), complete
