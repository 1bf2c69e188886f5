"""A shop whose rows are stored through sessions, and tasks in it, for the tests of what sessions do."""

from __future__ import annotations

import textwrap
from pathlib import Path

from walking import Walked, walk

HEAD = """
import uuid
from contextlib import contextmanager
from functools import wraps

import requests
from celery import Celery
from sqlalchemy import (
    ForeignKey, Integer, String, UniqueConstraint, and_, create_engine, delete, exists, func, insert, not_, or_, select,
    text, update,
)
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.orm import (
    DeclarativeBase, Mapped, Session, aliased, mapped_column, relationship, scoped_session, sessionmaker,
)

app = Celery("shop")
engine = create_engine("postgresql://")
Local = sessionmaker(bind=engine)
Async = async_sessionmaker(create_async_engine("postgresql+asyncpg://"))
shared = scoped_session(Local)


def pay(order_id):
    requests.post("https://api.stripe.com/v1/charges", json={"order": order_id}).raise_for_status()


class Base(DeclarativeBase):
    pass


class Order(Base):
    __tablename__ = "orders"
    id: Mapped[int] = mapped_column(primary_key=True)
    number: Mapped[str] = mapped_column(String(20), unique=True)
    status: Mapped[str]
    total: Mapped[int]
    closed: Mapped[bool]
    lines: Mapped[list["Line"]] = relationship(back_populates="order")


class Line(Base):
    __tablename__ = "lines"
    id: Mapped[int] = mapped_column(primary_key=True)
    order_id: Mapped[int] = mapped_column(ForeignKey("orders.id"))
    sku: Mapped[str]
    order: Mapped[Order] = relationship(back_populates="lines")


class Applied(Base):
    __tablename__ = "applied"
    id: Mapped[int] = mapped_column(primary_key=True)
    event: Mapped[str]
    kind: Mapped[str]
    __table_args__ = (UniqueConstraint("event", "kind"),)


class Counter(Base):
    __tablename__ = "counters"
    name: Mapped[str] = mapped_column(primary_key=True)
    balance: Mapped[int]
    version: Mapped[int]
    __mapper_args__ = {"version_id_col": version}

"""


def body(folder: Path, source: str, parameters: str = "db: Session, key, other=None", task: str = "def") -> Walked:
    """A task with these statements."""
    inner = textwrap.indent(textwrap.dedent(source).strip("\n"), "    ")
    return walk(folder, f"{HEAD}\n@app.task(acks_late=True)\n{task} task({parameters}):\n{inner}\n")


def module(folder: Path, source: str) -> Walked:
    return walk(folder, HEAD + textwrap.dedent(source))
