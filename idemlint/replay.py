"""The view that checks share: one task, what its run does, why it runs again, and how to tell the story of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from idemlint.catalog import Catalog
from idemlint.catalog import Effect as Row
from idemlint.catalog import Guard as GuardRow
from idemlint.delivery import Delivery, runs_at_once, sent_on_commit
from idemlint.diagnostic import Confidence, Fix, Severity, StepKind
from idemlint.domain.effect import Address, Effect, Key, exclusive
from idemlint.domain.guard import Coverage, Guard, Guards, Strength, argument, coverage, falsifies, inserted, looked_up
from idemlint.domain.summary import SESSION, Loop, Summary, Transaction
from idemlint.domain.value import Fact, Lookup, Value
from idemlint.orm import remedy
from idemlint.program import Model, Program, Site, Task

WRITES = frozenset({"POST", "PATCH"})
RENEWALS = frozenset({"extend", "reacquire", "renew"})
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
    that each task reads, by task id; `harmful` are the tasks whose repeat does harm, `unsafe` those and the ones that
    insert rows again; `deliveries` say why each task runs again; `keyed` are the calls of all tasks
    that carry a key, with their task, in the order of the code; `journals` are the models that only remember what was
    done."""

    program: Program
    catalog: Catalog
    summary: Summary
    task: Task | None
    delivery: Delivery | None
    project_scope: bool = False
    harmful: frozenset[str] = frozenset()
    unsafe: frozenset[str] = frozenset()
    deliveries: Mapping[str, Delivery] = field(default_factory=dict)
    keyed: tuple[tuple[str, Effect], ...] = ()
    journals: frozenset[str] = frozenset()
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
        if effect.row is None:
            return f"{', '.join(sorted(effect.written))} is changed twice"
        return effect.row.result or "the call is made twice"

    def model(self, effect: Effect) -> Model | None:
        return self.program.models.get(effect.model)

    def remedy(self, effect: Effect, name: str, **words: str) -> str:
        """What the data layer of an effect offers against a fault, in its own words."""
        model = self.model(effect)
        return remedy(
            model.layer if model is not None else "", name, model=model.title if model is not None else "", **words
        )

    def coverage(self, effect: Effect) -> Coverage:
        """How a unique key stands to what an insert or look-up gives."""
        values = inserted(effect) if effect.kind == "insert" else looked_up(effect)
        return coverage(self.model(effect), values, effect.opaque, effect.conflict_on)

    def same_path(self, one: Effect, other: Effect) -> bool:
        return not exclusive(one.address, other.address)

    def transaction(self, effect: Effect) -> Transaction | None:
        """The outermost open transaction around an effect whose beginning and end are known."""
        if not effect.transactions:
            return None
        around = next((tx for tx in self.summary.transactions if tx.id == effect.transactions[0]), None)
        return around if around is not None and around.known else None

    # --- how loud

    def severity(self, default: Severity) -> Severity:
        """A rule's default as far as the task's delivery lets it be that loud."""
        return min(default, self.delivery.cap) if self.delivery is not None else default

    def confidence(self, effect: Effect) -> Confidence:
        """How sure the reading of an effect is: a call to an unknown address whose answer nobody looks at may be
        harmless, and a test that could not be followed may be a guard."""
        confidence = Confidence.HIGH
        if self.unheard(effect) or self.unread(effect):
            return Confidence.LOW
        if effect.indirect:
            confidence = confidence.lowered()
        if any(guard.strength is Strength.POSSIBLE for guard in self.guards.of(effect)):
            confidence = confidence.lowered()
        return confidence

    def unread(self, effect: Effect) -> bool:
        """Whether a document could not be read that selects rows and may say which of them are done already."""
        model = self.model(effect)
        return effect.opaque and model is not None and model.open and effect.kind in ("update", "upsert")

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
        """Whether a guard of at least this strength stands before the effect. An expiring one and a mutual exclusion
        have rules of their own."""
        if self.undone(effect):
            return True
        guard = self.guard(effect)
        return guard is not None and (guard.strength >= enough or guard.strength in (Strength.EXPIRING, Strength.MUTEX))

    def undone(self, effect: Effect) -> bool:
        """Whether a repeat of a write is rolled back: an insert in its transaction, on every way that the write is on,
        hits a unique key, and nobody inside the transaction handles that."""
        if not effect.changes_data or not effect.transactions:
            return False
        for other in self.summary.effects:
            if other.kind != "insert" or other.conflict or other.id == effect.id or not self.together(effect, other):
                continue
            inside = _inside(other.address, effect.transactions[0])
            if any(node[0] in ("arm", "loop", "handler") and node not in effect.address for node in inside):
                continue
            # A session whose insert fails has lost its whole transaction, unless that stands in a savepoint.
            contained = other.transactions != effect.transactions[: len(other.transactions)]
            block = self.transaction_text(other) != SESSION
            if any(node[0] == "try" for node in inside) and (block or contained):
                continue
            if self.coverage(other).key is not None and not other.unsure:
                return True
        return False

    def transaction_text(self, effect: Effect) -> str:
        """How the outermost transaction of an effect is opened."""
        return next((tx.text for tx in self.summary.transactions if tx.id == effect.transactions[0]), "")

    def locked(self, effect: Effect) -> bool:
        """Whether a row lock is held to the end of the transaction that writes, or a lock that all workers see."""
        if any(self.excludes(fact) for fact in effect.facts):
            return True
        if effect.lock is not None and effect.lock in effect.transactions:
            return True
        return any(
            other.lock is not None and other.lock in effect.transactions
            for other in self.summary.effects[: effect.id]
            if other.kind in ("get", "first", "read", "get-or-insert")
        )

    def excludes(self, fact: Fact) -> bool:
        """Whether a fact says that a lock is held which other processes respect."""
        if fact.kind not in ("lock", "claim") or not 0 <= fact.subject < len(self.summary.effects):
            return False
        taken = self.summary.effects[fact.subject]
        if taken.guard is None or taken.guard.scope == "process":
            return False
        return fact.kind == "lock" or self.released(taken) is not None

    def version_checked(self, effect: Effect) -> bool:
        """Optimistic locking: the update only hits a row that still has the value that was read."""
        exact = any(
            lookup.operator == "exact" and not lookup.excluded and lookup.column in effect.written
            for lookup in effect.lookup
        )
        return effect.kind in ("update", "upsert") and (exact or falsifies(effect.lookup, effect))

    def follows_insert(self, effect: Effect) -> bool:
        """Whether a row hangs off one that this run inserted: it doubles because that one does, and no other run looks
        for it."""
        values = [write.value for write in effect.writes]
        values += [lookup.value for lookup in effect.lookup if lookup.operator == "exact" and not lookup.excluded]
        return any(
            any(origin.kind == "fresh" for origin in value.origins)
            or (value.thing is not None and value.thing.fresh in ("new", "stored"))
            for value in values
        )

    def rebuilt(self, effect: Effect) -> bool:
        """Whether rows of the same model are deleted before they are inserted again."""
        return any(
            other.kind == "delete" and other.model == effect.model for other in self.summary.effects[: effect.id]
        )

    def unsafe_to_repeat(self) -> Iterator[Effect]:
        """Effects that must happen once, whatever guards them."""
        for effect in self.summary.effects:
            if effect.in_handler:
                continue
            if effect.kind == "external":
                once = self.kind(effect) in CALLED | SENT | {"append", "increment"} and self.repeats(effect)
                if once and (effect.key is None or effect.key.value.unstable) and not self.alerts(effect):
                    yield effect
            elif effect.changes_data and self.doubles(effect):
                yield effect

    def on_task_id(self, mark: Effect) -> bool:
        """Whether a mark's key holds the id that the task keeps when it is delivered again."""
        key = argument(mark, mark.guard.key) if mark.guard is not None else None
        return key is not None and any(origin.kind == "task-id" for origin in key.origins)

    def does_words(self, effect: Effect) -> str:
        """What any effect does, in the third person."""
        if effect.row is not None:
            return self.does(effect)
        model = self.model(effect)
        title = model.title if model is not None else "row"
        return f"inserts {one(title)}" if effect.kind == "insert" else f"changes {', '.join(sorted(effect.written))}"

    def lifetime(self, lock: Effect) -> float | None:
        """How many seconds a lock lasts, where that is written as a number; None where it is renewed or not told."""
        if lock.guard is None or lock.guard.expires == "never" or self.renewed(lock):
            return None
        given = argument(lock, lock.guard.expiry)
        value = given.literal[0] if given is not None and given.literal is not None else None
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def renewed(self, lock: Effect) -> bool:
        """Whether the lock is kept alive while its holder works (`auto_renewal=True`, `lock.extend(60)`)."""
        if any("renew" in name and value.literal == (True,) for name, value in lock.arguments):
            return True
        return any(later.path.rpartition(".")[2] in RENEWALS for later in self.summary.effects[lock.id + 1 :])

    def under(self, lock: Effect) -> Iterator[Effect]:
        """Effects that happen while a lock is held."""
        for effect in self.summary.effects:
            if any(fact.kind in ("lock", "claim") and fact.subject == lock.id for fact in effect.facts):
                yield effect

    def released(self, taken: Effect) -> Effect | None:
        """The call that deletes the mark which another one has set, when the work is done: it is a lock then. A mark
        that is taken back on an error only stays one."""
        key = argument(taken, taken.guard.key) if taken.guard is not None else None
        if taken.guard is None or taken.guard.guard != "claim":
            return None
        for later in self.summary.effects[taken.id + 1 :]:
            at_one_store = later.path.rpartition(".")[0] == taken.path.rpartition(".")[0]
            if self.deletes_key(later) and at_one_store and not later.in_handler:
                if same(dict(later.arguments).get("#0"), key):
                    return later
        return None

    def overlaps(self, effect: Effect) -> bool:
        """Whether two runs at an effect together repeat or overwrite something."""
        if effect.kind == "external":
            return self.repeats(effect) and self.kind(effect) in CALLED | SENT | {"append", "increment"}
        return effect.changes_data and not self.version_checked(effect) and effect.kind != "link"

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

    def tested_between(self, taken: Effect, later: Effect) -> bool:
        """Whether another test than that of the taking itself decides about a later effect."""
        own = sum(fact.kind == "claim" and fact.subject == taken.id for fact in later.facts)
        arms = [sum(node[0] == "arm" for node in effect.address) for effect in (taken, later)]
        return arms[1] - arms[0] > own

    def claim(self, number: int) -> Effect | None:
        """The effect of this number, if it lets only one run pass."""
        by = self.summary.effects[number] if number < len(self.summary.effects) else None
        if by is None or by.kind == "update":
            return by if by is not None and falsifies(by.lookup, by) else None
        return by if by.guard is not None or self.coverage(by).key is not None else None

    def journal_mark(self, effect: Effect) -> Effect | None:
        """The entry in a journal that decides whether an effect happens."""
        for guard in self.guards.of(effect):
            by = guard.by
            if by is not None and by.model in self.journals and by.kind in ("insert", "get-or-insert"):
                return by
        return None

    def together(self, one: Effect, other: Effect) -> bool:
        """Whether two writes commit in one transaction."""
        return bool(one.transactions) and one.transactions[0] in other.transactions

    def commit_of(self, effect: Effect) -> Site:
        """Where a write is committed: at the end of its transaction, at once without one."""
        around = self.transaction(effect)
        return effect.site if around is None else around.end or around.site

    def cleared_before(self, effect: Effect) -> Effect | None:
        """The delete of the very rows that are inserted again: it shares a column with the insert."""
        columns = {write.column for write in effect.writes}
        for other in self.summary.effects[: effect.id]:
            if other.kind == "delete" and other.model == effect.model and self.same_path(other, effect):
                if any(lookup.column in columns for lookup in other.lookup) or (effect.many and effect.opaque):
                    return other
        return None

    def absence_test(self, effect: Effect) -> Site | None:
        """The test before an insert that such rows are not there yet."""
        for fact in effect.facts:
            if fact.kind == "exists" and not fact.holds and fact.model == effect.model and fact.site is not None:
                asked = self.summary.effects[fact.subject].lookup if fact.subject >= 0 else ()
                if not _other_rows(asked, effect):
                    return fact.site
        return None

    def handles_conflict(self, effect: Effect) -> bool:
        """Whether a `try` around an insert goes on after an integrity error, or after anything."""
        conflicts = [path for path, row in self.catalog.tables.exceptions.items() if row.means == "conflict"]
        caught = {"", "?", "builtins.Exception", "builtins.BaseException"}
        caught.update(name for path in conflicts for name in self.catalog.ancestors(path))
        return any(name in caught or self.catalog.canonical(name) in caught for name in effect.handled)

    def numeric(self, effect: Effect, column: str) -> bool:
        """Whether a column counts something; one nobody knows is taken to."""
        model = self.model(effect)
        field = model.field(column) if model is not None else None
        return field is None or field.kind in ("number", "money", "other")

    def loops(self, effect: Effect) -> list[Loop]:
        """The loops around an effect, outermost first."""
        return [loop for loop in self.summary.loops if loop.id in effect.loops]

    def repeated(self) -> Iterator[Effect]:
        """Effects that a second run does again and that hurt somebody."""
        for effect in self.summary.effects:
            if effect.in_handler or self.guarded(effect):
                continue
            if effect.kind == "external" and self.kind(effect) in CALLED | SENT and self.repeats(effect):
                if (effect.key is None or effect.key.value.unstable) and not self.alerts(effect):
                    yield effect
            elif self.counts_again(effect):
                yield effect

    def does_harm(self) -> bool:
        """Whether a second run hurts somebody or inserts rows that are there already."""
        inserts = (effect for effect in self.summary.effects if effect.kind == "insert" and not effect.in_handler)
        doubled = (effect for effect in inserts if not self.guarded(effect, Strength.STATE) and self.doubles(effect))
        return any(self.repeated()) or any(doubled)

    def steps(self) -> Iterator[Effect]:
        """Outside effects that can fail or be cut."""
        for effect in self.summary.effects:
            if effect.kind == "external" and self.kind(effect) in CALLED | SENT and self.repeats(effect):
                if not effect.in_handler and not self.alerts(effect):
                    yield effect

    def doubles(self, effect: Effect) -> bool:
        """Whether two runs that both get here leave something doubled in the database or the queue."""
        if effect.kind == "enqueue":
            return effect.enqueue is not None and effect.enqueue.task in self.harmful
        if effect.kind == "insert":
            found = self.coverage(effect)
            model = self.model(effect)
            named = model is not None and self.catalog.one_row_per_run(model.title)
            rebuilt = self.cleared_before(effect) is not None
            return not (found.key or found.doubtful or rebuilt or named or self.follows_insert(effect))
        return self.counts_again(effect)

    def counts_again(self, effect: Effect) -> bool:
        """Whether a write changes a number that matters by an amount, each time that it is made."""
        counted = any(
            write.from_itself == "expression" and self.catalog.stakes_of(write.column) != "internal"
            for write in effect.writes
        )
        return counted and not self.version_checked(effect)

    def ambiguous(self, exception: str) -> bool:
        """Whether an exception leaves it open if the call was carried out; a refusal does not."""
        row = self.catalog.exception(exception)
        return row is None or row.means != "refused"

    def effect_words(self, effect: Effect) -> str:
        """An effect as a noun for messages."""
        if effect.row is not None:
            return f"it {self.does(effect)}"
        columns = ", ".join(sorted(effect.written))
        return f"it changes {columns}"

    def constant_in_loop(self, effect: Effect, key: Value) -> bool:
        """Whether a key does not hang on the items of the loop that the call stands in."""
        for loop in self.loops(effect):
            kinds = {origin.kind for origin in loop.origins}
            if not loop.items or not kinds or kinds & {"constant", "unknown"}:
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

    def alerts(self, effect: Effect) -> bool:
        """Whether a message goes to the operators: one more does no harm."""
        return self.catalog.role(effect.path) == "alert"

    def waits_for_commit(self, effect: Effect) -> bool:
        """Whether a task that is sent cannot run before the transaction around it commits, as far as is known: its
        message is held back, or nobody but the sender runs it."""
        call = effect.enqueue
        if call is None or runs_at_once(call.framework, self.program.settings):
            return True
        if call.commit != "configured":
            return call.commit == "deferred"
        return sent_on_commit(call.framework, self.program.settings, self.program.versions) is not False

    def lease_of(self, framework: str) -> Delivery | None:
        """How a task of this framework that is not known is delivered: as the one with the shortest lease."""
        tasks = self.program.tasks
        same = [delivery for id, delivery in self.deliveries.items() if tasks[id].framework == framework]
        leased = [(delivery.lease.seconds, index) for index, delivery in enumerate(same) if delivery.lease is not None]
        return same[min(leased)[1]] if len(leased) == len(same) > 0 else None

    def only_enqueued_once(self, effect: Effect) -> bool:
        """Whether a message is dropped while an equal one waits."""
        call = effect.enqueue
        names = self.catalog.framework(call.framework).unique if call is not None else ()
        task = self.program.tasks.get(call.task or "") if call is not None else None
        options = {name for name, _ in call.options} if call is not None else set()
        declared = {option.name for option in task.options} if task is not None else set()
        return bool((options | declared) & set(names)) or (task is not None and self.enqueue_guard(task) is not None)

    def enqueue_guard(self, task: Task) -> GuardRow | None:
        """The base of a task that drops a second copy while the first waits or runs."""
        rows = (self.catalog.guard(path) for path in task.library)
        return next((row for row in rows if row is not None and row.guard == "enqueue"), None)

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
        """Where the first run may end after the effect: before the next thing it would have written or sent. Nobody
        brings back a message that was acknowledged before the run, unless a retry does: it comes a second time."""
        once = self.delivery is not None and self.delivery.late_ack is False
        if once and self.delivery is not None and not self.delivery.retries:
            return Mark(StepKind.CUT, "the run ends, then the message comes once more")
        for later in self.summary.effects[effect.id + 1 :]:
            if later.kind in ("save", "update", "insert", "delete", "external", "enqueue") and self.same_path(
                effect, later
            ):
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


