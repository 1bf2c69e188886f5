"""Signals of models: which there are, what receives them, and which calls send them."""

from __future__ import annotations

from collections.abc import Iterator

from idemlint.orm.arguments import argument
from idemlint.orm.django.words import library_id
from idemlint.orm.terms import Reception, Resolve
from idemlint.program import ClassType, DataOperation, LibraryType
from idemlint.syntax import facts as f

_MODULE = "django.db.models.signals."
_NAMES = frozenset({"pre_init", "post_init", "pre_save", "post_save", "pre_delete", "post_delete", "m2m_changed"})
_RECEIVER = frozenset({"django.dispatch.receiver", "django.dispatch.dispatcher.receiver"})

_SENT = {
    "save": ("pre_save", "post_save"),
    "insert": ("pre_save", "post_save"),
    "get-or-insert": ("pre_save", "post_save"),
    "upsert": ("pre_save", "post_save"),
    "delete": ("pre_delete", "post_delete"),
    "link": ("m2m_changed",),
}


def signal(path: str) -> str | None:
    """The name of the model signal at a library path."""
    name = path.removeprefix(_MODULE)
    return name if path.startswith(_MODULE) and name in _NAMES else None


def sent(operation: DataOperation) -> tuple[str, ...]:
    """The signals that an operation sends; bulk calls and `update` send none."""
    return _SENT.get(operation.kind, ())


def receiver(decorator: f.Expr, resolve: Resolve) -> tuple[Reception, ...]:
    """What a function with the decorator `@receiver(post_save, sender=Model)` receives; nothing for any other."""
    if not isinstance(decorator, f.Call):
        return ()
    found = resolve(decorator.function)
    signals = argument(decorator, 0, "signal")
    if not (isinstance(found, LibraryType) and found.path in _RECEIVER) or signals is None:
        return ()
    items = signals.items if isinstance(signals, f.Display) else (signals,)
    return tuple(_receptions(items, argument(decorator, None, "sender"), resolve))


def connection(call: f.Call, resolve: Resolve) -> tuple[f.Expr, Reception] | None:
    """The handler and what it receives of `post_save.connect(handler, sender=Model)`; None for any other call."""
    if not (isinstance(call.function, f.Attribute) and call.function.name == "connect"):
        return None
    handler = argument(call, 0, "receiver")
    found = list(_receptions((call.function.base,), argument(call, 1, "sender"), resolve))
    return (handler, found[0]) if handler is not None and found else None


def _receptions(signals: tuple[f.Expr, ...], sender: f.Expr | None, resolve: Resolve) -> Iterator[Reception]:
    source = _sender(sender, resolve)
    for expression in signals:
        found = resolve(expression)
        name = signal(found.path) if isinstance(found, LibraryType) else None
        if name is not None and (sender is None or source is not None):
            yield Reception(name, source)


def _sender(sender: f.Expr | None, resolve: Resolve) -> str | None:
    if sender is None:
        return None
    found = resolve(sender)
    if isinstance(found, ClassType):
        return found.name
    if isinstance(found, LibraryType):
        return library_id(found.path)
    return sender.value if isinstance(sender, f.Constant) and isinstance(sender.value, str) else None
