"""What expressions are worth, and where that comes from."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from idemlint.domain.value import (
    CONSTANT,
    NOTHING,
    UNKNOWN,
    Closure,
    Facts,
    Lookup,
    Object,
    Origin,
    Rows,
    Test,
    Value,
    derived,
    join,
    literal_origins,
    origins_of,
    united,
)
from idemlint.program import (
    ClassType,
    InstanceType,
    LibraryInstance,
    LibraryType,
    Model,
    ModuleType,
    ProjectCall,
    RowsType,
    TaskType,
    Type,
)
from idemlint.summarize.relations import Relations
from idemlint.summarize.texts import part, percent
from idemlint.syntax import facts as f

GLOBAL = Value(CONSTANT)

COUNTS = frozenset("rowcount matched_count modified_count deleted_count upserted_id".split())
"""What answers call the number of rows that were hit, or say that there are any."""


class Values(Relations):
    """The part of a walk that evaluates expressions."""

    def call(self, expr: f.Call) -> Value:
        raise NotImplementedError

    def enter(self, key: str, env: dict[str, Value], at: int) -> Value:
        raise NotImplementedError

    def type_of(self, expr: f.Expr) -> Type | None:
        return self.here.body.types.get(expr.at)

    def evaluate(self, expr: f.Expr) -> Value:
        match expr:
            case f.Constant(value=value):
                return constant(value)
            case f.Name(id=name):
                return self.name(expr, name)
            case f.Attribute():
                return self.attribute(expr)
            case f.Call():
                return self.call(expr)
            case f.Await(value=value):
                return self.evaluate(value)
            case f.Starred(value=value):
                return self.evaluate(value)
            case f.Walrus(target=target, value=value):
                found = self.evaluate(value)
                self.here.env[target.id] = found
                return found
            case f.Conditional(test=test, body=body, orelse=orelse):
                return self.chosen(test, body, orelse)
            case f.Boolean(operator=operator, operands=operands):
                return self.one_of(operator, operands)
            case f.Unary(operator="not"):
                return Value(frozenset({UNKNOWN}), test=self.condition(expr))
            case f.Unary(operand=operand):
                return derived([self.evaluate(operand)])
            case f.Comparison(left=left, rights=rights):
                said = self.condition(expr)
                return replace(derived([self.evaluate_quietly(side) for side in (left, *rights)]), test=said)
            case f.Operation(left=left, right=right, operator=operator):
                return self.operation(operator, self.evaluate(left), self.evaluate(right), expr.at)
            case f.Format(parts=parts):
                return self.formatted(parts)
            case f.Formatted(value=value, specification=parts):
                # The text of the specification is not text of the result.
                return Value(origins_of([self.evaluate(value), *(self.evaluate(part) for part in parts)]))
            case f.Display(items=items):
                values = tuple(self.evaluate(item) for item in items)
                return replace(derived(values), items=values)
            case f.Mapping(items=pairs):
                return self.mapping(pairs)
            case f.Subscript(base=base, index=index):
                return self.of_context(expr) or self.of_item(expr, self.evaluate(base), self.evaluate(index))
            case f.Slice(parts=parts):
                return derived([self.evaluate(part) for part in parts])
            case f.Lambda():
                return Value(CONSTANT, closure=Closure(tuple(sorted(self.here.env.items())), kind=self.type_of(expr)))
            case f.Comprehension():
                return self.comprehension(expr)
            case f.Yield(value=given):
                return self.produced(expr, self.evaluate(given) if given is not None else NOTHING)

    def evaluate_quietly(self, expr: f.Expr) -> Value:
        """An expression already evaluated once: no call happens again."""
        if isinstance(expr, f.Name | f.Constant | f.Attribute):
            return self.evaluate(expr)
        return Value()

    def produced(self, expr: f.Yield, value: Value) -> Value:
        resume = self.here.resume
        if resume is not None:
            resume(value)
        return Value()

    # --- names and attributes

    def name(self, expr: f.Name, name: str) -> Value:
        env = self.here.env
        if name in env:
            return env[name]
        constants = self.here.body.constants
        if expr.at in constants:
            return constant(constants[expr.at])
        kind = self.type_of(expr)
        told = self.catalog.constant(kind.path) if isinstance(kind, LibraryType) else None
        if told is not None:
            return constant(told)
        return Value(CONSTANT, closure=Closure(kind=kind)) if kind is not None else GLOBAL

    def attribute(self, expr: f.Attribute) -> Value:
        constants = self.here.body.constants
        if expr.at in constants:
            return constant(constants[expr.at])
        target = self.here.body.targets.get(expr.at)
        base = self.evaluate(expr.base)
        self.looked_at(base)
        if isinstance(target, ProjectCall):
            return self.enter_property(target, base, expr.at)
        kind = self.type_of(expr)
        if isinstance(kind, LibraryType):
            told = self.catalog.constant(kind.path)
            if told is not None:
                return constant(told)
            origin = self.library_origin(kind.path, expr.at)
            if origin is not None:
                return Value(frozenset({origin}))
            if base.text is not None and (text := part(kind.path, base.text)) is not None:
                return Value(base.origins, text=text)
        delivered = self.of_delivery(base, expr.name, expr.at)
        if delivered is not None:
            return delivered
        if base.literal is not None and expr.name == "value":
            # A member of an enumeration stands for its value as well.
            return base
        if base.thing is not None:
            return self.of_thing(base.thing, expr.name, kind)
        if base.entries is not None and base.entry(expr.name) is not None:
            return base.entry(expr.name) or Value()
        if isinstance(kind, RowsType):
            return Value(frozenset({Origin("row", kind.model)}), rows=Rows(kind.model))
        base_kind = self.type_of(expr.base)
        if isinstance(base_kind, ModuleType | LibraryType | ClassType | TaskType | LibraryInstance) and not base.varies:
            return Value(CONSTANT, closure=Closure(kind=kind, receiver=base))
        if base.effect is not None and expr.name in COUNTS:
            return Value(frozenset({UNKNOWN}), effect=(base.effect[0], "count"))
        if base.column is not None and (path := self.within(base.column, expr.name)):
            written = self.heap.get(base.column[0], {}).get(path)
            return written.value if written is not None else Value(base.origins, column=(base.column[0], path))
        return Value(base.origins, effect=base.effect, closure=Closure(kind=kind, receiver=base), site=base.site)

    def library_origin(self, path: str, at: int, arguments: int = 0) -> Origin | None:
        """Where the value of a library's attribute or call comes from, if the catalog says so outright."""
        if path.startswith("task:"):
            framework, _, rest = path.removeprefix("task:").partition(".")
            word = self.catalog.framework(framework).request.get(rest)
            return _origin_of(word, self.site(at)) if word else None
        word = self.catalog.origin(path, arguments)
        return _origin_of(word, self.site(at)) if word not in (None, "arguments") else None

    def of_context(self, expr: f.Subscript) -> Value | None:
        """An item of what the worker hands to the task: `ctx["job_id"]`."""
        kind = self.type_of(expr)
        origin = self.library_origin(kind.path, expr.at) if isinstance(kind, LibraryType) else None
        return Value(frozenset({origin})) if origin is not None else None

    def enter_property(self, target: ProjectCall, base: Value, at: int) -> Value:
        body = self.program.bodies[target.body]
        env = {body.parameters[0].name: base} if body.parameters else {}
        return self.enter(target.body, env, at)

    def of_thing(self, thing: Object, name: str, kind: Type | None) -> Value:
        """An attribute of a row or object: what this run gave it, else the column as it is stored."""
        model = self.program.models.get(thing.model or "")
        column = model.column(name) if model is not None else name
        written = self.heap.get(thing.id, {}).get(column)
        if written is not None and not (name != column and name.endswith("_id")):
            return written.value
        if written is not None:
            return Value(written.value.origins, literal=written.value.literal)
        if model is None:
            known = self.aliases.get((thing.id, name))
            return known or Value(closure=Closure(kind=kind, receiver=Value(thing=thing)))
        field = model.field(name)
        if isinstance(kind, RowsType):
            return Value(frozenset({Origin("row", kind.model)}), rows=Rows(kind.model))
        if isinstance(kind, InstanceType) and kind.name in self.program.models and not name.endswith("_id"):
            key = (thing.id, name)
            if field is None:
                self.asked_back.append(kind.name)
            if key not in self.aliases:
                other = self.thing(kind.name, source=thing.source, each=thing.each)
                self.aliases[key] = Value(frozenset({Origin("row", f"{kind.name}")}), thing=other)
            return self.aliases[key]
        if field is None and not model.open:
            return Value(closure=Closure(kind=kind, receiver=Value(thing=thing)))
        # A column that the query asked to be empty is, by whatever name it is handed on.
        empty = (None,) if thing.lookup and self.told(thing, model, name) is None else None
        return Value(self.column_origins(thing, model, name), literal=empty, column=(thing.id, column))

    def within(self, column: tuple[int, str], name: str) -> str:
        """How queries spell a part of the document that a row holds in a column: `settings__enabled`; "" where the
        column holds none."""
        thing = self.things.get(column[0])
        model = self.program.models.get(thing.model or "") if thing is not None else None
        field = model.field(column[1].partition("__")[0]) if model is not None else None
        return f"{column[1]}__{name}" if field is not None and field.kind == "json" else ""

    def column_origins(self, thing: Object, model: Model, name: str) -> frozenset[Origin]:
        """Where a stored column comes from: a row that was there before, or one that this run inserted."""
        if thing.fresh in ("new", "stored"):
            field = model.field(name)
            if field is None or field.kind == "id" or field.default == "unstable":
                return frozenset({Origin("fresh", f"{model.title}.{name}")})
            return CONSTANT if field.default == "constant" else frozenset({UNKNOWN})
        found = next((lookup for lookup in thing.lookup if _same_column(model, lookup, name)), None)
        if found is not None:
            return found.value.origins
        return frozenset({Origin("row", f"{model.title}.{name}")})

    # --- compound expressions

    def chosen(self, test: f.Expr, body: f.Expr, orelse: f.Expr) -> Value:
        decided = self.decided(test)
        if decided is not None:
            return self.evaluate(body if decided else orelse)
        facts = self.condition(test)
        before = self.facts
        number = self.next()
        self.next()
        self.facts = before | facts.true
        self.address.append(("arm", number))
        one = self.evaluate(body)
        self.facts = before | facts.false
        self.address[-1] = ("arm", number + 1)
        other = self.evaluate(orelse)
        self.address.pop()
        self.facts = before
        return join(one, other)

    def one_of(self, operator: str, operands: tuple[f.Expr, ...]) -> Value:
        """`a or b`: each is worked out only where those before it are false, with `and` where they are true."""
        before = self.facts
        result = last = self.evaluate(operands[0])
        for operand in operands[1:]:
            test = self.truth(last, self.site(operand.at))
            self.facts |= test.false if operator == "or" else test.true
            last = self.evaluate(operand)
            result = join(result, last)
        self.facts = before
        return result

    def operation(self, operator: str, left: Value, right: Value, at: int) -> Value:
        if operator == "|" and left.column is None and (left.entries is not None or right.entries is not None):
            return united(left, right)
        text = None
        if operator == "+" and (left.text is not None or right.text is not None):
            text = (left.text or "{}") + (right.text or "{}")
        elif operator == "%" and left.text is not None:
            text = percent(left.text, right)
        literal = _folded(operator, left, right)
        step = None
        if operator in ("+", "-", "*", "/", "//", "|"):
            for side in (left, right):
                if side.column is not None:
                    step = side.column
                elif side.step is not None:
                    step = side.step
        value = Value(origins_of((left, right)), literal=literal, text=text, step=step, tally=added_to(left, right))
        if left.rows is not None:
            return replace(value, rows=left.rows)
        if operator == "-" and right.rows is not None and (right.rows.fetched or right.rows.values):
            # What is left of a set: that for which there is no row.
            return replace(value, origins=left.origins, test=self.any_rows(right.rows, self.site(at)).inverted())
        return value

    def formatted(self, parts: tuple[f.Expr, ...]) -> Value:
        values = [self.evaluate(part) for part in parts]
        text = "".join(value.text if value.text is not None else "{}" for value in values)
        return derived(values, text=text)

    def mapping(self, pairs: tuple[tuple[f.Expr | None, f.Expr], ...]) -> Value:
        entries: dict[str, Value] = {}
        values: list[Value] = []
        partial = False
        for key, expr in pairs:
            value = self.evaluate(expr)
            values.append(value)
            if key is None:
                entries.update(value.entries or ())
                partial = partial or value.entries is None or value.partial
                continue
            name = self.evaluate(key)
            whole = name.text is not None and "{}" not in name.text
            partial = partial or name.text in (None, "{}")
            if name.text is not None and name.text != "{}":
                entries[name.text] = replace(value, site=self.site(expr.at))
            if name.text is not None and whole and self.catalog.is_key_name(name.text):
                self.use_key(name.text, value, expr.at, "")
        tally = next((value.tally for value in values if value.tally is not None), None)
        return replace(derived(values), entries=tuple(entries.items()), partial=partial, tally=tally)

    def of_item(self, expr: f.Subscript, base: Value, index: Value) -> Value:
        """An item; of a message that says how it was delivered, another one at each delivery."""
        name = index.literal[0] if index.literal is not None else None
        return self.of_delivery(base, name, expr.at) or self.subscript(base, index)

    def of_delivery(self, message: Value, name: object, at: int) -> Value | None:
        """What a consumer's message says of this delivery alone; None for anything else."""
        if self.intake is None or name not in self.intake.row.fresh:
            return None
        if any(origin.kind != "argument" for origin in message.origins):
            return None
        return Value(frozenset({Origin("attempt", str(name), self.site(at))}))

    def subscript(self, base: Value, index: Value) -> Value:
        self.looked_at(base)
        if index.literal is not None and base.entries is not None and isinstance(index.literal[0], str):
            found = base.entry(index.literal[0])
            if found is not None:
                return found
        if index.literal is not None and base.items is not None and isinstance(index.literal[0], int):
            if -len(base.items) <= index.literal[0] < len(base.items):
                return base.items[index.literal[0]]
        if base.rows is not None:
            return base
        origins = base.origins if not index.varies else origins_of((base, index))
        return Value(origins, column=base.column, effect=base.effect, read=base.read)

    def comprehension(self, expr: f.Comprehension) -> Value:
        outer = dict(self.here.env)
        facts = self.facts
        number = self.next()
        values: list[Value] = []
        source: Rows | None = None
        self.address.append(("loop", number))
        entered = 0
        for generator in expr.generators:
            iterable = self.evaluate(generator.iterable)
            values.append(iterable)
            source = source or iterable.rows
            item = self.item(iterable, generator.iterable)
            turn = number if generator is expr.generators[0] else self.next()
            self.open_loop(turn, expr.at, iterable, item, items=True)
            self.loops_open.append(turn)
            entered += 1
            self.learn(*lacking(iterable))
            self.bind_target(generator.target, item)
            for test in generator.tests:
                self.learn(*self.condition(test).true)
        if expr.key is not None:
            values.append(self.evaluate(expr.key))
        element = self.evaluate(expr.element)
        del self.loops_open[len(self.loops_open) - entered :]
        self.address.pop()
        self.here.env = outer
        picked = Test(frozenset(fact for fact in self.facts - facts if fact.kind == "exists" and not fact.holds))
        self.facts = facts
        items = (element,) if element.thing is not None or element.entries is not None else None
        # What is made of rows is asked what is in it, as the table would be, and is empty where that has none.
        rows = replace(source, values=True) if source is not None and items is None else source
        return Value(
            origins_of([*values, element]),
            items=items,
            rows=rows,
            test=picked if picked.true else None,
            column=values[0].column if items is None and rows is None else None,
        )

    def item(self, iterable: Value, expr: f.Expr) -> Value:
        """One element of what is iterated over."""
        kind = self.type_of(expr)
        if iterable.rows is not None:
            rows = iterable.rows
            self.fetch(rows, expr.at)
            if rows.values or (isinstance(kind, RowsType) and kind.values):
                return Value(frozenset({Origin("row", rows.model)}))
            thing = self.thing(rows.model, lookup=rows.lookup, each=True, lock=rows.lock)
            return Value(frozenset({Origin("row", rows.model)}), thing=thing)
        if iterable.items:
            found = iterable.items[0]
            for value in iterable.items[1:]:
                found = join(found, value)
            return replace(found, literal=None, text=None)
        return Value(iterable.origins)

    def fetch(self, rows: Rows, at: int) -> None:
        """A query is run for its rows, which are locked then if it says so."""
        self.reads.add(rows.model)
        if rows.lock is not None:
            self.record("read", at, model=rows.model, lookup=rows.lookup, lock=rows.lock, many=True)

    def bind_target(self, target: f.Expr, value: Value) -> None:
        raise NotImplementedError


