"""What the class of a Django model says: columns and unique keys."""

from __future__ import annotations

import textwrap

import pytest
from django_source import EXPRESSIONS, MODELS, OPTIONS, columns, read, read_one
from hypothesis import given
from hypothesis import strategies as st

from idemlint.orm import LAYERS
from idemlint.orm import library_model as library_model_of_any_layer
from idemlint.orm.django import DJANGO
from idemlint.program import (
    InstanceType,
    Model,
    RowsType,
    UniqueKey,
)


@pytest.mark.parametrize(
    ("declaration", "kind"),
    [
        ("models.CharField(max_length=3)", "text"),
        ("models.UUIDField()", "text"),
        ("models.PositiveBigIntegerField()", "number"),
        ("models.DecimalField(max_digits=9, decimal_places=2)", "number"),
        ("MoneyField(max_digits=9)", "money"),
        ("models.DateTimeField()", "time"),
        ("models.DurationField()", "time"),
        ("models.BooleanField()", "flag"),
        ("models.JSONField()", "json"),
        ("ArrayField(models.CharField())", "json"),
        ("models.ForeignKey('Other', models.CASCADE)", "relation"),
        ("TreeForeignKey('self', models.CASCADE)", "relation"),
        ("models.ManyToManyField('Other')", "relation-many"),
        ("models.FileField()", "other"),
        ("SomethingNobodyKnowsField()", "other"),
        ("models.CharField(primary_key=True)", "id"),
    ],
)
def test_kind_of_field(declaration: str, kind: str) -> None:
    found = read_one(f"x = {declaration}").field("x")
    assert found is not None
    assert (found.name, found.kind, found.null) == ("x", kind, False)


@pytest.mark.parametrize(
    "text", ["objects = Something()", "LIMIT = 3", "x = gettext('a')", "kinds = models.TextChoices('a', 'b')"]
)
def test_what_is_no_field(text: str) -> None:
    assert [column.name for column in read_one(text).fields] == ["id"]


def test_fields_in_branches_and_with_annotations() -> None:
    model = read_one(
        """
        if settings.WITH_CODE:
            code = models.CharField(unique=True)
        name: models.CharField = models.CharField()
        """
    )
    assert [column.name for column in model.fields] == ["id", "code", "name"]
    assert columns(model) == {("code",)}


def test_field_classes_of_the_project() -> None:
    model = read(
        """
        class Code(models.CharField):
            pass

        class ShortCode(Code):
            pass

        class Order(models.Model):
            code = ShortCode(unique=True)
        """
    )["Order"]
    assert [(column.name, column.kind) for column in model.fields] == [("id", "id"), ("code", "text")]
    assert columns(model) == {("code",)}


@pytest.mark.parametrize(
    ("options", "default"),
    [
        ("", None),
        ("default=0", "constant"),
        ("default=-1", "constant"),
        ("default=''", "constant"),
        ("default=list", "constant"),
        ("default=dict", "constant"),
        ("default=Status.NEW", "constant"),
        ("default=Status.NEW.value", "constant"),
        ("default=settings.CURRENCY", "constant"),
        ("default=decimal.Decimal('0')", "constant"),
        ("default=datetime.timedelta(days=1)", "constant"),
        ("default=uuid.uuid4", "unstable"),
        ("default=uuid.uuid4()", "unstable"),
        ("default=timezone.now", "unstable"),
        ("default=datetime.date.today", "unstable"),
        ("default=lambda: uuid.uuid4().hex", "unstable"),
        ("default=partial(get_random_string, 8)", "unstable"),
        ("default=partial(secrets.token_hex, 8)", "unstable"),
        ("default=random.random", "unstable"),
        ("default=make_code", "unknown"),
        ("default=partial(make_code, 8)", "unknown"),
        ("default=something_else", "unknown"),
        ("db_default=Now()", "unstable"),
        ("db_default=3", "constant"),
        ("auto_now=True", "unstable"),
        ("auto_now_add=True", "unstable"),
        ("auto_now=False", None),
    ],
)
def test_default(options: str, default: str | None) -> None:
    text = f"""
    def make_code(n=0): ...

    class Order(models.Model):
        x = models.Field({options})
    """
    found = read(text)["Order"].field("x")
    assert found is not None
    assert found.default == default


