"""How functions of the project become tasks by being handed to a queue, a scheduler or a list of a worker's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from idemlint.catalog.rows import Companion, Listing, Slot
from idemlint.link.alternatives import Alternative, Place, alternatives, items
from idemlint.link.descent import implementations, inherited, kept
from idemlint.link.drafts import Draft, note, refer
from idemlint.link.production import is_production
from idemlint.link.reading import Reading, slot_value
from idemlint.link.values import Known
from idemlint.link.within import names_in
from idemlint.program import InstanceType, LibraryType, Option, PartialType, RoutineType, Site, TaskType, Type
from idemlint.syntax import facts as f


class Referring(Reading):
    """The part of a walk that follows what is handed over."""

    def referred(self, expr: f.Expr, by_path: bool = True) -> RoutineType | None:
        """The function of the project that an expression is, or that its text names by path."""
        kind = self._at_path(expr) if by_path else None
        if kind is None:
            kind = self.evaluate(expr)
        while isinstance(kind, PartialType):
            kind = kind.target
        if not isinstance(kind, RoutineType):
            return None
        return kind if isinstance(self.linker.functions[self.linker.origin(kind)].fact, f.Function) else None

    def companion(self, row: Companion, given: f.Expr) -> RoutineType | None:
        """The function of the project that is handed over to run beside a task, also inside of a call that wraps it."""
        made = given if isinstance(given, f.Call) else self.linker.assigned(given, self.module)
        if row.wraps and isinstance(made, f.Call):
            kind = self.evaluate(made.function)
            inner = slot_value((Slot(position=0), Slot(name="func")), made)
            if isinstance(kind, LibraryType) and self.linker.catalog.canonical(kind.path) in row.wraps and inner:
                given = inner
        return self.referred(given)

    def _at_path(self, expr: f.Expr) -> Type | None:
        """What the path names that is written here, or kept in a constant."""
        text: object = expr.value if isinstance(expr, f.Constant) else None
        if isinstance(expr, f.Name | f.Attribute) and names_in(expr).isdisjoint(self.env):
            value = self.linker.constants.evaluate(expr, self.module)
            text = value.value if isinstance(value, Known) else None
        return self.linker.at_path(text, self.module.file.path) if isinstance(text, str) else None

    def refer(self, framework: str, path: str, given: f.Expr, at: int, options: Sequence[Option] = ()) -> str | None:
        """The task that a function becomes by being handed to `path`; None if it is not known which function that is,
        if it is one of several, or if only tests do so."""
        if not is_production(self.module.file.path):
            return None
        routine = self.referred(given)
        passed = self._is_passed_in(given)
        if passed and routine is None and self.function is not None:
            self.linker.forwarders.add(self.function.id)
        found: set[str] = set()
        for each in implementations(self.linker, routine) if routine is not None else ():
            site = self._def(each) if passed or each != routine else Site(self.module.file.path, self.piece, at)
            found.add(self._refer(framework, path, each, site, options))
        for other in self._alternatives(given) if routine is None else ():
            routine = self.at(other.place).referred(other.expr)
            for each in implementations(self.linker, routine) if routine is not None else ():
                site = Site(other.place.module.file.path, other.place.piece, other.expr.at)
                found.add(self._refer(framework, path, each, site, options))
        return found.pop() if len(found) == 1 else None

    def _alternatives(self, given: f.Expr) -> Iterator[Alternative]:
        """What an expression may stand for: by what is written around it, or what the constructor was given."""
        yield from alternatives(given, self.place)
        receiver = self.receiver
        if isinstance(given, f.Attribute) and isinstance(given.base, f.Name) and isinstance(receiver, InstanceType):
            if given.base.id == self.receiver_name:
                yield from kept(self.linker, receiver.name, given.name)

    def listed(
        self, row: Listing, path: str, given: f.Expr, place: Place, app: str | None, options: Sequence[Option] = ()
    ) -> None:
        """Functions become tasks by standing in a list; `options` are what the worker is told of all of them."""
        for item in items(given, place):
            expr = item.expr
            if row.key:
                pairs = expr.items if isinstance(expr, f.Mapping) else ()
                named = (value for key, value in pairs if isinstance(key, f.Constant) and key.value == row.key)
                expr = next(named, expr)
            walk = self.at(item.place)
            kind = walk.evaluate(expr) if isinstance(expr, f.Call) else None
            task = kind.task if isinstance(kind, TaskType) else None
            routine = walk.referred(expr) if task is None else None
            if routine is not None and self._may_be_listed(row, routine):
                site = Site(item.place.module.file.path, item.place.piece, expr.at)
                task = self._refer(row.framework, path, routine, site)
            if task is not None:
                note(self.linker, task, options)
            draft = self.linker.drafts[task] if task is not None else None
            if task is not None and draft is not None and app is not None and app not in draft.apps:
                several = (*draft.apps, app) if draft.app is not None else ()
                self.linker.drafts[task] = replace(draft, app=draft.app or app, workers=several)

    def listed_in(
        self, row: Listing, value: f.Mapping, place: Place, app: str | None, options: Sequence[Option] = ()
    ) -> None:
        """The same for the lists in a dict that a worker is told to read, with what else that says."""
        pairs = [(key.value, each) for key, each in value.items if isinstance(key, f.Constant)]
        told = [worker_option(str(name), each, place) for name, each in pairs if name in row.options]
        for name, each in pairs:
            if name in row.attributes:
                self.listed(row, f"{row.framework}.{name}", each, place, app, (*options, *told))

    def _may_be_listed(self, row: Listing, routine: RoutineType) -> bool:
        fact = self.linker.functions[self.linker.origin(routine)].fact
        return not row.coroutines or (isinstance(fact, f.Function) and fact.is_async)

    def _refer(
        self, framework: str, path: str, routine: RoutineType, site: Site, options: Sequence[Option] = ()
    ) -> str:
        routine = inherited(self.linker, routine)
        function = self.linker.origin(routine)
        told = bool(options)
        refer(self.linker, Draft(function, framework, path, routine, tuple(options), site, referred=True, told=told))
        return function

    @property
    def place(self) -> Place:
        """Where this walk is, for what looks around in it."""
        fact = self.function.fact if self.function is not None else None
        body = fact.body if isinstance(fact, f.Function) else self.module.statements(self.piece)
        return Place(self.module, self.piece, body, self.linker.names)

    def at(self, place: Place) -> Referring:
        """A walk where an expression stands: this one, where it is here."""
        here = place.module is self.module and place.piece == self.piece and place.body == self.place.body
        return self if here else self.linker.walk(self.linker, place.module, place.piece)

    def _is_passed_in(self, given: f.Expr) -> bool:
        fact = self.function.fact if self.function is not None else None
        return isinstance(given, f.Name) and fact is not None and given.id in {each.name for each in fact.parameters}

    def _def(self, routine: RoutineType) -> Site:
        info = self.linker.functions[self.linker.origin(routine)]
        at = info.fact.name_at if isinstance(info.fact, f.Function) else info.fact.at
        return Site(info.module.file.path, info.piece, at)


def worker_option(name: str, value: f.Expr, place: Place) -> Option:
    """What a worker is told of all that it runs."""
    return Option(name, value, place.module.id, Site(place.module.file.path, place.piece, value.at), "worker")
