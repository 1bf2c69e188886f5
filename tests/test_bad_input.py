"""Files that are broken, odd or huge: what can be read is checked, what cannot is said, and nothing crashes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from linting import checked, findings

from idemlint.syntax.check import fault

TASKS = """\
import requests
from celery import shared_task


@shared_task(acks_late=True)
def charge(order_id):
    requests.post("https://pay.example/charge", json={"order": order_id}).raise_for_status()
"""
RULE = "unkeyed-external-call"


def linted(folder: Path, files: Mapping[str, bytes | str]) -> list[dict[str, Any]]:
    for path, data in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.encode() if isinstance(data, str) else data)
    return findings(folder)


def places(found: list[dict[str, Any]]) -> list[tuple[str, str, int, int]]:
    return [(each["rule"], each["path"], each["line"], each["column"]) for each in found]


def lines(found: list[dict[str, Any]]) -> list[tuple[str, str, int]]:
    return [(each["rule"], each["path"], each["line"]) for each in found]


CHARGED = (RULE, "tasks.py", 7, 5)


# --- Odd text in which a task is found all the same


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        (TASKS.encode(), 7, 5),
        (TASKS.replace("\n", "\r\n").encode(), 7, 5),
        (TASKS.replace("\n", "\r").encode(), 7, 5),
        (b"\xef\xbb\xbf" + TASKS.encode(), 7, 5),
        (b"\xef\xbb\xbf" + TASKS.replace("\n", "\r\n").encode(), 7, 5),
        (TASKS.replace("\n\n\n", "\n\f\n\f\n").encode(), 7, 5),
        (TASKS.replace("\n@shared", "\n\f@shared").replace("\ndef", "\n\fdef").encode(), 7, 5),
        (TASKS.replace("    requests", "\f    requests").encode(), 7, 6),
        (TASKS.replace("    requests", "\trequests").encode(), 7, 2),
        (f"# coding: latin-1\n'é'\n{TASKS}".encode("latin-1"), 9, 5),
        (f"#!/usr/bin/python\n# vim: set fileencoding=cp1251 :\n'я'\n{TASKS}".encode("cp1251"), 10, 5),
        (TASKS.replace("    requests", "    '漢🧾'; requests").encode(), 7, 11),
        (TASKS.rstrip("\n").encode(), 7, 5),
        ((TASKS + "\n" * 5_000).encode(), 7, 5),
        (("# long\n" * 20_000 + TASKS).encode(), 20_007, 5),
        (f"'''{'x' * 100_000}'''\n{TASKS}".encode(), 8, 5),
    ],
    ids="plain crlf cr bom bom-crlf feeds feed-before-def feed-before-call tab latin-1 cp1251 wide no-end blank-tail "
    "long-head docstring".split(),
)
def test_the_finding_stands_where_the_editor_shows_the_call(
    tmp_path: Path, data: bytes, line: int, column: int
) -> None:
    assert places(linted(tmp_path, {"tasks.py": data})) == [(RULE, "tasks.py", line, column)]


def test_an_import_in_the_first_line_after_a_byte_order_mark_counts(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbffrom celery import shared_task\nimport requests\n" + TASKS.split("\n", 2)[2].encode()
    assert places(linted(tmp_path, {"tasks.py": data})) == [CHARGED]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_newlines_change_no_fingerprint(tmp_path: Path, newline: str) -> None:
    plain = linted(tmp_path / "plain", {"tasks.py": TASKS})
    other = linted(tmp_path / "other", {"tasks.py": TASKS.replace("\n", newline)})
    assert [each["fingerprint"] for each in other] == [each["fingerprint"] for each in plain]
    assert [each["steps"] for each in other] == [each["steps"] for each in plain]


@pytest.mark.parametrize("data", [b"", b"\n", b"# nothing\n", b"\xef\xbb\xbf", b"\f", b"'''text'''", b"\r\r", b"   "])
def test_a_file_without_code_has_nothing_to_say(tmp_path: Path, data: bytes) -> None:
    assert linted(tmp_path, {"tasks.py": data}) == []


# --- Files that are no Python


def test_a_broken_file_is_a_finding_and_the_others_are_checked(tmp_path: Path) -> None:
    found = linted(tmp_path, {"tasks.py": TASKS, "broken.py": "x = 1\n\ndef f(:\n    pass\n"})
    assert places(found) == [("unparsable-file", "broken.py", 3, 7), CHARGED]
    assert found[0]["severity"] == "error"


def test_a_broken_file_that_a_task_imports_does_not_hide_the_task(tmp_path: Path) -> None:
    files = {"tasks.py": f"from broken import helper\n{TASKS}    helper(order_id)\n", "broken.py": "def helper(a:\n"}
    assert lines(linted(tmp_path, files)) == [("unparsable-file", "broken.py", 1), (RULE, "tasks.py", 8)]


def test_of_a_broken_task_module_only_what_cannot_be_read_is_missing(tmp_path: Path) -> None:
    text = TASKS.replace("@shared_task", "@shared_task\ndef lost(order_id)\n    pass\n\n\n@shared_task", 1)
    assert places(linted(tmp_path, {"tasks.py": text})) == [
        ("unparsable-file", "tasks.py", 6, 19),
        (RULE, "tasks.py", 12, 5),
    ]


@pytest.mark.parametrize(
    "broken",
    [
        "LIMITS = [1, (2, 3]\n",
        "LIMITS = {\n    'a': (1,\n",
        "def lost(a, (b, c)):\n    pass\n",
        "x = 'open\n",
        "x = f'{a[\n",
    ],
)
def test_what_is_left_open_above_a_task_does_not_swallow_it(tmp_path: Path, broken: str) -> None:
    head, task = TASKS.split("\n\n\n")
    found = lines(linted(tmp_path, {"tasks.py": f"{head}\n{broken}\n{task}"}))
    assert [rule for rule, *_ in found] == ["unparsable-file", RULE]
    assert found[0][2] >= 3


def test_a_file_is_reported_once_however_much_of_it_is_broken(tmp_path: Path) -> None:
    old = "def f():\n    print 'a'\n\ndef g():\n    raise E, 'b'\n"
    assert lines(linted(tmp_path, {"tasks.py": TASKS, "old.py": old})) == [
        ("unparsable-file", "old.py", 2),
        (RULE, "tasks.py", 7),
    ]


@pytest.mark.parametrize(
    ("data", "line", "column", "reason"),
    [
        (b"x = '\xff'\n", 1, 6, "byte 0xff is not utf-8"),
        (b"x = 1\ny = 2\x00\n", 2, 6, "null byte"),
        (b"# coding: klingon\n", 1, 1, "unknown encoding: klingon"),
        (b"x = 1\n<<<<<<< HEAD\ny = 2\n", 2, 1, "invalid syntax"),
        (b"class {{ name }}:\n    pass\n", 1, 7, "invalid syntax"),
        (b"x = (\n\n\ndef f():\n    pass\n", 1, 5, "'(' was never closed"),
        (b"def f():\n    return 1\n  return 2\n", 3, 11, "unindent does not match any outer indentation level"),
        (b"\xef\xbb\xbfx = $\n", 1, 5, "invalid syntax"),
    ],
)
def test_the_reason_and_the_place_are_said(tmp_path: Path, data: bytes, line: int, column: int, reason: str) -> None:
    (found,) = linted(tmp_path, {"broken.py": data})
    assert (found["rule"], found["line"], found["column"]) == ("unparsable-file", line, column)
    assert reason in found["message"]
    assert found["message"].endswith(".")
    assert not found["message"].endswith("..")


def test_broken_tests_and_templates_are_left_alone(tmp_path: Path) -> None:
    broken = "def f(:\n"
    files = {
        "tests/data/broken.py": broken,
        "test_a.py": broken,
        "{{cookiecutter.name}}/a.py": broken,
        "ok.py": "x = 1\n",
    }
    assert linted(tmp_path, files) == []


def test_unread_files_are_counted(tmp_path: Path) -> None:
    linted(tmp_path, {"tasks.py": TASKS, "a.py": "def f(:\n", "b.py": b"\xff"})
    assert checked(tmp_path, ".", "--isolated").splitlines()[-1].endswith("2 files unread)")


def test_newer_syntax_than_the_interpreter_knows_is_no_fault() -> None:
    assert fault("lazy import a\n\ntype X[T = int] = list[T]\nx = t'{a}'\ny = f'{b['c']}'\n") is None


def test_a_fault_beside_newer_syntax_is_found_at_its_line() -> None:
    found = fault("lazy import a\n\ntype X = int\n\ndef f(:\n    pass\n")
    assert found is not None
    assert found[:2] == (5, 7)


def test_what_python_refuses_only_later_is_no_fault() -> None:
    assert fault("return 1\n\nx = [await y]\n\ndef f(a, a): nonlocal b\n") is None


# --- Deep and large code


@pytest.mark.parametrize(
    "deep",
    [
        "(" * 1_000 + "order_id" + ")" * 1_000,
        " + ".join(["order_id"] * 5_000),
        "[" * 1_000 + "]" * 1_000,
        "order_id" + ".a" * 5_000,
        "not " * 5_000 + "order_id",
    ],
    ids=lambda text: text[:8],
)
def test_code_beyond_the_parser_is_said_and_the_rest_is_checked(tmp_path: Path, deep: str) -> None:
    text = f"{TASKS}\n\n@shared_task\ndef deep(order_id):\n    x = {deep}\n    requests.post(URL, json=x)\n"
    assert lines(linted(tmp_path, {"tasks.py": text})) == [
        (RULE, "tasks.py", 7),
        ("unparsable-file", "tasks.py", 12),
    ]


@pytest.mark.parametrize(
    "body",
    [
        f"    x = {' + '.join(['order_id'] * 300)}\n",
        f"    x = {'[' * 90}order_id{']' * 90}\n",
        f"    x = {'(' * 90}order_id{')' * 90}\n",
        f"    x = order_id{'.a' * 300}\n",
        f"    x = {' and '.join(['order_id'] * 300)}\n",
        f"    x = {'f(' * 80}order_id{')' * 80}\n",
        f"    x = {'{1: ' * 80}order_id{'}' * 80}\n",
        f"    x = {'lambda: ' * 80}order_id\n",
        f"    x = {'1 if a else ' * 150}order_id\n",
        "    if order_id == 0:\n        pass\n"
        + "".join(f"    elif order_id == {n}:\n        pass\n" for n in range(300)),
        "".join(f"    x{n} = order_id + {n}\n" for n in range(1_500)),
        "".join(f"    x = [{n}, x]\n" for n in range(800)),
        "".join(f"    x = f'{{x}}-{n}'\n" for n in range(800)),
    ],
    ids="sum lists brackets attributes and calls dicts lambdas conditions elif lines grown-list grown-text".split(),
)
def test_deep_code_before_a_call_does_not_hide_it(tmp_path: Path, body: str) -> None:
    head, call = TASKS.split("    requests")
    line = 7 + body.count("\n")
    assert lines(linted(tmp_path, {"tasks.py": f"{head}{body}    requests{call}"})) == [(RULE, "tasks.py", line)]


@pytest.mark.parametrize("opener", ["if a:", "for x in a:", "with a:", "while a:"])
def test_a_call_under_ninety_blocks_is_found(tmp_path: Path, opener: str) -> None:
    head, call = TASKS.split("    requests")
    nested = "".join(f"{'    ' * (level + 1)}{opener}\n" for level in range(90))
    text = f"{head}{nested}{'    ' * 91}requests{call}"
    assert [line for _, _, line in lines(linted(tmp_path, {"tasks.py": text}))] == [97]


def test_a_hundred_nested_ifs_are_too_many_for_python_too(tmp_path: Path) -> None:
    nested = "".join(f"{'    ' * level}if a:\n" for level in range(101)) + "    " * 101 + "b\n"
    assert [rule for rule, *_ in lines(linted(tmp_path, {"a.py": nested, "tasks.py": TASKS}))] == [
        "unparsable-file",
        RULE,
    ]


def test_a_file_of_five_megabytes_beside_a_task(tmp_path: Path) -> None:
    data = "DATA = [\n" + "    ('order', 12345, 'a text of some length', None),\n" * 100_000 + "]\n"
    assert len(data) > 5_000_000
    assert places(linted(tmp_path, {"data.py": data, "tasks.py": TASKS})) == [CHARGED]


def test_a_task_at_the_end_of_five_megabytes(tmp_path: Path) -> None:
    filler = (
        "def f_{0}(a):\n    if a:\n        return g(a, [1, 2, 3], key='{0}')\n    return 'a text of some length'\n\n\n"
    )
    text = "".join(filler.format(number) for number in range(50_000))
    assert len(text) > 5_000_000
    head, task = TASKS.split("\n\n\n")
    assert [rule for rule, *_ in lines(linted(tmp_path, {"tasks.py": f"{head}\n\n\n{text}{task}"}))] == [RULE]


def test_a_link_that_leads_in_circles_ends(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "outer").symlink_to(tmp_path, target_is_directory=True)
    assert places(linted(tmp_path, {"tasks.py": TASKS})) == [CHARGED]
