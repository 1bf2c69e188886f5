"""Imports go downward only, and every outside word has one home."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path, PurePath

import pytest

PACKAGE = Path(__file__).parent.parent / "idemlint"

# From the top down. Parts on one line do not know each other.
TIERS = (
    ("__init__", "__main__"),
    ("cli",),
    ("engine", "shown"),
    ("suppression", "unknown"),
    ("report", "fixing", "checks", "placing"),
    ("config", "pages"),  # as high as a report that shows the settings allows: what analyses is given values
    ("replay",),
    ("summarize",),
    ("domain", "delivery"),
    ("link",),
    ("orm",),
    ("program",),
    ("directive",),
    ("catalog", "syntax"),
    ("project",),
    ("diagnostic", "processes", "progress", "spelling", "toml"),
)
DEPTH = {part: depth for depth, parts in enumerate(TIERS) for part in parts}
HOMES = {
    "libcst": {"syntax"},
    "click": {"cli"},
    "rich": {"report"},
    "pathspec": {"project", "config"},  # both hold patterns that their users write as in .gitignore
    "sqlglot": {"orm"},
}
VENDORS = set(
    "aiohttp arq asyncpg aws boto boto3 botocore braintree celery django dramatiq httpx huey kafka kombu mongo "
    "mongoengine paypal peewee pika procrastinate psycopg psycopg2 pymongo rabbitmq redis requests rq sendgrid "
    "sqlalchemy sqs stripe taskiq tortoise twilio urllib3".split()
)
FILES = [file.relative_to(PACKAGE) for file in sorted(PACKAGE.rglob("*.py"))]


def part_of(file: PurePath) -> str:
    return file.parts[0].removesuffix(".py")


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)


def texts(tree: ast.AST) -> Iterator[str]:
    """Names and strings; a string that is a statement, such as a docstring, is prose."""
    prose = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose:
            yield node.value
        for field in ("id", "attr", "arg", "name", "asname", "module"):
            text = getattr(node, field, None)
            if isinstance(text, str):
                yield text


def words(text: str) -> set[str]:
    runs = re.findall(r"[A-Za-z0-9]+", text)
    return {word.lower() for run in runs for word in (run, *re.findall(r"[A-Z]?[a-z0-9]+", run))}


def knows_vendors(file: PurePath) -> bool:
    if part_of(file) in ("orm", "delivery"):
        layer = file.parts[1].removesuffix(".py")
        return layer == "__init__" or bool(words(layer) & VENDORS)
    return part_of(file) == "catalog"


def faults(file: PurePath, source: str) -> list[str]:
    """What the source of `file`, a path below the package, may not do."""
    tree, own, found = ast.parse(source), part_of(file), []
    for name in imports(tree):
        top, part = (*name.split("."), "__init__")[:2]
        if top in HOMES and own not in HOMES[top]:
            found.append(f"{file} imports {top}")
        dunder = part.startswith("__") and part != "__init__"
        if top == "" or (top == "idemlint" and part != own and not dunder and DEPTH.get(part, 0) <= DEPTH[own]):
            found.append(f"{file} imports {name}")
    if not knows_vendors(file):
        found += [f"{file} says {word}" for text in texts(tree) for word in sorted(words(text) & VENDORS)]
    return found


@pytest.mark.parametrize("file", FILES, ids=str)
def test_file_keeps_to_its_place(file: PurePath) -> None:
    assert part_of(file) in DEPTH, "a new part needs a tier"
    assert faults(file, (PACKAGE / file).read_text(encoding="utf-8")) == []


def test_parts_that_exist_are_looked_at() -> None:
    assert {"diagnostic", "project", "program"} <= {part_of(file) for file in FILES}


@pytest.mark.parametrize(
    ("file", "source", "fault"),
    [
        ("link/walk.py", "from idemlint.summarize import summary", "imports idemlint.summarize.summary"),
        ("link/walk.py", "from idemlint import engine", "imports idemlint.engine"),
        ("syntax/facts.py", "def f():\n    import idemlint.catalog.rows", "imports idemlint.catalog.rows"),
        ("checks/rule.py", "from idemlint.report import sheet", "imports idemlint.report.sheet"),
        ("checks/rule.py", "from .. import engine", "imports ...engine"),
        ("diagnostic.py", "import idemlint", "imports idemlint"),
        ("checks/rule.py", "import libcst.matchers as m", "imports libcst"),
        ("engine.py", "from rich.progress import track", "imports rich"),
        ("checks/rule.py", "x = 'a Celery task'", "says celery"),
        ("link/walk.py", "isDjangoModel = 1", "says django"),
        ("link/walk.py", "def f(*, redis_client): ...", "says redis"),
        ("orm/schema.py", "x.sqlalchemy", "says sqlalchemy"),
    ],
)
def test_fault_is_noticed(file: str, source: str, fault: str) -> None:
    assert faults(PurePath(file), source) == [f"{file} {fault}"]


@pytest.mark.parametrize(
    ("file", "source"),
    [
        (
            "link/walk.py",
            '"""Celery\'s."""\nfrom idemlint import __version__  # Django\nfrom idemlint.link.names import x',
        ),
        ("orm/django/models.py", "from idemlint.program import Model\nx = 'django.db.models'"),
        ("delivery/__init__.py", "from idemlint.delivery import celery"),
        ("cli.py", "import click\nfrom idemlint import engine"),
    ],
)
def test_what_is_in_its_place_is_no_fault(file: str, source: str) -> None:
    assert faults(PurePath(file), source) == []
