"""What happens when a customer presses the button."""

from functools import partial

from django.db import transaction

from shop.models import Order, Outbox
from shop.tasks import send_confirmation, send_confirmation_once


def place_order(customer, total):
    """The worker may look for the order before it is committed."""
    with transaction.atomic():
        order = Order.objects.create(customer=customer, total=total)
        send_confirmation.delay(order.pk)
    return order


def place_order_once(customer, total):
    with transaction.atomic():
        order = Order.objects.create(customer=customer, total=total)
        Outbox.objects.create(key=f"ship-order-{order.pk}", payload={"order": order.pk})
        transaction.on_commit(partial(send_confirmation_once.delay, order.pk))
    return order
