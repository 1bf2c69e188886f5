"""Calls that send a task, or put the sending together: to which task, with what, and when it will run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from idemlint.catalog.rows import Method, Send
from idemlint.link.alternatives import Alternative, items
from idemlint.link.containers import either
from idemlint.link.declaring import Declaring
from idemlint.link.delays import Clock, put_off
from idemlint.link.drafts import Attached, attach, note, task_named, task_routine, valued
from idemlint.link.locally import worth
from idemlint.link.reading import Reached, slot_value
from idemlint.link.spreading import written_out
from idemlint.link.values import Known, Unknown
from idemlint.program import (
    SPREAD,
    EnqueueCall,
    LibraryCall,
    LibraryType,
    Option,
    RecordType,
    SeveralType,
    SignatureType,
    Site,
    TaskMethodType,
    TaskType,
    Type,
    bind,
)
from idemlint.syntax import facts as f

Words = tuple[tuple[str, f.Expr], ...]


class Sending(Declaring):
    """The part of a walk that follows what is sent."""

    def task_method(
        self, callee: TaskMethodType, expr: f.Call, positional: Sequence[Type | None], keywords: dict[str, Type | None]
    ) -> Reached:
        """A method of a task, of a signature or of several tied together."""
        row = self.linker.catalog.framework(callee.framework).method(callee.method, callee.of)
        if row is None:
            return None, None
        expr = written_out(self, expr)
        options = (*callee.options, *_options(row, expr))
        self._note(callee.framework, callee.task, row, expr)
        match row.does:
            case "enqueue" | "retry":
                # What `chord(header)(callback)` is given is sent as well.
                given = () if callee.task is not None else tied((*positional, *keywords.values()))
                parts = (*callee.parts, *given, *self._follows(row, expr))
                return self._enqueue(replace(callee, parts=parts), row, expr, options), None
            case "signature" | "configure" | "composition":
                delay = put_off(self, row, expr, self._clock) or callee.delay
                parts = (*callee.parts, *self._follows(row, expr))
                several = row.does == "composition" and callee.task is not None
                task, first = (None, (callee.task,)) if several else (callee.task, ())
                result = SignatureType(task, callee.framework, options, delay, (*first, *parts))
                self._changed(row, expr, result)
                return None, result
            case "local" if callee.task is not None:
                draft = self.linker.drafts[callee.task]
                arguments = positional if row.arguments == "direct" else ()
                routine = task_routine(self.linker, draft)
                return self.routine(routine, list(arguments), keywords if row.arguments == "direct" else {})
        return None, None

    def _follows(self, row: Method | Send, expr: f.Call) -> tuple[str, ...]:
        """The tasks that the worker is asked to send after this one."""
        given = [slot_value((slot,), expr) for slot in row.follows]
        return tuple(task for each in given if each is not None for task in self._following(row.framework, each))

    def _following(self, framework: str, given: f.Expr) -> tuple[str, ...]:
        """The tasks that are given to be sent later: where any function may be sent, it is a task from then on."""
        kind = self.evaluate(given)
        found = (kind.task,) if isinstance(kind, TaskType) else tied((kind,))
        if found or all(row.by != "function" for row in self.linker.catalog.framework(framework).sends):
            return found
        task = self.refer(framework, framework, given, given.at)
        return (task,) if task is not None else ()

    def _changed(self, row: Method, expr: f.Call, result: SignatureType) -> None:
        """`sig.link(other)` changes the signature that it is called on."""
        base = expr.function.base if isinstance(expr.function, f.Attribute) else None
        if row.follows and isinstance(base, f.Name) and isinstance(self.env.get(base.id), SignatureType):
            self.env[base.id] = result

    def _enqueue(self, callee: TaskMethodType, row: Method, expr: f.Call, options: Words) -> EnqueueCall:
        arguments: Words = ()
        commit = row.commit
        if callee.task is not None:
            arguments = self._arguments(callee.task, row, expr) if row.does == "enqueue" else ()
            declared = self.linker.drafts[callee.task].commit
            commit = declared if commit == "now" else commit
        return EnqueueCall(
            callee.framework,
            callee.task,
            callee.method,
            arguments,
            options,
            commit,
            row.does,
            put_off(self, row, expr, self._clock) or callee.delay,
            tuple(dict.fromkeys(callee.parts)),
        )

    def sent(self, path: str, expr: f.Call) -> Reached | None:
        """`app.send_task("name")`, `queue.enqueue(f, 1)`, `chain(a.s(), b.s())`: tasks sent or tied together by a
        library's function; None if it is none that does so."""
        composed = self.linker.catalog.composes(path)
        if composed is not None:
            parts = tied(self.evaluate(argument.value) for argument in expr.arguments)
            return LibraryCall(path), SignatureType(None, composed.framework, parts=parts)
        row = self.linker.catalog.sends(path)
        if row is None:
            return None
        return self._sent(row, path, expr)

    def told_by_name(self, expr: f.Call) -> Reached | None:
        """`self.queue.enqueue(send_mail, 1)`, where nobody can say what the queue is: the method's name tells that a
        task is sent, if there is such a task; None otherwise."""
        if not isinstance(expr.function, f.Attribute):
            return None
        rows = [
            (row, call)
            for framework in self.linker.frameworks
            for row in framework.sends
            for call in row.calls
            if row.telling and call.rpartition(".")[2] == expr.function.name and self.linker.imports(call)
        ]
        # The last one is the most special, such as a web framework's own queue.
        for row, call in reversed(rows):
            given = slot_value(row.task, expr)
            task = task_named(self.linker, given, self) if given is not None else None
            hands_over = given is not None and row.by == "function" and self.referred(given) is not None
            if task is not None or hands_over:
                return self._sent(row, call, expr)
        return None

    def _sent(self, row: Send, path: str, expr: f.Call) -> Reached:
        expr = written_out(self, expr)
        given = slot_value(row.task, expr)
        if row.by == "functions":
            return self._sent_in_turn(row, path, expr, given)
        if given is None and row.by == "function":
            given = _spread(row, expr)
        task = task_named(self.linker, given, self) if given is not None else None
        if task is None and given is not None and row.by == "function":
            task = self.refer(row.framework, path, given, expr.at, self._told(row.framework, row, expr))
        self._note(row.framework, task, row, expr)
        options = _options(row, expr)
        off = put_off(self, row, expr, self._clock)
        if row.does in ("signature", "configure"):
            return LibraryCall(path), SignatureType(task, row.framework, options, off, self._follows(row, expr))
        arguments = self._arguments(task, row, expr) if task is not None else ()
        built = self.evaluate(given) if given is not None and row.by in ("signature", "any") else None
        parts = (*(built.parts if isinstance(built, SignatureType) else ()), *self._follows(row, expr))
        follows = tuple(dict.fromkeys(parts))
        return EnqueueCall(row.framework, task, path, arguments, options, row.commit, row.does, off, follows), None

    def _sent_in_turn(self, row: Send, path: str, expr: f.Call, given: f.Expr | None) -> Reached:
        """`async_chain([(pack, (1,)), ship])`: functions in a list, one sent after the other."""
        each = [given.element] if isinstance(given, f.Comprehension) else []
        listed = [Alternative(item, self.place) for item in each] or list(items(given, self.place) if given else ())
        parts: dict[str, None] = {}
        for item in listed:
            first = item.expr.items[0] if isinstance(item.expr, f.Display) and item.expr.items else item.expr
            task = self.at(item.place).refer(row.framework, path, first, first.at)
            parts.update({task: None} if task is not None else {})
        options = _options(row, expr)
        if row.does == "signature":
            return LibraryCall(path), SignatureType(None, row.framework, options, parts=tuple(parts))
        return EnqueueCall(row.framework, None, path, (), options, row.commit, row.does, None, tuple(parts)), None

    def _arguments(self, task: str, row: Method | Send, expr: f.Call) -> Words:
        """The task's own arguments in a call that sends it, by parameter name."""
        positional: list[f.Expr] = []
        keywords: dict[str, f.Expr] = {}
        args, named = slot_value(row.args, expr), slot_value(row.kwargs, expr)
        if row.arguments == "direct" and args is None and named is None:
            for argument in expr.arguments:
                if argument.star:
                    continue
                if argument.name is None:
                    positional.append(argument.value)
                elif argument.name not in row.options:
                    keywords[argument.name] = argument.value
            if isinstance(row, Send):
                places = [slot.position for slot in row.task if slot.position is not None]
                positional = positional[max(places, default=-1) + 1 :]
        elif row.arguments in ("direct", "args-kwargs"):
            if isinstance(args, f.Display):
                positional = list(args.items)
            if isinstance(named, f.Mapping):
                keywords = {
                    key.value: value
                    for key, value in named.items
                    if isinstance(key, f.Constant) and isinstance(key.value, str)
                }
        draft = self.linker.drafts[task]
        info = self.linker.functions[draft.routine.function]
        hidden = 1 if task_routine(self.linker, draft).receiver is not None else 0
        bound, _, spare = bind(info.fact.parameters[hidden:], positional, keywords)
        return tuple({**bound, **spare}.items())

    def _note(self, framework: str, task: str | None, row: Method | Send, expr: f.Call) -> None:
        """Keep with the task what a message to it says about its delivery."""
        if task is not None:
            note(self.linker, task, (*self._told(framework, row, expr), *self._holder(row, expr)))
            attach(self.linker, task, self._attached(framework, expr))

    def _attached(self, framework: str, expr: f.Call) -> Iterator[Attached]:
        """What the call has the worker run beside the task."""
        for row in self.linker.catalog.framework(framework).companions:
            given = [slot_value((slot,), expr) for slot in row.given]
            for routine in (self.companion(row, each) for each in given if each is not None):
                if routine is not None:
                    yield Attached(row, routine)

    def _told(self, framework: str, row: Method | Send, expr: f.Call) -> list[Option]:
        """What the call that sends a message says about its delivery."""
        names = set(self.linker.catalog.framework(framework).sent)
        said = [(name, value) for name, value in _options(row, expr) if name in names]
        if names.intersection(row.options):
            said += [(SPREAD, argument.value) for argument in expr.arguments if argument.star == "**"]
        return [self._option(name, value) for name, value in said]

    def _holder(self, row: Method | Send, expr: f.Call) -> Iterator[Option]:
        """What the message is handed to, where that was made with options of its own."""
        base = expr.function.base if isinstance(expr.function, f.Attribute) else None
        kind = self.evaluate(base) if base is not None and row.holder else None
        if base is not None and row.holder and not isinstance(kind, LibraryType):
            yield self._option(row.holder, base)

    def _option(self, name: str, expr: f.Expr) -> Option:
        """What a message says: worked out here, where local names are known."""
        site = Site(self.module.file.path, self.piece, expr.at)
        value = worth(self, expr)
        # What could be read of a dict is written out already.
        if name == SPREAD and isinstance(value, Known):
            value = Unknown("it is changed before it is spread here")
        return valued(Option(name, expr, self.module.id, site, "message"), value)

    @property
    def _clock(self) -> Clock:
        """Whether an expression is a call that gives the time of the call."""

        def is_clock(expr: f.Expr) -> bool:
            kind = self.evaluate(expr.function) if isinstance(expr, f.Call) else None
            return isinstance(kind, LibraryType) and self.linker.catalog.origin(kind.path) == "clock"

        return is_clock


