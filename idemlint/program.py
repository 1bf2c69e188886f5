"""The linked program: frozen values that say what calls what and what each expression is.

`link` makes them, every later stage only reads them. Project things are named by an id: `package.module:Class.method`,
`package.module:outer.inner`, `package.module:outer.<lambda 17>` (17 is the ordinal in the slice). Library things are
named by their dotted path.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from idemlint.catalog.consumer import Consumer
from idemlint.syntax import facts as f

T = TypeVar("T")


@dataclass(frozen=True, slots=True, order=True)
class Site:
    """A node of the program: file, index of its top-level statement in the file, ordinal in that statement."""

    path: str
    piece: int
    at: int


# --- What an expression is -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ModuleType:
    """A module of the project."""

    name: str


@dataclass(frozen=True, slots=True)
class LibraryType:
    """Something in a library, by dotted path: a module, a function or a class, not yet called."""

    path: str


@dataclass(frozen=True, slots=True)
class LibraryInstance:
    """What calling the library class or function at `path` gave; `of` is what of the project's own it is said to hold,
    `Promise[Order]`."""

    path: str
    of: Type | None = None


@dataclass(frozen=True, slots=True)
class ClassType:
    """A class of the project."""

    name: str


@dataclass(frozen=True, slots=True)
class InstanceType:
    """An instance of a project class; a model's row when that class is a model. `kept` are attributes that hold what
    this one was made with, where its class does not say it: a function, an object of a more special class."""

    name: str
    kept: tuple[tuple[str, Type], ...] = ()


@dataclass(frozen=True, slots=True)
class RoutineType:
    """A function of the project, maybe bound to a receiver, with the types of the names it closes over. `within` are
    the library's transactions that it was wrapped in, `atomic(f)`."""

    function: str
    receiver: Type | None = None
    captured: tuple[tuple[str, Type], ...] = ()
    within: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PartialType:
    """`functools.partial(target, *positional, **keywords)`; None where an argument's type is unknown."""

    target: Type
    positional: tuple[Type | None, ...] = ()
    keywords: tuple[tuple[str, Type | None], ...] = ()


@dataclass(frozen=True, slots=True)
class RowsType:
    """A manager or queryset of a model; `manager` is the project class that adds methods to it, `queryset` a second one
    behind it (`SomeManager.from_queryset(SomeQuerySet)`); `through` the name of the relation when it hangs off a row
    (`order.lines`). `values` marks rows that come as plain values, not as instances (`values_list`).

    `stage` is a word of the layer for where it stands on the way from a table through a statement to its rows,
    `columns` what each row is made of: (model, column), "" for a whole row and for what is no column."""

    model: str
    manager: str | None = None
    through: str | None = None
    queryset: str | None = None
    values: bool = False
    stage: str = ""
    columns: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A column named through its model (`Order.status`): an expression for the database."""

    model: str
    column: str


@dataclass(frozen=True, slots=True)
class SeveralType:
    """A list, set or iterator of items."""

    item: Type | None


@dataclass(frozen=True, slots=True)
class RecordType:
    """A tuple of known length."""

    items: tuple[Type | None, ...]


@dataclass(frozen=True, slots=True)
class TableType:
    """A dict with the string keys that are known; `rest` is what stands under the others."""

    items: tuple[tuple[str, Type | None], ...]
    rest: Type | None = None


@dataclass(frozen=True, slots=True)
class EitherType:
    """One of several things that can be called or asked for a method, nobody knows which: what a dict of functions
    holds under a key that a message brings. With `by_name` a text says which, and there may be others, or none."""

    kinds: tuple[Type, ...]
    by_name: bool = False


@dataclass(frozen=True, slots=True)
class TextType:
    """A text whose words say what is called: one of `texts`, or what the parameter of this name is given. `plain` is
    what it is where nobody asks for the words."""

    texts: tuple[str, ...]
    plain: Type | None
    parameter: str = ""


@dataclass(frozen=True, slots=True)
class TaskType:
    """A task object, as the name of a decorated function is."""

    task: str


@dataclass(frozen=True, slots=True)
class SignatureType:
    """A call of a task that is built but not sent; `task` is None for several tied together (a chain, a group), of
    which `parts` are those that are known; of one task they are those that the worker sends after it. `options` are the
    ones of the sending that are set already, `delay` the wait that is."""

    task: str | None
    framework: str
    options: tuple[tuple[str, f.Expr], ...] = ()
    delay: Delay | None = None
    parts: tuple[str, ...] = ()

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that are sent with it."""
        return self.parts if self.task is None else (self.task, *self.parts)


