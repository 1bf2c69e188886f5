"""How a user names rules: `read-modify-write`, `IDM301`, `IDM3`, `ALL`. The more specific selector wins."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol, TypeVar

from idemlint.config.errors import ConfigError
from idemlint.spelling import did_you_mean

ALL = "ALL"
_EXACT = 1_000


class Named(Protocol):
    """Anything that has a rule's name and code."""

    @property
    def name(self) -> str: ...

    @property
    def code(self) -> str: ...


R = TypeVar("R", bound=Named)


def strength(selector: str, rule: Named) -> int:
    """How specifically `selector` speaks of `rule`; -1 if it does not."""
    if selector in (rule.name, rule.code):
        return _EXACT
    if selector == ALL:
        return 0
    return len(selector) if selector and rule.code.startswith(selector) else -1


def strongest(selectors: Iterable[str], rule: Named) -> int:
    """How specifically the best of `selectors` speaks of `rule`; -1 if none does."""
    return max((strength(selector, rule) for selector in selectors), default=-1)


def require_known(selectors: Iterable[str], rules: Sequence[Named], where: str) -> None:
    """ConfigError, beginning with `where`, for the first selector that speaks of no rule."""
    for selector in selectors:
        if all(strength(selector, rule) < 0 for rule in rules):
            raise ConfigError(f'{where}: unknown rule "{selector}"{did_you_mean(selector, _words(rules))}')


def one(word: str, rules: Sequence[R]) -> R:
    """The rule whose name or code is `word`. ConfigError if there is none."""
    for rule in rules:
        if word in (rule.name, rule.code):
            return rule
    raise ConfigError(f'unknown rule "{word}"{did_you_mean(word, _words(rules))}')


def _words(rules: Sequence[Named]) -> Collection[str]:
    return [rule.name for rule in rules] + [rule.code for rule in rules]
