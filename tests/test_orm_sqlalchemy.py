"""What models and tables of SQLAlchemy, SQLModel and Flask-SQLAlchemy are, read from source alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from walking import Walked, walk

from idemlint.program import Field, Model, UniqueKey

HEAD = """
import enum
import uuid
from datetime import datetime
from decimal import Decimal
from typing import Annotated, ClassVar, Optional

import sqlalchemy as sa
from celery import Celery
from sqlalchemy import (
    JSON, Boolean, CheckConstraint, Column, DateTime, ForeignKey, Index, Integer, MetaData, Numeric, String, Table,
    UniqueConstraint, func, text,
)
from sqlalchemy.ext.declarative import declarative_base
from sqlalchemy.ext.mutable import MutableDict
from sqlalchemy.orm import (
    DeclarativeBase, Mapped, MappedAsDataclass, Session, backref, declared_attr, mapped_column, registry, relationship,
)

app = Celery("shop")
metadata = MetaData()


class Base(DeclarativeBase):
    pass

"""
TASK = """

@app.task
def task(db: Session, key):
    db.get({}, key)
"""


def read(folder: Path, source: str, title: str = "Order") -> Model:
    """The model with this title of a module that holds the source."""
    return walk(folder, HEAD + source + TASK.format(title)).model(title)


def field(model: Model, name: str) -> Field:
    found = model.field(name)
    assert found is not None, name
    return found


def keys(model: Model) -> set[tuple[str, ...]]:
    return {key.columns for key in model.unique}


# --- What is a model -------------------------------------------------------------------------------------------------

BASES = {
    "a declarative base": "class Order(Base):\n    __tablename__ = 'o'\n",
    "declarative_base()": "Old = declarative_base()\nclass Order(Old):\n    __tablename__ = 'o'\n",
    "a generated base": "reg = registry()\nMade = reg.generate_base()\nclass Order(Made):\n    __tablename__ = 'o'\n",
    "a mapped class": "reg = registry()\n@reg.mapped\nclass Order:\n    __tablename__ = 'o'\n",
    "a dataclass": (
        "class Data(MappedAsDataclass, DeclarativeBase):\n    pass\nclass Order(Data):\n    __tablename__ = 'o'\n"
    ),
    "an abstract parent": (
        "class Parent(Base):\n    __abstract__ = True\nclass Order(Parent):\n    __tablename__ = 'o'\n"
    ),
    "Flask-SQLAlchemy": "from flask_sqlalchemy import SQLAlchemy\nfdb = SQLAlchemy()\nclass Order(fdb.Model):\n",
}


@pytest.mark.parametrize("base", BASES)
def test_what_is_a_model(tmp_path: Path, base: str) -> None:
    body = "    id: Mapped[int] = mapped_column(primary_key=True)\n    n: Mapped[int] = mapped_column(unique=True)\n"
    model = read(tmp_path, BASES[base] + body)
    assert (model.layer, model.abstract, model.seen) == ("sqlalchemy", False, True)
    assert keys(model) == {("id",), ("n",)}


def test_the_base_of_models_is_none(tmp_path: Path) -> None:
    order = "class Order(Base):\n    __tablename__ = 'o'\n    id = Column(Integer, primary_key=True)\n"
    walked = walk(tmp_path, HEAD + order + TASK.format("Order"))
    assert walked.model("Base").abstract


def test_sqlmodel_has_tables_and_schemas(tmp_path: Path) -> None:
    source = """
from sqlmodel import Field as SField, Relationship, SQLModel

class OrderBase(SQLModel):
    number: str = SField(unique=True)

class Order(OrderBase, table=True):
    id: int | None = SField(default=None, primary_key=True)
    made: uuid.UUID = SField(default_factory=uuid.uuid4)
    shop_id: Optional[int] = SField(default=None, foreign_key="shop.id")
    note: str | None = None
    paid: bool = False
    seen: ClassVar[int] = 3
    data: dict = SField(sa_column=Column(JSON, unique=True))
    shop: "Shop" = Relationship(back_populates="orders")

class Shop(SQLModel, table=True):
    id: int = SField(primary_key=True)
    orders: list[Order] = Relationship(back_populates="shop")