@dataclass(frozen=True, slots=True)
class TaskMethodType:
    """A method of a task object (`charge.delay`), a signature or a composition of `parts` (`of`), not yet called."""

    task: str | None
    framework: str
    method: str
    of: str = "task"
    options: tuple[tuple[str, f.Expr], ...] = ()
    delay: Delay | None = None
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SendingType:
    """A callable that sends one message when it is called, as `partial(queue.enqueue, f, 1)` is."""

    call: EnqueueCall


@dataclass(frozen=True, slots=True)
class DataMethodType:
    """A method of the data layer on a row, a class or a queryset, not yet called."""

    receiver: Type
    method: str


@dataclass(frozen=True, slots=True)
class DeclarerType:
    """A decorator that makes a function a task, with the options it has been given so far."""

    path: str
    options: tuple[Option, ...] = ()


Type: TypeAlias = (
    ModuleType
    | LibraryType
    | LibraryInstance
    | ClassType
    | InstanceType
    | RoutineType
    | PartialType
    | RowsType
    | ColumnType
    | SeveralType
    | RecordType
    | TableType
    | EitherType
    | TextType
    | TaskType
    | SignatureType
    | TaskMethodType
    | SendingType
    | DataMethodType
    | DeclarerType
)


# --- The data layer --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Field:
    """A column of a model.

    `kind` is one of "text", "number", "money", "time", "flag", "json", "relation", "relation-many", "id", "other".
    `default` says what the column gets when nobody sets it: None (nothing), "constant", "unstable" (uuid, clock,
    random) or "unknown". `target` is the id of the related model, `related` the name of the way back.
    """

    name: str
    kind: str
    null: bool = False
    default: str | None = None
    target: str | None = None
    related: str | None = None
    at: int = 0


