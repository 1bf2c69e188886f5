"""Programs written in another way that means the same."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

Defined = ast.FunctionDef | ast.AsyncFunctionDef


def wrapped(text: str) -> str:
    """With the body of each function inside `if True:`."""

    def change(statement: ast.stmt) -> list[ast.stmt]:
        for function in (node for node in ast.walk(statement) if isinstance(node, Defined)):
            first = 1 if ast.get_docstring(function) is not None else 0
            if not all(_says_nothing(each) for each in function.body):
                inside = ast.If(ast.Constant(True), function.body[first:], [])
                function.body = [*function.body[:first], inside]
        return [statement]

    return _changed(text, change)


def split(text: str) -> str:
    """With the second half of each decorated function of the module in a function of its own."""

    def change(statement: ast.stmt) -> list[ast.stmt]:
        rest = _rest_of(statement) if isinstance(statement, Defined) and statement.decorator_list else None
        return [rest, statement] if rest is not None else [statement]

    return _changed(text, change)


def _changed(text: str, change: Callable[[ast.stmt], list[ast.stmt]]) -> str:
    """With other functions and classes; what stands between them, comments too, is left as it is."""
    lines = text.splitlines()
    for statement in reversed(ast.parse(text).body):
        if isinstance(statement, Defined | ast.ClassDef) and statement.end_lineno is not None:
            first = min([statement.lineno, *(each.lineno for each in statement.decorator_list)])
            last = statement.end_lineno
            made = (ast.unparse(ast.fix_missing_locations(each)) for each in change(statement))
            lines[first - 1 : last] = "\n\n\n".join(made).splitlines()
    return "\n".join(lines) + "\n"


def _says_nothing(statement: ast.stmt) -> bool:
    """`...`, `pass` and texts: the body of a function that others define."""
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _rest_of(function: Defined) -> Defined | None:
    """The function that the second half of another one becomes, which calls it now; None where it has no such half."""
    half = len(function.body) // 2
    rest = function.body[half:]
    inside = [node for statement in rest for node in ast.walk(statement)]
    if half == 0 or any(isinstance(node, ast.Yield | ast.YieldFrom | ast.Global | ast.Nonlocal) for node in inside):
        return None
    bound = {argument.arg for argument in _arguments(function.args)}
    bound |= {name for statement in function.body[:half] for name in _bound(statement)}
    used = {node.id for node in inside if isinstance(node, ast.Name)}
    names = sorted(bound & used)
    made = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    kind = type(function)
    call = ast.Call(ast.Name(f"{function.name}_rest"), [ast.Name(name) for name in names], [])
    asynchronous = isinstance(function, ast.AsyncFunctionDef)
    function.body = [*function.body[:half], ast.Return(ast.Await(call) if asynchronous else call)]
    return kind(f"{function.name}_rest", made, rest, [], None, lineno=function.lineno)


def _arguments(given: ast.arguments) -> list[ast.arg]:
    starred = [argument for argument in (given.vararg, given.kwarg) if argument is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *starred]


def _bound(statement: ast.stmt) -> Iterator[str]:
    for node in ast.walk(statement):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=other):
                yield (other or name).partition(".")[0]
