"""create-without-unique-key: a redelivered task inserts a second row."""

import re
from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Fix, Severity
from idemlint.domain.effect import Effect
from idemlint.domain.guard import Strength, anew, argument
from idemlint.program import Model
from idemlint.replay import Finding, Replay

NAME = "create-without-unique-key"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    for effect in replay.summary.effects:
        model = replay.model(effect)
        if effect.kind == "external" and unnamed_document(replay, effect):
            yield indexed(replay, effect)
        if model is None or not (effect.kind == "insert" or anew(effect)):
            continue
        found = replay.coverage(effect)
        if found.key is not None or found.doubtful or replay.guarded(effect, Strength.STATE):
            continue
        if replay.follows_insert(effect) or replay.rebuilt(effect) or one_row_per_run(replay, model):
            continue
        if effect.unsure or replay.absence_test(effect) is not None:
            continue
        yield replay.finding(
            NAME,
            effect,
            replay.severity(Severity.WARNING),
            f"{replay.name} inserts a second {model.title} when its message is delivered twice: "
            "no unique key covers the values it inserts.",
            replay.story(effect, f"there are two {model.title} rows where one was meant"),
            fix=fix(replay, effect, model),
        )


def unnamed_document(replay: Replay, effect: Effect) -> bool:
    """Whether a document is put into a search index without an id of its own, so that each run adds another; into one
    that logs what happens that is the purpose."""
    if replay.kind(effect) != "index" or not replay.repeats(effect) or effect.key is not None or effect.in_handler:
        return False
    index = argument(effect, effect.row.target) if effect.row is not None else None
    title = "".join(
        word.capitalize() for word in re.split(r"[\W_\d]+", (index.text if index is not None else "") or "")
    )
    logs = replay.catalog.one_row_per_run(title) or replay.catalog.one_row_per_run(title.removesuffix("s"))
    return not (logs or replay.guarded(effect, Strength.STATE))


def indexed(replay: Replay, effect: Effect) -> Finding:
    given = effect.row.fix if effect.row is not None else None
    identity = replay.identity()
    # One argument alone needs no f-string around it.
    alone = re.fullmatch(r"\{(\w+)\}", identity or "")
    key = alone[1] if alone is not None else f'f"{identity}"' if identity is not None else None
    return replay.finding(
        NAME,
        effect,
        replay.severity(Severity.WARNING),
        f"{replay.name} indexes the document without an id: each delivery of its message adds another one.",
        replay.story(effect, replay.result(effect)),
        fix=Fix(given.format(key=key), Applicability.DISPLAY) if given is not None and key is not None else None,
    )


def one_row_per_run(replay: Replay, model: Model) -> bool:
    """A log on purpose: its name says so, and it holds nothing but keys, text, times and counters, or tells how the
    attempt went."""
    plain = all(
        field.kind in ("id", "relation", "text", "time")
        or (field.kind == "number" and replay.catalog.stakes_of(field.name) == "internal")
        for field in model.fields
    )
    measured = any(field.kind == "number" and replay.catalog.measured(field.name) for field in model.fields)
    return (plain or measured) and replay.catalog.one_row_per_run(model.title)


def names_work(model: Model, column: str) -> bool:
    """Whether a column says which piece of work a row is for, rather than how much or when."""
    field = model.field(column)
    return field is not None and (field.kind in ("relation", "id") or column.endswith(("_id", "key", "uuid", "number")))


def fix(replay: Replay, effect: Effect, model: Model) -> Fix:
    columns = [write.column for write in effect.writes if write.value.stable and write.value.varies]
    identifying = [column for column in columns if names_work(model, column)]
    columns = identifying or columns
    named = ", ".join(f'"{column}"' for column in columns[:3])
    plain = f"a unique constraint to {model.title} over the columns that identify the work"
    key = replay.remedy(effect, "unique", columns=named) if named else plain
    return Fix(f"add {key} and insert with {replay.remedy(effect, 'insert-once')}", Applicability.DISPLAY)


RULE = Rule(NAME, "IDM201", Severity.WARNING, "row inserted without a unique key that a replay would hit", "0.1", check)
