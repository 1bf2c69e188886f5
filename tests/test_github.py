"""Annotations: what GitHub Actions reads out of a line, and what it will not show."""

from __future__ import annotations

from dataclasses import replace

from sample_report import CHARGED_TWICE, SENT_EARLY, report

from idemlint.diagnostic import Report, Severity, Span, Suppression
from idemlint.report import FORMATS
from idemlint.report.scan import Scan
from idemlint.report.sheet import Sheet


def lines(reported: Report, *, closing: bool = False) -> list[str]:
    scan = Scan(in_repository=lambda path: f"backend/{path}")
    return FORMATS["github"](reported, Sheet(place=str, closing=closing, scan=scan)).splitlines()


def test_a_finding_is_a_command_with_its_story_below() -> None:
    assert lines(report(SENT_EARLY)) == [
        "::warning title=idemlint (IDM402),file=backend/shop/orders.py,line=9,col=5,endLine=9,endColumn=15::"
        "backend/shop/orders.py:9:5: IDM402 place_order sends ship before its order is committed."
        "%0A1. cause: with transaction.atomic()  backend/shop/orders.py:7"
        "%0A2. first: ship.delay(order.pk)  backend/shop/orders.py:9"
        "%0A3. result: ship finds no order"
    ]


def test_the_worst_come_first() -> None:
    noted = replace(SENT_EARLY, severity=Severity.NOTE)
    told = lines(report(noted, SENT_EARLY, CHARGED_TWICE))
    assert [line.split(" ", maxsplit=1)[0] for line in told] == ["::error", "::warning", "::notice"]


def test_columns_are_left_out_of_a_region_of_several_lines() -> None:
    [line] = lines(report(replace(SENT_EARLY, span=Span("a.py", 3, 5, 7, 2))))
    assert line.startswith("::warning title=idemlint (IDM402),file=backend/a.py,line=3,endLine=7::backend/a.py:3:5: ")


def test_what_would_end_a_property_or_a_line_is_escaped() -> None:
    odd = replace(SENT_EARLY, span=Span("a,b:50%.py", 1, 1, 1, 2), message="50% of\r\nit.", steps=())
    assert lines(report(odd)) == [
        "::warning title=idemlint (IDM402),file=backend/a%2Cb%3A50%25.py,line=1,col=1,endLine=1,endColumn=2::"
        r"backend/a,b:50%25.py:1:1: IDM402 50%25 of\r\nit."
    ]


def test_what_github_drops_without_a_word_is_said() -> None:
    many = [replace(SENT_EARLY, span=Span("a.py", line, 1, line, 2)) for line in range(1, 13)]
    told = lines(report(*many, CHARGED_TWICE), closing=True)
    assert len(told) == 15
    assert told[-2] == "idemlint: 2 more not shown as annotations: GitHub takes 10 of each kind from one step."
    assert told[-1].startswith("1 error, 12 warnings in 41 tasks")
    assert len(lines(report(*many[:10], CHARGED_TWICE))) == 11


def test_what_is_suppressed_is_no_annotation() -> None:
    assert lines(report(replace(CHARGED_TWICE, suppression=Suppression("a.py", 1, "")))) == []
