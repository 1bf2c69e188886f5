"""Texts that a program puts together: what is known of them, with `{}` for the rest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from idemlint.domain.value import Value

_PERCENT = re.compile(r"%(?:\((?P<key>[^()]*)\))?[-#0 +]*(?:\d+|\*)?(?:\.\d+)?[a-zA-Z%]")
_BRACES = re.compile(r"\{([^{}]*)\}")


def percent(text: str, given: Value) -> str:
    """What `text % given` gives."""
    single = given.items is None and given.entries is None
    counted = iter((given,) if single else given.items or ())

    def filler(found: re.Match[str]) -> str:
        if found.group().endswith("%"):
            return "%"
        return _known(given.entry(found["key"]) if found["key"] is not None else next(counted, None))

    return _PERCENT.sub(filler, text)


def formatted(text: str, positional: Sequence[Value], keywords: Mapping[str, Value]) -> str:
    """What `text.format(*positional, **keywords)` gives."""
    counted = iter(positional)

    def filler(found: re.Match[str]) -> str:
        name = found[1].partition(":")[0].partition("!")[0]
        if not name:
            return _known(next(counted, None))
        if name.isdecimal():
            return _known(positional[int(name)] if int(name) < len(positional) else None)
        return _known(keywords.get(name))

    return _BRACES.sub(filler, text)


def _known(value: Value | None) -> str:
    return value.text if value is not None and value.text is not None else "{}"
