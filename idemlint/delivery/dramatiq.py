"""Dramatiq: every exception is retried, twenty times unless somebody says otherwise, and a message is kept until its
run has ended.

After dramatiq/middleware/retries.py, time_limit.py, worker.py and brokers/ of 1.17 to 2.2, django_dramatiq/apps.py of
0.15.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from idemlint.delivery.cause import Amount, Cause, Delivery, Retry, RetryCall
from idemlint.delivery.reader import NOTHING, Reader, argument, made_of, paths, times, whole
from idemlint.delivery.said import Said
from idemlint.diagnostic import Severity
from idemlint.link.values import Known, Made, Unknown, Value, seconds
from idemlint.program import Option, Setting, Task

FRAMEWORK = "dramatiq"

MAX_RETRIES = 20
MIN_BACKOFF = 15_000
MAX_BACKOFF = 604_800_000
TIME_LIMIT = 600_000
CONSUMER_TIMEOUT = 1800.0

_MILLISECONDS = 0.001

_DEFAULTS = {
    "max_retries": MAX_RETRIES,
    "min_backoff": MIN_BACKOFF,
    "max_backoff": MAX_BACKOFF,
    "time_limit": TIME_LIMIT,
}


def deliver(
    task: Task,
    settings: Sequence[Setting],
    evaluate: Callable[[Option], Value],
    version: tuple[int, ...] | None = None,
    retried: Sequence[RetryCall] = (),
    swallows: bool = False,
) -> Delivery:
    """Why and when the actor runs again; arguments as for `delivery.deliver`."""
    return _Reader(task, settings, evaluate, version, retried, swallows).all()


class _Reader(Reader):
    def all(self) -> Delivery:
        """Everything together."""
        broker = self._broker()
        limit = self._milliseconds("time_limit", "TimeLimit", TIME_LIMIT)
        lease = Amount(CONSUMER_TIMEOUT, "RabbitMQ's default consumer_timeout") if broker == "RabbitMQ" else None
        retry = None if self.swallows else self._retry()
        causes = []
        if retry is not None:
            causes.append(self._of_retry(retry))
        for asked in self.asked():
            causes.append(Cause("retry-call", "dramatiq.Retry: sent again with the same message id", asked.site))
        if lease and limit and limit.seconds > lease.seconds:
            text = f"{lease.text}: handed out again after {lease} while a run may take {limit} ({limit.text})"
            causes.append(Cause("lease", text, limit.site))
        name = broker or "the broker"
        causes.append(
            Cause("worker-lost", f"{name} keeps a message until its run has ended: redelivered when the worker dies")
        )
        if broker == "RabbitMQ":
            text = "a lost connection hands the message to another worker while the first run goes on"
            causes.append(Cause("connection-lost", text))
        retries = [*([retry] if retry else []), *self.asked()]
        return self.delivery(
            causes, Severity.ERROR, late=True, retries=retries, broker=broker, lease=lease, limit=limit
        )

    # --- The broker and its middleware

    def _made(self) -> Made | None:
        return made_of(self.setting("broker"))

    def _broker(self) -> str:
        made = self._made()
        named = self.setting("DRAMATIQ_BROKER.BROKER").value
        path = (
            made.first.path
            if made is not None
            else str(named.value)
            if isinstance(named, Known) and named.value
            else ""
        )
        word = path.rpartition(".")[2].lower()
        if not word and not self.setting("broker").written and not self.setting("DRAMATIQ_BROKER.BROKER").written:
            self.unknown["broker: not set in the project"] = None
        return "RabbitMQ" if "rabbitmq" in word else "Redis" if "redis" in word else ""

    def _middleware(self, name: str) -> Made | bool | None:
        """The middleware of this name: how it was made, True where it is there with its defaults, False where a list
        leaves it out, None if nobody says."""
        made = self._made()
        lists = [argument(step, "middleware") for step in made.steps] if made is not None else []
        held = next((value.value for value in lists if isinstance(value, Known) and value.value is not None), None)
        added = [value for step in (made.steps if made else ()) for _, value in step.arguments]
        for value in [*(held if isinstance(held, list | tuple) else []), *added]:
            found = value.made if isinstance(value, Unknown) else None
            if found is not None and found.path.rpartition(".")[2] == name:
                return found
        if isinstance(held, list | tuple):
            return False
        configured = self.setting("DRAMATIQ_BROKER.MIDDLEWARE").value
        names = configured.value if isinstance(configured, Known) else None
        if isinstance(names, list | tuple) and all(isinstance(each, str) for each in names):
            return any(str(each).rpartition(".")[2] == name for each in names)
        return None

    def _option(self, option: str, middleware: str) -> Said:
        """What the actor or the middleware says, or a message that asks for more; None where the default holds."""
        sent = {each.site for each in self.task.options if each.source == "message"}
        own = next((said for said in self.options(option) if said.site not in sent), NOTHING)
        made = self._middleware(middleware)
        if not own.written and isinstance(made, Made) and made.get(option) is not None:
            own = Said(argument(made, option), f"{middleware}({option}", self.setting("broker").site)
        # Other messages of the actor may say nothing.
        usual = own.value if own.written else Known(_DEFAULTS.get(option))
        asking = [said for said in self.options(option) if said.site in sent and _more(said.value, usual)]
        return asking[0] if asking else own

    def _milliseconds(self, option: str, middleware: str, default: float) -> Amount | None:
        said = self._option(option, middleware)
        if said.written:
            return self.amount(said, _MILLISECONDS, " (milliseconds)")
        if self._middleware(middleware) is False:
            return None
        return Amount(default * _MILLISECONDS, f"the default {option}")

    # --- Retries

    def _retry(self) -> Retry | None:
        if self._middleware("Retries") is False:
            return None
        said = self._option("max_retries", "Retries")
        again, endless = whole(said.value), False
        if not said.written:
            again = MAX_RETRIES
        elif said.value == Known(None):
            endless = True
        if self._option("retry_when", "Retries").written:
            again, endless = None, False
            self.unknown["retry_when: what it answers is not known"] = None
        if again == 0:
            return None
        unless = paths(self.option("throws").value)
        delay = self._milliseconds("min_backoff", "Retries", MIN_BACKOFF)
        longest = self._milliseconds("max_backoff", "Retries", MAX_BACKOFF)
        if delay and longest and again is not None:
            longest = min(longest, Amount(delay.seconds * 2 ** min(again, 40), longest.text, longest.site), key=_length)
        return Retry("exception", (), unless, again, endless, delay, longest, said.site)

    def _of_retry(self, retry: Retry) -> Cause:
        said = self._option("max_retries", "Retries")
        written = f"{said.text}{')' if '(' in said.written else ''}" if said.written else "Dramatiq's default"
        but = " but those in `throws`" if retry.unless else ""
        text = f"{written}: run again{times(retry.again, retry.endless)} on any exception{but}"
        return Cause("retry", text, retry.site, retry.again, retry.endless)


def _more(value: Value, than: Value) -> bool:
    """Whether a value is greater than another one, None being without end."""
    if not isinstance(value, Known) or not isinstance(than, Known) or than.value is None:
        return False
    number, usual = seconds(value.value), seconds(than.value)
    return value.value is None or (number is not None and usual is not None and number > usual)


def _length(amount: Amount) -> float:
    return amount.seconds
