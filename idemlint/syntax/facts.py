"""Facts: what a top-level statement says, as frozen values that print, compare and pickle.

Every expression and statement carries `at`, its ordinal in the top-level statement ("slice") it was read from. Places
are worked out from (slice, ordinal) afterwards, for the few nodes that a report names: see `syntax.locate`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import TypeAlias

Literal: TypeAlias = str | bytes | int | float | complex | bool | None


@dataclass(frozen=True, slots=True)
class Name:
    at: int
    id: str


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal; `...` is `Ellipsis` as a `Name`."""

    at: int
    value: Literal


@dataclass(frozen=True, slots=True)
class Attribute:
    at: int
    base: Expr
    name: str


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a call; `star` is "", "*" or "**", `name` the keyword."""

    value: Expr
    name: str | None = None
    star: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    at: int
    function: Expr
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Subscript:
    at: int
    base: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class Operation:
    """A binary operation; `operator` is its sign, as written."""

    at: int
    operator: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Boolean:
    """`and` / `or` over two or more operands."""

    at: int
    operator: str
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Unary:
    """`not`, `-`, `+` or `~`."""

    at: int
    operator: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class Comparison:
    """`a < b < c`: operators as written ("not in", "is not", ...)."""

    at: int
    left: Expr
    operators: tuple[str, ...]
    rights: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Format:
    """An f-string or a concatenation of string literals one of which is: its parts, literal text as constants."""

    at: int
    parts: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Formatted:
    """A value in an f-string that is converted or formatted on the way: `{n:>{width}}`, `{name!r}`."""

    at: int
    value: Expr
    specification: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Display:
    """A tuple, list or set display; `kind` names which."""

    at: int
    kind: str
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Mapping:
    """A dict display; a None key marks `**value`."""

    at: int
    items: tuple[tuple[Expr | None, Expr], ...]


@dataclass(frozen=True, slots=True)
class Starred:
    at: int
    value: Expr


@dataclass(frozen=True, slots=True)
class Lambda:
    at: int
    parameters: tuple[Parameter, ...]
    body: Expr


@dataclass(frozen=True, slots=True)
class Generator:
    """One `for target in iterable if test ...` of a comprehension."""

    target: Expr
    iterable: Expr
    tests: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Comprehension:
    """A comprehension or generator expression; `key` only for dicts."""

    at: int
    kind: str
    element: Expr
    generators: tuple[Generator, ...]
    key: Expr | None = None


@dataclass(frozen=True, slots=True)
class Conditional:
    at: int
    test: Expr
    body: Expr
    orelse: Expr


@dataclass(frozen=True, slots=True)
class Await:
    at: int
    value: Expr


@dataclass(frozen=True, slots=True)
class Yield:
    at: int
    value: Expr | None


@dataclass(frozen=True, slots=True)
class Walrus:
    at: int
    target: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class Slice:
    at: int
    parts: tuple[Expr, ...]


Expr: TypeAlias = (
    Name
    | Constant
    | Attribute
    | Call
    | Subscript
    | Operation
    | Boolean
    | Unary
    | Comparison
    | Format
    | Formatted
    | Display
    | Mapping
    | Starred
    | Lambda
    | Comprehension
    | Conditional
    | Await
    | Yield
    | Walrus
    | Slice
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """`kind` is "positional" (positional-only), "normal", "keyword", "*" or "**"."""

    name: str
    kind: str = "normal"
    annotation: Expr | None = None
    default: Expr | None = None


@dataclass(frozen=True, slots=True)
class Assign:
    """`a = b = value`, or an annotated one (`value` may then be None)."""

    at: int
    targets: tuple[Expr, ...]
    value: Expr | None
    annotation: Expr | None = None


@dataclass(frozen=True, slots=True)
class Augment:
    """`target operator= value`; `operator` without the equals sign."""

    at: int
    target: Expr
    operator: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Evaluate:
    """An expression statement."""

    at: int
    value: Expr


@dataclass(frozen=True, slots=True)
class Return:
    at: int
    value: Expr | None


@dataclass(frozen=True, slots=True)
class Raise:
    at: int
    exception: Expr | None


@dataclass(frozen=True, slots=True)
class Jump:
    """`break` or `continue`."""

    at: int
    kind: str


@dataclass(frozen=True, slots=True)
class Delete:
    at: int
    targets: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Assert:
    at: int
    test: Expr


@dataclass(frozen=True, slots=True)
class If:
    at: int
    test: Expr
    body: Body
    orelse: Body


@dataclass(frozen=True, slots=True)
class For:
    at: int
    target: Expr
    iterable: Expr
    body: Body
    orelse: Body


@dataclass(frozen=True, slots=True)
class While:
    at: int
    test: Expr
    body: Body
    orelse: Body


@dataclass(frozen=True, slots=True)
class With:
    at: int
    items: tuple[tuple[Expr, Expr | None], ...]
    body: Body


@dataclass(frozen=True, slots=True)
class Handler:
    """`except exception as name`; `exception` is None for a bare one."""

    at: int
    exception: Expr | None
    name: str | None
    body: Body


@dataclass(frozen=True, slots=True)
class Try:
    at: int
    body: Body
    handlers: tuple[Handler, ...]
    orelse: Body
    final: Body


@dataclass(frozen=True, slots=True)
class Case:
    """A case of a `match`; `binds` are the names its pattern binds, `irrefutable` whether it always matches."""

    binds: tuple[str, ...]
    irrefutable: bool
    values: tuple[Expr, ...]
    guard: Expr | None
    body: Body


@dataclass(frozen=True, slots=True)
class Match:
    at: int
    subject: Expr
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A `def`. `name_at` is the ordinal of its name, where a finding about the whole task stands."""

    at: int
    name_at: int
    name: str
    parameters: tuple[Parameter, ...]
    decorators: tuple[Expr, ...]
    returns: Expr | None
    body: Body
    is_async: bool
    is_generator: bool


