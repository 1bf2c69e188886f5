"""Fields: what `name = models.SomeField(...)` says of a column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from idemlint.orm.arguments import argument, is_false, is_true, last_name, text
from idemlint.orm.django.words import Words, library_id
from idemlint.program import ClassType, Field, LibraryType, RoutineType
from idemlint.syntax import facts as f

PRIMARY = "primary key"
UNIQUE = "unique=True"
ONE_TO_ONE = "OneToOneField"

# The target of a field that points at the project's user model, before `settle` knows which one that is.
USER = "AUTH_USER_MODEL"

# By the end of the class's name: `PositiveBigIntegerField` is an `IntegerField`, whoever wrote it.
_KINDS = {
    "CharField": "text",
    "TextField": "text",
    "SlugField": "text",
    "EmailField": "text",
    "URLField": "text",
    "FilePathField": "text",
    "IPAddressField": "text",
    "UUIDField": "text",
    "PhoneNumberField": "text",
    "CountryField": "text",
    "StatusField": "text",
    "IntegerField": "number",
    "FloatField": "number",
    "DecimalField": "number",
    "MoneyField": "money",
    "DateField": "time",
    "TimeField": "time",
    "DurationField": "time",
    "AutoCreatedField": "time",
    "AutoLastModifiedField": "time",
    "MonitorField": "time",
    "BooleanField": "flag",
    "JSONField": "json",
    "ArrayField": "json",
    "HStoreField": "json",
    "ForeignKey": "relation",
    "ParentalKey": "relation",
    "OneToOneField": "relation",
    "ManyToManyField": "relation-many",
    "GenericRelation": "relation-many",
    "AutoField": "id",
    "Field": "other",
}

_TIME_STAMPS = frozenset(
    {
        "AutoCreatedField",
        "AutoLastModifiedField",
        "CreationDateTimeField",
        "ModificationDateTimeField",
        "MonitorField",
    }
)
_RANDOM_VALUES = frozenset({"ShortUUIDField", "RandomCharField"})
_NO_WAY_BACK = frozenset({"GenericForeignKey", "GenericRelation"})

_UNSTABLE_MODULES = ("random.", "secrets.", "uuid.uuid", "numpy.random.", "nanoid.", "shortuuid.", "ulid.", "cuid")
_STABLE_MODULES = (
    "builtins.",
    "collections.",
    "datetime.",
    "decimal.",
    "django.",
    "functools.partial",
    "uuid.UUID",
    "uuid.uuid3",
    "uuid.uuid5",
)
_UNSTABLE_CALLABLES = frozenset(
    {
        "os.urandom",
        "time.time",
        "time.time_ns",
        "time.monotonic",
        "datetime.datetime.now",
        "datetime.datetime.utcnow",
        "datetime.datetime.today",
        "datetime.date.today",
        "django.utils.timezone.now",
        "django.utils.timezone.localtime",
        "django.utils.timezone.localdate",
        "django.utils.crypto.get_random_string",
        "django.core.management.utils.get_random_secret_key",
        "django.db.models.functions.Now",
        "django.db.models.functions.Random",
        "django.contrib.postgres.functions.RandomUUID",
        "django.contrib.postgres.functions.TransactionNow",
        "django.db.models.functions.UUID4",
        "django.db.models.functions.UUID7",
    }
)
_EMPTY_VALUES = frozenset({"dict", "list", "set", "tuple", "str", "int", "float", "bool"})


@dataclass(frozen=True, slots=True)
class Declared:
    """A field of a class body and where it says that it is unique ("": nowhere)."""

    field: Field
    unique: str


def assignments(body: f.Body) -> Iterator[tuple[str, f.Expr, int]]:
    """Names, values and ordinals of what a class body assigns, the branches of its `if` and `try` included."""
    for statement in body:
        if isinstance(statement, f.Assign) and statement.value is not None:
            for target in statement.targets:
                if isinstance(target, f.Name):
                    yield target.id, statement.value, statement.at
        elif isinstance(statement, f.If):
            yield from assignments(statement.body + statement.orelse)
        elif isinstance(statement, f.Try):
            yield from assignments(statement.body + statement.orelse + statement.final)


def declared_fields(name: str, body: f.Body, words: Words) -> Iterator[Declared]:
    """The fields that the class body of the model `name` declares, in order."""
    for attribute, value, at in assignments(body):
        if isinstance(value, f.Call):
            word = words.tail(value.function)
            kind = _kind(word)
            if kind is not None:
                yield _declared(name, attribute, kind, word, value, at, words)


def _kind(word: str) -> str | None:
    ends = [end for end in _KINDS if word.endswith(end)]
    return _KINDS[max(ends, key=len)] if ends else None


def _declared(model: str, name: str, kind: str, word: str, call: f.Call, at: int, words: Words) -> Declared:
    given = {argument.name: argument.value for argument in call.arguments if argument.name}
    primary = kind == "id" or not is_false(given.get("primary_key"))
    unique = ""
    if word.endswith(ONE_TO_ONE):
        unique = ONE_TO_ONE
    elif primary:
        unique = PRIMARY
    elif not is_false(given.get("unique")):
        unique = UNIQUE
    target = related = None
    if kind in ("relation", "relation-many"):
        target = _target(model, call, words) if word != "GenericForeignKey" else None
        related = "+" if word in _NO_WAY_BACK else text(given.get("related_name"))
        if kind == "relation-many" and target == model and related is None and not _one_way(given):
            related = "+"
    null = is_true(given.get("null")) or word == "NullBooleanField"
    field = Field(name, "id" if primary else kind, null, _default(word, given, words), target, related, at)
    return Declared(field, unique)


def _one_way(given: Mapping[str, f.Expr]) -> bool:
    """Whether a many-to-many relation to its own model is not symmetrical, and so has a way back."""
    return "symmetrical" in given and is_false(given["symmetrical"])


def _target(model: str, call: f.Call, words: Words) -> str | None:
    to = argument(call, 0, "to")
    if to is None:
        return None
    found = words.resolve(to)
    written = text(to)
    if written == "self":
        return model
    if found is None and written is not None and "." not in written:
        found = words.resolve(f.Name(to.at, written))
    if isinstance(found, ClassType):
        return found.name
    if last_name(to.function if isinstance(to, f.Call) else to) in (USER, "get_user_model"):
        return USER
    return library_id(found.path) if isinstance(found, LibraryType) else written


def _default(word: str, given: Mapping[str, f.Expr], words: Words) -> str | None:
    if word in _TIME_STAMPS or word in _RANDOM_VALUES:
        return "unstable"
    if any(not is_false(given.get(name)) for name in ("auto_now", "auto_now_add")):
        return "unstable"
    value = given.get("default", given.get("db_default"))
    return None if value is None else stability(value, words)


def stability(value: f.Expr, words: Words) -> str:
    """What a default is from one run to the next: "constant", "unstable" or "unknown"."""
    if isinstance(value, f.Lambda):
        return stability(value.body, words)
    if isinstance(value, f.Call):
        made = stability(value.function, words)
        inner = [stability(argument.value, words) for argument in value.arguments]
        if made == "unstable" or "unstable" in inner:
            return "unstable"
        return "unknown" if made == "unknown" or "unknown" in inner else "constant"
    if isinstance(value, f.Name | f.Attribute):
        return _named(value, words)
    if isinstance(value, f.Display):
        return "constant" if all(stability(item, words) == "constant" for item in value.items) else "unknown"
    if isinstance(value, f.Operation):
        sides = {stability(value.left, words), stability(value.right, words)}
        return next((word for word in ("unstable", "unknown") if word in sides), "constant")
    if isinstance(value, f.Unary):
        return stability(value.operand, words)
    return "constant" if isinstance(value, f.Constant | f.Mapping) else "unknown"


def _named(value: f.Name | f.Attribute, words: Words) -> str:
    found = words.resolve(value)
    if isinstance(found, LibraryType):
        if found.path in _UNSTABLE_CALLABLES:
            return "unstable"
        if found.path.startswith(_STABLE_MODULES) or value_like(value):
            return "constant"
        return "unstable" if found.path.startswith(_UNSTABLE_MODULES) else "unknown"
    if isinstance(found, RoutineType):
        return "unknown"
    if isinstance(found, ClassType) or value_like(value):
        return "constant"
    if isinstance(value, f.Attribute) and isinstance(value.base, f.Call):
        return stability(value.base, words)
    if isinstance(value, f.Attribute) and words.project_class(value.base):
        return "constant"
    return "unknown"


def value_like(value: f.Name | f.Attribute) -> bool:
    """Whether a name is spelled like a constant (`DEFAULT`, `Status.NEW`, `Status.NEW.value`) or an empty builtin."""
    if isinstance(value, f.Name):
        return value.id in _EMPTY_VALUES or value.id.isupper()
    if value.name in ("value", "label", "name"):
        return isinstance(value.base, f.Attribute) and value_like(value.base)
    return value.name.isupper()
