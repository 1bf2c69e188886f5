"""Models and abstract models that live in Django and in libraries around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from idemlint.orm.django.fields import PRIMARY, UNIQUE
from idemlint.orm.django.meta import TOGETHER
from idemlint.orm.django.words import NAME, library_id
from idemlint.program import Field, Model, Site, UniqueKey

_NOWHERE = Site("", 0, 0)


@dataclass(frozen=True, slots=True)
class _Entry:
    """`columns` are `kind: names`; a name's mark says more: `*` unique, `?` nullable, `!` filled by clock or chance,
    `=` has a constant default, `>` leads to the model in `targets`. `together` is a unique key over several."""

    columns: str
    abstract: bool = False
    bases: tuple[str, ...] = ()
    together: tuple[str, ...] = ()
    targets: tuple[tuple[str, str], ...] = ()


_PERMISSIONS = (
    ("groups", "django.contrib.auth.models.Group"),
    ("user_permissions", "django.contrib.auth.models.Permission"),
)
_CONTENT_TYPE = ("content_type", "django.contrib.contenttypes.models.ContentType")
_STAMPS = "time: created! modified!"

_MODELS = {
    "django.contrib.auth.base_user.AbstractBaseUser": _Entry("text: password\ntime: last_login?", abstract=True),
    "django.contrib.auth.models.PermissionsMixin": _Entry(
        "flag: is_superuser=\nrelation-many: groups> user_permissions>", abstract=True, targets=_PERMISSIONS
    ),
    "django.contrib.auth.models.AbstractUser": _Entry(
        "text: username* first_name last_name email\nflag: is_staff= is_active=\ntime: date_joined!",
        abstract=True,
        bases=("django.contrib.auth.base_user.AbstractBaseUser", "django.contrib.auth.models.PermissionsMixin"),
    ),
    "django.contrib.auth.models.User": _Entry("", bases=("django.contrib.auth.models.AbstractUser",)),
    "django.contrib.auth.models.Group": _Entry(
        "text: name*\nrelation-many: permissions>", targets=(("permissions", "django.contrib.auth.models.Permission"),)
    ),
    "django.contrib.auth.models.Permission": _Entry(
        "text: name codename\nrelation: content_type>", together=("content_type", "codename"), targets=(_CONTENT_TYPE,)
    ),
    "django.contrib.contenttypes.models.ContentType": _Entry("text: app_label model", together=("app_label", "model")),
    "django.contrib.sessions.base_session.AbstractBaseSession": _Entry(
        "id: session_key\ntext: session_data\ntime: expire_date", abstract=True
    ),
    "django.contrib.sessions.models.Session": _Entry(
        "", bases=("django.contrib.sessions.base_session.AbstractBaseSession",)
    ),
    "django.contrib.sites.models.Site": _Entry("text: domain* name"),
    "model_utils.models.TimeStampedModel": _Entry(_STAMPS, abstract=True),
    "model_utils.models.TimeFramedModel": _Entry("time: start? end?", abstract=True),
    "model_utils.models.StatusModel": _Entry("text: status=\ntime: status_changed!", abstract=True),
    "model_utils.models.SoftDeletableModel": _Entry("flag: is_removed=", abstract=True),
    "model_utils.models.UUIDModel": _Entry("id: id!", abstract=True),
    "django_extensions.db.models.TimeStampedModel": _Entry(_STAMPS, abstract=True),
    "django_extensions.db.models.TitleDescriptionModel": _Entry("text: title description?", abstract=True),
    "django_extensions.db.models.TitleSlugDescriptionModel": _Entry("text: title description? slug", abstract=True),
    "django_extensions.db.models.ActivatorModel": _Entry(
        "number: status=\ntime: activate_date? deactivate_date?", abstract=True
    ),
    "mptt.models.MPTTModel": _Entry("number: lft rght tree_id level", abstract=True),
    "polymorphic.models.PolymorphicModel": _Entry(
        "relation: polymorphic_ctype>?",
        abstract=True,
        targets=(("polymorphic_ctype", "django.contrib.contenttypes.models.ContentType"),),
    ),
    "treebeard.mp_tree.MP_Node": _Entry("text: path*\nnumber: depth numchild=", abstract=True),
    "treebeard.ns_tree.NS_Node": _Entry("number: lft rgt tree_id depth", abstract=True),
    "treebeard.al_tree.AL_Node": _Entry("", abstract=True),
}

_ALIASES = {
    "django.contrib.auth.models.AbstractBaseUser": "django.contrib.auth.base_user.AbstractBaseUser",
    "django.contrib.sessions.models.AbstractBaseSession": "django.contrib.sessions.base_session.AbstractBaseSession",
}

# Bases that make a class a model and add no column.
_PLAIN_BASES = frozenset(
    {
        "django.db.models.Model",
        "django.db.models.base.Model",
        "django.contrib.gis.db.models.Model",
        "django_lifecycle.LifecycleModel",
        "django_lifecycle.LifecycleModelMixin",
        "django_lifecycle.models.LifecycleModel",
        "dirtyfields.DirtyFieldsMixin",
        "parler.models.TranslatableModel",
    }
)


# Methods that rows and managers have from a library and that are no calls on the data layer.
_METHODS = {
    "django.db.models:Model": frozenset(
        {"date_error_message", "get_absolute_url", "get_constraints", "get_deferred_fields", "serializable_value"}
    ),
    "django.contrib.auth.base_user:AbstractBaseUser": frozenset(
        {
            "acheck_password",
            "check_password",
            "get_session_auth_hash",
            "get_username",
            "has_usable_password",
            "natural_key",
            "set_password",
            "set_unusable_password",
        }
    ),
    "django.contrib.auth.models:PermissionsMixin": frozenset(
        {
            "get_all_permissions",
            "get_group_permissions",
            "get_user_permissions",
            "has_module_perms",
            "has_perm",
            "has_perms",
        }
    ),
    "django.contrib.auth.models:AbstractUser": frozenset({"email_user", "get_full_name", "get_short_name"}),
}
_DERIVED_METHODS = (("get_", "_display"), ("get_next_by_", ""), ("get_previous_by_", ""))


def model_base(path: str) -> bool:
    """Whether a class that derives from the library class at `path` is a Django model."""
    return path in _PLAIN_BASES or _ALIASES.get(path, path) in _MODELS


def library_model(path: str) -> Model | None:
    """The model, abstract or not, that the library class at `path` is; None if it has no columns of its own."""
    path = _ALIASES.get(path, path)
    entry = _MODELS.get(path)
    if entry is None:
        return None
    parents = [parent for parent in map(library_model, entry.bases) if parent is not None]
    fields = [field for parent in parents for field in parent.fields]
    keys = [key for parent in parents for key in parent.unique]
    for field, unique in _columns(entry):
        fields.append(field)
        if unique:
            keys.append(UniqueKey((field.name,), source=unique))
    if not entry.abstract and not any(field.kind == "id" for field in fields):
        fields.insert(0, Field("id", "id"))
        keys.append(UniqueKey(("id",), source=PRIMARY))
    if entry.together:
        keys.append(UniqueKey(entry.together, source=TOGETHER))
    return Model(
        library_id(path),
        path.rpartition(".")[2],
        NAME,
        _NOWHERE,
        tuple(fields),
        tuple(keys),
        entry.abstract,
        managers=() if entry.abstract else (("objects", None),),
        bases=tuple(base for parent in parents for base in (parent.name, *parent.bases)),
    )


def library_method(model: Model, method: str) -> str | None:
    """The dotted path of a method that rows of the model have from a library and that does nothing to the data, such
    as `email_user`; None for any other."""
    for name in (model.name, *model.bases, "django.db.models:Model"):
        if method in _METHODS.get(name, ()):
            return f"{name.replace(':', '.')}.{method}"
    derived = any(method.startswith(start) and method.endswith(end) for start, end in _DERIVED_METHODS)
    return f"django.db.models.Model.{method}" if derived else None


def _columns(entry: _Entry) -> Iterator[tuple[Field, str]]:
    targets = dict(entry.targets)
    for line in entry.columns.splitlines():
        kind, _, names = line.partition(": ")
        for written in names.split():
            name = written.rstrip("*?!=>")
            marks = written[len(name) :]
            default = "unstable" if "!" in marks else "constant" if "=" in marks else None
            target = library_id(targets[name]) if ">" in marks else None
            # The ways back from the tables of the library itself are not worth a name.
            field = Field(name, kind, "?" in marks, default, target, "+" if target else None)
            yield field, PRIMARY if kind == "id" else UNIQUE if "*" in marks else ""
