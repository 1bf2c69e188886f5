"""Which spelling of a setting counts, and which names that people write are read by nobody."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from idemlint.catalog.settings import AppSettings

# How near a name must be to a real one to be taken for it.
_NEAR = 0.85
_NONE = "there is no such setting"


@dataclass(frozen=True, slots=True)
class Ignored:
    """A name that has no effect as written: the setting it is about (empty if that cannot be told), why, and the
    spelling that would work (empty if none is near). `exists` says that it is a setting's name, only not here."""

    key: str
    name: str
    reason: str
    meant: str
    exists: bool


def in_force(
    table: AppSettings, keys: Collection[str], namespace: str | None, together: Collection[str] | None = None
) -> dict[str, str]:
    """Setting -> the one of `keys` that counts for it, where an object with these keys is read with this namespace.

    Of the keys `together` (all of them if not given) the framework demands that they are all new or all old names.
    """
    refused = {each.key for each in _mixed(table, keys if together is None else together, namespace)}
    found: dict[str, str] = {}
    for name in table.names:
        key = next((key for key in _spellings(table, name, namespace) if key in keys and key not in refused), None)
        if key is not None:
            found[name] = key
    return found


def latest(table: AppSettings, keys: Collection[str]) -> list[str]:
    """The ones of `keys`, in the order they were set on an app, that are left when old names become new ones."""
    found = {table.current.get(key, key): key for key in keys}
    return list(found.values())


def ignored(
    table: AppSettings,
    keys: Collection[str],
    used: Mapping[str, str],
    namespace: str | None,
    together: Collection[str] | None = None,
) -> list[Ignored]:
    """The ones of `keys` that look like settings and have no effect, by key. `used` is what `in_force` said."""
    mixed = {each.key: each for each in _mixed(table, keys if together is None else together, namespace)}
    found = []
    for key in sorted(set(keys) - set(used.values())):
        fault = mixed.get(key) or _overridden(table, key, used, namespace) or _unread(table, key, namespace)
        if fault is not None:
            found.append(fault)
    return found


def _spellings(table: AppSettings, name: str, namespace: str | None) -> tuple[str, ...]:
    """The names by which a setting is looked for, in that order."""
    own = (_cased(f"{_prefix(namespace)}{name}", namespace),) if namespace else ()
    return (*own, name, table.names[name])


def _prefix(namespace: str) -> str:
    return f"{namespace.rstrip('_')}_"


def _cased(name: str, namespace: str) -> str:
    return name.upper() if namespace.isupper() else name.lower()


def _mixed(table: AppSettings, keys: Collection[str], namespace: str | None) -> list[Ignored]:
    """The names of the minority where old and new ones stand side by side, which only a namespace allows."""
    if namespace:
        return []
    new = {key: table.names[key] for key in keys if key in table.names}
    old = {key: table.current[key] for key in keys if key in table.current}
    fewer = old if len(new) >= len(old) else new
    reason = "old and new names of settings are mixed, which the worker refuses to start with"
    left = {key: other for key, other in fewer.items() if other not in keys} if new and old else {}
    return [Ignored(key, table.current.get(key, key), reason, other, True) for key, other in left.items()]


def _overridden(table: AppSettings, key: str, used: Mapping[str, str], namespace: str | None) -> Ignored | None:
    for name, winner in used.items():
        if key in _spellings(table, name, namespace):
            return Ignored(key, name, f"{winner} is read instead", winner, True)
    return None


def _unread(table: AppSettings, key: str, namespace: str | None) -> Ignored | None:
    """A name that resembles a setting's."""
    common = _prefix(namespace or table.namespace)
    bare = key.removeprefix(common)
    if key.startswith(common) and bare.startswith(table.foreign):
        return None
    if not namespace and key.isupper() and bare.lower() in table.names:
        name = bare.lower()
        return Ignored(key, name, "the settings are read without a namespace", table.names[name], True)
    # `CELERYD_` and the like are prefixes of old names.
    families = {f"{old.partition('_')[0]}_" for old in table.current if old.startswith(table.namespace)}
    if key.startswith((common, *families)):
        name = _nearest(table, bare.lower())
        meant = _spellings(table, name, namespace)[0] if name else ""
        return Ignored(key, name, _NONE, meant if namespace else table.names.get(name, ""), False)
    near = difflib.get_close_matches(key, table.names, n=1, cutoff=_NEAR) if not namespace else []
    return Ignored(key, near[0], _NONE, near[0], False) if near else None


def _nearest(table: AppSettings, bare: str) -> str:
    """The setting somebody meant who left out its family (`time_limit`) or misspelt it; empty if none is near."""
    whole = [name for name in table.names if name.partition("_")[2] == bare]
    if whole:
        return whole[0]
    near = difflib.get_close_matches(bare, table.names, n=1, cutoff=_NEAR)
    if near:
        return near[0]
    old = difflib.get_close_matches(bare.upper(), table.current, n=1, cutoff=_NEAR)
    return table.current[old[0]] if old else ""
