"""Tasks without a framework: functions that a queue's client is handed, to be called with each message."""

from __future__ import annotations

from collections.abc import Sequence

from idemlint.catalog.consumer import Consumer
from idemlint.catalog.rows import Slot
from idemlint.link.alternatives import items
from idemlint.link.declaring import Declaring
from idemlint.link.drafts import Draft, refer
from idemlint.link.linker import Linker
from idemlint.link.modules import Module
from idemlint.link.production import is_production
from idemlint.link.reading import slot_value
from idemlint.program import Intake, LibraryInstance, Option, PartialType, RoutineType, Site
from idemlint.syntax import facts as f


def call_back(walk: Declaring, row: Consumer, path: str, call: f.Call) -> None:
    """The functions that a receiving call is handed are tasks."""
    given = slot_value(row.callback, call) if row.callback else None
    if given is None or not is_production(walk.module.file.path):
        return
    for expr in [item.expr for item in items(given, walk.place)] if isinstance(given, f.Display) else [given]:
        routine = walk.referred(expr, by_path=False)
        if routine is not None and intakes(walk.linker, walk.linker.origin(routine)):
            refer(walk.linker, _draft(walk, row, path, call, expr, routine))


def intakes(linker: Linker, function: str) -> bool:
    """Whether a function may become a consumer: one that a framework runs keeps being that framework's task."""
    known = linker.drafts.get(function)
    return known is None or known.intake is not None


def _draft(walk: Declaring, row: Consumer, path: str, call: f.Call, given: f.Expr, routine: RoutineType) -> Draft:
    function = walk.linker.origin(routine)
    parameters = walk.linker.functions[function].fact.parameters[1 if routine.receiver is not None else 0 :]
    # Arguments that are bound already come first.
    kind = walk.evaluate(given)
    names = [each.name for each in parameters][len(kind.positional) if isinstance(kind, PartialType) else 0 :]
    passed = dict(enumerate(names))
    types = tuple(
        (passed[_position(slot)], LibraryInstance(type))
        for slot, type in row.passes.items()
        if _position(slot) in passed
    )
    message = passed.get(_position(row.message))
    return Draft(
        function,
        row.name,
        path,
        routine,
        receiving_options(row, call, walk.module, walk.piece),
        Site(walk.module.file.path, walk.piece, call.at),
        referred=True,
        intake=Intake(
            row,
            False,
            row.key.replace("$message", message) if message is not None else "",
            asks_for_time(row, walk.linker.functions[function].module, walk.module),
        ),
        given=types,
    )


def asks_for_time(row: Consumer, *modules: Module) -> bool:
    """Whether the code around a consumer, be it a thread beside it, asks the queue to wait longer."""
    names = {call.rpartition(".")[2] for call in row.renew}
    return any(name in module.text for name in names for module in modules)


def _position(slot: str) -> int:
    return int(slot.removeprefix("#"))


def receiving_options(row: Consumer, call: f.Call, module: Module, piece: int) -> tuple[Option, ...]:
    """What a receiving call says about delivery, each under the name that its row gives first."""
    found: list[Option] = []
    for slots in (row.lease, row.batch, row.dropped.argument if row.dropped is not None else ()):
        value = slot_value(slots, call) if slots else None
        if value is not None:
            site = Site(module.file.path, piece, value.at)
            found.append(Option(option_name(slots), value, module.id, site, "receiving call"))
    return tuple(found)


def option_name(slots: Sequence[Slot]) -> str:
    """The name under which an argument of a receiving call is an option."""
    return slots[0].items[-1] if slots[0].items else slots[0].argument
