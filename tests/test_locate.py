"""Numbers of nodes become places again: lines and columns as an editor counts them."""

from __future__ import annotations

import re

import hypothesmith
import pytest
from bare_facts import ordinals
from hypothesis import HealthCheck, given, settings

from idemlint.syntax import facts as f
from idemlint.syntax.extract import SyntaxProblem, extract
from idemlint.syntax.locate import Place, locate
from idemlint.syntax.split import split


def calls(text: str, first_line: int = 1) -> dict[str, Place]:
    """Where the calls in `text` stand, by the name of what they call."""
    numbers = {
        part.function.id: part.at
        for part in f.walk(extract(text))
        if isinstance(part, f.Call) and isinstance(part.function, f.Name)
    }
    places = locate(text, first_line, numbers.values())
    return {name: places[at] for name, at in numbers.items()}


def at(text: str, place: Place) -> str:
    """The text at a place, as an editor would select it."""
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)[place.line - 1 : place.end_line]
    lines[-1] = lines[-1][: place.end_column - 1]
    lines[0] = lines[0][place.column - 1 :]
    return "".join(lines)


def packed(code: str) -> str:
    return re.sub(r"\s", "", code)


@pytest.mark.parametrize(
    ("text", "line", "column", "end_column"),
    [
        ("pay(a)\n", 1, 1, 7),
        ("x = '漢字'; pay(a)\n", 1, 11, 17),
        ("x = '🧾👩‍💻'; pay(a)\n", 1, 13, 19),
        ("é = 'e\u0301'; pay(a)\n", 1, 11, 17),
        ("if a:\n\tpay(a)\n", 2, 2, 8),
        ("if a:\n \t \tpay(a)\n", 2, 5, 11),
        ("x =\t\tpay(a)\n", 1, 6, 12),
        ("a\r\npay(a)\r\n", 2, 1, 7),
        ("a\r\rpay(a)\r", 3, 1, 7),
        ("a\n\f\npay(a)\n", 3, 1, 7),
        ("# a\fb\n\nx = [\n  pay(a),\n]\n", 4, 3, 9),
        ("x = 'a\u2028b\x85c'; pay(a)\n", 1, 14, 20),
        ("x = 1 + \\\n  pay(a)\n", 2, 3, 9),
        ("x = '''\n漢\n''' + pay(a)\n", 3, 7, 13),
        ("x = f'漢{pay(a)}'\n", 1, 9, 15),
        ("x = f'''\n{b}\n  {pay(a)}'''\n", 3, 4, 10),
        ("pay(a)", 1, 1, 7),
    ],
)
def test_columns_count_characters_whatever_stands_before_them(
    text: str, line: int, column: int, end_column: int
) -> None:
    place = calls(text)["pay"]
    assert (place.line, place.column, place.end_line, place.end_column) == (line, column, line, end_column)
    assert place.text == "pay(a)"


def test_a_form_feed_before_code_is_a_column_of_its_line() -> None:
    found = calls("a\n\f\fpay(a)\nif b:\n    c\n\f    owe(a)\n\fgive(a); take(a)\n")
    assert {name: (place.line, place.column) for name, place in found.items()} == {
        "pay": (2, 3),
        "owe": (5, 6),
        "give": (6, 2),
        "take": (6, 11),
    }


def test_a_call_over_several_lines_ends_where_its_bracket_closes() -> None:
    place = calls("  \nx = pay(\n    a,\n  )\n")["pay"]
    assert place == Place(2, 5, 4, 4, "pay(\n    a,\n  )")


def test_lines_are_those_of_the_file() -> None:
    assert calls("\n# why\npay(a)\n", first_line=40)["pay"].line == 42


def test_a_decorated_function_stands_at_its_name() -> None:
    text = "@task(\n  a)\n# why\ndef 支払い(x): pass\n"
    (function,) = extract(text)
    assert isinstance(function, f.Function)
    place = locate(text, 1, [function.name_at])[function.name_at]
    assert (place.line, place.column, place.end_column, place.text) == (4, 5, 8, "支払い")


def test_only_what_is_asked_for_is_placed() -> None:
    assert set(locate("a = b(c)\n", 1, [1])) == {1}
    assert locate("a = b(c)\n", 1, []) == {}


def test_what_does_not_parse_has_no_places() -> None:
    with pytest.raises(SyntaxProblem):
        locate("def f(:\n", 1, [0])


def assert_placed(text: str) -> None:
    """Every node of every piece stands where its text is in the whole."""
    for piece in split(text):
        numbers = ordinals(extract(piece.text))
        for place in locate(piece.text, piece.line, numbers).values():
            assert 1 <= place.line <= place.end_line
            assert place.column >= 1
            # The node's own text has lost the indentation around it, and has the brackets that its place leaves out.
            assert packed(at(text, place)) in packed(place.text)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_the_text_at_each_place_is_that_of_the_node(newline: str) -> None:
    text = (
        "import a\n\n\f\n@d('漢')\ndef f(x, *, y=1):\n\tz = [g(x)\n\t\tfor x in '🧾'\n\t]\n\treturn f'{z}é{y!r}'\n"
        "# end\nclass C(B):\n    '''doc\n    more'''\n    w: int = 1\nif a: b(c); d(e)\n"
    )
    assert_placed(text.replace("\n", newline))


@given(hypothesmith.from_node())
@settings(deadline=None, max_examples=4, suppress_health_check=list(HealthCheck))
def test_places_in_generated_programs_are_those_of_their_text(text: str) -> None:
    try:
        extract(text)
    except SyntaxProblem:
        return
    assert_placed(text)
