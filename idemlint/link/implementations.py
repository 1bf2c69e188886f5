"""What a class leaves open: methods of an interface, and the classes of the project that write them."""

from __future__ import annotations

from idemlint.link.classes import ClassInfo
from idemlint.link.descent import descendants
from idemlint.link.linker import Linker
from idemlint.link.modules import Binding
from idemlint.link.within import last_word
from idemlint.syntax import facts as f

# A class that so many derive from is a base to share, not an interface, and reading all of them takes long.
_CROWD = 40

# Among more implementations than these, what one of them does says little of what will be done.
_MOST = 4

_ABSTRACT = frozenset({"abstractmethod", "abstractproperty", "abstractclassmethod", "abstractstaticmethod"})
_INTERFACES = frozenset({"typing.Protocol", "typing_extensions.Protocol", "abc.ABC"})


def implementations(linker: Linker, cls: str, name: str) -> tuple[str, ...]:
    """The classes that write the member `name` that `cls` leaves open, of those of the project in production; none
    where `cls` has a member of its own, or more write one than anybody chooses among."""
    found = linker.class_member(cls, name)
    if found is None or not is_open(linker, *found):
        return ()
    written: set[str] = set()
    for below in subclasses(linker, cls):
        member = linker.class_member(below, name)
        if member is not None and not is_open(linker, *member):
            written.add(member[0].id)
        elif member is not None and _may_stand(member[1].fact) and not subclasses(linker, below):
            # A class that leaves an empty method as it is has nothing to do there.
            return ()
    return tuple(sorted(written)) if len(written) <= _MOST else ()


def is_open(linker: Linker, info: ClassInfo, binding: Binding) -> bool:
    """Whether a member is only announced: an abstract method, or a name that has a type and no value."""
    fact = binding.fact
    if isinstance(fact, f.Assign):
        return fact.value is None
    if not isinstance(fact, f.Function):
        return False
    if _is_abstract(fact) or _raises(fact):
        return True
    last = fact.body[-1] if fact.body else None
    dots = isinstance(last, f.Evaluate) and isinstance(last.value, f.Name) and last.value.id == "..."
    bases = linker.classes.library_bases(info.id)
    interface = any(path in _INTERFACES or linker.catalog.role(path) == "interface" for path in bases)
    return not _does(fact) and (dots or interface)


def _may_stand(fact: object) -> bool:
    """Whether an open member can be called as it is."""
    return isinstance(fact, f.Function) and not _is_abstract(fact) and not _raises(fact)


def _is_abstract(fact: f.Function) -> bool:
    return any(last_word(decorator) in _ABSTRACT for decorator in fact.decorators)


def _raises(fact: f.Function) -> bool:
    does = _does(fact)
    if len(does) != 1 or not isinstance(does[0], f.Raise):
        return False
    exception = does[0].exception
    return last_word(exception.function if isinstance(exception, f.Call) else exception) == "NotImplementedError"


def _does(fact: f.Function) -> list[f.Statement]:
    """The statements of a function without docstrings and `...`."""
    return [
        statement
        for statement in fact.body
        if not (isinstance(statement, f.Evaluate) and isinstance(statement.value, f.Constant))
        and not (isinstance(statement, f.Evaluate) and last_word(statement.value) == "...")
    ]


def subclasses(linker: Linker, cls: str) -> tuple[str, ...]:
    """The classes in production that derive from a class of the project, by id; none if they are a crowd."""
    if cls not in linker.below:
        found = [info.id for info in descendants(linker, cls)]
        linker.below[cls] = tuple(found) if len(found) <= _CROWD else ()
    return linker.below[cls]