def test_implicit_key_stands_where_no_other_does() -> None:
    assert read_one("x = models.IntegerField()").unique == (UniqueKey(("id",), source="primary key"),)
    own = read_one("code = models.CharField(primary_key=True)")
    assert [column.name for column in own.fields] == ["code"]
    assert own.unique == (UniqueKey(("code",), source="primary key"),)
    assert own.column("pk") == "code"


def test_composite_key() -> None:
    model = read_one(
        """
        pk = models.CompositePrimaryKey("tenant_id", "number")
        tenant = models.ForeignKey("Tenant", models.CASCADE)
        number = models.IntegerField()
        """
    )
    assert [key.columns for key in model.unique] == [("tenant", "number")]
    assert model.field("id") is None


@pytest.mark.parametrize(
    ("declaration", "source"),
    [
        ("models.CharField(unique=True)", "unique=True"),
        ("models.CharField(unique=not settings.DEBUG)", "unique=True"),
        ("models.OneToOneField('Other', models.CASCADE)", "OneToOneField"),
        ("models.OneToOneField('Other', models.CASCADE, primary_key=True)", "OneToOneField"),
        ("models.ForeignKey('Other', models.CASCADE, unique=True)", "unique=True"),
    ],
)
def test_unique_field(declaration: str, source: str) -> None:
    assert UniqueKey(("x",), source=source) in read_one(f"x = {declaration}").unique


@pytest.mark.parametrize(
    "declaration",
    [
        "models.CharField()",
        "models.CharField(unique=False)",
        "models.SlugField(unique_for_date='day')",
        "models.CharField(db_index=True)",
        "models.ForeignKey('Other', models.CASCADE)",
    ],
)
def test_field_that_is_not_unique(declaration: str) -> None:
    assert columns(read_one(f"x = {declaration}")) == set()


A = "UniqueConstraint(fields=['a'], name='x')"
EXCLUSION = "ExclusionConstraint(name='x', expressions=[('b', '='), (F('a'), RangeOperators.OVERLAPS)])"
FIELDS = """
a = models.CharField()
b = models.ForeignKey("Other", models.CASCADE)
c = models.CharField(null=True)
"""


def with_meta(meta: str) -> Model:
    return read_one(FIELDS + "class Meta:\n" + textwrap.indent(textwrap.dedent(meta).strip(), "    "))


@pytest.mark.parametrize(
    ("meta", "keys"),
    [
        ("unique_together = ('a', 'b')", {("a", "b")}),
        ("unique_together = ['a', 'b_id']", {("a", "b")}),
        ("unique_together = (('a', 'b'),)", {("a", "b")}),
        ("unique_together = [['a', 'b'], ('b', 'c')]", {("a", "b"), ("b", "c")}),
        ("unique_together = {('a', 'b')}", {("a", "b")}),
        ("unique_together = (('a', 'b'),) + (('b', 'c'),)", {("a", "b"), ("b", "c")}),
        ("unique_together = ()", set()),
        ("constraints = [models.UniqueConstraint(fields=['a', 'b'], name='x')]", {("a", "b")}),
        ("constraints = (UniqueConstraint(fields=('a',), name='x'),)", {("a",)}),
        ("constraints = [UniqueConstraint(Lower('a'), 'b', name='x')]", {("a", "b")}),
        ("constraints = [UniqueConstraint(Lower('a').desc(), F('b'), name='x')]", {("a", "b")}),
        ("constraints = [UniqueConstraint(KeyTextTransform('reference', 'a'), 'b', name='x')]", {("a", "b")}),
        ("constraints = [UniqueConstraint(F('a__reference'), name='x')]", {("a",)}),
        (f"constraints = [{A}] + [UniqueConstraint(fields=['b'], name='y')]", {("a",), ("b",)}),
        (f"constraints = [*[{A}]]", {("a",)}),
        ("constraints = [models.CheckConstraint(check=Q(a=1), name='x')]", set()),
        (f"constraints = [{EXCLUSION}]", {("b", "a")}),
        ("indexes = [models.Index(fields=['a', 'b'])]", set()),
        ("index_together = [['a', 'b']]", set()),
        ("ordering = ['a']", set()),
    ],
)
def test_keys_of_meta(meta: str, keys: set[tuple[str, ...]]) -> None:
    model = with_meta(meta)
    assert columns(model) == keys
    assert model.seen