"""
    walked = walk(tmp_path, HEAD + source + TASK.format("Order") + "    db.get(Shop, key).orders\n")
    order = walked.model("Order")
    assert walked.model("OrderBase").abstract
    assert not order.abstract
    assert keys(order) == {("id",), ("number",), ("data",)}
    kinds = {found.name: (found.kind, found.null, found.default) for found in order.fields}
    assert kinds["id"] == ("id", True, None)
    assert kinds["made"] == ("text", False, "unstable")
    assert kinds["shop_id"] == ("relation", True, None)
    assert kinds["note"] == ("text", True, None)
    assert kinds["paid"] == ("flag", False, "constant")
    assert "seen" not in kinds
    assert order.column("shop") == "shop_id"
    assert field(walked.model("Shop"), "orders").kind == "relation-many"


def test_mixins_lend_their_columns(tmp_path: Path) -> None:
    source = """
class Stamped:
    created: Mapped[datetime] = mapped_column(server_default=func.now())

class Keyed(Stamped):
    key = Column(String, unique=True)

    @declared_attr
    def owner_id(cls) -> Mapped[int]:
        return mapped_column(ForeignKey("owners.id"))

class Order(Keyed, Base):
    __tablename__ = "o"
    id = Column(Integer, primary_key=True)
"""
    model = read(tmp_path, source)
    assert [found.name for found in model.fields] == ["created", "key", "owner_id", "id"]
    assert field(model, "created").default == "unstable"
    assert keys(model) == {("key",), ("id",)}
    assert model.seen


KEY = "    id = Column(Integer, primary_key=True)\n"
UNREAD = {
    "an unknown mixin": "from elsewhere import Mixin\nclass Order(Mixin, Base):\n    __tablename__ = 'o'\n" + KEY,
    "no primary key": "class Order(Base):\n    __tablename__ = 'o'\n    n = Column(Integer)\n",
    "a table made elsewhere": "class Order(Base):\n    __table__ = make()\n",
    "constraints made elsewhere": "class Order(Base):\n    __table_args__ = (*OTHER, {})\n" + KEY,
    "options made elsewhere": "class Order(Base):\n    n = Column(Integer, **given)\n" + KEY,
    "a column made elsewhere": "def key():\n    return Column(String)\nclass Order(Base):\n    n = key()\n" + KEY,
}


@pytest.mark.parametrize("source", UNREAD.values(), ids=UNREAD.keys())
def test_a_schema_that_was_not_read_whole_is_said_so(tmp_path: Path, source: str) -> None:
    assert not read(tmp_path, source).seen


# --- Columns ---------------------------------------------------------------------------------------------------------

COLUMNS = [
    # what is written, kind, nullable, default, key
    ("Column(Integer, primary_key=True)", "id", False, None, "primary key"),
    ("Column(String(20))", "text", True, None, ""),
    ("Column(String, nullable=False, unique=True)", "text", False, None, "unique=True"),
    ("Column('stored', sa.Text, default='x')", "text", True, "constant", ""),
    ("Column(Numeric(10, 2), nullable=False)", "number", False, None, ""),
    ("Column(DateTime, default=datetime.utcnow)", "time", True, "unstable", ""),
    ("Column(DateTime(timezone=True), server_default=func.now())", "time", True, "unstable", ""),
    ("Column(DateTime, server_default=text('CURRENT_TIMESTAMP'))", "time", True, "unstable", ""),
    ("Column(Boolean, server_default='false')", "flag", True, "constant", ""),
    ("Column(JSON, default=dict)", "json", True, "constant", ""),
    ("Column(MutableDict.as_mutable(JSON), nullable=False)", "json", False, None, ""),
    ("Column(JSON().with_variant(String, 'sqlite'))", "json", True, None, ""),
    ("Column(ForeignKey('shops.id'), nullable=False)", "relation", False, None, ""),
    ("Column(Integer, ForeignKey('shops.id'), index=True, unique=True)", "relation", True, None, "unique=True"),
    ("Column(String, default=lambda: uuid.uuid4().hex)", "text", True, "unstable", ""),
    ("Column(sa.Uuid, server_default=func.gen_random_uuid())", "text", True, "unstable", ""),
    ("Column(String, unique=False)", "text", True, None, ""),
    ("mapped_column(DateTime)", "time", True, None, ""),
]
ANNOTATED = [
    ("Mapped[int]", "number", False, None, ""),
    ("Mapped[str | None]", "text", True, None, ""),
    ("Mapped[Optional[datetime]] = mapped_column()", "time", True, None, ""),
    ("Mapped[bool] = mapped_column(default=False)", "flag", False, "constant", ""),
    ("Mapped[Decimal] = mapped_column(unique=True)", "number", False, None, "unique=True"),
    ("Mapped[dict]", "json", False, None, ""),
    ("Mapped[Status]", "text", False, None, ""),
    ("Mapped[uuid.UUID] = mapped_column(primary_key=True, default=uuid.uuid4)", "id", False, "unstable", "primary key"),
    ("Mapped[intpk]", "id", False, None, "primary key"),
    ("Mapped[code | None]", "text", True, None, "unique=True"),
    ("Mapped[str] = mapped_column(nullable=True)", "text", True, None, ""),
    ('"Mapped[int]"', "number", False, None, ""),
]


@pytest.mark.parametrize(("written", "kind", "null", "default", "unique"), COLUMNS + ANNOTATED)
def test_columns(tmp_path: Path, written: str, kind: str, null: bool, default: str | None, unique: str) -> None:
    sign = ":" if (written, kind, null, default, unique) in ANNOTATED else " ="
    source = f"""
