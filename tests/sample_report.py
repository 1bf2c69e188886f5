"""A report to render: the finding of the design card, and what a test wants to change in it."""

from __future__ import annotations

from dataclasses import replace

from idemlint.diagnostic import (
    Applicability,
    Confidence,
    Diagnostic,
    Edit,
    Fix,
    Reason,
    Report,
    Severity,
    Span,
    Step,
    StepKind,
    Summary,
    TaskName,
)


def span(path: str, line: int, column: int = 5) -> Span:
    return Span(path, line, column, line, column + 10)


CHARGE_ORDER = TaskName("shop.tasks.charge_order", "charge_order", "shop/tasks.py", 38, "celery")
RENEW = TaskName("shop.tasks.renew", "renew", "shop/renewal.py", 12, "celery")

CHARGED_TWICE = Diagnostic(
    rule="unkeyed-external-call",
    code="IDM101",
    severity=Severity.ERROR,
    confidence=Confidence.HIGH,
    message="charge_order charges the card again when its message is delivered twice.",
    span=span("shop/tasks.py", 41),
    task=CHARGE_ORDER,
    causes=(
        Reason("acks_late=True: redelivered when the worker's host or connection dies", "config/celery.py", 12),
        Reason("Celery's default broker timeout: one hour"),
    ),
    steps=(
        Step(StepKind.CAUSE, "acks_late=True: redelivered when the worker dies", span("config/celery.py", 12)),
        Step(StepKind.FIRST, "stripe.PaymentIntent.create(amount=..., customer=...)", span("shop/billing.py", 88, 14)),
        Step(StepKind.CUT, 'before order.status = "paid" is committed', span("shop/tasks.py", 44)),
        Step(StepKind.AGAIN, "stripe.PaymentIntent.create(...)", span("shop/billing.py", 88, 14)),
        Step(StepKind.RESULT, "the customer is charged twice"),
    ),
    fix=Fix(
        'pass idempotency_key=f"charge-{order_id}"',
        Applicability.UNSAFE,
        (Edit("shop/billing.py", 2310, 2310, ', idempotency_key=f"charge-{order_id}"'),),
    ),
    fingerprint="5b0c1f7f5f3a9f0e",
)

SENT_EARLY = Diagnostic(
    rule="enqueue-in-transaction",
    code="IDM402",
    severity=Severity.WARNING,
    confidence=Confidence.MEDIUM,
    message="place_order sends ship before its order is committed.",
    span=span("shop/orders.py", 9),
    steps=(
        Step(StepKind.CAUSE, "with transaction.atomic()", span("shop/orders.py", 7)),
        Step(StepKind.FIRST, "ship.delay(order.pk)", span("shop/orders.py", 9)),
        Step(StepKind.RESULT, "ship finds no order"),
    ),
)

SUMMARY = Summary(tasks=41, modules=23, calls=312, unresolved_calls=17, unread_files=0)


def report(*findings: Diagnostic) -> Report:
    return Report(findings, SUMMARY)


def saying(message: str) -> Report:
    """A report of one finding with this message."""
    return report(replace(CHARGED_TWICE, message=message))