@pytest.mark.parametrize(
    "meta",
    [
        "unique_together = TOGETHER",
        "unique_together = (('a', NAME),)",
        "constraints = CONSTRAINTS",
        "constraints = [UniqueConstraint(fields=['a'], name='x')] + MORE",
        "constraints = [UniqueConstraint(fields=NAMES, name='x')]",
        "constraints = [UniqueConstraint(**OPTIONS)]",
        "constraints = [UniqueConstraint(something, name='x')]",
        "constraints = [unique('a')]",
        "constraints = [UniqueConstraint(fields=[n], name=n) for n in NAMES]",
        "constraints = [ExclusionConstraint(name='x', expressions=[('b', '='), ('a', '<>')])]",
        "managed = False",
    ],
)
def test_schema_that_was_not_seen(meta: str) -> None:
    assert not with_meta(meta).seen


def test_schema_is_not_seen_behind_an_unknown_base_or_a_function_that_makes_fields() -> None:
    models = read(
        """
        def code(): ...

        class Order(Unknown, models.Model):
            pass

        class Child(Order):
            pass

        class Made(models.Model):
            code = code()

        class Whole(models.Model):
            CODES = code()
        """
    )
    assert [model.seen for model in models.values()] == [False, False, False, True]


def test_a_key_of_an_abstract_model_may_name_columns_of_its_children() -> None:
    model = read(
        """
        class Base(models.Model):
            a = models.CharField()
            class Meta:
                abstract = True
                constraints = [UniqueConstraint(fields=["a", "b"], name="x")]

        class Order(Base):
            b = models.CharField()
        """
    )["Order"]
    assert columns(model) == {("a", "b")}


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ("fields=['a']", UniqueKey(("a",), source="constraints")),
        ("fields=['a'], condition=Q(b=1)", UniqueKey(("a",), ("b",), source="constraints")),
        ("fields=['a'], condition=~Q(b__in=[1]) | models.Q(c=2)", UniqueKey(("a",), ("b", "c"), source="constraints")),
        ("fields=['a'], condition=Q(Q(b=1), c=2)", UniqueKey(("a",), ("c", "b"), source="constraints")),
        ("fields=['a'], condition=ELSEWHERE", UniqueKey(("a",), ("?",), source="constraints")),
        ("fields=['a'], condition=Q(b=1) & ELSEWHERE", UniqueKey(("a",), ("b", "?"), source="constraints")),
        ("fields=['c'], condition=Q(c__isnull=False)", UniqueKey(("c",), source="constraints")),
        ("fields=['a'], condition=Q(c__isnull=False)", UniqueKey(("a",), ("c",), source="constraints")),
        ("fields=['c'], condition=Q(c__isnull=True)", UniqueKey(("c",), ("c",), source="constraints")),
        ("fields=['a', 'c'], nulls_distinct=False", UniqueKey(("a", "c"), (), False, "constraints")),
        ("fields=['a', 'c'], nulls_distinct=True", UniqueKey(("a", "c"), source="constraints")),
        ("Coalesce('c', models.Value(''))", UniqueKey(("c",), (), False, "constraints")),
        ("'a', Coalesce('c', models.Value(''))", UniqueKey(("a", "c"), source="constraints")),
    ],
)
def test_constraint(options: str, key: UniqueKey) -> None:
    assert key in with_meta(f"constraints = [models.UniqueConstraint({options}, name='x')]").unique


@pytest.mark.parametrize(
    ("condition", "escape"),
    [
        ("Q(c__isnull=True)", False),
        ("Q(c__isnull=False)", True),
        ("Q(c__isnull=True, b=1)", True),
        ("Q(c__isnull=True) | Q(b=1)", True),
        ("Q(Q(b=1), c__isnull=True)", True),
        ("Q(c='')", True),
    ],
)
def test_a_second_key_may_hold_for_the_nulls_of_the_first(condition: str, escape: bool) -> None:
    model = with_meta(
        f"""
        unique_together = ("a", "c")
        constraints = [UniqueConstraint(fields=["a"], condition={condition}, name="x")]
        """
    )
    assert next(key for key in model.unique if key.columns == ("a", "c")).nulls_distinct is escape


