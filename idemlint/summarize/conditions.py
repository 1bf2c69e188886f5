"""Tests: what their being true, and their being false, says about the world."""

from __future__ import annotations

from dataclasses import replace

from idemlint.domain.value import TAKEN, Fact, Facts, Rows, Test, Value
from idemlint.program import SeveralType, Site, TableType
from idemlint.summarize.decisions import Decisions
from idemlint.syntax import facts as f

NO_TEST = Test()


class Conditions(Decisions):
    """The part of a walk that reads tests."""

    def condition(self, expr: f.Expr) -> Test:
        """Facts of both outcomes of a test; its calls happen."""
        match expr:
            case f.Unary(operator="not", operand=operand):
                return self.condition(operand).inverted()
            case f.Boolean(operator=operator, operands=operands):
                tests = [self.condition(operand) for operand in operands]
                return _all(tests) if operator == "and" else any_of(tests)
            case f.Comparison(left=left, operators=(operator,), rights=(right,)):
                return self.comparison(left, operator, right, self.site(expr.at))
            case f.Comparison(left=left, rights=rights):
                for side in (left, *rights):
                    self.evaluate(side)
                return NO_TEST
        return self.truth(self.evaluate(expr), self.site(expr.at))

    def truth(self, value: Value, site: Site) -> Test:
        """What a value's being true says."""
        self.looked_at(value)
        if value.test is not None:
            return _asked(value.test, site)
        if value.outcomes:
            return self._by_outcome(value, site)
        if value.effect is not None and value.effect[1] in ("created", "count"):
            return _claim(value.effect[0], site)
        if value.column is not None:
            return _state(value, "true", site, self.model_of(value))
        if value.rows is not None:
            return self.any_rows(value.rows, site)
        if value.thing is not None:
            source = value.thing.source
            maybe_none = source is not None and self.effects[source].kind == "first"
            return _exists(value.thing.model or "", -1 if source is None else source, site) if maybe_none else NO_TEST
        return self.opaque(value, site)

    def any_rows(self, rows: Rows, site: Site) -> Test:
        """What it says that a query finds any row, where it is asked so: `if Order.objects.filter(number=number)`."""
        if rows.fetched or rows.values or rows.statement is not None:
            return _exists(rows.model, -1, site)
        asked = self.record("exists", site.at, model=rows.model, lookup=rows.lookup, opaque=rows.opaque, many=True)
        return _exists(rows.model, asked.id, site)

    def opaque(self, value: Value, site: Site) -> Test:
        """A test the analysis cannot follow may be a guard, unless it only looks at arguments, settings or the time."""
        if value.closure is not None and value.closure.kind is not None:
            # Whether there is such a function is the same each time.
            return NO_TEST
        kinds = {origin.kind for origin in value.origins}
        if kinds <= {"clock", "constant"} and "clock" in kinds:
            return Test(frozenset({Fact("deadline", site=site)}), frozenset({Fact("deadline", holds=False, site=site)}))
        if kinds <= {"argument", "constant", "clock", "random", "attempt", "task-id", "token", "process"}:
            return NO_TEST
        taken = next((origin for origin in value.origins if origin.kind == TAKEN), None)
        if taken is not None:
            return Test(frozenset({Fact(TAKEN, int(taken.detail), site=site)}))
        fact = Fact("possible", site=site)
        return Test(frozenset({fact}), frozenset({replace(fact, holds=False)}))

    def model_of(self, value: Value) -> str:
        if value.column is None:
            return ""
        thing = self.things.get(value.column[0])
        return thing.model or "" if thing else ""

    def comparison(self, left: f.Expr, operator: str, right: f.Expr, site: Site) -> Test:
        one, other = self.evaluate(left), self.evaluate(right)
        for value in (one, other):
            self.looked_at(value)
        if one.literal is not None and other.literal is None:
            one, other = other, one
            operator = _MIRRORED.get(operator, operator)
        if operator in ("in", "not in") and self.remembers(right):
            return self.absent(site) if operator == "not in" else self.absent(site).inverted()
        if operator in ("is not", "!=", "not in"):
            return self.equals(one, other, site, _POSITIVE[operator]).inverted()
        return self.equals(one, other, site, operator)

    def absent(self, site: Site) -> Test:
        """That something is not in what the process remembers."""
        return Test(frozenset({Fact("process", site=site)}))

    def remembers(self, expr: f.Expr) -> bool:
        """Whether a set, dict or list of the module is asked to which a function of that adds: it lives as long as the
        process."""
        if not isinstance(expr, f.Name) or expr.id in self.here.env:
            return False
        kind = self.here.body.types.get(expr.at)
        if not isinstance(kind, SeveralType | TableType):
            return False
        return expr.id in self.growing(self.here.body.path)

    def asked_in_memory(self, call: f.Call) -> Test | None:
        """`SENT.get(order_id)` on a dict of the module."""
        function = call.function
        if not isinstance(function, f.Attribute) or function.name != "get" or not self.remembers(function.base):
            return None
        return self.absent(self.site(call.at)).inverted()

    def equals(self, one: Value, other: Value, site: Site, operator: str) -> Test:
        """What it says that two values stand to each other as a comparison asks."""
        literal = other.literal[0] if other.literal is not None else ...
        empty = literal in (None, False) or (literal == 0 and operator in ("==", "is", "<="))
        if operator in ("is", "==", "<=", "<") and empty:
            return self.truth(one, site).inverted()
        if operator == "<" and literal == 1:
            return self.truth(one, site).inverted()
        if literal is True or (operator in (">", ">=", "==") and isinstance(literal, int) and self._counted(one)):
            return self.truth(one, site)
        if operator == "in" and other.rows is not None:
            return _exists(other.rows.model, -1, site)
        if one.column is not None:
            return _state(one, f"{operator} {_told(other)}", site, self.model_of(one))
        if other.column is not None:
            return _state(other, f"{operator} {_told(one)}", site, self.model_of(other))
        return self.opaque(replace(one, origins=one.origins | other.origins), site)

    def _counted(self, value: Value) -> bool:
        return value.effect is not None or value.rows is not None or value.test is not None

    def _by_outcome(self, value: Value, site: Site) -> Test:
        """The ways out of a helper that fit an answer: what holds in all of them."""
        true: list[Facts] = []
        false: list[Facts] = []
        for outcome in value.outcomes:
            inner = outcome.value
            test = self.truth(inner, site) if inner.literal is None else NO_TEST
            if inner.literal is None or inner.literal[0]:
                true.append(outcome.facts | test.true)
            if inner.literal is None or not inner.literal[0]:
                false.append(outcome.facts | test.false)
        return Test(_common(true), _common(false))