@dataclass(frozen=True, slots=True)
class UniqueKey:
    """Columns no two rows share. `condition` names the columns of a partial key (empty: it holds for all rows),
    `nulls_distinct` whether rows with NULL in it escape. `source` says where it was declared, for the story."""

    columns: tuple[str, ...]
    condition: tuple[str, ...] = ()
    nulls_distinct: bool = True
    source: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """A table. `layer` is the data layer's name, `managers` maps class attributes to the project class (None: plain)
    of the manager behind them, the default one first; `querysets` names the second class of those that have two.
    `bases` are all models it inherits from, nearest first. `seen` says whether the whole schema was read (an
    unresolved base hides columns). `aliases` are other names of columns, such as the relation that fills a foreign key;
    `version` is the column that the layer itself compares at each update, so that a lost one fails. `table` is the name
    in the database, "" where that cannot be told. With `open` rows are documents: they have columns that nobody
    declares."""

    name: str
    title: str
    layer: str
    site: Site
    fields: tuple[Field, ...]
    unique: tuple[UniqueKey, ...]
    abstract: bool = False
    seen: bool = True
    managers: tuple[tuple[str, str | None], ...] = ()
    bases: tuple[str, ...] = ()
    querysets: tuple[tuple[str, str], ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    version: str = ""
    table: str = ""
    open: bool = False

    def field(self, name: str) -> Field | None:
        """The column of this name; `pk` is the primary key and `order_id` is `order`."""
        if name == "pk":
            return next((field for field in self.fields if field.kind == "id"), None)
        stem = name.removesuffix("_id")
        by_name = {field.name: field for field in self.fields}
        return by_name.get(name) or (by_name.get(stem) if stem != name else None)

    def column(self, name: str) -> str:
        """One spelling for each column: `order_id` becomes `order`, `pk` the primary key's name."""
        for alias, column in self.aliases:
            if alias == name:
                return column
        found = self.field(name)
        return found.name if found else name


@dataclass(frozen=True, slots=True)
class DataOperation:
    """A call on the data layer, in words that hold for every layer.

    kind: "narrow" (filter, exclude, order: gives rows again), "lock" (rows locked to the end of the transaction),
    "get" (one row, raises when there is none), "first" (one row or None), "read" (values, aggregates, counts),
    "exists", "insert", "insert-many", "get-or-insert", "upsert", "update", "update-many" (of given instances),
    "save", "delete", "refresh", "link" (many-to-many), "new" (an instance made, nothing stored).

    Where statements are put together first and run by a session, "build" gives a statement (`verb`: "select",
    "insert", "update", "delete") or adds to the one it is called on, `locks` says that its rows will be locked,
    `returning` that it gives rows, `updates` are what an insert writes over the row in its way; `form` is "query" for
    one that the session it is built by will run, "many" for a list of rows. "run" runs the `statement`, the rows
    given beside it are in `objects`; `form` is "rows", "first", "get", "exists" or "read". "add" puts `objects` into
    the session, "merge" stores over the row with the same key, "remove" deletes a row, "append" puts rows into a
    relation, "bulk" inserts or (`force`) updates the dicts in `objects`, "mutex" takes a lock to the end of the
    transaction that hangs on no row.

    Where rows are documents and so are the queries, "document" does what `verb` says ("insert", "update", "delete",
    "first", "rows" for a query not yet run, "read", "batch" for a list of such calls) to the rows that the document in
    `statement` selects, with what the one in `objects` says; `form` is "upsert" or "many", `returning` says that it
    gives the row, after the change with the `force` "after".

    `lookup` are (column with operator, value) pairs that select rows, `values` what is written beside them (`defaults`
    included; the row that an upsert inserts has both). `steps` says of columns how the new value hangs on the old one,
    where the call says so: "expression" (counted on), "append", "add" (to a set), "remove". `excluded` marks an
    inverted lookup, `objects` is the expression that holds the instances: the list of a bulk call, the row that is
    saved. `fields` are the columns named by `update_fields` (None: all). `conflict` is "", "ignore" or "update",
    `conflict_on` the columns named with it. `force` is "insert" or "update" where the call excludes the other
    (`force_insert`). With `returning` an update gives the row, and a save the one that was saved.
    `opaque` says that part of the lookup or values could not be read (`**kwargs`, `Q` built elsewhere).
    """

    kind: str
    model: str
    lookup: tuple[tuple[str, f.Expr], ...] = ()
    values: tuple[tuple[str, f.Expr], ...] = ()
    excluded: bool = False
    objects: f.Expr | None = None
    fields: tuple[str, ...] | None = None
    conflict: str = ""
    opaque: bool = False
    conflict_on: tuple[str, ...] = ()
    force: str = ""
    verb: str = ""
    statement: f.Expr | None = None
    form: str = ""
    updates: tuple[tuple[str, f.Expr], ...] = ()
    locks: bool = False
    returning: bool = False
    steps: tuple[tuple[str, str], ...] = ()


# --- What a call reaches ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ProjectCall:
    """A function of the project in the context of this call; `body` is a key of `Program.bodies`, `within` are the
    library's transactions that the function was wrapped in."""

    body: str
    within: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """A library's function or method by path; `callbacks` are (argument's ordinal, body key or enqueue)
    of what is handed to it to be called."""

    path: str
    callbacks: tuple[tuple[int, str | EnqueueCall], ...] = ()


@dataclass(frozen=True, slots=True)
class DataCall:
    """A call on the data layer; `bodies` are the receivers of the signals that it sends, `saving` is the model's own
    `save` by which it stores the row, `filling` the model's own method that fills columns of a new one before that."""

    operation: DataOperation
    layer: str
    bodies: tuple[str, ...] = ()
    saving: str | None = None
    filling: str | None = None

    @property
    def entered(self) -> tuple[str, ...]:
        """The bodies of the project that run with it."""
        return (*(key for key in (self.filling, self.saving) if key is not None), *self.bodies)


@dataclass(frozen=True, slots=True)
class Delay:
    """A wait in seconds, where it is asked for, and the environment variable whose default it is."""

    seconds: float
    site: Site
    environment: str | None = None


@dataclass(frozen=True, slots=True)
class EnqueueCall:
    """A task sent. `task` is its id (None: unknown, or several tied together, of which `parts` are those that are
    known; of one task they are those that the worker sends after it), `method` the catalog's row name, `arguments` the
    task's arguments by parameter name where they can be told, `options` the delivery options of this call, `commit`
    "now", "deferred" (sent when the transaction commits) or "configured" (a setting says which), `does` "enqueue" or
    "retry" (the running task sends itself again). `delay` is how long the message waits before the task may run, None
    where it does not or that cannot be told."""

    framework: str
    task: str | None
    method: str
    arguments: tuple[tuple[str, f.Expr], ...] = ()
    options: tuple[tuple[str, f.Expr], ...] = ()
    commit: str = "now"
    does: str = "enqueue"
    delay: Delay | None = None
    parts: tuple[str, ...] = ()

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks that are known to be sent, first one first."""
        return self.parts if self.task is None else (self.task, *self.parts)


@dataclass(frozen=True, slots=True)
class Construction:
    """An instance of a project class made; `body` is its `__init__` when the project wrote one, `library`
    are the library classes it derives from."""

    cls: str
    body: str | None = None
    library: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnresolvedCall:
    """A call whose target may be project code or an unknown client library. `name` is the callee as written, or the
    path of what is called where that is a `library` of which the catalog knows nothing."""

    name: str
    reason: str
    library: bool = False


@dataclass(frozen=True, slots=True)
class ChoiceCall:
    """A call that reaches one of several targets, as a branch on something unknown would; `by_name` as in
    `EitherType`."""

    targets: tuple[Target, ...]
    by_name: bool = False


def each_of(target: Target) -> Iterator[Target]:
    """The targets that a call may reach: itself, or those of a choice."""
    if isinstance(target, ChoiceCall):
        for inner in target.targets:
            yield from each_of(inner)
    else:
        yield target


Target: TypeAlias = ProjectCall | LibraryCall | DataCall | EnqueueCall | Construction | ChoiceCall | UnresolvedCall


@dataclass(frozen=True, slots=True)
class Body:
    """A function as it is reached from one kind of call: its facts, what its calls reach and what its expressions
    are, by ordinal. `captured` are names of the enclosing functions it uses, `receiver` says that the first parameter
    is one, `constants` are the plain values of module-level names and settings that it uses, `arguments` what is
    known of its parameters, `contexts` are context managers that decorate it, outermost first, with the decorator's
    ordinal. `managers` are the bodies of the project's own `__enter__` and `__exit__` ("": none) for what a `with` is
    given, by its ordinal."""

    key: str
    function: str
    path: str
    piece: int
    name: str
    parameters: tuple[f.Parameter, ...]
    statements: f.Body
    is_generator: bool
    at: int
    targets: Mapping[int, Target] = field(repr=False)
    types: Mapping[int, Type] = field(repr=False)
    constants: Mapping[int, object] = field(repr=False)
    arguments: Mapping[str, Type] = field(repr=False)
    returns: Type | None = None
    captured: tuple[str, ...] = ()
    receiver: bool = False
    contexts: tuple[tuple[Target, int], ...] = ()
    managers: Mapping[int, tuple[str, str]] = field(default_factory=dict, repr=False)

    @property
    def reached(self) -> Iterator[Target]:
        """What its calls reach, each of the several that one may reach by itself."""
        for target in self.targets.values():
            yield from each_of(target)


SPREAD = "**"
"""The name of an option that stands for all those in a dict that could not be read where it is spread into a call."""


@dataclass(frozen=True, slots=True)
class Option:
    """A delivery option of a task: its value as an expression, the place that sets it, and where that is said in
    words ("decorator", "base class", "options dict", "message", "worker").

    `value` is a plain Python value once it has been worked out; `known` is False when that could not be done, `reason`
    then says why. `environment` is the variable whose default the value is.
    """

    name: str
    expression: f.Expr
    module: str
    site: Site
    source: str
    value: object = None
    known: bool = False
    reason: str = ""
    environment: str | None = None


@dataclass(frozen=True, slots=True)
class Intake:
    """How a task comes by its messages where no framework brings them: from the queue `row`. With `polls` it takes them
    itself, while it runs; else it is called with each one. `key` is what tells a message from all others, as it stands
    in an f-string, "" if the message has no name. `renewed` says that something nearby asks the queue for more time."""

    row: Consumer
    polls: bool
    key: str = ""
    renewed: bool = False


@dataclass(frozen=True, slots=True)
class Task:
    """A task: its id is the id of its function. `body` is the key of what the worker runs (decorators included),
    `name` its name in the queue, `site` its `def` name, `declared` the decorator or call that makes it a task,
    `library` the library classes that it is an instance of, by path, as far as the code names them. `intake` is how it
    comes by its messages where no framework brings them."""

    id: str
    name: str
    framework: str
    body: str
    function: str
    site: Site
    declared: Site
    options: tuple[Option, ...] = ()
    app: str | None = None
    bound: bool = False
    library: tuple[str, ...] = ()
    intake: Intake | None = None


NOTHING = ""
"""The name of a setting that stands for an app which is told nothing."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of a framework: `name` as the framework spells it (`task_acks_late`), `written` as the author did.

    `value` is a plain Python value; `known` is False when it could not be worked out, `reason` then says why and
    `value` is the start of the text where that much is known (`redis://`), else None. `environment` is the variable
    whose default the value is. The name `*` stands for a source of settings that could not be read.

    `app` is the id of the one app that reads it (`shop.celery:app`), None where every app may. `ignored` says why it
    has no effect as written: such a setting is in force nowhere; `meant` is the spelling that would work.
    """

    name: str
    written: str
    value: object
    known: bool
    site: Site | None
    reason: str = ""
    framework: str = ""
    app: str | None = None
    environment: str | None = None
    ignored: str = ""
    meant: str = ""


@dataclass(frozen=True, slots=True)
class Companion:
    """A function that the worker runs beside a task: the site of its `def` name, and what runs it a second time, in a
    word of the catalog's (`any`, `cut`, `sent`)."""

    site: Site
    again: str


@dataclass(frozen=True, slots=True)
class Root:
    """A place the analysis starts from: a task, what the worker runs beside it, or a function that enqueues or holds a
    transaction around one. `atomic` is what runs it in a transaction, a setting or a wrapper, `around` the bodies of
    what a class of the project puts around each of its tasks, outermost first. With a `companion` the body is not that
    of the task but of this function beside it."""

    body: str
    task: str | None
    atomic: Site | None = None
    around: tuple[str, ...] = ()
    companion: Companion | None = None


@dataclass(frozen=True, slots=True)
class Program:
    """All that later stages read. `roots` are in path and line order, `versions` those of the
    frameworks as far as known, by framework; `purged` are models that some code deletes from; `unread` are (path,
    line, column, reason). `related` are the ways back of relations: (model id, attribute) -> (id of the model at the
    other end, whether that is one row)."""

    bodies: Mapping[str, Body] = field(repr=False)
    tasks: Mapping[str, Task]
    roots: tuple[Root, ...]
    models: Mapping[str, Model] = field(repr=False)
    settings: tuple[Setting, ...]
    versions: Mapping[str, tuple[int, ...]]
    purged: frozenset[str]
    modules: int
    unread: tuple[tuple[str, int, int, str], ...] = ()
    related: Mapping[tuple[str, str], tuple[str, bool]] = field(default_factory=dict, repr=False)


def bind(
    parameters: Iterable[f.Parameter], positional: Iterable[T], keywords: Mapping[str, T]
) -> tuple[dict[str, T], tuple[T, ...], dict[str, T]]:
    """Arguments by parameter name, then what `*args` and `**kwargs` take. Surplus arguments without a taker are
    dropped: a call that cannot run is not this tool's subject."""
    rest = list(positional)
    left = dict(keywords)
    bound: dict[str, T] = {}
    extra: tuple[T, ...] = ()
    spare: dict[str, T] = {}
    for parameter in parameters:
        if parameter.kind in ("positional", "normal"):
            if rest:
                bound[parameter.name] = rest.pop(0)
            elif parameter.kind == "normal" and parameter.name in left:
                bound[parameter.name] = left.pop(parameter.name)
        elif parameter.kind == "*":
            extra, rest = tuple(rest), []
        elif parameter.kind == "keyword":
            if parameter.name in left:
                bound[parameter.name] = left.pop(parameter.name)
        else:
            spare, left = left, {}
    return bound, extra, spare
