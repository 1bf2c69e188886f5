"""What we ask of the payment provider."""

import stripe
from django.conf import settings

stripe.api_key = settings.STRIPE_KEY


def charge(order):
    return stripe.PaymentIntent.create(
        amount=order.total, currency="eur", customer=order.customer.stripe_id, confirm=True
    )


def charge_once(order):
    return stripe.PaymentIntent.create(
        amount=order.total,
        currency="eur",
        customer=order.customer.stripe_id,
        confirm=True,
        idempotency_key=f"charge-order-{order.pk}",
    )
