"""TaskIQ: what a broker does with a message that is not acknowledged, and retry middlewares that need a label.

After taskiq/receiver, taskiq/middlewares and taskiq/acks.py of 0.11 to 0.13, taskiq_redis 1.0, taskiq_aio_pika 0.6,
taskiq_nats 0.7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from idemlint.delivery.cause import Amount, Cause, Delivery, Retry, RetryCall, Useless
from idemlint.delivery.reader import Reader, argument, made_of, once, paths, times, whole
from idemlint.delivery.said import Said
from idemlint.diagnostic import Severity
from idemlint.link.values import Known, Made, Reference, Unknown, Value, seconds
from idemlint.program import Option, Setting, Task

FRAMEWORK = "taskiq"

IDLE_TIMEOUT = 600_000.0
CONSUMER_TIMEOUT = 1800.0
ACK_WAIT = 30.0
RETRIES = 3
DELAY = 5.0
DELAY_MAX = 60.0

_STREAMS = frozenset({"RedisStreamBroker", "RedisStreamClusterBroker", "RedisStreamSentinelBroker"})
_BROADCASTS = frozenset({"PubSubBroker", "PubSubSentinelBroker"})
_JETSTREAMS = frozenset({"JetStreamBroker", "PushBasedJetStreamBroker", "PullBasedJetStreamBroker"})
_RABBITMQ = frozenset({"AioPikaBroker"})
_WITHOUT_ACK = frozenset(
    {
        "ListQueueBroker",
        "ListQueueClusterBroker",
        "ListQueueSentinelBroker",
        "NatsBroker",
        "ZeroMQBroker",
        "InMemoryBroker",
    }
)


def deliver(
    task: Task,
    settings: Sequence[Setting],
    evaluate: Callable[[Option], Value],
    version: tuple[int, ...] | None = None,
    retried: Sequence[RetryCall] = (),
    swallows: bool = False,
) -> Delivery:
    """Why and when the task runs again; arguments as for `delivery.deliver`."""
    return _Reader(task, settings, evaluate, version, retried, swallows).all()


class _Reader(Reader):
    def all(self) -> Delivery:
        """Everything together."""
        said = self.setting("broker")
        broker = made_of(said)
        if broker is None and not said.written:
            self.unknown["broker: not found in the project"] = None
        name = broker.first.path.rpartition(".")[2] if broker is not None else ""
        limit = self.amount(self.option("timeout"))
        retry = None if self.swallows else self._retry(broker)
        causes = [*([self._of_retry(retry)] if retry else []), *self._asked()]
        late = self._late(name)
        if late and broker is not None and _at_most_once(broker.first):
            late = False
        lease = self._lease(name, broker.first if broker else None, said) if late else None
        causes += self._acknowledged(name, said, late, lease, limit)
        sure = bool(retry or self.retried or late or name in _BROADCASTS)
        cap = Severity.ERROR if sure else Severity.NOTE if name in _WITHOUT_ACK else Severity.WARNING
        retries = [*([retry] if retry else []), *self.asked()]
        return self.delivery(causes, cap, late=late, retries=retries, broker=name, lease=lease, limit=limit)

    # --- Retries

    def _retry(self, broker: Made | None) -> Retry | None:
        """What a retry middleware does for this task."""
        middleware = next(iter(_middlewares(broker)), None) if broker is not None else None
        label = self.option("retry_on_error")
        wanted = _truth(label.value)
        if wanted is None and not label.written and middleware is not None:
            label = Said(
                argument(middleware, "default_retry_label", "#1"), "default_retry_label", self.setting("broker").site
            )
            wanted = _truth(label.value)
        if not wanted:
            return None
        if middleware is None:
            if broker is not None:
                self._in_vain(label)
                return None
            self.unknown["retry_on_error: it takes a retry middleware, and the broker is not known"] = None
        count = whole(self.option("max_retries").value)
        if count is None and middleware is not None:
            given = argument(middleware, "default_retry_count", "#0")
            count = RETRIES if given == Known(None) else whole(given)
        # The count is that of all runs, the first one too.
        again = max(count - 1, 0) if count is not None else None
        if again == 0:
            return None
        delay, longest = self._spacing(middleware)
        on = self.option("types_of_exceptions").value
        return Retry("exception", paths(on), (), again, False, delay, longest, label.site)

    def _in_vain(self, label: Said) -> None:
        if label.site is not None:
            reason = "the broker has no retry middleware that would read the label"
            fix = "give the broker SmartRetryMiddleware() with with_middlewares(...)"
            self.useless.append(Useless(label.site, label.text, reason, fix))

    def _spacing(self, middleware: Made | None) -> tuple[Amount | None, Amount | None]:
        if middleware is None or not middleware.path.endswith("SmartRetryMiddleware"):
            return (Amount(0, "a retry without delay"),) * 2 if middleware is not None else (None, None)
        given = argument(middleware, "default_delay", "#3")
        own = self.amount(self.option("delay"))
        number = DELAY if given == Known(None) else seconds(given.value) if isinstance(given, Known) else None
        delay = own or (Amount(number, "default_delay") if number is not None else None)
        if _truth(argument(middleware, "use_delay_exponent", "#5")) is not True:
            return delay, delay
        most = argument(middleware, "max_delay_exponent", "#6")
        cap = DELAY_MAX if most == Known(None) else seconds(most.value) if isinstance(most, Known) else None
        return delay, Amount(cap, "max_delay_exponent") if cap is not None else None

    def _of_retry(self, retry: Retry) -> Cause:
        said = self.option("retry_on_error")
        written = said.text if said.written else "default_retry_label=True"
        what = "these exceptions" if retry.on else "any exception"
        return Cause("retry", f"{written}: run again{times(retry.again)} on {what}", retry.site, retry.again)

    def _asked(self) -> Iterator[Cause]:
        for asked in self.asked():
            yield Cause("retry-call", "the task asks to be run again", asked.site)

    # --- Acknowledgement

    def _late(self, name: str) -> bool | None:
        """Whether the message is acknowledged after the run; False where the broker knows no acknowledgement."""
        if name in _WITHOUT_ACK or name in _BROADCASTS:
            return False
        said = self.option("ack_type")
        if isinstance(said.value, Unknown):
            return None
        text = said.value.value
        word = text.name if isinstance(text, Reference) else str(text or "")
        if word.lower() == "when_received":
            return False
        return True if name in _STREAMS | _JETSTREAMS | _RABBITMQ else None

    def _lease(self, name: str, broker: Made | None, said: Said) -> Amount | None:
        if broker is None:
            return None
        if name in _RABBITMQ:
            return Amount(CONSUMER_TIMEOUT, "RabbitMQ's default consumer_timeout")
        if name in _JETSTREAMS:
            return self._ack_wait(broker, said)
        if name not in _STREAMS:
            return None
        given = argument(broker, "idle_timeout")
        if given == Known(None):
            return Amount(IDLE_TIMEOUT / 1000, f"{name}'s default idle_timeout")
        number = seconds(given.value) if isinstance(given, Known) else None
        if number is None:
            self.unknown[f"idle_timeout: {_why(given)}"] = None
            return None
        return Amount(number / 1000, f"idle_timeout={number:.0f} (milliseconds)", said.site)

    def _ack_wait(self, broker: Made, said: Said) -> Amount | None:
        """How long NATS waits: nothing tells it meanwhile that a run is still going on."""
        config = argument(broker, "consumer_config")
        inside = config.made if isinstance(config, Unknown) else None
        wait = argument(inside, "ack_wait") if inside is not None else config
        if inside is not None and argument(inside, "backoff") != Known(None):
            wait = Unknown("backoff takes its place")
        if wait == Known(None):
            return Amount(ACK_WAIT, "NATS's default ack_wait")
        number = seconds(wait.value) if isinstance(wait, Known) else None
        if number is None:
            self.unknown[f"ack_wait: {_why(wait)}"] = None
            return None
        return Amount(number, f"ack_wait={number:g}", said.site)

    def _acknowledged(
        self, name: str, said: Said, late: bool | None, lease: Amount | None, limit: Amount | None
    ) -> Iterator[Cause]:
        if name in _BROADCASTS:
            yield Cause("broadcast", f"{name} hands each message to every worker", said.site)
            return
        if lease and limit and limit.seconds > lease.seconds:
            text = f"{lease.text}: handed to another worker after {lease} while a run may take {limit} ({limit.text})"
            yield Cause("lease", text, lease.site)
        elif lease and not limit:
            self.remarks.append(f"no timeout keeps a run below the {lease} after which another worker takes it over")
        if late:
            text = f"{name} keeps a message until its run has ended: it is run again when the worker dies"
            yield Cause("worker-lost", text, said.site)
            return
        if late is None:
            yield once("a broker that acknowledges after the run hands a message out again when the worker dies")
        elif name in _STREAMS | _JETSTREAMS | _RABBITMQ:
            ack = self.option("ack_type")
            if ack.written:
                yield once(f"{ack.text}: acknowledged before it runs, so only a second message runs again", ack)
            else:
                yield once("NATS hands each message out once, so only a second message runs again", said)
        else:
            yield once(f"{name} keeps nothing of a message it handed out: only one sent twice runs again", said)


def _at_most_once(broker: Made) -> bool:
    """Whether a JetStream broker was told to hand each message out only once."""
    config = argument(broker, "consumer_config")
    inside = config.made if isinstance(config, Unknown) else None
    if inside is None:
        return False
    policy = argument(inside, "ack_policy")
    unasked = isinstance(policy, Known) and isinstance(policy.value, Reference) and policy.value.name == "NONE"
    return unasked or argument(inside, "max_deliver") == Known(1)


def _middlewares(broker: Made) -> Iterator[Made]:
    """The retry middlewares that a broker was given, in order."""
    for step in broker.steps:
        if step.path.endswith(("with_middlewares", "add_middlewares")):
            for _, value in step.arguments:
                made = value.made if isinstance(value, Unknown) else None
                if made is not None and made.path.endswith(("SimpleRetryMiddleware", "SmartRetryMiddleware")):
                    yield made


def _why(value: Value) -> str:
    """Why a value is no length of time."""
    if isinstance(value, Unknown):
        return value.reason
    held: object = value.value
    return f"{held.path} is not known" if isinstance(held, Reference) else "no number"


def _truth(value: Value) -> bool | None:
    """A label's truth: its text counts, as it has been sent as one."""
    held = value.value if isinstance(value, Known) else None
    if isinstance(held, str):
        return held.lower() == "true"
    return held if isinstance(held, bool) else None
