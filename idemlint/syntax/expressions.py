"""libcst expression -> fact. A part of the one visitor; `statements.py` is the other."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import libcst as cst

from idemlint.syntax import facts as f

_OPERATORS: dict[type[cst.CSTNode], str] = {
    cst.Add: "+",
    cst.AddAssign: "+",
    cst.Subtract: "-",
    cst.SubtractAssign: "-",
    cst.Multiply: "*",
    cst.MultiplyAssign: "*",
    cst.Divide: "/",
    cst.DivideAssign: "/",
    cst.FloorDivide: "//",
    cst.FloorDivideAssign: "//",
    cst.Modulo: "%",
    cst.ModuloAssign: "%",
    cst.Power: "**",
    cst.PowerAssign: "**",
    cst.BitOr: "|",
    cst.BitOrAssign: "|",
    cst.BitAnd: "&",
    cst.BitAndAssign: "&",
    cst.BitXor: "^",
    cst.BitXorAssign: "^",
    cst.LeftShift: "<<",
    cst.LeftShiftAssign: "<<",
    cst.RightShift: ">>",
    cst.RightShiftAssign: ">>",
    cst.MatrixMultiply: "@",
    cst.MatrixMultiplyAssign: "@",
    cst.And: "and",
    cst.Or: "or",
    cst.Not: "not",
    cst.Minus: "-",
    cst.Plus: "+",
    cst.BitInvert: "~",
    cst.Equal: "==",
    cst.NotEqual: "!=",
    cst.LessThan: "<",
    cst.LessThanEqual: "<=",
    cst.GreaterThan: ">",
    cst.GreaterThanEqual: ">=",
    cst.In: "in",
    cst.NotIn: "not in",
    cst.Is: "is",
    cst.IsNot: "is not",
}


_NEWLINE = re.compile(r"\r\n?")

H = TypeVar("H")


def known(handlers: Mapping[str, H]) -> dict[type[cst.CSTNode], H]:
    """Handlers by the node they are for, of those nodes that this version of the parser has."""
    return {getattr(cst, name): handler for name, handler in handlers.items() if hasattr(cst, name)}


def sign(operator: cst.CSTNode) -> str:
    """The operator as written, without an assignment's equals sign."""
    return _OPERATORS.get(type(operator), "?")