def method_of(signature: SignatureType, name: str) -> TaskMethodType:
    """A method of a signature, or of several tied together."""
    of = "signature" if signature.task else "composition"
    return TaskMethodType(
        signature.task, signature.framework, name, of, signature.options, signature.delay, signature.parts
    )


def tied(kinds: Iterable[Type | None]) -> tuple[str, ...]:
    """The tasks of signatures, alone or several of them."""
    found: list[str] = []
    for kind in kinds:
        match kind:
            case SignatureType():
                found.extend(kind.tasks)
            case SeveralType(item):
                found.extend(tied((item,)))
            case RecordType(items):
                found.extend(tied(items))
    return tuple(dict.fromkeys(found))


def together(kinds: Sequence[Type | None]) -> Type | None:
    """What the items of a list are; of signatures, all that they send."""
    first = kinds[0] if kinds else None
    if isinstance(first, SignatureType) and all(isinstance(kind, SignatureType) for kind in kinds) and len(kinds) > 1:
        return SignatureType(None, first.framework, parts=tied(kinds))
    return either(kinds)


def _spread(row: Send, expr: f.Call) -> f.Expr | None:
    """What is passed for the task in a dict that is spread into the call."""
    spread = next((word.value for word in expr.arguments if word.star == "**"), None)
    name = next((slot.name for slot in row.task if slot.name is not None), None)
    return f.Subscript(expr.at, spread, f.Constant(expr.at, name)) if spread is not None and name is not None else None


def _options(row: Method | Send, expr: f.Call) -> Words:
    """The keywords of a sending call that are not the task's arguments."""
    named = ((word.name, word.value) for word in expr.arguments if word.name is not None)
    return tuple((name, value) for name, value in named if name in row.options)
