"""What calls on Django's models do."""

from __future__ import annotations

import pytest
from django_source import A_LINE, AN_ORDER, EXPRESSIONS, LINES, MODELS, ORDERS, call, plain, written
from hypothesis import given
from hypothesis import strategies as st

from idemlint.orm.django import DJANGO
from idemlint.program import (
    ClassType,
    DataOperation,
    InstanceType,
    LibraryType,
    RecordType,
    RowsType,
    SeveralType,
    Type,
)
from idemlint.syntax import facts as f


def on_rows(text: str, rows: RowsType = ORDERS) -> tuple[DataOperation, Type | None]:
    """What the last method of the expression does to these rows."""
    made = call(text)
    assert isinstance(made.function, f.Attribute)
    found = DJANGO.operation(rows, made.function.name, made, MODELS[rows.model.partition(":")[2]], None)
    assert found is not None
    return found


def on_row(text: str) -> DataOperation:
    made = call(text)
    assert isinstance(made.function, f.Attribute)
    found = DJANGO.operation(AN_ORDER, made.function.name, made, MODELS["Order"], None)
    assert found is not None
    assert found[1] is None
    return found[0]


@pytest.mark.parametrize(
    ("text", "kind", "result"),
    [
        ("o.all()", "narrow", ORDERS),
        ("o.filter(number=1)", "narrow", ORDERS),
        ("o.order_by('number')", "narrow", ORDERS),
        ("o.select_related('user')", "narrow", ORDERS),
        ("o.annotate(n=Count('lines'))", "narrow", ORDERS),
        ("o.using('other')", "narrow", ORDERS),
        ("o.select_for_update(skip_locked=True, of=('self',))", "lock", ORDERS),
        ("o.get(number=1)", "get", AN_ORDER),
        ("o.aget(number=1)", "get", AN_ORDER),
        ("o.latest('id')", "get", AN_ORDER),
        ("o.first()", "first", AN_ORDER),
        ("o.alast()", "first", AN_ORDER),
        ("o.exists()", "exists", None),
        ("o.aexists()", "exists", None),
        ("o.contains(order)", "exists", None),
        ("o.count()", "read", None),
        ("o.aaggregate(Sum('x'))", "read", None),
        ("o.in_bulk([1])", "read", None),
        ("o.dates('at', 'day')", "read", SeveralType(None)),
        ("o.iterator(chunk_size=9)", "read", SeveralType(AN_ORDER)),
        ("o.raw('SELECT 1')", "read", SeveralType(AN_ORDER)),
        ("o.values('id')", "read", RowsType("shop.models:Order", values=True)),
        ("o.values_list('id', flat=True)", "read", RowsType("shop.models:Order", values=True)),
        ("o.create(number=1)", "insert", AN_ORDER),
        ("o.acreate(number=1)", "insert", AN_ORDER),
        ("o.get_or_create(number=1)", "get-or-insert", RecordType((AN_ORDER, None))),
        ("o.aget_or_create(number=1)", "get-or-insert", RecordType((AN_ORDER, None))),
        ("o.update_or_create(number=1)", "upsert", RecordType((AN_ORDER, None))),
        ("o.bulk_create(rows)", "insert-many", SeveralType(AN_ORDER)),
        ("o.update(number=1)", "update", None),
        ("o.aupdate(number=1)", "update", None),
        ("o.bulk_update(rows, ['number'])", "update-many", None),
        ("o.delete()", "delete", None),
        ("o.adelete()", "delete", None),
    ],
)
def test_kind_and_result(text: str, kind: str, result: Type | None) -> None:
    done, given = on_rows(text)
    assert (done.kind, done.model, done.opaque) == (kind, "shop.models:Order", kind == "read" and "raw" in text)
    assert given == result


def test_narrowed_rows_keep_their_manager() -> None:
    rows = RowsType("shop.models:Order", "shop.models:OrderManager", None, "shop.models:OrderQuerySet")
    for text in ("o.filter(number=1)", "o.exclude(number=1)", "o.select_for_update()", "o.all()"):
        assert on_rows(text, rows)[1] == rows


def test_rows_that_come_as_values() -> None:
    values = RowsType("shop.models:Order", values=True)
    assert on_rows("o.filter(number=1)", values)[1] == values
    assert on_rows("o.first()", values) == (DataOperation("first", "shop.models:Order"), None)
    assert on_rows("o.iterator()", values)[1] == SeveralType(None)


