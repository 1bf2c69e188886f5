"""Sessions as units of work: rows they are given or have loaded are stored, as they have become, when they commit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from idemlint import orm
from idemlint.catalog import Catalog
from idemlint.domain.effect import Effect, Write
from idemlint.domain.value import NOTHING, UNKNOWN, Facts, Lookup, Object, Rows, Value
from idemlint.program import DataCall, DataOperation, LibraryCall, LibraryType, Model, Program, Root, Site, Type
from idemlint.summarize.given import Given
from idemlint.summarize.queries import QueryWalk
from idemlint.summarize.state import Snapshot
from idemlint.summarize.weights import Weights
from idemlint.syntax import facts as f

QUIET = frozenset({"new", "build", "narrow"})
"""What goes through no session."""


class UnitWalk(QueryWalk):
    """A walk that follows what sessions are given."""

    def __init__(self, program: Program, catalog: Catalog, root: Root, weights: Weights) -> None:
        super().__init__(program, catalog, root, weights)
        # New rows in a relation of one that is not in a session yet: they go there with it.
        self.hanging: dict[int, list[Object]] = {}
        # What held where a new row was made: it is only there to be stored where that did.
        self.made_under: dict[int, Facts] = {}
        # Rows of which a name holds one or another: what becomes of it becomes of each.
        self.twins: dict[int, set[int]] = {}
        # Rows put into a relation whose column could not be read.
        self.unread: set[int] = set()

    def operate(self, target: DataCall, expr: f.Call, receiver: Value) -> Value:
        operation = target.operation
        if not orm.unit_of_work(target.layer):
            return self.operate_beside(target, expr, receiver)
        model = self.program.models.get(operation.model)
        if operation.kind == "build" and model is not None:
            return self.build(operation, model, receiver)
        if operation.kind in QUIET:
            value = super().operate(target, expr, receiver)
            return replace(value, effect=receiver.effect) if operation.kind == "narrow" else value
        session = self.session_of(receiver)
        given = [self.evaluate(part) for part in (operation.statement, operation.objects) if part is not None]
        outer, self.acting = self.acting, session
        self.use(session, expr.at)
        value = self.act(target, expr, receiver, model, given)
        self.acting = outer
        return value

    def operate_beside(self, target: DataCall, expr: f.Call, receiver: Value) -> Value:
        """An operation of another layer; a statement given to a session as text commits with that one."""
        operation, model = target.operation, self.program.models.get(target.operation.model)
        if operation.kind == "build" and model is not None:
            return self.build(operation, model, receiver)
        if operation.kind == "run" and model is not None:
            return self.run_statement(operation, receiver, None, model, expr)
        kind = self.type_of(expr.function)
        through = isinstance(kind, LibraryType) and self.on_session(kind.path)
        outer, self.acting = self.acting, self.session_of(receiver) if through else self.acting
        value = super().operate(target, expr, receiver)
        self.acting = outer
        return value

    def act(self, target: DataCall, expr: f.Call, receiver: Value, model: Model | None, given: list[Value]) -> Value:
        """An operation that goes through the acting session."""
        operation = target.operation
        first = given[0] if given else Value()
        match operation.kind:
            case "add":
                return self.add(first, model, operation.form == "many", expr)
            case "append":
                return self.append(operation, receiver, first, model, expr)
            case "remove":
                return self.remove(first, model, expr)
            case "mutex":
                self.record("read", expr.at, lock=self.in_force()[0], opaque=True)
                return Value()
        if model is None:
            return Value()
        assert self.acting is not None
        if operation.kind not in ("merge", "bulk"):
            self.flush(self.acting)  # a query sees what the session was given before it
        match operation.kind:
            case "merge":
                return self.store_over(first, model, expr)
            case "refresh":
                return self.reload(first, model, operation.locks, expr)
            case "bulk":
                return self.bulk(first, model, operation.force, expr)
            case "run":
                return self.run_statement(operation, first, given[1] if len(given) > 1 else None, model, expr)
        return self.ask(target, expr, receiver, model)

    # --- the unit of work

    def new_row(self, operation: DataOperation, model: Model, expr: f.Call) -> Value:
        value = super().new_row(operation, model, expr)
        if value.thing is not None:
            self.made_under[value.thing.id] = self.facts
        return value

    def record(self, kind: str, at: int, **details: object) -> Effect:
        effect = super().record(kind, at, **details)
        if kind == "insert" and effect.thing in self.made_under:
            effect = replace(effect, facts=effect.facts | self.made_under[effect.thing])
            self.effects[effect.id] = effect
        return effect

    def one_of(self, operator: str, operands: tuple[f.Expr, ...]) -> Value:
        known = set(self.things)
        value = super().one_of(operator, operands)
        made = {number for number in self.things.keys() - known if self.things[number].model is not None}
        if value.thing is not None and value.thing.id in made:
            self.twins.setdefault(value.thing.id, set()).update(made - {value.thing.id})
        return value

    def add(self, value: Value, model: Model | None, many: bool, expr: f.Call) -> Value:
        """Rows put into the session: new ones are inserted when it is flushed, loaded ones are there already."""
        things = list(dict.fromkeys(_things(value)))
        things.extend(self.things[twin] for thing in list(things) for twin in sorted(self.twins.get(thing.id, ())))
        if not things and model is not None:
            self.record("save", expr.at, model=model.name, opaque=True)
        for thing in things:
            self.insert_thing(thing, many, expr)
        return NOTHING

    def insert_thing(self, thing: Object, many: bool, expr: f.Call) -> None:
        if thing.fresh != "new" or thing.id in self.stored or thing.model is None:
            return
        self.stored.add(thing.id)
        assert self.acting is not None
        self.kept[thing.id] = self.acting
        pending = self.heap.get(thing.id, {})
        writes = tuple(write for _, write in sorted(pending.items()))
        effect = self.record(
            "insert",
            expr.at,
            model=thing.model,
            writes=writes,
            thing=thing.id,
            fresh="stored",
            many=many,
            opaque=thing.opaque or thing.id in self.unread,
            unsure=bool(self.twins.get(thing.id)),
        )
        self.hold_back(effect.id, sure=not self.twins.get(thing.id))
        for write in writes:
            for other in _things(write.value):
                self.insert_thing(other, many or write.value.items is not None, expr)
        for other in self.hanging.get(thing.id, ()):
            self.insert_thing(other, many, expr)

    def hold_back(self, number: int, *, sure: bool) -> None:
        """An insert waits for the flush; one of a row that may have been there before is not sure."""
        assert self.acting is not None
        state = self.sessions[self.acting]
        if sure:
            state = replace(state, pending=(*state.pending, number))
        else:
            state = replace(state, maybe=(*state.maybe, number))
        self.sessions[self.acting] = state
        self.held_back.add(number)

    def append(
        self, operation: DataOperation, receiver: Value, added: Value, model: Model | None, expr: f.Call
    ) -> Value:
        """New rows put into a relation of a row that is stored, or will be."""
        lookup = self.lookups(operation, model) if model is not None else ()
        owner = next((condition.value.thing for condition in lookup if condition.value.thing is not None), None)
        for thing in _things(added):
            if operation.opaque:
                self.unread.add(thing.id)
            for condition in lookup:
                self.assign_quietly(thing, Write(condition.column, condition.value, self.site(expr.at)))
            if owner is None or owner.fresh != "new" or owner.id in self.stored:
                self.insert_thing(thing, operation.form == "many", expr)
            else:
                self.hanging.setdefault(owner.id, []).append(thing)
        return NOTHING

    def remove(self, value: Value, model: Model | None, expr: f.Call) -> Value:
        things = list(_things(value))
        for thing in things:
            self.record(
                "delete", expr.at, model=thing.model or "", thing=thing.id, lookup=thing.lookup, lock=thing.lock
            )
        if not things and model is not None:
            self.record("delete", expr.at, model=model.name, opaque=True)
        return NOTHING

    def store_over(self, value: Value, model: Model, expr: f.Call) -> Value:
        """`merge`: the row with the same primary key is written over, else a new one inserted."""
        thing = value.thing
        written = self.heap.get(thing.id, {}) if thing is not None else {}
        primary = [field.name for field in model.fields if field.kind == "id"]
        lookup = tuple(Lookup(name, "exact", written[name].value) for name in primary if name in written)
        writes = tuple(write for name, write in sorted(written.items()) if name not in primary)
        opaque = thing is None or thing.fresh != "new"
        if lookup or opaque:
            self.record(
                "upsert" if lookup else "save", expr.at, model=model.name, lookup=lookup, writes=writes, opaque=opaque
            )
        else:
            self.record("insert", expr.at, model=model.name, writes=writes, fresh="stored")
        return replace(value, thing=self.thing(model.name, lookup=lookup))

    def reload(self, value: Value, model: Model, locks: bool, expr: f.Call) -> Value:
        for thing in _things(value):
            self.heap.pop(thing.id, None)
            if locks:
                self.query("get", Rows(model.name, thing.lookup, self.in_force()[0]), (), model, expr)
        return NOTHING

    def bulk(self, rows: Value, model: Model, force: str, expr: f.Call) -> Value:
        writes, _, known = self.dict_writes(rows, model, expr)
        kind = "update" if force == "update" else "insert"
        self.record(kind, expr.at, model=model.name, writes=writes, many=True, opaque=not known)
        return NOTHING

    # --- rows that change

    def library(self, target: LibraryCall, callee: Value, given: Given, expr: f.Call) -> Value:
        value = super().library(target, callee, given, expr)
        if target.path == "builtins.setattr" and len(given.positional) == 3:
            holder, name, assigned = given.positional
            self.set_by_name(holder, name.text, assigned, expr)
        return value

    def set_by_name(self, holder: Value, name: str | None, value: Value, expr: f.Call) -> None:
        """`setattr(row, name, value)`: a name that nobody can tell changes the row somehow."""
        model = self.program.models.get(holder.thing.model or "") if holder.thing is not None else None
        if holder.thing is None or model is None:
            return
        if name is not None and "{}" not in name:
            self.assign(holder.thing, model.column(name), value, self.site(expr.at))
        elif orm.unit_of_work(model.layer) and holder.thing.fresh != "new":
            outer, self.acting = self.acting, self.session_of(holder)
            self.record(
                "save", expr.at, model=model.name, thing=holder.thing.id, lookup=holder.thing.lookup, opaque=True
            )
            self.acting = outer

    def merge(self, arms: list[Snapshot]) -> None:
        super().merge(arms)
        first = arms[0].env if arms else {}
        for name in first if len(arms) > 1 else ():
            held = [arm.env[name].thing for arm in arms if name in arm.env]
            known = {thing.id for thing in held if thing is not None and thing.model is not None}
            for number in known if len(known) > 1 else ():
                self.twins.setdefault(number, set()).update(known - {number})

    def assign(self, thing: Object, column: str, value: Value, site: Site, from_itself: str = "") -> None:
        super().assign(thing, column, value, site, from_itself)
        write = Write(column, value, site, from_itself)
        for twin in sorted(self.twins.get(thing.id, ())):
            if not self.changed_while_held(twin, write) and self.things[twin].fresh == "new":
                self.assign_quietly(self.things[twin], write)
        model = self.program.models.get(thing.model or "")
        if model is not None and orm.unit_of_work(model.layer):
            self.changed(thing, model, write)

    def save(self, operation: DataOperation, receiver: Value, model: Model, expr: f.Call) -> Value:
        before, first = self.facts, len(self.effects)
        value = super().save(operation, receiver, model, expr)
        twins = sorted(self.twins.get(receiver.thing.id, ())) if receiver.thing is not None else []
        for twin in twins:
            if self.things[twin].fresh == "new" and twin not in self.stored:
                super().save(operation, replace(receiver, thing=self.things[twin]), model, expr)
        if twins:
            self.facts = before  # it may have been there before
            self.effects[first:] = [replace(effect, unsure=effect.kind == "insert") for effect in self.effects[first:]]
        return value

    def changed(self, thing: Object, model: Model, write: Write) -> None:
        """An attribute of a row in a session: part of an insert still held back, else an update."""
        if self.changed_while_held(thing.id, write):
            return
        if thing.fresh == "new" and thing.id not in self.stored:
            return
        outer, self.acting = self.acting, self.session_of(Value(frozenset({UNKNOWN}), thing=thing))
        self.save_change(thing, model, write)
        self.acting = outer

    def changed_while_held(self, thing: int, write: Write) -> bool:
        """Whether a row waits to be inserted, which then is with what was just assigned."""
        for state in self.sessions.values():
            for number in state.held_back:
                effect = self.effects[number]
                if effect.thing == thing:
                    rest = tuple(other for other in effect.writes if other.column != write.column)
                    self.effects[number] = replace(effect, writes=(*rest, write))
                    return True
        return False

    def save_change(self, thing: Object, model: Model, write: Write) -> None:
        stack = self.use(self.acting or 0, write.site.at)
        last = self.effects[-1] if self.effects else None
        if (
            last is not None
            and last.kind in ("save", "update")
            and last.thing == thing.id
            and last.transactions == stack
            and last.facts == self.facts
            and last.address[:-1] == tuple(self.address[:-1])
        ):
            rest = tuple(other for other in last.writes if other.column != write.column)
            self.effects[-1] = replace(last, writes=(*rest, write))
            return
        lookup = thing.lookup
        writes: tuple[Write, ...] = (write,)
        kind = "save"
        if model.version:
            # The layer updates only the row that still has the version that was read.
            kind = "update"
            version = Value(self.column_origins(thing, model, model.version), column=(thing.id, model.version))
            lookup = (*lookup, Lookup(model.version, "exact", version))
            writes = (write, Write(model.version, Value(), write.site))
        self.record(
            kind,
            write.site.at,
            model=model.name,
            writes=writes,
            thing=thing.id,
            lookup=lookup,
            fresh="stored" if thing.fresh == "new" else thing.fresh,
            lock=thing.lock,
        )

    def of_thing(self, thing: Object, name: str, kind: Type | None) -> Value:
        """What hangs off a row was loaded by the session that the row belongs to."""
        outer, self.acting = self.acting, self.kept.get(thing.id, thing.session)
        value = super().of_thing(thing, name, kind)
        self.acting = outer
        if value.rows is not None and value.rows.session is None:
            return replace(value, rows=replace(value.rows, session=self.kept.get(thing.id, thing.session)))
        return value


def _things(value: Value) -> Iterator[Object]:
    """The rows that a value holds: itself, or the items of a list."""
    if value.thing is not None and value.thing.model is not None:
        yield value.thing
    for item in value.items or ():
        yield from _things(item)
