"""Columns and relations: what `name: Mapped[int] = mapped_column(...)` and its kin say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from idemlint.orm.arguments import argument, is_false, last_name, positional, text
from idemlint.orm.defaults import database_text, stability
from idemlint.orm.sqlalchemy.words import Reader
from idemlint.program import ClassType, Field, LibraryInstance, LibraryType
from idemlint.syntax import facts as f
from idemlint.syntax.extract import extract_expression

PRIMARY = "primary key"
UNIQUE = "unique=True"

_COLUMNS = frozenset({"mapped_column", "Column"})
_FIELDS = frozenset({"Field"})
_RELATIONS = frozenset({"relationship", "Relationship", "dynamic_loader"})
_MAPPED = frozenset({"Mapped", "WriteOnlyMapped", "DynamicMapped"})
_LISTS = frozenset("list List set Set Sequence Collection Iterable AppenderQuery".split())

_KINDS = {
    "text": """String Text Unicode UnicodeText CHAR VARCHAR NVARCHAR CLOB Enum CITEXT Uuid UUID GUID UUIDType EmailType
        URLType ChoiceType AutoString str bytes LargeBinary LONGTEXT INET""",
    "number": """Integer BigInteger SmallInteger Numeric Float Double DECIMAL NUMERIC INTEGER BIGINT SMALLINT FLOAT REAL
        DOUBLE_PRECISION int float Decimal""",
    "money": "MONEY",
    "time": "DateTime Date Time Interval TIMESTAMP DATETIME DATE TIME ArrowType datetime date time timedelta",
    "flag": "Boolean BOOLEAN bool",
    "json": "JSON JSONB ARRAY HSTORE PickleType JSONType MutableDict MutableList dict Dict list List",
}
_KIND = {word: kind for kind, words in _KINDS.items() for word in words.split()}
_NO_TYPE = frozenset("ForeignKey Computed Identity Sequence CheckConstraint FetchedValue DefaultClause".split())


@dataclass(frozen=True, slots=True)
class Declared:
    """A column of a class body or table: where it says that it is unique ("": nowhere), its name in the database, the
    tables its foreign keys lead to. `hidden` says that part of it could not be read, so that it may be unique."""

    field: Field
    unique: str = ""
    stored: str = ""
    tables: tuple[str, ...] = ()
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of a class body; `columns` are those of its own model that fill it, where it says so."""

    field: Field
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Given:
    """A name of a class body as it is written there."""

    name: str
    value: f.Expr | None
    annotation: f.Expr | None
    at: int


def assignments(body: f.Body) -> Iterator[Given]:
    """What a class body assigns or annotates, and what its `declared_attr` methods return, in order."""
    for statement in body:
        match statement:
            case f.Assign(targets=targets, value=value, annotation=annotation, at=at):
                for target in targets:
                    if isinstance(target, f.Name):
                        yield Given(target.id, value, annotation, at)
            case f.Function(name=name, decorators=decorators, body=inner, returns=returns, at=at):
                if any(_is_declared(decorator) for decorator in decorators):
                    given = next((part.value for part in inner if isinstance(part, f.Return)), None)
                    yield Given(name, given, returns, at)
            case f.If(body=inner, orelse=orelse):
                yield from assignments(inner + orelse)


def _is_declared(decorator: f.Expr) -> bool:
    """`@declared_attr`, `@declared_attr.directive`."""
    written = decorator.base if isinstance(decorator, f.Attribute) else decorator
    return "declared_attr" in (last_name(written), last_name(decorator))


def declaration(given: Given, reader: Reader, bare: bool) -> Declared | Relation | None:
    """The column or relation that a name of a class body is, None for neither. `bare` says that an annotation alone
    makes a column."""
    inner, mapped = _unwrapped(given.annotation, reader)
    value = _made(given.value, reader)
    word = reader.tail(value.function) if isinstance(value, f.Call) else ""
    if isinstance(value, f.Call) and word in _RELATIONS:
        return _relation(given, value, inner, mapped, reader)
    if isinstance(value, f.Call) and (word in _COLUMNS or (word in _FIELDS and bare)):
        return column(given.name, value, inner, given.at, reader)
    if isinstance(value, f.Call) and isinstance(reader.resolve(value), LibraryInstance):
        made = reader.path(value)
        if made.rpartition(".")[2] in _COLUMNS:
            return Declared(Field(given.name, "other", at=given.at), hidden=True)
    if given.annotation is None or (value is not None and not bare and not mapped):
        return None
    if (mapped and value is None) or (bare and not mapped and not _is_class_variable(given.annotation, reader)):
        default = (f.Argument(value, "default"),) if value is not None else ()
        return column(given.name, f.Call(given.at, f.Name(given.at, "mapped_column"), default), inner, given.at, reader)
    return None