class Expressions:
    """Turns expressions into facts and numbers them; keeps the numbered nodes when places are wanted."""

    _handlers: ClassVar[dict[type[cst.CSTNode], Callable[[Any, Any, int], f.Expr]]] = {}

    def __init__(self, keep_nodes: bool = False) -> None:
        self.count = 0
        self.nodes: list[cst.CSTNode] | None = [] if keep_nodes else None
        self.yields: list[bool] = [False]

    def mark(self, node: cst.CSTNode) -> int:
        """The next ordinal, given to this node."""
        if self.nodes is not None:
            self.nodes.append(node)
        self.count += 1
        return self.count - 1

    def expression(self, node: cst.CSTNode) -> f.Expr:
        at = self.mark(node)
        handler = self._handlers.get(type(node))
        if handler is None:
            return f.Name(at, "...")
        return handler(self, node, at)

    def optional(self, node: cst.CSTNode | None) -> f.Expr | None:
        return None if node is None else self.expression(node)

    def name(self, node: cst.Name, at: int) -> f.Expr:
        match node.value:
            case "True":
                return f.Constant(at, True)
            case "False":
                return f.Constant(at, False)
            case "None":
                return f.Constant(at, None)
        return f.Name(at, node.value)

    def number(self, node: cst.BaseNumber, at: int) -> f.Expr:
        # An integer of more digits than the interpreter converts is still a number, and never one that matters here.
        try:
            value = node.evaluated_value  # type: ignore[attr-defined]
        except (ValueError, SyntaxError):
            value = 0
        return f.Constant(at, value)

    def string(self, node: cst.SimpleString, at: int) -> f.Expr:
        text = node.raw_value
        prefix = node.prefix
        if "b" not in prefix and ("r" in prefix or "\\" not in text):
            return f.Constant(at, _NEWLINE.sub("\n", text))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes that there are none
            try:
                return f.Constant(at, node.evaluated_value)
            except (ValueError, SyntaxError):
                return f.Constant(at, text)

    def format(self, node: Any, at: int) -> f.Expr:
        """A formatted or a template string."""
        return f.Format(at, tuple(self.format_parts(node.parts)))

    def format_parts(self, parts: Sequence[Any]) -> list[f.Expr]:
        found: list[f.Expr] = []
        for part in parts:
            if type(part).__name__ in ("FormattedStringText", "TemplatedStringText"):
                text = part.value.replace("{{", "{").replace("}}", "}")
                found.append(f.Constant(self.mark(part), text))
            else:
                at = self.mark(part)
                value = self.expression(part.expression)
                inner = self.format_parts(part.format_spec or ())
                plain = part.conversion is None and part.format_spec is None
                found.append(value if plain else f.Formatted(at, value, tuple(inner)))
        return found

    def joined(self, node: cst.ConcatenatedString, at: int) -> f.Expr:
        left, right = self.expression(node.left), self.expression(node.right)
        if isinstance(left, f.Constant) and isinstance(right, f.Constant):
            if isinstance(left.value, str) and isinstance(right.value, str):
                return f.Constant(at, left.value + right.value)
            if isinstance(left.value, bytes) and isinstance(right.value, bytes):
                return f.Constant(at, left.value + right.value)
        parts = (*_parts(left), *_parts(right))
        return f.Format(at, parts)

    def attribute(self, node: cst.Attribute, at: int) -> f.Expr:
        return f.Attribute(at, self.expression(node.value), node.attr.value)

    def call(self, node: cst.Call, at: int) -> f.Expr:
        function = self.expression(node.func)
        arguments = tuple(
            f.Argument(self.expression(arg.value), arg.keyword.value if arg.keyword else None, arg.star)
            for arg in node.args
        )
        return f.Call(at, function, arguments)

    def subscript(self, node: cst.Subscript, at: int) -> f.Expr:
        base = self.expression(node.value)
        indices: list[f.Expr] = []
        for element in node.slice:
            part = element.slice
            if isinstance(part, cst.Index):
                value = self.expression(part.value)
                indices.append(f.Starred(self.mark(part), value) if part.star else value)
            elif isinstance(part, cst.Slice):
                ends = (part.lower, part.upper, part.step)
                indices.append(f.Slice(self.mark(part), tuple(self.expression(end) for end in ends if end is not None)))
        index = indices[0] if len(indices) == 1 else f.Display(self.mark(node), "tuple", tuple(indices))
        return f.Subscript(at, base, index)

    def operation(self, node: cst.BinaryOperation, at: int) -> f.Expr:
        return f.Operation(at, sign(node.operator), self.expression(node.left), self.expression(node.right))

    def boolean(self, node: cst.BooleanOperation, at: int) -> f.Expr:
        operator = sign(node.operator)
        operands: list[f.Expr] = []
        for side in (node.left, node.right):
            value = self.expression(side)
            if isinstance(value, f.Boolean) and value.operator == operator:
                operands.extend(value.operands)
            else:
                operands.append(value)
        return f.Boolean(at, operator, tuple(operands))

    def unary(self, node: cst.UnaryOperation, at: int) -> f.Expr:
        operator, operand = sign(node.operator), self.expression(node.expression)
        if operator == "-" and isinstance(operand, f.Constant) and isinstance(operand.value, int | float):
            return f.Constant(at, -operand.value)
        return f.Unary(at, operator, operand)

    def comparison(self, node: cst.Comparison, at: int) -> f.Expr:
        left = self.expression(node.left)
        return f.Comparison(
            at,
            left,
            tuple(sign(target.operator) for target in node.comparisons),
            tuple(self.expression(target.comparator) for target in node.comparisons),
        )

    def display(self, node: cst.Tuple | cst.List | cst.Set, at: int) -> f.Expr:
        kind = type(node).__name__.lower()
        return f.Display(at, kind, tuple(self.element(element) for element in node.elements))

    def element(self, node: cst.BaseElement) -> f.Expr:
        if isinstance(node, cst.StarredElement):
            return f.Starred(self.mark(node), self.expression(node.value))
        return self.expression(node.value)

    def starred(self, node: cst.StarredElement, at: int) -> f.Expr:
        return f.Starred(at, self.expression(node.value))

    def mapping(self, node: cst.Dict, at: int) -> f.Expr:
        items: list[tuple[f.Expr | None, f.Expr]] = []
        for element in node.elements:
            key = self.expression(element.key) if isinstance(element, cst.DictElement) else None
            items.append((key, self.expression(element.value)))
        return f.Mapping(at, tuple(items))

    def anonymous(self, node: cst.Lambda, at: int) -> f.Expr:
        self.yields.append(False)
        made = f.Lambda(at, self.parameters(node.params), self.expression(node.body))
        self.yields.pop()
        return made

    def parameters(self, node: cst.Parameters) -> tuple[f.Parameter, ...]:
        found: list[f.Parameter] = []
        groups: tuple[tuple[str, Sequence[cst.Param]], ...] = (
            ("positional", node.posonly_params),
            ("normal", node.params),
            ("*", [node.star_arg] if isinstance(node.star_arg, cst.Param) else []),
            ("keyword", node.kwonly_params),
            ("**", [node.star_kwarg] if node.star_kwarg else []),
        )
        for kind, group in groups:
            for param in group:
                annotation = param.annotation.annotation if param.annotation else None
                found.append(
                    f.Parameter(param.name.value, kind, self.optional(annotation), self.optional(param.default))
                )
        return tuple(found)

    def generators(self, part: cst.CompFor | None) -> tuple[f.Generator, ...]:
        found: list[f.Generator] = []
        while part is not None:
            iterable = self.expression(part.iter)
            target = self.expression(part.target)
            found.append(f.Generator(target, iterable, tuple(self.expression(test.test) for test in part.ifs)))
            part = part.inner_for_in
        return tuple(found)

    def comprehension(self, node: cst.BaseSimpleComp | cst.DictComp, at: int) -> f.Expr:
        generators = self.generators(node.for_in)
        if isinstance(node, cst.DictComp):
            key = self.expression(node.key)
            return f.Comprehension(at, "dict", self.expression(node.value), generators, key)
        kind = {cst.ListComp: "list", cst.SetComp: "set"}.get(type(node), "generator")
        return f.Comprehension(at, kind, self.expression(node.elt), generators)

    def spread(self, node: Any, at: int) -> f.Expr:
        """`{**value for ...}`."""
        generators = self.generators(node.for_in)
        return f.Comprehension(at, "dict", f.Starred(self.mark(node.value), self.expression(node.value)), generators)

    def conditional(self, node: cst.IfExp, at: int) -> f.Expr:
        test = self.expression(node.test)
        return f.Conditional(at, test, self.expression(node.body), self.expression(node.orelse))

    def wait(self, node: cst.Await, at: int) -> f.Expr:
        return f.Await(at, self.expression(node.expression))

    def produce(self, node: cst.Yield, at: int) -> f.Expr:
        self.yields[-1] = True
        value = node.value.item if isinstance(node.value, cst.From) else node.value
        return f.Yield(at, self.optional(value))

    def walrus(self, node: cst.NamedExpr, at: int) -> f.Expr:
        target = self.expression(node.target)
        value = self.expression(node.value)
        return f.Walrus(at, target, value) if isinstance(target, f.Name) else value