def one(title: str) -> str:
    """A noun with its article: an Invoice, a Receipt, a row."""
    return f"{'an' if title[:1].lower() in tuple('aeiou') else 'a'} {title}"


def _about(value: Value, written: Effect, model: Model | None) -> bool:
    """Whether a value is, or comes from, the row that was written."""
    if value.thing is not None and value.thing.id == written.thing:
        return True
    if value.column is not None and value.column[0] == written.thing:
        return True
    if model is not None and any(
        origin.kind == "fresh" and origin.detail.startswith(model.title) for origin in value.origins
    ):
        return True
    if any(_about(item, written, model) for item in value.items or ()):
        return True
    named = [lookup.value for lookup in written.lookup if lookup.column in ("id", "pk") and lookup.operator == "exact"]
    return value.varies and not value.unknown and any(value.origins == known.origins for known in named)


def same(one: Value | None, other: Value | None) -> bool:
    """Whether two values are one text, as far as can be told."""
    if one is None or other is None or one.unknown or other.unknown:
        return False
    return one.origins == other.origins and one.text == other.text


def _other_rows(asked: tuple[Lookup, ...], inserted: Effect) -> bool:
    """Whether a query looks for rows that an inserted one cannot be among."""
    given = {write.column: write.value.literal for write in inserted.writes}
    return any(
        condition.operator == "exact"
        and condition.value.literal is not None
        and given.get(condition.column) is not None
        and (condition.value.literal != given[condition.column]) != condition.excluded
        for condition in asked
    )


def _inside(address: Address, transaction: int) -> Address:
    """The part of an address inside a transaction: behind its block or, where it has none, behind all that came before
    it was opened."""
    opened = ("tx", transaction)
    if opened in address:
        return address[address.index(opened) + 1 :]
    return tuple(node for node in address if node[1] > transaction)


def _address(url: str) -> str:
    """The path of an address, holes left out."""
    rest = url.partition("//")[2] or url
    return rest.partition("/")[2] if "//" in url else rest
