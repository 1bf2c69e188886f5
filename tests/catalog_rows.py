"""A row of the catalog -> code that does what the row speaks of."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from idemlint.catalog.load import _shipped
from idemlint.catalog.rows import Effect, Slot, Test
from idemlint.catalog.schema import CatalogFile

SAMPLES = (
    *("post", "get", "a", "w", "x", "chat.postMessage", "attribute_not_exists(pk)", "0", "*"),
    *("SET h = list_append(h, :v)", "ADD n :d"),
)
"""Texts of which one fits each test of an argument."""

_FILES = _shipped()

IMPORTABLE = sys.stdlib_module_names | {module.partition(".")[0] for file in _FILES for module in file.modules}
"""What the paths of rows may begin with, for code to be able to say them."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """One call: the modules to import, what is called, and with which arguments."""

    path: str
    modules: frozenset[str]
    callee: str
    positional: tuple[str, ...] = ()
    keywords: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        named = (f"{name}={value}" for name, value in self.keywords.items())
        return f"{self.callee}({', '.join([*self.positional, *named])})"

    def given(self, slot: Slot, value: str) -> Snippet:
        """With a value passed at a slot."""
        for item in reversed(slot.items):
            value = f'{{"{"Idempotency-Key" if item == "*" else item}": {value}}}'
        if slot.position is None:
            return Snippet(
                self.path, self.modules, self.callee, self.positional, {**self.keywords, slot.argument: value}
            )
        filled = [*self.positional, *["None"] * (slot.position + 1 - len(self.positional))]
        filled[slot.position] = value
        return replace(self, positional=tuple(filled))

    def passing(self, test: Test) -> Snippet:
        """With an argument that a test of the row asks for."""
        pattern = test.matches
        text = next(sample for sample in SAMPLES if pattern is None or pattern.search(sample))
        slot = test.argument[0]
        inside = f"{self.callee.partition('.')[0]}.Request({text!r})" if slot.items == ("#0",) else repr(text)
        return self.given(replace(slot, items=()) if slot.items == ("#0",) else slot, inside)


def snippet(path: str) -> Snippet:
    """A call of the path of a row, its wildcards filled in."""
    plain = ".".join("thing" if part in ("*", "**") else part.replace("*", "thing") for part in path.split("."))
    start, done = _start(plain)
    callee, modules = start
    for part in plain.split(".")[done:]:
        callee = f"{_called(callee)}.{part}" if callee else part
    return Snippet(plain, modules, callee)


def _start(path: str) -> tuple[tuple[str, frozenset[str]], int]:
    """What a path begins with as code, the imports for it, and how many components of the path that is."""
    parts = path.split(".")
    if parts[0] == "builtins":
        return ("", frozenset()), 1
    for length in range(len(parts), 0, -1):
        made = _made(".".join(parts[:length]))
        if made is not None:
            return made, length
    return (parts[0], frozenset({_module(parts)})), 1


def _made(path: str) -> tuple[str, frozenset[str]] | None:
    """A call that gives what is known by a path that nobody can write."""
    for file in _FILES:
        for row in file.returns:
            hole = re.fullmatch(r"([\w.]+)\.\{#0,\w+\}", row.type)
            if hole is not None and path.rpartition(".")[0] == hole[1]:
                name = path.rpartition(".")[2]
                return f'{row.calls[0]}("{name}")', frozenset({row.calls[0].partition(".")[0]})
            if row.type == path and path.partition(".")[0] not in IMPORTABLE:
                inner = snippet(row.calls[0])
                return f"{inner.callee}()", inner.modules
    return None


def _module(parts: Sequence[str]) -> str:
    """What to import for a path: everything before the first class or function that can be told as one."""
    known = {module for file in _FILES for module in file.modules}
    prefixes = [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return next((prefix for prefix in prefixes if prefix in known), parts[0])


def _called(code: str) -> str:
    """An instance, where the code names a class."""
    name = code.rpartition(".")[2]
    return f"{code}()" if "." in code and name[:1].isupper() and not name.endswith(")") else code


def effect_snippets(file: CatalogFile) -> Iterator[tuple[str, Effect, Snippet]]:
    """What each effect of a file is, as it is written and with the arguments that its variants ask for."""
    for row in file.effect:
        for path in row.calls:
            yield path, row, snippet(path)
        for variant in row.variants:
            yield row.calls[0], variant.effect, snippet(row.calls[0]).passing(variant.test)
