"""A user's own catalog: the projects of its page, what is said of it, and what it does to the project's own code."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pages
import pytest
from linting import checked
from pages import Example, Mark

from idemlint.cli import run

PAGE = Path(__file__).parent.parent / "docs" / "catalog.md"
CATALOG = "idemlint-catalog.toml"
SETTINGS = f'[tool.idemlint]\ncatalogs = ["{CATALOG}"]\n'


def shown() -> Iterator[Example]:
    """The projects of the page, by its sections."""
    _, *parts = re.split(r"^## (.*)\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for section, text in zip(parts[::2], parts[1::2], strict=True):
        yield from pages.examples_in("catalog", section, text)


EXAMPLES = list(shown())


def spoken(folder: Path, *arguments: str) -> set[Mark]:
    report = json.loads(checked(folder, ".", "--output-format", "json", *arguments))
    return {Mark(finding["path"], finding["line"], finding["rule"]) for finding in report["findings"]}


def test_the_page_shows_every_kind_of_row_it_promises() -> None:
    text = "".join(example.files[CATALOG] for example in EXAMPLES)
    assert set(re.findall(r"^\[+(\w+)", text, re.MULTILINE)) >= {
        *("effect", "returns", "guard", "role", "declare", "send", "method", "framework"),
    }


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_the_project_is_read_as_its_catalog_says(example: Example, tmp_path: Path) -> None:
    example.write(tmp_path)
    (tmp_path / "pyproject.toml").write_text(SETTINGS, encoding="utf-8")
    assert spoken(tmp_path) == example.errors


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_without_its_catalog_it_is_not(example: Example, tmp_path: Path) -> None:
    example.write(tmp_path)
    assert spoken(tmp_path, "--isolated") != example.errors


# --- What is said of it ----------------------------------------------------------------------------------------------


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a task, which is also the working folder."""
    (tmp_path / "tasks.py").write_text(
        "import acme\nimport stripe\nfrom celery import shared_task\n\n\n"
        "@shared_task\ndef one(n):\n    acme.Client(n).charge(n)\n    acme.notify(n)\n\n\n"
        "@shared_task\ndef two(n):\n    acme.notify(n)\n    stripe.Charge.create(amount=n)\n",
        encoding="utf-8",
    )
    (tmp_path / "pyproject.toml").write_text(SETTINGS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


EFFECT = 'title = "Shop"\n\n[[effect]]\ncalls = ["acme.notify"]\nkind = "message"\nreplay = "repeats"\n'

WRONG = [
    ("title = [\n\n", "1: not valid TOML: "),
    (EFFECT.replace("message", "mesage"), "5: effect[0].kind: expected one of"),
    (EFFECT.replace("message", "mesage"), 'found "mesage"; did you mean "message"?'),
    (EFFECT.replace('kind = "message"\n', ""), "3: effect[0].kind: missing"),
    (EFFECT + "fixx = 'x'\n", '7: effect[0].fixx: unknown key; did you mean "fix"?'),
    (EFFECT + EFFECT.partition("\n\n")[2], '8: effect[1].calls: "acme.notify" already stands in effect[0]'),
    (EFFECT + '[[effect.when]]\nkind = "read"\n', "7: effect[0].when[0].argument: missing"),
    (EFFECT + "[effect.http]\nurl = [1]\n", "8: effect[0].http.url[0]: expected a string, found an integer"),
    ('title = "x"\ntext = "y"\n', "2: text: unknown key"),
    ('title = "x"\n\n[[declare]]\ncalls = ["a.b"]\n', "3: declare[0].framework: missing"),
    (
        'title = "x"\n\n[[declare]]\ncalls = ["a.b"]\nframework = "celry"\n',
        '5: declare[0].framework: unknown framework "celry"; did you mean "celery"?',
    ),
    ('title = "x"\n\n[framework]\nname = "celery"\n', '4: framework.name: "celery" is known already'),
    (
        'title = "x"\n\n' + 2 * '[[declare]]\ncalls = ["a.b"]\nframework = "rq"\n',
        '7: declare[1].calls: "a.b" already stands in declare[0]',
    ),
    (
        'title = "x"\n[[same]]\nnames = ["a"]\nof = "b"\n[[same]]\nnames = ["b"]\nof = "a.c"\n',
        '2: same[0]: "a" leads back to itself',
    ),
]


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_a_wrong_entry_ends_the_run_with_file_line_and_key(
    shop: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    (shop / CATALOG).write_text(text, encoding="utf-8")
    assert run(["check"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"idemlint: error: {CATALOG}:")
    assert said in error


def test_a_catalog_that_is_not_there_ends_the_run_with_what_was_meant(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop / "idemlint-katalog.toml").write_text(EFFECT, encoding="utf-8")
    assert run(["check"]) == 2
    assert capsys.readouterr().err == (
        f'idemlint: error: pyproject.toml:2: tool.idemlint.catalogs[0]: there is no file "{CATALOG}"; '
        'did you mean "idemlint-katalog.toml"?\n'
    )


def test_a_catalog_that_is_no_text_ends_the_run(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop / CATALOG).write_bytes(b"\xff\xfe")
    assert run(["check"]) == 2
    assert capsys.readouterr().err == f"idemlint: error: {CATALOG}: cannot be read: not UTF-8\n"


def test_verbose_says_which_built_in_rows_are_replaced(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = EFFECT + '\n[[effect]]\ncalls = ["stripe.Charge.*"]\nkind = "read"\nreplay = "natural"\n'
    (shop / CATALOG).write_text(text, encoding="utf-8")
    assert spoken(shop) == {Mark("tasks.py", 9, "unguarded-message"), Mark("tasks.py", 14, "unguarded-message")}
    run(["check", "-v"])
    said = [line for line in capsys.readouterr().err.splitlines() if CATALOG in line]
    assert said == [
        f"idemlint: {CATALOG}:8: effect[1] stands in place of the built-in row for stripe.Charge.capture and 5 more"
    ]


def test_of_two_files_the_last_has_the_last_word(shop: Path) -> None:
    (shop / CATALOG).write_text(EFFECT, encoding="utf-8")
    (shop / "later.toml").write_text(EFFECT.replace("message", "read").replace("repeats", "natural"), encoding="utf-8")
    assert Mark("tasks.py", 9, "unguarded-message") in spoken(shop)
    assert Mark("tasks.py", 9, "unguarded-message") not in spoken(shop, "--config", 'catalogs=["later.toml"]')


# --- Which code a name means -----------------------------------------------------------------------------------------

CHARGE = 'title = "Shop"\n[[effect]]\ncalls = ["{name}"]\nkind = "payment"\nreplay = "repeats"\n'
GATEWAY = """
class Gateway:
    def charge(self):
        ...

class Other(Gateway):
    pass

class Quiet(Gateway):
    def charge(self):
        return None

    def parent(self):
        super().charge()

def charge():
    ...

gateway = Gateway()
"""


@pytest.mark.parametrize(
    ("name", "imports", "call"),
    [
        ("shop.billing.charge", "from shop.billing import charge", "charge()"),
        ("shop.billing.charge", "from shop import billing as b", "b.charge()"),
        ("shop.billing.charge", "from shop import charge", "charge()"),
        ("shop.charge", "from shop import charge", "charge()"),
        ("shop.billing.Gateway.charge", "from shop.billing import Gateway", "Gateway().charge()"),
        ("shop.billing.Gateway.charge", "from shop.billing import gateway", "gateway.charge()"),
        ("shop.billing.Gateway.charge", "from shop.billing import Other", "Other().charge()"),
        ("shop.billing.Gateway.charge", "from shop.billing import Quiet", "Quiet().parent()"),
        ("shop.billing.*.charge", "from shop.billing import Gateway", "Gateway().charge()"),
        ("shop.billing.Gateway", "from shop.billing import Gateway", "Gateway()"),
        ("shop.made.client.charge", "from shop.made import client", "client.charge()"),
        ("factory.make.charge", "from shop.made import client", "client.charge()"),
        ("shop.made.Holder.client.charge", "from shop.made import Holder", "Holder().client.charge()"),
        ("redis.Redis.eval", "from redis import Redis", "Redis().eval('')"),
        ("redis.asyncio.Redis.eval", "from redis import StrictRedis", "StrictRedis().eval('')"),
    ],
)
def test_a_name_means_the_same_code_however_it_is_reached(tmp_path: Path, name: str, imports: str, call: str) -> None:
    project(tmp_path, CHARGE.format(name=name), imports, call)
    assert [mark.rule for mark in spoken(tmp_path)] == ["unkeyed-external-call"]
    assert spoken(tmp_path, "--isolated") == set()


def test_a_method_that_overrides_a_named_one_is_another(tmp_path: Path) -> None:
    project(
        tmp_path,
        CHARGE.format(name="shop.billing.Gateway.charge"),
        "from shop.billing import Quiet",
        "Quiet().charge()",
    )
    assert spoken(tmp_path) == set()


def test_a_task_that_a_row_names_stays_a_task(tmp_path: Path) -> None:
    project(tmp_path, CHARGE.format(name="shop.tasks.task"), "import stripe", "stripe.Charge.create()")
    assert spoken(tmp_path) == {Mark("shop/tasks.py", 6, "unkeyed-external-call")}


def test_a_row_ends_what_is_known_of_a_function(tmp_path: Path) -> None:
    text = 'title = "Shop"\n[[role]]\ncalls = ["shop.tasks.helper"]\nrole = "harmless"\n'
    project(tmp_path, text, "import stripe", "helper()\n\ndef helper():\n    stripe.Charge.create()")
    assert spoken(tmp_path) == set()
    assert len(spoken(tmp_path, "--isolated")) == 1


def project(folder: Path, catalog: str, imports: str, call: str) -> None:
    """A project whose task makes one call."""
    files = {
        CATALOG: catalog,
        "pyproject.toml": SETTINGS,
        "shop/__init__.py": "from shop.billing import charge\n",
        "shop/billing.py": GATEWAY,
        "shop/made.py": "import factory\n\nclient = factory.make()\n\nclass Holder:\n    def __init__(self, client):\n"
        "        self.client = client\n",
        "shop/tasks.py": f"from celery import shared_task\n{imports}\n\n@shared_task(acks_late=True)\ndef task():\n"
        f"    {call}\n",
    }
    (folder / "shop").mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


# --- Which rows are missing ------------------------------------------------------------------------------------------


def test_verbose_names_the_library_calls_most_worth_a_row(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["check", "-v", "--isolated"])
    said = capsys.readouterr().err.splitlines()
    assert said[3:-1] == [
        "idemlint: calls most worth a row in a catalog of your own, by how many tasks reach them:",
        "idemlint:   acme.notify         2 tasks  tasks.py:9",
        "idemlint:   acme.Client.charge  1 task   tasks.py:8",
    ]


def test_what_has_a_row_is_not_among_them(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop / CATALOG).write_text(EFFECT, encoding="utf-8")
    run(["check", "-v"])
    said = capsys.readouterr().err
    assert "acme.Client.charge" in said
    assert "acme.notify" not in said


@pytest.mark.parametrize("form", ["json", "sarif", "github", "concise", "full"])
def test_what_verbose_says_is_on_standard_error_alone(
    shop: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    (shop / CATALOG).write_text(EFFECT, encoding="utf-8")
    printed = []
    for arguments in ([], ["-v"]):
        run(["check", "--output-format", form, *arguments])
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