@pytest.mark.parametrize(
    "text", ["o.pending()", "o.save()", "o.add(tag)", "o.create_user(username='x')", "o.a()", "o.arefresh_from_db()"]
)
def test_what_is_no_data_method_of_rows(text: str) -> None:
    made = call(text)
    assert isinstance(made.function, f.Attribute)
    assert DJANGO.operation(ORDERS, made.function.name, made, MODELS["Order"], None) is None
    assert DJANGO.operation(ClassType("shop.models:Order"), made.function.name, made, MODELS["Order"], None) is None


@pytest.mark.parametrize(
    ("arguments", "lookup", "opaque"),
    [
        ("number=1, user__name=x", {"number": 1, "user__name": "x"}, False),
        ("Q(number=1)", {"number": 1}, False),
        ("Q(number=1) & Q(user=x)", {"number": 1, "user": "x"}, False),
        ("Q(number=1), models.Q(user=x), state=2", {"number": 1, "user": "x", "state": 2}, False),
        ("Q(('number', 1))", {"number": 1}, False),
        ("Q(Q(number=1), user=x)", {"number": 1, "user": "x"}, False),
        ("**{'number': 1}", {"number": 1}, False),
        ("**dict(number=1)", {"number": 1}, False),
        ("**{'number': 1, **{'user': x}}", {"number": 1, "user": "x"}, False),
        ("**({'number': 1} | {'user': x})", {"number": 1, "user": "x"}, False),
        ("Q(number=1) | Q(user=x)", {}, True),
        ("~Q(number=1)", {}, True),
        ("~Q(number=1), user=x", {"user": "x"}, True),
        ("Q(number=1, _connector=Q.OR)", {}, True),
        ("Q(number=1) & elsewhere", {"number": 1}, True),
        ("elsewhere", {}, True),
        ("*conditions, number=1", {"number": 1}, True),
        ("number=1, **more", {"number": 1}, True),
        ("**{'number': 1, key: 2}", {"number": 1}, True),
    ],
)
def test_lookups(arguments: str, lookup: dict[str, object], opaque: bool) -> None:
    for method in ("filter", "get", "exclude"):
        done, _ = on_rows(f"o.{method}({arguments})")
        assert (written(done.lookup), done.opaque) == (lookup, opaque)
        assert done.excluded == (method == "exclude")


@pytest.mark.parametrize(
    ("text", "lookup", "opaque"),
    [
        ("o.contains(order)", {"pk": "order"}, False),
        ("o.in_bulk(ids)", {"pk__in": "ids"}, False),
        ("o.in_bulk(ids, field_name='number')", {"number__in": "ids"}, False),
        ("o.complex_filter({'number': 1})", {"number": 1}, False),
        ("o.complex_filter(elsewhere)", {}, True),
        ("o.union(more)", {}, True),
        ("o.extra(where=['x'])", {}, True),
    ],
)
def test_other_lookups(text: str, lookup: dict[str, object], opaque: bool) -> None:
    done, _ = on_rows(text)
    assert (written(done.lookup), done.opaque) == (lookup, opaque)


@pytest.mark.parametrize(
    ("text", "lookup", "values", "opaque"),
    [
        ("o.create(number=1, user=u)", {}, {"number": 1, "user": "u"}, False),
        ("o.create(number=1, **more)", {}, {"number": 1}, True),
        ("o.update(number=F('number') + 1)", {}, {"number": "Operation"}, False),
        ("o.get_or_create(number=1, defaults={'user': u})", {"number": 1}, {"user": "u"}, False),
        ("o.get_or_create(number=1, defaults=dict(user=u))", {"number": 1}, {"user": "u"}, False),
        ("o.get_or_create({'user': u}, number=1)", {"number": 1}, {"user": "u"}, False),
        ("o.get_or_create(number=1, defaults=elsewhere)", {"number": 1}, {}, True),
        ("o.get_or_create(number=1, defaults=None)", {"number": 1}, {}, False),
        ("o.get_or_create(number=1, defaults={'user': u, **more})", {"number": 1}, {"user": "u"}, True),
        ("o.update_or_create(number=1, defaults={'user': u})", {"number": 1}, {"user": "u"}, False),
        (
            "o.update_or_create(number=1, defaults={'a': 1}, create_defaults={'a': 2, 'b': 3})",
            {"number": 1},
            {"a": 1, "b": 3},
            False,
        ),
    ],
)
def test_values(text: str, lookup: dict[str, object], values: dict[str, object], opaque: bool) -> None:
    done, _ = on_rows(text)
    assert (written(done.lookup), written(done.values), done.opaque) == (lookup, values, opaque)


