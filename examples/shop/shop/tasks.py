"""Each task stands beside the one that survives a second delivery."""

import uuid
from functools import partial

from celery import shared_task
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from shop import billing, mailing
from shop.models import Bonus, Customer, Invoice, Order, Outbox, Receipt
from shop.warehouse import Warehouse

# --- Money: the provider drops a repeat that carries the same key.


@shared_task
def charge_order(order_id):
    order = Order.objects.get(pk=order_id)
    billing.charge(order)
    order.status = "paid"
    order.save(update_fields=["status"])


@shared_task
def charge_order_once(order_id):
    order = Order.objects.get(pk=order_id)
    billing.charge_once(order)
    order.status = "paid"
    order.save(update_fields=["status"])


# --- A key is one only if every delivery makes the same.


@shared_task
def ship_order(order_id):
    key = str(uuid.uuid4())
    Warehouse().ship(order_id, key)


@shared_task
def ship_order_once(order_id):
    Warehouse().ship(order_id, key=f"ship-order-{order_id}")


# --- Mail: claim the row, then send.


@shared_task
def send_confirmation(order_id):
    mailing.confirmation(Order.objects.get(pk=order_id))


@shared_task
def send_confirmation_once(order_id):
    if Order.objects.filter(pk=order_id, confirmed_at=None).update(confirmed_at=timezone.now()):
        mailing.confirmation(Order.objects.get(pk=order_id))


# --- Counting: in the database, in one transaction with a row that can be there only once.


@shared_task
def grant_bonus(order_id, points):
    order = Order.objects.select_related("customer").get(pk=order_id)
    order.customer.points += points
    order.customer.save(update_fields=["points"])


@shared_task
def grant_bonus_once(order_id, points):
    with transaction.atomic():
        order = Order.objects.get(pk=order_id)
        _, created = Bonus.objects.get_or_create(
            customer_id=order.customer_id, order=order, defaults={"points": points}
        )
        if created:
            Customer.objects.filter(pk=order.customer_id).update(points=F("points") + points)


# --- New rows: under a unique key.


@shared_task
def write_invoice(order_id):
    order = Order.objects.get(pk=order_id)
    Invoice.objects.create(order=order, amount=order.total)


@shared_task
def write_receipt_once(order_id):
    order = Order.objects.get(pk=order_id)
    Receipt.objects.get_or_create(order=order, defaults={"amount": order.total})


# --- Transactions: decide, commit, then call. What must not be lost goes through the outbox.


@shared_task
def cancel_order(order_id):
    with transaction.atomic():
        order = Order.objects.select_for_update().get(pk=order_id)
        if order.status == "cancelled":
            return
        order.status = "cancelled"
        order.save(update_fields=["status"])
        mailing.cancellation(order)


@shared_task
def cancel_order_once(order_id):
    with transaction.atomic():
        order = Order.objects.select_for_update().get(pk=order_id)
        if order.status == "cancelled":
            return
        order.status = "cancelled"
        order.save(update_fields=["status"])
        transaction.on_commit(partial(mailing.cancellation, order))


@shared_task
def relay_outbox():
    """Run by beat."""
    for message in Outbox.objects.filter(sent_at=None).order_by("pk")[:100]:
        Warehouse().ship(message.payload["order"], key=message.key)
        message.sent_at = timezone.now()
        message.save(update_fields=["sent_at"])


# --- Commit hooks: they run when the loop is over.


@shared_task
def close_orders(order_ids):
    with transaction.atomic():
        for order_id in order_ids:
            Order.objects.filter(pk=order_id).update(status="closed")
            transaction.on_commit(lambda: write_receipt_once.delay(order_id))


@shared_task
def close_orders_once(order_ids):
    with transaction.atomic():
        for order_id in order_ids:
            Order.objects.filter(pk=order_id).update(status="closed")
            transaction.on_commit(partial(write_receipt_once.delay, order_id))
