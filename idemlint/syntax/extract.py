"""Source text -> facts. `extract` reads one top-level statement or a whole module alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import libcst as cst

from idemlint.syntax import facts as f
from idemlint.syntax.depth import too_deep
from idemlint.syntax.expressions import Expressions, known, sign


class SyntaxProblem(Exception):
    """The text is no Python that the parser knows; `line` and `column` are 1-based in the text given."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


def extract(text: str) -> f.Body:
    """Facts of the statements in `text`, numbered from 0. Raises SyntaxProblem."""
    tree = parse(text)
    try:
        return Extractor().body(tree)
    except RecursionError:
        raise SyntaxProblem("nested too deeply", 1, 1) from None


def extract_expression(text: str) -> f.Expr | None:
    """Facts of an expression kept in a string (a quoted annotation), or None where it is none."""
    if too_deep(text) is not None:
        return None
    try:
        node = cst.parse_expression(text.strip())
    except Exception:
        return None
    return Extractor().expression(node)


def parse(text: str) -> cst.Module:
    """The libcst tree of `text`, for this folder only. Raises SyntaxProblem."""
    at = too_deep(text)
    if at is not None:
        lines = _LINE_END.split(text[:at])
        raise SyntaxProblem("nested too deeply", len(lines), len(lines[-1]) + 1)
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        raise _problem(error) from None
    except RecursionError:
        raise SyntaxProblem("nested too deeply", 1, 1) from None
    except Exception:
        # Its nodes have rules of their own, which some code breaks that Python takes (`"a" t"b"`).
        raise SyntaxProblem("the parser does not know what to make of it", 1, 1) from None


def _problem(error: cst.ParserSyntaxError) -> SyntaxProblem:
    """The parser's complaint; it keeps the place inside its message."""
    message = error.message.splitlines()[0] if error.message else "invalid syntax"
    found = _PLACE.match(message)
    if found is None:
        return SyntaxProblem(message, max(error.raw_line, 1), error.raw_column + 1)
    return SyntaxProblem(found.group(3).rstrip("."), int(found.group(1)), int(found.group(2)))


_LINE_END = re.compile(r"\r\n|\r|\n")
_PLACE = re.compile(r"(?:parser error: )?error at (\d+):(\d+): (.*)")


