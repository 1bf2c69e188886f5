"""What hangs off Django's models: managers, related rows and signals."""

from __future__ import annotations

import pytest
from django_source import AN_ORDER, HEAD, LINES, MODELS, ORDERS, Source, call, plain, read

from idemlint.orm.django import DJANGO
from idemlint.orm.django.relations import labelled
from idemlint.orm.django.signals import signal
from idemlint.program import (
    DataOperation,
    InstanceType,
    LibraryType,
    Model,
    RowsType,
    Site,
)
from idemlint.syntax import facts as f
from idemlint.syntax.extract import extract

MANAGERS = """
class OrderQuerySet(models.QuerySet): pass
class OrderManager(models.Manager): pass
"""


@pytest.mark.parametrize(
    ("value", "manager", "queryset"),
    [
        ("models.Manager()", None, None),
        ("OrderManager()", "OrderManager", None),
        ("OrderQuerySet.as_manager()", "OrderQuerySet", None),
        ("models.Manager.from_queryset(OrderQuerySet)()", "OrderQuerySet", None),
        ("OrderManager.from_queryset(OrderQuerySet)()", "OrderManager", "OrderQuerySet"),
    ],
)
def test_manager(value: str, manager: str | None, queryset: str | None) -> None:
    model = read(MANAGERS + f"class Order(models.Model):\n    active = {value}")["Order"]
    rows = RowsType(
        model.name,
        f"shop.models:{manager}" if manager else None,
        queryset=f"shop.models:{queryset}" if queryset else None,
    )
    assert DJANGO.static(model, "active") == rows
    assert DJANGO.static(model, "_default_manager") == rows
    assert DJANGO.static(model, "_base_manager") == RowsType(model.name)
    assert DJANGO.static(model, "objects") is None


def test_managers_of_parents_and_the_default_one() -> None:
    model = read(
        MANAGERS
        + """
class Base(models.Model):
    objects = OrderManager()
    rest = OrderManager.from_queryset(OrderQuerySet)()
    class Meta:
        abstract = True

class Order(Base):
    plain = models.Manager()
    class Meta:
        default_manager_name = "rest"
"""
    )["Order"]
    assert model.managers == (
        ("rest", "shop.models:OrderManager"),
        ("plain", None),
        ("objects", "shop.models:OrderManager"),
    )
    assert model.querysets == (("rest", "shop.models:OrderQuerySet"),)
    hanging = DJANGO.managed(RowsType(model.name, through="orders"), model)
    assert hanging == RowsType(model.name, "shop.models:OrderManager", "orders", "shop.models:OrderQuerySet")


def test_static_attributes() -> None:
    order = MODELS["Order"]
    assert DJANGO.static(order, "objects") == ORDERS
    assert DJANGO.static(order, "DoesNotExist") == LibraryType("django.core.exceptions.ObjectDoesNotExist")
    assert DJANGO.static(order, "MultipleObjectsReturned") == LibraryType(
        "django.core.exceptions.MultipleObjectsReturned"
    )
    assert DJANGO.static(order, "number") is None


def test_manager_made_of_two_classes() -> None:
    (statement,) = extract("class OrderManager(models.Manager.from_queryset(OrderQuerySet)): pass")
    assert isinstance(statement, f.Class)
    parts = DJANGO.manager_parts(statement.bases[0])
    assert parts is not None
    assert [plain(part) for part in parts] == ["models.Manager", "OrderQuerySet"]
    assert DJANGO.manager_parts(f.Name(0, "OrderManager")) is None


def test_attributes_of_rows() -> None:
    related = DJANGO.related_names(MODELS.values())
    order, line = MODELS["Order"], MODELS["Line"]
    assert DJANGO.attribute(line, "order", related) == AN_ORDER
    assert DJANGO.attribute(line, "order_id", related) is None
    assert DJANGO.attribute(line, "sku", related) is None
    assert DJANGO.attribute(order, "lines", related) == LINES
    assert DJANGO.attribute(order, "line_set", related) is None
    assert DJANGO.attribute(order, "invoice", related) == InstanceType("shop.models:Invoice")
    assert DJANGO.attribute(order, "tags", related) == RowsType("shop.models:Tag", through="tags")
    assert DJANGO.attribute(MODELS["Tag"], "orders", related) == RowsType("shop.models:Order", through="orders")
    assert DJANGO.attribute(order, "user", related) == InstanceType("django.contrib.auth.models:User")
    assert DJANGO.attribute(order, "nothing", related) is None


