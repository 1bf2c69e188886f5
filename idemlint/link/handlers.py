"""Tasks without a framework: functions that a service calls by their name, with the messages it took from a queue."""

from __future__ import annotations

from idemlint.catalog.consumer import Consumer
from idemlint.link.callbacks import intakes
from idemlint.link.drafts import Draft, refer
from idemlint.link.entries import function_info
from idemlint.link.linker import Linker
from idemlint.link.modules import Module
from idemlint.link.production import is_production
from idemlint.program import Intake, RoutineType, Site
from idemlint.syntax import facts as f


def find_handlers(linker: Linker) -> None:
    """Add to `linker.drafts` the functions whose name and parameters say that they are handed messages.

    What else such a function may be called with looks different: its code reads the messages, and what is in them.
    """
    for row in linker.catalog.consumers:
        for source in linker.project.mentioning(row.handlers):
            if not is_production(source.path):
                continue
            module = linker.modules.load(source)
            if all(_reads(module, item) for item in (row.records, *row.parts)):
                for index, piece in enumerate(module.pieces):
                    if piece.defines in row.handlers:
                        _consider(linker, row, module, index)


def _reads(module: Module, item: str) -> bool:
    return f'"{item}"' in module.text or f"'{item}'" in module.text


def _consider(linker: Linker, row: Consumer, module: Module, piece: int) -> None:
    for fact in module.statements(piece):
        if not isinstance(fact, f.Function) or len(fact.parameters) != 2:
            continue
        if not any(_holds(part, fact.parameters[0].name, row.records) for part in f.walk(fact.body)):
            continue
        info = function_info(linker, module, piece, fact, None)
        if intakes(linker, info.id):
            name = _message(fact, row.records)
            intake = Intake(row, False, row.key.replace("$message", name) if name else "")
            site = Site(module.file.path, piece, fact.name_at)
            refer(linker, Draft(info.id, row.name, "", RoutineType(info.id), (), site, referred=True, intake=intake))


def _holds(part: object, event: str, records: str) -> bool:
    """Whether a node is the item of the event that holds its messages: `event["Records"]`, `event.get("Records")`."""
    match part:
        case f.Subscript(base=f.Name(id=name), index=f.Constant(value=value)):
            return name == event and value == records
        case f.Call(function=f.Attribute(base=f.Name(id=name), name="get"), arguments=(first, *_)):
            return name == event and isinstance(first.value, f.Constant) and first.value.value == records
    return False


def _message(fact: f.Function, records: str) -> str:
    """What the loop over the messages calls each; "" if there is none."""
    event = fact.parameters[0].name
    for part in f.walk(fact.body):
        if isinstance(part, f.For) and any(_holds(inside, event, records) for inside in f.walk(part.iterable)):
            return part.target.id if isinstance(part.target, f.Name) else ""
    return ""
