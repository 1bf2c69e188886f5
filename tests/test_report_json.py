"""The JSON contract of docs/json.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from sample_report import CHARGED_TWICE, RENEW, SENT_EARLY, report, saying

from idemlint.diagnostic import Report
from idemlint.report import FORMATS
from idemlint.report.sheet import Sheet, seen_from

DOCUMENTED = Path(__file__).parent.parent / "docs" / "json.md"


def text(reported: Report) -> str:
    return FORMATS["json"](reported, Sheet(place=str, color=True))


def document(reported: Report) -> Any:
    return json.loads(text(reported))


def test_a_finding_holds_all_that_is_known_of_it() -> None:
    finding = replace(CHARGED_TWICE, other_tasks=(RENEW,), steps=CHARGED_TWICE.steps[3:])
    assert document(report(finding)) == {
        "version": 1,
        "findings": [
            {
                "rule": "unkeyed-external-call",
                "code": "IDM101",
                "severity": "error",
                "confidence": "high",
                "message": "charge_order charges the card again when its message is delivered twice.",
                "path": "shop/tasks.py",
                "line": 41,
                "column": 5,
                "end_line": 41,
                "end_column": 15,
                "task": {
                    "name": "shop.tasks.charge_order",
                    "function": "charge_order",
                    "path": "shop/tasks.py",
                    "line": 38,
                    "framework": "celery",
                },
                "other_tasks": [
                    {
                        "name": "shop.tasks.renew",
                        "function": "renew",
                        "path": "shop/renewal.py",
                        "line": 12,
                        "framework": "celery",
                    }
                ],
                "causes": [
                    {
                        "text": "acks_late=True: redelivered when the worker's host or connection dies",
                        "path": "config/celery.py",
                        "line": 12,
                    },
                    {"text": "Celery's default broker timeout: one hour", "path": None, "line": None},
                ],
                "steps": [
                    {
                        "kind": "again",
                        "text": "stripe.PaymentIntent.create(...)",
                        "path": "shop/billing.py",
                        "line": 88,
                        "column": 14,
                    },
                    {
                        "kind": "result",
                        "text": "the customer is charged twice",
                        "path": None,
                        "line": None,
                        "column": None,
                    },
                ],
                "fix": {
                    "title": 'pass idempotency_key=f"charge-{order_id}"',
                    "applicability": "unsafe",
                    "edits": [
                        {
                            "path": "shop/billing.py",
                            "start": 2310,
                            "end": 2310,
                            "text": ', idempotency_key=f"charge-{order_id}"',
                        }
                    ],
                },
                "fingerprint": "5b0c1f7f5f3a9f0e",
                "suppression": None,
            }
        ],
        "summary": {"tasks": 41, "modules": 23, "calls": 312, "unresolved_calls": 17, "unread_files": 0},
    }


def test_what_is_not_there_is_null() -> None:
    [finding] = document(report(SENT_EARLY))["findings"]
    assert (finding["task"], finding["fix"], finding["other_tasks"], finding["causes"]) == (None, None, [], [])


def test_a_clean_report_is_a_document_too() -> None:
    assert document(report())["findings"] == []


def test_the_documented_example_has_the_keys_of_the_document_in_the_same_order() -> None:
    example = json.loads(DOCUMENTED.read_text(encoding="utf-8").partition("```json")[2].partition("```")[0])
    [told] = document(report(replace(CHARGED_TWICE, causes=CHARGED_TWICE.causes[:1], steps=CHARGED_TWICE.steps[3:4])))[
        "findings"
    ]
    assert list(keys(example)) == list(keys(document(report()) | {"findings": [told]}))


def keys(value: Any, above: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{above}.{key}"
            yield from keys(inner, f"{above}.{key}")
    if isinstance(value, list):
        for inner in value:
            yield from keys(inner, above)


def test_every_path_is_relative_to_the_working_directory() -> None:
    finding = replace(CHARGED_TWICE, other_tasks=(RENEW,))
    sheet = Sheet(place=seen_from(Path("/repo/docs"), Path("/repo/backend")))
    [told] = json.loads(FORMATS["json"](report(finding), sheet))["findings"]
    paths = [
        told["path"],
        told["task"]["path"],
        *(entry["path"] for part in ("other_tasks", "causes", "steps") for entry in told[part]),
        *(edit["path"] for edit in told["fix"]["edits"]),
    ]
    assert {path for path in paths if path is not None} == {
        "../backend/shop/tasks.py",
        "../backend/shop/renewal.py",
        "../backend/shop/billing.py",
        "../backend/config/celery.py",
    }


@given(message=st.text())
def test_any_message_survives_and_the_document_stays_ascii(message: str) -> None:
    told = text(saying(message))
    assert told.isascii()
    assert json.loads(told)["findings"][0]["message"] == message


def test_colour_never_gets_into_the_document() -> None:
    assert "\x1b" not in text(report(CHARGED_TWICE))
