"""What an expression is worth, worked out from the code alone: names through assignments, imports and conditions.

Nothing is guessed: what hangs on anything outside the code is an `Unknown` with its reason, or the default that the
code gives for an environment variable, marked as such.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeAlias, TypeVar

from idemlint.catalog.settings import Environment, Reader, environment
from idemlint.link import calculation
from idemlint.link.bindings import Bindings, Local, Scope, Space, State
from idemlint.link.calculation import CASTS, Arguments
from idemlint.link.history import Condition, Position, flatten
from idemlint.link.modules import Module
from idemlint.link.names import Names
from idemlint.link.values import (
    Known,
    Made,
    Reference,
    Unknown,
    Value,
    comparison,
    converted,
    dict_of,
    joined,
    lifted,
    member,
    negated,
    operation,
    same,
    sequence_of,
    text,
    truth,
)
from idemlint.program import LibraryType, bind
from idemlint.syntax import facts as f

T = TypeVar("T")

Lookup: TypeAlias = Callable[[str, str], Value | None]
"""An attribute's name and the path of the file that asks -> its value; None if there is no such attribute."""

# Expressions nest no deeper than this, through all the names they lead to.
_DEPTH = 120

_BUILTINS = frozenset(dir(builtins))
# A worker is never a test runner, which has its name in the command line or among the modules.
_OF_THE_PROCESS = (Reference("sys.argv"), Reference("sys.modules"))
_TEST_RUNNERS = frozenset({"test", "tests", "pytest", "py.test", "unittest"})
_REMEMBERS = frozenset({"functools.lru_cache", "functools.cache", "builtins.staticmethod"})


