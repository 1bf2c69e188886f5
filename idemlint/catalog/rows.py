"""The rows of the catalog that speak of calls: frozen values, one class a TOML table, fields named like its keys.

Where a field holds patterns of paths, their alternations are written out already.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Arguments: TypeAlias = Mapping[str, object]
"""The arguments of a call: `#0` for the first positional one, else the keyword. The value is the literal that was
given; `...` stands for one that cannot be told."""


@dataclass(frozen=True, slots=True)
class Slot:
    """Where in a call a value is passed: `#1` is a position, `name` a keyword. `items` lead further inside: a key of
    the dict given there, or an argument of the call written there (`#0.headers.*` for `f(Request(u, headers={...}))`);
    a list is looked through to its items. `*` is any header that counts as a key."""

    position: int | None = None
    name: str | None = None
    items: tuple[str, ...] = ()

    @property
    def argument(self) -> str:
        """The argument as `Arguments` spells it."""
        return f"#{self.position}" if self.name is None else self.name

    def __str__(self) -> str:
        return ".".join([self.argument, *self.items])


@dataclass(frozen=True, slots=True)
class Test:
    """A test on the arguments of a call: one of `argument` is given (and is not None or False); with `matches`, its
    literal text also fits, which a value that cannot be told never does. `#0.method` is what the object given there was
    made with."""

    argument: tuple[Slot, ...]
    matches: re.Pattern[str] | None = None

    def holds(self, arguments: Arguments) -> bool:
        """Whether a call with these arguments passes."""
        given = [arguments[str(slot)] for slot in self.argument if str(slot) in arguments]
        return any(self._accepts(value) for value in given)

    def may_hold(self, arguments: Arguments) -> bool:
        """The same where an argument that cannot be told may be anything."""
        return any(arguments.get(str(slot)) is ... for slot in self.argument) or self.holds(arguments)

    def _accepts(self, value: object) -> bool:
        if value is None or value is False:
            return False
        return self.matches is None or (value is not ... and self.matches.search(str(value)) is not None)


@dataclass(frozen=True, slots=True)
class Http:
    """How a generic HTTP client is called: the verb, or the argument that holds it, and where the address stands.
    `heard` are arguments that have the client itself look at the answer and raise."""

    url: tuple[Slot, ...]
    verb: str = ""
    verb_argument: tuple[Slot, ...] = ()
    heard: tuple[Slot, ...] = ()


@dataclass(frozen=True, slots=True)
class Variant:
    """What the row becomes when the test holds."""

    test: Test
    effect: Effect


@dataclass(frozen=True, slots=True)
class Effect:
    """A call that changes (or reads) something outside the process.

    `kind`, `replay` and `stakes` are words of the vocabulary. `key` is where a key may be passed, `target` where the
    name of the thing written or read is. `does` and `result` are for messages ("charges the card", "the customer is
    charged twice"); `fix` is there only where the provider takes a key, `{key}` in it stands for the key's expression.
    `title` is the library's name in messages.
    """

    calls: tuple[str, ...] = field(repr=False)
    kind: str
    replay: str
    stakes: str = ""
    key: tuple[Slot, ...] = ()
    target: tuple[Slot, ...] = ()
    does: str = ""
    result: str = ""
    fix: str | None = None
    http: Http | None = None
    title: str = ""
    variants: tuple[Variant, ...] = ()

    def given(self, arguments: Arguments) -> Effect:
        """What a call with these arguments is: the first variant whose test holds, else this row itself."""
        return next((variant.effect for variant in self.variants if variant.test.holds(arguments)), self)

    def possible(self, arguments: Arguments) -> Iterator[Effect]:
        """All that a call with these arguments may be, as far as they can be told."""
        for variant in self.variants:
            if variant.test.may_hold(arguments):
                yield variant.effect
            if variant.test.holds(arguments):
                return
        yield self


@dataclass(frozen=True, slots=True)
class Returns:
    """What a call gives, where that is not simply an instance of the path that was called. `{#0,name}` in `type` is
    filled with the literal given there, `{owner}` with what the method was called on."""

    calls: tuple[str, ...]
    type: str


@dataclass(frozen=True, slots=True)
class Role:
    """What a call means to the structure of the code around it, in a word of the vocabulary."""

    calls: tuple[str, ...]
    role: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Where the value of a call or attribute comes from, in a word of the vocabulary. With `pure_from` arguments or
    more the call depends on nothing else and counts as `arguments`."""

    calls: tuple[str, ...]
    origin: str
    pure_from: int | None = None


@dataclass(frozen=True, slots=True)
class Guard:
    """A call that lets one run pass and stops another.

    `guard` is `claim` (the first caller wins, its mark stays), `lock` (one at a time, released afterwards) or
    `once` (a decorator that remembers finished runs). `scope` says where the mark is kept. `won` is the outcome that
    lets the caller pass: `truthy`, `falsy` or `entered` (no exception, the block is entered). `key` is where the key
    stands, `expiry` where a lifetime is given; `expires` is `always`, `never`, or `given` when an `expiry` argument
    decides.
    With `own_retry` it drops a task's own retry too. `only` is a test without which the call guards nothing.
    """

    calls: tuple[str, ...]
    guard: str
    won: str = "truthy"
    scope: str = "shared"
    key: tuple[Slot, ...] = ()
    expiry: tuple[Slot, ...] = ()
    expires: str = "given"
    own_retry: bool = False
    only: Test | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class Constant:
    """Names that stand for a text."""

    names: tuple[str, ...]
    value: str


@dataclass(frozen=True, slots=True)
class ExceptionRow:
    """What it means that one of `names` was raised, in a word of the vocabulary; `base` is the class above them. With
    `keeps_transaction` a database gives up the statement that raised it, and not the transaction around it."""

    names: tuple[str, ...]
    means: str = ""
    base: str = "builtins.Exception"
    keeps_transaction: bool = False


@dataclass(frozen=True, slots=True)
class Declare:
    """Calls that make a function a task: decorators, bare or called with options; with `function`, calls that may be
    handed the function there, or the dotted path to it. `name` is where the task's name in the queue may be given,
    `positional` which options are given without their names, in order, `inside` which arguments are dicts of options.
    `commit` is `now`, or `deferred` for a task that is always sent on commit, or `configured`. With `instance` the task
    may be a method, and is called on an instance of its class."""

    calls: tuple[str, ...]
    function: tuple[Slot, ...] = ()
    name: tuple[Slot, ...] = ()
    positional: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    commit: str = "now"
    instance: bool = False
    framework: str = ""


@dataclass(frozen=True, slots=True)
class DeclareClass:
    """Classes whose subclasses are tasks: the worker calls the method `run`. `register` are calls that are handed the
    class or an instance; empty when being defined is enough. Options are attributes of the class, or of the class
    `options` inside of it; with a true `abstract` among them a class is none, only a base of tasks. `name` is the one
    that gives the task's name in the queue."""

    bases: tuple[str, ...]
    run: str
    register: tuple[str, ...] = ()
    options: str = ""
    abstract: str = ""
    name: str = "name"
    framework: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """Lists of functions that are tasks by standing there: the class attributes of these names in a class that a worker
    is told to read, or the arguments of the same names in `calls`. An item is a function, its dotted path, or what a
    declaring call made of it; with `key`, a dict that holds one of these there. With `coroutines` other functions are
    none. `options` are arguments of `calls` that hold for all of the list, `positional` the arguments that are given
    without their names, in order; a dict given there is read as such a class."""

    attributes: tuple[str, ...]
    calls: tuple[str, ...] = ()
    positional: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    key: str = ""
    coroutines: bool = False
    framework: str = ""


@dataclass(frozen=True, slots=True)
class Method:
    """What methods of a task, a signature or a composition do: `does` is `enqueue`, `signature` (built, not sent),
    `composition` (several of them, tied together), `configure` (the same task with other options), `local` (runs here),
    `retry`, or `result`.

    `arguments` says where the task's own arguments are: `direct` (the call's, without `options`), `args-kwargs` (in
    the sequence at `args` and the dict at `kwargs`), `items` (one run for each item of the iterable at `args`) or
    `none`. `options` are keywords that are not the task's; `commit` is `now`, `deferred` (sent on commit) or
    `configured` (a setting says which). The run is put off by the time at `countdown`, or until the one at `moment`;
    the worker sends the tasks at `follows` after it. What the method is called on is the option `holder` ("": none).
    """

    names: tuple[str, ...]
    does: str
    of: tuple[str, ...] = ("task",)
    arguments: str = "direct"
    args: tuple[Slot, ...] = ()
    kwargs: tuple[Slot, ...] = ()
    options: tuple[str, ...] = ()
    commit: str = "now"
    countdown: tuple[Slot, ...] = ()
    moment: tuple[Slot, ...] = ()
    follows: tuple[Slot, ...] = ()
    holder: str = ""
    framework: str = ""


@dataclass(frozen=True, slots=True)
class Send:
    """Calls that send the task given at `task` (`by`: `name`, `function`, `signature`, or `any` of them, or `functions`
    in a list, alone or each first in a tuple); the rest is as in `Method`. By `function` or `functions`, any function
    or dotted path can be given, and is a task from then on. With `direct`
    the task's arguments are those after `task`, unless there are `args` or `kwargs`. The method's name is `telling` if
    it is enough to know the call where nobody can say what it is called on."""

    calls: tuple[str, ...]
    task: tuple[Slot, ...]
    by: str = "name"
    telling: bool = False
    does: str = "enqueue"
    arguments: str = "args-kwargs"
    args: tuple[Slot, ...] = ()
    kwargs: tuple[Slot, ...] = ()
    options: tuple[str, ...] = ()
    commit: str = "now"
    countdown: tuple[Slot, ...] = ()
    moment: tuple[Slot, ...] = ()
    follows: tuple[Slot, ...] = ()
    holder: str = ""
    framework: str = ""


@dataclass(frozen=True, slots=True)
class Compose:
    """Calls that tie signatures together into something that is sent whole by the methods of a `composition`."""

    calls: tuple[str, ...]
    framework: str = ""


@dataclass(frozen=True, slots=True)
class Companion:
    """Functions that the worker runs beside a task, before or after it. They are given at one of the slots `given`: an
    option of the task or of a message to it, an argument of what runs the worker, or a method or attribute of the class
    of the task or of the worker. A function may be handed over inside a call of one of `wraps`. `again` says what runs
    it a second time: `any` cause for which the task is, only one that `cut` the run, or only a second message that is
    `sent`. With `bound` the task itself is handed over first; `passes` are the types of further arguments, by
    position."""

    given: tuple[Slot, ...]
    again: str
    wraps: tuple[str, ...] = ()
    bound: bool = False
    passes: Mapping[str, str] = field(default_factory=dict)
    framework: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The options and attributes that hold the function itself."""
        return tuple(slot.name for slot in self.given if slot.name is not None and not slot.items)


@dataclass(frozen=True, slots=True)
class Framework:
    """A task queue. `words` are identifiers that make a file worth a look, `own` marks one of which rows of the user's
    own speak, so that it counts whatever the project imports. `bound` is the option that hands the task itself over as
    first parameter (`always`: no option needed), `context` the one that hands over a context there. `options` are the
    names that bear on delivery, `sent` those of them that a message brings along, `unique` those that drop a message
    while an equal one waits, `request` the attributes of the task or its context that have an origin. `naming` is the
    name of a task in the queue where none is given, made of `{module}` and `{function}`. `packages` are the
    distributions whose versions matter, if others than the one called like the framework; `libraries` what it is
    imported from. `made_of` are the arguments and attributes of an app that say which class its tasks are of."""

    name: str
    words: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    bound: str = ""
    context: str = ""
    naming: str = "{module}.{function}"
    options: tuple[str, ...] = ()
    sent: tuple[str, ...] = ()
    unique: tuple[str, ...] = ()
    request: Mapping[str, str] = field(default_factory=dict)
    made_of: tuple[str, ...] = ()
    title: str = ""
    libraries: tuple[str, ...] = ()
    own: bool = False
    declares: tuple[Declare, ...] = ()
    classes: tuple[DeclareClass, ...] = ()
    listings: tuple[Listing, ...] = ()
    methods: tuple[Method, ...] = ()
    sends: tuple[Send, ...] = ()
    composes: tuple[Compose, ...] = ()
    companions: tuple[Companion, ...] = ()

    def method(self, name: str, of: str = "task") -> Method | None:
        """What the method `name` of a `task`, `signature` or `composition` does; None if it has no part in delivery."""
        return next((row for row in self.methods if name in row.names and of in row.of), None)
