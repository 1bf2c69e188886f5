"""How what is wrong is put right with this layer, for the fixes of findings."""

from __future__ import annotations

from collections.abc import Mapping

REMEDIES: Mapping[str, str] = {
    "count": "update({model}).values({column}={model}.{column} + ...)",
    "lock": "with_for_update()",
    "insert-once": "on_conflict_do_nothing()",
    "savepoint": "session.begin_nested()",
    "unique": "UniqueConstraint({columns}) to {model}",
    "found-twice": "MultipleResultsFound",
}
