"""What expressions are worth: a table of modules and questions, each named for the behaviour it holds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from idemlint.link.constants import Constants
from idemlint.link.modules import Modules
from idemlint.link.names import Names
from idemlint.link.values import Known, Reference, Unknown, Value, seconds
from idemlint.project import discover
from idemlint.syntax.extract import extract_expression


def constants_of(folder: Path, files: Mapping[str, str]) -> Constants:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return Constants(Names(Modules(discover([folder], root=folder))))


def worth(folder: Path, files: Mapping[str, str], question: str, where: str = "m.py") -> Value:
    constants = constants_of(folder, files)
    source = next(file for file in constants.names.modules.project.files if file.path == where)
    expression = extract_expression(question)
    assert expression is not None
    return constants.evaluate(expression, constants.names.modules.load(source))


PLAIN = {
    "a literal": ("X = 5", "X", 5),
    "arithmetic over names": ("HOUR = 60 * 60\nX = 2 * HOUR + 1", "X", 7201),
    "negative numbers": ("A = 3\nX = -A", "X", -3),
    "division and powers": ("", "7 / 2 + 2 ** 3 + 7 // 2", 14.5),
    "texts put together": ("HOST = 'redis'\nX = 'redis://' + HOST + ':6379'", "X", "redis://redis:6379"),
    "an f-string": ("HOST = 'redis'\nPORT = 6379", "f'redis://{HOST}:{PORT}/0'", "redis://redis:6379/0"),
    "percent formatting": ("", "'redis://%s:%s/0' % ('h', 1)", "redis://h:1/0"),
    "format()": ("", "'redis://{}:{port}/0'.format('h', port=1)", "redis://h:1/0"),
    "methods of texts": ("", "' A,b '.strip().lower().split(',')", ["a", "b"]),
    "a dict display with a spread": ("A = {'a': 1, 'b': 1}", "{**A, 'b': 2}", {"a": 1, "b": 2}),
    "a list display with a spread": ("A = (1, 2)", "[*A, 3]", [1, 2, 3]),
    "dict() with keywords": ("A = {'a': 1}", "dict(A, b=2)", {"a": 1, "b": 2}),
    "dict() of pairs": ("", "dict([('a', 1)])", {"a": 1}),
    "a union of dicts": ("A = {'a': 1}", "A | {'a': 2, 'b': 3}", {"a": 2, "b": 3}),
    "an item of a dict": ("A = {'a': {'b': 5}}", "A['a']['b']", 5),
    "an item of a list": ("A = [1, 2]", "A[-1]", 2),
    "get() of a dict that has the key": ("A = {'a': 1}", "A.get('a', 2)", 1),
    "get() of a dict that has it not": ("A = {'a': 1}", "A.get('b', 2)", 2),
    "get() without a default": ("A = {'a': 1}", "A.get('b')", None),
    "seconds of a timedelta": ("from datetime import timedelta", "timedelta(minutes=15).total_seconds()", 900.0),
    "a timedelta through its module": ("import datetime as dt", "dt.timedelta(hours=1) * 2", timedelta(hours=2)),
    "int() of a timedelta": ("from datetime import timedelta", "int(timedelta(hours=6).total_seconds())", 21600),
    "conversions": ("", "int('5') + float('1.5') + len(str(10)) + bool([1])", 9.5),
    "the larger of two": ("A = 100", "max(A, 3600)", 3600),
    "a chosen value": ("DEBUG = False", "5 if DEBUG else 6", 6),
    "a comparison": ("A = 5", "1 < A <= 5", True),
    "the first that is true": ("A = ''", "A or 'b'", "b"),
    "names unpacked": ("A, B = 1, 2", "B", 2),
    "a chain of targets": ("A = B = 7", "A + B", 14),
    "an annotated name": ("A: int = 7", "A", 7),
    "an attribute of a class": ("class Config:\n    HOUR = 3600\n    LIMIT = 2 * HOUR", "Config.LIMIT", 7200),
    "an inherited attribute": ("class A:\n    X = 1\nclass B(A):\n    pass", "B.X", 1),
    "a nested class": ("class A:\n    class B:\n        X = 1", "A.B.X", 1),
    "the value of an enum's member": ("class Queue(str, Enum):\n    SLOW = 'slow'", "Queue.SLOW.value", "slow"),
    "an instance's default": ("class A:\n    x: int = 5\nsettings = A()", "settings.x", 5),
    "a function that returns an expression": ("def minutes(n, of=60):\n    'm'\n    return n * of", "minutes(5)", 300),
    "an instance from a cached function": (
        "from functools import lru_cache\nclass A:\n    x = 5\n@lru_cache()\ndef get():\n    return A()\nA = A",
        "get().x",
        5,
    ),
    "getattr with a default": ("class A:\n    x = 5", "getattr(A, 'y', 6) + getattr(A, 'x', 6)", 11),
}


@pytest.mark.parametrize(("source", "question", "value"), PLAIN.values(), ids=PLAIN)
def test_a_plain_value_is_worked_out(tmp_path: Path, source: str, question: str, value: object) -> None:
    assert worth(tmp_path, {"m.py": source}, question) == Known(value)


ORDER = {
    "the last assignment counts": ("X = 1\nX = 2", 2),
    "a name is read as it was at that moment": ("A = 1\nX = A\nA = 2", 1),
    "a name is made from its former self": ("X = 1\nX = X + 1", 2),
    "an item is set": ("X = {'a': 1}\nX['b'] = 2", {"a": 1, "b": 2}),
    "an item is set two levels down": ("X = {'a': {}}\nX['a']['b'] = 2", {"a": {"b": 2}}),
    "a dict is updated": ("X = {'a': 1}\nX.update({'b': 2}, c=3)", {"a": 1, "b": 2, "c": 3}),
    "a dict is united in place": ("X = {'a': 1}\nX |= {'b': 2}", {"a": 1, "b": 2}),
    "a default is set only once": ("X = {}\nX.setdefault('a', 1)\nX.setdefault('a', 2)", {"a": 1}),
    "a key is taken out": ("X = {'a': 1, 'b': 2}\nX.pop('a')\ndel X['b']", {}),
    "a list grows": ("X = [1]\nX += (2,)\nX.append(3)\nX.extend([4])\nX.insert(0, 0)", [0, 1, 2, 3, 4]),
    "reading methods change nothing": ("X = {'a': 1}\nX.get('a')", {"a": 1}),
    "a branch whose test is known is taken": ("D = True\nif D:\n    X = 1\nelse:\n    X = 2", 1),
    "the other branch is not": ("D = False\nif not D:\n    X = 1\nelif D:\n    X = 2", 1),
    "code for type checkers is not run": (
        "from typing import TYPE_CHECKING\nX = 1\nif TYPE_CHECKING:\n    X = 2",
        1,
    ),
    "nor is code for test runs": ("import sys\nX = 1\nif 'test' in sys.argv or 'pytest' in sys.modules:\n    X = 2", 1),
    "a test run by its first argument": (
        "import sys\nX = 1\nif len(sys.argv) > 1 and sys.argv[1] == 'test':\n    X = 2",
        1,
    ),
    "a condition that changes nothing does not matter": ("X = 1\nif unknown():\n    X = 1", 1),
    "what stands under `with` runs": ("with open('f') as f:\n    X = 1", 1),
    "what is tried runs": ("try:\n    X = 1\nfinally:\n    pass", 1),
}


@pytest.mark.parametrize(("source", "value"), ORDER.values(), ids=ORDER)
def test_statements_count_in_their_order(tmp_path: Path, source: str, value: object) -> None:
    assert worth(tmp_path, {"m.py": source}, "X") == Known(value)


ACROSS = {
    "through an import": ({"m.py": "from base import X", "base.py": "X = 1"}, "X"),
    "through an alias": ({"m.py": "from base import Y as X", "base.py": "Y = 1"}, "X"),
    "through a module": ({"m.py": "import base", "base.py": "X = 1"}, "base.X"),
    "through a package": ({"m.py": "from p import X", "p/__init__.py": "from .a import X", "p/a.py": "X = 1"}, "X"),
    "through a submodule": ({"m.py": "import p.a", "p/__init__.py": "", "p/a.py": "X = 1"}, "p.a.X"),
    "through a star": ({"m.py": "from base import *", "base.py": "X = 1"}, "X"),
    "a star, then an override": ({"m.py": "from base import *\nX = 1", "base.py": "X = 2"}, "X"),
    "an override by a later star": (
        {"m.py": "X = 2\ntry:\n    from local import *\nexcept ImportError:\n    pass", "local.py": "X = 1"},
        "X",
    ),
    "a star from a file that is not there": (
        {"m.py": "X = 1\ntry:\n    from .local import *\nexcept ImportError:\n    pass"},
        "X",
    ),
    "the fallback of an import that succeeds": (
        {"m.py": "try:\n    from base import X\nexcept ImportError:\n    X = 2", "base.py": "X = 1"},
        "X",
    ),
    "stars in a circle": ({"m.py": "from base import *", "base.py": "from m import *\nX = 1"}, "X"),
    "names in a circle of modules": (
        {"m.py": "from base import A\nX = 1", "base.py": "from m import X\nA = X"},
        "A",
    ),
    "a change of what was imported": ({"m.py": "from base import X\nX['a'] = 1", "base.py": "X = {}"}, "X['a']"),
    "seen by those who import it from there": (
        {"m.py": "from mid import X", "mid.py": "from base import X\nX['a'] = 1", "base.py": "X = {}"},
        "X['a']",
    ),
}


@pytest.mark.parametrize(("files", "question"), ACROSS.values(), ids=ACROSS)
def test_names_are_followed_through_imports(tmp_path: Path, files: Mapping[str, str], question: str) -> None:
    assert worth(tmp_path, files, question) == Known(1)


ENVIRONMENT = {
    "os.environ.get": ("import os", "os.environ.get('T', 300)", 300),
    "os.getenv": ("from os import getenv", "getenv('T', default=300)", 300),
    "int of it": ("import os", "int(os.environ.get('T', '300'))", 300),
    "environ under its own name": ("from os import environ", "int(environ.get('T', 300))", 300),
    "a fallback by or": ("import os", "os.environ.get('T') or 300", 300),
    "an instance of environ.Env": ("import environ\nenv = environ.Env()", "env('T', default=300)", 300),
    "a method of it": ("import environ\nenv = environ.Env(DEBUG=(bool, False))", "env.int('T', 300)", 300),
    "a cast of it": ("import environ\nenv = environ.Env()", "env('T', int, '300')", 300),
    "environs": ("from environs import Env\nenv = Env()\nenv.read_env()", "env.int('T', 300)", 300),
    "decouple": ("from decouple import config", "config('T', default='300', cast=int)", 300),
    "starlette": ("from starlette.config import Config\nc = Config('.env')", "c('T', cast=int, default=300)", 300),
    "a helper of the project": (
        "import os\ndef env(k, d=None):\n    return os.environ.get(k, d)",
        "env('T', 300)",
        300,
    ),
    "pydantic": ("from pydantic_settings import BaseSettings\nclass S(BaseSettings):\n    t: int = 300", "S().t", 300),
    "pydantic's Field": (
        "from pydantic_settings import BaseSettings\nfrom pydantic import Field\nclass S(BaseSettings):\n"
        "    t: int = Field(default=300)",
        "S(_env_file='.env').t",
        300,
    ),
    "arithmetic on it": ("import os\nA = int(os.environ.get('T', 5))", "A * 60", 300),
    "as a member": ("import os", "{'t': int(os.environ.get('T', 300))}['t']", 300),
    "in a text": ("import os", "f\"{os.environ.get('T', 'h')}:1\"", "h:1"),
}


@pytest.mark.parametrize(("source", "question", "value"), ENVIRONMENT.values(), ids=ENVIRONMENT)
def test_a_default_of_the_environment_is_marked(tmp_path: Path, source: str, question: str, value: object) -> None:
    found = worth(tmp_path, {"m.py": source}, question)
    assert isinstance(found, Known)
    assert found.value == value
    assert found.environment in ("T", "t")


def test_a_flag_of_the_environment_is_read_as_people_spell_it(tmp_path: Path) -> None:
    source = "from decouple import config\nimport environ\nenv = environ.Env()"
    assert worth(tmp_path, {"m.py": source}, "config('A', default='no', cast=bool)") == Known(False, "A")
    assert worth(tmp_path, {"m.py": source}, "env.bool('A', default=True)") == Known(True, "A")


REASONS = {
    "a variable without a default": ("import os", "os.environ['T']", "environment variable T"),
    "os.getenv without a default": ("import os", "os.getenv('T')", "environment variable T"),
    "a variable without a default, cast": ("import os", "int(os.environ['T'])", "environment variable T"),
    "a method of an environment without a default": (
        "import environ\nenv = environ.Env()",
        "env.int('T')",
        "environment variable T",
    ),
    "a name made from itself": ("X = Y\nY = X", "X", "Y is not set in m.py"),
    "names in a circle": ("from n import X\nY = X", "Y", "made from itself"),
    "a call of a library": ("import lib", "lib.timeout()", "what lib.timeout() gives is not known"),
    "a name nobody binds": ("", "X", "X is not set in m.py"),
    "a missing key": ("A = {}", "A['a']", "it has no such item"),
    "a condition on the environment": (
        "import os\nX = 1\nif os.environ.get('DEBUG', '1') == '1':\n    X = 2",
        "X",
        "X is set under a condition: environment variable DEBUG",
    ),
    "a condition on a call": ("if probe():\n    X = 1", "X", "X is set under a condition: probe is not set in m.py"),
    "conditions one on the other": (
        "import os\nX = 1\nif os.environ['A']:\n    X = 2\nif X > 1:\n    X = 3",
        "X",
        "X is set under a condition: environment variable A",
    ),
    "a loop": ("X = 0\nfor i in range(3):\n    X = i", "X", "X is set under a condition: it is set in a loop"),
    "an exception": (
        "try:\n    X = read()\nexcept OSError:\n    X = 2",
        "X",
        "X is set under a condition: it is set where an exception is handled",
    ),
    "a choice nobody knows": (
        "import os",
        "1 if os.environ['A'] else 2",
        "it hangs on a condition: environment variable A",
    ),
    "a choice by a default": (
        "import os\nD = bool(os.environ.get('A', ''))",
        "1 if D else 2",
        "it hangs on a condition: environment variable A",
    ),
    "an attribute set when it is made": (
        "class A:\n    x = 1\n    def __init__(self, y=2):\n        self.x = y\na = A()",
        "a.x",
        "x is set when A is made",
    ),
    "an instance made with arguments": ("class A:\n    x = 1\na = A(x=2)", "a.x", "an instance of A"),
    "a function that does more": ("def f():\n    log()\n    return 1", "f()", "what f() gives is not worked out"),
    "a decorated function": ("@twice\ndef f():\n    return 1", "f()", "what f() gives is not worked out"),
    "a comprehension": ("", "[i for i in (1, 2)]", "the value of a comprehension is not worked out"),
    "a division by zero": ("", "1 / 0", "/ fails here"),
    "a wrong number": ("", "int('five')", "int() of it fails"),
    "sizes out of bounds": ("", "'a' * 10 ** 9", "a value of * that is not worked out"),
    "powers out of bounds": ("", "10 ** 10 ** 10", "a value of ** that is not worked out"),
    "a format that is no text": ("X = 5", "f'{X:03d}'", "a format that is not worked out"),
    "a flag nobody can read": ("from decouple import config", "config('A', 'maybe', cast=bool)", "flag() of it fails"),
}


@pytest.mark.parametrize(("source", "question", "reason"), REASONS.values(), ids=REASONS)
def test_what_cannot_be_told_says_why(tmp_path: Path, source: str, question: str, reason: str) -> None:
    files = {"m.py": source, "n.py": "from m import Y\nX = Y"}
    found = worth(tmp_path, files, question)
    assert isinstance(found, Unknown), found
    assert found.reason.endswith(reason)


def test_the_start_of_a_text_is_kept(tmp_path: Path) -> None:
    source = {"m.py": "import os\nHOST = os.environ['HOST']"}
    for question in (
        "f'redis://{HOST}/0'",
        "'redis://' + HOST",
        "'redis://%s/0' % HOST",
        "'redis://{}/0'.format(HOST)",
        "'redis://a' if HOST else 'redis://b'",
    ):
        found = worth(tmp_path, source, question)
        assert isinstance(found, Unknown)
        assert found.start == "redis://", question


def test_the_known_part_of_a_dict_is_kept(tmp_path: Path) -> None:
    source = {"m.py": "import lib\nX = {'first': 1, **lib.options(), 'visibility_timeout': 300}\nX['b'] = 2"}
    assert worth(tmp_path, source, "X['visibility_timeout']") == Known(300)
    assert worth(tmp_path, source, "X['b']") == Known(2)
    for question in ("X['first']", "X['other']", "X.get('other', 5)"):
        assert isinstance(worth(tmp_path, source, question), Unknown), question


def test_an_item_of_an_unknown_value_can_be_set(tmp_path: Path) -> None:
    source = {"m.py": "import lib\nX = {'default': lib.url()}\nX['default']['ATOMIC'] = True"}
    assert worth(tmp_path, source, "X['default']['ATOMIC']") == Known(True)
    assert isinstance(worth(tmp_path, source, "X['default']['NAME']"), Unknown)


def test_members_that_cannot_be_told_stand_in_what_is_known(tmp_path: Path) -> None:
    found = worth(tmp_path, {"m.py": "import lib"}, "{'a': lib.f(), 'b': 2}")
    assert isinstance(found, Known)
    assert isinstance(found.value, dict)
    assert found.value["b"] == 2
    assert isinstance(found.value["a"], Unknown)


def test_things_with_names_are_references(tmp_path: Path) -> None:
    files = {
        "m.py": "import requests\nfrom n import Failed\nfrom requests.exceptions import Timeout\ndef f(): pass",
        "n.py": "class Failed(Exception): pass",
    }
    assert worth(tmp_path, files, "(requests.RequestException, Timeout, Failed, ValueError, f)") == Known(
        (
            Reference("requests.RequestException"),
            Reference("requests.exceptions.Timeout"),
            Reference("n:Failed", "class"),
            Reference("builtins.ValueError"),
            Reference("m:f", "function"),
        )
    )
    assert Reference("requests.exceptions.Timeout").name == "Timeout"
    assert Reference("n:Failed", "class").name == "Failed"


def test_local_names_come_before_those_of_the_module(tmp_path: Path) -> None:
    constants = constants_of(tmp_path, {"m.py": "X = 1\nY = 2"})
    module = constants.names.modules.load(constants.names.modules.project.files[0])
    local = {name: extract_expression(text) for name, text in {"X": "Y * 5", "Z": "Z + 1"}.items()}
    known = {name: expression for name, expression in local.items() if expression is not None}
    questions = [extract_expression(text) for text in ("X", "Z")]
    values = [constants.evaluate(question, module, known) for question in questions if question is not None]
    assert values == [Known(10), Unknown("Z is made from itself")]


def test_a_name_says_which_statement_set_it_last(tmp_path: Path) -> None:
    constants = constants_of(tmp_path, {"m.py": "from base import *\nY = 1\n", "base.py": "import os\n\nX = 1\n"})
    module = next(
        constants.names.modules.load(file) for file in constants.names.modules.project.files if file.path == "m.py"
    )
    places = {name: constants.state(module, name) for name in ("X", "Y", "Z")}
    assert places["Z"] is None
    assert [(s.site.path, s.site.piece) for s in (places["X"], places["Y"]) if s and s.site] == [
        ("base.py", 1),
        ("m.py", 1),
    ]


def test_the_names_of_a_module_are_listed_through_stars(tmp_path: Path) -> None:
    constants = constants_of(tmp_path, {"m.py": "from base import *\nY = 1\ndef f(): pass", "base.py": "X = 1\n_P = 1"})
    assert constants.names_in(Reference("m", "module")) == ["X", "Y", "f"]


def test_a_library_object_is_answered_by_whoever_knows_it(tmp_path: Path) -> None:
    constants = constants_of(tmp_path, {"m.py": "from django.conf import settings\nX = settings.LIMIT * 2"})
    expression = extract_expression("X")
    assert expression is not None
    assert isinstance(
        constants.evaluate(expression, constants.names.modules.load(constants.names.modules.project.files[0])), Unknown
    )
    constants.provide("django.conf.settings", lambda name, near: Known(5) if name == "LIMIT" else None)
    module = constants.names.modules.load(constants.names.modules.project.files[0])
    for text, value in {
        "X": Known(10),
        "settings.B": Unknown("B is not set"),
        "getattr(settings, 'B', 3)": Known(3),
    }.items():
        expression = extract_expression(text)
        assert expression is not None
        assert constants.evaluate(expression, module) == value


def test_the_order_of_questions_does_not_change_the_answers(tmp_path: Path) -> None:
    files = {f"m{i}.py": f"from m{(i + 1) % 6} import *\nX{i} = 1\nY = X{(i + 1) % 6}\n" for i in range(6)}
    questions = [(f"m{i}.py", name) for i in range(6) for name in ("X0", "X3", "X5", "Y", "Z")]

    def answers(order: list[tuple[str, str]]) -> dict[tuple[str, str], object]:
        constants = constants_of(tmp_path, files)
        by_path = {file.path: file for file in constants.names.modules.project.files}
        return {
            (path, name): constants.state(constants.names.modules.load(by_path[path]), name) for path, name in order
        }

    assert answers(questions) == answers(questions[::-1])


def test_deep_and_wide_expressions_end(tmp_path: Path) -> None:
    deep = " + ".join(["1"] * 400)
    wide = "\n".join(f"X{i} = [X{i - 1}, X{i - 1}]" for i in range(1, 40))
    webs = {f"w{i}.py": "\n".join(f"from w{j} import *" for j in range(12)) for i in range(12)}
    files = {"m.py": f"DEEP = {deep}\nX0 = 1\n{wide}", **webs}
    assert isinstance(worth(tmp_path, files, "DEEP"), Unknown)
    assert worth(tmp_path, files, "len(X39)") == Known(2)
    assert worth(tmp_path, files, "Q", "w0.py") == Unknown("Q is not set in w0.py")


def test_durations_are_counted_in_seconds() -> None:
    assert [seconds(value) for value in (5, 1.5, timedelta(minutes=1), True, "5", None)] == [
        5,
        1.5,
        60,
        None,
        None,
        None,
    ]
