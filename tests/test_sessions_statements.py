"""Sessions: the statements that they run, and the rows that they store."""

from __future__ import annotations

from pathlib import Path

import pytest
from session_source import body

# --- Statements ------------------------------------------------------------------------------------------------------

CONDITIONS = [
    ("Order.status == key", [("status", "exact")]),
    ("key == Order.status", [("status", "exact")]),
    ("Order.total > key", [("total", "gt")]),
    ("key > Order.total", [("total", "lt")]),
    ("Order.status != key", [("status", "ne")]),
    ("Order.status.is_(None)", [("status", "isnull")]),
    ("Order.status == None", [("status", "isnull")]),
    ("Order.status.is_not(None)", [("status", "isnull")]),
    ("Order.closed", [("closed", "exact")]),
    ("~Order.closed", [("closed", "exact")]),
    ("Order.closed.is_(True)", [("closed", "exact")]),
    ("Order.status.in_([key, other])", [("status", "in")]),
    ("Order.total.between(1, key)", [("total", "range")]),
    ("Order.number.like('x%')", [("number", "contains")]),
    ("and_(Order.id == key, Order.status == 'new')", [("id", "exact"), ("status", "exact")]),
    ("(Order.id == key) & (Order.status == 'new')", [("id", "exact"), ("status", "exact")]),
    ("Order.id == key, Order.status == 'new'", [("id", "exact"), ("status", "exact")]),
    ("Order.id == Line.order_id, Line.sku == key, Order.id == other", [("id", "exact")]),
]


@pytest.mark.parametrize(("condition", "expected"), CONDITIONS, ids=[condition for condition, _ in CONDITIONS])
def test_conditions(tmp_path: Path, condition: str, expected: list[tuple[str, str]]) -> None:
    walked = body(tmp_path, f"db.execute(select(Order).where({condition})).scalar_one()")
    found = walked.only("get")
    assert [(lookup.column, lookup.operator) for lookup in found.lookup] == expected
    assert not found.opaque


@pytest.mark.parametrize(
    "condition", ["or_(Order.id == key, Order.closed)", "other", "func.lower(Order.number) == key"]
)
def test_conditions_that_hide_something(tmp_path: Path, condition: str) -> None:
    assert body(tmp_path, f"db.execute(select(Order).where({condition})).scalar_one()").only("get").opaque


def test_null_is_told_from_not_null(tmp_path: Path) -> None:
    source = """
    db.scalar(select(Order).where(Order.status.is_(None)))
    db.scalar(select(Order).where(Order.status != None))
    """
    first, second = body(tmp_path, source).effects("first")
    assert (first.lookup[0].value.literal, second.lookup[0].value.literal) == ((True,), (False,))


READS = [
    # what is run, kind, model
    ("db.get(Order, key)", "first", "Order"),
    ("db.query(Order).get(key)", "first", "Order"),
    ("db.query(Order).filter(Order.id == key).first()", "first", "Order"),
    ("db.query(Order).filter_by(id=key).one()", "get", "Order"),
    ("db.query(Order).filter_by(id=key).one_or_none()", "first", "Order"),
    ("db.query(Order).order_by(Order.id).limit(3).all()", "read", "Order"),
    ("db.query(Order).filter(Order.id == key).count()", "read", "Order"),
    ("db.query(db.query(Order).filter(Order.id == key).exists()).scalar()", "exists", "Order"),
    ("db.query(func.count(Order.id)).scalar()", "read", "Order"),
    ("db.query(Order, Line).join(Line).first()", "first", "Order"),
    ("db.execute(select(Order)).scalars().all()", "read", "Order"),
    ("db.execute(select(Order)).scalars().first()", "first", "Order"),
    ("db.execute(select(Order)).scalar_one_or_none()", "first", "Order"),
    ("db.execute(select(Order)).unique().scalar_one()", "get", "Order"),
    ("db.execute(select(Order, Line)).first()", "first", "Order"),
    ("db.execute(select(Order.id)).fetchall()", "read", "Order"),
    ("db.scalars(select(Order)).all()", "read", "Order"),
    ("db.scalars(select(Order).join(Line)).one()", "get", "Order"),
    ("db.scalar(select(Order.total).where(Order.id == key))", "first", "Order"),
    ("db.scalar(select(func.count()).select_from(Line))", "read", "Line"),
    ("db.scalar(select(exists().where(Line.order_id == key)))", "exists", "Line"),
    ("db.scalar(select(select(Line).where(Line.sku == key).exists()))", "exists", "Line"),
    ("db.scalar(select(aliased(Order)).where(Order.id == key))", "first", "Order"),
]


