"""The settings of a run, written as the TOML that would say the same in the project's root."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

from idemlint.config import Config, rebased


def settings(config: Config, *, root: Path, every_rule: Iterable[str]) -> str:
    """`every_rule` are the names of all rules there are. The first lines, comments, tell the root and the files."""
    read_from = ", ".join(_relative(file, root) for file in config.sources) or "no file"
    lines = [
        f"# root: {root}",
        f"# read from: {read_from}",
        f"select = {_array(sorted(name for name in every_rule if config.runs(name)))}",
        f"exclude = {_array(glob for pattern in config.exclude for glob in rebased(pattern, root))}",
        f"source-roots = {_array(_relative(folder, root) for folder in config.source_roots)}",
        *([f"settings-module = {_string(config.settings_module)}"] if config.settings_module else []),
        f"catalogs = {_array(_relative(file, root) for file in config.catalogs)}",
        f"min-severity = {_string(str(config.min_severity))}",
        f"min-confidence = {_string(str(config.min_confidence))}",
        f"fail-on = {_string(str(config.fail_on))}",
        f"scope = {_string(str(config.scope))}",
        "",
        "[severity]",
        *(f"{rule} = {_string(str(level))}" for rule, level in config.severity),
        "",
        "[per-file-ignores]",
        *(
            f"{_string(glob)} = {_array(sorted(rules))}"
            for pattern, rules in config.per_file_ignores
            for glob in rebased(pattern, root)
        ),
    ]
    return "\n".join(lines) + "\n"


def _relative(path: Path, root: Path) -> str:
    return Path(os.path.relpath(path, root)).as_posix()


def _array(values: Iterable[str]) -> str:
    return f"[{', '.join(map(_string, values))}]"


def _string(value: str) -> str:
    # A JSON string is a TOML string, but for the surrogate pairs that JSON makes of what is not ASCII.
    return json.dumps(value, ensure_ascii=False)
