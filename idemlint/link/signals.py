"""Functions that run when a row is saved or deleted, and the functions that save such rows."""

from __future__ import annotations

import re

from idemlint import orm
from idemlint.link.linker import Linker, Receivers
from idemlint.link.modules import Module
from idemlint.link.production import is_production
from idemlint.program import InstanceType, Model, RoutineType, Type
from idemlint.syntax import facts as f

_WORDS = ("receiver", "connect")
_TEXT = re.compile(r"@\w*\.?receiver\b|\.connect\s*\(")


def receivers(linker: Linker) -> Receivers:
    """Every receiver of a model's signal in the project."""
    found: Receivers = {}
    for source in linker.project.mentioning(_WORDS):
        if not is_production(source.path):
            continue
        module = linker.modules.load(source)
        for index, piece in enumerate(module.pieces):
            if _TEXT.search(piece.text):
                for statement in module.statements(index):
                    _read(linker, module, index, statement, found)
    return found


def _read(linker: Linker, module: Module, piece: int, statement: f.Statement, found: Receivers) -> None:
    def resolve(expr: f.Expr) -> Type | None:
        return linker.module_level(expr, module)

    if isinstance(statement, f.Function):
        info = linker.function(f"{module.id}:{statement.name}", statement, module, piece)
        for decorator in statement.decorators:
            for layer in orm.LAYERS:
                for reception in layer.receiver(decorator, resolve):
                    found.setdefault((reception.signal, _model(linker, layer, reception.sender)), []).append(info)
    elif isinstance(statement, f.Evaluate) and isinstance(statement.value, f.Call):
        for layer in orm.LAYERS:
            connected = layer.connection(statement.value, resolve)
            if connected is None:
                continue
            handler = resolve(connected[0])
            if isinstance(handler, RoutineType):
                key = (connected[1].signal, _model(linker, layer, connected[1].sender))
                found.setdefault(key, []).append(linker.functions[handler.function])


def _model(linker: Linker, layer: orm.Layer, sender: str | None) -> str | None:
    """The id of the model that a receiver names; a label that nobody can place stands for no model at all."""
    if sender is None or ":" in sender:
        return sender
    models = {model.name: model for model in linker.models.all()}
    return layer.labelled(sender, models) or sender


def receiving(linker: Linker) -> dict[str, set[str | None]]:
    """The functions that receive a signal, by id, with the models they receive it from."""
    found: dict[str, set[str | None]] = {}
    for (_, model), functions in linker.receivers.items():
        for info in functions:
            found.setdefault(info.id, set()).add(model)
    return found


def received(linker: Linker, model: Model, signals: tuple[str, ...]) -> tuple[str, ...]:
    """The bodies that run when rows of a model send these signals."""
    bodies: list[str] = []
    for signal in signals:
        for key in ((signal, model.name), (signal, None)):
            for info in linker.receivers.get(key, ()):
                body = linker.link(info, None, (("instance", InstanceType(model.name)),))
                if body is not None:
                    bodies.append(body.key)
    return tuple(bodies)