_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_POSITIVE = {"is not": "is", "!=": "==", "not in": "in"}


def _asked(test: Test, site: Site) -> Test:
    """A test that was worked out elsewhere and is asked here: here is what decides."""
    return Test(
        frozenset(replace(fact, site=site) for fact in test.true),
        frozenset(replace(fact, site=site) for fact in test.false),
    )


def _common(ways: list[Facts]) -> Facts:
    """Facts that hold whichever way was taken; none where no way fits. Where each way tests the same state it has
    decided, by whichever value: `state == "paid" or state == "sent"`."""
    if not ways:
        return frozenset()
    found = ways[0]
    for way in ways[1:]:
        found &= way
    states = [_states(way - found) for way in ways]
    tested = (fact for column, fact in states[0].items() if all(column in other for other in states[1:]))
    return found | {replace(fact, value="") for fact in tested}


def _states(facts: Facts) -> dict[tuple[int, str], Fact]:
    """A test of each state, by row and column."""
    tests = sorted((fact for fact in facts if fact.kind == "state"), key=_as_asked)
    return {(fact.subject, fact.column): fact for fact in tests}


def _all(tests: list[Test]) -> Test:
    """`a and b`: true when all are, false when any is not."""
    true: Facts = frozenset()
    for test in tests:
        true |= test.true
    return Test(true, _common([test.false for test in tests]))


def any_of(tests: list[Test]) -> Test:
    """`a or b`: true when any is, false when none is."""
    return _all([test.inverted() for test in tests]).inverted()


def _claim(effect: int, site: Site) -> Test:
    return Test(
        frozenset({Fact("claim", effect, site=site)}),
        frozenset({Fact("conflict", effect, site=site)}),
    )


def _state(value: Value, text: str, site: Site, model: str) -> Test:
    assert value.column is not None
    fact = Fact("state", value.column[0], value.column[1], True, text, model, site)
    return Test(frozenset({fact}), frozenset({replace(fact, holds=False)}))


def _exists(model: str, source: int, site: Site) -> Test:
    fact = Fact("exists", source, holds=True, model=model, site=site)
    return Test(frozenset({fact}), frozenset({replace(fact, holds=False)}))


def _told(value: Value) -> str:
    return repr(value.literal[0]) if value.literal is not None else value.text or "..."


def _as_asked(fact: Fact) -> tuple[str, Site]:
    return (fact.value, fact.site or Site("", 0, 0))
