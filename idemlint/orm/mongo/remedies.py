"""How what is wrong is put right with this layer, for the fixes of findings."""

from __future__ import annotations

from collections.abc import Mapping

REMEDIES: Mapping[str, str] = {
    "count": '{{"$inc": {{"{column}": ...}}}}',
    "lock": "find_one_and_update() with a version in its filter",
    "insert-once": "update_one(..., upsert=True) on a unique key",
    "savepoint": "a transaction of its own",
    "unique": "a unique index to {model}, create_index([{columns}], unique=True),",
    "found-twice": "one of them",
}
