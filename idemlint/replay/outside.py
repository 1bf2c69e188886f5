"""Effects outside the database: whether a call made twice changes the world twice, and in which words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from idemlint.catalog import Effect as Row
from idemlint.domain.effect import Effect
from idemlint.domain.guard import argument
from idemlint.domain.value import Value
from idemlint.replay.known import Known

WRITES = frozenset({"POST", "PATCH"})
SENT = frozenset({"message", "chat", "push"})
STORED = frozenset({"set", "cache"})
CALLED = frozenset({"payment", "provision", "http", "publish"})

LIFETIMES = frozenset({"expire", "pexpire", "expireat", "pexpireat"})
"""Calls that give a key of a store another lifetime."""


class Outside(Known):
    """What the calls of a run do."""

    __slots__ = ()

    def external(self) -> Iterator[Effect]:
        """Calls that change something outside and that a repeat does again."""
        for effect in self.summary.effects:
            if effect.kind == "external" and effect.row is not None and self.repeats(effect):
                yield effect

    def repeats(self, effect: Effect) -> bool:
        """Whether the call itself, made twice, leaves the outside world changed twice."""
        row = self.row(effect)
        if row is None or row.replay == "natural":
            return False
        if row.http is not None:
            if effect.verb not in WRITES:
                return False
            host = self.catalog.host(effect.url) if effect.url and not effect.url.startswith("{}") else None
            if host is not None and host.quiet:
                return False
            return not (self.catalog.harmless(effect.url) or self.catalog.reads(effect.frames[-1].name))
        return True

    def row(self, effect: Effect) -> Row | None:
        return effect.row

    def kind(self, effect: Effect) -> str:
        """The kind of an outside effect; a known host says more than the HTTP client."""
        host = self.catalog.host(effect.url) if effect.url and not effect.url.startswith("{}") else None
        return host.kind if host is not None else effect.row.kind if effect.row is not None else effect.kind

    def counter(self, effect: Effect) -> str:
        """The name of a number in a store, as far as it is written: the key and the field in it, or the update's
        text."""
        told = argument(effect, effect.row.target) if effect.row is not None else None
        given = dict(effect.arguments)
        texts = [given[name].text for name in ("#0", "name", "#1", "key") if name in given]
        if told is not None and told.text not in texts:
            texts.append(_spelled_out(told.text, given.values()))
        return " ".join(text for text in texts if text)

    def read_from(self, effect: Effect) -> tuple[Effect, str] | None:
        """The reading that a value is worked out from which is stored in the same place again, and what the part of it
        is called that counts."""
        row = effect.row
        place = argument(effect, row.target) if row is not None else None
        if place is None or self.kind(effect) not in STORED:
            return None
        for _, value in effect.arguments:
            read = self.summary.effects[value.tally[0]] if value.tally is not None else None
            if value.tally is None or read is None or read.row is None:
                continue
            before = argument(read, read.row.target)
            same = before is not None and (before.text, before.origins) == (place.text, place.origins)
            texts = {given.text for _, given in effect.arguments}
            within = all(given.text in texts for name, given in read.arguments if name == "#1" and given.text)
            if same and within and read.path.partition(".")[0] == effect.path.partition(".")[0]:
                return read, value.tally[1]
        return None

    def stakes(self, effect: Effect) -> str:
        host = self.catalog.host(effect.url) if effect.url and not effect.url.startswith("{}") else None
        if host is not None and host.stakes:
            return host.stakes
        return effect.row.stakes if effect.row is not None else "internal"

    def does(self, effect: Effect) -> str:
        """What the effect does, in the third person: "charges the card"."""
        return (effect.row.does if effect.row is not None else "") or "calls an outside service"

    def result(self, effect: Effect) -> str:
        if effect.row is None:
            return f"{', '.join(sorted(effect.written))} is changed twice"
        return effect.row.result or "the call is made twice"

    def does_words(self, effect: Effect) -> str:
        """What any effect does, in the third person."""
        if effect.row is not None:
            return self.does(effect)
        model = self.model(effect)
        title = model.title if model is not None else "row"
        return f"inserts {one(title)}" if effect.kind == "insert" else f"changes {', '.join(sorted(effect.written))}"

    def effect_words(self, effect: Effect) -> str:
        """An effect as a noun for messages."""
        if effect.row is not None:
            return f"it {self.does(effect)}"
        columns = ", ".join(sorted(effect.written))
        return f"it changes {columns}"

    def unheard(self, effect: Effect) -> bool:
        """Whether a generic HTTP call goes to an address nobody knows and its answer is not looked at."""
        if effect.row is None or effect.row.http is None or effect.answered:
            return False
        return not effect.url or effect.url.startswith("{}") or self.catalog.host(effect.url) is None

    def alerts(self, effect: Effect) -> bool:
        """Whether a message goes to the operators: one more does no harm."""
        return self.catalog.role(effect.path) == "alert"

    def ambiguous(self, exception: str) -> bool:
        """Whether an exception leaves it open if the call was carried out; a refusal does not."""
        row = self.catalog.exception(exception)
        return row is None or row.means != "refused"

    def deletes_key(self, effect: Effect) -> bool:
        """Whether a call removes a key from a store."""
        return effect.kind == "external" and effect.path.rpartition(".")[2] in ("delete", "unlink", "adelete")

    def emptied(self, effect: Effect) -> bool:
        """Whether the place that a call appends to was deleted before, on every way to it."""
        place = argument(effect, effect.row.target) if effect.row is not None else None
        return any(
            self.deletes_key(other) and other.facts <= effect.facts and same(dict(other.arguments).get("#0"), place)
            for other in self.summary.effects[: effect.id]
        )


def same(one: Value | None, other: Value | None) -> bool:
    """Whether two values are one text, as far as can be told."""
    if one is None or other is None or one.unknown or other.unknown:
        return False
    return one.origins == other.origins and one.text == other.text


def one(title: str) -> str:
    """A noun with its article: an Invoice, a Receipt, a row."""
    return f"{'an' if title[:1].lower() in tuple('aeiou') else 'a'} {title}"


def _spelled_out(text: str | None, given: Iterable[Value]) -> str | None:
    """The text of an update with the names put in that others stand for: `{"#n": "balance"}` for `ADD #n :amount`."""
    for value in given:
        for name, meant in value.entries or ():
            if text is not None and name.startswith("#") and meant.text is not None:
                text = meant.text.join(re.split(rf"{re.escape(name)}\b", text))
    return text
