"""How frameworks and projects are configured: the files of `settings/`, read into frozen values."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import resources
from typing import Any, TypeVar

from idemlint.catalog.errors import CatalogError
from idemlint.catalog.patterns import PatternError, expand
from idemlint.spelling import did_you_mean

T = TypeVar("T")

REQUEST_TRANSACTION = "ATOMIC_REQUESTS"
"""The setting that puts each answer to a request into a transaction of its own."""


@dataclass(frozen=True, slots=True)
class AppSettings:
    """How the apps of a framework are configured.

    `apps` are the classes of an app, `configuration` the attribute that holds its settings,
    `task_class` the one that is the class of its tasks, `source` and
    `variable_source` the methods that name an object or an environment variable to read them from. `default_module` is
    read when there is no app, `namespace` is what names begin with in the project's settings when the app is not seen.
    `parameters` are the arguments of an app that are no settings, `arguments` maps those that are to the setting's
    name, and `names` each setting to its old name. Names that go on with one of `foreign` after the namespace belong
    to other packages.
    """

    framework: str
    apps: frozenset[str]
    configuration: str
    task_class: str
    source: str
    variable_source: str
    default_module: str
    namespace: str
    parameters: tuple[str, ...]
    foreign: tuple[str, ...]
    arguments: Mapping[str, str] = field(repr=False)
    names: Mapping[str, str] = field(repr=False)
    current: Mapping[str, str] = field(init=False, repr=False)
    """Old name -> the setting."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "current", {old: name for name, old in self.names.items()})


@dataclass(frozen=True, slots=True)
class QueueSettings:
    """Where a framework without apps of its own kind is configured.

    `projects` maps the names of settings of a web project that are dicts to the members they may have (none: any).
    `objects` are classes, by their last word, of brokers and the like from `libraries`; `doubles` stand in for them in
    tests, `given_by` are calls that say which one is in use. `attributes` are what a class that a worker reads may
    have. `marks` are texts, as regular expressions, whose presence in production code says something.
    """

    framework: str
    libraries: tuple[str, ...] = ()
    objects: frozenset[str] = frozenset()
    doubles: frozenset[str] = frozenset()
    given_by: tuple[str, ...] = ()
    attributes: frozenset[str] = frozenset()
    projects: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    marks: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class ProjectSettings:
    """Where a project of a web framework keeps its settings.

    `variable` is the environment variable that names their module, `objects` the library paths code reads them
    through, `marks` the names by which an unnamed file is known to hold them. `inside` maps a setting to the outer
    setting and the member of it that it stands in.
    """

    framework: str
    variable: str
    objects: frozenset[str]
    marks: frozenset[str]
    inside: Mapping[str, tuple[str, ...]] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Reader:
    """A call that reads an environment variable, its first argument. `default` and `cast` are the positions and
    keywords where these are passed, `type` is the cast it makes unasked."""

    calls: tuple[str, ...] = ()
    default: tuple[int | str, ...] = ()
    cast: tuple[int | str, ...] = ()
    type: str = ""


@dataclass(frozen=True, slots=True)
class Environment:
    """How code reads the environment: through calls, by path; through mappings; through classes whose attributes it
    fills, which may be written with `fields`."""

    readers: Mapping[str, Reader] = field(repr=False)
    mappings: frozenset[str]
    classes: frozenset[str]
    fields: frozenset[str]


@cache
def app_settings() -> tuple[AppSettings, ...]:
    """The frameworks whose apps hold settings."""
    return (parse_app_settings(_text("celery.toml"), "settings/celery.toml"),)


@cache
def queue_settings() -> tuple[QueueSettings, ...]:
    """The frameworks that are configured by objects, classes and the settings of a web project, by file name."""
    return tuple(parse_queue_settings(_text(source.removeprefix("settings/")), source) for source in _QUEUES)


_QUEUES = (
    "settings/arq.toml",
    "settings/django-q.toml",
    "settings/django-tasks.toml",
    "settings/dramatiq.toml",
    "settings/huey.toml",
    "settings/procrastinate.toml",
    "settings/rq.toml",
    "settings/taskiq.toml",
)


@cache
def project_settings() -> ProjectSettings:
    """The web framework whose settings a project's code shares."""
    return parse_project_settings(_text("django.toml"), "settings/django.toml")


@cache
def environment() -> Environment:
    """How code reads the environment."""
    return parse_environment(_text("environment.toml"), "settings/environment.toml")


def parse_app_settings(text: str, source: str) -> AppSettings:
    """What a file about a framework's apps says. CatalogError, naming the file and the key, if it makes no sense."""
    return _made(AppSettings, _document(text, source), source)


def parse_queue_settings(text: str, source: str) -> QueueSettings:
    """What a file about a framework's brokers and workers says. CatalogError as above."""
    return _made(QueueSettings, _document(text, source), source)


def parse_project_settings(text: str, source: str) -> ProjectSettings:
    """What a file about a project's settings says. CatalogError as above."""
    return _made(ProjectSettings, _document(text, source), source)


def parse_environment(text: str, source: str) -> Environment:
    """What a file about the environment says. CatalogError as above."""
    document = _document(text, source)
    rows = document.pop("reader", [])
    return _made(Environment, {**document, "readers": dict(_readers(rows, source))}, source)


def _readers(rows: list[dict[str, Any]], source: str) -> Iterator[tuple[str, Reader]]:
    for index, row in enumerate(rows):
        reader = _made(Reader, row, f"{source}: reader[{index}]")
        for pattern in reader.calls:
            try:
                yield from ((path, reader) for path in expand(pattern))
            except PatternError as error:
                raise CatalogError(f"{source}: reader[{index}].calls: {error}") from None


def _text(name: str) -> str:
    return (resources.files("idemlint.catalog") / "settings" / name).read_text(encoding="utf-8")


def _document(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CatalogError(f"{source}: {error}") from None


# The TOML type each annotation asks for, and what is made of it.
_SHAPES: Mapping[str, tuple[type, Any]] = {
    "str": (str, str),
    "frozenset[str]": (list, frozenset),
    "tuple[str, ...]": (list, tuple),
    "tuple[int | str, ...]": (list, tuple),
    "Mapping[str, str]": (dict, dict),
    "Mapping[str, tuple[str, ...]]": (dict, lambda table: {key: tuple(value) for key, value in table.items()}),
    "Mapping[str, Reader]": (dict, dict),
}


def _made(kind: type[T], table: Mapping[str, Any], source: str) -> T:
    """An instance of a dataclass from a table whose keys are its fields."""
    wanted = {each.name: each for each in fields(kind) if each.init}  # type: ignore[arg-type]
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in wanted:
            raise CatalogError(f"{source}: {key}: unknown key{did_you_mean(key, wanted)}")
        shape, make = _SHAPES[str(wanted[key].type)]
        if not isinstance(value, shape):
            raise CatalogError(f"{source}: {key}: expected {shape.__name__}, found {type(value).__name__}")
        values[key] = make(value)
    try:
        return kind(**values)
    except TypeError as error:
        raise CatalogError(f"{source}: {error}") from None
