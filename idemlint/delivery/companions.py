"""Why and when a function runs again that the worker runs beside a task."""

from __future__ import annotations

from dataclasses import replace

from idemlint.delivery.cause import Cause, Delivery
from idemlint.diagnostic import Severity

# By these an error that the task raises, or its own request, has it run again.
_ASKED = frozenset({"retry", "retry-call", "requeued", "timeout"})
# These are accidents that need another message, or one that has not been run yet.
_SENT = frozenset({"early-ack", "prefetched"})


def of_companion(delivery: Delivery, again: str) -> Delivery:
    """The delivery of a task -> that of what runs beside it. `again` is a word of the catalog's: `any`, `cut`, `sent`.

    What is said of the task as a whole (its lease, options without effect, redelivery without end) is not said of its
    companions once more.
    """
    kept = [
        cause
        for cause in delivery.causes
        if again == "any" or cause.kind in _SENT or (again == "cut" and cause.kind not in _ASKED)
    ]
    cap = delivery.cap
    if not kept:
        # All that has the task run again leaves this one alone.
        kept, cap = [Cause("early-ack", "only a second message runs it again")], Severity.NOTE
    accidents = all(cause.kind in _SENT for cause in kept)
    return replace(
        delivery,
        causes=tuple(replace(cause, kind=_kind(cause), endless=False) for cause in kept),
        cap=min(cap, Severity.WARNING) if accidents else cap,
        at_least_once=delivery.at_least_once and not accidents,
        retries=delivery.retries if again == "any" else (),
        lease=None,
        useless=(),
    )


def _kind(cause: Cause) -> str:
    """A lease that is too short for the task has its second run begin beside the first, as a lost connection does."""
    return "connection-lost" if cause.kind == "lease" else cause.kind
