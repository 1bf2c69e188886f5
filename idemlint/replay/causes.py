"""Causes: which of the reasons for a second run can still come once an effect has happened."""

from __future__ import annotations

from idemlint.delivery import Cause, Retry
from idemlint.domain.effect import Effect
from idemlint.domain.guard import argument
from idemlint.domain.value import Value
from idemlint.replay.outside import LIFETIMES, same
from idemlint.replay.sending import Sending


class Causes(Sending):
    """Why a run comes again that has done something."""

    __slots__ = ()

    def cause(self, effect: Effect | None = None) -> Cause | None:
        """The likeliest cause, of those that can come after an effect where there are such."""
        causes = self.delivery.causes if self.delivery is not None else ()
        after = (cause for cause in causes if effect is None or self.comes_after(cause, effect))
        return next(after, causes[0] if causes else None)

    def comes_too_early(self, effect: Effect) -> bool:
        """Whether no cause that is known can come after an effect."""
        cause = self.cause(effect)
        return cause is not None and not self.comes_after(cause, effect)

    def comes_after(self, cause: Cause, effect: Effect) -> bool:
        """Whether a run that an effect was part of can come again by this cause."""
        if cause.kind != "retry" or self.delivery is None:
            return True
        rules = [retry for retry in self.delivery.retries if retry.kind == "exception" and retry.site == cause.site]
        return not rules or any(self.may_follow(retry, effect) for retry in rules)

    def may_follow(self, retry: Retry, effect: Effect) -> bool:
        """Whether one of the exceptions that a task is run again on can be raised once an effect has happened."""
        quiet = self.summary.quiet
        if quiet is not None and effect.id >= quiet:
            return False
        return not retry.on or any(self.may_raise(name, effect) for name in retry.on)

    def may_raise(self, name: str, effect: Effect) -> bool:
        """Whether an exception can come from an effect that has happened, or from what follows it. That of a library
        comes from calls of the library, where the run makes any."""
        library = name.partition(".")[0]
        own = [other for other in self.summary.effects if other.path.partition(".")[0] == library]
        if not own:
            return True
        if any(other.id == effect.id for other in own):
            return self.ambiguous(name)
        return any(other.id > effect.id and self.same_path(effect, other) for other in own)

    def retry_stopped(self, mark: Effect) -> Retry | None:
        """The retry of the task that a mark stops: its key is the id that the task keeps when it is run again, a run
        that fails leaves it there, and who meets it does not ask for another run."""
        key = argument(mark, mark.guard.key) if mark.guard is not None and mark.guard.guard == "claim" else None
        kinds = {origin.kind for origin in key.origins} if key is not None else set()
        if self.delivery is None or key is None or "task-id" not in kinds or kinds & {"attempt", "unknown"}:
            return None
        later = self.summary.effects[mark.id + 1 :]
        asked = [effect for effect in later if effect.kind == "retry"]
        if any(self.moves_key(effect, key) for effect in later) or any(
            told(effect, "conflict", mark) for effect in asked
        ):
            return None
        behind = [effect for effect in later if told(effect, "claim", mark)]
        quiet = self.summary.quiet
        failing = [effect for effect in behind if quiet is None or effect.id < quiet]
        for retry in self.delivery.retries:
            if retry.kind == "call":
                stopped = any(effect in behind and effect.site == retry.site for effect in asked)
            else:
                stopped = retry.kind == "exception" and self.may_follow(retry, mark) and _works(failing)
            if stopped and self._outlives(mark, retry):
                return retry
        return None

    def moves_key(self, call: Effect, key: Value) -> bool:
        """Whether a call takes a mark away, or gives it another lifetime."""
        moves = self.deletes_key(call) or call.path.rpartition(".")[2] in LIFETIMES
        return moves and same(dict(call.arguments).get("#0"), key)

    def _outlives(self, mark: Effect, retry: Retry) -> bool:
        """Whether a mark is still there when the retry comes, as far as both times are told."""
        seconds = self.lifetime(mark)
        return seconds is None or retry.delay is None or seconds > retry.delay.seconds


def told(effect: Effect, kind: str, mark: Effect) -> bool:
    """Whether an effect happens only where a mark was set ("claim") or met ("conflict")."""
    return any(fact.kind == kind and fact.subject == mark.id for fact in effect.facts)


def _works(effects: list[Effect]) -> bool:
    """Whether anything is done that may fail."""
    return any(effect.kind == "external" or effect.changes_data for effect in effects)