@pytest.mark.parametrize(
    ("field", "name", "single"),
    [
        ("models.ForeignKey(Other, models.CASCADE)", "order_set", False),
        ("models.ForeignKey('Other', models.CASCADE)", "order_set", False),
        ("models.ForeignKey('shop.Other', models.CASCADE)", "order_set", False),
        ("models.ForeignKey(to='shop.other', on_delete=models.CASCADE)", "order_set", False),
        ("models.ForeignKey(Other, models.CASCADE, unique=True)", "order_set", False),
        ("models.ForeignKey(Other, models.CASCADE, related_name='%(class)ss')", "orders", False),
        ("models.OneToOneField(Other, models.CASCADE)", "order", True),
        ("models.OneToOneField(Other, models.CASCADE, primary_key=True)", "order", True),
        ("models.ManyToManyField(Other)", "order_set", False),
        ("models.ForeignKey(Other, models.CASCADE, related_name='+')", None, False),
        ("models.ForeignKey('elsewhere.Unknown', models.CASCADE)", None, False),
        ("models.ManyToManyField('self')", None, False),
        ("GenericForeignKey('kind', 'key')", None, False),
    ],
)
def test_way_back(field: str, name: str | None, single: bool) -> None:
    models = read(
        f"""
        class Other(models.Model): pass
        class Order(models.Model):
            x = {field}
        """
    )
    back = {key: value for key, value in DJANGO.related_names(models.values()).items() if key[1] != "x"}
    assert back == ({("shop.models:Other", name): ("shop.models:Order", single)} if name else {})


def test_way_back_named_by_meta() -> None:
    models = read(
        """
        class Order(models.Model):
            x = models.ForeignKey("self", models.CASCADE)
            many = models.ManyToManyField("self", symmetrical=False, related_name="fans")
            class Meta:
                default_related_name = "%(class)s_children"
        """
    )
    assert {key[1] for key in DJANGO.related_names(models.values())} == {"order_children", "fans"}


def test_labels_prefer_their_application() -> None:
    models = {
        name: Model(name, "Order", "django", Site("", 0, 0), (), ())
        for name in ("apps.shop.models:Order", "apps.cafe.models.order:Order")
    }
    assert labelled("shop.Order", models) == "apps.shop.models:Order"
    assert labelled("cafe.order", models) == "apps.cafe.models.order:Order"
    assert labelled("Order", models, near="apps.cafe.models:Line") == "apps.cafe.models.order:Order"
    assert labelled("bank.Order", models) is None
    assert labelled("shop.Line", models) is None
    assert DJANGO.settle({}) == {}


def test_rows_in_annotations() -> None:
    assert DJANGO.annotated_rows("django.db.models.QuerySet", AN_ORDER) == ORDERS
    assert DJANGO.annotated_rows("django.db.models.query.QuerySet", AN_ORDER) == ORDERS
    assert DJANGO.annotated_rows("django.db.models.Manager", AN_ORDER) == ORDERS
    assert DJANGO.annotated_rows("builtins.list", AN_ORDER) is None
    assert DJANGO.annotated_rows("django.db.models.QuerySet", None) is None


def test_items_of_rows() -> None:
    assert DJANGO.item(ORDERS) == AN_ORDER
    assert DJANGO.item(RowsType("shop.models:Order", values=True)) is None


def test_names_of_signals() -> None:
    assert signal("django.db.models.signals.post_save") == "post_save"
    assert signal("django.db.models.signals.Signal") is None
    assert signal("shop.signals.post_save") is None


SIGNALS = Source()
for piece in extract(HEAD + "from django.db.models import signals\nclass Order: pass"):
    SIGNALS.define(piece)


@pytest.mark.parametrize(
    ("decorator", "receptions"),
    [
        ("receiver(post_save, sender=Order)", {("post_save", "shop.models:Order")}),
        (
            "receiver([post_save, post_delete], sender=Order)",
            {("post_save", "shop.models:Order"), ("post_delete", "shop.models:Order")},
        ),
        ("receiver(signals.post_save, sender='shop.Order')", {("post_save", "shop.Order")}),
        ("receiver(post_save, sender=User)", {("post_save", "django.contrib.auth.models:User")}),
        ("receiver(post_save)", {("post_save", None)}),
        ("receiver(post_save, sender=unknown)", set()),
        ("receiver(unknown_signal, sender=Order)", set()),
        ("receiver()", set()),
        ("something(post_save, sender=Order)", set()),
    ],
)
def test_receiver(decorator: str, receptions: set[tuple[str, str | None]]) -> None:
    found = DJANGO.receiver(call(decorator), SIGNALS.resolve)
    assert {(reception.signal, reception.sender) for reception in found} == receptions


def test_plain_decorators_receive_nothing() -> None:
    assert DJANGO.receiver(f.Name(0, "receiver"), SIGNALS.resolve) == ()


@pytest.mark.parametrize(
    ("text", "sender"),
    [
        ("post_save.connect(handler, sender=Order)", "shop.models:Order"),
        ("signals.post_save.connect(receiver=handler, sender='shop.Order')", "shop.Order"),
        ("post_save.connect(handler, Order)", "shop.models:Order"),
    ],
)
def test_connection(text: str, sender: str) -> None:
    found = DJANGO.connection(call(text), SIGNALS.resolve)
    assert found is not None
    assert (plain(found[0]), found[1].signal, found[1].sender) == ("handler", "post_save", sender)


def test_what_connects_no_signal() -> None:
    for text in ("client.connect(handler)", "connect(handler)", "post_save.send(Order)", "post_save.connect()"):
        assert DJANGO.connection(call(text), SIGNALS.resolve) is None


def test_which_calls_send_signals() -> None:
    sent = {
        kind: DJANGO.sent(DataOperation(kind, "shop.models:Order")) for kind in ("insert", "save", "update", "delete")
    }
    assert "post_save" in sent["insert"]
    assert "post_save" in sent["save"]
    assert sent["update"] == ()
    assert "post_delete" in sent["delete"]
