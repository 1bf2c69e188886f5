"""What we write to customers."""

from django.core.mail import send_mail

FROM = "shop@example.com"


def confirmation(order):
    send_mail("Your order", f"We have your order {order.pk}.", FROM, [order.customer.email])


def cancellation(order):
    send_mail("Your order", f"Your order {order.pk} is cancelled.", FROM, [order.customer.email])
