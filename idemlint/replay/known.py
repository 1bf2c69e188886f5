"""One root: what is known of it, and what its effects stand in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from idemlint.catalog import Catalog
from idemlint.delivery import Delivery
from idemlint.domain.effect import Effect, exclusive
from idemlint.domain.guard import Coverage, Guards, coverage, inserted, looked_up
from idemlint.domain.summary import Loop, Summary, Transaction
from idemlint.orm import remedy
from idemlint.program import Model, Program, Site, Task


@dataclass(frozen=True, slots=True)
class Known:
    """One root and all that is known of it. `task` is None for a function that no queue runs; `delivery` is then None
    too. `reads` are the models that each task reads, by task id; `harmful` are the tasks whose repeat does harm,
    `unsafe` those and the ones that insert rows again; `deliveries` say why each task runs again; `keyed` are the calls
    of all tasks that carry a key, with their task, in the order of the code; `journals` are the models that only
    remember what was done."""

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

    @property
    def name(self) -> str:
        """The task as messages name it, or what runs beside it: `on_success of export`."""
        if self.task is None or self.summary.root.companion is None:
            return self.short_name
        beside = self.program.bodies[self.summary.root.body].function.partition(":")[2]
        return f"{beside.rpartition('.')[2]} of {self.short_name}"

    @property
    def short_name(self) -> str:
        """The name of the task's function."""
        return self.task.function.rpartition(".")[2] if self.task else ""

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

    def together(self, one: Effect, other: Effect) -> bool:
        """Whether two writes commit in one transaction."""
        return bool(one.transactions) and one.transactions[0] in other.transactions

    def transaction(self, effect: Effect) -> Transaction | None:
        """The outermost open transaction around an effect whose beginning and end are known."""
        if not effect.transactions:
            return None
        around = next((tx for tx in self.summary.transactions if tx.id == effect.transactions[0]), None)
        return around if around is not None and around.known else None

    def put_around(self, transaction: Transaction) -> bool:
        """Whether the class of the task puts a transaction around each run, whatever that does."""
        around = (self.program.bodies[key].function for key in self.summary.root.around)
        return transaction.frame.function in around

    def writes_beside(self, effect: Effect) -> bool:
        """Whether the run changes rows on the way to an effect or after it."""
        return any(other.changes_data and self.same_path(effect, other) for other in self.summary.effects)

    def transaction_text(self, effect: Effect) -> str:
        """How the outermost transaction of an effect is opened."""
        return next((tx.text for tx in self.summary.transactions if tx.id == effect.transactions[0]), "")

    def commit_of(self, effect: Effect) -> Site:
        """Where a write is committed: at the end of its transaction, at once without one."""
        around = self.transaction(effect)
        return effect.site if around is None else around.end or around.site

    def loops(self, effect: Effect) -> list[Loop]:
        """The loops around an effect, outermost first."""
        return [loop for loop in self.summary.loops if loop.id in effect.loops]

    def identity(self) -> str | None:
        """What tells the task's work from all other, as it stands in an f-string: `{order_id}` for the first parameter
        that ends in `id`, else the first one; of a consumer's message the id that it keeps."""
        if self.task is None:
            return None
        if self.task.intake is not None:
            return self.task.intake.key or None
        body = self.program.bodies[self.task.body]
        names = [parameter.name for parameter in body.parameters[1 if body.receiver else 0 :]]
        names = [name for name in names if not name.startswith("_")]
        named = next((name for name in names if name.endswith("id")), names[0] if names else None)
        return f"{{{named}}}" if named is not None else None