BASE = """
class Base(models.Model):
    code = models.CharField(unique=True)
    day = models.DateField()
    owner = models.ForeignKey("self", models.CASCADE, related_name="%(app_label)s_%(class)s_set")

    class Meta:
        abstract = True
        unique_together = ("day", "owner")
        constraints = [models.UniqueConstraint(fields=["owner"], name="x")]

"""


DAY = "UniqueConstraint(fields=['day'], name='d')"


@pytest.mark.parametrize(
    ("base", "body", "keys"),
    [
        ("", "", {("code",), ("day", "owner"), ("owner",)}),
        ("object", "ordering = ['day']", {("code",)}),
        ("Base.Meta", "ordering = ['day']", {("code",), ("day", "owner"), ("owner",)}),
        ("Base.Meta", "unique_together = ()", {("code",), ("owner",)}),
        ("Base.Meta", f"constraints = [{DAY}]", {("code",), ("day", "owner"), ("day",)}),
        ("object", f"constraints = Base.Meta.constraints + [{DAY}]", {("code",), ("owner",), ("day",)}),
        ("object", "constraints = [*Base.Meta.constraints]", {("code",), ("owner",)}),
        ("object", "constraints = list(Base.Meta.constraints)", {("code",), ("owner",)}),
        ("object", "unique_together = Base.Meta.unique_together", {("code",), ("day", "owner")}),
    ],
)
def test_abstract_parent(base: str, body: str, keys: set[tuple[str, ...]]) -> None:
    meta = f"\n    class Meta({base}):\n        {body}" if base else ""
    model = read(f"{BASE}class Order(Base):\n    pass{meta}")["Order"]
    assert columns(model) == keys
    assert model.seen
    assert not model.abstract


@pytest.mark.parametrize("code", ["models.CharField()", "None"])
def test_child_that_declares_a_field_anew_loses_its_key(code: str) -> None:
    model = read(f"{BASE}class Order(Base):\n    code = {code}\n    class Meta: pass")["Order"]
    assert columns(model) == set()
    assert ("code" in {column.name for column in model.fields}) == (code != "None")


def test_the_nearest_parent_decides_on_a_field_that_two_have() -> None:
    models = read(
        """
        class Base(models.Model):
            code = models.CharField(unique=True)
            class Meta:
                abstract = True

        class Loose(Base):
            code = models.CharField(null=True)
            class Meta:
                abstract = True

        class Order(Loose, Base): pass
        class Other(Base, Loose): pass
        """
    )
    assert columns(models["Order"]) == set()
    assert columns(models["Other"]) == {("code",)}


def test_abstract_model_is_told_and_its_children_get_their_own_relations() -> None:
    models = read(BASE + "class Order(Base):\n    pass")
    assert models["Base"].abstract
    assert [column.name for column in models["Base"].fields] == ["code", "day", "owner"]
    assert [column.name for column in models["Order"].fields] == ["code", "day", "owner", "id"]
    owner = models["Order"].field("owner")
    assert owner is not None
    assert owner.target == "shop.models:Order"
    assert DJANGO.related_names(models.values()) == {
        ("shop.models:Order", "shop_order_set"): ("shop.models:Order", False)
    }


def test_meta_of_a_class_that_is_unknown_hides_keys() -> None:
    assert not read("class Order(models.Model):\n    class Meta(Elsewhere):\n        pass")["Order"].seen


def test_parent_with_a_table_keeps_its_keys_whatever_the_child_says() -> None:
    models = read(
        """
        class Parent(models.Model):
            a = models.CharField()
            b = models.ForeignKey(User, models.CASCADE, related_name="parents")

            class Meta:
                unique_together = ("a", "b")

        class Child(Parent):
            c = models.CharField()

            class Meta:
                ordering = ["a"]

        class Proxy(Parent):
            class Meta:
                proxy = True
        """
    )
    assert columns(models["Child"]) == {("a", "b")}
    assert [column.name for column in models["Child"].fields] == ["id", "a", "b", "c"]
    assert models["Child"].bases == ("shop.models:Parent",)
    assert models["Proxy"].unique == models["Parent"].unique
    assert DJANGO.related_names(models.values()) == {
        ("django.contrib.auth.models:User", "parents"): ("shop.models:Parent", False)
    }


