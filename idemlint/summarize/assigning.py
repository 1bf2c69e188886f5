"""Assignment: names, attributes of rows, items of documents."""

from __future__ import annotations

from dataclasses import replace

from idemlint.domain.value import Object, Value, derived, united
from idemlint.summarize.documents import Documents
from idemlint.summarize.values import added_to
from idemlint.syntax import facts as f


class Assigning(Documents):
    """The part of a walk that binds."""

    def bind_target(self, target: f.Expr, value: Value, expr: f.Expr | None = None) -> None:
        match target:
            case f.Name(id=name):
                made = expr is not None and value.site is None and bool(value.unstable)
                self.here.env[name] = replace(value, site=self.site(expr.at)) if made and expr is not None else value
            case f.Starred(value=inner):
                self.bind_target(inner, Value(value.origins))
            case f.Display(items=items):
                for position, item in enumerate(items):
                    known = value.items if value.items is not None and len(value.items) == len(items) else None
                    self.bind_target(item, known[position] if known else Value(value.origins, effect=value.effect))
            case f.Attribute(base=base, name=name):
                holder = self.evaluate(base)
                if holder.thing is not None:
                    self.set_attribute(holder.thing, name, value, target, expr)
                elif holder.column is not None and (path := self.within(holder.column, name)):
                    self.assign(self.things[holder.column[0]], path, value, self.site(target.at))
                elif holder.made and self.content(base) is not None:
                    self.keep_as(target, value)
            case f.Subscript(base=base, index=index):
                self.set_item(base, index, value, target)

    def set_attribute(self, thing: Object, name: str, value: Value, target: f.Attribute, expr: f.Expr | None) -> None:
        model = self.program.models.get(thing.model or "")
        if model is None:
            self.assign(thing, name, value, self.site(target.at))
            return
        column = model.column(name)
        held = self.heap.get(thing.id, {}).get(column)
        if held is not None and value.column == (thing.id, column):
            # What was changed in place is put where it was: `history = row.history; ...; row.history = history`.
            step = held.from_itself
        else:
            step = self.from_itself(expr, value, model, column) if expr is not None else ""
        self.assign(thing, column, value, self.site(target.at), step)
        self.clean.get(thing.id, set()).discard(column)

    def set_item(self, base: f.Expr, index: f.Expr, value: Value, target: f.Expr) -> None:
        holder = self.evaluate(base)
        key = self.evaluate(index)
        if key.text is not None and "{}" not in key.text and self.catalog.is_key_name(key.text):
            self.use_key(key.text, value, target.at, "")
        self.put_at(base, key, replace(value, site=self.site(target.at)))
        if value.tally is not None and isinstance(base, f.Name):
            # `profile["coins"] += won`: what is stored next is what was read, with something added.
            self.here.env[base.id] = replace(self.here.env.get(base.id, holder), tally=(value.tally[0], key.text or ""))
        if holder.thing is not None and key.text is not None and self.is_document(holder.thing):
            counted = "arithmetic" if value.step == (holder.thing.id, key.text) else ""
            self.assign(holder.thing, key.text, value, self.site(target.at), counted)
        if holder.column is not None:
            thing = self.things.get(holder.column[0])
            if thing is not None and thing.model is not None:
                self.set_entry(thing, holder, key, value, target)

    def set_entry(self, thing: Object, holder: Value, key: Value, value: Value, target: f.Expr) -> None:
        """`row.totals["paid"] = ...`: what else stands in the column is written back as it was read, and the entry
        may be counted on from what it was."""
        assert holder.column is not None
        counts = value.step == holder.column and self.catalog.stakes_of(key.text or "") != "internal"
        held = self.heap.get(thing.id, {}).get(holder.column[1])
        if counts or held is None or not held.from_itself:
            kept = Value(holder.origins, column=holder.column)
            self.assign(thing, holder.column[1], kept, self.site(target.at), "tally" if counts else "item")

    def augment(self, statement: f.Augment) -> None:
        """`target += value`."""
        target = statement.target
        old = self.evaluate(target)
        added = self.evaluate(statement.value)
        text = None
        if statement.operator == "+" and (old.text is not None or added.text is not None):
            text = (old.text or "{}") + (added.text or "{}")
        step = old.column or old.step
        value = Value(derived([old, added]).origins, text=text, step=step, tally=added_to(old))
        if statement.operator == "|" and old.entries is not None and old.column is None:
            value = united(old, added)
        if isinstance(target, f.Attribute):
            holder = self.evaluate(target.base)
            if holder.thing is not None:
                model = self.program.models.get(holder.thing.model or "")
                column = model.column(target.name) if model is not None else target.name
                kind = "arithmetic" if step is not None and step[1] == column else ""
                self.assign(holder.thing, column, value, self.site(statement.at), kind)
                self.clean.get(holder.thing.id, set()).discard(column)
        elif isinstance(target, f.Name):
            self.here.env[target.id] = value if old.rows is None else old
        elif isinstance(target, f.Subscript):
            self.set_item(target.base, target.index, value, target)
