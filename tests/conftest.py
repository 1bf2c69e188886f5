"""Options and fixtures that several test files share."""

from __future__ import annotations

import sys

import pytest
from hypothesis import settings

# As high as a run of idemlint sets it: hypothesis objects to a limit that changes inside a test.
sys.setrecursionlimit(20_000)

# No test measures time: a loaded machine is no fault.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update", action="store_true", help="Write what idemlint says now into the pages, fixtures and README."
    )


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether expectations are to be written anew instead of compared."""
    return bool(request.config.getoption("--update"))