class Extractor(Expressions):
    """The one visitor: libcst statement -> fact."""

    _statements: ClassVar[dict[type[cst.CSTNode], Callable[[Any, Any], Iterable[f.Statement]]]] = {}

    def body(self, node: cst.Module | cst.BaseSuite) -> f.Body:
        found: list[f.Statement] = []
        for statement in node.body:
            if isinstance(statement, cst.SimpleStatementLine):
                for small in statement.body:
                    found.extend(self.statement(small))
            else:
                found.extend(self.statement(statement))
        return tuple(found)

    def statement(self, node: cst.CSTNode) -> Iterable[f.Statement]:
        handler = self._statements.get(type(node))
        return handler(self, node) if handler else ()

    def evaluate(self, node: cst.Expr) -> Iterable[f.Statement]:
        yield f.Evaluate(self.mark(node), self.expression(node.value))

    def assign(self, node: cst.Assign) -> Iterable[f.Statement]:
        at = self.mark(node)
        value = self.expression(node.value)
        yield f.Assign(at, tuple(self.expression(target.target) for target in node.targets), value)

    def annotated(self, node: cst.AnnAssign) -> Iterable[f.Statement]:
        at = self.mark(node)
        annotation = self.expression(node.annotation.annotation)
        value = self.optional(node.value)
        yield f.Assign(at, (self.expression(node.target),), value, annotation)

    def alias(self, node: cst.TypeAlias) -> Iterable[f.Statement]:
        at = self.mark(node)
        yield f.Assign(at, (self.expression(node.name),), self.expression(node.value))

    def augment(self, node: cst.AugAssign) -> Iterable[f.Statement]:
        at = self.mark(node)
        target, value = self.expression(node.target), self.expression(node.value)
        yield f.Augment(at, target, sign(node.operator), value)

    def give(self, node: cst.Return) -> Iterable[f.Statement]:
        yield f.Return(self.mark(node), self.optional(node.value))

    def throw(self, node: cst.Raise) -> Iterable[f.Statement]:
        yield f.Raise(self.mark(node), self.optional(node.exc))

    def jump(self, node: cst.Break | cst.Continue) -> Iterable[f.Statement]:
        yield f.Jump(self.mark(node), type(node).__name__.lower())

    def delete(self, node: cst.Del) -> Iterable[f.Statement]:
        at = self.mark(node)
        target = self.expression(node.target)
        yield f.Delete(at, target.items if isinstance(target, f.Display) else (target,))

    def check(self, node: cst.Assert) -> Iterable[f.Statement]:
        yield f.Assert(self.mark(node), self.expression(node.test))

    def outer(self, node: cst.Global | cst.Nonlocal) -> Iterable[f.Statement]:
        yield f.Outer(self.mark(node), tuple(item.name.value for item in node.names))

    def plain_import(self, node: cst.Import) -> Iterable[f.Statement]:
        for alias in node.names:
            module = _dotted(alias.name)
            bind = _dotted(alias.asname.name) if alias.asname else module.split(".")[0]
            # `import a.b` binds `a`, `import a.b as c` binds the submodule.
            yield f.Import(self.mark(alias), module if alias.asname else bind, None, bind)

    def from_import(self, node: cst.ImportFrom) -> Iterable[f.Statement]:
        module = _dotted(node.module) if node.module else ""
        level = len(node.relative)
        if isinstance(node.names, cst.ImportStar):
            yield f.Import(self.mark(node), module, "*", "*", level)
            return
        for alias in node.names:
            name = _dotted(alias.name)
            bind = _dotted(alias.asname.name) if alias.asname else name
            yield f.Import(self.mark(alias), module, name, bind, level)

    def branch(self, node: cst.If) -> Iterable[f.Statement]:
        at = self.mark(node)
        test, body = self.expression(node.test), self.body(node.body)
        yield f.If(at, test, body, self.tail(node.orelse))

    def tail(self, node: cst.If | cst.Else | None) -> f.Body:
        if node is None:
            return ()
        return tuple(self.branch(node)) if isinstance(node, cst.If) else self.body(node.body)

    def loop(self, node: cst.For) -> Iterable[f.Statement]:
        at = self.mark(node)
        iterable, target = self.expression(node.iter), self.expression(node.target)
        yield f.For(at, target, iterable, self.body(node.body), self.tail(node.orelse))

    def repeat(self, node: cst.While) -> Iterable[f.Statement]:
        at = self.mark(node)
        test = self.expression(node.test)
        yield f.While(at, test, self.body(node.body), self.tail(node.orelse))

    def context(self, node: cst.With) -> Iterable[f.Statement]:
        at = self.mark(node)
        items = tuple(
            (self.expression(item.item), self.optional(item.asname.name if item.asname else None))
            for item in node.items
        )
        yield f.With(at, items, self.body(node.body))

    def attempt(self, node: cst.Try | cst.TryStar) -> Iterable[f.Statement]:
        at = self.mark(node)
        body = self.body(node.body)
        handlers = tuple(
            f.Handler(
                self.mark(handler),
                self.optional(handler.type),
                handler.name.name.value if handler.name and isinstance(handler.name.name, cst.Name) else None,
                self.body(handler.body),
            )
            for handler in node.handlers
        )
        orelse = self.body(node.orelse.body) if node.orelse else ()
        yield f.Try(at, body, handlers, orelse, self.body(node.finalbody.body) if node.finalbody else ())

    def match(self, node: cst.Match) -> Iterable[f.Statement]:
        at = self.mark(node)
        subject = self.expression(node.subject)
        cases = tuple(
            f.Case(
                tuple(_bound(case.pattern)),
                case.guard is None and isinstance(case.pattern, cst.MatchAs) and case.pattern.pattern is None,
                tuple(self.expression(value) for value in _values(case.pattern)),
                self.optional(case.guard),
                self.body(case.body),
            )
            for case in node.cases
        )
        yield f.Match(at, subject, cases)

    def function(self, node: cst.FunctionDef) -> Iterable[f.Statement]:
        at, name_at = self.mark(node), self.mark(node.name)
        decorators = tuple(self.expression(decorator.decorator) for decorator in node.decorators)
        parameters = self.parameters(node.params)
        returns = self.optional(node.returns.annotation if node.returns else None)
        self.yields.append(False)
        body = self.body(node.body)
        yield f.Function(
            at,
            name_at,
            node.name.value,
            parameters,
            decorators,
            returns,
            body,
            node.asynchronous is not None,
            self.yields.pop(),
        )

    def define_class(self, node: cst.ClassDef) -> Iterable[f.Statement]:
        at, name_at = self.mark(node), self.mark(node.name)
        decorators = tuple(self.expression(decorator.decorator) for decorator in node.decorators)
        bases = tuple(self.expression(base.value) for base in node.bases)
        keywords = tuple((word.keyword.value, self.expression(word.value)) for word in node.keywords if word.keyword)
        yield f.Class(at, name_at, node.name.value, bases, keywords, decorators, self.body(node.body))


Extractor._statements.update(
    {
        cst.Expr: Extractor.evaluate,
        cst.Assign: Extractor.assign,
        cst.AnnAssign: Extractor.annotated,
        cst.TypeAlias: Extractor.alias,
        cst.AugAssign: Extractor.augment,
        cst.Return: Extractor.give,
        cst.Raise: Extractor.throw,
        cst.Break: Extractor.jump,
        cst.Continue: Extractor.jump,
        cst.Del: Extractor.delete,
        cst.Assert: Extractor.check,
        cst.Global: Extractor.outer,
        cst.Nonlocal: Extractor.outer,
        cst.Import: Extractor.plain_import,
        cst.ImportFrom: Extractor.from_import,
        cst.If: Extractor.branch,
        cst.For: Extractor.loop,
        cst.While: Extractor.repeat,
        cst.With: Extractor.context,
        cst.Try: Extractor.attempt,
        cst.TryStar: Extractor.attempt,
        cst.Match: Extractor.match,
        cst.FunctionDef: Extractor.function,
        cst.ClassDef: Extractor.define_class,
    }
)
Extractor._statements.update(
    known({"LazyImport": Extractor.plain_import, "LazyImportFrom": Extractor.from_import}),
)


def _dotted(node: cst.CSTNode) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""


def _bound(pattern: cst.CSTNode) -> Iterable[str]:
    """Names a pattern binds."""
    if isinstance(pattern, cst.MatchAs | cst.MatchStar) and pattern.name:
        yield pattern.name.value
    if isinstance(pattern, cst.MatchMapping) and pattern.rest:
        yield pattern.rest.value
    for child in pattern.children:
        if not isinstance(child, cst.BaseExpression):
            yield from _bound(child)


def _values(pattern: cst.CSTNode) -> list[cst.BaseExpression]:
    """The values a pattern compares with: `case Status.PAID | Status.SENT` gives both."""
    if isinstance(pattern, cst.MatchValue):
        return [pattern.value]
    if isinstance(pattern, cst.MatchSingleton):
        return [pattern.value]
    if isinstance(pattern, cst.MatchOr):
        return [value for element in pattern.patterns for value in _values(element.pattern)]
    return []
