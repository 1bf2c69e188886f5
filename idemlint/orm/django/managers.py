"""Managers: which class attributes give rows, and which project classes add methods to them."""

from __future__ import annotations

from collections.abc import Sequence

from idemlint.orm.arguments import positional
from idemlint.orm.django.fields import assignments
from idemlint.orm.django.words import Words
from idemlint.program import Model, RowsType
from idemlint.syntax import facts as f

Managers = tuple[tuple[str, str | None], ...]
Querysets = tuple[tuple[str, str], ...]


def declared_managers(
    cls: f.Class, parents: Sequence[Model], abstract: bool, default: str | None, words: Words
) -> tuple[Managers, Querysets]:
    """`Model.managers` and `Model.querysets` of a class: its own managers, then those of its parents, the one that
    Meta calls the default before all; Django's `objects` when there is none."""
    managers: dict[str, str | None] = {}
    querysets: dict[str, str] = {}
    for name, value, _ in assignments(cls.body):
        found = _manager(value, words)
        if found is not None:
            managers[name] = found[0]
            if found[1] is not None:
                querysets[name] = found[1]
    for parent in parents:
        second = dict(parent.querysets)
        for name, manager in parent.managers:
            if name not in managers:
                managers[name] = manager
                if name in second:
                    querysets[name] = second[name]
    if not managers and not abstract:
        managers["objects"] = None
    ordered = sorted(managers.items(), key=lambda item: item[0] != default)
    return tuple(ordered), tuple(querysets.items())


def manager_parts(expression: f.Expr) -> tuple[f.Expr, f.Expr] | None:
    """The two classes that `SomeManager.from_queryset(SomeQuerySet)` makes one of, for a class statement's base or an
    assignment; None for any other expression."""
    if not (isinstance(expression, f.Call) and isinstance(expression.function, f.Attribute)):
        return None
    given = positional(expression)
    if expression.function.name != "from_queryset" or not given:
        return None
    return expression.function.base, given[0]


def rows(model: Model, attribute: str, through: str | None = None) -> RowsType:
    """The rows that the manager at this attribute gives."""
    return RowsType(model.name, dict(model.managers).get(attribute), through, dict(model.querysets).get(attribute))


def managed(found: RowsType, model: Model) -> RowsType:
    """Rows of a relation with the methods of the related model's default manager, which they have as well."""
    return rows(model, model.managers[0][0], found.through) if model.managers and found.manager is None else found


def _manager(value: f.Expr, words: Words) -> tuple[str | None, str | None] | None:
    """The project classes (manager, queryset) behind an attribute's value; None if it is no manager."""
    if not isinstance(value, f.Call):
        return None
    function = value.function
    if isinstance(function, f.Attribute) and function.name == "as_manager":
        return words.project_class(function.base), None
    parts = manager_parts(function)
    if parts is not None:
        manager, queryset = words.project_class(parts[0]), words.project_class(parts[1])
        return (manager, queryset) if manager else (queryset, None)
    # A queryset class is called where the name of what `from_queryset` made resolves to the queryset.
    if words.tail(function).endswith(("Manager", "QuerySet")):
        return words.project_class(function), None
    return None