@dataclass(frozen=True, slots=True)
class Class:
    at: int
    name_at: int
    name: str
    bases: tuple[Expr, ...]
    keywords: tuple[tuple[str, Expr], ...]
    decorators: tuple[Expr, ...]
    body: Body


@dataclass(frozen=True, slots=True)
class Import:
    """`import module as alias`, or `from module import name as alias` when `name` is set.

    `level` counts the dots of a relative import, `name` may be "*", `bind` is the local name.
    """

    at: int
    module: str
    name: str | None
    bind: str
    level: int = 0


@dataclass(frozen=True, slots=True)
class Outer:
    """`global` or `nonlocal` names."""

    at: int
    names: tuple[str, ...]


Statement: TypeAlias = (
    Assign
    | Augment
    | Evaluate
    | Return
    | Raise
    | Jump
    | Delete
    | Assert
    | If
    | For
    | While
    | With
    | Try
    | Match
    | Function
    | Class
    | Import
    | Outer
)

Body: TypeAlias = tuple[Statement, ...]


def walk(fact: object) -> Iterator[object]:
    """A fact, or each of a tuple of facts, and every fact inside, in no order that matters."""
    todo = [fact]
    while todo:
        part = todo.pop()
        if type(part) is tuple:
            todo.extend(part)
        elif (names := _inner(type(part))) is not None:
            yield part
            for name in names:
                todo.append(getattr(part, name))


_PLAIN = frozenset({"int", "str", "bool", "str | None", "Literal", "tuple[str, ...]"})
_INNER: dict[type, tuple[str, ...] | None] = {}


def _inner(kind: type) -> tuple[str, ...] | None:
    """The fields of a kind of fact that hold facts; None for what is no fact."""
    if kind not in _INNER:
        known = kind.__module__ == __name__ and hasattr(kind, "__dataclass_fields__")
        _INNER[kind] = tuple(field.name for field in fields(kind) if field.type not in _PLAIN) if known else None
    return _INNER[kind]