class Constants:
    """Answers what expressions and names are worth. Equal questions have equal answers, in whatever order."""

    def __init__(self, names: Names, reads: Environment | None = None) -> None:
        """`reads` says how code reads the environment, if not as the catalog has it."""
        self.names = names
        self._bindings = Bindings(names, self)
        self._reads = reads or environment()
        self._objects: dict[str, Lookup] = {}
        self._locals: set[tuple[int, str]] = set()
        self._asking = 0
        self._depth = 0

    def provide(self, path: str, lookup: Lookup) -> None:
        """Let attributes of the library object at `path` be answered by `lookup`."""
        self._objects[path] = lookup
        self._bindings.forget()

    def evaluate(self, expr: f.Expr, module: Module, local: Local | None = None) -> Value:
        """What an expression in a function or decorator of `module` is worth; `local` are the names its function binds.

        Module-level names have the value they end up with.
        """
        return self._asked(lambda: self.value(expr, Scope(Space(module), None, local or {})))

    def evaluate_at(self, expr: f.Expr, module: Module, position: Position) -> Value:
        """The same for an expression in a statement at the top of `module`, which runs in its turn."""
        return self._asked(lambda: self.value(expr, Scope(Space(module), position)))

    def state(self, module: Module, name: str) -> State | None:
        """What a module-level name ends up as, and the statement that says so; None if the module does not bind it."""
        return self._asked(lambda: self._bindings.state(Space(module), name))

    def attribute(self, owner: Reference, name: str, near: str = "") -> State | None:
        """The same for an attribute of a module or class of the project."""
        return self._asked(lambda: self._bindings.attribute(owner, name, near))

    def names_in(self, owner: Reference) -> list[str]:
        """The names that a module or class of the project binds, by itself or through star imports and bases."""
        if owner.kind == "class":
            lines = self._asked(lambda: list(self._bindings.line(owner)))
            return sorted(set().union(*map(self._bindings.names_of, lines)))
        module = self.names.modules.identified(owner.path)
        return sorted(self._bindings.names_in(module)) if module else []

    def bases(self, owner: Reference) -> list[Reference]:
        """The classes a class of the project derives from, far ones too."""
        lines = self._asked(lambda: list(self._bindings.line(owner)))
        return [base for space in lines for base in self._bindings.bases(Reference(f"{space.module.id}:{space.cls}"))]

    def holds(self, conditions: tuple[Condition, ...], module: Module) -> bool | str:
        """Whether a statement at the top of `module` runs, or the reason why that cannot be told."""
        return self._asked(lambda: self._bindings.holds(conditions, Space(module)))

    def _asked(self, question: Callable[[], T]) -> T:
        if not self._asking:
            self._bindings.steps, self._bindings.cut = 0, False
        self._asking += 1
        try:
            return question()
        finally:
            self._asking -= 1

    # --- What `Bindings` asks back

    def value(self, expr: f.Expr, scope: Scope) -> Value:
        """What an expression is worth in its scope, as a part of a question that is being answered."""
        self._depth += 1
        try:
            if self._depth > _DEPTH or not self._bindings.step():
                self._bindings.cut = True
                return Unknown("too much to work out")
            return self._expression(expr, scope)
        finally:
            self._depth -= 1

    def truth(self, expr: f.Expr, scope: Scope) -> bool | str:
        """Whether a test passes, or why that cannot be told."""
        if isinstance(expr, f.Boolean):
            outcomes = [self.truth(operand, scope) for operand in expr.operands]
            decisive = expr.operator == "or"
            if decisive in outcomes:
                return decisive
            return next((outcome for outcome in outcomes if isinstance(outcome, str)), not decisive)
        if isinstance(expr, f.Unary) and expr.operator == "not":
            outcome = self.truth(expr.operand, scope)
            return outcome if isinstance(outcome, str) else not outcome
        value = self.value(expr, scope)
        passes = truth(value)
        if passes is not None:
            return passes
        if value.environment:
            return f"environment variable {value.environment}"
        return value.reason if isinstance(value, Unknown) else "a library's value"

    def arguments(self, call: f.Call, scope: Scope) -> Arguments:
        """What the arguments of a call are worth; what is spread into it is laid out where it is known."""
        positional: list[Value] = []
        keywords: list[tuple[str | None, Value]] = []
        is_open = False
        for argument in call.arguments:
            value = self.value(argument.value, scope)
            if argument.star == "*":
                held = value.value if isinstance(value, Known) else None
                if isinstance(held, list | tuple):
                    positional.extend(lifted(each) for each in held)
                else:
                    is_open = True
            elif argument.star == "**":
                held = value.value if isinstance(value, Known) else None
                if isinstance(held, dict) and all(isinstance(key, str) for key in held):
                    keywords.extend((key, lifted(each)) for key, each in held.items())
                else:
                    keywords.append((None, value))
            elif argument.name is None:
                positional.append(value)
            else:
                keywords.append((argument.name, value))
        return Arguments(tuple(positional), tuple(keywords), is_open)

    # --- Names and attributes

    def _name(self, name: str, scope: Scope) -> Value:
        if name in scope.local:
            return self._local(name, scope)
        module = Space(scope.space.module)
        found = self._bindings.state(scope.space, name, scope.until)
        if found is None and scope.space.cls:
            found = self._bindings.state(module, name)
        if found is not None:
            return found.value
        if name in _BUILTINS:
            return Known(Reference(f"builtins.{name}"))
        return Unknown(f"{name} is not set in {module.module.file.path}")

    def _local(self, name: str, scope: Scope) -> Value:
        expr = scope.local[name]
        if isinstance(expr, Known | Unknown):
            return expr
        key = (id(scope.local), name)
        if key in self._locals:
            self._bindings.cut = True
            return Unknown(f"{name} is made from itself")
        self._locals.add(key)
        try:
            return self.value(expr, scope)
        finally:
            self._locals.discard(key)

    def _attribute(self, base: Value, name: str, near: str) -> Value:
        if isinstance(base, Unknown):
            return self._of_instance(base, name)
        owner = base.value
        if not isinstance(owner, Reference):
            # The member of an enum is worth what it was assigned.
            return base if name == "value" else Unknown(f"what .{name} gives is not worked out")
        if owner.kind == "library":
            if owner.path in self._objects:
                found = self._objects[owner.path](name, near)
                return found if found is not None else Unknown(f"{name} is not set")
            return self._bindings.found(LibraryType(f"{owner.path}.{name}"))
        state = self._bindings.attribute(owner, name, near)
        return state.value if state else Unknown(f"{owner.name} has no {name}")

    def _of_instance(self, base: Unknown, name: str) -> Value:
        """An attribute of what a class made: of one in the project, what its body says unless `__init__` does."""
        maker = base.made_by
        if maker is None:
            return Unknown(base.reason, environment=base.environment)
        if maker.kind == "library":
            return Known(Reference(f"{maker.path}.{name}"))
        for space in self._bindings.line(maker):
            if any(_assigns(made, name) for made in self._bindings.defined(space, "__init__")):
                return Unknown(f"{name} is set when {maker.name} is made")
        state = self._bindings.attribute(maker, name, "")
        if state is None:
            return Unknown(f"{maker.name} has no {name}")
        if any(base.path in self._reads.classes for base in self.bases(maker)):
            return replace(state.value, environment=name.upper())
        return state.value

    # --- Expressions

    def _expression(self, expr: f.Expr, scope: Scope) -> Value:
        match expr:
            case f.Constant(value=value):
                return Known(value)
            case f.Name(id=name):
                return self._name(name, scope)
            case f.Attribute(base=base, name=name):
                return self._attribute(self.value(base, scope), name, scope.space.module.file.path)
            case f.Call():
                return self._call(expr, scope)
            case f.Subscript(base=base, index=index):
                return self._subscript(self.value(base, scope), self.value(index, scope))
            case f.Operation(operator=sign, left=left, right=right):
                return operation(sign, self.value(left, scope), self.value(right, scope))
            case f.Boolean():
                return self._boolean(expr, scope)
            case f.Unary(operator=sign, operand=operand):
                return negated(sign, self.value(operand, scope))
            case f.Comparison():
                return self._comparison(expr, scope)
            case f.Format(parts=parts):
                return text(self._parts(parts, scope))
            case f.Display(kind=kind, items=items):
                return sequence_of(kind, [self._item(item, scope) for item in items])
            case f.Mapping(items=items):
                return dict_of(
                    [
                        (None if key is None else self.value(key, scope), self.value(value, scope))
                        for key, value in items
                    ]
                )
            case f.Conditional(test=test, body=body, orelse=orelse):
                return self._conditional(test, body, orelse, scope)
            case f.Walrus(value=value):
                return self.value(value, scope)
        return Unknown(f"the value of a {type(expr).__name__.lower()} is not worked out")

    def _item(self, item: f.Expr, scope: Scope) -> tuple[bool, Value]:
        if isinstance(item, f.Starred):
            return True, self.value(item.value, scope)
        return False, self.value(item, scope)

    def _parts(self, parts: tuple[f.Expr, ...], scope: Scope) -> Iterator[Value]:
        for part in parts:
            literal = part.value if isinstance(part, f.Constant) else None
            if isinstance(part, f.Formatted):
                yield Unknown("a format that is not worked out")
            elif not isinstance(literal, str):
                yield self.value(part, scope)
            elif "\\" in literal or "{{" in literal or "}}" in literal:
                yield Unknown("a text with escapes that are not worked out")
            else:
                yield Known(literal)

    def _subscript(self, base: Value, index: Value) -> Value:
        if isinstance(base, Known) and isinstance(base.value, Reference):
            if base.value.path in self._reads.mappings and isinstance(index, Known):
                return Unknown(f"environment variable {index.value}", environment=str(index.value))
            return Unknown(f"what {base.value.name}[...] holds is not known")
        found = member(base, index)
        return found if found is not None else Unknown("it has no such item")

    def _boolean(self, expr: f.Boolean, scope: Scope) -> Value:
        stops = expr.operator == "or"
        variable: str | None = None
        value: Value = Unknown("nothing to choose from")
        for operand in expr.operands:
            value = self.value(operand, scope)
            variable = variable or value.environment
            if isinstance(value, Unknown):
                # A variable that is not set is empty or None: the next operand is what it falls back to.
                if value.environment and stops:
                    continue
                return value
            passes = truth(Known(value.value))
            if passes is None:
                return (
                    value if operand is expr.operands[-1] else Unknown("which of several values it is cannot be told")
                )
            if passes is stops:
                break
        return replace(value, environment=variable)

    def _comparison(self, expr: f.Comparison, scope: Scope) -> Value:
        if self._is_of_test_run(expr, scope):
            return Known(expr.operators[0] in ("!=", "not in"))
        left = self.value(expr.left, scope)
        result: Value = Known(True)
        for sign, right_expr in zip(expr.operators, expr.rights, strict=True):
            right = self.value(right_expr, scope)
            result = comparison(left, sign, right)
            if isinstance(result, Unknown) or not result.value:
                return result
            left = right
        return result

    def _is_of_test_run(self, expr: f.Comparison, scope: Scope) -> bool:
        """Whether a test asks if the program is a test runner, which no worker is."""
        sides = (expr.left, *expr.rights)
        if len(sides) != 2:
            return False
        for word, asked in (sides, sides[::-1]):
            if isinstance(word, f.Constant) and word.value in _TEST_RUNNERS:
                value = self.value(asked.base if isinstance(asked, f.Subscript) else asked, scope)
                return isinstance(value, Known) and value.value in _OF_THE_PROCESS
        return False

    def _conditional(self, test: f.Expr, body: f.Expr, orelse: f.Expr, scope: Scope) -> Value:
        passes = self.truth(test, scope)
        if isinstance(passes, bool):
            return self.value(body if passes else orelse, scope)
        return joined(self.value(body, scope), self.value(orelse, scope), f"it hangs on a condition: {passes}")

    # --- Calls

    def _call(self, expr: f.Call, scope: Scope) -> Value:
        arguments = self.arguments(expr, scope)
        on: Made | None = None
        if isinstance(expr.function, f.Attribute):
            held = self.value(expr.function.base, scope)
            if isinstance(held, Known) and not isinstance(held.value, Reference):
                return calculation.method(held, expr.function.name, arguments)
            on = held.made if isinstance(held, Unknown) else None
            callee = self._attribute(held, expr.function.name, scope.space.module.file.path)
        else:
            callee = self.value(expr.function, scope)
        if isinstance(callee, Unknown):
            maker = callee.made_by
            if maker is not None and maker.kind == "library":
                return self._library_call(f"{maker.path}.__call__", arguments, scope)
            return Unknown(callee.reason, environment=callee.environment)
        if not isinstance(callee.value, Reference):
            return Unknown("what is called is no function")
        match callee.value.kind:
            case "library":
                return self._library_call(callee.value.path, arguments, scope, on)
            case "class":
                return self._instance(callee.value, arguments)
            case "function":
                return self._project_call(callee.value, arguments)
        return Unknown("what is called is no function")

    def _library_call(self, path: str, arguments: Arguments, scope: Scope, on: Made | None = None) -> Value:
        reader = self._reads.readers.get(path)
        if reader is not None:
            return _read(reader, arguments)
        if path in self._reads.fields:
            return arguments.get(0, "default") or Unknown("it has no default")
        if path == "builtins.getattr" and len(arguments.positional) >= 2:
            return self._getattr(arguments, scope.space.module.file.path)
        result = calculation.call(path, arguments)
        if result is not None:
            return result
        name = path.removeprefix("builtins.")
        made = calculation.made(path, arguments, on)
        return Unknown(f"what {name}() gives is not known", made_by=Reference(path), made=made)

    def _getattr(self, arguments: Arguments, near: str) -> Value:
        base, name, *default = arguments.positional
        owner = base.value if isinstance(base, Known) else None
        if not isinstance(owner, Reference) or not isinstance(name, Known) or not isinstance(name.value, str):
            return Unknown("what getattr() gives is not known")
        if owner.path in self._objects:
            found = self._objects[owner.path](name.value, near)
        elif owner.kind in ("module", "class"):
            state = self._bindings.attribute(owner, name.value, near)
            found = state.value if state else None
        else:
            return self._attribute(base, name.value, near)
        return found or (default[0] if default else Unknown(f"{name.value} is not set"))

    def _instance(self, owner: Reference, arguments: Arguments) -> Value:
        """What calling a class of the project gives: its attributes can be asked for, unless arguments set them."""
        reason = f"an instance of {owner.name}"
        passed = arguments.positional or [key for key, _ in arguments.keywords if key is None or key[0] != "_"]
        return Unknown(reason) if passed else Unknown(reason, made_by=owner)

    def _project_call(self, owner: Reference, arguments: Arguments) -> Value:
        """What a function gives that does nothing but name values and return an expression."""
        module, fact = self._bindings.functions[owner.path]
        unknown = Unknown(f"what {owner.name}() gives is not worked out")
        body = [statement for statement in fact.body if not _is_text(statement)]
        parameters = fact.parameters
        if fact.is_async or fact.is_generator or not body or any("*" in each.kind for each in parameters):
            return unknown
        if arguments.open or None in dict(arguments.keywords) or not self._is_transparent(fact, module):
            return unknown
        scope = Scope(Space(module))
        given, _, _ = bind(parameters, arguments.positional, {str(key): value for key, value in arguments.keywords})
        for parameter in parameters:
            if parameter.name not in given:
                missing = Unknown(f"{parameter.name} is not given")
                given[parameter.name] = self.value(parameter.default, scope) if parameter.default else missing
        *before, last = body
        named = _names_once(before)
        if named is None or not isinstance(last, f.Return) or last.value is None or named.keys() & given.keys():
            return unknown
        return self.value(last.value, replace(scope, local={**given, **named}))

    def _is_transparent(self, fact: f.Function, module: Module) -> bool:
        """Whether decorators at most remember what the function gave."""
        for decorator in fact.decorators:
            named = decorator.function if isinstance(decorator, f.Call) else decorator
            value = self.value(named, Scope(Space(module)))
            if not isinstance(value, Known) or not isinstance(value.value, Reference):
                return False
            if value.value.path not in _REMEMBERS:
                return False
        return True