def column(name: str, call: f.Call, annotation: f.Expr | None, at: int, reader: Reader) -> Declared:
    """What a column's call says. `annotation` is what stands inside `Mapped[...]`."""
    alias, hidden = _aliased(annotation, reader)
    calls = [call, *alias]
    inner = argument(call, None, "sa_column")
    if isinstance(inner, f.Call):
        calls.append(inner)
    options: dict[str, f.Expr] = {}
    for each in reversed(calls):
        options.update({given.name: given.value for given in each.arguments if given.name})
        hidden = hidden or any(given.star for given in each.arguments)
    extra = options.get("sa_column_kwargs")
    if isinstance(extra, f.Mapping):
        options.update({str(key.value): item for key, item in extra.items if isinstance(key, f.Constant)})
    elif extra is not None:
        hidden = True
    parts = [part for each in calls for part in positional(each)]
    plain = _without_none(annotation, reader)
    primary = not is_false(options.get("primary_key"))
    tables = tuple(_table(part) for part in parts if _calls(part, "ForeignKey", reader))
    if "foreign_key" in options:
        tables = (*tables, (text(options["foreign_key"]) or "").partition(".")[0])
    kind = "id" if primary else "relation" if tables else _kind(parts, options, plain, reader)
    field = Field(name, kind, _null(options, annotation, plain, primary), _default(options, reader), at=at)
    unique = PRIMARY if primary else UNIQUE if not is_false(options.get("unique")) else ""
    stored = text(options.get("name")) or (text(parts[0]) if parts else None) or name
    return Declared(field, unique, stored, tables, hidden)


def _made(value: f.Expr | None, reader: Reader) -> f.Expr | None:
    """`deferred(Column(...))` is its column; a name stands for what it was set to."""
    if isinstance(value, f.Name | f.Attribute):
        return reader.assigned(value) or value
    if isinstance(value, f.Call) and reader.tail(value.function) == "deferred" and positional(value):
        return positional(value)[0]
    return value


def _unwrapped(annotation: f.Expr | None, reader: Reader) -> tuple[f.Expr | None, bool]:
    """What stands inside `Mapped[...]`, and whether it is one."""
    if isinstance(annotation, f.Constant) and isinstance(annotation.value, str):
        annotation = extract_expression(annotation.value) or annotation
    if isinstance(annotation, f.Subscript) and reader.tail(annotation.base) in _MAPPED:
        inner = annotation.index
        if isinstance(inner, f.Constant) and isinstance(inner.value, str):
            inner = extract_expression(inner.value) or inner
        return inner, True
    return annotation, False


def _is_class_variable(annotation: f.Expr, reader: Reader) -> bool:
    return isinstance(annotation, f.Subscript) and reader.tail(annotation.base) == "ClassVar"


def _aliased(annotation: f.Expr | None, reader: Reader) -> tuple[list[f.Call], bool]:
    """The column calls that an annotation brings along (`intpk = Annotated[int, mapped_column(primary_key=True)]`), and
    whether it may hide some."""
    if isinstance(annotation, f.Name | f.Attribute):
        known = reader.resolve(annotation)
        if isinstance(known, ClassType | LibraryType):
            return [], False
        written = reader.assigned(annotation)
        return (
            _aliased(written, reader) if isinstance(written, f.Subscript) else ([], known is None and written is None)
        )
    if isinstance(annotation, f.Subscript) and reader.tail(annotation.base) == "Annotated":
        items = annotation.index.items if isinstance(annotation.index, f.Display) else (annotation.index,)
        return [item for item in items if isinstance(item, f.Call) and _is_column(item, reader)], False
    plain = _without_none(annotation, reader)
    return _aliased(plain, reader) if plain is not annotation else ([], False)


def _is_column(call: f.Call, reader: Reader) -> bool:
    return reader.tail(call.function) in _COLUMNS | _FIELDS


def _without_none(annotation: f.Expr | None, reader: Reader) -> f.Expr | None:
    """`Optional[X]` and `X | None` are X."""
    match annotation:
        case f.Operation(operator="|", left=left, right=right):
            return left if isinstance(right, f.Constant) and right.value is None else right
        case f.Subscript(base=base, index=index) if reader.tail(base) in ("Optional", "Union"):
            items = index.items if isinstance(index, f.Display) else (index,)
            return next((item for item in items if not (isinstance(item, f.Constant) and item.value is None)), None)
    return annotation


def _null(options: dict[str, f.Expr], annotation: f.Expr | None, plain: f.Expr | None, primary: bool) -> bool:
    if "nullable" in options:
        return not is_false(options["nullable"])
    return plain is not annotation if annotation is not None else not primary


def _kind(parts: list[f.Expr], options: dict[str, f.Expr], annotation: f.Expr | None, reader: Reader) -> str:
    typed = options.get("type_") or options.get("sa_type")
    for part in [*([typed] if typed is not None else []), *parts]:
        function = _plain_type(part)
        word = reader.tail(function) if isinstance(function, f.Name | f.Attribute) else ""
        if word and word not in _NO_TYPE:
            return _KIND.get(word, _KIND.get(last_name(function), "other"))
    if isinstance(annotation, f.Subscript):
        base = reader.tail(annotation.base)
        if base == "Annotated" and isinstance(annotation.index, f.Display):
            return _kind([], {}, annotation.index.items[0], reader)
        return "text" if base == "Literal" else _KIND.get(base, "other")
    if annotation is None or isinstance(annotation, f.Constant):
        return "other"
    written = reader.assigned(annotation)
    if isinstance(written, f.Subscript):
        return _kind([], {}, written, reader)
    return _KIND.get(reader.tail(annotation), "text" if isinstance(reader.resolve(annotation), ClassType) else "other")


