"""What a data layer can be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from idemlint.orm import absent
from idemlint.orm.terms import Assigned, Change, IsModel, LibraryBase, Outcome, Reception, Related, Resolve
from idemlint.program import DataOperation, Model, RowsType, Site, Type
from idemlint.syntax import facts as f


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """A data layer, as the functions that answer for it; they say themselves what they take and give. For what a layer
    leaves out the answers of `absent` hold.

    `migrates` are the words of calls that migrations make, `unstored` attributes that are true of a row until it is
    stored. `fills` is the method of a row that the layer calls before it stores it ("" for none). `unit_of_work` says
    that a session keeps the rows it loaded and stores what becomes of them when it commits, `mixins` that classes which
    are no models lend their columns to models.
    """

    name: str
    relations: frozenset[str] = frozenset()
    column_references: frozenset[str] = frozenset()
    unstored: frozenset[str] = frozenset()
    fills: str = ""
    migrates: frozenset[str] = frozenset()
    remedies: Mapping[str, str] = field(repr=False)
    unit_of_work: bool = False
    mixins: bool = False

    model_base: Callable[[str], bool] = absent.model_base
    library_model: Callable[[str], Model | None] = absent.library_model
    library_method: Callable[[Model, str], str | None] = absent.library_method
    read_model: Callable[[str, f.Class, Site, Sequence[Model], bool, Resolve, LibraryBase, Assigned], Model] = (
        absent.read_model
    )
    table: Callable[[str, f.Call, Site, str, Resolve, LibraryBase], tuple[Model, RowsType] | None] = absent.table
    outside_key: Callable[[Model, f.Call, Resolve], Model] = absent.outside_key
    is_user: Callable[[Model], bool] = absent.is_user
    settle: Callable[[Mapping[str, Model]], dict[str, Model]] = absent.settle
    labelled: Callable[[str, Mapping[str, Model]], str | None] = absent.labelled
    related_names: Callable[[Iterable[Model]], dict[tuple[str, str], tuple[str, bool]]] = absent.related_names
    static: Callable[[Model, str], Type | None] = absent.static
    attribute: Callable[[Model, str, Related], Type | None] = absent.attribute
    rows_attribute: Callable[[RowsType, Model, str], Type | None] = absent.rows_attribute
    item: Callable[[RowsType], Type | None]
    managed: Callable[[RowsType, Model], RowsType] = absent.managed
    annotated_rows: Callable[[str, Type | None], RowsType | None] = absent.annotated_rows
    manager_parts: Callable[[f.Expr], tuple[f.Expr, f.Expr] | None] = absent.manager_parts
    construct: Callable[[Model, f.Call], DataOperation] = absent.construct
    operation: Callable[[Type, str, f.Call, Model, Resolve | None], Outcome | None]
    shortcut: Callable[[str, f.Call, Resolve], Outcome | None] = absent.shortcut
    guess: Callable[[f.Call, Resolve, IsModel], str | None] = absent.guess
    receiver: Callable[[f.Expr, Resolve], tuple[Reception, ...]] = absent.receiver
    connection: Callable[[f.Call, Resolve], tuple[f.Expr, Reception] | None] = absent.connection
    sent: Callable[[DataOperation], tuple[str, ...]] = absent.sent
    migrated: Callable[[f.Body, str, Resolve, LibraryBase], Iterable[tuple[Change, int]]] = absent.migrated
