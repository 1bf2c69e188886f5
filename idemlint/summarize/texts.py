"""Texts that a program puts together: what is known of them, with `{}` for the rest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from idemlint.domain.value import Value
from idemlint.summarize.given import Given

_SAME = frozenset({"strip", "lstrip", "rstrip", "lower", "encode"})
"""Methods of texts after which they are taken for the same."""

METHODS = frozenset({"format", "replace", *_SAME})
"""Methods of texts that `by_method` knows."""

_PERCENT = re.compile(r"%(?:\((?P<key>[^()]*)\))?[-#0 +]*(?:\d+|\*)?(?:\.\d+)?[a-zA-Z%]")
_BRACES = re.compile(r"\{([^{}]*)\}")
_HOST = re.compile(r"(?:[^/?#]*:)?//[^/?#]*|\{\}(?=/|$)")


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


def by_method(name: str, text: str, given: Sequence[Value], keywords: Mapping[str, Value]) -> str | None:
    """What a method of a text gives, as far as it is known; None where that is nothing."""
    if name == "format":
        return formatted(text, given, keywords)
    if name == "replace" and len(given) > 1:
        old, new = given[0].text, given[1].text
        return text.replace(old, new) if old and new is not None and "{" not in old else None
    return text if name in _SAME else None


def by_function(path: str, receiver: Value | None, given: Given) -> str | None:
    """What a function of the standard library makes of texts and addresses, as far as it is known."""
    match path:
        case "re.sub" if len(given.positional) > 2 and _cleans(given.positional[1]):
            return given.positional[2].text
        case "urllib.parse.urljoin" if len(given.positional) > 1:
            return _joined(*given.positional[:2])
        case "urllib.parse.urlunparse" | "urllib.parse.urlunsplit" if given.positional and given.positional[0].items:
            parts = [_known(item) for item in given.positional[0].items]
            return f"{parts[0]}://{parts[1]}/{parts[2].removeprefix('/')}" if len(parts) > 2 else None
        case "urllib.parse.urlparse._replace" | "urllib.parse.urlsplit._replace" if receiver is not None:
            path_put = given.keywords.get("path")
            return receiver.text if path_put is None else _host(receiver.text or "{}") + _known(path_put)
        case _:
            return None


def part(path: str, text: str) -> str | None:
    """What the attribute `path` holds of what an address was taken apart into; only of its path is that told."""
    if path not in ("urllib.parse.urlparse.path", "urllib.parse.urlsplit.path"):
        return None
    return text.partition("?")[0].removeprefix(_host(text))


def _host(address: str) -> str:
    """All before the path of an address; what stands for its beginning is taken for that."""
    found = _HOST.match(address)
    return found.group() if found is not None else ""


def _joined(base: Value, address: Value) -> str | None:
    """What `urljoin` gives: an address that is whole stands alone, a path from the root takes the place of all."""
    text = address.text
    if text is None or "//" in text:
        return text
    start = _host(base.text or "{}") if text.startswith("/") else (base.text or "{}/").rpartition("/")[0] + "/"
    return start + text


def _cleans(put: Value) -> bool:
    """Whether what is put in the place of something has no word in it, as where doubled slashes are made one."""
    return put.text is not None and not any(char.isalnum() or char == "{" for char in put.text)


def _known(value: Value | None) -> str:
    return value.text if value is not None and value.text is not None else "{}"
