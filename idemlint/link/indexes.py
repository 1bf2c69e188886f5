"""Unique keys that calls make somewhere in the project, such as a start-up function that nobody links."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from idemlint import orm
from idemlint.link.alternatives import Place, items
from idemlint.link.entries import function_info, functions_in, receiver_of
from idemlint.link.linker import Linker
from idemlint.link.modules import Module
from idemlint.link.production import is_production
from idemlint.link.within import calls_in
from idemlint.program import Model, RowsType, Type
from idemlint.syntax import facts as f

Types = Callable[[f.Expr], Type | None]


def find_indexes(linker: Linker) -> frozenset[str]:
    """Add to the tables met so far the keys that index calls on them declare. Where a unique one is made on what nobody
    can tell, any table of documents may have it, and none of them counts as seen. Gives the models whose rows expire by
    such an index."""
    words = sorted(orm.INDEXES)
    pattern = re.compile(rf"\.(?:{'|'.join(map(re.escape, words))})\s*\(")
    found: dict[str, list[Model]] = {}
    hidden = False
    expiring: set[str] = set()
    for source in linker.project.mentioning(words):
        module = linker.modules.load(source) if is_production(source.path) else None
        for index, piece in enumerate(module.pieces if module is not None else ()):
            if module is None or not pattern.search(piece.text):
                continue
            for call, place, resolve in _calls(linker, module, index):
                model = _indexed(linker, call, resolve)
                if model is None:
                    hidden = hidden or _may_be_unique(call)
                    continue
                spelled = _spelled(call, place)
                if orm.expires(spelled):
                    expiring.add(model.name)
                told = found.setdefault(model.name, [])
                told.append(orm.outside_key(told[-1] if told else model, spelled, resolve))
    for model in linker.models.known():
        told = found.get(model.name, [])
        if told or (model.open and hidden):
            whole = bool(told) and all(each.seen for each in told) and not hidden
            linker.models.replace(replace(told[-1] if told else model, seen=whole))
    return frozenset(expiring)


def _calls(linker: Linker, module: Module, piece: int) -> Iterator[tuple[f.Call, Place, Types]]:
    """Index calls in a piece of a module, with what expressions around them are."""
    statements = module.statements(piece)
    if module.pieces[piece].defines is None:
        walk = linker.walk(linker, module, piece)
        walk.statements(statements)
        place = Place(module, piece, (), linker.names)
        yield from ((call, place, _typed(walk.types)) for call in calls_in(statements) if _is_index(call))
        return
    for fact, cls in functions_in(statements):
        found = [call for call in calls_in(fact.body) if _is_index(call)]
        info = function_info(linker, module, piece, fact, cls)
        body = linker.link(info, receiver_of(info)) if found else None
        if body is not None:
            place = Place(module, piece, fact.body, linker.names)
            yield from ((call, place, _typed(body.types)) for call in found)


def _typed(types: Mapping[int, Type]) -> Types:
    return lambda expr: types.get(expr.at)


def _is_index(call: f.Call) -> bool:
    return isinstance(call.function, f.Attribute) and call.function.name in orm.INDEXES


def _indexed(linker: Linker, call: f.Call, resolve: Types) -> Model | None:
    """The table that an index is made on."""
    assert isinstance(call.function, f.Attribute)
    kind = resolve(call.function.base)
    model = linker.models.of(kind.model) if isinstance(kind, RowsType) else None
    return model if model is not None and not orm.is_unnamed(model) else None


def _may_be_unique(call: f.Call) -> bool:
    inner = (argument for part in calls_in(call) for argument in part.arguments)
    return any(given.name == "unique" or given.star for given in inner)


def _spelled(call: f.Call, place: Place) -> f.Call:
    """The call with the list that it is given written out: `create_indexes(INDEXES)`."""
    arguments = tuple(
        f.Argument(
            f.Display(given.value.at, "list", tuple(each.expr for each in items(given.value, place))), given.name
        )
        if isinstance(given.value, f.Name | f.Attribute) and any(items(given.value, place))
        else given
        for given in call.arguments
    )
    return f.Call(call.at, call.function, arguments)
