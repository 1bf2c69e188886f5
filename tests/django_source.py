"""Models and calls for the tests of the Django layer, read from source alone."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field

from hypothesis import strategies as st

from idemlint.orm.django import DJANGO
from idemlint.program import (
    ClassType,
    InstanceType,
    LibraryType,
    Model,
    RoutineType,
    RowsType,
    Site,
    Type,
)
from idemlint.syntax import facts as f
from idemlint.syntax.extract import extract

HEAD = """
import datetime
import decimal
import random
import secrets
import uuid
from functools import partial
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractUser, Group, User
from django.db import models
from django.db.models import F, Q, UniqueConstraint
from django.db.models.functions import Coalesce, Lower, Now
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver
from django.shortcuts import get_list_or_404, get_object_or_404
from django.utils import timezone
from django.utils.crypto import get_random_string
"""


@dataclass
class Source:
    """A module `shop.models` whose names are resolved by its imports and its own definitions."""

    module: str = "shop.models"
    names: dict[str, Type] = field(default_factory=dict)
    classes: dict[str, f.Class] = field(default_factory=dict)
    models: dict[str, Model] = field(default_factory=dict)

    def resolve(self, expression: f.Expr) -> Type | None:
        if isinstance(expression, f.Name):
            return self.names.get(expression.id)
        if isinstance(expression, f.Attribute):
            base = self.resolve(expression.base)
            return LibraryType(f"{base.path}.{expression.name}") if isinstance(base, LibraryType) else None
        return None

    def library_base(self, kind: Type) -> str | None:
        cls = self.classes.get(kind.name.partition(":")[2]) if isinstance(kind, ClassType) else None
        for base in cls.bases if cls else ():
            found = self.resolve(base)
            if isinstance(found, LibraryType):
                return found.path
            above = self.library_base(found) if found else None
            if above:
                return above
        return None

    def define(self, statement: f.Statement) -> None:
        if isinstance(statement, f.Import):
            path = f"{statement.module}.{statement.name}" if statement.name else statement.module
            self.names[statement.bind] = LibraryType(path)
        elif isinstance(statement, f.Function):
            self.names[statement.name] = RoutineType(f"{self.module}:{statement.name}")
        elif isinstance(statement, f.Class):
            self.names[statement.name] = ClassType(f"{self.module}:{statement.name}")
            self.classes[statement.name] = statement

    def read(self, cls: f.Class) -> None:
        parents: list[Model] = []
        is_model = False
        unknown = False
        for base in cls.bases:
            found = self.resolve(base)
            if isinstance(found, LibraryType) and DJANGO.model_base(found.path):
                is_model = True
                known = DJANGO.library_model(found.path)
                parents.extend([known] if known else [])
            elif isinstance(found, ClassType) and found.name in self.models:
                is_model = True
                parents.append(self.models[found.name])
            else:
                unknown = unknown or found is None
        if is_model:
            name = f"{self.module}:{cls.name}"
            site = Site("shop/models.py", 0, cls.name_at)
            self.models[name] = DJANGO.read_model(
                name, cls, site, parents, unknown, self.resolve, self.library_base, lambda _: None
            )


def read(text: str, module: str = "shop.models") -> dict[str, Model]:
    """The models of a module, by class name."""
    source = Source(module)
    statements = extract(HEAD + textwrap.dedent(text))
    for statement in statements:
        source.define(statement)
    for statement in statements:
        if isinstance(statement, f.Class):
            source.read(statement)
    return {model.title: model for model in source.models.values()}


def read_one(body: str) -> Model:
    """The model `Order` with this class body."""
    return read("class Order(models.Model):\n" + textwrap.indent(textwrap.dedent(body), "    "))["Order"]


def columns(model: Model) -> set[tuple[str, ...]]:
    """The columns of its unique keys but the implicit one."""
    return {key.columns for key in model.unique} - {("id",)}


def call(text: str) -> f.Call:
    (statement,) = extract(textwrap.dedent(text).strip())
    assert isinstance(statement, f.Evaluate)
    value = statement.value
    value = value.value if isinstance(value, f.Await) else value
    assert isinstance(value, f.Call)
    return value


def written(pairs: tuple[tuple[str, f.Expr], ...]) -> dict[str, object]:
    """Pairs with what tests can compare: literals as values, names as text."""
    return {name: plain(value) for name, value in pairs}


def plain(value: f.Expr | None) -> object:
    if isinstance(value, f.Constant):
        return value.value
    if isinstance(value, f.Name):
        return value.id
    if isinstance(value, f.Attribute):
        return f"{plain(value.base)}.{value.name}"
    return type(value).__name__


ORDER = """
class Tag(models.Model):
    name = models.CharField(max_length=10, unique=True)

class Order(models.Model):
    number = models.CharField(max_length=10, unique=True)
    tags = models.ManyToManyField(Tag, related_name="orders")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="orders")

class Line(models.Model):
    order = models.ForeignKey(Order, models.CASCADE, related_name="lines")
    sku = models.CharField(max_length=10)
    amount = models.IntegerField(default=0)

class Invoice(models.Model):
    order = models.OneToOneField(Order, models.CASCADE)
"""
MODELS = read(ORDER)
ORDERS = RowsType("shop.models:Order")
AN_ORDER = InstanceType("shop.models:Order")
LINES = RowsType("shop.models:Line", through="lines")
A_LINE = InstanceType("shop.models:Line")


LEAVES = st.sampled_from(["'a'", "'b'", "X", "Base.Meta.constraints", "Q(a=1)", "F('a')", "1", "None", "f'{a}'", "..."])
EXPRESSIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
        st.lists(inner, min_size=1, max_size=3).map(lambda items: f"({', '.join(items)},)"),
        st.tuples(inner, inner).map(" + ".join),
        inner.map(lambda item: f"[*{item}]"),
        inner.map(lambda item: f"[{item} for a in b]"),
        inner.map(lambda item: f"models.UniqueConstraint(fields={item}, name='x')"),
        inner.map(lambda item: f"models.UniqueConstraint({item}, condition={item}, name='x')"),
        inner.map(lambda item: f"models.UniqueConstraint(**{{'fields': {item}}})"),
        inner.map(lambda item: f"ExclusionConstraint(expressions={item})"),
    ),
    max_leaves=6,
)
OPTIONS = st.sampled_from(
    ["unique_together", "constraints", "abstract", "managed", "default_manager_name", "default_related_name"]
)