@pytest.mark.parametrize(("run", "kind", "model"), READS, ids=[run for run, *_ in READS])
def test_what_is_read(tmp_path: Path, run: str, kind: str, model: str) -> None:
    effect = body(tmp_path, run).only()
    assert (effect.kind, effect.model) == (kind, f"shop:{model}")
    assert effect.transactions


WRITES = [
    # what is run, kind, columns looked up, columns written, conflict
    ("db.execute(insert(Line).values(order_id=key, sku=other))", "insert", [], ["order_id", "sku"], ""),
    ("db.execute(insert(Line).values({'order_id': key, Line.sku: 1}))", "insert", [], ["order_id", "sku"], ""),
    ("db.execute(insert(Line), [{'order_id': key}, {'order_id': 2}])", "insert", [], ["order_id", "order_id"], ""),
    ("db.execute(upsert(Line).values(sku=key).on_conflict_do_nothing())", "insert", [], ["sku"], "ignore"),
    ("db.execute(insert(Line).prefix_with('OR IGNORE').values(sku=key))", "insert", [], ["sku"], "ignore"),
    (
        "db.execute(upsert(Order).values(number=key).on_conflict_do_update(index_elements=['id'], set_={'total': 1}))",
        "insert", [], ["number"], "update",
    ),
    ("db.execute(update(Order).where(Order.id == key).values(status='x'))", "update", ["id"], ["status"], ""),
    ("db.execute(update(Order).filter_by(id=key).values({Order.status: 'x'}))", "update", ["id"], ["status"], ""),
    ("db.query(Order).filter_by(id=key).update({'status': 'x'})", "update", ["id"], ["status"], ""),
    ("db.query(Order).filter(Order.id == key).update({Order.status: 'x'})", "update", ["id"], ["status"], ""),
    ("db.execute(delete(Line).where(Line.order_id == key))", "delete", ["order_id"], [], ""),
    ("db.query(Line).filter_by(order_id=key).delete()", "delete", ["order_id"], [], ""),
    ("db.add(Line(order_id=key, sku=other))", "insert", [], ["order_id", "sku"], ""),
    ("db.add_all([Line(sku=sku) for sku in key])", "insert", [], ["sku"], ""),
    ("db.bulk_save_objects([Line(sku=key)])", "insert", [], ["sku"], ""),
    ("db.bulk_insert_mappings(Line, [{'sku': key}])", "insert", [], ["sku"], ""),
    ("db.bulk_update_mappings(Line, [{'id': 1, 'sku': key}])", "update", [], ["id", "sku"], ""),
    ("db.merge(Order(id=key, status='x'))", "upsert", ["id"], ["status"], ""),
    ("db.merge(Line(sku=key))", "insert", [], ["sku"], ""),
]  # fmt: skip


@pytest.mark.parametrize(("run", "kind", "found", "written", "conflict"), WRITES, ids=[run for run, *_ in WRITES])
def test_what_is_written(
    tmp_path: Path, run: str, kind: str, found: list[str], written: list[str], conflict: str
) -> None:
    effect = body(tmp_path, run).only()
    assert (effect.kind, effect.conflict) == (kind, conflict)
    assert [lookup.column for lookup in effect.lookup] == found
    assert [write.column for write in effect.writes] == written


@pytest.mark.parametrize(
    ("value", "step"),
    [
        ("Order.total + key", "expression"),
        ("func.coalesce(Order.total, 0) + key", "expression"),
        ("func.greatest(Order.total - key, 0)", "expression"),
        ("order.total + key", "arithmetic"),
        ("key", ""),
        ("Line.id + key", ""),
    ],
)
def test_what_is_counted_on_from_the_old_value(tmp_path: Path, value: str, step: str) -> None:
    source = f"""
    order = db.get(Order, key)
    db.execute(update(Order).where(Order.id == key).values(total={value}))
    order.total = {value}
    """
    effects = body(tmp_path, source).effects("update", "save")
    assert [write.from_itself for effect in effects for write in effect.writes] == [step, step]


def test_a_value_read_alone_and_written_back(tmp_path: Path) -> None:
    source = """
    total = db.scalar(select(Order.total).where(Order.id == key))
    db.execute(update(Order).where(Order.id == key).values(total=total + 1))
    """
    assert body(tmp_path, source).only("update").writes[0].from_itself == "arithmetic"


def test_a_statement_put_together_in_steps(tmp_path: Path) -> None:
    source = """
    stmt = update(Order).where(Order.id == key)
    if other:
        stmt = stmt.where(Order.status == "new")
    db.execute(stmt.values(status="done"))
    """
    effect = body(tmp_path, source).only("update")
    assert [lookup.column for lookup in effect.lookup] == ["id"]
    assert effect.opaque


