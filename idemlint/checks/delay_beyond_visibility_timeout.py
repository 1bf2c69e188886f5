"""delay-beyond-visibility-timeout: a message waits for its time longer than the broker waits for it."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.delivery import Amount, Delivery
from idemlint.delivery.cause import spelled
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.domain.effect import Effect
from idemlint.replay import Finding, Mark, Replay

NAME = "delay-beyond-visibility-timeout"


def check(replay: Replay) -> Iterator[Finding]:
    for effect in replay.summary.effects:
        call = effect.enqueue
        if effect.kind != "enqueue" or call is None or call.delay is None:
            continue
        delivery = replay.deliveries.get(call.task or "") or replay.lease_of(call.framework)
        if delivery is not None and delivery.lease is not None and delivery.delayed:
            if call.delay.seconds > delivery.lease.seconds:
                yield of_message(replay, effect, delivery, delivery.lease)
    yield from of_retries(replay)


def of_message(replay: Replay, effect: Effect, delivery: Delivery, lease: Amount) -> Finding:
    assert effect.enqueue is not None
    assert effect.enqueue.delay is not None
    delay = effect.enqueue.delay
    task = replay.program.tasks.get(effect.enqueue.task or "")
    sent = task.function.rpartition(".")[2] if task is not None else "the task"
    wait = spelled(delay.seconds)
    return replay.finding(
        NAME,
        effect,
        Severity.ERROR,
        f"{sent} waits {wait} for its time in a worker that has not acknowledged it, and {delivery.broker} hands it "
        f"out again after {lease}: when the time comes, several workers run it.",
        (
            Mark(StepKind.CAUSE, f"{lease.text}: a message is handed out again after {lease}", lease.site),
            Mark(StepKind.FIRST, f"sent, to run in {wait}: {{code}}", effect.site),
            Mark(StepKind.FIRST, "a worker takes it and holds it until then"),
            Mark(StepKind.AGAIN, f"after {lease} another worker takes it and holds it too, and so on"),
            Mark(StepKind.RESULT, f"after {wait} each of them runs {sent}"),
        ),
        confidence=confidence(delivery, delay.environment),
        fix=Fix(
            "store the time in a row and let a periodic task send what is due, or raise the visibility timeout above "
            "the longest delay",
            Applicability.DISPLAY,
        ),
    )


def of_retries(replay: Replay) -> Iterator[Finding]:
    """The waits before the retries of the task itself."""
    delivery, task = replay.delivery, replay.task
    if delivery is None or task is None or delivery.lease is None or not delivery.delayed:
        return
    lease = delivery.lease
    for retry in delivery.retries:
        longest = retry.longest
        if longest is None or longest.seconds <= lease.seconds:
            continue
        yield Finding(
            rule=NAME,
            site=(retry.site if retry.kind == "call" else None) or task.declared,
            severity=Severity.ERROR,
            confidence=confidence(delivery, None),
            message=(
                f"A retry of {replay.name} waits up to {longest} in a worker that has not acknowledged it, and "
                f"{delivery.broker} hands it out again after {lease}: several workers then run it."
            ),
            steps=(
                Mark(StepKind.CAUSE, f"{lease.text}: a message is handed out again after {lease}", lease.site),
                Mark(StepKind.FIRST, f"{longest.text}: a retry waits up to {longest}", longest.site or retry.site),
                Mark(StepKind.AGAIN, f"after {lease} another worker takes it and holds it too"),
                Mark(StepKind.RESULT, f"when the time comes each of them runs {replay.name}"),
            ),
            fix=Fix(f"keep the longest wait below {lease}, or raise the visibility timeout", Applicability.DISPLAY),
            about=task.id,
            task=task.id,
        )
        return


def confidence(delivery: Delivery, environment: str | None) -> Confidence:
    """A lease that only the broker's own configuration can change is not seen here, nor what a variable is set to."""
    if any(reason.startswith("some settings") for reason in delivery.unknown):
        return Confidence.LOW
    unseen = delivery.lease is not None and "consumer_timeout" in delivery.lease.text
    return Confidence.MEDIUM if unseen or environment is not None else Confidence.HIGH


RULE = Rule(NAME, "IDM602", Severity.ERROR, "delay longer than the broker's visibility timeout", "0.1", check)
