"""What lists, sets and dicts hold that the code fills by itself, and the headers of the clients it makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from idemlint.domain.value import Rows, Test, Value, origins_of, united
from idemlint.summarize.given import Given
from idemlint.summarize.messages import Messages
from idemlint.summarize.values import lacking
from idemlint.syntax import facts as f

ITEMS = 16
"""A list is followed up to so many elements that the code adds by name."""

PUTS = frozenset("add append appendleft extend insert setdefault update".split())
"""Methods that put their arguments into what they are called on."""

_ENTRIES = frozenset({"setdefault", "update"})


class Holding(Messages):
    """The part of a walk that remembers what was put into a container."""

    def put_into(self, base: f.Expr, method: str, given: Given) -> None:
        """`rows.append(row)`, `headers.update(more)`, `orders[customer].add(order)`."""
        added = [*given.all(), *([self.evaluate_quietly(base.index)] if isinstance(base, f.Subscript) else ())]
        held, whole = self.container(base)
        if held is None or not given.all():
            return
        if method == "add" and isinstance(base, f.Name) and self.gathered(base, held, given.all()[0]):
            return
        if whole and method in _ENTRIES and held.entries is not None:
            self.keep_as(base, _with_entries(held, method, given))
        elif method in ("append", "extend", "add") and whole and held.items is not None:
            if len(held.items) < ITEMS:
                more = (added[0].items or ()) if method == "extend" else (added[0],)
                origins = origins_of((held, *more)) if held.items else origins_of(more)
                items = (*held.items, *more)[:ITEMS]
                self.keep_as(base, replace(held, items=items, origins=origins, test=self.picked(held, more)))
        else:
            self.keep_as(base, _mixed(held, added))

    def put_at(self, base: f.Expr, key: Value, value: Value) -> None:
        """`headers[name] = value`, `orders[customer] += 1`."""
        held, whole = self.container(base)
        if held is None:
            return
        name = key.text if key.text is not None and "{}" not in key.text else None
        if whole and held.entries is not None and name is not None:
            self.keep_as(base, _with_entry(held, name, value))
        elif not isinstance(base, f.Name) or not self.gathered(base, held, value if value.thing is not None else key):
            hidden = whole and held.entries is not None
            self.keep_as(base, replace(_mixed(held, (key, value)), partial=held.partial or hidden))

    def picked(self, held: Value, more: Sequence[Value]) -> Test | None:
        """That there are no rows yet such as all those which a list holds."""
        models = {value.thing.model for value in more if value.thing is not None}
        none_yet = frozenset(
            fact for fact in self.facts if fact.kind == "exists" and not fact.holds and fact.model in models
        )
        found = none_yet & lacking(held) if held.items else none_yet
        return Test(found) if found else None

    def gathered(self, base: f.Name, held: Value, added: Value) -> bool:
        """Whether a container is now one of things of rows that were read (`seen.add(line.sku)`, `by_sku[line.sku] =
        line`), which is asked what is in it as the table would be."""
        thing = self.things.get(added.column[0]) if added.column is not None else added.thing
        if held.varies or thing is None or not thing.each or thing.model is None:
            return False
        rows = Rows(thing.model, thing.lookup, values=True)
        self.here.env[base.id] = replace(held, rows=rows, origins=origins_of((held, added)))
        return True

    def container(self, base: f.Expr) -> tuple[Value | None, bool]:
        """The container that an expression stands for or is a part of (`orders.setdefault(customer, [])`), and whether
        it is the container itself."""
        match base:
            case f.Name(id=name):
                held = self.here.env.get(name)
                plain = held is not None and held.thing is None and held.rows is None and not held.made
                return (held if plain and held is not None and held.column is None else None), True
            case (
                f.Subscript(base=inner) | f.Call(function=f.Attribute(base=inner, name=("get" | "pop" | "setdefault")))
            ):
                return self.container(inner)[0], False
            case f.Attribute(base=inner, name=part):
                whole = self.content(inner)
                if whole is not None and whole.made:
                    return whole.entry(part) or Value(origins_of(()), entries=()), True
                held = self.content(base)
                plain = held is not None and held.thing is None and held.rows is None and held.column is None
                return (held if plain and held is not None and not held.made else None), True
        return None, False

    def content(self, place: f.Expr) -> Value | None:
        """What a name or an attribute of an object of the project holds (`self.headers`), without a call."""
        match place:
            case f.Name(id=name):
                return self.here.env.get(name)
            case f.Attribute(base=inner, name=part):
                whole = self.content(inner)
                if whole is not None and whole.thing is not None and whole.thing.model is None:
                    written = self.heap.get(whole.thing.id, {}).get(part)
                    return written.value if written is not None else None
        return None

    def keep_as(self, base: f.Expr, value: Value) -> None:
        match base:
            case f.Name(id=name):
                self.here.env[name] = value
            case f.Subscript(base=inner) | f.Call(function=f.Attribute(base=inner)):
                self.keep_as(inner, value)
            case f.Attribute(base=inner, name=part):
                whole = self.content(inner)
                if whole is not None and whole.made:
                    entries = {**dict(whole.entries or ()), part: value}
                    self.keep_as(inner, replace(whole, entries=tuple(entries.items())))
                elif whole is not None and whole.thing is not None:
                    self.assign(whole.thing, part, value, self.site(base.at))


def _mixed(held: Value, added: Sequence[Value]) -> Value:
    """A container that holds more than before, nobody knows where in it."""
    return replace(held, origins=origins_of((held, *added)))


def _with_entries(held: Value, method: str, given: Given) -> Value:
    if method == "setdefault":
        name = given.positional[0].text if given.positional else None
        if name is None or "{}" in name:
            return replace(_mixed(held, given.all()), partial=True)
        if held.entry(name) is not None or len(given.positional) < 2:
            return held
        return _with_entry(held, name, given.positional[1])
    named = Value(origins_of(given.keywords.values()), entries=tuple(given.keywords.items()))
    return reduce(united, (*given.positional[:1], named), held)


def _with_entry(held: Value, name: str, value: Value) -> Value:
    entries = {**dict(held.entries or ()), name: value}
    return replace(_mixed(held, (value,)), entries=tuple(entries.items()))
