"""Source files become the text that Python reads in them, or an error that names the place."""

import ast
import pickle
from pathlib import Path

import pytest

from idemlint.project import Project, SourceFile, UnreadableFile


def project_of(folder: Path, data: bytes) -> Project:
    (folder / "a.py").write_bytes(data)
    return Project(folder, [SourceFile("a.py", "a", False)])


@pytest.mark.parametrize(
    "data", [b"", b"x = 1\r\ny = 2\r\n", b"x = 1\ry = 2\r", b"x = 1\n\x0cy = 2\n", "x = 'é€𝄞'".encode()]
)
def test_text_is_kept_as_it_is(tmp_path: Path, data: bytes) -> None:
    assert project_of(tmp_path, data).text("a.py").encode() == data


def test_byte_order_mark_is_no_column(tmp_path: Path) -> None:
    assert project_of(tmp_path, b"\xef\xbb\xbfx = 1\n").text("a.py") == "x = 1\n"


@pytest.mark.parametrize(
    "data",
    [
        b"# -*- coding: latin-1 -*-\nx = '\xe9'\n",
        b"#!/usr/bin/python\r\n# vim: set fileencoding=cp1252 :\r\nx = '\x80'\r\n",
        b"# \xe9\n# coding: latin-1\nx = '\xe9'\n",
        b"# one\r# coding: latin-1\rx = '\xe9'\r",
        b"\x0c # coding: latin-1\nx = '\xe9'\n",
        b"x = 'coding: latin-1'\n",
        b"x = 1\n# coding: latin-1\ny = '\xc3\xa9'\n",
        b"\n\n# coding: latin-1\ny = '\xc3\xa9'\n",
        "# coding: utf-8-unix\nx = 'é'\n".encode(),
        "# coding: UTF_8\nx = 'é'\n".encode(),
        "# coding: shift_jis\nx = 'かな'\n".encode("shift_jis"),
        b"\xef\xbb\xbf# coding: utf-8\nx = '\xc3\xa9'\n",
    ],
)
def test_text_is_what_python_reads(tmp_path: Path, data: bytes) -> None:
    text = project_of(tmp_path, data).text("a.py")
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(data))


@pytest.mark.parametrize(
    ("data", "line", "column", "reason"),
    [
        (b"x = 1\r\ny = '\xc3\xa9\xff'\n", 2, 7, "byte 0xff is not utf-8"),
        (b"\xef\xbb\xbfx = '\xff'\n", 1, 6, "byte 0xff is not utf-8"),
        (b"x = '\xe9'\n# coding: latin-1\n", 1, 6, "byte 0xe9 is not utf-8"),
        (b"# coding: cp1252\nx = '\x81'\n", 2, 6, "byte 0x81 is not cp1252"),
        (b"#!/usr/bin/python\n# coding: klingon\n", 2, 1, "unknown encoding: klingon"),
        (b"# coding: rot13\nx = 1\n", 1, 1, "unknown encoding: rot13"),
        (b"# coding: undefined\nx = 1\n", 1, 1, "unknown encoding: undefined"),
        (
            b"\xef\xbb\xbf# coding: latin-1\n",
            1,
            1,
            "a UTF-8 byte order mark, but the encoding is said to be iso-8859-1",
        ),
    ],
)
def test_unreadable_text_names_its_place(tmp_path: Path, data: bytes, line: int, column: int, reason: str) -> None:
    with pytest.raises(SyntaxError):
        compile(data, "a.py", "exec")
    with pytest.raises(UnreadableFile) as caught:
        project_of(tmp_path, data).text("a.py")
    assert (caught.value.path, caught.value.line, caught.value.column) == ("a.py", line, column)
    assert caught.value.reason == reason


def test_vanished_file_is_unreadable(tmp_path: Path) -> None:
    project = project_of(tmp_path, b"")
    (tmp_path / "a.py").unlink()
    with pytest.raises(UnreadableFile, match=r"a\.py:1:1: cannot be read: No such file"):
        project.text("a.py")


def test_unreadable_file_travels_between_processes() -> None:
    problem = UnreadableFile("a.py", "no", 3, 4)
    assert str(pickle.loads(pickle.dumps(problem))) == str(problem)


@pytest.mark.parametrize("data", [b"\xef\xbb\xbfx = '\xc3\xa9'\r\n", b"# coding: latin-1\nx = '\xe9'\n", b"x = 1\n"])
def test_text_goes_back_into_the_same_bytes(tmp_path: Path, data: bytes) -> None:
    project = project_of(tmp_path, data)
    assert project.encoded("a.py", project.text("a.py")) == data


def test_file_is_read_once(tmp_path: Path) -> None:
    project = project_of(tmp_path, b"x = 1\n")
    first = project.data("a.py")
    (tmp_path / "a.py").write_bytes(b"x = 2\n")
    assert project.data("a.py") is first


def test_other_text_is_read_if_it_is_there(tmp_path: Path) -> None:
    project = project_of(tmp_path, b"")
    (tmp_path / "uv.lock").write_bytes(b"\xef\xbb\xbfversion = 1\n")
    (tmp_path / "bad.toml").write_bytes(b"a = '\n\xff'")
    assert project.read_optional("uv.lock") == "version = 1\n"
    assert project.read_optional("poetry.lock") is None
    assert project.read_optional("a.py/poetry.lock") is None
    assert project.read_optional(".") is None
    with pytest.raises(UnreadableFile, match=r"bad\.toml:2:1: byte 0xff is not utf-8"):
        project.read_optional("bad.toml")
