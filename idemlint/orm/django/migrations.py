"""What migrations say of unique keys that the model may not name itself."""

from __future__ import annotations

from collections.abc import Iterator

from idemlint.orm.arguments import argument, last_name, positional, text
from idemlint.orm.django.constraints import constraint
from idemlint.orm.django.meta import TOGETHER, together
from idemlint.orm.django.words import Words
from idemlint.orm.terms import Change, LibraryBase, Resolve
from idemlint.program import UniqueKey
from idemlint.syntax import facts as f

MIGRATES = frozenset({"AddConstraint", "RemoveConstraint", "AlterUniqueTogether"})


def migrated(body: f.Body, path: str, resolve: Resolve, library_base: LibraryBase) -> Iterator[tuple[Change, int]]:
    """The unique keys that the operations in a migration add and remove, each with its ordinal. `path` is the
    migration's file: an operation names its model, and the folder the application."""
    folders = path.split("/")
    app = folders[folders.index("migrations") - 1] if "migrations" in folders[1:] else ""
    calls = sorted((part for part in f.walk(body) if isinstance(part, f.Call)), key=lambda call: call.at)
    for call in calls if app else ():
        word = last_name(call.function)
        if word in MIGRATES:
            for change in _changes(word, call, app, Words(resolve, library_base)):
                yield change, call.at


def _changes(word: str, call: f.Call, app: str, words: Words) -> Iterator[Change]:
    model = text(argument(call, 0, "name" if word == "AlterUniqueTogether" else "model_name"))
    if model is None:
        return
    label = f"{app}.{model}"
    match word:
        case "AddConstraint":
            added = argument(call, 1, "constraint")
            key, known = constraint(added, words) if added is not None else (None, False)
            name = text(argument(added, None, "name")) if isinstance(added, f.Call) else None
            if key is not None or not known:
                yield Change(label=label, unique=(key,) if key is not None else (), hidden=not known, name=name or "")
        case "RemoveConstraint":
            yield Change(label=label, name=text(argument(call, 1, "name")) or "?", drops=True)
        case "AlterUniqueTogether":
            yield Change(label=label, unique=(UniqueKey((), source=TOGETHER),), drops=True)
            given = argument(call, 1, "unique_together")
            if given is not None:
                # An empty set is a call, and no key.
                empty = isinstance(given, f.Call) and not positional(given)
                keys, known = ((), True) if empty else together(given)
                for key in keys:
                    yield Change(label=label, unique=(key,))
                if not known:
                    yield Change(label=label, hidden=True)
