"""Plain values that names stand for: constants of modules and classes, and the statements written there."""

from __future__ import annotations

from datetime import timedelta

from idemlint.link.classes import ClassInfo
from idemlint.link.linker import Linker
from idemlint.link.modules import Binding, Module
from idemlint.link.names import Definition, Found
from idemlint.link.values import Known
from idemlint.link.within import assigns
from idemlint.orm import sql
from idemlint.orm.arguments import last_name
from idemlint.program import LibraryType
from idemlint.syntax import facts as f


def of_module(linker: Linker, expr: f.Name | f.Attribute, found: Found | None, module: Module) -> Known | None:
    """The value of the module-level name that `expr` was `found` to be, where its assignment looks as if it had one."""
    if not isinstance(found, Definition) or not isinstance(found.binding.fact, f.Assign):
        return None
    written = found.binding.fact.value
    if isinstance(written, f.Constant):
        return Known(written.value)
    if isinstance(written, f.Format | f.Operation | f.Mapping):
        value = linker.constants.evaluate(expr, module)
        plain = isinstance(value, Known) and isinstance(value.value, str | int | float | bool | bytes | dict)
        return value if isinstance(value, Known) and plain else None
    if isinstance(written, f.Call) and last_name(written.function) in _COUNTED:
        return _number(linker.constants.evaluate(expr, module))
    return _statement(linker, written, found.module) if isinstance(written, f.Call) else None


_COUNTED = frozenset({"timedelta", "total_seconds", "int", "float"})
"""Calls that give a number or a time, where those are known that they are given."""


def _number(value: object) -> Known | None:
    return value if isinstance(value, Known) and isinstance(value.value, int | float | timedelta) else None


def of_class(linker: Linker, expr: f.Attribute, cls: str) -> Known | None:
    """What a member of an enumeration is worth, or the text or number of a class attribute that stays what it is: one
    that is spelled as a constant, that holds a statement (`self.insert_sql`), or a text that no method sets on the
    instance."""
    found = linker.class_member(cls, expr.name)
    written = found[1].fact.value if found is not None and isinstance(found[1].fact, f.Assign) else None
    if found is None or found[1].position is not None:
        return None
    if any(linker.catalog.role(base) == "enumeration" for base in linker.classes.library_bases(cls)):
        return _of_member(linker, expr.name, written, found[0].module)
    if not isinstance(written, f.Constant | f.Format | f.Operation | f.Call):
        return None
    value = linker.constants.evaluate(written, found[0].module)
    if isinstance(value, Known) and isinstance(value.value, str):
        fixed = expr.name.isupper() or sql.is_sql(value.value) or _is_left_alone(linker, cls, *found)
        return value if fixed else None
    if expr.name.isupper() and (number := _number(value)) is not None:
        return number
    return _statement(linker, written, found[0].module) if isinstance(written, f.Call) else None


def _is_left_alone(linker: Linker, cls: str, info: ClassInfo, binding: Binding) -> bool:
    """Whether an attribute is the same for all instances: it is no field that they are made with."""
    if isinstance(binding.fact, f.Assign) and binding.fact.annotation is not None:
        return False
    methods = (each[-1].fact for info in linker.classes.order(cls)[0] for each in info.members.values())
    return not any(assigns(method, binding.name) for method in methods)


def _of_member(linker: Linker, name: str, written: f.Expr | None, module: Module) -> Known | None:
    """The value of a member of an enumeration. Its label, if it has one, comes behind the value; a value that is made
    for it is none of the others', so its name will do."""
    if isinstance(written, f.Display) and written.items:
        written = written.items[0]
    if isinstance(written, f.Call):
        kind = linker.module_level(written.function, module)
        made = isinstance(kind, LibraryType) and linker.catalog.role(kind.path) == "enumerated"
        return Known(name.lower()) if made else None
    value = linker.constants.evaluate(written, module) if written is not None else None
    plain = isinstance(value, Known) and isinstance(value.value, str | int | float)
    return value if isinstance(value, Known) and plain else None


def _statement(linker: Linker, call: f.Call, module: Module) -> Known | None:
    """The statement in `text("SELECT ...")`, `dedent(...)`: made by a function that only passes it on."""
    given = call.arguments[0].value if len(call.arguments) == 1 else None
    value = linker.constants.evaluate(given, module) if given is not None else None
    if not isinstance(value, Known) or not isinstance(value.value, str) or not sql.is_sql(value.value):
        return None
    kind = linker.module_level(call.function, module)
    passes = isinstance(kind, LibraryType) and linker.catalog.origin(kind.path, 1) == "arguments"
    return value if passes else None