@pytest.mark.parametrize(
    ("arguments", "conflict", "on", "fields", "opaque"),
    [
        ("rows", "", (), None, False),
        ("objs=rows", "", (), None, False),
        ("rows, ignore_conflicts=True", "ignore", (), None, False),
        ("rows, ignore_conflicts=False", "", (), None, False),
        ("rows, ignore_conflicts=flag", "", (), None, True),
        ("rows, 100, True", "ignore", (), None, False),
        (
            "rows, update_conflicts=True, unique_fields=['number'], update_fields=['user']",
            "update",
            ("number",),
            ("user",),
            False,
        ),
    ],
)
def test_bulk_create(
    arguments: str, conflict: str, on: tuple[str, ...], fields: tuple[str, ...] | None, opaque: bool
) -> None:
    done, _ = on_rows(f"o.bulk_create({arguments})")
    assert plain(done.objects) == "rows"
    assert (done.conflict, done.conflict_on, done.fields, done.opaque) == (conflict, on, fields, opaque)


def test_bulk_update() -> None:
    assert on_rows("o.bulk_update(rows, fields=['number'])")[0].fields == ("number",)
    assert on_rows("o.bulk_update(rows, elsewhere)")[0].opaque


def test_users_are_made_by_their_manager() -> None:
    user = DJANGO.library_model("django.contrib.auth.models.User")
    assert user is not None
    made = call("u.create_user('ann', email=e, password=None)")
    found = DJANGO.operation(RowsType(user.name), "create_user", made, user, None)
    assert found is not None
    assert (found[0].kind, found[1]) == ("insert", InstanceType(user.name))
    assert written(found[0].values) == {"username": "ann", "email": "e", "password": None}


@pytest.mark.parametrize(
    ("text", "kind", "lookup", "values", "opaque"),
    [
        ("order.lines.all()", "narrow", {"order": "order"}, {}, False),
        ("self.order.lines.filter(sku=s)", "narrow", {"order": "self.order", "sku": "s"}, {}, False),
        ("order.lines.get(sku=s)", "get", {"order": "order", "sku": "s"}, {}, False),
        ("order.lines.exists()", "exists", {"order": "order"}, {}, False),
        ("order.lines.update(sku=s)", "update", {"order": "order"}, {"sku": "s"}, False),
        ("order.lines.create(sku=s)", "insert", {}, {"order": "order", "sku": "s"}, False),
        ("order.lines.get_or_create(sku=s)", "get-or-insert", {"order": "order", "sku": "s"}, {}, False),
        (
            "order.lines.update_or_create(sku=s, defaults={'amount': 1})",
            "upsert",
            {"order": "order", "sku": "s"},
            {"amount": 1},
            False,
        ),
        ("order.lines.add(line)", "link", {"order": "order"}, {}, False),
        ("lines.create(sku=s)", "insert", {}, {"sku": "s"}, True),
        ("lines.filter(sku=s)", "narrow", {"sku": "s"}, {}, True),
    ],
)
def test_rows_of_a_foreign_key(
    text: str, kind: str, lookup: dict[str, object], values: dict[str, object], opaque: bool
) -> None:
    done, given = on_rows(text, LINES)
    assert (done.kind, written(done.lookup), written(done.values), done.opaque) == (kind, lookup, values, opaque)
    if kind == "narrow":
        assert given == RowsType("shop.models:Line")


def test_exclusion_keeps_the_relation_out() -> None:
    done, given = on_rows("order.lines.exclude(sku=s)", LINES)
    assert (written(done.lookup), done.excluded, done.opaque) == ({"sku": "s"}, True, True)
    assert given == RowsType("shop.models:Line")


@pytest.mark.parametrize("method", ["add", "aadd", "set", "aset", "remove", "aremove"])
def test_many_to_many_links(method: str) -> None:
    done, given = on_rows(f"order.tags.{method}(tag)", RowsType("shop.models:Tag", through="tags"))
    assert (done.kind, plain(done.objects), given) == ("link", "tag", None)
    assert written(done.lookup) == {"tags": "order"}


def test_many_to_many_rows_made_get_no_key() -> None:
    done, _ = on_rows("order.tags.create(name=n)", RowsType("shop.models:Tag", through="tags"))
    assert (done.kind, written(done.values), done.opaque) == ("insert", {"name": "n"}, False)
    assert on_rows("order.tags.clear()", RowsType("shop.models:Tag", through="tags"))[0].objects is None


@pytest.mark.parametrize(
    ("arguments", "fields", "force", "opaque"),
    [
        ("", None, "", False),
        ("update_fields=['number']", ("number",), "", False),
        ("update_fields=('number', 'user')", ("number", "user"), "", False),
        ("update_fields=None", None, "", False),
        ("update_fields=names", None, "", True),
        ("force_insert=True", None, "insert", False),
        ("True", None, "insert", False),
        ("force_insert=flag", None, "", True),
        ("force_update=True", None, "update", False),
        ("using='other'", None, "", False),
        ("*args, **kwargs", None, "", True),
    ],
)
def test_save(arguments: str, fields: tuple[str, ...] | None, force: str, opaque: bool) -> None:
    for method in ("save", "asave"):
        done = on_row(f"self.order.{method}({arguments})")
        assert (done.kind, plain(done.objects)) == ("save", "self.order")
        assert (done.fields, done.force, done.opaque) == (fields, force, opaque)


