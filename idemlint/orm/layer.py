"""What a data layer can be asked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from idemlint.program import DataOperation, Field, Model, RowsType, Site, Type, UniqueKey
from idemlint.syntax import facts as f

# What an expression is in the place it stands in.
Resolve = Callable[[f.Expr], Type | None]
# The first library class that a project class derives from: `django.db.models.CharField` for a field of its own.
LibraryBase = Callable[[Type], str | None]
# What a name at module level was assigned: the expression, where it is seen.
Assigned = Callable[[f.Expr], f.Expr | None]
# Whether a class of the project, by id, is a model of the layer that asks.
IsModel = Callable[[str], bool]
# (model id, attribute) -> (id of the model at the other end, whether that is one row).
Related = Mapping[tuple[str, str], tuple[str, bool]]
# What a call does, and what it gives.
Outcome = tuple[DataOperation, Type | None]


@dataclass(frozen=True, slots=True)
class Reception:
    """A signal that is received: from the model with the id `sender` (None: from every model) or, where the sender is
    named by text, from the one with that label."""

    signal: str
    sender: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """What a migration or a schema says of one table.

    `table` is its name in the database or, where a migration names the model instead, `label` is `app.Model`. `whole`
    says that `fields` are all of its columns, `hidden` that part of what is said could not be read. `name` is that of
    the key, where keys are dropped by name; `drops` says that this key is taken away, or with `name` "" all keys of the
    kind that `source` tells.
    """

    table: str = ""
    fields: tuple[Field, ...] = ()
    unique: tuple[UniqueKey, ...] = ()
    whole: bool = False
    hidden: bool = False
    label: str = ""
    name: str = ""
    drops: bool = False


class Layer(Protocol):
    """A module of this package; its functions say what they take and give.

    `MIGRATES` are the words of calls that migrations make, `UNSTORED` attributes that are true of a row until it is
    stored. `FILLS` is the method of a row that the layer calls before it stores it ("" for none). `UNIT_OF_WORK` says
    that a session keeps the rows it loaded and stores what becomes of them when it commits, `MIXINS` that classes which
    are no models lend their columns to models.
    """

    NAME: str
    WORDS: tuple[str, ...]
    RELATIONS: frozenset[str]
    COLUMN_REFERENCES: frozenset[str]
    UNSTORED: frozenset[str]
    FILLS: str
    MIGRATES: frozenset[str]
    REMEDIES: Mapping[str, str]
    UNIT_OF_WORK: bool
    MIXINS: bool

    def model_base(self, path: str) -> bool: ...
    def library_model(self, path: str) -> Model | None: ...
    def library_method(self, model: Model, method: str) -> str | None: ...
    def read_model(
        self,
        name: str,
        cls: f.Class,
        site: Site,
        parents: Sequence[Model],
        unknown_bases: bool,
        resolve: Resolve,
        library_base: LibraryBase = ...,
        assigned: Assigned = ...,
    ) -> Model: ...
    def table(
        self, path: str, call: f.Call, site: Site, module: str, resolve: Resolve, library_base: LibraryBase
    ) -> tuple[Model, RowsType] | None: ...
    def outside_key(self, model: Model, call: f.Call, resolve: Resolve) -> Model: ...
    def is_user(self, model: Model) -> bool: ...
    def settle(self, models: Mapping[str, Model]) -> dict[str, Model]: ...
    def labelled(self, label: str, models: Mapping[str, Model], near: str = "") -> str | None: ...
    def related_names(self, models: Iterable[Model]) -> dict[tuple[str, str], tuple[str, bool]]: ...
    def covers(self, model: Model, columns: Collection[str]) -> UniqueKey | None: ...
    def nullable(self, model: Model, key: UniqueKey) -> tuple[str, ...]: ...
    def static(self, model: Model, name: str) -> Type | None: ...
    def attribute(self, model: Model, name: str, related: Related) -> Type | None: ...
    def rows_attribute(self, rows: RowsType, model: Model, name: str) -> Type | None: ...
    def item(self, rows: RowsType) -> Type | None: ...
    def managed(self, rows: RowsType, model: Model) -> RowsType: ...
    def annotated_rows(self, path: str, item: Type | None) -> RowsType | None: ...
    def manager_parts(self, expression: f.Expr) -> tuple[f.Expr, f.Expr] | None: ...
    def construct(self, model: Model, call: f.Call) -> DataOperation: ...
    def operation(
        self, receiver: Type, method: str, call: f.Call, model: Model, resolve: Resolve | None = ...
    ) -> Outcome | None: ...
    def shortcut(self, path: str, call: f.Call, resolve: Resolve) -> Outcome | None: ...
    def guess(self, call: f.Call, resolve: Resolve, is_model: IsModel) -> str | None: ...
    def receiver(self, decorator: f.Expr, resolve: Resolve) -> tuple[Reception, ...]: ...
    def connection(self, call: f.Call, resolve: Resolve) -> tuple[f.Expr, Reception] | None: ...
    def sent(self, operation: DataOperation) -> tuple[str, ...]: ...
    def migrated(
        self, body: f.Body, path: str, resolve: Resolve, library_base: LibraryBase
    ) -> Iterable[tuple[Change, int]]: ...
