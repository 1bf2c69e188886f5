"""Idempotency keys: whether two calls carry the same one."""

from __future__ import annotations

from idemlint.domain.effect import Effect, Key
from idemlint.domain.value import TURN, Value
from idemlint.replay.harm import Harm


class Keys(Harm):
    """What the keys of a run's calls are worth."""

    __slots__ = ()

    def constant_in_loop(self, effect: Effect, key: Value) -> bool:
        """Whether a key does not hang on the items of the loop that the call stands in."""
        for loop in self.loops(effect):
            kinds = {origin.kind for origin in loop.origins}
            if "row" in kinds and not any(origin.kind == "constant" and origin.detail for origin in loop.origins):
                # A container that was empty, or a sum that began with none, and rows.
                kinds.discard("constant")
            if not loop.items or not kinds or TURN in key.origins:
                continue
            if loop.opaque and not key.unknown:
                return True
            if kinds & {"constant", "unknown"}:
                continue
            titles = {loop.model.rpartition(":")[2]} if loop.model else set()
            shared = loop.origins & key.origins
            of_row = any(origin.kind == "row" and origin.detail.partition(".")[0] in titles for origin in key.origins)
            if not shared and not of_row:
                return True
        return False

    def earlier_with_key(self, effect: Effect) -> Effect | None:
        """An earlier call of another operation at the same provider that carries an equal key."""
        if effect.key is None or not effect.key.value.varies:
            return None
        for task, other in self.keyed:
            if other.site == effect.site:
                return None
            if other.key is None or self.provider(other) != self.provider(effect):
                continue
            if (other.path, other.url) == (effect.path, effect.url) or not self.equal_keys(effect.key, task, other.key):
                continue
            if self.task is None or task != self.task.id or self.same_path(other, effect):
                return other
        return None

    def equal_keys(self, key: Key, task: str, other: Key) -> bool:
        """Whether a key of this task and one of `task` are the same text; the id of one task is not that of another."""
        one, two = key.value, other.value
        own = self.task is not None and task == self.task.id
        if not own and any(origin.kind == "task-id" for origin in one.origins):
            return False
        return one.origins == two.origins and one.text == two.text

    def provider(self, effect: Effect) -> str:
        """Who takes a call: the host of its address, else the library."""
        host = effect.url.partition("//")[2].partition("/")[0]
        return host or effect.path.partition(".")[0]

    def effect_with(self, key: Key) -> int | None:
        """The effect that carries a key, by id."""
        for effect in self.summary.effects:
            if effect.key is not None and (effect.key.site == key.site or effect.key.value is key.value):
                return effect.id
        return None
