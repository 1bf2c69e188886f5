"""The forms for people: what a finding looks like, and that nothing a stranger's code says is eaten on the way."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_report import CHARGED_TWICE, RENEW, SENT_EARLY, SUMMARY, report, saying

from idemlint.diagnostic import Diagnostic, Report, Severity, Step, StepKind, Summary
from idemlint.report import FORMATS, listing
from idemlint.report.closing import closing
from idemlint.report.page import page
from idemlint.report.printable import printable
from idemlint.report.progress import progress_bar
from idemlint.report.sheet import Sheet
from idemlint.report.terminal import takes_color, width


def told(reported: Report, form: str = "full", columns: int = 100, color: bool = False) -> str:
    return FORMATS[form](reported, Sheet(place=str, width=columns, color=color))


def test_a_finding_is_told_with_its_story_in_columns() -> None:
    assert told(report(CHARGED_TWICE, SENT_EARLY)) == (
        """\
shop/tasks.py:41:5  error  unkeyed-external-call (IDM101)
charge_order charges the card again when its message is delivered twice.

  1  delivered again    acks_late=True: redelivered when the worker dies        config/celery.py:12
  2  first run          stripe.PaymentIntent.create(amount=..., customer=...)   shop/billing.py:88
  3  cut                before order.status = "paid" is committed               shop/tasks.py:44
  4  again              stripe.PaymentIntent.create(...)                        shop/billing.py:88
  5  result             the customer is charged twice

  fix   pass idempotency_key=f"charge-{order_id}"        more: idemlint rule unkeyed-external-call

shop/orders.py:9:5  warning  enqueue-in-transaction (IDM402)  medium confidence
place_order sends ship before its order is committed.

  1  because      with transaction.atomic()   shop/orders.py:7
  2  first run    ship.delay(order.pk)        shop/orders.py:9
  3  result       ship finds no order

  more: idemlint rule enqueue-in-transaction

1 error, 1 warning in 41 tasks (23 modules read, 312 calls followed, 17 unresolved, 0 files unread)
"""
    )


def test_a_narrow_page_breaks_text_at_spaces_and_keeps_the_columns() -> None:
    assert """\
  1  delivered again    acks_late=True: redelivered when the   config/celery.py:12
                        worker dies
  2  first run          stripe.PaymentIntent.create(amount=...,   shop/billing.py:88
                        customer=...)
  3  cut                before order.status = "paid" is        shop/tasks.py:44
                        committed
""" in told(report(CHARGED_TWICE), columns=82)


def test_a_page_too_narrow_for_columns_puts_places_below() -> None:
    assert told(report(CHARGED_TWICE), columns=56) == (
        """\
shop/tasks.py:41:5  error  unkeyed-external-call (IDM101)
charge_order charges the card again when its message is delivered twice.

  1  delivered again    acks_late=True: redelivered when
                        the worker dies
                        config/celery.py:12
  2  first run          stripe.PaymentIntent.create(amount=...,
                        customer=...)
                        shop/billing.py:88
  3  cut                before order.status = "paid" is
                        committed
                        shop/tasks.py:44
  4  again              stripe.PaymentIntent.create(...)
                        shop/billing.py:88
  5  result             the customer is charged twice

  fix   pass idempotency_key=f"charge-{order_id}"
        more: idemlint rule unkeyed-external-call

