"""Comments: taken from the tree, with the lines each speaks about."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idemlint.syntax.comments import Comment, comments

MODULE = '''\
# head
x = 1  # trailing
# own
@deco  # on a decorator
# between
def f(a):  # on the def
    # first
    y = [
        # inside

        # still inside
        1,  # after an item
        "# no comment", """
        # none either
        """,
    ]
    if y:
        pass
        # end of a block
    # before else
    else:
        pass
    # end of the function
# before a class

class C:
    """# prose"""

    # before a method
    def g(self): ...
# end
'''
SPOKEN = {
    "# head": (1, 2),
    "# trailing": (2, 2),
    "# own": (3, 22),
    "# on a decorator": (4, 4),
    "# between": (5, 22),
    "# on the def": (6, 6),
    "# first": (7, 16),
    "# inside": (9, 12),
    "# still inside": (11, 12),
    "# after an item": (12, 12),
    "# end of a block": (19, 19),
    "# before else": (20, 22),
    "# end of the function": (23, 23),
    "# before a class": (24, 30),
    "# before a method": (29, 30),
    "# end": (31, 31),
}


def lines(found: tuple[Comment, ...]) -> dict[str, tuple[int, int]]:
    return {comment.text: (comment.line, comment.last) for comment in found}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_each_comment_speaks_about_its_line_or_the_statement_after_it(end: str) -> None:
    assert lines(comments(MODULE.replace("\n", end), ["#"])) == SPOKEN


@pytest.mark.parametrize("text", SPOKEN)
def test_it_makes_no_difference_how_much_of_the_file_is_parsed(text: str) -> None:
    marked = MODULE.replace(text + "\n", f"{text} MARK\n")
    assert lines(comments(marked, ["MARK"])) == {f"{text} MARK": SPOKEN[text]}


def test_places_and_offsets_are_those_of_the_text() -> None:
    for comment in comments(MODULE, ["#"]):
        assert MODULE[comment.offset :].startswith(comment.text)
        line = MODULE.split("\n")[comment.line - 1]
        assert line[comment.column - 1 :] == comment.text
        assert comment.trailing == bool(line[: comment.column - 1].strip())


def test_a_form_feed_before_code_is_a_column() -> None:
    text = "x = 1\n\fy = 2  # MARK\n"
    (comment,) = comments(text, ["MARK"])
    assert (comment.line, comment.column) == (2, 9)
    assert text[comment.offset :] == "# MARK\n"


def test_without_a_mark_nothing_is_parsed() -> None:
    assert comments("def broken(:  # other\n", ["MARK"]) == ()


def test_a_mark_in_a_string_is_no_comment() -> None:
    assert comments('x = """\n# MARK\n"""\ny = "# MARK"\n', ["MARK"]) == ()


@given(st.lists(st.sampled_from(MODULE.split("\n")), max_size=12))
def test_comments_come_in_order(chosen: list[str]) -> None:
    text = "\n".join(line for line in chosen if not line.startswith(" ") and line.endswith(("1", "x", "e", "n", "k")))
    offsets = [comment.offset for comment in comments(text, ["#"])]
    assert all(one < other for one, other in pairwise(offsets))