def test_an_upsert_that_counts_is_also_an_update(tmp_path: Path) -> None:
    source = """
    stmt = upsert(Counter).values(name=key, balance=1)
    db.execute(stmt.on_conflict_do_update(index_elements=[Counter.name], set_={"balance": Counter.balance + 1}))
    """
    walked = body(tmp_path, source)
    assert walked.only("insert").conflict_on == ("name",)
    assert walked.only("update").writes[0].from_itself == "expression"


def test_tuples_of_rows(tmp_path: Path) -> None:
    source = """
    for order, line in db.execute(select(Order, Line).join(Line)):
        order.status = line.sku
        line.sku = "x"
    """
    first, second = body(tmp_path, source).effects("save")
    assert (first.model, second.model) == ("shop:Order", "shop:Line")


# --- The unit of work ------------------------------------------------------------------------------------------------


def test_a_changed_row_is_an_update_where_it_is_changed(tmp_path: Path) -> None:
    source = """
    order = db.query(Order).filter_by(number=key).one()
    order.status = "paid"
    order.total += 1
    pay(key)
    order.status = "sent"
    """
    first, second = body(tmp_path, source).effects("save")
    assert [(write.column, write.from_itself) for write in first.writes] == [("status", ""), ("total", "arithmetic")]
    assert [lookup.column for lookup in first.lookup] == ["number"]
    assert [write.column for write in second.writes] == ["status"]
    assert first.transactions == second.transactions


def test_what_is_assigned_before_the_flush_is_inserted(tmp_path: Path) -> None:
    source = """
    order = Order(number=key)
    order.total = 1
    db.add(order)
    order.status = "new"
    db.flush()
    order.closed = True
    """
    walked = body(tmp_path, source)
    assert [write.column for write in walked.only("insert").writes] == ["number", "total", "status"]
    assert [write.column for write in walked.only("save").writes] == ["closed"]


def test_a_row_never_given_to_a_session_is_not_stored(tmp_path: Path) -> None:
    assert body(tmp_path, "order = Order(number=key)\norder.total = 1\n").effects() == []


def test_a_loaded_row_put_into_the_session_again_is_no_insert(tmp_path: Path) -> None:
    walked = body(tmp_path, "order = db.get(Order, key)\norder.total = 1\ndb.add(order)\n")
    assert [effect.kind for effect in walked.effects()] == ["first", "save"]


@pytest.mark.parametrize(
    "source",
    [
        "order = db.get(Order, key)\norder.lines.append(Line(sku=other))\n",
        "order = db.get(Order, key)\norder.lines.extend([Line(sku=other)])\n",
        "order = Order(number=key)\norder.lines.append(Line(sku=other))\ndb.add(order)\n",
        "db.add(Order(number=key, lines=[Line(sku=other)]))\n",
        "order = db.get(Order, key)\ndb.add(Line(order=order, sku=other))\n",
    ],
)
def test_rows_that_hang_off_another_are_inserted_with_it(tmp_path: Path, source: str) -> None:
    lines = [effect for effect in body(tmp_path, source).effects("insert") if effect.model == "shop:Line"]
    assert len(lines) == 1
    if "lines=[" not in source:
        assert [write.column for write in lines[0].writes] == ["order_id", "sku"]


def test_what_is_loaded_or_made_is_inserted_under_the_test(tmp_path: Path) -> None:
    source = """
    line = db.query(Line).filter_by(order_id=key).first()
    if line is None:
        line = Line(order_id=key)
    line.sku = other
    db.add(line)
    """
    walked = body(tmp_path, source)
    insert = walked.only("insert")
    assert [write.column for write in insert.writes] == ["order_id", "sku"]
    assert [(fact.kind, fact.holds) for fact in insert.facts if fact.kind == "exists"] == [("exists", False)]


def test_an_attribute_set_by_name(tmp_path: Path) -> None:
    walked = body(tmp_path, "order = db.get(Order, key)\nsetattr(order, 'status', other)\nsetattr(order, other, 1)\n")
    assert [effect.written for effect in walked.effects("save")] == [{"status"}, set()]


def test_values_given_as_a_dict_are_read(tmp_path: Path) -> None:
    source = """
    def make(model, **values):
        row = model(**values)
        db.add(row)
    make(Line, order_id=key, sku="x")
    """
    effect = body(tmp_path, source).only("insert")
    assert ([write.column for write in effect.writes], effect.opaque) == (["order_id", "sku"], False)
    assert body(tmp_path, "db.add(Line(**key))").only("insert").opaque


def test_the_layer_compares_the_version_by_itself(tmp_path: Path) -> None:
    effect = body(tmp_path, "counter = db.get(Counter, key)\ncounter.balance += 1\n").only("update")
    assert [lookup.column for lookup in effect.lookup] == ["name", "version"]
    assert effect.written == {"balance", "version"}
