"""Where settings are written: the nearest `.idemlint.toml`, `idemlint.toml` or `pyproject.toml` with a
`[tool.idemlint]`, what it extends, and `--config`."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from idemlint.config.errors import ConfigError
from idemlint.config.layers import Layer, merged
from idemlint.config.selectors import Named
from idemlint.config.settings import Config
from idemlint.config.source import Source
from idemlint.config.table import layer_of
from idemlint.spelling import nearest
from idemlint.toml import fault

_NAMES = (".idemlint.toml", "idemlint.toml", "pyproject.toml")
_BARE = re.compile(r"\s*([\w.-]+)\s*=\s*([A-Za-z][\w.-]*)\s*")


def load(
    start: Path,
    *,
    rules: Sequence[Named],
    cwd: Path,
    isolated: bool = False,
    given: Sequence[str] = (),
    options: Layer | None = None,
) -> Config:
    """The settings of a run that begins at the file or folder `start`.

    `given` are the values of `--config`, each a file (it replaces the one that would be found) or `KEY=VALUE`.
    `options` is what the command line says. With `isolated` no file is read. ConfigError for whatever cannot be
    obeyed.
    """
    assignments = [word for word in given if _is_assignment(word, cwd)]
    named = [_normal(cwd / word) for word in given if word not in assignments]
    if isolated and named:
        raise ConfigError(f"--config: {_shown(named[0], cwd)} cannot be read with --isolated")
    found = named or ([] if isolated else _nearest(start.resolve(), cwd))
    layers = [layer for file in found for layer in _extended(file, cwd, ())]
    layers += [_assigned(word, cwd) for word in assignments]
    for layer in layers:
        _require_catalogs(layer)
    return merged([*layers, *([options] if options else [])], rules)


def _nearest(start: Path, cwd: Path) -> list[Path]:
    for folder in (start, *start.parents):
        for name in _NAMES:
            file = folder / name
            if os.path.isfile(file) and (name != "pyproject.toml" or _speaks_of_idemlint(file, _shown(file, cwd))):
                return [file]
    return []


def _speaks_of_idemlint(file: Path, shown: str) -> bool:
    # Only a file that says the word is parsed: a pyproject.toml broken for other reasons is not ours to report.
    return b"idemlint" in _data(file, shown) and "idemlint" in _parsed(file, shown)[0].get("tool", {})


def _extended(file: Path, cwd: Path, above: tuple[Path, ...]) -> list[Layer]:
    """The layers of `file`, what it extends first."""
    shown = _shown(file, cwd)
    if file in above:
        raise ConfigError(f"{_shown(above[-1], cwd)}: extend: {shown} extends itself")
    table, source = _own_table(file, shown)
    base = table.pop("extend", None)
    if base is not None and not isinstance(base, str):
        raise ConfigError(f"{source.place('extend')}: expected a string, the path of a file")
    general = _extended(_normal(file.parent / base), cwd, (*above, file)) if base is not None else []
    return [*general, layer_of(table, folder=file.parent, source=source, file=file)]


def _require_catalogs(layer: Layer) -> None:
    """ConfigError for a catalog that is not there."""
    for index, catalog in enumerate(layer.catalogs):
        file = layer.place(catalog)
        if not os.path.isfile(file):
            beside = [other.name for other in file.parent.glob("*.toml")] if file.parent.is_dir() else []
            near = nearest(file.name, beside)
            hint = f'; did you mean "{Path(catalog).with_name(near).as_posix()}"?' if near else ""
            raise ConfigError(f'{layer.named(f"catalogs[{index}]")}: there is no file "{catalog}"{hint}')


def _own_table(file: Path, shown: str) -> tuple[dict[str, Any], Source]:
    """The table of `file` that is ours, and where it is written."""
    table, text = _parsed(file, shown)
    if file.name != "pyproject.toml":
        return table, Source(shown, text)
    ours = table.get("tool", {}).get("idemlint")
    if not isinstance(ours, dict):
        raise ConfigError(f"{shown}: no table [tool.idemlint] in it")
    return ours, Source(shown, text, "tool.idemlint")


def _is_assignment(word: str, cwd: Path) -> bool:
    return "=" in word and not (cwd / word).is_file()


def _assigned(word: str, cwd: Path) -> Layer:
    bare = _BARE.fullmatch(word)
    # A shell strips the quotes of --config 'fail-on="error"' sooner or later, so a bare word is a string too.
    text = f'{bare[1]} = "{bare[2]}"' if bare else word
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"--config: {word!r} is neither a file nor KEY=VALUE in TOML: {error}") from None
    return layer_of(table, folder=cwd, source=Source("--config", text, is_file=False))


def _parsed(file: Path, shown: str) -> tuple[dict[str, Any], str]:
    """What a TOML file says, and its text."""
    try:
        # Newlines as the parser counts them.
        text = _data(file, shown).decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise ConfigError(f"{shown}: not valid TOML: {error}") from None
    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:
        line, said = fault(text, error)
        raise ConfigError(f"{shown}:{line}: not valid TOML: {said}") from None


def _data(file: Path, shown: str) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{shown}: cannot be read: {error.strerror}") from None


def _normal(path: Path) -> Path:
    return Path(os.path.normpath(path))


def _shown(path: Path, cwd: Path) -> str:
    try:
        return Path(os.path.relpath(path, cwd)).as_posix()
    except ValueError:  # another drive
        return path.as_posix()
