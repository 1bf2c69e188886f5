"""The view that checks share: one task, what its run does, why it runs again, and how to tell the story of it."""

from __future__ import annotations

from idemlint.diagnostic import Confidence, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.domain.guard import Strength
from idemlint.program import Site
from idemlint.replay.causes import Causes
from idemlint.replay.finding import Finding, Mark

NEXT = frozenset({"save", "update", "insert", "delete", "external", "enqueue", "acknowledge"})
"""What a run does next, when it is cut after an effect."""


class Replay(Causes):
    """One root as a check sees it."""

    __slots__ = ()

    def severity(self, default: Severity, effect: Effect | None = None) -> Severity:
        """A rule's default as far as the task's delivery lets it be that loud, and what still comes after an effect."""
        if self.delivery is None:
            return default
        cause = self.cause(effect)
        accident = cause is not None and cause is not self.cause() and cause.kind == "early-ack"
        return min(default, self.delivery.cap, Severity.WARNING if accident else default)

    def confidence(self, effect: Effect) -> Confidence:
        """How sure the reading of an effect is: a call to an unknown address whose answer nobody looks at may be
        harmless, and a test that could not be followed may be a guard."""
        confidence = Confidence.HIGH
        if self.unheard(effect) or self.unread(effect):
            return Confidence.LOW
        if effect.indirect:
            confidence = confidence.lowered()
        if self.comes_too_early(effect):
            confidence = confidence.lowered()
        if self.may_be_guarded(effect):
            confidence = confidence.lowered()
        return confidence

    def may_be_guarded(self, effect: Effect) -> bool:
        """Whether a test that could not be followed stands before an effect."""
        return any(guard.strength is Strength.POSSIBLE for guard in self.guards.of(effect))

    def again(self, effect: Effect | None = None) -> Mark:
        """Why the task is delivered again, after an effect where one is given."""
        cause = self.cause(effect)
        if cause is None:
            return Mark(StepKind.CAUSE, "its message is delivered again")
        return Mark(StepKind.CAUSE, cause.text, cause.site)

    def story(self, effect: Effect, result: str, cut: Mark | None = None) -> tuple[Mark, ...]:
        """Delivered again; first run; cut; again; result."""
        way = [Mark(StepKind.FIRST, "{code}", frame.site) for frame in effect.frames[:-1][:2]]
        stop = cut or self.cut(effect)
        return (
            self.again(effect),
            *way,
            Mark(StepKind.FIRST, "{code}", effect.site),
            stop,
            Mark(StepKind.AGAIN, "{code}", effect.site),
            Mark(StepKind.RESULT, result),
        )

    def cut(self, effect: Effect) -> Mark:
        """Where the first run may end after the effect: before the next thing it would have written or sent. Nobody
        brings back a message that was acknowledged before the run, unless a retry does: it comes a second time."""
        once = self.delivery is not None and self.delivery.late_ack is False
        cause = self.cause(effect)
        accident = cause is not None and cause.kind == "early-ack"
        if once and self.delivery is not None and (accident or not self.delivery.retries):
            return Mark(StepKind.CUT, "the run ends, then the message comes once more")
        for later in self.summary.effects[effect.id + 1 :]:
            if later.kind in NEXT and self.same_path(effect, later):
                return Mark(StepKind.CUT, "before {code}", later.site)
        return Mark(StepKind.CUT, "by an error after it" if once else "before the message is acknowledged")

    def finding(
        self,
        rule: str,
        effect: Effect,
        severity: Severity,
        message: str,
        steps: tuple[Mark, ...],
        *,
        site: Site | None = None,
        confidence: Confidence | None = None,
        fix: Fix | None = None,
    ) -> Finding:
        """A finding about one effect."""
        return Finding(
            rule=rule,
            site=site or effect.site,
            severity=severity,
            confidence=confidence if confidence is not None else self.confidence(effect),
            message=message,
            steps=steps,
            fix=fix,
            subject=effect.id,
            about=effect.frames[-1].function,
            task=self.task.id if self.task else None,
        )