intpk = Annotated[int, mapped_column(primary_key=True)]
code = Annotated[str, mapped_column(String(9), unique=True)]

class Status(enum.Enum):
    NEW = "new"

class Order(Base):
    __tablename__ = "o"
    other: Mapped[int] = mapped_column(primary_key=True)
    it{sign} {written}
"""
    model = read(tmp_path, source)
    found = field(model, "it")
    assert (found.kind, found.null, found.default) == (kind, null, default)
    sources = {key.columns: key.source for key in model.unique}
    assert sources.get(("it",), sources.get(("other", "it"), "")) == unique


def test_what_is_no_column(tmp_path: Path) -> None:
    source = """
class Order(Base):
    __tablename__ = "o"
    id: Mapped[int] = mapped_column(primary_key=True)
    LIMIT = 3
    names: ClassVar[list[str]] = []
    plain: int = 4

    def total(self):
        return 1
"""
    assert [found.name for found in read(tmp_path, source).fields] == ["id"]


# --- Keys ------------------------------------------------------------------------------------------------------------

ARGUMENTS = [
    ("(UniqueConstraint('a', 'b'),)", [UniqueKey(("a", "b"), source="UniqueConstraint")]),
    ("(UniqueConstraint('a', name='u'), {'schema': 'x'})", [UniqueKey(("a",), source="UniqueConstraint")]),
    ("{'schema': 'x'}", []),
    ("(CheckConstraint('a > 0'), Index('ix', 'a'))", []),
    ("(Index('ix', 'a', 'b', unique=True),)", [UniqueKey(("a", "b"), source="Index")]),
    ("(Index('ix', a, unique=True),)", [UniqueKey(("a",), source="Index")]),
    ("(Index('ix', func.lower(b), unique=True),)", [UniqueKey(("b",), source="Index")]),
    ("(UniqueConstraint('stored'),)", [UniqueKey(("c",), source="UniqueConstraint")]),
    (
        "(Index('ix', 'a', unique=True, postgresql_where=text('b IS NULL')),)",
        [UniqueKey(("a",), ("?",), source="Index")],
    ),
    ("(Index('ix', 'a', unique=True, postgresql_where=(b == 1)),)", [UniqueKey(("a",), ("b",), source="Index")]),
    ("(Index('ix', 'a', unique=True, postgresql_where=a.is_not(None)),)", [UniqueKey(("a",), source="Index")]),
    (
        "(UniqueConstraint('a', 'b', postgresql_nulls_not_distinct=True),)",
        [UniqueKey(("a", "b"), nulls_distinct=False, source="UniqueConstraint")],
    ),
    ("(UniqueConstraint('a'),) + (UniqueConstraint('b'),)", [
        UniqueKey(("a",), source="UniqueConstraint"), UniqueKey(("b",), source="UniqueConstraint"),
    ]),
    ("UNIQUE", [UniqueKey(("a",), source="UniqueConstraint")]),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "expected"), ARGUMENTS, ids=[arguments for arguments, _ in ARGUMENTS])
@pytest.mark.parametrize("way", ["assigned", "declared"])
def test_keys_in_table_arguments(tmp_path: Path, arguments: str, expected: list[UniqueKey], way: str) -> None:
    given = f"    __table_args__ = {arguments}\n"
    if way == "declared":
        given = f"    @declared_attr.directive\n    def __table_args__(cls):\n        return {arguments}\n"
    source = (
        "UNIQUE = (UniqueConstraint('a'),)\n"
        "class Order(Base):\n    __tablename__ = 'o'\n    id = Column(Integer, primary_key=True)\n"
        "    a = Column(Integer)\n    b = Column(String)\n    c = Column('stored', String)\n" + given
    )
    model = read(tmp_path, source)
    assert model.seen
    assert [key for key in model.unique if key.source != "primary key"] == expected


def test_several_primary_columns_are_one_key(tmp_path: Path) -> None:
    source = """
