"""Relations asked from their other end: whether there is an invoice of this order."""

from __future__ import annotations

from idemlint.domain.value import Fact, Test, Value
from idemlint.program import Model, Site
from idemlint.summarize.conditions import Conditions


class Relations(Conditions):
    """The part of a walk that knows the ways back of relations."""

    def behind(self, model: Model, name: str) -> str:
        """The model whose rows point at one of this model and are reached by `name` there, or by a path of which that
        is the first part; "" where the name leads nowhere else."""
        if model.field(name) is not None:
            return ""
        found = self.program.related.get((model.name, name.partition("__")[0]))
        return found[0] if found is not None else ""

    def has(self, value: Value, name: str, site: Site) -> Test | None:
        """`hasattr(order, "invoice")`: whether there is a row at the other end of a relation to one row."""
        model = self.program.models.get(value.thing.model or "") if value.thing is not None else None
        if model is None or not self.program.related.get((model.name, name), ("", False))[1]:
            return None
        behind = self.behind(model, name)
        fact = Fact("exists", holds=True, model=behind, site=site)
        there, gone = frozenset({fact}), frozenset({Fact("exists", holds=False, model=behind, site=site)})
        return Test(there, gone) if behind else None