def test_other_methods_of_a_row() -> None:
    assert on_row("order.delete()").kind == "delete"
    assert on_row("order.adelete()").kind == "delete"
    refreshed = on_row("order.refresh_from_db()")
    assert (refreshed.kind, plain(refreshed.objects), refreshed.fields) == ("refresh", "order", None)
    assert on_row("order.arefresh_from_db(fields=['number'])").fields == ("number",)
    assert on_row("order.full_clean()").kind == "read"
    assert DJANGO.operation(AN_ORDER, "ship", call("order.ship()"), MODELS["Order"], None) is None
    assert DJANGO.operation(AN_ORDER, "filter", call("order.filter()"), MODELS["Order"], None) is None


@pytest.mark.parametrize(
    ("text", "values", "opaque"),
    [
        ("Line(order=o, sku=s)", {"order": "o", "sku": "s"}, False),
        ("Line(1, o)", {"id": 1, "order": "o"}, False),
        ("Line(sku=s, **more)", {"sku": "s"}, True),
        ("Line(*row)", {}, True),
    ],
)
def test_construction(text: str, values: dict[str, object], opaque: bool) -> None:
    done = DJANGO.construct(MODELS["Line"], call(text))
    assert (done.kind, written(done.values), done.opaque) == ("new", values, opaque)


def shortcut_resolve(expression: f.Expr) -> Type | None:
    named: dict[object, Type] = {
        "Order": ClassType("shop.models:Order"),
        "User": LibraryType("django.contrib.auth.models.User"),
        "orders": ORDERS,
        "order.lines": LINES,
        "ids": RowsType("shop.models:Order", values=True),
    }
    return named.get(plain(expression))


@pytest.mark.parametrize(
    ("path", "text", "kind", "lookup", "result"),
    [
        ("get_object_or_404", "g(Order, pk=1)", "get", {"pk": 1}, AN_ORDER),
        ("aget_object_or_404", "g(Order, Q(number=2), pk=1)", "get", {"pk": 1, "number": 2}, AN_ORDER),
        ("get_object_or_404", "g(orders, pk=1)", "get", {"pk": 1}, AN_ORDER),
        ("get_object_or_404", "g(User, pk=1)", "get", {"pk": 1}, InstanceType("django.contrib.auth.models:User")),
        ("get_list_or_404", "g(Order, number=1)", "read", {"number": 1}, SeveralType(AN_ORDER)),
        ("get_list_or_404", "g(ids, number=1)", "read", {"number": 1}, SeveralType(None)),
        ("get_object_or_404", "g(order.lines, pk=1)", "get", {"lines": "order", "pk": 1}, A_LINE),
    ],
)
def test_shortcut(path: str, text: str, kind: str, lookup: dict[str, object], result: Type) -> None:
    found = DJANGO.shortcut(f"django.shortcuts.{path}", call(text), shortcut_resolve)
    assert found is not None
    assert (found[0].kind, written(found[0].lookup), found[1]) == (kind, lookup, result)


def test_what_is_no_shortcut() -> None:
    assert DJANGO.shortcut("django.shortcuts.render", call("g(Order)"), shortcut_resolve) is None
    assert DJANGO.shortcut("django.shortcuts.get_object_or_404", call("g(unknown, pk=1)"), shortcut_resolve) is None
    assert DJANGO.shortcut("django.shortcuts.get_object_or_404", call("g(*args)"), shortcut_resolve) is None


METHODS = ["filter", "get_or_create", "bulk_create", "bulk_update", "in_bulk", "create", "add", "complex_filter"]
PREFIXES = ["", "*", "**", "defaults=", "number=", "objs=", "update_fields="]


@given(st.sampled_from(METHODS), st.lists(st.tuples(st.sampled_from(PREFIXES), EXPRESSIONS)))
def test_any_call_can_be_read(method: str, arguments: list[tuple[str, str]]) -> None:
    ordered = sorted(arguments, key=lambda pair: (pair[0] == "**", pair[0] not in ("", "*")))
    once = dict(ordered)
    made = call(f"order.lines.{method}({', '.join(f'{prefix}{value}' for prefix, value in once.items())})")
    assert DJANGO.operation(LINES, method, made, MODELS["Line"], None) is not None
