"""The view that checks share: one task, what its run does, why it runs again, and how to tell the story of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from idemlint.catalog import Catalog
from idemlint.catalog import Effect as Row
from idemlint.delivery import Delivery
from idemlint.diagnostic import Confidence, Fix, Severity, StepKind
from idemlint.domain.effect import Effect, Key, exclusive
from idemlint.domain.guard import Coverage, Guard, Guards, Strength, coverage, inserted, looked_up
from idemlint.domain.summary import Summary, Transaction
from idemlint.domain.value import Value
from idemlint.program import Model, Program, Site, Task

WRITES = frozenset({"POST", "PATCH"})
SENT = frozenset({"message", "chat", "push"})
CALLED = frozenset({"payment", "provision", "http", "publish"})


@dataclass(frozen=True, slots=True)
class Mark:
    """A step of a story before its place is worked out. `{code}` in `text` becomes the code that stands at `site`."""

    kind: StepKind
    text: str
    site: Site | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check yields. `subject` is the effect it speaks of, by id: of several findings with one subject the
    precedence table picks (None: it competes with nobody). `capped` says that the task's delivery limits how loud it
    is. `about` is the function the finding stands in, for its fingerprint."""

    rule: str
    site: Site
    severity: Severity
    confidence: Confidence
    message: str
    steps: tuple[Mark, ...] = ()
    fix: Fix | None = None
    subject: int | None = None
    about: str = ""
    task: str | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    """One root. `task` is None for a function that no queue runs; `delivery` is then None too. `reads` are the models
    that each task reads, by task id."""

    program: Program
    catalog: Catalog
    summary: Summary
    task: Task | None
    delivery: Delivery | None
    project_scope: bool = False
    reads: Mapping[str, frozenset[str]] = field(default_factory=dict)
    guards: Guards = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "guards", Guards(self.summary, self.program.models))

    # --- what there is

    @property
    def name(self) -> str:
        """The task as messages name it."""
        return self.task.function.rpartition(".")[2] if self.task else ""

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
            return not (self.catalog.reads(_address(effect.url)) or self.catalog.reads(effect.frames[-1].name))
        return True

    def row(self, effect: Effect) -> Row | None:
        return effect.row

    def kind(self, effect: Effect) -> str:
        """The kind of an outside effect; a known host says more than the HTTP client."""
        host = self.catalog.host(effect.url) if effect.url and not effect.url.startswith("{}") else None
        return host.kind if host is not None else effect.row.kind if effect.row is not None else effect.kind

    def stakes(self, effect: Effect) -> str:
        host = self.catalog.host(effect.url) if effect.url and not effect.url.startswith("{}") else None
        if host is not None and host.stakes:
            return host.stakes
        return effect.row.stakes if effect.row is not None else "internal"

    def does(self, effect: Effect) -> str:
        """What the effect does, in the third person: "charges the card"."""
        return (effect.row.does if effect.row is not None else "") or "calls an outside service"

    def result(self, effect: Effect) -> str:
        return (effect.row.result if effect.row is not None else "") or "the call is made twice"

    def model(self, effect: Effect) -> Model | None:
        return self.program.models.get(effect.model)

    def coverage(self, effect: Effect) -> Coverage:
        """How a unique key stands to what an insert or look-up gives."""
        values = inserted(effect) if effect.kind == "insert" else looked_up(effect)
        return coverage(self.model(effect), values, effect.opaque)

    def same_path(self, one: Effect, other: Effect) -> bool:
        return not exclusive(one.address, other.address)

    def transaction(self, effect: Effect) -> Transaction | None:
        """The outermost open transaction around an effect."""
        if not effect.transactions:
            return None
        return next((tx for tx in self.summary.transactions if tx.id == effect.transactions[0]), None)

    # --- how loud

    def severity(self, default: Severity) -> Severity:
        """A rule's default as far as the task's delivery lets it be that loud."""
        return min(default, self.delivery.cap) if self.delivery is not None else default

    def confidence(self, effect: Effect) -> Confidence:
        """How sure the reading of an effect is: a call to an unknown address whose answer nobody looks at may be
        harmless, and a test that could not be followed may be a guard."""
        confidence = Confidence.HIGH
        if self.unheard(effect):
            return Confidence.LOW
        if any(guard.strength is Strength.POSSIBLE for guard in self.guards.of(effect)):
            confidence = confidence.lowered()
        return confidence

    def unheard(self, effect: Effect) -> bool:
        """Whether a generic HTTP call goes to an address nobody knows and its answer is not looked at."""
        if effect.row is None or effect.row.http is None or effect.answered:
            return False
        return not effect.url or effect.url.startswith("{}") or self.catalog.host(effect.url) is None

    def guard(self, effect: Effect) -> Guard | None:
        """The strongest guard of an effect, possible ones apart."""
        best = self.guards.best(effect)
        return best if best is not None and best.strength > Strength.POSSIBLE else None

    def guarded(self, effect: Effect, enough: Strength = Strength.CLAIM) -> bool:
        """Whether a guard of at least this strength stands before the effect. An expiring one has rules of its own."""
        guard = self.guard(effect)
        return guard is not None and (guard.strength >= enough or guard.strength is Strength.EXPIRING)

    def locked(self, effect: Effect) -> bool:
        """Whether a row lock is held to the end of the transaction that writes."""
        if effect.lock is not None and effect.lock in effect.transactions:
            return True
        return any(
            other.lock is not None and other.lock in effect.transactions
            for other in self.summary.effects[: effect.id]
            if other.kind in ("get", "first", "read", "get-or-insert")
        )

    def version_checked(self, effect: Effect) -> bool:
        """Optimistic locking: the update only hits a row that still has the value that was read."""
        return effect.kind == "update" and any(lookup.column in effect.written for lookup in effect.lookup)

    def follows_insert(self, effect: Effect) -> bool:
        """Whether a row hangs off one that this run inserted: it doubles because that one does."""
        return any(
            any(origin.kind == "fresh" for origin in write.value.origins)
            or (write.value.thing is not None and write.value.thing.fresh in ("new", "stored"))
            for write in effect.writes
        )

    def rebuilt(self, effect: Effect) -> bool:
        """Whether rows of the same model are deleted before they are inserted again."""
        return any(
            other.kind == "delete" and other.model == effect.model for other in self.summary.effects[: effect.id]
        )

    def alerts(self, effect: Effect) -> bool:
        """Whether a message goes to the operators: one more does no harm."""
        return self.catalog.role(effect.path) == "alert"

    @property
    def eager(self) -> bool:
        """Whether settings make every task run on the spot."""
        return any(
            setting.name == "task_always_eager" and setting.known and setting.value is True and not setting.ignored
            for setting in self.program.settings
        )

    def needed_row(self, effect: Effect) -> tuple[Effect, bool] | None:
        """The write, in the transaction still open, of a row that the task being sent is about; with it, whether an
        argument says so (else only that the task reads the model)."""
        outermost = effect.transactions[0]
        before = [
            other
            for other in self.summary.effects[: effect.id]
            if other.changes_data and outermost in other.transactions and self.same_path(other, effect)
        ]
        for other in before:
            if any(_about(value, other, self.model(other)) for _, value in effect.arguments):
                return other, True
        child = effect.enqueue.task if effect.enqueue is not None else None
        for other in before:
            if child is not None and other.model in self.reads.get(child, ()):
                return other, False
        return None

    def stable_argument(self) -> str | None:
        """The task's parameter that names its work best: the first that ends in `id`, else the first."""
        if self.task is None:
            return None
        body = self.program.bodies[self.task.body]
        names = [parameter.name for parameter in body.parameters[1 if body.receiver else 0 :]]
        names = [name for name in names if not name.startswith("_")]
        return next((name for name in names if name.endswith("id")), names[0] if names else None)

    def effect_with(self, key: Key) -> int | None:
        """The effect that carries a key, by id."""
        for effect in self.summary.effects:
            if effect.key is not None and (effect.key.site == key.site or effect.key.value is key.value):
                return effect.id
        return None

    # --- how it is told

    def again(self) -> Mark:
        """Why the task is delivered again."""
        if self.delivery is None or not self.delivery.causes:
            return Mark(StepKind.CAUSE, "its message is delivered again")
        cause = self.delivery.causes[0]
        return Mark(StepKind.CAUSE, cause.text, cause.site)

    def story(self, effect: Effect, result: str, cut: Mark | None = None) -> tuple[Mark, ...]:
        """Delivered again; first run; cut; again; result."""
        way = [Mark(StepKind.FIRST, "{code}", frame.site) for frame in effect.frames[:-1][:2]]
        stop = cut or self.cut(effect)
        return (
            self.again(),
            *way,
            Mark(StepKind.FIRST, "{code}", effect.site),
            stop,
            Mark(StepKind.AGAIN, "{code}", effect.site),
            Mark(StepKind.RESULT, result),
        )

    def cut(self, effect: Effect) -> Mark:
        """Where the first run may end after the effect: before the next thing it would have written or sent."""
        for later in self.summary.effects[effect.id + 1 :]:
            if later.kind in ("save", "update", "insert", "delete", "external", "enqueue") and self.same_path(effect, later):
                return Mark(StepKind.CUT, "before {code}", later.site)
        return Mark(StepKind.CUT, "before the message is acknowledged")

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


def _about(value: Value, written: Effect, model: Model | None) -> bool:
    """Whether a value is, or comes from, the row that was written."""
    if value.thing is not None and value.thing.id == written.thing:
        return True
    if value.column is not None and value.column[0] == written.thing:
        return True
    if model is not None and any(origin.kind == "fresh" and origin.detail.startswith(model.title) for origin in value.origins):
        return True
    if any(_about(item, written, model) for item in value.items or ()):
        return True
    named = [lookup.value for lookup in written.lookup if lookup.column in ("id", "pk") and lookup.operator == "exact"]
    return value.varies and not value.unknown and any(value.origins == known.origins for known in named)


def _address(url: str) -> str:
    """The path of an address, holes left out."""
    rest = url.partition("//")[2] or url
    return rest.partition("/")[2] if "//" in url else rest
