"""Attributes of models and rows: managers, related rows, and the names that relations have at their other end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from idemlint.orm.django.fields import ONE_TO_ONE, USER
from idemlint.orm.django.managers import rows
from idemlint.orm.terms import Related
from idemlint.program import Field, InstanceType, LibraryType, Model, RowsType, Type

_DEFAULT_USER = "django.contrib.auth.models:User"
_USER_BASE = "django.contrib.auth.base_user:AbstractBaseUser"

_ROWS_MODULES = ("django.db.models.", "django_stubs_ext.", "django.contrib.auth.")
_ROWS_CLASSES = ("QuerySet", "QuerySetAny", "ValuesQuerySet", "Manager", "ManyRelatedManager", "RelatedManager")

_CLASS_ATTRIBUTES = {
    "DoesNotExist": "django.core.exceptions.ObjectDoesNotExist",
    "MultipleObjectsReturned": "django.core.exceptions.MultipleObjectsReturned",
    "NotUpdated": "django.core.exceptions.ObjectNotUpdated",
}


def static(model: Model, name: str) -> Type | None:
    """What `Model.name` is, where Django's metaclass makes it: a manager or one of the model's exceptions."""
    if name in _CLASS_ATTRIBUTES:
        return LibraryType(_CLASS_ATTRIBUTES[name])
    if name == "_base_manager":
        return RowsType(model.name)
    if name == "_default_manager":
        return rows(model, model.managers[0][0]) if model.managers else RowsType(model.name)
    return rows(model, name) if any(name == manager for manager, _ in model.managers) else None


def attribute(model: Model, name: str, related: Related) -> Type | None:
    """What `row.name` is when it leads to other rows, forward or back; None for a plain value."""
    field = next((field for field in model.fields if field.name == name), None)
    if field is not None and field.target is not None and ":" in field.target:
        return RowsType(field.target, through=name) if field.kind == "relation-many" else InstanceType(field.target)
    found = related.get((model.name, name))
    if found is None:
        return None
    return InstanceType(found[0]) if found[1] else RowsType(found[0], through=name)


def annotated_rows(path: str, item: Type | None) -> RowsType | None:
    """What `QuerySet[Order]` in an annotation is, for the generic class at `path` and what its argument stands for."""
    if not (path.startswith(_ROWS_MODULES) and path.endswith(_ROWS_CLASSES) and isinstance(item, InstanceType)):
        return None
    return RowsType(item.name)


def item(found: RowsType) -> Type | None:
    """What a loop over these rows, or an index into them, gives."""
    return None if found.values else InstanceType(found.model)


def related_names(models: Iterable[Model]) -> dict[tuple[str, str], tuple[str, bool]]:
    """(model id, attribute) -> (id of the model at the other end, whether that is one row).

    These are all ways back of relations, and the ways forth whose target was written as text. Relations of an abstract
    model are those of its children; a model also has the ways back of its parents.
    """
    given = {model.name: model for model in models}
    known = settle(given)
    children: dict[str, list[str]] = {}
    for model in known.values():
        for base in model.bases:
            children.setdefault(base, []).append(model.name)
    found: dict[tuple[str, str], tuple[str, bool]] = {}
    for model in known.values():
        for field, as_given in zip(model.fields, given[model.name].fields, strict=True):
            if field.target is not None and field != as_given:
                found[model.name, field.name] = (field.target, field.kind != "relation-many")
        for field in _relations_of_its_own(model, known):
            name = way_back(model, field)
            if name is not None and field.target is not None:
                for target in (field.target, *children.get(field.target, ())):
                    found[target, name] = (model.name, is_single(model, field))
    return found


def way_back(model: Model, field: Field) -> str | None:
    """The name that a relation has on the rows it points at, None if it has none."""
    if field.target is None or (field.related or "").endswith("+"):
        return None
    title = model.title.lower()
    if field.related is None:
        return title if is_single(model, field) else f"{title}_set"
    names = {"class": title, "model_name": title, "app_label": app_label(model.name)}
    written = field.related
    for placeholder, value in names.items():
        written = written.replace(f"%({placeholder})s", value)
    return written


def is_single(model: Model, field: Field) -> bool:
    """Whether the relation is one to one: then the way back gives a row, not rows."""
    return any(key.columns == (field.name,) and key.source == ONE_TO_ONE for key in model.unique)


def app_label(model: str) -> str:
    """The label of the application that a model's module belongs to, by the usual layout: `shop.models.order` and
    `apps.shop.models` are of `shop`."""
    parts = model.partition(":")[0].split(".")
    if "models" in parts[1:]:
        return parts[parts.index("models", 1) - 1]
    return parts[-2] if len(parts) > 1 else parts[0]


def is_user(model: Model) -> bool:
    """Whether the project may have made this model its user model."""
    return not model.abstract and _USER_BASE in model.bases


def settle(models: Mapping[str, Model]) -> dict[str, Model]:
    """The models with every relation that was written as text (`"shop.Order"`, `settings.AUTH_USER_MODEL`) pointing at
    the id of its model. A target that cannot be told becomes None."""
    return {name: replace(model, fields=tuple(_settled(model, models))) for name, model in models.items()}


def labelled(label: str, models: Mapping[str, Model], near: str = "") -> str | None:
    """The id of the model that is called `shop.Order`, or `Order` in the application of the model `near`."""
    app, _, title = label.rpartition(".")
    app = app or app_label(near)
    named = [name for name in models if models[name].title.lower() == title.lower()]
    within = [name for name in named if app_label(name) == app]
    likely = within or [name for name in named if app in name.partition(":")[0].split(".")] or named
    return likely[0] if len(likely) == 1 else None


def _settled(model: Model, models: Mapping[str, Model]) -> Iterator[Field]:
    for field in model.fields:
        target = field.target
        if target == USER:
            users = [name for name, candidate in models.items() if is_user(candidate)] or [_DEFAULT_USER]
            target = users[0] if len(users) == 1 else None
        elif target is not None and ":" not in target:
            target = labelled(target, models, model.name)
        yield replace(field, target=target)


def _relations_of_its_own(model: Model, known: Mapping[str, Model]) -> Iterator[Field]:
    """Relations of the model's own table: those of a parent with a table belong to the parent."""
    if model.abstract:
        return
    parents = [known[base] for base in model.bases if base in known and not known[base].abstract]
    for field in model.fields:
        if field.target is not None and not any(field in parent.fields for parent in parents):
            yield field
