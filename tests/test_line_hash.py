"""The line hash: the values that github/codeql-action expects in its own tests, and the rules behind them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idemlint.report.line_hash import line_hashes

LOREM = ["a7f2ff13bc495cf2:1 a7f2ff13bc495cf2:2 a7f2ff13bc495cf2:3 a7f2ff13bc495cf2:4 a7f2ff13bc495cf2:5"]
LOREM += ["a7f2ff13bc495cf2:6 a7f2ff1481e87703:1 a9cf91f7bbf1862b:1 55ec222b86bcae53:1 cc97dc7b1d7d8f7b:1"]
LOREM += ["c129715d7a2bc9a3:1"]


@pytest.mark.parametrize(
    ("text", "hashes"),
    [
        ("", "c129715d7a2bc9a3:1"),
        (" a\nb\n  \t\tc\n d", "271789c17abda88f:1 54703d4cd895b18:1 180aee12dab6264:1 a23a3dc5e078b07b:1"),
        (" a\r\nb\r\n  \t\tc\r\n d", "271789c17abda88f:1 54703d4cd895b18:1 180aee12dab6264:1 a23a3dc5e078b07b:1"),
        (" a\rb\r  \t\tc\r d", "271789c17abda88f:1 54703d4cd895b18:1 180aee12dab6264:1 a23a3dc5e078b07b:1"),
        ("Lorem ipsum dolor sit amet.\n" * 10, " ".join(LOREM)),
        (
            "x = 2\nx = 1\nprint(x)\nx = 3\nprint(x)\nx = 4\nprint(x)\n",
            "e54938cc54b302f1:1 bb609acbe9138d60:1 1131fd5871777f34:1 5c482a0f8b35ea28:1 54517377da7028d2:1 "
            "2c644846cb18d53e:1 f1b89f20de0d133:1 c129715d7a2bc9a3:1",
        ),
    ],
)
def test_the_values_are_those_of_the_upload(text: str, hashes: str) -> None:
    assert " ".join(line_hashes(text.encode())) == hashes


def slowly(data: bytes) -> list[str]:
    """The definition, word for word."""
    units: list[int] = []
    after_return = False
    for unit in _units(data):
        if after_return and unit == 10:
            after_return = False
            continue
        after_return = unit == 13
        if unit not in (9, 32):
            units.append(10 if unit == 13 else unit)
    starts = [0, *(index + 1 for index, unit in enumerate(units) if unit == 10)]
    units += [65535, *[0] * 100]
    seen: dict[int, int] = {}
    result = []
    for start in starts:
        value = 0
        for unit in units[start : start + 100]:
            value = (value * 37 + unit) % 2**64
        seen[value] = seen.get(value, 0) + 1
        result.append(f"{value:x}:{seen[value]}")
    return result


def _units(data: bytes) -> list[int]:
    encoded = data.decode("utf-8", "replace").encode("utf-16-be")
    return [high * 256 + low for high, low in zip(encoded[::2], encoded[1::2], strict=True)]


@given(st.text(alphabet="ab \t\r\n\ufeff\u2028\x0cé漢😀").map(str.encode) | st.binary(max_size=200))
def test_the_sum_over_a_window_is_the_definition(data: bytes) -> None:
    assert list(line_hashes(data)) == slowly(data)
