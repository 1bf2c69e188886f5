"""How what is wrong is put right with this layer, for the fixes of findings."""

from __future__ import annotations

from collections.abc import Mapping

REMEDIES: Mapping[str, str] = {
    "count": 'update({column}=F("{column}") + ...)',
    "lock": "select_for_update()",
    "insert-once": "get_or_create",
    "savepoint": "transaction.atomic()",
    "unique": "a unique constraint to {model} over fields=[{columns}]",
    "found-twice": "MultipleObjectsReturned",
}
