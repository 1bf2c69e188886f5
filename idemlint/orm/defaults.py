"""Whether a column's default is the same from one run to the next."""

from __future__ import annotations

from typing import Protocol

from idemlint.orm.arguments import text
from idemlint.orm.terms import Resolve
from idemlint.program import ClassType, LibraryInstance, LibraryType
from idemlint.syntax import facts as f

_UNSTABLE = tuple(
    """random. secrets. uuid.uuid1 uuid.uuid4 uuid.uuid6 uuid.uuid7 uuid6. uuid_utils. nanoid. shortuuid. ulid. cuid
    os.urandom time.""".split()
)
_STABLE = tuple("builtins. collections. decimal. uuid.UUID uuid.uuid3 uuid.uuid5 datetime.timedelta".split())
_CLOCKS = frozenset({"now", "utcnow", "today"})
# The starts of what the database works out anew for each row.
_UNSTABLE_SQL = tuple(
    """now current_ localtime sysdate utc_ clock_timestamp statement_timestamp transaction_timestamp timezone getdate
    datetime( unixepoch uuid gen_random random newid nextval""".split()
)


class Reader(Protocol):
    """Says what expressions in a class body are: `path` gives the library path of what one names, as far as known."""

    @property
    def resolve(self) -> Resolve: ...
    def path(self, expression: f.Expr) -> str: ...


def stability(value: f.Expr, reader: Reader) -> str:
    """What a default is from one run to the next: "constant", "unstable" or "unknown"."""
    if isinstance(value, f.Lambda):
        return stability(value.body, reader)
    if isinstance(value, f.Call):
        return _called(value, reader)
    if isinstance(value, f.Name | f.Attribute):
        return _named(value, reader)
    if isinstance(value, f.Display):
        return _together(value.items, reader)
    if isinstance(value, f.Operation):
        return _together((value.left, value.right), reader)
    if isinstance(value, f.Unary):
        return stability(value.operand, reader)
    return "constant" if isinstance(value, f.Constant | f.Mapping) else "unknown"


def database_text(value: f.Expr, reader: Reader) -> str:
    """The same of a server default: a text stands for what the database works out."""
    written = text(value)
    return _sql(written) if written is not None else stability(value, reader)


def _together(values: tuple[f.Expr, ...], reader: Reader) -> str:
    found = {stability(value, reader) for value in values}
    return next((word for word in ("unstable", "unknown") if word in found), "constant")


def _called(value: f.Call, reader: Reader) -> str:
    path = reader.path(value.function)
    function = path.rpartition(".")[2]
    inner = tuple(argument.value for argument in value.arguments)
    if function in ("text", "literal_column", "DefaultClause") and inner:
        return database_text(inner[0], reader)
    if ".func." in path or path.startswith("func."):
        return "unstable" if _sql(function) == "unstable" else _together(inner, reader)
    made = stability(value.function, reader)
    rest = _together(inner, reader)
    return next((word for word in ("unstable", "unknown") if word in (made, rest)), "constant")


def _sql(written: str) -> str:
    return "unstable" if written.strip("( ").casefold().startswith(_UNSTABLE_SQL) else "constant"


def _named(value: f.Name | f.Attribute, reader: Reader) -> str:
    found = reader.resolve(value)
    if isinstance(found, LibraryType):
        tail = found.path.rpartition(".")[2]
        if tail in _CLOCKS or found.path.startswith(_UNSTABLE):
            return "unstable"
        if ".func." in found.path:
            return _sql(tail)
        return "constant" if found.path.startswith(_STABLE) or _constant_like(value) else "unknown"
    if isinstance(found, LibraryInstance):
        return "unstable" if ".func." in found.path and _sql(found.path.rpartition(".")[2]) == "unstable" else "unknown"
    if isinstance(found, ClassType) or _constant_like(value):
        return "constant"
    if isinstance(value, f.Attribute) and isinstance(value.base, f.Call):
        return stability(value.base, reader)
    return "unknown"


def _constant_like(value: f.Name | f.Attribute) -> bool:
    """Whether a name is spelled like a constant: `DEFAULT`, `Status.NEW`, `Status.NEW.value`."""
    if isinstance(value, f.Name):
        return value.id.isupper()
    if value.name in ("value", "name"):
        return isinstance(value.base, f.Attribute) and _constant_like(value.base)
    return value.name.isupper()
