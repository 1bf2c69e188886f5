"""What a statement selects by, in the spelling of every layer (`status__in`): the conjunctive parts of `where(...)`.
And what it stores."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from idemlint.orm.arguments import Pairs, entries, named, positional, spread
from idemlint.orm.terms import Resolve
from idemlint.program import ClassType, ColumnType, Model, RowsType
from idemlint.syntax import facts as f

_SIGNS = {"==": "", "!=": "__ne", "<": "__lt", "<=": "__lte", ">": "__gt", ">=": "__gte"}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_METHODS = {
    "in_": "__in",
    "like": "__contains",
    "ilike": "__icontains",
    "contains": "__contains",
    "icontains": "__icontains",
    "startswith": "__startswith",
    "endswith": "__endswith",
    "istartswith": "__istartswith",
    "iendswith": "__iendswith",
    "between": "__range",
    "overlap": "__overlap",
    "has_key": "__has_key",
}
_NOT = frozenset({"is_not", "isnot"})


@dataclass(frozen=True, slots=True)
class Where:
    """`resolve` says what an expression is, `models` are the ids under which columns of the selected rows go."""

    resolve: Resolve
    models: Collection[str]

    def all(self, call: f.Call) -> tuple[Pairs, bool]:
        """The pairs of the positional arguments of a call, and whether nothing else selects."""
        pairs: Pairs = ()
        complete = not spread(call)
        for part in positional(call):
            found, known = self.condition(part)
            pairs, complete = pairs + found, complete and known
        return pairs, complete

    def condition(self, part: f.Expr) -> tuple[Pairs, bool]:
        """The pairs that all rows fulfil which this condition lets through, and whether these are all it says. What it
        says of other tables is left out."""
        match part:
            case f.Comparison(left=left, operators=(sign,), rights=(right,)) if sign in _SIGNS:
                return self._compared(left, sign, right, part.at)
            case f.Operation(operator="&", left=left, right=right):
                return self._both((left, right))
            case f.Operation(operator="<<" | ">>" as sign, left=left, right=right):
                return self._shifted(left, sign, right)
            case f.Unary(operator="~" | "not", operand=operand):
                return self._inverted(operand)
            case f.Call(function=f.Attribute(base=base, name=method)):
                column = self.column(base)
                if column is not None:
                    return self._method(column, method, part)
            case f.Constant(value=True):
                return (), True
        column = self.column(part)
        if column is not None:
            return _named(column, "", f.Constant(part.at, True)), True
        if isinstance(part, f.Call) and _last(part.function) in ("and_", "not_"):
            given = positional(part)
            if _last(part.function) == "and_":
                return self._both(given) if not spread(part) else ((), False)
            return self._inverted(given[0]) if given else ((), False)
        return (), False

    def column(self, expression: f.Expr) -> str | None:
        """The column an expression is, "" for one of another table, None if it is no plain column."""
        if not isinstance(expression, f.Attribute | f.Call | f.Name):
            return None
        found = self.resolve(expression)
        if not isinstance(found, ColumnType):
            return None
        if isinstance(expression, f.Call) and not _wraps(expression, self.resolve):
            return None
        return found.column if found.model in self.models else ""

    def _both(self, parts: tuple[f.Expr, ...]) -> tuple[Pairs, bool]:
        pairs: Pairs = ()
        complete = True
        for part in parts:
            found, known = self.condition(part)
            pairs, complete = pairs + found, complete and known
        return pairs, complete

    def _compared(self, left: f.Expr, sign: str, right: f.Expr, at: int) -> tuple[Pairs, bool]:
        column, other = self.column(left), self.column(right)
        if column is not None and other is not None:
            return (), True  # one column against another joins tables, or compares what is stored
        if column is None and other is not None:
            column, right, sign = other, left, _MIRRORED.get(sign, sign)
        if column is None:
            return (), False
        if isinstance(right, f.Constant) and right.value is None and sign in ("==", "!="):
            return _named(column, "__isnull", f.Constant(at, sign == "==")), True
        return _named(column, _SIGNS[sign], right), True

    def _method(self, column: str, method: str, call: f.Call) -> tuple[Pairs, bool]:
        given = positional(call)
        value = given[0] if given else None
        if method in ("is_", *_NOT) and isinstance(value, f.Constant | f.Call | f.Name):
            if isinstance(value, f.Constant) and value.value is not None:
                told = value.value is (method == "is_") if isinstance(value.value, bool) else None
                return (_named(column, "", f.Constant(call.at, told)), True) if told is not None else ((), False)
            null = isinstance(value, f.Constant) or _last(value) == "null"
            return (_named(column, "__isnull", f.Constant(call.at, method == "is_")), True) if null else ((), False)
        if method == "is_null":
            wanted = value.value if isinstance(value, f.Constant) else True
            return _named(column, "__isnull", f.Constant(call.at, bool(wanted))), True
        if method in _METHODS and value is not None:
            return _named(column, _METHODS[method], value), True
        return (), column == ""

    def _shifted(self, left: f.Expr, sign: str, right: f.Expr) -> tuple[Pairs, bool]:
        """`Order.status << ["new"]` and `Order.sent >> None`: how some layers spell IN and IS."""
        column = self.column(left)
        if column is None:
            return (), False
        if sign == "<<":
            return _named(column, "__in", right), True
        return _named(column, "__isnull", f.Constant(right.at, True)), isinstance(right, f.Constant)

    def _inverted(self, operand: f.Expr) -> tuple[Pairs, bool]:
        column = self.column(operand)
        if column is not None:
            return _named(column, "", f.Constant(operand.at, False)), True
        if isinstance(operand, f.Comparison) and operand.operators == ("==",):
            return self._compared(operand.left, "!=", operand.rights[0], operand.at)
        return (), False


def filter_by(call: f.Call) -> tuple[Pairs, bool]:
    """The pairs of `filter_by(status="new")`."""
    pairs, complete = named(call)
    return tuple(_null(pair) for pair in pairs), complete


def _null(pair: tuple[str, f.Expr]) -> tuple[str, f.Expr]:
    name, value = pair
    if isinstance(value, f.Constant) and value.value is None:
        return f"{name}__isnull", f.Constant(value.at, True)
    return pair


def _named(column: str, operator: str, value: f.Expr) -> Pairs:
    return ((column + operator, value),) if column else ()


def _wraps(call: f.Call, resolve: Resolve) -> bool:
    """`col(Order.status)`: a call that gives the column it is given."""
    given = positional(call)
    return len(given) == 1 and isinstance(call.function, f.Name) and isinstance(resolve(given[0]), ColumnType)


def _last(expression: f.Expr) -> str:
    if isinstance(expression, f.Call):
        return _last(expression.function)
    if isinstance(expression, f.Name):
        return expression.id
    return expression.name if isinstance(expression, f.Attribute) else ""


def models_of(model: Model) -> frozenset[str]:
    """The ids under which the columns of a model's rows go: its own and those of its parents."""
    return frozenset({model.name, *model.bases})


