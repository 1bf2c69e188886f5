"""A module is cut into its top-level statements, which say together what the whole says."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import hypothesmith
import pytest
from bare_facts import joined, read
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from idemlint.syntax import facts as f
from idemlint.syntax.extract import SyntaxProblem, extract
from idemlint.syntax.split import Piece, split

# What decides where a statement starts, and what only looks as if it did.
TOKENS = (
    "\n·\n\n·\r\n·\r·\f·\t· ·    ·\\·\\\n·\"·'·\"\"\"·'''·f\"·rb'·f'''·{{·{·}·}}·(·)·[·]·,·:·#·@·é·漢·=·.·a·1·@d·x = 1·"
    "def f():·async def g(): pass·class C:·else:·if a:"
).split("·")
STDLIB = Path(sysconfig.get_path("stdlib"))
SAMPLES = """__future__.py abc.py bisect.py calendar.py codeop.py contextlib.py copy.py dataclasses.py
functools.py getopt.py graphlib.py imghdr.py keyword.py quopri.py reprlib.py shlex.py string.py textwrap.py this.py
tokenize.py asyncio/taskgroups.py json/encoder.py unittest/async_case.py wsgiref/headers.py""".split()


def cut(text: str) -> list[tuple[str, int, str | None]]:
    return [(piece.text, piece.line, piece.defines) for piece in split(text)]


def defined(text: str) -> list[str | None]:
    return [piece.defines for piece in split(text)]


def assert_whole(text: str, pieces: tuple[Piece, ...]) -> None:
    assert "".join(piece.text for piece in pieces) == text
    assert [piece.offset for piece in pieces] == [
        sum(len(before.text) for before in pieces[:index]) for index in range(len(pieces))
    ]


# --- The cut


def test_each_top_level_statement_is_a_piece_with_its_line_and_the_name_it_defines() -> None:
    assert cut("import a\nx = [\n1]\n\n\ndef f():\n    y = 1\n\n    return y\nclass C: pass\n") == [
        ("import a\n", 1, None),
        ("x = [\n1]\n\n\n", 2, None),
        ("def f():\n    y = 1\n\n    return y\n", 6, "f"),
        ("class C: pass\n", 10, "C"),
    ]


def test_comments_go_with_the_statement_before_them_those_at_the_top_with_the_first() -> None:
    assert cut("# a\n\nx = 1\n# b\n  # c\ny = 2\n") == [("# a\n\nx = 1\n# b\n  # c\n", 1, None), ("y = 2\n", 6, None)]


@pytest.mark.parametrize("text", ["", "\n", "# only a comment", "# one\n\n# two\n", "\f", "    "])
def test_text_without_statements_is_one_piece(text: str) -> None:
    assert cut(text) == [(text, 1, None)]


@pytest.mark.parametrize(
    "text",
    [
        "@a\ndef f(): pass\n",
        "@a\n@b(\n1)\n# why\n\nasync def f(): pass\n",
        "# first\n# second\n@a\ndef f(): pass\n",
        "async  def f(): pass\n",
        "def f[T: int](x: T): pass\n",
        "class f[T]: pass\n",
        "class f(\n  Base,\n): pass\n",
        "# c\rdef f():\r  pass\r",
        "@d\r# c\rclass f:\r\tpass\r",
        "# c\r\n@d\r\ndef f():\r\n  pass\r\n",
        "\fdef f(): pass\n",
        " \t\f@d\n\fdef f(): pass\n",
    ],
)
def test_decorators_comments_and_newlines_of_all_kinds_leave_a_definition_its_name(text: str) -> None:
    assert defined(text) == ["f"]


def test_a_form_feed_starts_a_line_anew() -> None:
    assert defined("x = 1\n\fdef f(): pass\n\f\n \fclass C: pass\n") == [None, "f", "C"]


@pytest.mark.parametrize(
    "statement",
    [
        "if a:\n  b\nelif c:\n  d\nelse:\n  e",
        "try:\n  a\nexcept* E:\n  b\nelse:\n  c\nfinally:\n  d",
        "for a in b:\n  c\nelse:\n  d",
        "match a:\n  case 1:\n    b\n  case _:\n    c",
        "x = (\na,\n@b\n)",
        "x = 1 + \\\na",
        "x = '''\ndef f():\n'''",
        "x = 'a\\\ndef f():'",
        "x = r'\\\ndef f():'",
        "x = {\n}[\n0\n]",
        "with (a as b,\nc as d): pass",
        "x = 1; y = 2",
        "'(' \"[\" b'{' rb'''('''",
        'x = 1  # ( \' """',
        "x = f'{a}('",
        "x = f'{{('",
        "x = f'{a[\"(\"]}'",
        'x = f"{a["("]}"',
        'x = f"{a["#"]:{"("}>{w}}"',
        'x = f"""{a["""("""]}"""',
        'x = f"{f"{f"{")"}"}"}"',
        'x = f"{\na + "("[0]  # (\n}"',
        "x = t'{a!r:('",
        'x = rf"{a["\\("]}"',
        'x = f"{lambda: "("}"',
        'if"(": pass\nelse: pass',
        "x = f'\\N{LEFT PARENTHESIS}('",
    ],
)
def test_nothing_inside_a_statement_cuts_it(statement: str) -> None:
    assert cut(f"a = 1\n{statement}\nb = 2\n") == [
        ("a = 1\n", 1, None),
        (f"{statement}\n", 2, None),
        ("b = 2\n", 3 + statement.count("\n"), None),
    ]


