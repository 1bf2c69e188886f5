"""Signals: events of this layer go to listeners of a session or mapper, which are not followed."""

from __future__ import annotations

from idemlint.orm.layer import Reception, Resolve
from idemlint.program import DataOperation
from idemlint.syntax import facts as f


def receiver(decorator: f.Expr, resolve: Resolve) -> tuple[Reception, ...]:
    """What a decorated function receives: nothing."""
    return ()


def connection(call: f.Call, resolve: Resolve) -> tuple[f.Expr, Reception] | None:
    """The handler that a call connects: none."""
    return None


def sent(operation: DataOperation) -> tuple[str, ...]:
    """The signals that an operation sends: none."""
    return ()