1 error in 41 tasks (23 modules read, 312 calls followed, 17 unresolved, 0 files unread)
"""
    )


def test_tasks_that_reach_the_same_effect_are_named() -> None:
    reached = replace(CHARGED_TWICE, other_tasks=(RENEW,))
    assert "\n  also  reached from shop.tasks.renew (shop/renewal.py:12)\n  fix   pass" in told(report(reached))


def test_the_concise_form_is_the_first_line_and_the_message() -> None:
    assert told(report(CHARGED_TWICE, SENT_EARLY), "concise") == (
        "shop/tasks.py:41:5  error  unkeyed-external-call (IDM101)  charge_order charges the card again when its"
        " message is delivered twice.\n"
        "shop/orders.py:9:5  warning  enqueue-in-transaction (IDM402)  medium confidence  place_order sends ship"
        " before its order is committed.\n"
        "1 error, 1 warning in 41 tasks (23 modules read, 312 calls followed, 17 unresolved, 0 files unread)\n"
    )


@pytest.mark.parametrize("form", ["full", "concise"])
def test_a_quiet_sheet_has_no_closing_line(form: str) -> None:
    quiet = Sheet(place=str, closing=False)
    assert FORMATS[form](report(), quiet) == ""
    assert "in 41 tasks" not in FORMATS[form](report(CHARGED_TWICE), quiet)


@pytest.mark.parametrize(
    ("findings", "summary", "line"),
    [
        (
            (),
            SUMMARY,
            "No findings in 41 tasks (23 modules read, 312 calls followed, 17 unresolved, 0 files unread)",
        ),
        (
            (replace(SENT_EARLY, severity=Severity.NOTE), CHARGED_TWICE, CHARGED_TWICE, SENT_EARLY),
            replace(SUMMARY, tasks=1, modules=1, calls=1, unresolved_calls=1, unread_files=1),
            "2 errors, 1 warning, 1 note in 1 task (1 module read, 1 call followed, 1 unresolved, 1 file unread)",
        ),
    ],
)
def test_the_closing_line_says_what_was_found_and_looked_at(
    findings: tuple[Diagnostic, ...], summary: Summary, line: str
) -> None:
    assert closing(replace(report(*findings), summary=summary)) == line


@pytest.mark.parametrize(
    "message",
    [
        "[red]alarm[/red]",
        "expected list[int], found dict[str, list[int]]",
        "sends :warning: to the channel",
        "https://example.com/" + "very-long/" * 40 + "path.py",
        r"C:\temp\new [link=x]",
        "漢字 and é and 😀 stay",
        " two  spaces   and at the end  ",
    ],
)
@pytest.mark.parametrize("form", ["full", "concise"])
@pytest.mark.parametrize("color", [False, True])
def test_a_message_is_printed_as_it_is(message: str, form: str, color: bool) -> None:
    assert message in told(saying(message), form, columns=40, color=color)


_VISIBLE = st.characters(
    exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters=[chr(mark) for mark in range(0x2028, 0x2070)]
)


@given(message=st.text(_VISIBLE), columns=st.integers(10, 200), form=st.sampled_from(["full", "concise"]))
def test_any_visible_message_survives(message: str, columns: int, form: str) -> None:
    assert message in told(saying(message), form, columns)


@given(message=st.text())
def test_no_text_speaks_to_the_terminal_or_breaks_a_line(message: str) -> None:
    lines = told(saying(message), "concise").split("\n")
    assert len(lines) == 3
    assert not any(unicodedata.category(character) in ("Cc", "Cs") for line in lines for character in line)


def test_what_cannot_be_seen_is_written_as_an_escape() -> None:
    assert printable("a\tb\nc\x1b[31m\u202ed\u2028e\udc80") == r"a\tb\nc\x1b[31m\u202ed\u2028e\udc80"


@given(
    path=st.text(st.characters(categories=["L", "Nd"], include_characters="/.-_"), min_size=1, max_size=200),
    columns=st.integers(10, 120),
)
def test_a_path_is_never_broken(path: str, columns: int) -> None:
    finding = replace(CHARGED_TWICE, span=replace(CHARGED_TWICE.span, path=path))
    finding = replace(finding, steps=(Step(StepKind.AGAIN, "f()", finding.span),))
    assert told(report(finding), columns=columns).count(f"{path}:41") == 2


def test_colour_and_links_change_no_character_of_the_text() -> None:
    plain = told(report(CHARGED_TWICE, SENT_EARLY))
    colored = FORMATS["full"](
        report(CHARGED_TWICE, SENT_EARLY), Sheet(place=str, color=True, link=lambda rule: f"file:///rules/{rule}.md")
    )
    assert "\x1b[1;31merror\x1b[0m" in colored
    assert "\x1b[1m1 error, 1 warning in 41 tasks" in colored
    assert ";file:///rules/unkeyed-external-call.md\x1b\\" in colored
    assert stripped(colored) == plain


def stripped(text: str) -> str:
    out = StringIO()
    while text:
        before, escape, text = text.partition("\x1b")
        out.write(before)
        if escape:
            text = text.partition("m" if text[0] == "[" else "\\")[2]
    return out.getvalue()


@pytest.mark.parametrize(
    ("choice", "environ", "is_terminal", "color"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("always", {"NO_COLOR": "1", "TERM": "dumb"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": "", "FORCE_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1", "TERM": "dumb"}, False, True),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"CI": "true", "GITHUB_ACTIONS": "true"}, False, False),
    ],
)
def test_colour_is_decided_by_option_then_environment_then_terminal(
    choice: str, environ: dict[str, str], is_terminal: bool, color: bool
) -> None:
    assert takes_color(choice, environ, is_terminal=is_terminal) is color


def test_columns_says_how_wide_the_page_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "133")
    assert width() == 133


def test_rules_are_listed_in_columns() -> None:
    rows = [
        ("IDM101", "unkeyed-external-call", Severity.ERROR, "an outside call [x] repeated"),
        ("IDM208", "journal-never-purged", Severity.NOTE, "a journal that only grows"),
    ]
    assert listing.rules(rows, Sheet(place=str)) == (
        "IDM101  unkeyed-external-call  error    an outside call [x] repeated\n"
        "IDM208  journal-never-purged   note     a journal that only grows\n"
    )


def test_statistics_count_the_rules_that_spoke_the_most_frequent_first() -> None:
    spoken = report(SENT_EARLY, *[CHARGED_TWICE] * 10)
    assert listing.statistics(spoken, Sheet(place=str)) == (
        "10  IDM101  unkeyed-external-call\n 1  IDM402  enqueue-in-transaction\n"
    )
    assert listing.statistics(report(), Sheet(place=str)) == ""


def test_a_page_in_a_pipe_is_its_markdown_with_the_facts_below_the_title() -> None:
    markdown = "# some-rule\n\nA *list[int]* is wrong.\n"
    told = page(markdown, "Code IDM101.", Sheet(place=str), is_terminal=False)
    assert told == "# some-rule\n\nCode IDM101.\n\nA *list[int]* is wrong.\n"


def test_a_page_on_a_terminal_is_typeset() -> None:
    markdown = "# some-rule\n\nA *wrong* thing.\n\n```python\nx: list[int] = []\n```\n"
    told = page(markdown, "Code IDM101.", Sheet(place=str, width=40), is_terminal=True)
    assert "# some-rule" not in told
    assert "*wrong*" not in told
    assert "```" not in told
    assert "x: list[int] = []" in told


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_progress_shows_after_a_second_and_not_before() -> None:
    clock, terminal = Clock(), StringIO()
    with progress_bar(terminal, color=False, clock=clock) as tell:
        clock.now = 0.9
        tell("reading [x]", 1, 4)
        assert terminal.getvalue() == ""
        clock.now = 1.1
        tell("reading [x]", 2, 4)
        clock.now = 1.15
        tell("reading [x]", 3, 4)
    assert "reading [x]" in terminal.getvalue()
    assert "2/4" in terminal.getvalue()
    assert "3/4" not in terminal.getvalue()


def test_progress_of_a_short_run_leaves_no_trace() -> None:
    terminal = StringIO()
    with progress_bar(terminal, color=False) as tell:
        tell("reading", 1, 1)
    assert terminal.getvalue() == ""