def _parts(value: f.Expr) -> tuple[f.Expr, ...]:
    return value.parts if isinstance(value, f.Format) else (value,)


Expressions._handlers.update(
    {
        cst.Name: Expressions.name,
        cst.Integer: Expressions.number,
        cst.Float: Expressions.number,
        cst.Imaginary: Expressions.number,
        cst.SimpleString: Expressions.string,
        cst.FormattedString: Expressions.format,
        cst.ConcatenatedString: Expressions.joined,
        cst.Attribute: Expressions.attribute,
        cst.Call: Expressions.call,
        cst.Subscript: Expressions.subscript,
        cst.BinaryOperation: Expressions.operation,
        cst.BooleanOperation: Expressions.boolean,
        cst.UnaryOperation: Expressions.unary,
        cst.Comparison: Expressions.comparison,
        cst.Tuple: Expressions.display,
        cst.List: Expressions.display,
        cst.Set: Expressions.display,
        cst.StarredElement: Expressions.starred,
        cst.Dict: Expressions.mapping,
        cst.Lambda: Expressions.anonymous,
        cst.ListComp: Expressions.comprehension,
        cst.SetComp: Expressions.comprehension,
        cst.GeneratorExp: Expressions.comprehension,
        cst.DictComp: Expressions.comprehension,
        cst.IfExp: Expressions.conditional,
        cst.Await: Expressions.wait,
        cst.Yield: Expressions.produce,
        cst.NamedExpr: Expressions.walrus,
    }
)
Expressions._handlers.update(
    known({"TemplatedString": Expressions.format, "StarredDictComp": Expressions.spread}),
)
