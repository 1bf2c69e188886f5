"""Settings come in layers (an extended file, the file itself, `--config`, the options); here they become one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from idemlint.config.patterns import Pattern
from idemlint.config.selectors import Named, require_known, strength, strongest
from idemlint.config.settings import Config, FailOn, Scope
from idemlint.config.source import Source
from idemlint.diagnostic import Confidence, Severity

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Layer:
    """What one place says; None or empty where it says nothing.

    `folder` is what its patterns and paths are relative to. `source` is the text it was read from, None for options of
    the command line. `file` is the file it was read from, if it was.
    """

    folder: Path
    source: Source | None
    file: Path | None = None
    select: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    severity: tuple[tuple[str, Severity], ...] = ()
    exclude: tuple[str, ...] = ()
    source_roots: tuple[str, ...] | None = None
    settings_module: str | None = None
    catalogs: tuple[str, ...] = ()
    min_severity: Severity | None = None
    min_confidence: Confidence | None = None
    fail_on: FailOn | None = None
    scope: Scope | None = None

    def named(self, key: str) -> str:
        """What an error begins with that is about this key."""
        return f"--{key}" if self.source is None else self.source.place(key)

    def place(self, path: str) -> Path:
        """A path as this place means it."""
        return Path(os.path.normpath(self.folder / path))


def merged(layers: Sequence[Layer], rules: Sequence[Named]) -> Config:
    """One Config from `layers`, the most general first. `rules` are all there are; ConfigError for a selector that
    names none of them.

    The last layer that sets a value wins; excludes, per-file ignores and catalogs of all layers hold together, since
    each says what it knows of its own folder.
    """
    for layer in layers:
        _require_known(layer, rules)
    standard = Config()
    return Config(
        rules=_chosen(layers, rules),
        per_file_ignores=tuple(
            (Pattern(layer.folder, glob), frozenset(rule.name for rule in rules if strongest(selectors, rule) >= 0))
            for layer in layers
            for glob, selectors in layer.per_file_ignores
        ),
        severity=_severities(layers, rules),
        exclude=tuple(Pattern(layer.folder, glob) for layer in layers for glob in layer.exclude),
        source_roots=_last((_folders(layer) for layer in layers), standard.source_roots),
        settings_module=_last((layer.settings_module for layer in layers), standard.settings_module),
        catalogs=_files(layers),
        min_severity=_last((layer.min_severity for layer in layers), standard.min_severity),
        min_confidence=_last((layer.min_confidence for layer in layers), standard.min_confidence),
        fail_on=_last((layer.fail_on for layer in layers), standard.fail_on),
        scope=_last((layer.scope for layer in layers), standard.scope),
        sources=tuple(layer.file for layer in layers if layer.file is not None),
    )


def _require_known(layer: Layer, rules: Sequence[Named]) -> None:
    spoken = {
        "select": layer.select or (),
        "ignore": layer.ignore,
        "extend-select": layer.extend_select,
        "severity": [selector for selector, _ in layer.severity],
    }
    for key, selectors in spoken.items():
        require_known(selectors, rules, layer.named(key))
    for glob, selectors in layer.per_file_ignores:
        require_known(selectors, rules, layer.named(f'per-file-ignores."{glob}"'))


def _chosen(layers: Sequence[Layer], rules: Sequence[Named]) -> frozenset[str]:
    chosen = {rule.name for rule in rules}
    for layer in layers:
        for rule in rules:
            wanted = strongest((*(layer.select or ()), *layer.extend_select), rule)
            unwanted = strongest(layer.ignore, rule)
            # A layer that selects starts afresh, so that `--select X` means X whatever a file ignores.
            if max(wanted, unwanted) < 0 and layer.select is None:
                continue
            (chosen.add if wanted > unwanted else chosen.discard)(rule.name)
    return frozenset(chosen)


def _severities(layers: Sequence[Layer], rules: Sequence[Named]) -> tuple[tuple[str, Severity], ...]:
    given: dict[str, Severity] = {}
    for layer in layers:
        for rule in rules:
            ranked = [(strength(selector, rule), level) for selector, level in layer.severity]
            best, level = max(ranked, default=(-1, Severity.NOTE))
            if best >= 0:
                given[rule.name] = level
    return tuple(sorted(given.items()))


def _folders(layer: Layer) -> tuple[Path, ...] | None:
    return None if layer.source_roots is None else tuple(layer.folder / root for root in layer.source_roots)


def _files(layers: Sequence[Layer]) -> tuple[Path, ...]:
    """The catalogs of all layers; one that several name stands where the last of them does."""
    named = [layer.place(catalog) for layer in layers for catalog in layer.catalogs]
    return tuple(reversed(dict.fromkeys(reversed(named))))


def _last(values: Iterable[V | None], standard: V) -> V:
    return ([value for value in values if value is not None] or [standard])[-1]