@pytest.mark.parametrize(
    "broken",
    [
        "x = (1,\n",
        "def g(:\n    pass\n",
        "x = [\n",
        "x = {\n    'a': (\n",
        "x = f'{(\n",
        "x = 'a\n",
        "x = f'{a[\n",
        "def g(x)\n  y\n",
    ],
)
def test_what_is_left_open_ends_at_the_next_function(broken: str) -> None:
    assert cut(f"{broken}@d(1)\ndef f():\n    pass\ny = 1\n")[1:] == [
        ("@d(1)\ndef f():\n    pass\n", 1 + broken.count("\n"), "f"),
        ("y = 1\n", 4 + broken.count("\n"), None),
    ]


def test_a_long_file_is_cut_in_no_time() -> None:
    text = "def f():\n    return 'a' + f'{b}'\n" * 50_000
    assert len(split(text)) == 50_000


def test_a_string_of_megabytes_is_passed_over() -> None:
    text = f"x = '''{'long text, ' * 500_000}'''\ny = f'{'{a}' * 10_000}'\ndef f(): pass\n"
    assert defined(text) == [None, None, "f"]


def test_nested_fields_beyond_all_measure_are_given_up() -> None:
    text = 'x = f"' + '{f"' * 1_000
    assert_whole(text, split(text))


# --- Whatever the text


@given(st.lists(st.sampled_from(TOKENS), max_size=30).map("".join))
@settings(deadline=None, max_examples=400)
def test_any_text_is_cut_and_put_together_again(text: str) -> None:
    pieces = split(text)
    assert_whole(text, pieces)
    assert all(piece.text for piece in pieces) or not text


@given(st.text(max_size=60))
@settings(deadline=None)
def test_any_characters_are_cut_and_put_together_again(text: str) -> None:
    assert_whole(text, split(text))


def assert_same_facts(text: str) -> None:
    """The pieces say what the whole module says, and each defines the name it is said to define."""
    try:
        whole = read(text)
    except SyntaxProblem:
        return
    pieces = split(text)
    assert_whole(text, pieces)
    bodies = [extract(piece.text) for piece in pieces]
    assert joined(bodies) == whole
    for piece, body in zip(pieces, bodies, strict=True):
        names = [statement.name for statement in body if isinstance(statement, f.Function | f.Class)]
        assert names[:1] == [piece.defines] if piece.defines else not names


@given(hypothesmith.from_node())
@settings(deadline=None, max_examples=6, suppress_health_check=list(HealthCheck))
def test_pieces_of_generated_programs_say_what_the_whole_says(text: str) -> None:
    assert_same_facts(text)


@given(hypothesmith.from_grammar())
@settings(deadline=None, max_examples=15, suppress_health_check=list(HealthCheck))
def test_pieces_of_texts_of_the_grammar_say_what_the_whole_says(text: str) -> None:
    assert_same_facts(text)


@pytest.mark.parametrize("name", [name for name in SAMPLES if (STDLIB / name).exists()])
def test_pieces_of_real_modules_say_what_the_whole_says(name: str) -> None:
    assert_same_facts((STDLIB / name).read_bytes().decode())


@pytest.mark.parametrize("name", ["Café", "A\U00011c92", "\u2118"])
def test_a_name_may_hold_what_is_no_letter(name: str) -> None:
    assert_same_facts(f"class {name}: pass\n\n\ndef {name}(): pass\n")


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_newlines_of_other_systems_change_nothing(newline: str) -> None:
    text = (STDLIB / "contextlib.py").read_text(encoding="utf-8")
    other = text.replace("\n", newline)
    assert_same_facts(other)
    assert [(piece.line, piece.defines) for piece in split(other)] == [
        (piece.line, piece.defines) for piece in split(text)
    ]
