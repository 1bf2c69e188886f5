from django.db import models


class Customer(models.Model):
    email = models.EmailField(unique=True)
    stripe_id = models.CharField(max_length=64)
    points = models.PositiveIntegerField(default=0)


class Order(models.Model):
    customer = models.ForeignKey(Customer, on_delete=models.PROTECT, related_name="orders")
    total = models.PositiveIntegerField(help_text="in cents")
    status = models.CharField(max_length=16, default="new")
    confirmed_at = models.DateTimeField(null=True)


class Invoice(models.Model):
    """One order may have several: the key that would stop a second one is missing."""

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="invoices")
    amount = models.PositiveIntegerField()


class Receipt(models.Model):
    order = models.OneToOneField(Order, on_delete=models.PROTECT)
    amount = models.PositiveIntegerField()


class Bonus(models.Model):
    """The points that an order has earned, once."""

    customer = models.ForeignKey(Customer, on_delete=models.CASCADE)
    order = models.ForeignKey(Order, on_delete=models.CASCADE)
    points = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["customer", "order"], name="one_bonus_an_order")]


class Outbox(models.Model):
    """What is to be asked of the warehouse, written in the transaction that decides it."""

    key = models.CharField(max_length=64, unique=True)
    payload = models.JSONField()
    sent_at = models.DateTimeField(null=True)
