"""How the expressions of a model's class body are understood: by what they resolve to, else by their last name."""

from __future__ import annotations

from dataclasses import dataclass

from idemlint.orm.arguments import last_name
from idemlint.orm.terms import LibraryBase, Resolve
from idemlint.program import ClassType, LibraryType
from idemlint.syntax import facts as f

NAME = "django"

# What makes one model point at another: fields, and bases that bring some along.
RELATIONS = frozenset(
    {"ForeignKey", "OneToOneField", "ManyToManyField", "ParentalKey", "TreeForeignKey"}
    | {"AbstractUser", "AbstractBaseUser", "PermissionsMixin"}
)

# Names a column inside an expression that the database works out: `F("n") + 1`.
COLUMN_REFERENCES = frozenset({"django.db.models.F", "django.db.models.expressions.F"})
UNSTORED = frozenset({"_state.adding"})
"""Attributes of a row that are true until it is stored."""


@dataclass(frozen=True, slots=True)
class Words:
    """`resolve` says what an expression at class level is, `library_base` the first library class that a project
    class derives from (`django.db.models.CharField` for a project's `MoneyCharField(CharField)`)."""

    resolve: Resolve
    library_base: LibraryBase

    def path(self, expression: f.Expr) -> str:
        """The library path of what the expression names; the last name as written where that is unknown."""
        found = self.resolve(expression)
        if isinstance(found, LibraryType):
            return found.path
        if isinstance(found, ClassType):
            return self.library_base(found) or last_name(expression)
        return last_name(expression)

    def tail(self, expression: f.Expr) -> str:
        """The last part of `path`."""
        return self.path(expression).rpartition(".")[2]

    def project_class(self, expression: f.Expr) -> str | None:
        """The id of the project class that the expression names."""
        found = self.resolve(expression)
        return found.name if isinstance(found, ClassType) else None


def library_id(path: str) -> str:
    """The id of a library's model from its path: `django.contrib.auth.models:User`."""
    module, _, name = path.rpartition(".")
    return f"{module}:{name}"
