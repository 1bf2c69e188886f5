"""django-q2: a task that failed, or whose worker is slow, is handed out again after `retry` seconds; a broker without
receipts forgets it.

After django_q/conf.py, worker.py, monitor.py and brokers/ of 1.11.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from idemlint.delivery.cause import Amount, Cause, Delivery, Retry, RetryCall
from idemlint.delivery.reader import Reader, once, times, whole
from idemlint.delivery.said import Said
from idemlint.diagnostic import Severity
from idemlint.link.values import Known, Value, lifted
from idemlint.program import Option, Setting, Task

FRAMEWORK = "django-q"

RETRY = 60.0
# A lease of this length is how people say that nothing is to run again.
FOR_EVER = 30 * 86_400.0

_WITH_RECEIPTS = {
    "iron_mq": "IronMQ",
    "sqs": "SQS",
    "orm": "the ORM broker",
    "mongo": "MongoDB",
    "disque_nodes": "Disque",
}


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
        asked = self._of_message("timeout")
        limit = self.amount(asked if asked.value != Known(None) else self.setting("Q_CLUSTER.timeout"))
        cluster = self.setting("Q_CLUSTER")
        if cluster.site is None:
            self.unknown["Q_CLUSTER: not found in the project's settings"] = None
            text = "a broker with receipts hands a task out again that fails or takes longer than `retry`"
            return self.delivery([once(text)], Severity.WARNING, limit=limit)
        if not isinstance(cluster.value, Known) or not isinstance(cluster.value.value, dict):
            text = "the cluster's settings are not known: some brokers hand a task out again that fails or takes long"
            return self.delivery([once(text, cluster)], Severity.WARNING, limit=limit)
        broker = self._broker()
        if broker is None:
            text = "the broker has no receipts: only a task sent twice runs again"
            return self.delivery([once(text, cluster)], Severity.NOTE, late=False, broker="Redis", limit=limit)
        lease = self._lease()
        return self._with_receipts(broker, lease, limit)

    def _of_message(self, name: str) -> Said:
        """What is said where the task is sent, alone or in a dict of options."""
        own = self.option(name)
        options = self.option("q_options")
        held = options.value.value if isinstance(options.value, Known) else None
        if own.written or not isinstance(held, dict) or name not in held:
            return own
        return Said(lifted(held[name], options.value.environment), f"{options.written}: {name}", options.site)

    def _broker(self) -> str | None:
        """The name of a broker that keeps a task until it is done with, None for one that does not."""
        if self.setting("Q_CLUSTER.broker_class").written:
            return "the project's own broker"
        return next((title for key, title in _WITH_RECEIPTS.items() if self.setting(f"Q_CLUSTER.{key}").written), None)

    def _lease(self) -> Amount | None:
        said = self.setting("Q_CLUSTER.retry")
        return self.amount(said) if said.written else Amount(RETRY, "the default retry")

    def _with_receipts(self, broker: str, lease: Amount | None, limit: Amount | None) -> Delivery:
        after = f"after {lease}" if lease is not None else "later"
        causes: list[Cause] = []
        retries: list[Retry] = []
        acked = self._of_message("ack_failure")
        acked = acked if acked.written else self.setting("Q_CLUSTER.ack_failures")
        practically_once = lease is not None and lease.seconds >= FOR_EVER
        again, endless = self._attempts()
        if self.flag(acked, False) is False and not self.swallows and not practically_once:
            retries.append(Retry("exception", (), (), again, endless, lease, lease, acked.site))
            said = acked.text if acked.written else "ack_failures=False, the default"
            text = f"{said}: a task that fails is run again {after}{times(again, endless)}"
            site = acked.site or self.setting("Q_CLUSTER.max_attempts").site or self.setting("Q_CLUSTER").site
            causes.append(Cause("retry", text, site, again, endless))
        if lease and limit and limit.seconds > lease.seconds:
            text = f"{lease.text}: started again after {lease} while a run may take {limit} ({limit.text})"
            causes.insert(0, Cause("lease", text, lease.site))
        elif lease and not limit:
            self.remarks.append(f"no timeout keeps a task below the {lease} after which it is started again")
        causes.append(
            Cause("worker-lost", f"{broker}: run again {after} when the worker dies", self.setting("Q_CLUSTER").site)
        )
        if practically_once:
            self.remarks.append(f"{lease and lease.text}: in practice nothing runs again")
        cap = Severity.WARNING if practically_once else Severity.ERROR
        return self.delivery(causes, cap, late=True, retries=retries, broker=broker, lease=lease, limit=limit)

    def _attempts(self) -> tuple[int | None, bool]:
        said = self.setting("Q_CLUSTER.max_attempts")
        count = 0 if said.value == Known(None) else whole(said.value)
        if count is None:
            return None, False
        return (max(count - 1, 0), False) if count else (None, True)
