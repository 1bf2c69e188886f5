"""Causes: which of the reasons for a second run can still come once an effect has happened."""

from __future__ import annotations

from idemlint.delivery import Cause, Retry
from idemlint.domain.effect import Effect
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
