"""Suppressions as a user writes them: what they cover, what is said of wrong ones, what ruff makes of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from linting import findings, printed

from idemlint.directive import directives
from idemlint.syntax.comments import Comment, comments

HEAD = """\
import stripe
from celery import shared_task
from django.core.mail import send_mail


"""
PAY = """\
@shared_task(acks_late=True)
def pay(order_id):
    stripe.Charge.create(amount=1, currency="usd")
"""
CALL = '(amount=1, currency="usd")'


def project(folder: Path, source: str, **others: str) -> Path:
    (folder / "tasks.py").write_text(HEAD + source, encoding="utf-8")
    for name, text in others.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def codes(folder: Path, *arguments: str) -> list[str]:
    """The codes of what is found, a star behind those that are suppressed."""
    return [
        found["code"] + ("*" if found["suppression"] else "")
        for found in findings(folder, "--show-suppressed", *arguments)
    ]


COVERED = {
    "trailing, by name": PAY.replace('"usd")', '"usd")  # idemlint: ignore[unkeyed-external-call] -- why'),
    "trailing, by code": PAY.replace('"usd")', '"usd")  # idemlint: ignore[IDM101]'),
    "among other rules": PAY.replace('"usd")', '"usd")  # idemlint: ignore[ IDM301 ,unkeyed-external-call ]'),
    "after another tool's words": PAY.replace('"usd")', '"usd")  # type: ignore  # idemlint: ignore[IDM101] -- x'),
    "before another tool's words": PAY.replace('"usd")', '"usd")  # idemlint: ignore[IDM101] -- x  # fmt: skip'),
    "trailing, at the start of a call": PAY.replace(CALL, "(  # idemlint: ignore[IDM101]\n        amount=1,\n    )"),
    "trailing, at its end": PAY.replace(CALL, "(\n        amount=1,\n    )  # idemlint: ignore[IDM101]"),
    "over the statement": PAY.replace("    stripe", "    # idemlint: ignore[IDM101]\n    stripe"),
    "over a block": PAY.replace("    stripe", "    # idemlint: ignore[IDM101]\n\n    if order_id:\n        stripe"),
    "over the task": f"# idemlint: ignore[IDM101]\n{PAY}",
    "below the decorator": PAY.replace("def", "# idemlint: ignore[IDM101]\ndef"),
    "noqa": PAY.replace('"usd")', '"usd")  # noqa: IDM101'),
    "noqa with others": PAY.replace('"usd")', '"usd")  # NOQA:E501,IDM101 because'),
}  # fmt: skip
NOT_COVERED = {
    "another line": f"x = 1  # idemlint: ignore[IDM101]\n{PAY}",
    "a line inside a long call": PAY.replace("amount=1,", "\n        amount=1,  # idemlint: ignore[IDM101]\n"),
    "the decorator's line alone": PAY.replace("=True)", "=True)  # idemlint: ignore[IDM101]"),
    "the end of the block": f"{PAY}    # idemlint: ignore[IDM101]\n",
    "the statement before": PAY.replace("    stripe", "    # idemlint: ignore[IDM101]\n    print()\n    stripe"),
    "a string": PAY.replace('"usd"', '"usd # idemlint: ignore[IDM101]"'),
    "another rule": PAY.replace('"usd")', '"usd")  # idemlint: ignore[IDM104]'),
    "a group of rules": PAY.replace('"usd")', '"usd")  # idemlint: ignore[IDM1]'),
    "no rule": PAY.replace('"usd")', '"usd")  # idemlint: ignore'),
    "a bare noqa": PAY.replace('"usd")', '"usd")  # noqa'),
    "noqa over the statement": PAY.replace("    stripe", "    # noqa: IDM101\n    stripe"),
    "prose": PAY.replace('"usd")', '"usd")  # idemlint: ignored for IDM101'),
}


@pytest.mark.parametrize("source", COVERED.values(), ids=list(COVERED))
def test_what_a_comment_covers_is_suppressed(tmp_path: Path, source: str) -> None:
    assert "IDM101*" in codes(project(tmp_path, source))
    assert "IDM101" not in [found["code"] for found in findings(tmp_path)]


@pytest.mark.parametrize("source", NOT_COVERED.values(), ids=list(NOT_COVERED))
def test_what_no_comment_covers_is_found(tmp_path: Path, source: str) -> None:
    assert "IDM101" in codes(project(tmp_path, source))


HELPER = HEAD + "def mail():\n    send_mail('a', 'b', 'c', ['d'])\n"
CALLS = "# idemlint: ignore[IDM104] -- hardly ever\n@shared_task(acks_late=True)\ndef greet():\n    mail()\n"


def test_a_comment_over_a_task_covers_what_it_does_elsewhere(tmp_path: Path) -> None:
    folder = project(tmp_path, f"from helper import mail\n\n{CALLS}", helper=HELPER)
    [found] = findings(folder, "--show-suppressed")
    assert found["path"] == "helper.py"
    assert found["suppression"] == {"path": "tasks.py", "line": 8, "reason": "hardly ever"}


def test_what_another_task_does_too_needs_a_comment_there_too(tmp_path: Path) -> None:
    other = CALLS.replace("greet", "part").replace("# idemlint: ignore[IDM104] -- hardly ever\n", "")
    folder = project(tmp_path, f"from helper import mail\n\n{CALLS}\n\n{other}", helper=HELPER)
    assert "IDM104" in codes(folder)
    project(tmp_path, f"from helper import mail\n\n{CALLS}\n\n# idemlint: ignore[IDM104]\n{other}", helper=HELPER)
    assert codes(folder) == ["IDM104*"]


def test_a_suppressed_finding_fails_no_run_and_is_told_apart(tmp_path: Path) -> None:
    folder = project(tmp_path, COVERED["trailing, by name"])
    told = printed(folder, "--show-suppressed", "--output-format", "concise").splitlines()
    assert "  unkeyed-external-call (IDM101)  suppressed: why  pay charges" in told[0]
    assert told[1].startswith("1 suppressed in 1 task (")
    assert printed(folder).startswith("No findings in 1 task")
    done = subprocess.run(
        [sys.executable, "-m", "idemlint", "check", "--show-suppressed", "--isolated", str(folder)],
        check=False,
        capture_output=True,
    )
    assert done.returncode == 0


FAULTS = {
    "# idemlint: ignore[IDM101, IDM104]": ["IDM902: The comment suppresses 'unguarded-message', but"],
    "# idemlint: ignore[IDM101, unguarded-mesage]": [
        "IDM903: The comment names what is no rule: 'unguarded-mesage' (did you mean 'unguarded-message'?)."
    ],
    "# idemlint: ignore[IDM101, IDM1]": ["IDM903: The comment names what is no rule: 'IDM1'"],
    "# idemlint: ignore": ["IDM903: The comment names no rule, so it suppresses nothing: write"],
    "# idemlint: ignore[]": ["IDM903: The comment names no rule"],
    "# noqa: IDM101, IDM104, E501": ["IDM902: The comment suppresses 'unguarded-message'"],
    "# noqa: IDM101, IDM199": ["IDM903: The comment names what is no rule: 'IDM199'"],
    "# noqa: E501, ABC123": [],
    "# idemlint: ignore[IDM101, IDM104, unused-suppression]": [],
    "# idemlint: ignore[IDM101, IDM1, IDM903]": [],
    "# idemlint is a linter": [],
    "# IDM101 is what it would say": [],
}


@pytest.mark.parametrize("comment", FAULTS)
def test_a_comment_that_is_wrong_is_a_finding(tmp_path: Path, comment: str) -> None:
    folder = project(tmp_path, PAY.replace('"usd")', f'"usd")  {comment}'))
    told = [f"{found['code']}: {found['message']}" for found in findings(folder) if found["code"].startswith("IDM9")]
    assert len(told) == len(FAULTS[comment])
    assert all(one.startswith(start) for one, start in zip(told, FAULTS[comment], strict=True))


def test_a_comment_is_not_unused_where_its_rule_does_not_run_or_its_file_is_not_read(tmp_path: Path) -> None:
    folder = project(tmp_path, PAY + "x = 1  # idemlint: ignore[IDM104]\n")
    assert "IDM902" in codes(folder)
    assert "IDM902" not in codes(folder, "--ignore", "IDM104")
    assert "IDM902" not in codes(folder, "--ignore", "unused-suppression")
    broken = PAY.replace("amount=1,", "amount=,") + "x = 1  # idemlint: ignore[IDM104]\n"
    assert codes(project(tmp_path, broken)) == ["IDM901"]


def test_a_finding_too_quiet_to_be_shown_is_reason_enough(tmp_path: Path) -> None:
    folder = project(tmp_path, COVERED["trailing, by name"])
    assert codes(folder, "--config", 'severity.IDM101="note"') == []


def test_files_without_a_word_of_ours_are_not_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def noted(text: str, marks: tuple[str, ...]) -> tuple[Comment, ...]:
        asked.append(text)
        return comments(text, marks)

    monkeypatch.setattr("idemlint.suppression.comments", noted)
    findings(project(tmp_path, PAY, quiet="x = 1  # noqa: E501\n", loud="x = 1  # noqa: IDM101\n"))
    assert asked == ["x = 1  # noqa: IDM101\n"]


# What is left of a line when IDM104, or all that is unused, goes.
FIXED = {
    "x = 1  # idemlint: ignore[IDM104] -- why": "x = 1",
    "x = 1  # type: ignore  # idemlint: ignore[IDM104]": "x = 1  # type: ignore",
    "x = 1  # idemlint: ignore[IDM104] -- why  # type: ignore": "x = 1  # type: ignore",
    "x = 1  # idemlint: ignore[IDM104, IDM999] -- why": "x = 1  # idemlint: ignore[IDM999] -- why",
    "x = 1  # noqa: E501,IDM104,IDM101": "x = 1  # noqa: E501",
    "x = 1  # noqa: IDM104": "x = 1",
    "# idemlint: ignore[IDM104]\nx = 1": "x = 1",
    "if x:\n    # idemlint: ignore[IDM104]\n    y = 1": "if x:\n    y = 1",
    "# see below  # idemlint: ignore[IDM104]\nx = 1": "# see below\nx = 1",
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("before", FIXED)
def test_the_fix_of_an_unused_one_leaves_what_is_needed(tmp_path: Path, before: str, end: str) -> None:
    source = f"é = '😀'\n{before}\n".replace("\n", end)
    (tmp_path / "tasks.py").write_bytes(source.encode())
    [found] = [found for found in findings(tmp_path) if found["code"] == "IDM902"]
    assert found["fix"]["applicability"] == "safe"
    [edit] = found["fix"]["edits"]
    fixed = source[: edit["start"]] + edit["text"] + source[edit["end"] :]
    assert fixed == f"é = '😀'\n{FIXED[before]}\n".replace("\n", end)


@pytest.mark.parametrize(
    ("comment", "reason"),
    [
        ("# idemlint: ignore[IDM101] -- a test account", "a test account"),
        ("# idemlint: ignore[IDM101]: see #123, it's fine", "see #123, it's fine"),
        ("#idemlint:ignore[IDM101]—why", "why"),
        ("# idemlint: ignore[IDM101] -- why  # fmt: skip", "why"),
        ("# idemlint: ignore[IDM101]", ""),
        ("# noqa: IDM101 - why", "why"),
    ],
)
def test_the_reason_is_what_stands_behind(comment: str, reason: str) -> None:
    [found] = comments(f"x = 1  {comment}\n", ["IDM"])
    [directive] = directives(found, "a.py")
    assert (directive.rules, directive.reason) == (("IDM101",), reason)


WRITTEN = """\
import os

