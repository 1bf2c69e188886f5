"""Harm: which effects of a run must happen once, and which ones do not."""

from __future__ import annotations

from collections.abc import Iterator

from idemlint.domain.effect import Effect
from idemlint.domain.guard import Strength
from idemlint.replay.guarding import Guarding
from idemlint.replay.outside import CALLED, SENT


class Harm(Guarding):
    """What a repeat, or two runs at once, do that somebody notices."""

    __slots__ = ()

    def repeated(self) -> Iterator[Effect]:
        """Effects that a second run does again and that hurt somebody."""
        for effect in self.summary.effects:
            if effect.in_handler or self.guarded(effect):
                continue
            if effect.kind == "external" and self.kind(effect) in CALLED | SENT and self.repeats(effect):
                if (effect.key is None or effect.key.value.unstable) and not self.alerts(effect):
                    yield effect
            elif self.counts_again(effect):
                yield effect

    def does_harm(self) -> bool:
        """Whether a second run hurts somebody or inserts rows that are there already."""
        inserts = (effect for effect in self.summary.effects if effect.kind == "insert" and not effect.in_handler)
        doubled = (effect for effect in inserts if not self.guarded(effect, Strength.STATE) and self.doubles(effect))
        return any(self.repeated()) or any(doubled)

    def steps(self) -> Iterator[Effect]:
        """Outside effects that can fail or be cut."""
        for effect in self.summary.effects:
            if effect.kind == "external" and self.kind(effect) in CALLED | SENT and self.repeats(effect):
                if not effect.in_handler and not self.alerts(effect):
                    yield effect

    def doubles(self, effect: Effect) -> bool:
        """Whether two runs that both get here leave something doubled in the database or the queue."""
        if effect.kind == "enqueue":
            return effect.enqueue is not None and not self.harmful.isdisjoint(effect.enqueue.tasks)
        if effect.kind == "insert":
            found = self.coverage(effect)
            model = self.model(effect)
            named = model is not None and self.catalog.one_row_per_run(model.title)
            rebuilt = self.cleared_before(effect) is not None
            return not (found.key or found.doubtful or rebuilt or named or self.follows_insert(effect))
        return self.counts_again(effect)

    def unsafe_to_repeat(self) -> Iterator[Effect]:
        """Effects that must happen once, whatever guards them."""
        for effect in self.summary.effects:
            if effect.in_handler:
                continue
            if effect.kind == "external":
                once = self.kind(effect) in CALLED | SENT | {"append", "increment"} and self.repeats(effect)
                if once and (effect.key is None or effect.key.value.unstable) and not self.alerts(effect):
                    yield effect
            elif effect.changes_data and self.doubles(effect):
                yield effect

    def overlaps(self, effect: Effect) -> bool:
        """Whether two runs at an effect together repeat or overwrite something."""
        if effect.kind == "external":
            return self.repeats(effect) and self.kind(effect) in CALLED | SENT | {"append", "increment"}
        return effect.changes_data and not self.version_checked(effect) and effect.kind != "link"
