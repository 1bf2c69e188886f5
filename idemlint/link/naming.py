"""What is called by a name that is only a text: `getattr(plugin, method)`, `import_string(path)`.

The words of a text are followed from the call that gives them, through parameters that hand them on, to where they name
something. Functions that ask for them are read once more for each of the texts they are given, and no others are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from idemlint.link.containers import CHOICES, either, under
from idemlint.link.modules import Binding
from idemlint.link.reading import Reading
from idemlint.link.values import Known
from idemlint.program import (
    ClassType,
    EitherType,
    InstanceType,
    LibraryInstance,
    ModuleType,
    RecordType,
    RoutineType,
    TableType,
    TextType,
    Type,
)
from idemlint.syntax import facts as f

# What is left open in `getattr(self, f"on_{event}")` is one of a family only where its first letters say so.
_TELLING = 3


class Naming(Reading):
    """The part of a walk that knows which texts a name may stand for."""

    def worded(self, expr: f.Expr, kind: Type | None) -> Type | None:
        """An argument with its words, or with the parameter of this function that brings them."""
        if isinstance(kind, TextType) or not _may_be_text(kind):
            return kind
        match expr:
            case f.Constant(value=str(text)):
                return TextType((text,), kind)
            case f.Name(id=name) if name in self.written:
                return TextType(self.texts(expr), kind)
            case f.Name(id=name) if self._asker(name) is not None:
                return TextType((), kind, name)
            case f.Attribute() if isinstance(known := self.constants.get(expr.at), str):
                return TextType((known,), kind)
        return kind

    def worded_items(self, expr: f.Expr, kinds: Iterable[Type | None]) -> Iterator[Type | None]:
        """The same for what `*args` hands on."""
        parameter = expr.id if isinstance(expr, f.Name) and expr.id not in self.written else ""
        for kind in kinds:
            plain_text = parameter and not isinstance(kind, TextType) and _may_be_text(kind)
            yield TextType((), kind, parameter) if plain_text else kind

    def texts(self, expr: f.Expr) -> tuple[str, ...]:
        """The texts that an expression may stand for; none where one of them cannot be told. A parameter is asked for:
        whoever calls this function with a text has it read with that."""
        match expr:
            case f.Constant(value=str(text)):
                return (text,)
            case f.Conditional(body=body, orelse=orelse):
                return self._all([body, orelse])
            case f.Name(id=name):
                kind = self.env[name] if name in self.env else self.captured.get(name)
                if isinstance(kind, TextType):
                    self.used.update([name] if name not in self.env else ())
                    return kind.texts
                if name in self.written:
                    given, self.written[name] = self.written[name], []
                    found = self._all(given)
                    self.written[name] = given
                    return found
                self.want(name)
        if strings := _strings(self.constants.get(expr.at)):
            return strings
        value = self.linker.constants.evaluate(expr, self.module) if isinstance(expr, f.Attribute) else None
        return _strings(value.value) if isinstance(value, Known) else ()

    def items_of(self, expr: f.Expr) -> tuple[str, ...]:
        """The texts in a list that is written out, or kept in a constant or a setting."""
        if isinstance(expr, f.Display):
            return self._all(expr.items)
        value = self.linker.constants.evaluate(expr, self.module) if isinstance(expr, f.Name | f.Attribute) else None
        if not isinstance(value, Known) or not isinstance(value.value, list | tuple | set | frozenset):
            return ()
        return tuple(each for item in islice(value.value, CHOICES) for each in _strings(item))

    def text_for(self, given: Type | None) -> Type | None:
        """What a parameter is that is asked for its words: those it is given, or that this function has to ask for."""
        if not isinstance(given, TextType):
            return None
        if given.parameter:
            self.want(given.parameter)
        return TextType(given.texts, given.plain) if given.texts else None

    def text_among(self, given: Iterable[Type | None]) -> Type | None:
        """The same for the parameter that takes all the rest."""
        kinds = [(self.text_for(kind), plain(kind)) for kind in given]
        return RecordType(tuple(text or kind for text, kind in kinds)) if any(text for text, _ in kinds) else None

    def _all(self, exprs: Iterable[f.Expr]) -> tuple[str, ...]:
        found: list[str] = []
        for each in exprs:
            texts = self.items_of(each.value) if isinstance(each, f.Starred) else self.texts(each)
            if not texts:
                return ()
            found.extend(texts)
        return tuple(dict.fromkeys(found))

    def want(self, name: str) -> None:
        """Note that the words of a parameter are asked for, be it one of a function around this one."""
        asker = self._asker(name)
        if asker is not None:
            self.linker.named.setdefault(asker, set()).add(name)

    def _asker(self, name: str) -> str | None:
        """The function whose parameter a name is."""
        id = self.function.id if self.function is not None else ""
        while (info := self.linker.functions.get(id)) is not None:
            if any(each.name == name and each.kind != "**" for each in info.fact.parameters):
                return id
            id = id.rpartition(".")[0]
        return None

    # --- what the texts name

    def under_text(self, table: TableType, key: f.Expr) -> Type | None:
        """What a dict of functions or classes holds under a key; any of them where the key is not known."""
        found = under(table, key)
        if not isinstance(found, EitherType) or isinstance(key, f.Constant):
            return found
        kinds = dict(table.items)
        texts = self.texts(key)
        return either(kinds.get(text, table.rest) for text in texts) if texts else found

    def named(self, holder: Type | None, expr: f.Expr) -> Type | None:
        """What `getattr(holder, expr)` gives."""
        if not isinstance(holder, InstanceType | ClassType | ModuleType | EitherType):
            return None
        texts = self.texts(expr) or self._family(holder, expr)
        found = either(self.attribute(holder, text) for text in texts)
        if isinstance(found, RoutineType | EitherType):
            return EitherType(found.kinds if isinstance(found, EitherType) else (found,), by_name=True)
        return found

    def _family(self, holder: Type, expr: f.Expr) -> tuple[str, ...]:
        """The methods that a text names which is known in part: `getattr(self, f"on_{event}")`."""
        start, end = _ends(expr)
        if len(start) + len(end) < _TELLING or not isinstance(holder, InstanceType | ClassType):
            return ()
        classes = self.linker.classes
        infos = classes.order(holder.name)[0] if holder.name in classes.known else ()
        names = dict.fromkeys(name for info in infos for name, found in info.members.items() if _is_method(found))
        fits = [name for name in names if name.startswith(start) and name.endswith(end)]
        return tuple(name for name in fits if len(name) > len(start) + len(end))

    def at_paths(self, expr: f.Expr) -> Type | None:
        """What the path names that an expression holds."""
        near = self.module.file.path
        return either(self.linker.at_path(text, near) for text in self.texts(expr))


def plain(kind: Type | None) -> Type | None:
    """What a value is where nobody asks for its words."""
    return kind.plain if isinstance(kind, TextType) else kind


def _may_be_text(kind: Type | None) -> bool:
    return kind is None or (isinstance(kind, LibraryInstance) and kind.path == "builtins.str")


def _strings(value: object) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else ()


def _is_method(bindings: Sequence[Binding]) -> bool:
    return any(isinstance(each.fact, f.Function) for each in bindings)


def _ends(expr: f.Expr) -> tuple[str, str]:
    """How a text begins and ends that is put together: `f"on_{event}"`, `"on_" + event`, `"on_%s" % event`."""
    match expr:
        case f.Format(parts=(f.Constant(value=str(start)), *_, f.Constant(value=str(end)))):
            return start, end
        case f.Format(parts=(f.Constant(value=str(start)), *_)):
            return start, ""
        case f.Format(parts=(*_, f.Constant(value=str(end)))):
            return "", end
        case f.Operation(operator="+", left=f.Constant(value=str(start))):
            return start, ""
        case f.Operation(operator="+", right=f.Constant(value=str(end))):
            return "", end
        case f.Operation(operator="%", left=f.Constant(value=str(text))) if text.count("%") == text.count("%s") == 1:
            start, _, end = text.partition("%s")
            return start, end
    return "", ""