def lacking(value: Value) -> Facts:
    """What holds for each thing in a collection of those for which there is no row yet, or which this run has
    claimed."""
    said = value.test.true if value.test is not None else frozenset()
    return frozenset(fact for fact in said if fact.kind == "claim" or (fact.kind == "exists" and not fact.holds))


def _folded(operator: str, left: Value, right: Value) -> tuple[object] | None:
    """`30 * 60`: arithmetic on two literal numbers."""
    if left.literal is None or right.literal is None or operator not in ("+", "-", "*"):
        return None
    one, other = left.literal[0], right.literal[0]
    if not isinstance(one, int | float) or not isinstance(other, int | float):
        return None
    return ({"+": one + other, "-": one - other}[operator] if operator != "*" else one * other,)


def added_to(*sides: Value) -> tuple[int, str] | None:
    """The reading of a store to whose answer something is added."""
    for side in sides:
        if side.tally is not None or side.read is not None:
            return side.tally or (side.read or 0, "")
    return None


def constant(value: object) -> Value:
    """A module-level constant or setting as a value."""
    if isinstance(value, dict):
        entries = tuple((key, constant(item)) for key, item in value.items() if isinstance(key, str))
        return Value(CONSTANT, entries=entries)
    if isinstance(value, str | int | float | bool | bytes | None):
        return Value(literal_origins(value), literal=(value,), text=value if isinstance(value, str) else None)
    return Value(CONSTANT, literal=(value,) if isinstance(value, timedelta) else None)


def _origin_of(word: str, site: object) -> Origin:
    from idemlint.domain.value import UNSTABLE
    from idemlint.program import Site

    assert isinstance(site, Site)
    return Origin(word, site=site if word in UNSTABLE else None)


def _same_column(model: Model, lookup: Lookup, name: str) -> bool:
    return lookup.operator == "exact" and not lookup.excluded and model.column(lookup.column) == model.column(name)
