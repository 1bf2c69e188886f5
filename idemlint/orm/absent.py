"""What a layer answers about things that it does not have. A `Layer` takes from here what it leaves out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from idemlint.orm.terms import Assigned, Change, IsModel, LibraryBase, Outcome, Reception, Related, Resolve
from idemlint.program import DataOperation, Model, RowsType, Site, Type
from idemlint.syntax import facts as f


def model_base(path: str) -> bool:
    """No class is a model."""
    return False


def read_model(
    name: str,
    cls: f.Class,
    site: Site,
    parents: Sequence[Model],
    unknown_bases: bool,
    resolve: Resolve,
    library_base: LibraryBase,
    assigned: Assigned,
) -> Model:
    """Nobody asks for the model of a class where no class is one."""
    raise NotImplementedError(name)


def construct(model: Model, call: f.Call) -> DataOperation:
    """Nor what making an instance of such a class does."""
    raise NotImplementedError(model.name)


def library_model(path: str) -> Model | None:
    """No library brings models of this layer along."""
    return None


def library_method(model: Model, method: str) -> str | None:
    """Rows have no methods but the layer's own."""
    return None


def table(
    path: str, call: f.Call, site: Site, module: str, resolve: Resolve, library_base: LibraryBase
) -> tuple[Model, RowsType] | None:
    """No call outside of a class makes a model."""
    return None


def outside_key(model: Model, call: f.Call, resolve: Resolve) -> Model:
    """No call beside the class adds to a model."""
    return model


def is_user(model: Model) -> bool:
    """The layer names no model of users."""
    return False


def settle(models: Mapping[str, Model]) -> dict[str, Model]:
    """Models are whole when they have been read."""
    return dict(models)


def labelled(label: str, models: Mapping[str, Model], near: str = "") -> str | None:
    """Models are never named by text."""
    return None


def related_names(models: Iterable[Model]) -> dict[tuple[str, str], tuple[str, bool]]:
    """Relations have no way back."""
    return {}


def static(model: Model, name: str) -> Type | None:
    """An attribute of the class is what its assignment says."""
    return None


def attribute(model: Model, name: str, related: Related) -> Type | None:
    """An attribute of a row leads nowhere."""
    return None


def rows_attribute(rows: RowsType, model: Model, name: str) -> Type | None:
    """Rows have methods only."""
    return None


def managed(rows: RowsType, model: Model) -> RowsType:
    """The rows as they are: there are no managers."""
    return rows


def annotated_rows(path: str, item: Type | None) -> RowsType | None:
    """No annotation says that a value is rows."""
    return None


def manager_parts(expression: f.Expr) -> tuple[f.Expr, f.Expr] | None:
    """There are no managers."""
    return None


def shortcut(path: str, call: f.Call, resolve: Resolve) -> Outcome | None:
    """No function of the library works on models."""
    return None


def guess(call: f.Call, resolve: Resolve, is_model: IsModel) -> str | None:
    """What a call is on something unknown is never plain from what it is given."""
    return None


def receiver(decorator: f.Expr, resolve: Resolve) -> tuple[Reception, ...]:
    """No decorator makes a function receive signals."""
    return ()


def connection(call: f.Call, resolve: Resolve) -> tuple[f.Expr, Reception] | None:
    """No call connects a handler to a signal."""
    return None


def sent(operation: DataOperation) -> tuple[str, ...]:
    """No operation sends signals."""
    return ()


def migrated(body: f.Body, path: str, resolve: Resolve, library_base: LibraryBase) -> Iterable[tuple[Change, int]]:
    """No migrations are read."""
    return ()