def mentioned(expression: f.Expr, resolve: Resolve) -> str | None:
    """The first model that an expression speaks of."""
    found = resolve(expression) if isinstance(expression, f.Name | f.Attribute) else None
    if isinstance(found, ColumnType):
        return found.model
    if isinstance(found, ClassType):
        return found.name
    if isinstance(found, RowsType):
        return found.model
    inner: tuple[f.Expr, ...] = ()
    match expression:
        case f.Call(function=function, arguments=arguments):
            base = (function.base,) if isinstance(function, f.Attribute) else ()
            inner = (*base, *(argument.value for argument in arguments))
        case f.Comparison(left=left, rights=rights):
            inner = (left, *rights)
        case f.Operation(left=left, right=right):
            inner = (left, right)
        case f.Unary(operand=operand):
            inner = (operand,)
        case f.Subscript(base=base):
            inner = (base,)
    return next((model for part in inner if (model := mentioned(part, resolve)) is not None), None)


def stored(call: f.Call, resolve: Resolve) -> tuple[Pairs, f.Expr | None, bool]:
    """The values that keywords and dicts of a call store, then the dict or list of dicts that is made elsewhere, then
    whether these are all."""
    pairs: Pairs = tuple((given.name, given.value) for given in call.arguments if given.name is not None)
    rest: f.Expr | None = None
    complete = True
    for given in call.arguments:
        if given.name is not None:
            continue
        found, known = dict_pairs(given.value, resolve)
        pairs += found
        if not known:
            complete, rest = rest is None and given.star != "*", given.value
    return pairs, rest, complete


def dict_pairs(given: f.Expr, resolve: Resolve) -> tuple[Pairs, bool]:
    """The items of a dict display whose keys are names or columns (`{Order.status: "paid"}`), and whether these are all
    it holds."""
    if not isinstance(given, f.Mapping):
        return entries(given)
    found: list[tuple[str, f.Expr]] = []
    complete = True
    for key, value in given.items:
        column = resolve(key) if isinstance(key, f.Attribute) else None
        if isinstance(key, f.Constant) and isinstance(key.value, str):
            found.append((key.value, value))
        elif isinstance(column, ColumnType):
            found.append((column.column, value))
        else:
            complete = False
    return tuple(found), complete
