"""The names that rows of the catalog are made of, held against the libraries themselves.

    python tests/library_names.py SITE_PACKAGES

reads the libraries that are installed in a folder, imports none of them, and writes down in `data/library-names.txt`
which names of each file's rows it has met there, and which it has not: those of older versions, of what is made up when
the library runs, or of libraries that were not there. Read the latter before they are committed.
"""

from __future__ import annotations

import builtins
import gzip
import importlib
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from pathlib import Path

from idemlint.catalog.load import _shipped
from idemlint.catalog.schema import BY_CALL, BY_NAME, CatalogFile

LIST = Path(__file__).parent / "data" / "library-names.txt"
UNMET = "not met: "

_WORD = re.compile(r"[A-Za-z_]\w*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def paths_of(file: CatalogFile) -> Iterator[str]:
    """Every dotted path that a file speaks of."""
    for table in BY_CALL:
        for row in getattr(file, table):
            yield from row.calls
    for table in (*BY_NAME, "same"):
        for row in getattr(file, table):
            yield from row.names
    for row in file.declare_class:
        yield from (*row.bases, *row.register)
    for row in file.consumer:
        yield from (*row.receive, *row.acknowledge, *row.blocks, *row.renew)


def names_of(file: CatalogFile) -> set[str]:
    """The components of a file's paths that are written out."""
    return {part for path in paths_of(file) for part in path.split(".") if "*" not in part}


def noted() -> dict[str, set[str]]:
    """The names that are written down for each file of the catalog, met or not."""
    found: dict[str, set[str]] = {}
    source = ""
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("  "):
            found[source].update(line.removeprefix("  ").removeprefix(UNMET).split())
        elif line:
            source = line.rstrip(":")
            found[source] = set()
    return found


def _met(folders: Iterable[Path], heads: set[str]) -> set[str]:
    """Every word in the source of the packages `heads`, and in their tables, also as Python spells it."""
    words = set(dir(builtins)) | {"builtins"}
    for folder in folders:
        for head in sorted(heads):
            files = [folder / f"{head}.py", *sorted((folder / head).rglob("*"))]
            for file in files:
                words |= {*file.parts, file.stem}
                if file.is_file() and {".py", ".pyi", ".json"} & set(file.suffixes):
                    data = file.read_bytes()
                    text = gzip.decompress(data) if file.suffix == ".gz" else data
                    found = set(_WORD.findall(text.decode("utf-8", "ignore")))
                    words |= found
                    if ".json" in file.suffixes:
                        words |= {_HUMP.sub("_", word).lower() for word in found}
    for head in heads & sys.stdlib_module_names:
        module = importlib.import_module(head)
        words |= {name for owner in (module, *vars(module).values()) for name in dir(owner)}
    return words


def main(site: Path) -> None:
    text = ""
    for file in _shipped():
        names = names_of(file)
        if not names:
            continue
        heads = {path.partition(".")[0] for path in paths_of(file)} | {module.split(".")[0] for module in file.modules}
        met = _met([site, Path(sysconfig.get_path("stdlib"))], heads | ({"botocore"} if "boto3" in heads else set()))
        text += f"{file.source}:\n"
        for prefix, some in (("", names & met), (UNMET, names - met)):
            text += f"  {prefix}{' '.join(sorted(some))}\n" if some else ""
    LIST.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
