"""How functions and classes of the project become tasks by a decorator, a call or a class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from idemlint.catalog.rows import Declare, DeclareClass, Framework
from idemlint.link.drafts import Draft, class_options, declaring_wrapper
from idemlint.link.linker import FunctionInfo
from idemlint.link.modules import Module
from idemlint.link.names import Definition
from idemlint.link.reading import Reached, slot_value
from idemlint.link.referring import Referring
from idemlint.link.within import calls_in, names_in
from idemlint.link.wrappers import class_for_all
from idemlint.program import (
    SPREAD,
    ClassType,
    DeclarerType,
    InstanceType,
    LibraryType,
    ModuleType,
    Option,
    PartialType,
    RoutineType,
    Site,
    TaskType,
    Type,
)
from idemlint.syntax import facts as f


class Declaring(Referring):
    """The part of a walk that makes tasks."""

    # --- by a decorator or a call

    def declare(
        self, path: str, routine: RoutineType, options: Sequence[Option], at: int, app: Definition | None = None
    ) -> Type:
        """A function becomes a task; declared twice it keeps its first declaration. `app` is what the declaring method
        belongs to."""
        row = self.linker.catalog.declares(path)
        assert row is not None
        if self._is_template(routine):
            return routine
        function = self._written(routine)
        known = self.linker.drafts.get(function)
        if known is None or known.referred:
            site = Site(self.module.file.path, self.piece, at)
            base, inherited, library = self.task_base(options, app, self.linker.catalog.framework(row.framework))
            name = f"{app.module.id}:{app.binding.name}" if app is not None else None
            self.linker.drafts[function] = Draft(
                function,
                row.framework,
                path,
                self._on_instance(row, routine),
                (*options, *inherited, *(known.options if known else ())),
                site,
                base,
                name,
                commit=row.commit,
                library=library,
            )
        return TaskType(function)

    def declaring(self, row: Declare, path: str, expr: f.Call) -> Reached:
        """A call of what declares tasks: it is handed a function, or gives a decorator."""
        options = self.options(expr, row)
        given = slot_value(row.function, expr) if row.function else _first(expr)
        routine = self.referred(given, by_path=bool(row.function)) if given is not None else None
        if routine is None:
            return None, DeclarerType(path, tuple(options))
        return None, self.declare(path, routine, options, expr.at, self.app_definition(expr.function))

    def _is_template(self, routine: RoutineType) -> bool:
        """Whether a function is the wrapper of a decorator that is read by itself: it calls what the function around
        it was given, and nobody knows what that is."""
        around = self.function.fact.parameters if self.function is not None else ()
        unknown = {each.name for each in around if each.kind == "normal" and self.env.get(each.name) is None}
        called = (call.function for call in calls_in(self.linker.functions[routine.function].fact) if unknown)
        return any(isinstance(callee, f.Name) and callee.id in unknown for callee in called)

    def _written(self, routine: RoutineType) -> str:
        """The function as its author wrote it: of a wrapper that a decorator of the project's own makes and declares
        itself, the one that is being decorated."""
        held = {kind.function for _, kind in routine.captured if isinstance(kind, RoutineType)}
        return next(
            (written for wrapped, written in reversed(self.linker.decorating) if wrapped in held),
            self.linker.origin(routine),
        )

    def _on_instance(self, row: Declare, routine: RoutineType) -> RoutineType:
        owner = self.linker.functions[routine.function].owner
        if not row.instance or owner is None or routine.receiver is not None:
            return routine
        return replace(routine, receiver=InstanceType(owner.id))

    def task_base(
        self, options: Sequence[Option], app: Definition | None, framework: Framework
    ) -> tuple[str | None, list[Option], tuple[str, ...]]:
        """The project class given as `base`, the options its attributes set, nearest class first, and the library
        classes that it is or derives from."""
        given = next((option for option in options if option.name == "base"), None)
        kind = self.evaluate(given.expression) if given is not None and given.module == self.module.id else None
        if given is None:
            kind = self.app_task_class(app, framework) or class_for_all(self.linker, framework)
        if isinstance(kind, LibraryType):
            return None, [], (kind.path,)
        if not isinstance(kind, ClassType) or kind.name not in self.linker.classes.known:
            return None, [], ()
        library = tuple(path for path in self.linker.classes.library_bases(kind.name) if path != "?")
        return kind.name, class_options(self.linker, kind.name), library

    def app_task_class(self, app: Definition | None, framework: Framework) -> Type | None:
        """The class an app makes its tasks of: `Celery("shop", task_cls=AfterCommit)`, `app.Task = AfterCommit`."""
        value = app.binding.fact.value if app is not None and isinstance(app.binding.fact, f.Assign) else None
        if app is None or not isinstance(value, f.Call):
            return None
        given = next((argument.value for argument in value.arguments if argument.name in framework.made_of), None)
        given = next((each for name in framework.made_of for each in _set_on(app, name)), given)
        if isinstance(given, f.Constant) and isinstance(given.value, str):
            return self.linker.at_path(given.value, app.module.file.path)
        return self.linker.module_level(given, app.module) if given is not None else None

    def app_definition(self, declarer: f.Expr) -> Definition | None:
        """The name whose method a declaring expression is."""
        holder = declarer.base if isinstance(declarer, f.Attribute) else None
        found = None
        if isinstance(holder, f.Name):
            found = self.linker.names.find(self.module, holder.id)
        elif isinstance(holder, f.Attribute) and isinstance(holder.base, f.Name):
            module = self.linker.names.find(self.module, holder.base.id)
            if isinstance(module, ModuleType):
                found = self.linker.names.attribute(module, holder.name, self.module.file.path)
        return found if isinstance(found, Definition) else None

    def decorate(self, decorator: f.Expr, current: Type, info: FunctionInfo) -> Type:
        """What a name is once one decorator more has been applied to it; an unknown decorator is looked through."""
        kind = self.evaluate(decorator)
        app = self.app_definition(decorator.function if isinstance(decorator, f.Call) else decorator)
        match kind:
            case DeclarerType(path, options) if isinstance(current, RoutineType):
                self.linker.origins[current.function] = info.id
                return self.declare(path, current, (*options, *self._handed_on(decorator, options)), decorator.at, app)
            case LibraryType(path) if isinstance(current, RoutineType) and self.linker.catalog.declares(path):
                self.linker.origins[current.function] = info.id
                return self.declare(path, current, (), decorator.at, app)
            case RoutineType() | PartialType():
                return self._project_decorator(kind, decorator, current, info)
        return current

    def _handed_on(self, decorator: f.Expr, options: Sequence[Option]) -> list[Option]:
        """The options that a decorator of the project's own is given and hands on."""
        maker = self.evaluate(decorator.function) if isinstance(decorator, f.Call) else None
        if not isinstance(maker, RoutineType | PartialType):
            return []
        places = {option.site for option in options}
        return [option for option in self.options(decorator) if option.site not in places]

    def _project_decorator(
        self, kind: RoutineType | PartialType, decorator: f.Expr, current: Type, info: FunctionInfo
    ) -> Type:
        before = set(self.linker.drafts)
        if isinstance(current, RoutineType):
            self.linker.origins.setdefault(current.function, info.id)
        wrapped = current.function if isinstance(current, RoutineType) else ""
        self.linker.decorating.append((wrapped, info.id))
        _, result = self.reach(kind, f.Call(decorator.at, decorator, ()), (current,), {})
        self.linker.decorating.pop()
        for made in self.linker.drafts.keys() - before:
            draft = self.linker.drafts[made]
            site = Site(info.module.file.path, info.piece, decorator.at)
            self.linker.drafts[made] = draft.having((*draft.options, *self.options(decorator)), site)
        if isinstance(result, TaskType):
            return result
        declared = declaring_wrapper(self.linker, kind)
        if declared is not None and isinstance(current, RoutineType):
            app = self.app_definition(decorator.function if isinstance(decorator, f.Call) else decorator)
            return self.declare(declared, current, self.options(decorator), decorator.at, app)
        if isinstance(result, RoutineType):
            self.linker.origins.setdefault(result.function, info.id)
            return result
        return current

    # --- by a class

    def declare_class(self, row: DeclareClass, kind: Type | None, at: int) -> str | None:
        """The task that a class is; None if it is no class of the project or has nothing to run."""
        cls = kind.name if isinstance(kind, ClassType | InstanceType) else ""
        member = self.linker.class_member(cls, row.run)
        if member is None or not isinstance(member[1].fact, f.Function):
            return None
        info, binding = member
        task = f"{cls}.{row.run}"
        if task not in self.linker.drafts:
            assert isinstance(binding.fact, f.Function)
            self.linker.function(task, binding.fact, info.module, binding.piece, info)
            routine = RoutineType(task, InstanceType(cls))
            options = tuple(class_options(self.linker, cls, row.options))
            site = Site(self.module.file.path, self.piece, at)
            bases = tuple(path for path in self.linker.classes.library_bases(cls) if path != "?")
            self.linker.drafts[task] = Draft(
                task, row.framework, row.bases[0], routine, options, site, cls, library=bases
            )
        return task

    # --- options

    def options(self, expr: f.Expr, row: Declare | None = None) -> list[Option]:
        """The arguments of a declaring call as options; `**options` is read through to the dict it names, and is an
        option called `**` where it cannot be."""
        found: list[Option] = []
        if not isinstance(expr, f.Call):
            return found
        names = iter(row.positional if row is not None else ())
        for argument in expr.arguments:
            if argument.star == "**":
                found.extend(self.splat(argument.value))
                continue
            name = argument.name or next(names, "")
            if name and row is not None and name in row.inside:
                found.extend(self.splat(argument.value))
            elif name and not argument.star:
                site = Site(self.module.file.path, self.piece, argument.value.at)
                found.append(Option(name, argument.value, self.module.id, site, "decorator"))
        return found

    def splat(self, expr: f.Expr) -> list[Option]:
        """The items of a dict that is spread into a call, as options: of one name the last one counts."""
        found = {option.name: option for option in self._items(expr, self.module, self.piece)}
        return list(found.values())

    def _items(self, expr: f.Expr, module: Module, piece: int) -> Iterator[Option]:
        match expr:
            case f.Mapping(items=items):
                for key, value in items:
                    if key is None:
                        yield from self._items(value, module, piece)
                    elif isinstance(key, f.Constant) and isinstance(key.value, str):
                        yield _item(key.value, value, module, piece)
            case f.Call(function=f.Name(id="dict"), arguments=arguments):
                for word in arguments:
                    if word.name is None:
                        yield from self._items(word.value, module, piece)
                    else:
                        yield _item(word.name, word.value, module, piece)
            case f.Operation(operator="|", left=left, right=right):
                yield from self._items(left, module, piece)
                yield from self._items(right, module, piece)
            case f.Name(id=name) if (found := self.linker.names.find(module, name)) is not None:
                fact = found.binding.fact if isinstance(found, Definition) else None
                held = fact.value if isinstance(fact, f.Assign) else None
                if isinstance(found, Definition) and held is not None and not isinstance(held, f.Name):
                    yield from self._items(held, found.module, found.binding.piece)
                else:
                    yield _item(SPREAD, expr, module, piece)
            # What a decorator of the project's own is given is read where it is given.
            case f.Call() | f.Attribute() if names_in(expr).isdisjoint(self.env):
                yield _item(SPREAD, expr, module, piece)


def _item(name: str, value: f.Expr, module: Module, piece: int) -> Option:
    return Option(name, value, module.id, Site(module.file.path, piece, value.at), "options dict")


def _set_on(app: Definition, name: str) -> Iterator[f.Expr]:
    """What the module of an app sets an attribute of it to, the last one first."""
    for _, body in reversed(list(app.module.loose_pieces())):
        for statement in reversed(body):
            for target in statement.targets if isinstance(statement, f.Assign) else ():
                if isinstance(target, f.Attribute) and isinstance(target.base, f.Name) and target.name == name:
                    if target.base.id == app.binding.name and isinstance(statement, f.Assign) and statement.value:
                        yield statement.value


def _first(expr: f.Call) -> f.Expr | None:
    """The first positional argument of a call."""
    return next((word.value for word in expr.arguments if word.name is None and not word.star), None)