class Order(Base):
    __tablename__ = "o"
    shop: Mapped[int] = mapped_column(primary_key=True)
    number: Mapped[str] = mapped_column(primary_key=True)
"""
    assert keys(read(tmp_path, source)) == {("shop", "number")}


def test_an_index_beside_the_class(tmp_path: Path) -> None:
    source = """
class Order(Base):
    __tablename__ = "o"
    id: Mapped[int] = mapped_column(primary_key=True)
    a: Mapped[int]

Index("one", Order.a, unique=True)
Index("two", Order.id)
"""
    assert keys(read(tmp_path, source)) == {("id",), ("a",)}


# --- Relations -------------------------------------------------------------------------------------------------------


def relations(folder: Path, order: str, line: str) -> Walked:
    source = f"""
class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    {order}

class Line(Base):
    __tablename__ = "lines"
    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id"))
    {line}

@app.task
def task(db: Session, key):
    order = db.get(Order, key)
    for found in order.lines:
        found.order.id = 1
"""
    return walk(folder, HEAD + source)


@pytest.mark.parametrize(
    ("order", "line"),
    [
        (
            'lines: Mapped[list["Line"]] = relationship(back_populates="order")',
            'order: Mapped["Order"] = relationship(back_populates="lines")',
        ),
        (
            'lines = relationship("Line", back_populates="order")',
            'order = relationship("Order", back_populates="lines")',
        ),
        ('lines = relationship("Line", backref="order")', ""),
        ("", 'order = relationship(Order, backref=backref("lines", lazy="dynamic"))'),
        ('lines: Mapped[list["shop.Line"]] = relationship()', "order: Mapped[Order] = relationship()"),
    ],
)
def test_relations_lead_both_ways(tmp_path: Path, order: str, line: str) -> None:
    walked = relations(tmp_path, order, line)
    changed = walked.only("save")
    assert changed.model == "shop:Order"
    assert changed.loops


def test_a_relation_fills_its_foreign_key(tmp_path: Path) -> None:
    walked = relations(
        tmp_path,
        'lines: Mapped[list["Line"]] = relationship(back_populates="order")',
        'order: Mapped["Order"] = relationship(back_populates="lines")',
    )
    assert walked.model("Line").column("order") == "order_id"
    assert walked.model("Order").column("lines") == "lines"


# --- Tables ----------------------------------------------------------------------------------------------------------


def test_a_table_is_a_model(tmp_path: Path) -> None:
    source = """
orders = Table(
    "orders", metadata,
    Column("id", Integer, primary_key=True),
    Column("number", String, nullable=False),
    Column("shop", ForeignKey("shops.id")),
    UniqueConstraint("shop", "number"),
    Index("ix", "number", unique=True),
)

@app.task
def task(db: Session, number):
    db.execute(orders.insert().values(number=number))
"""
    walked = walk(tmp_path, HEAD + source)
    model = walked.model("orders")
    assert model.seen
    assert keys(model) == {("id",), ("shop", "number"), ("number",)}
    assert walked.only("insert").model == model.name


def test_a_table_read_from_the_database_is_not_seen(tmp_path: Path) -> None:
    source = """
orders = Table("orders", metadata, autoload_with=engine)

@app.task
def task(db: Session, number):
    db.execute(orders.insert().values(number=number))
"""
    assert not walk(tmp_path, HEAD + source).model("orders").seen


def test_the_column_that_is_compared_at_each_update(tmp_path: Path) -> None:
    source = """
class Order(Base):
    __tablename__ = "o"
    id: Mapped[int] = mapped_column(primary_key=True)
    version: Mapped[int]
    __mapper_args__ = {"version_id_col": version}
"""
    assert read(tmp_path, source).version == "version"
