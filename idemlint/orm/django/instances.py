"""Methods of one row."""

from __future__ import annotations

from collections.abc import Callable

from idemlint.orm.arguments import argument, is_false, is_true, named, strings
from idemlint.orm.django.rows import receiver
from idemlint.orm.terms import Outcome
from idemlint.program import DataOperation, Model
from idemlint.syntax import facts as f

_READ = frozenset({"clean", "clean_fields", "full_clean", "validate_constraints", "validate_unique"})


def _save(call: f.Call, model: Model) -> Outcome:
    written = argument(call, 3, "update_fields")
    insert, update = argument(call, 0, "force_insert"), argument(call, 1, "force_update")
    fields = strings(written)
    # A tuple names the classes of the hierarchy to insert.
    forced = is_true(insert) or isinstance(insert, f.Display)
    known = (fields is not None or is_false(written)) and (forced or is_false(insert)) and named(call)[1]
    force = "insert" if forced else "update" if is_true(update) else ""
    done = DataOperation("save", model.name, objects=receiver(call), fields=fields, opaque=not known, force=force)
    return done, None


def _refresh(call: f.Call, model: Model) -> Outcome:
    fields = strings(argument(call, 1, "fields"))
    return DataOperation("refresh", model.name, objects=receiver(call), fields=fields), None


def _remove(call: f.Call, model: Model) -> Outcome:
    return DataOperation("delete", model.name, objects=receiver(call)), None


def _check(call: f.Call, model: Model) -> Outcome:
    return DataOperation("read", model.name, objects=receiver(call)), None


METHODS: dict[str, Callable[[f.Call, Model], Outcome]] = {
    "save": _save,
    "save_base": _save,
    "delete": _remove,
    "refresh_from_db": _refresh,
    **dict.fromkeys(_READ, _check),
}