x = 1  # idemlint: ignore[read-modify-write, IDM201] -- reason
# idemlint: ignore[IDM104] -- reason
y = 2
z = 3  # noqa: IDM301
"""


def ruff(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *arguments, "tasks.py"], check=False, cwd=folder, capture_output=True, text=True
    )
    return done.stdout


def fixed(folder: Path, settings: dict[str, Any]) -> str:
    file = folder / "tasks.py"
    file.write_text(WRITTEN, encoding="utf-8")
    options = [f"--config={key}={json.dumps(value)}" for key, value in settings.items()]
    ruff(folder, "check", "--isolated", "--preview", "--select=ALL", "--fix", "--unsafe-fixes", *options)
    return file.read_text(encoding="utf-8")


def test_our_comments_survive_the_fixes_of_ruff(tmp_path: Path) -> None:
    told = fixed(tmp_path, {"lint.external": ["IDM"]})
    assert "import os" not in told, "ruff has fixed nothing, so this shows nothing"
    assert [line for line in told.splitlines() if "#" in line] == [line for line in WRITTEN.splitlines() if "#" in line]


def test_a_noqa_needs_the_setting_that_is_documented(tmp_path: Path) -> None:
    told = fixed(tmp_path, {})
    assert "# noqa" not in told
    assert told.count("# idemlint: ignore[") == 2
    documented = (Path(__file__).parent.parent / "docs" / "suppression.md").read_text(encoding="utf-8")
    assert 'external = ["IDM"]' in documented


def test_a_comment_still_covers_its_call_after_formatting(tmp_path: Path) -> None:
    long = f'"{"x" * 60}"'
    source = PAY.replace('currency="usd")', f'currency="usd", description={long})  # idemlint: ignore[IDM101] -- why')
    folder = project(tmp_path, source)
    assert codes(folder) == ["IDM101*"]
    ruff(folder, "format", "--isolated")
    assert "(\n" in (folder / "tasks.py").read_text(encoding="utf-8").partition("stripe.Charge.create")[2]
    assert codes(folder) == ["IDM101*"]


def test_a_comment_inside_the_code_changes_neither_story_nor_fingerprint(tmp_path: Path) -> None:
    plain = PAY.replace(CALL, '(\n        amount=1,\n        description="# 1",\n    )')
    commented = plain.replace("amount=1,", "amount=1,  # noqa: IDM101").replace("create(", "create(  # fmt: skip")
    [before], [after] = (findings(project(tmp_path, source), "--select", "IDM101") for source in (plain, commented))
    assert [step["text"] for step in before["steps"]] == [step["text"] for step in after["steps"]]
    assert 'stripe.Charge.create(amount=1, description="# 1",)' in before["steps"][1]["text"]
    assert before["fingerprint"] == after["fingerprint"]
