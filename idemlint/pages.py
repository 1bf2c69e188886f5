"""The rule pages that ship with idemlint: `rules/<name>.md` here, `idemlint/rules/<name>.md` in the wheel."""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

HOME = "https://github.com/idemlint/idemlint"
"""Where the project lives, as pyproject.toml has it."""


def page(name: str) -> str:
    """The Markdown of the page of the rule called `name`. LookupError if no such page shipped."""
    try:
        return _place(name).read_text(encoding="utf-8")
    except FileNotFoundError as missing:
        raise LookupError(f"no page for the rule {name!r}") from missing


def address(name: str) -> str | None:
    """A URI under which the page of the rule called `name` can be opened on this machine; None inside an archive."""
    place = _place(name)
    return place.resolve().as_uri() if isinstance(place, Path) and place.is_file() else None


def url(name: str) -> str:
    """The public address of the page of the rule called `name`."""
    return f"{HOME}/blob/main/rules/{name}.md"


def _place(name: str) -> Traversable:
    packed = resources.files("idemlint") / "rules" / f"{name}.md"
    # An editable install has no copy inside the package: the pages are where they are written.
    return packed if packed.is_file() else Path(__file__).parent.parent / "rules" / f"{name}.md"
