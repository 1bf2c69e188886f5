"""The settings of frameworks: where they are looked for, under which names, and which of them have no effect."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from idemlint.link.constants import Constants
from idemlint.link.modules import Modules
from idemlint.link.names import Names
from idemlint.link.settings import framework_settings
from idemlint.link.settings_modules import SettingsModules
from idemlint.program import Setting
from idemlint.project import discover


def modules_of(folder: Path, files: Mapping[str, str], chosen: str | None = None) -> SettingsModules:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return SettingsModules(Constants(Names(Modules(discover([folder], root=folder)))), chosen)


def settings_of(folder: Path, files: Mapping[str, str], chosen: str | None = None) -> tuple[Setting, ...]:
    modules = modules_of(folder, files, chosen)
    return framework_settings(modules.constants, modules)


def in_force(settings: tuple[Setting, ...]) -> dict[str, object]:
    return {each.name: each.value if each.known else f"? {each.reason}" for each in settings if not each.ignored}


APP = "from celery import Celery\n"
MANAGE = "import os\ndef main():\n    os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'config.settings')\nmain()\n"
DJANGO_APP = (
    "import os\nfrom celery import Celery\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'config.settings')\n"
    "app = Celery('proj')\napp.config_from_object('django.conf:settings', namespace='CELERY')\n"
)
LATE = {"task_acks_late": True}

SOURCES: Mapping[str, tuple[Mapping[str, str], Mapping[str, object]]] = {
    "arguments of the constructor": (
        {"a.py": APP + "app = Celery('x', broker='redis://', backend='rpc://', task_acks_late=True, fixups=[])"},
        {"broker_url": "redis://", "result_backend": "rpc://", **LATE},
    ),
    "a positional broker": (
        {"a.py": APP + "app = Celery('x', None, None, None, None, None, None, True, None, 'redis://')"},
        {"broker_url": "redis://"},
    ),
    "spread arguments": (
        {"a.py": APP + "OPTIONS = dict(task_acks_late=True)\napp = Celery('x', **OPTIONS)"},
        LATE,
    ),
    "changes given to the constructor": ({"a.py": APP + "app = Celery('x', changes={'task_acks_late': True})"}, LATE),
    "a subclass of the app": ({"a.py": APP + "class Mine(Celery): pass\napp = Mine('x', task_acks_late=True)"}, LATE),
    "an attribute of the configuration": ({"a.py": APP + "app = Celery('x')\napp.conf.task_acks_late = True"}, LATE),
    "an item of the configuration": ({"a.py": APP + "app = Celery('x')\napp.conf['task_acks_late'] = True"}, LATE),
    "an item of a setting": (
        {
            "a.py": APP + "app = Celery('x', broker_transport_options={})\n"
            "app.conf.broker_transport_options['visibility_timeout'] = 5"
        },
        {"broker_transport_options": {"visibility_timeout": 5}},
    ),
    "an update by keywords": ({"a.py": APP + "app = Celery('x')\napp.conf.update(task_acks_late=True)"}, LATE),
    "an update by a dict": ({"a.py": APP + "app = Celery('x')\napp.conf.update({'task_acks_late': True})"}, LATE),
    "an update by a spread dict": (
        {"a.py": APP + "D = {'task_acks_late': True}\napp = Celery('x')\napp.conf.update(**D)"},
        LATE,
    ),
    "old names": (
        {"a.py": APP + "app = Celery('x')\napp.conf.update(CELERY_ACKS_LATE=True, CELERYD_PREFETCH_MULTIPLIER=1)"},
        {"task_acks_late": True, "worker_prefetch_multiplier": 1},
    ),
    "the last of an old and a new name": (
        {"a.py": APP + "app = Celery('x', CELERY_ACKS_LATE=False)\napp.conf.task_acks_late = True"},
        LATE,
    ),
    "the last of several": (
        {"a.py": APP + "app = Celery('x', task_acks_late=False)\napp.conf.task_acks_late = True"},
        LATE,
    ),
    "another file": (
        {
            "p/a.py": APP + "app = Celery('x')",
            "p/b.py": "from p.a import app\napp.conf.task_acks_late = True",
            "p/__init__.py": "",
        },
        LATE,
    ),
    "another file, through the module": (
        {
            "p/a.py": APP + "app = Celery('x')",
            "p/b.py": "from p import a\na.app.conf.task_acks_late = True",
            "p/__init__.py": "",
        },
        LATE,
    ),
    "a function that makes the app": (
        {
            "a.py": "def make(flask):\n    from celery import Celery\n    late = True\n"
            "    made = Celery('x', broker=flask.url)\n    made.conf.update(task_acks_late=late)\n"
            "    return made\ncelery = make(None)\n"
        },
        {"broker_url": "? flask is passed in", **LATE},
    ),
    "a module by its name": (
        {
            "a.py": APP + "app = Celery('x')\napp.config_from_object('celeryconfig')",
            "celeryconfig.py": "task_acks_late = True",
        },
        LATE,
    ),
    "a module": (
        {
            "a.py": APP + "import conf\napp = Celery('x')\napp.config_from_object(conf)",
            "conf.py": "task_acks_late = True",
        },
        LATE,
    ),
    "a class": (
        {
            "a.py": APP
            + "class B:\n    task_acks_late = True\nclass C(B): pass\napp = Celery('x')\napp.config_from_object(C)"
        },
        LATE,
    ),
    "a class by its name": (
        {
            "a.py": APP + "app = Celery('x')\napp.config_from_object('conf:C')",
            "conf.py": "class C:\n    task_acks_late = True",
        },
        LATE,
    ),
    "an instance": (
        {"a.py": APP + "class C:\n    task_acks_late = True\napp = Celery('x')\napp.config_from_object(C())"},
        LATE,
    ),
    "a dict": ({"a.py": APP + "app = Celery('x')\napp.config_from_object({'task_acks_late': True})"}, LATE),
    "what is set on the app wins over what it reads": (
        {
            "a.py": APP + "app = Celery('x')\napp.conf.task_acks_late = True\napp.config_from_object('c')",
            "c.py": "task_acks_late = False\ntask_time_limit = 5",
        },
        {"task_time_limit": 5, **LATE},
    ),
    "a namespace of one's own": (
        {
            "a.py": APP + "app = Celery('x')\napp.config_from_object('c', namespace='Q')",
            "c.py": "Q_TASK_ACKS_LATE = True",
        },
        LATE,
    ),
    "a namespace in small letters": (
        {
            "a.py": APP + "app = Celery('x')\napp.config_from_object('c', namespace='q')",
            "c.py": "q_task_acks_late = True",
        },
        LATE,
    ),
    "Django's settings by the namespace": (
        {
            "config/celery.py": DJANGO_APP,
            "config/__init__.py": "",
            "config/settings.py": "CELERY_TASK_ACKS_LATE = True",
        },
        LATE,
    ),
    "Django's settings by old names": (
        {
            "config/celery.py": DJANGO_APP,
            "config/__init__.py": "",
            "config/settings.py": "CELERY_ACKS_LATE = True\nBROKER_URL = 'redis://'\nCELERYD_TASK_TIME_LIMIT = 5",
        },
        {"broker_url": "redis://", "task_time_limit": 5, **LATE},
    ),
    "Django's settings as an object, without a namespace": (
        {
            "config/celery.py": "from django.conf import settings\n"
            + DJANGO_APP.replace("'django.conf:settings', namespace='CELERY'", "settings"),
            "config/__init__.py": "",
            "config/settings.py": "CELERY_ACKS_LATE = True",
        },
        LATE,
    ),
    "Django's settings without an app": (
        {"manage.py": MANAGE, "config/__init__.py": "", "config/settings.py": "CELERY_TASK_ACKS_LATE = True"},
        LATE,
    ),
    "settings that nobody names": ({"shop/__init__.py": "", "shop/settings.py": "CELERY_ACKS_LATE = True"}, LATE),
    "a package of settings": (
        {
            "manage.py": MANAGE,
            "config/__init__.py": "",
            "config/settings/__init__.py": "from .base import *\nCELERY_TASK_TIME_LIMIT = 2 * HOUR",
            "config/settings/base.py": "HOUR = 3600\nCELERY_TASK_ACKS_LATE = True",
        },
        {"task_time_limit": 7200, **LATE},
    ),
    "the default module without an app": ({"celeryconfig.py": "task_acks_late = True", "t.py": "x = 1"}, LATE),
}


@pytest.mark.parametrize(("files", "settings"), SOURCES.values(), ids=SOURCES)
def test_settings_are_read_from(tmp_path: Path, files: Mapping[str, str], settings: Mapping[str, object]) -> None:
    assert in_force(settings_of(tmp_path, files)) == settings


UNKNOWN: Mapping[str, tuple[Mapping[str, str], Mapping[str, object]]] = {
    "an update that cannot be read": (
        {"a.py": APP + "app = Celery('x', task_acks_late=True)\ndef f(flask):\n    app.conf.update(flask.config)"},
        {"*": "? flask is passed in", **LATE},
    ),
    "an object that is not in the project": (
        {"a.py": APP + "app = Celery('x')\napp.config_from_object('elsewhere.conf')"},
        {"*": "? elsewhere.conf is not in the project"},
    ),
    "an object named by the environment": (
        {"a.py": APP + "import os\napp = Celery('x')\napp.config_from_object(os.environ['C'])"},
        {"*": "? environment variable C"},
    ),
    "a variable that names it": (
        {"a.py": APP + "app = Celery('x')\napp.config_from_envvar('C')"},
        {"*": "? they are read from where the environment says"},
    ),
    "Django's settings that are not there": ({"a.py": DJANGO_APP}, {"*": "? no settings module was found"}),
    "Django's settings that are made by a class": (
        {
            "config/celery.py": DJANGO_APP,
            "config/__init__.py": "",
            "config/settings.py": "class Base:\n    CELERY_ACKS_LATE = True\nBase.load(__name__)",
        },
        {"*": "? config/settings.py does not set names at its top level"},
    ),
    "a setting under a condition": (
        {"a.py": APP + "import os\napp = Celery('x')\nif os.getenv('L'):\n    app.conf.task_acks_late = True"},
        {"task_acks_late": "? task_acks_late is set under a condition: environment variable L"},
    ),
    "files that do not agree": (
        {
            "a.py": APP + "app = Celery('x')",
            "b.py": "from a import app\napp.conf.task_acks_late = True",
            "c.py": "from a import app\napp.conf.task_acks_late = False",
        },
        {"task_acks_late": "? c.py and b.py both set task_acks_late"},
    ),
    "settings modules that do not agree": (
        {
            "manage.py": MANAGE.replace("config.settings", "config.settings.local"),
            "config/__init__.py": "",
            "config/settings/__init__.py": "",
            "config/settings/base.py": "CELERY_TASK_ACKS_LATE = True\nCELERY_TASK_TIME_LIMIT = 5",
            "config/settings/local.py": "from .base import *\nCELERY_TASK_TIME_LIMIT = 6\nCELERY_BROKER_URL = 'redis://a'",
            "config/settings/production.py": "from .base import *\nCELERY_BROKER_URL = 'redis://b'",
            "config/settings/test.py": "from .base import *\nCELERY_TASK_ACKS_LATE = False",
        },
        {
            "task_time_limit": "? config/settings/local.py and config/settings/production.py do not agree on "
            "CELERY_TASK_TIME_LIMIT",
            "broker_url": "? config/settings/local.py and config/settings/production.py do not agree on "
            "CELERY_BROKER_URL",
            **LATE,
        },
    ),
    "a setting only one of them has": (
        {
            "manage.py": MANAGE.replace("config.settings", "config.local"),
            "wsgi.py": "import os\nos.environ['DJANGO_SETTINGS_MODULE'] = 'config.production'",
            "config/__init__.py": "",
            "config/local.py": "CELERY_TASK_ACKS_LATE = True\nCELERY_TASK_ALWAYS_EAGER = True",
            "config/production.py": "CELERY_TASK_ACKS_LATE = True",
        },
        {"task_always_eager": "? config/local.py sets CELERY_TASK_ALWAYS_EAGER, config/production.py does not", **LATE},
    ),
}


@pytest.mark.parametrize(("files", "settings"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_cannot_be_told_says_why(tmp_path: Path, files: Mapping[str, str], settings: Mapping[str, object]) -> None:
    assert in_force(settings_of(tmp_path, files)) == settings


def test_the_start_of_an_address_is_kept(tmp_path: Path) -> None:
    files = {"a.py": APP + "import os\napp = Celery('x', broker=f\"redis://{os.environ['HOST']}/0\")"}
    (setting,) = settings_of(tmp_path, files)
    assert (setting.known, setting.value, setting.reason) == (False, "redis://", "environment variable HOST")


def test_a_default_of_the_environment_is_marked(tmp_path: Path) -> None:
    files = {"a.py": APP + "import os\napp = Celery('x', task_time_limit=int(os.environ.get('LIMIT', 300)))"}
    (setting,) = settings_of(tmp_path, files)
    assert (setting.value, setting.environment) == (300, "LIMIT")


def test_a_setting_knows_its_app_its_spelling_and_its_place(tmp_path: Path) -> None:
    one = APP + "app = Celery('x', task_acks_late=True)"
    two = APP + "\nworker = Celery('y')\nworker.conf.CELERY_ACKS_LATE = False"
    settings = settings_of(tmp_path, {"p/one.py": one, "p/two.py": two, "p/__init__.py": ""})
    assert [(each.app, each.written, each.value, each.framework) for each in settings] == [
        ("p.one:app", "task_acks_late", True, "celery"),
        ("p.two:worker", "CELERY_ACKS_LATE", False, "celery"),
    ]
    assert [(each.site.path, each.site.piece) for each in settings if each.site] == [("p/one.py", 1), ("p/two.py", 2)]


def test_an_app_that_a_function_makes_is_known_by_the_name_it_is_bound_to(tmp_path: Path) -> None:
    source = APP + "def make():\n    return Celery('x', task_acks_late=True)\ncelery = make()"
    (setting,) = settings_of(tmp_path, {"a.py": source})
    assert setting.app == "a:celery"


def test_tests_do_not_configure_anything(tmp_path: Path) -> None:
    files = {
        "a.py": APP + "app = Celery('x', task_acks_late=True)",
        "tests/conftest.py": "from a import app\napp.conf.task_acks_late = False",
        "tests/settings.py": "CELERY_TASK_ACKS_LATE = False",
    }
    assert in_force(settings_of(tmp_path, files)) == LATE


IGNORED: Mapping[str, tuple[str, str | None, list[tuple[str, str, str, str]]]] = {
    "new names with a prefix, without a namespace": (
        "CELERY_TASK_ACKS_LATE = True",
        "",
        [
            (
                "CELERY_TASK_ACKS_LATE",
                "task_acks_late",
                "the settings are read without a namespace",
                "CELERY_ACKS_LATE",
            )
        ],
    ),
    "new names in capitals, without a namespace": (
        "TASK_ACKS_LATE = True",
        "",
        [("TASK_ACKS_LATE", "task_acks_late", "the settings are read without a namespace", "CELERY_ACKS_LATE")],
    ),
    "names that are old and look new": ("CELERY_TASK_SERIALIZER = 'json'\nCELERY_TASK_RESULT_EXPIRES = 5", "", []),
    "an old name among new ones": (
        "task_acks_late = True\ntask_time_limit = 5\nCELERYD_PREFETCH_MULTIPLIER = 1",
        "",
        [
            (
                "CELERYD_PREFETCH_MULTIPLIER",
                "worker_prefetch_multiplier",
                "old and new names of settings are mixed, which the worker refuses to start with",
                "worker_prefetch_multiplier",
            )
        ],
    ),
    "a new name among old ones": (
        "CELERY_ACKS_LATE = True\nCELERYD_PREFETCH_MULTIPLIER = 1\ntask_time_limit = 5",
        "",
        [
            (
                "task_time_limit",
                "task_time_limit",
                "old and new names of settings are mixed, which the worker refuses to start with",
                "CELERYD_TASK_TIME_LIMIT",
            )
        ],
    ),
    "both names of one setting": (
        "CELERY_ACKS_LATE = True\nCELERY_TASK_ACKS_LATE = False",
        "CELERY",
        [("CELERY_ACKS_LATE", "task_acks_late", "CELERY_TASK_ACKS_LATE is read instead", "CELERY_TASK_ACKS_LATE")],
    ),
    "old and new names under a namespace": ("CELERY_ACKS_LATE = True\nCELERY_TASK_TIME_LIMIT = 5", "CELERY", []),
    "a name that lacks its family": (
        "CELERY_TIME_LIMIT = 5",
        "CELERY",
        [("CELERY_TIME_LIMIT", "task_time_limit", "there is no such setting", "CELERY_TASK_TIME_LIMIT")],
    ),
    "a misspelt name": (
        "CELERY_TASK_ACK_LATE = True",
        "CELERY",
        [("CELERY_TASK_ACK_LATE", "task_acks_late", "there is no such setting", "CELERY_TASK_ACKS_LATE")],
    ),
    "a misspelt old name": (
        "CELERYD_PREFETCH_MULTIPLIERS = 1",
        "CELERY",
        [
            (
                "CELERYD_PREFETCH_MULTIPLIERS",
                "worker_prefetch_multiplier",
                "there is no such setting",
                "CELERY_WORKER_PREFETCH_MULTIPLIER",
            )
        ],
    ),
    "a misspelt new name": (
        "task_ack_late = True",
        "",
        [("task_ack_late", "task_acks_late", "there is no such setting", "task_acks_late")],
    ),
    "a name that means nothing": (
        "CELERY_FLOWERS = 5",
        "CELERY",
        [("CELERY_FLOWERS", "CELERY_FLOWERS", "there is no such setting", "")],
    ),
    "a name that another setting reads": (
        "CELERY_TIME_LIMIT = 5\nCELERY_TASK_TIME_LIMIT = CELERY_TIME_LIMIT",
        "CELERY",
        [],
    ),
    "a name of another package": ("CELERY_EMAIL_TASK_CONFIG = {}\nCELERY_ONCE = {}", "CELERY", []),
    "other names": ("VISIBILITY_TIMEOUT = 5\nINSTALLED_APPS = []\nvisibility = 5", "", []),
}


@pytest.mark.parametrize(("source", "namespace", "faults"), IGNORED.values(), ids=IGNORED)
def test_names_without_effect_are_kept_with_the_reason(
    tmp_path: Path, source: str, namespace: str, faults: list[tuple[str, str, str, str]]
) -> None:
    app = APP + f"app = Celery('x')\napp.config_from_object('c', namespace={namespace or None!r})"
    settings = settings_of(tmp_path, {"a.py": app, "c.py": source})
    found = [(each.written, each.name, each.ignored, each.meant) for each in settings if each.ignored]
    assert found == faults
    written = {each.written for each in settings if not each.ignored}
    assert written.isdisjoint(each[0] for each in faults)


def test_old_and_new_names_may_be_mixed_on_the_app_if_it_reads_an_object(tmp_path: Path) -> None:
    mixed = "app.conf.task_acks_late = True\napp.conf.CELERYD_PREFETCH_MULTIPLIER = 1\n"
    alone = settings_of(tmp_path, {"a.py": APP + "app = Celery('x')\n" + mixed})
    assert [each.written for each in alone if each.ignored] == ["CELERYD_PREFETCH_MULTIPLIER"]
    files = {"a.py": APP + "app = Celery('x')\napp.config_from_object('c')\n" + mixed, "c.py": "task_time_limit = 5"}
    assert [each.written for each in settings_of(tmp_path, files) if each.ignored] == []


# --- The project's settings


def test_a_setting_is_asked_for_by_name(tmp_path: Path) -> None:
    source = "RQ = {'COMMIT_MODE': 'auto'}\nMIDDLEWARE = ['a']\nMIDDLEWARE += ['b']\nSECRET = read()"
    modules = modules_of(tmp_path, {"manage.py": MANAGE, "config/__init__.py": "", "config/settings.py": source})
    assert modules.setting("RQ").value == {"COMMIT_MODE": "auto"}
    assert modules.setting("MIDDLEWARE").value == ["a", "b"]
    assert modules.setting("SECRET").known is False
    absent = modules.setting("INSTALLED_APPS")
    assert (absent.value, absent.known, absent.site) == (None, True, None)


def test_without_settings_modules_nothing_is_known(tmp_path: Path) -> None:
    setting = modules_of(tmp_path, {"a.py": ""}).setting("RQ")
    assert (setting.known, setting.reason) == (False, "no settings module was found")


ATOMIC = {
    "in the default database": ("DATABASES = {'default': {'ATOMIC_REQUESTS': True}}", True),
    "set afterwards": (
        "import env\nDATABASES = {'default': env.db()}\nDATABASES['default']['ATOMIC_REQUESTS'] = True",
        True,
    ),
    "in another database only": ("DATABASES = {'default': {}, 'other': {'ATOMIC_REQUESTS': True}}", True),
    "nowhere": ("DATABASES = {'default': {}}", None),
    "no databases": ("INSTALLED_APPS = []", None),
    "unknown databases": ("import env\nDATABASES = {'default': env.db()}", "? what env.db() gives is not known"),
}


@pytest.mark.parametrize(("source", "value"), ATOMIC.values(), ids=ATOMIC)
def test_a_setting_may_stand_inside_another(tmp_path: Path, source: str, value: object) -> None:
    modules = modules_of(tmp_path, {"manage.py": MANAGE, "config/__init__.py": "", "config/settings.py": source})
    setting = modules.setting("ATOMIC_REQUESTS")
    assert (setting.value if setting.known else f"? {setting.reason}") == value


def test_the_chosen_module_is_the_only_one(tmp_path: Path) -> None:
    files = {"manage.py": MANAGE, "config/__init__.py": "", "config/settings.py": "A = 1", "other.py": "A = 2"}
    assert modules_of(tmp_path, files).setting("A").value == 1
    assert modules_of(tmp_path, files, "other").setting("A").value == 2
    assert modules_of(tmp_path, files, "missing").setting("A").known is False


def test_of_several_projects_the_nearest_settings_count(tmp_path: Path) -> None:
    manage = "import os\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', '{}.settings')"
    files = {
        "one/manage.py": manage.format("alpha"),
        "one/alpha/__init__.py": "",
        "one/alpha/settings.py": "A = 1",
        "two/manage.py": manage.format("beta"),
        "two/beta/__init__.py": "",
        "two/beta/settings.py": "A = 2",
    }
    modules = modules_of(tmp_path, files)
    assert modules.setting("A", "one/shop/tasks.py").value == 1
    assert modules.setting("A", "two/shop/tasks.py").value == 2
    assert modules.setting("A").known is False


def test_a_settings_module_for_tests_is_none(tmp_path: Path) -> None:
    files = {
        "manage.py": "import os, sys\nif 'test' in sys.argv:\n    os.environ['DJANGO_SETTINGS_MODULE'] = 'c.other'\n"
        "else:\n    os.environ['DJANGO_SETTINGS_MODULE'] = 'c.settings'",
        "c/__init__.py": "",
        "c/settings.py": "A = 1",
        "c/other.py": "A = 2",
        "c/test_settings.py": "from .settings import *\nA = 3",
        "c/settings_ci.py": "from .settings import *\nA = 4",
    }
    assert modules_of(tmp_path, files).setting("A").value == 1


def test_settings_read_in_code_are_constants(tmp_path: Path) -> None:
    files = {
        "manage.py": MANAGE,
        "config/__init__.py": "",
        "config/settings.py": "LIMIT = 300",
        "a.py": APP + "from django.conf import settings\napp = Celery('x', task_time_limit=settings.LIMIT * 2)",
    }
    assert in_force(settings_of(tmp_path, files)) == {"task_time_limit": 600}
