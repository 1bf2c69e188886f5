"""Messages that a program takes from a queue by itself: they come again until it acknowledges them.

What the queues are is in the catalog; how the program deals with a message is seen in its run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from idemlint.catalog.rows import Slot
from idemlint.delivery.cause import Amount, Cause, Delivery
from idemlint.delivery.reader import NOTHING, Reader, once
from idemlint.delivery.said import Said
from idemlint.diagnostic import Severity
from idemlint.link.values import Known, Value
from idemlint.program import Intake, Option, Site, Task


@dataclass(frozen=True, slots=True)
class Handling:
    """How a run deals with a message: `acknowledged` names what does so, `early` that it does before the work.
    `together` says that the messages that are received at once are worked on one after the other. `takes` is how many
    seconds the calls for one message may take, as far as they are limited, and `limit` the text and the place of a
    limit. `alone` says that no position is kept for the consumer, `commits` whether the client commits by itself."""

    acknowledged: str = ""
    early: bool = False
    together: bool = False
    takes: float = 0
    limit: tuple[str, Site] | None = None
    alone: bool = False
    commits: bool = True


def deliver(task: Task, intake: Intake, evaluate: Callable[[Option], Value], handling: Handling) -> Delivery:
    """Why and when a message comes again."""
    reader = Reader(task, (), evaluate, None)
    row = intake.row
    gone = row.dropped is not None and bool(reader.flag(_said(reader, row.dropped.argument), False))
    if gone or row.kept == "received":
        text = f"{row.title} keeps nothing of a message it handed out: only one sent twice is handed out again"
        return reader.delivery([once(text)], Severity.NOTE, late=False)
    if handling.alone:
        text = f"{row.title} keeps no position for a consumer without a group: only a message sent twice is read again"
        return reader.delivery([once(text)], Severity.NOTE, late=False)
    if handling.early:
        text = f"{handling.acknowledged} comes before the work: only a message that was sent twice is worked on again"
        return reader.delivery([once(text)], Severity.NOTE, late=False)
    lease = _lease(reader, intake)
    limit = _limit(reader, intake, handling)
    causes = [Cause("worker-lost", _again(intake, handling, lease), task.declared)]
    if lease is not None and limit is not None and limit.seconds > lease.seconds and not intake.renewed:
        text = f"{lease.text}: handed out again after {lease} while the work may take {limit} ({limit.text})"
        causes.append(Cause("lease", text, lease.site))
    return reader.delivery(causes, Severity.ERROR, late=True, broker=row.title, lease=lease, limit=limit)


def _again(intake: Intake, handling: Handling, lease: Amount | None) -> str:
    row = intake.row
    if row.kept == "committed" and not handling.acknowledged:
        how = "the client commits in the background" if handling.commits else "nothing is committed"
        return f"{row.title} hands out again what was not committed when the consumer stopped ({how})"
    before = f"before {handling.acknowledged or row.until or 'the message is acknowledged'}"
    after = f", after {lease} ({lease.text})" if lease is not None else ""
    return f"{row.title} hands a message out again when the consumer stops {before}{after}"


def _said(reader: Reader, slots: tuple[Slot, ...]) -> Said:
    name = slots[0].items[-1] if slots[0].items else slots[0].argument
    return reader.option(name)


def _lease(reader: Reader, intake: Intake) -> Amount | None:
    row = intake.row
    return reader.amount(_said(reader, row.lease), row.unit) if row.lease else None


def _limit(reader: Reader, intake: Intake, handling: Handling) -> Amount | None:
    """How long the explicit limits let the work on all messages of a batch take."""
    if handling.limit is None or not handling.takes:
        return None
    text, site = handling.limit
    said = _said(reader, intake.row.batch) if intake.row.batch and handling.together else NOTHING
    count = said.value.value if isinstance(said.value, Known) else None
    number = count if isinstance(count, int) and not isinstance(count, bool) else 1
    of_each = f"{said.text}, {text} for each" if number > 1 else text
    return Amount(number * handling.takes, of_each, site)
