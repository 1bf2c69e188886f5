"""shared-idempotency-key: different operations carry one key, so all but the first are dropped."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.domain.value import Value
from idemlint.program import Model
from idemlint.replay import Finding, Mark, Replay

NAME = "shared-idempotency-key"


def check(replay: Replay) -> Iterator[Finding]:
    if replay.task is None:
        return
    for effect in replay.external():
        key = effect.key
        if key is None or key.value.unknown or not key.value.stable:
            continue
        if not key.value.varies:
            yield finding(
                replay,
                effect,
                "is the same for every piece of work",
                Mark(StepKind.FIRST, "the first call takes the key: {code}", effect.site),
            )
        elif replay.constant_in_loop(effect, key.value):
            yield finding(
                replay,
                effect,
                "is the same for every turn of the loop",
                Mark(StepKind.FIRST, "the first turn takes the key: {code}", effect.site),
            )
        elif of_parent(replay, effect, key.value):
            yield finding(
                replay,
                effect,
                "names the parent of what is paid for, not the row itself",
                Mark(StepKind.FIRST, "one row of the parent takes the key: {code}", effect.site),
            )
        else:
            earlier = replay.earlier_with_key(effect)
            if earlier is not None:
                yield finding(
                    replay,
                    effect,
                    "is also that of another operation at the same provider",
                    Mark(StepKind.FIRST, "another operation takes the key: {code}", earlier.site),
                )


def of_parent(replay: Replay, effect: Effect, key: Value) -> bool:
    """Whether all that varies in the key of a payment is a relation of the row that is paid for, one that other rows
    have too: the order of a line."""
    varying = [origin for origin in key.origins if origin.kind != "constant"]
    if len(varying) != 1 or varying[0].kind != "row" or replay.stakes(effect) != "money":
        return False
    title, _, column = varying[0].detail.partition(".")
    models = [model for model in replay.program.models.values() if model.title == title]
    if not models or not all(shared(model, column) for model in models):
        return False
    paid = {origin.detail for _, value in effect.arguments if value is not key for origin in value.origins}
    return any(detail.startswith(f"{title}.") and detail != varying[0].detail for detail in paid)


def shared(model: Model, column: str) -> bool:
    """Whether several rows of a model may have one value in a relation."""
    field = model.field(column)
    unique = any(key.columns == (model.column(column),) for key in model.unique)
    return field is not None and field.kind == "relation" and not unique and model.seen


def finding(replay: Replay, effect: Effect, why: str, first: Mark) -> Finding:
    assert effect.key is not None
    return replay.finding(
        NAME,
        effect,
        Severity.ERROR,
        f"The key '{effect.key.name}' that {replay.name} sends {why}: the provider takes the later call for a repeat "
        "of the earlier one and drops it.",
        (
            first,
            Mark(StepKind.AGAIN, "this call carries the same key: {code}", effect.key.site),
            Mark(StepKind.RESULT, "the provider answers with the stored result of the first call and does nothing"),
        ),
        site=effect.key.site,
        fix=Fix(
            "put the operation and what identifies the piece of work into the key, such as "
            f'f"{replay.short_name}-{replay.identity() or "{id}"}"',
            Applicability.DISPLAY,
        ),
    )


RULE = Rule(NAME, "IDM103", Severity.ERROR, "one idempotency key for different operations", "0.1", check)