def _read(reader: Reader, arguments: Arguments) -> Value:
    """What a call gives that reads the environment: its default, marked with the variable."""
    named = arguments.get(0)
    if not isinstance(named, Known) or not isinstance(named.value, str):
        return Unknown("an environment variable")
    variable = named.value
    default = arguments.get(*reader.default)
    if default is None:
        return Unknown(f"environment variable {variable}", environment=variable)
    given = arguments.get(*reader.cast) if reader.cast else None
    cast = Known(Reference(f"builtins.{reader.type}")) if reader.type else given
    if isinstance(default, Known) and default.value is not None and cast is not None and not same(cast, Known(None)):
        kind = cast.value.path if isinstance(cast, Known) and isinstance(cast.value, Reference) else ""
        if kind not in CASTS:
            return Unknown(f"environment variable {variable}, cast in a way that is not known", environment=variable)
        default = converted(CASTS[kind], default)
    return replace(default, environment=variable)


def _assigns(statement: f.Statement, name: str) -> bool:
    """Whether a method assigns the attribute `name` of its first parameter."""
    if not isinstance(statement, f.Function) or not statement.parameters:
        return False
    receiver = statement.parameters[0].name
    for placed in flatten(statement.body, 0):
        targets = placed.statement.targets if isinstance(placed.statement, f.Assign) else ()
        for target in targets:
            if (
                isinstance(target, f.Attribute)
                and target.name == name
                and target.base == f.Name(target.base.at, receiver)
            ):
                return True
    return False


def _names_once(statements: list[f.Statement]) -> dict[str, f.Expr] | None:
    """What statements name that do nothing else; None if one does, or if a name is given twice."""
    named: dict[str, f.Expr] = {}
    for statement in statements:
        match statement:
            case f.Assign(targets=(f.Name(id=name),), value=value) if value is not None and name not in named:
                named[name] = value
            case _:
                return None
    return named


def _is_text(statement: f.Statement) -> bool:
    return isinstance(statement, f.Evaluate) and isinstance(statement.value, f.Constant)
