"""Attributes of models and rows: managers, related rows, and the names that relations have at their other end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from idemlint.orm.django.fields import ONE_TO_ONE, USER
from idemlint.orm.django.managers import rows
from idemlint.program import Field, InstanceType, LibraryType, Model, RowsType, Type

DEFAULT_USER = "django.contrib.auth.models:User"

Related = Mapping[tuple[str, str], tuple[str, bool]]

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
    if field is not None:
        if field.target is None:
            return None
        return RowsType(field.target, through=name) if field.kind == "relation-many" else InstanceType(field.target)
    back = related.get((model.name, name))
    if back is None:
        return None
    return InstanceType(back[0]) if back[1] else RowsType(back[0], through=name)


def item(found: RowsType) -> Type | None:
    """What a loop over these rows, or an index into them, gives."""
    return None if found.values else InstanceType(found.model)


def related_names(models: Iterable[Model]) -> dict[tuple[str, str], tuple[str, bool]]:
    """(model id, attribute) -> (id of the model at the other end, whether that is one row), for every way back.

    Relations of an abstract model are those of its children; a model also has the ways back of its parents.
    """
    known = {model.name: model for model in models}
    children: dict[str, list[str]] = {}
    for model in known.values():
        for base in model.bases:
            children.setdefault(base, []).append(model.name)
    found: dict[tuple[str, str], tuple[str, bool]] = {}
    for model in known.values():
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


def settle(models: Mapping[str, Model], user: str | None = None) -> dict[str, Model]:
    """The models with every relation that was written as text (`"shop.Order"`, `settings.AUTH_USER_MODEL`) pointing at
    the id of its model. `user` is the value of that setting. A target that cannot be told becomes None."""
    return {name: replace(model, fields=tuple(_settled(model, models, user))) for name, model in models.items()}


def _settled(model: Model, models: Mapping[str, Model], user: str | None) -> Iterator[Field]:
    for field in model.fields:
        target = field.target
        if target is not None and ":" not in target:
            if target == USER:
                target = _by_label(user, model, models) if user else DEFAULT_USER
            else:
                target = _by_label(target, model, models)
        yield replace(field, target=target)


def _by_label(label: str, model: Model, models: Mapping[str, Model]) -> str | None:
    app, _, title = label.rpartition(".")
    app = app or app_label(model.name)
    named = [other for other in models if models[other].title.lower() == title.lower()]
    within = [other for other in named if app_label(other) == app]
    near = within or [other for other in named if app in other.partition(":")[0].split(".")]
    if near:
        return near[0]
    return named[0] if len(named) == 1 else None


def _relations_of_its_own(model: Model, known: Mapping[str, Model]) -> Iterator[Field]:
    """Relations of the model's own table: those of a parent with a table belong to the parent."""
    if model.abstract:
        return
    parents = [known[base] for base in model.bases if base in known and not known[base].abstract]
    for field in model.fields:
        if field.target is not None and not any(field in parent.fields for parent in parents):
            yield field
