"""Names: through imports of all kinds to the function that a call reaches."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from linked import linked

SEND = "def send(to):\n    return to\n"
SHOP = {"shop/__init__.py": "", "shop/mail.py": SEND}


def task(imports: str, call: str) -> str:
    """A module with a task that makes one call."""
    return f"from celery import shared_task\n{imports}\n\n\n@shared_task\ndef task(to):\n    {call}\n"


def called(folder: Path, files: Mapping[str, str], name: str = "task") -> list[str]:
    return linked(folder, files).called(name)


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("from shop.mail import send", "send(to)"),
        ("from shop.mail import send as deliver", "deliver(to)"),
        ("from shop import mail", "mail.send(to)"),
        ("from shop import mail as post", "post.send(to)"),
        ("import shop.mail", "shop.mail.send(to)"),
        ("import shop.mail as post", "post.send(to)"),
        ("import shop", "shop.mail.send(to)"),
        ("from .mail import send", "send(to)"),
        ("from . import mail", "mail.send(to)"),
        ("from .mail import (\n    send,\n)", "send(to)"),
        ("from .mail import *", "send(to)"),
        ("lazy from .mail import send", "send(to)"),
        ("lazy import shop.mail", "shop.mail.send(to)"),
        ("", "from .mail import send; send(to)"),
        ("", "from . import mail as m; m.send(to)"),
        ("", "import shop.mail; shop.mail.send(to)"),
        ("import os, shop.mail as post", "post.send(to)"),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from shop.mail import send", "send(to)"),
        ("try:\n    from shop.mail import send\nexcept ImportError:\n    send = None", "send(to)"),
        ("try:\n    from fastmail import send\nexcept ImportError:\n    from shop.mail import send", "send(to)"),
        ("try:\n    import ujson\nexcept ImportError:\n    pass\nfrom shop.mail import send", "send(to)"),
        ("if 1:\n    from shop.mail import send\nelse:\n    from shop.mail import send", "send(to)"),
        ("from shop.mail import send\ndeliver = send", "deliver(to)"),
        ("from shop import mail\ndeliver = mail.send", "deliver(to)"),
        ("from shop import mail\nthe = mail", "the.send(to)"),
        ("import shop.mail\npost = shop.mail", "post.send(to)"),
        ("import importlib\nfrom shop import mail", "mail.send(to)"),
    ],
)
def test_every_import_leads_to_the_function(tmp_path: Path, imports: str, call: str) -> None:
    files = {**SHOP, "shop/tasks.py": task(imports, call)}
    assert called(tmp_path, files)[-1:] == ["shop.mail:send"]


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("from ..mail import send", "send(to)"),
        ("from .. import mail", "mail.send(to)"),
        ("from ..deep import mail", "mail.send(to)"),
        ("from ...shop.mail import send", "send(to)"),
        ("from ... import shop", "shop.mail.send(to)"),
    ],
)
def test_dots_lead_up_through_packages(tmp_path: Path, imports: str, call: str) -> None:
    files = {"app/__init__.py": "", "app/shop/__init__.py": "", "app/shop/mail.py": SEND}
    files |= {"app/shop/deep/__init__.py": "from .. import mail\n", "app/shop/deep/tasks.py": task(imports, call)}
    assert called(tmp_path, files) == ["app.shop.mail:send"]


@pytest.mark.parametrize(
    ("inits", "imports", "call"),
    [
        ({"shop/__init__.py": "from .mail import send\n"}, "from shop import send", "send(to)"),
        ({"shop/__init__.py": "from shop.mail import send as deliver\n"}, "import shop", "shop.deliver(to)"),
        ({"shop/__init__.py": "from .mail import *\n"}, "from shop import send", "send(to)"),
        ({"shop/__init__.py": "from . import mail\nsend = mail.send\n"}, "from shop import send", "send(to)"),
        (
            {"shop/__init__.py": "from .api import *\n", "shop/api.py": "from .mail import *\n"},
            "from shop import *",
            "send(to)",
        ),
        (
            {"shop/__init__.py": "from .api import send\n", "shop/api.py": "from .mail import send\n"},
            "import shop as s",
            "s.send(to)",
        ),
        ({"shop/__init__.py": "from .mail import send\n__all__ = ['send']\n"}, "from shop import *", "send(to)"),
    ],
)
def test_a_name_is_followed_through_the_modules_that_hand_it_on(
    tmp_path: Path, inits: Mapping[str, str], imports: str, call: str
) -> None:
    assert called(tmp_path, {**SHOP, **inits, "tasks.py": task(imports, call)}) == ["shop.mail:send"]


def test_a_module_named_like_a_library_does_not_hide_it_in_the_package_that_is_checked(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("")
    files = {
        "celery.py": "from celery import Celery\napp = Celery('shop')\n",
        "mail.py": SEND,
        "tasks.py": "from .celery import app\nfrom .mail import send\n\n\n@app.task\ndef task(to):\n    send(to)\n",
        "shared.py": task("from .mail import send", "send(to)").replace("def task", "def other"),
    }
    project = linked(tmp_path, files)
    package = tmp_path.name
    assert project.called("task") == project.called("other") == [f"{package}.mail:send"]


def test_the_last_binding_of_a_name_counts(tmp_path: Path) -> None:
    imports = "from shop.mail import send\ndef send(to):\n    return None"
    assert called(tmp_path, {**SHOP, "tasks.py": task(imports, "send(to)")}) == ["tasks:send"]


def test_a_name_of_the_function_hides_that_of_the_module(tmp_path: Path) -> None:
    files = {**SHOP, "tasks.py": task("from shop.mail import send", "send = to.get; send(to)")}
    assert called(tmp_path, files)[-1] != "shop.mail:send"


def test_modules_that_import_each_other_are_read_to_the_end(tmp_path: Path) -> None:
    files = {
        "a.py": "from b import *\nfrom b import two\ndef one(): two()\n",
        "b.py": "from a import *\nfrom a import one\ndef two(): one()\n",
    }
    reached = linked(tmp_path, {**files, "tasks.py": task("from a import two", "two()")}).reached()
    assert {"b:two", "a:one"} <= reached


def test_a_name_that_is_imported_in_a_circle_and_bound_nowhere_is_nothing(tmp_path: Path) -> None:
    files = {
        "a.py": "from b import ghost\n",
        "b.py": "from a import ghost\n",
        "tasks.py": task("from a import ghost", "ghost()"),
    }
    assert len(called(tmp_path, files)) == 1
    assert "ghost" in called(tmp_path, files)[0]


def test_a_package_without_init_is_followed(tmp_path: Path) -> None:
    files = {"shop/mail.py": SEND, "shop/deep/more.py": SEND}
    imports = "from shop import mail\nfrom shop.deep import more\nimport shop.deep.more as also"
    reached = called(tmp_path, {**files, "shop/tasks.py": task(imports, "mail.send(to); more.send(to); also.send(to)")})
    assert [name.rpartition(":")[2] for name in reached] == ["send", "send", "send"]
    assert "mail" in reached[0]
    assert reached[1] == reached[2]
    assert "more" in reached[1]


def test_relative_imports_need_no_init(tmp_path: Path) -> None:
    files = {
        "shop/mail.py": SEND,
        "shop/tasks.py": task("from . import mail\nfrom .mail import send", "mail.send(to); send(to)"),
    }
    assert [name.rpartition(":")[2] for name in called(tmp_path, files)] == ["send", "send"]


def test_a_source_folder_is_no_part_of_the_name(tmp_path: Path) -> None:
    files = {"src/shop/__init__.py": "", "src/shop/mail.py": SEND}
    files |= {"src/shop/tasks.py": task("from shop.mail import send", "send(to)")}
    assert called(tmp_path, files) == ["shop.mail:send"]


def test_of_two_roots_with_modules_of_one_name_the_nearer_is_meant(tmp_path: Path) -> None:
    files = {}
    for service in ("billing", "orders"):
        files[f"services/{service}/mail.py"] = f"def send_{service}(to): pass\ndef send(to): send_{service}(to)\n"
        files[f"services/{service}/jobs.py"] = task("from mail import send", "send(to)").replace(
            "def task", f"def task_{service}"
        )
    program = linked(tmp_path, files)
    for service in ("billing", "orders"):
        reached = program.reached(f"task_{service}")
        assert {name.rpartition(":")[2] for name in reached} == {"send", f"send_{service}"}


def test_tasks_of_one_name_in_two_roots_are_two(tmp_path: Path) -> None:
    files = {f"services/{name}/tasks.py": task("import mail", "mail.send(to)") for name in ("a", "b")}
    files |= {f"services/{name}/mail.py": f"def send(to): in_{name}()\ndef in_{name}(): pass\n" for name in ("a", "b")}
    program = linked(tmp_path, files).program
    assert len(program.tasks) == 2
    assert len({task.site.path for task in program.tasks.values()}) == 2


@pytest.mark.parametrize(
    ("imports", "call", "path"),
    [
        ("import requests", "requests.post(to)", "requests.post"),
        ("import requests as r", "r.post(to)", "requests.post"),
        ("from requests import post", "post(to)", "requests.post"),
        ("from requests import post as p", "p(to)", "requests.post"),
        ("from requests import api", "api.post(to)", "requests.api.post"),
        ("import requests.api", "requests.api.post(to)", "requests.api.post"),
        ("", "import requests; requests.post(to)", "requests.post"),
        ("import requests\nsend = requests.post", "send(to)", "requests.post"),
        ("try:\n    import requests\nexcept ImportError:\n    requests = None", "requests.post(to)", "requests.post"),
    ],
)
def test_names_of_libraries_are_their_dotted_paths(tmp_path: Path, imports: str, call: str, path: str) -> None:
    assert called(tmp_path, {"tasks.py": task(imports, call)}) == [path]


def test_a_library_is_followed_through_the_project_that_hands_it_on(tmp_path: Path) -> None:
    files = {"http.py": "from requests import post\nimport requests as client\n"}
    reached = called(tmp_path, {**files, "tasks.py": task("from http import post, client", "post(to); client.put(to)")})
    assert reached == ["requests.post", "requests.put"]


def test_a_folder_of_the_project_is_not_the_library_of_that_name(tmp_path: Path) -> None:
    files = {"app/__init__.py": "", "app/requests/__init__.py": "def post(to): pass\n"}
    reached = called(
        tmp_path,
        {**files, "app/tasks.py": task("from .requests import post\nimport requests", "post(to); requests.put(to)")},
    )
    assert reached == ["app.requests:post", "requests.put"]


@pytest.mark.parametrize("call", ["send(to)", "mail.send(to)", "to.send()"])
def test_what_cannot_be_found_is_unresolved_and_said(tmp_path: Path, call: str) -> None:
    imports = "from elsewhere.mail import send\nfrom .gone import mail"
    (reached,) = called(tmp_path, {"app/__init__.py": "", "app/tasks.py": task(imports, call)})
    assert reached.startswith("? ")
