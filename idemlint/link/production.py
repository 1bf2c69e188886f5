"""Which files hold code that runs in production."""

from __future__ import annotations

import posixpath


def is_production(path: str) -> bool:
    """Whether code in this file runs in production: tests and their set-up do not, and no module can be imported from a
    folder with a dot in front (samples for the rules of a linter, scripts of a CI service) or from a template."""
    name = posixpath.basename(path)
    return not (
        name.startswith("test_")
        or name.endswith("_test.py")
        or name in ("conftest.py", "tests.py")
        or any(
            folder in ("tests", "test", "testing") or folder[:1] == "." or "{" in folder
            for folder in path.split("/")[:-1]
        )
    )
