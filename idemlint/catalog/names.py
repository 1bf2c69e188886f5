"""The rows of the catalog that speak of names and addresses, in the same manner as `rows`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from idemlint.catalog.rows import Slot


@dataclass(frozen=True, slots=True)
class Host:
    """What a generic HTTP call to one of `hosts` is. `path` narrows it to addresses whose path fits. `quiet` hosts
    take metrics, logs, traces or cache purges: a repeat hurts nobody. The rest is as in `Effect`."""

    hosts: tuple[str, ...]
    path: re.Pattern[str] | None = None
    quiet: bool = False
    kind: str = "http"
    stakes: str = ""
    key: tuple[Slot, ...] = ()
    does: str = ""
    result: str = ""
    fix: str | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class Header:
    """Headers by which a provider recognises a repeat; with `hosts`, only there."""

    names: tuple[str, ...]
    hosts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kind:
    """What an effect of a kind has in stakes and says in messages when its row says nothing."""

    stakes: str
    does: str
    result: str


@dataclass(frozen=True, slots=True)
class Words:
    """What names say. `money` and `internal` are words of column names; `reads` are words in an address or function
    name by which a POST only reads, unless one of `writes` stands there too, `again` words at the end of an address's
    path by which it may be repeated; `key` and `no_key` are patterns of parameter and header names in lower case;
    `one_row_per_run` are endings of model names; `measured` are words of numeric columns that say how an attempt
    went; `locks` are patterns of methods that lock what they find, whatever it is called on."""

    money: tuple[str, ...] = ()
    internal: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    no_key: tuple[str, ...] = ()
    one_row_per_run: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    credential: tuple[str, ...] = ()
    locks: tuple[str, ...] = ()
