"""What Python calls a file: its dotted module name, and the names an import may find it by."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A Python file: its path, its dotted module name, whether it is a package's `__init__`."""

    path: str
    module: str
    package: bool


def source_files(root: Path, paths: Iterable[str], source_roots: Sequence[Path]) -> list[SourceFile]:
    """The files `paths` under `root`, named.

    A name starts at the source root the file is in, else at the first folder above it that is no package, be that
    above `root`.
    """
    starts = {str(folder.resolve()) for folder in source_roots}

    @cache
    def package(folder: str) -> tuple[str, ...]:
        if folder in starts:
            return ()
        above, name = os.path.split(folder)
        given = any(folder.startswith(f"{start}{os.sep}") for start in starts)
        return (*package(above), name) if given or _is_package(folder) else ()

    files = []
    for path in paths:
        *folders, stem = path.removesuffix(".py").split("/")
        names = package(str(root.joinpath(*folders)))
        is_init = stem == "__init__" and bool(names)
        files.append(SourceFile(path, ".".join(names if is_init else (*names, stem)), is_init))
    return files


def importable_names(file: SourceFile) -> set[str]:
    """The names a file can be imported by: its own, longer ones through namespace packages, that from the root."""
    parts = _parts(file)
    starts = range(max(len(parts) - file.module.count("."), 1))
    return {file.module, *(".".join(parts[start:]) for start in starts if parts)}


def likeliest_first(files: Iterable[SourceFile], module: str, near: str) -> list[SourceFile]:
    """`files`, all importable as `module`, in the order in which an import written in the file `near` may mean them.

    Where several source roots hold the name, the one that shares most folders with `near` comes first; then files of
    that very name, before those that need a namespace package above them.
    """

    def unlikeliness(file: SourceFile) -> tuple[int, bool, list[str], bool, str]:
        source_root = _parts(file)[: -module.count(".") - 1]
        pairs = zip(source_root, near.split("/")[:-1], strict=False)
        shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        # Python takes the folder `a/` before the file `a.py` beside it.
        return -shared, file.module != module, source_root, not file.package, file.path

    return sorted(files, key=unlikeliness)


def _parts(file: SourceFile) -> list[str]:
    """The parts of the name a file has when imported from the root."""
    parts = file.path.removesuffix(".py").split("/")
    return parts[:-1] if file.package else parts


def _is_package(folder: str) -> bool:
    def holds(name: str) -> bool:
        return os.path.isfile(os.path.join(folder, name))

    # No import can spell `my-app`, and `manage.py` is run from its folder: an __init__.py there is a stray one.
    return os.path.basename(folder).isidentifier() and holds("__init__.py") and not holds("manage.py")
