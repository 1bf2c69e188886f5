"""The layer's own words, and how the expressions of a model's class body are understood."""

from __future__ import annotations

from dataclasses import dataclass

from idemlint.orm.arguments import last_name
from idemlint.orm.terms import Assigned, LibraryBase, Resolve
from idemlint.program import ClassType, LibraryInstance, LibraryType, RowsType
from idemlint.syntax import facts as f

NAME = "sqlalchemy"

HEADS = frozenset({"sqlalchemy", "sqlmodel", "flask_sqlalchemy"})

# Calls that make one model point at another.
RELATIONS = frozenset({"relationship", "Relationship", "dynamic_loader", "ForeignKey"})

# The stages of a `RowsType`: a table, its columns, a statement, what running it gave.
TABLE, COLUMNS, QUERY, SELECT = "table", "columns", "query", "select"
INSERT, UPDATE, DELETE = "insert", "update", "delete"
EXISTS, ASKING = "exists", "asking"
RESULT, SCALARS = "result", "scalars"
STATEMENTS = frozenset({SELECT, INSERT, UPDATE, DELETE, ASKING})

SESSION = "sqlalchemy.orm.Session"
CONNECTION = "sqlalchemy.Connection"

# A class that derives from one of these is the base of models, not a model.
DECLARATIVE = frozenset(
    {
        "sqlalchemy.orm.DeclarativeBase",
        "sqlalchemy.orm.DeclarativeBaseNoMeta",
        "sqlalchemy.orm.decl_api.DeclarativeBase",
        "sqlalchemy.orm.as_declarative",
        "sqlalchemy.ext.declarative.as_declarative",
        "sqlalchemy.orm.registry.as_declarative_base",
    }
)
_MADE = frozenset(
    {
        "sqlalchemy.orm.declarative_base",
        "sqlalchemy.ext.declarative.declarative_base",
        "sqlalchemy.orm.registry.generate_base",
        "sqlalchemy.orm.registry.mapped",
        "sqlalchemy.orm.registry.mapped_as_dataclass",
        "sqlalchemy.orm.mapped_as_dataclass",
        "flask_sqlalchemy.SQLAlchemy.Model",
        "flask_sqlalchemy.model.Model",
    }
)
_HELPERS = frozenset({"sqlalchemy.orm.MappedAsDataclass", "sqlalchemy.ext.asyncio.AsyncAttrs"})
SQLMODEL = frozenset({"sqlmodel.SQLModel", "sqlmodel.main.SQLModel"})
# Their columns are read from the database when the program runs.
REFLECTED = frozenset(
    {
        "sqlalchemy.ext.automap.automap_base",
        "sqlalchemy.ext.declarative.DeferredReflection",
        "sqlalchemy.ext.declarative.extensions.DeferredReflection",
    }
)


def model_base(path: str) -> bool:
    """Whether a class that derives from, or is decorated with, what is at `path` is a model or the base of models."""
    return path in DECLARATIVE or path in _MADE or path in _HELPERS or path in SQLMODEL or path in REFLECTED


@dataclass(frozen=True, slots=True)
class Reader:
    """`resolve` says what an expression at class level is, `library_base` the first library class that a project class
    derives from, `assigned` what a module-level name was set to (`intpk = Annotated[int, ...]`)."""

    resolve: Resolve
    library_base: LibraryBase
    assigned: Assigned

    def path(self, expression: f.Expr) -> str:
        """The library path of what the expression names; the last name as written where that is unknown."""
        found = self.resolve(expression)
        if isinstance(found, LibraryType | LibraryInstance):
            return found.path
        if isinstance(found, ClassType):
            return self.library_base(found) or last_name(expression)
        return last_name(expression)

    def tail(self, expression: f.Expr) -> str:
        """The last part of `path`."""
        return self.path(expression).rpartition(".")[2]

    def model(self, expression: f.Expr) -> str | None:
        """The id of the model, or of the table, that the expression names."""
        found = self.resolve(expression)
        if isinstance(found, ClassType):
            return found.name
        return found.model if isinstance(found, RowsType) and found.stage == TABLE else None
