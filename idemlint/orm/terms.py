"""The terms in which a data layer is asked and answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from idemlint.program import DataOperation, Field, Type, UniqueKey
from idemlint.syntax import facts as f

# What an expression is in the place it stands in.
Resolve = Callable[[f.Expr], Type | None]
# The first library class that a project class derives from: `django.db.models.CharField` for a field of its own.
LibraryBase = Callable[[Type], str | None]
# What a name at module level was assigned: the expression, where it is seen.
Assigned = Callable[[f.Expr], f.Expr | None]
# Whether a class of the project, by id, is a model of the layer that asks.
IsModel = Callable[[str], bool]
# (model id, attribute) -> (id of the model at the other end, whether that is one row).
Related = Mapping[tuple[str, str], tuple[str, bool]]
# What a call does, and what it gives.
Outcome = tuple[DataOperation, Type | None]


@dataclass(frozen=True, slots=True)
class Reception:
    """A signal that is received: from the model with the id `sender` (None: from every model) or, where the sender is
    named by text, from the one with that label."""

    signal: str
    sender: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """What a migration or a schema says of one table.

    `table` is its name in the database or, where a migration names the model instead, `label` is `app.Model`. `whole`
    says that `fields` are all of its columns, `hidden` that part of what is said could not be read. `name` is that of
    the key, where keys are dropped by name; `drops` says that this key is taken away, or with `name` "" all keys of the
    kind that `source` tells.
    """

    table: str = ""
    fields: tuple[Field, ...] = ()
    unique: tuple[UniqueKey, ...] = ()
    whole: bool = False
    hidden: bool = False
    label: str = ""
    name: str = ""
    drops: bool = False