def _plain_type(part: f.Expr) -> f.Expr:
    """What a type is called: `String` of `String(20)`, `JSONB` of `MutableDict.as_mutable(JSONB)`."""
    if not isinstance(part, f.Call):
        return part
    if isinstance(part.function, f.Attribute) and part.function.name == "as_mutable" and positional(part):
        return _plain_type(positional(part)[0])
    if isinstance(part.function, f.Attribute) and part.function.name in ("with_variant", "evaluates_none"):
        return _plain_type(part.function.base)
    return part.function


def _default(options: dict[str, f.Expr], reader: Reader) -> str | None:
    for name in ("default", "default_factory", "insert_default"):
        value = options.get(name)
        if value is not None and not (isinstance(value, f.Constant) and value.value is None):
            return stability(value, reader)
    server = options.get("server_default")
    return database_text(server, reader) if server is not None else None


def _calls(part: f.Expr, word: str, reader: Reader) -> bool:
    return isinstance(part, f.Call) and reader.tail(part.function) == word


def _table(call: f.Expr) -> str:
    """The table a foreign key leads to: `ForeignKey("shop.orders.id")` to "orders", one given as a column to "?"."""
    given = positional(call) if isinstance(call, f.Call) else ()
    written = text(given[0]) if given else None
    parts = written.split(".") if written else []
    return parts[-2] if len(parts) > 1 else "?"


def _relation(given: Given, call: f.Call, annotation: f.Expr | None, mapped: bool, reader: Reader) -> Relation:
    plain = _without_none(annotation, reader)
    many: bool | None = None
    target: f.Expr | None
    target = plain
    if isinstance(plain, f.Subscript) and reader.tail(plain.base) in _LISTS:
        many, target = True, plain.index
    elif plain is not None:
        many = False
    first = argument(call, 0, "argument")
    if first is not None:
        target = first.body if isinstance(first, f.Lambda) else first
    uselist = argument(call, None, "uselist")
    if uselist is not None:
        many = not is_false(uselist)
    if many is None and (
        argument(call, 1, "secondary") or (argument(call, None, "lazy") is not None and _dynamic(call))
    ):
        many = True
    back = text(argument(call, None, "back_populates")) or _backref(argument(call, None, "backref"))
    kind = "relation" if many is False else "relation-many" if many else "relation-?"
    keys = argument(call, None, "foreign_keys")
    items = keys.items if isinstance(keys, f.Display) else (keys,) if keys is not None else ()
    columns = tuple(last_name(item) or (text(item) or "").strip("[]").rpartition(".")[2] for item in items)
    return Relation(
        Field(given.name, kind, True, None, _target(target, reader), back or "+", given.at),
        tuple(filter(None, columns)),
    )


def _dynamic(call: f.Call) -> bool:
    return text(argument(call, None, "lazy")) in ("dynamic", "write_only")


def _backref(value: f.Expr | None) -> str | None:
    if isinstance(value, f.Call) and positional(value):
        return text(positional(value)[0])
    return text(value)


def _target(target: f.Expr | None, reader: Reader) -> str | None:
    """The id of the model a relation leads to; its name as written where that says nothing yet."""
    if target is None:
        return None
    written = text(target)
    if written is not None:
        stem = written.rpartition(".")[2]
        found = reader.resolve(f.Name(target.at, stem)) if stem.isidentifier() else None
        return found.name if isinstance(found, ClassType) else stem
    known = reader.resolve(target)
    return known.name if isinstance(known, ClassType) else last_name(target) or None


def is_many(relation: Relation, columns: tuple[Declared, ...]) -> bool:
    """Whether a relation leads to several rows; one that does not say so does, unless its own model has the key."""
    if relation.field.kind != "relation-?":
        return relation.field.kind == "relation-many"
    return not fills(relation, columns)


def fills(relation: Relation, columns: tuple[Declared, ...]) -> str:
    """The foreign key column that a relation to one row fills; "" where it cannot be told."""
    keys = [declared for declared in columns if declared.tables]
    names = {declared.field.name for declared in keys}
    if len(relation.columns) == 1:
        return relation.columns[0] if relation.columns[0] in names else ""
    for spelled in (f"{relation.field.name}_id", f"id_{relation.field.name}"):
        if spelled in names:
            return spelled
    title = (relation.field.target or "").rpartition(":")[2].rpartition(".")[2].casefold()
    fitting = [key.field.name for key in keys if title and any(_named_like(table, title) for table in key.tables)]
    return fitting[0] if len(fitting) == 1 else ""


def _named_like(table: str, title: str) -> bool:
    """Whether a table is called after a class: `order_lines` after `OrderLine`."""
    plain = table.replace("_", "").casefold()
    return plain in (title, title + "s", title + "es", title.removesuffix("y") + "ies")
