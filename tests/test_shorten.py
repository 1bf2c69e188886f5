"""Code in stories: on one line, and not longer than that holds."""

import pytest

from idemlint.placing import shorten

LONG = "a_first_argument, a_second_argument, a_third_argument, a_fourth_argument"


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        (f"charge({LONG})", "charge(...)"),
        ("charge(\n    order,\n    currency='eur',\n)", "charge(order, currency='eur',)"),
        (f"Producer(channel).publish({LONG})", "Producer(...).publish(...)"),
        (f"Session().post(f'{{url}}(x', {LONG})", "Session().post(...)"),
        (f"ORDERS[key](f'{{url}}', {LONG})[0]", "ORDERS[...](...)[...]"),
        (f"charge(other(1, [2], {{3: 4}}), {LONG}).save()", "charge(...).save()"),
    ],
)
def test_the_calls_of_a_chain_stay(code: str, shown: str) -> None:
    assert shorten(code) == shown