def test_ways_back_of_a_parent_lead_from_its_children_too() -> None:
    models = read(
        """
        class Parent(models.Model): pass
        class Child(Parent): pass
        class Note(models.Model):
            parent = models.ForeignKey(Parent, models.CASCADE, related_name="notes")
        """
    )
    related = DJANGO.related_names(models.values())
    assert DJANGO.attribute(models["Child"], "notes", related) == RowsType("shop.models:Note", through="notes")


def test_user_model_of_the_project() -> None:
    models = read(
        """
        class Member(AbstractUser):
            phone = models.CharField()

        class Order(models.Model):
            by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
            to = models.ForeignKey(get_user_model(), models.CASCADE, related_name="received")
        """
    )
    member = models["Member"]
    assert ("username",) in columns(member)
    assert [model.title for model in models.values() if DJANGO.is_user(model)] == ["Member"]
    related = DJANGO.related_names(models.values())
    assert DJANGO.attribute(models["Order"], "by", related) == InstanceType(member.name)
    assert DJANGO.attribute(member, "order_set", related) == RowsType("shop.models:Order", through="order_set")
    assert DJANGO.attribute(member, "received", related) == RowsType("shop.models:Order", through="received")


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        ("django.contrib.auth.models.User", {("username",), ("id",)}),
        ("django.contrib.auth.models.Group", {("name",), ("id",)}),
        ("django.contrib.auth.models.Permission", {("content_type", "codename"), ("id",)}),
        ("django.contrib.contenttypes.models.ContentType", {("app_label", "model"), ("id",)}),
        ("django.contrib.sessions.models.Session", {("session_key",)}),
        ("django.contrib.sites.models.Site", {("domain",), ("id",)}),
    ],
)
def test_library_model(path: str, keys: set[tuple[str, ...]]) -> None:
    model = library_model_of_any_layer(path)
    assert model is not None
    assert model.name.replace(":", ".") == path
    assert {key.columns for key in model.unique} == keys
    assert DJANGO.static(model, "objects") == RowsType(model.name)
    assert DJANGO.model_base(path)


def test_library_bases() -> None:
    for path in (
        "django.db.models.Model",
        "django.contrib.gis.db.models.Model",
        "django.contrib.auth.models.AbstractBaseUser",
        "mptt.models.MPTTModel",
        "polymorphic.models.PolymorphicModel",
        "model_utils.models.TimeStampedModel",
    ):
        assert DJANGO.model_base(path)
    assert not DJANGO.model_base("django.db.models.CharField")
    assert DJANGO.library_model("django.db.models.Model") is None
    assert library_model_of_any_layer("nothing.Here") is None
    stamped = DJANGO.library_model("model_utils.models.TimeStampedModel")
    assert stamped is not None
    assert [(column.name, column.default) for column in stamped.fields] == [
        ("created", "unstable"),
        ("modified", "unstable"),
    ]


def test_library_methods_that_leave_the_data_alone() -> None:
    user = DJANGO.library_model("django.contrib.auth.models.User")
    assert user is not None
    assert DJANGO.library_method(user, "email_user") == "django.contrib.auth.models.AbstractUser.email_user"
    assert DJANGO.library_method(user, "get_status_display") == "django.db.models.Model.get_status_display"
    assert DJANGO.library_method(MODELS["Order"], "email_user") is None
    assert DJANGO.library_method(MODELS["Order"], "save") is None


@given(st.dictionaries(OPTIONS, EXPRESSIONS, max_size=4), EXPRESSIONS, st.booleans())
def test_any_meta_can_be_read(options: dict[str, str], default: str, inherits: bool) -> None:
    meta = "\n".join(f"        {name} = {value}" for name, value in options.items())
    text = (
        BASE
        + f"class Order(Base):\n    a = models.CharField(default={default}, unique={default})\n"
        + f"    class Meta{'(Base.Meta)' if inherits else ''}:\n        pass\n{meta}\n"
    )
    model = read(text)["Order"]
    assert all(key.columns for key in model.unique)
    related = DJANGO.related_names([model])
    assert all(isinstance(name, str) for _, name in related)
    assert model.unique or model.abstract


def test_the_layer_answers_as_one() -> None:
    assert [layer.name for layer in LAYERS] == ["django", "sqlalchemy", "mongo", "mongoengine", "peewee", "tortoise"]
