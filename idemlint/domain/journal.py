"""Journals: tables whose only use is to recognise repeats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from idemlint.domain.effect import Effect
from idemlint.domain.summary import Summary
from idemlint.domain.value import Fact
from idemlint.program import Model

_USES = frozenset({"insert", "get-or-insert", "exists", "get", "first", "read", "delete"})
_PLAIN = frozenset({"id", "text", "time", "flag", "other"})

COLUMNS = 6
"""The key, its source, a state and times need no more."""


def journals(models: Mapping[str, Model], runs: Iterable[Summary]) -> frozenset[str]:
    """Models that are only inserted into and asked whether a row is there, and hold nothing but what that takes."""
    used: dict[str, set[str]] = {}
    inserted: dict[str, list[Effect]] = {}
    asked: set[str] = set()
    for run in runs:
        for effect in run.effects:
            if effect.model:
                # A row that is written over remembers more than that it was there.
                kind = "upsert" if effect.conflict == "update" else effect.kind
                used.setdefault(effect.model, set()).add(kind)
            if effect.kind == "insert":
                inserted.setdefault(effect.model, []).append(effect)
            if effect.kind == "insert" and any(effect.id in caught.effects for caught in run.caught):
                asked.add(effect.model)
            for fact in effect.facts:
                if fact.kind == "exists" and _keyed(fact, run):
                    asked.add(fact.model)
                elif fact.kind in ("claim", "conflict") and fact.subject < len(run.effects):
                    asked.add(run.effects[fact.subject].model)
    return frozenset(
        name
        for name, kinds in used.items()
        if name in asked
        and kinds <= _USES
        and kinds & {"insert", "get-or-insert"}
        and _bare(models.get(name), inserted.get(name, []))
    )


def _keyed(fact: Fact, run: Summary) -> bool:
    """Whether an existence test asks for a certain row; "the first one there is" asks for no entry of a journal."""
    return not 0 <= fact.subject < len(run.effects) or bool(run.effects[fact.subject].lookup)


def _bare(model: Model | None, inserted: Iterable[Effect]) -> bool:
    if model is not None and model.open:
        return all(_says_no_more(model, effect) for effect in inserted)
    if model is None or not model.seen or len(model.fields) > COLUMNS:
        return False
    keyed = {column for key in model.unique for column in key.columns}
    return all(field.kind in _PLAIN or (field.kind == "relation" and field.name in keyed) for field in model.fields)


def _says_no_more(model: Model, effect: Effect) -> bool:
    """Whether a document holds nothing but a unique key and what is the same for all work, or the time."""
    keys = [set(key.columns) for key in model.unique if set(key.columns) <= effect.written]
    keyed = set().union(*keys)
    rest = [write.value for write in effect.writes if write.column not in keyed]
    plain = all({origin.kind for origin in value.origins} <= {"constant", "clock"} for value in rest)
    return bool(keys) and plain and not effect.opaque and len(effect.writes) <= COLUMNS
