"""Calls on Django's models in the words that hold for every data layer."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from idemlint.orm.arguments import named, positional, spread
from idemlint.orm.django import instances, rows
from idemlint.orm.django.relations import item
from idemlint.orm.django.words import library_id
from idemlint.orm.lookups import lookups
from idemlint.orm.terms import Outcome, Resolve
from idemlint.program import (
    ClassType,
    DataOperation,
    InstanceType,
    LibraryType,
    Model,
    RowsType,
    SeveralType,
    Type,
)
from idemlint.syntax import facts as f

_SHORTCUTS = {
    "django.shortcuts.get_object_or_404": "get",
    "django.shortcuts.aget_object_or_404": "get",
    "django.shortcuts.get_list_or_404": "read",
    "django.shortcuts.aget_list_or_404": "read",
}


def operation(
    receiver: Type, method: str, call: f.Call, model: Model, resolve: Resolve | None = None
) -> Outcome | None:
    """What `receiver.method(...)` does, where the receiver is rows or one row of `model`, and what the call gives;
    None for a method that is none of Django's data methods. An async twin (`aget`) is what the plain one is."""
    if isinstance(receiver, RowsType):
        name = _plain(method, rows.METHODS)
        return rows.METHODS[name](receiver, name, call, model) if name in rows.METHODS else None
    if isinstance(receiver, InstanceType):
        name = _plain(method, instances.METHODS)
        return instances.METHODS[name](call, model) if name in instances.METHODS else None
    return None


def construct(model: Model, call: f.Call) -> DataOperation:
    """`Model(a=1)`: an instance made and not stored."""
    values, complete = named(call)
    given = positional(call)
    fields = tuple(field.name for field in model.fields if field.kind != "relation-many")
    # Positional values follow the columns, which only a schema that was read whole can number.
    leading = tuple(zip(fields, given, strict=False)) if model.seen else ()
    known = complete and not spread(call) and len(leading) == len(given)
    return DataOperation("new", model.name, values=leading + values, opaque=not known)


def shortcut(path: str, call: f.Call, resolve: Resolve) -> Outcome | None:
    """`get_object_or_404(Model, pk=1)` and its kin; the first argument is a model, a manager or a queryset."""
    given = positional(call)
    if path not in _SHORTCUTS or not given:
        return None
    source = resolve(given[0])
    name = _model_name(source)
    if name is None:
        return None
    lookup, complete = lookups(replace(call, arguments=_without_first(call)))
    found = source if isinstance(source, RowsType) else RowsType(name)
    if found.through is not None and isinstance(given[0], f.Attribute):
        lookup = ((found.through, given[0].base), *lookup)
    row = item(found)
    done = DataOperation(_SHORTCUTS[path], name, lookup, opaque=not complete)
    return done, row if done.kind == "get" else SeveralType(row)


def rows_attribute(rows: RowsType, model: Model, name: str) -> Type | None:
    """An attribute of a manager or queryset that is no method: `self.model`, the class of its rows."""
    return ClassType(model.name) if name == "model" and ":" in model.name else None


def _plain(method: str, known: Container[str]) -> str:
    """The method whose async twin `method` is."""
    return method.removeprefix("a") if method not in known else method


def _model_name(source: Type | None) -> str | None:
    if isinstance(source, RowsType):
        return source.model
    if isinstance(source, ClassType):
        return source.name
    return library_id(source.path) if isinstance(source, LibraryType) else None


def _without_first(call: f.Call) -> tuple[f.Argument, ...]:
    first = next(at for at, given in enumerate(call.arguments) if given.name is None and not given.star)
    return call.arguments[:first] + call.arguments[first + 1 :]
