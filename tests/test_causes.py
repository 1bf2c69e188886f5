"""Why a task runs again that has done something: the cause that a story tells can come after the effect."""

from __future__ import annotations

from pathlib import Path

import pytest
from linting import findings

HEAD = """\
import requests
import stripe
from celery import shared_task
from django.core.mail import send_mail


"""
READ = 'requests.get("https://shop.example/").raise_for_status()'
SEND = 'send_mail("a", "b", "c", [pk])'
CHARGE = "stripe.Charge.create(amount=pk)"
POST = 'requests.post("https://api.stripe.com/v1/charges").raise_for_status()'
RETRY, LOST, ACCIDENT = "autoretry_for", "acks_late", "default early ack"


def told(folder: Path, options: str, *body: str) -> list[tuple[str, str]]:
    """The cause that the story of each outside effect begins with, and how loud it is."""
    lines = "\n".join(f"    {line}" for line in body)
    (folder / "tasks.py").write_text(f"{HEAD}@shared_task({options})\ndef task(pk):\n{lines}\n", encoding="utf-8")
    found = findings(folder, "--min-severity", "note")
    effects = [each for each in found if each["rule"] in ("unguarded-message", "unkeyed-external-call")]
    return [(each["steps"][0]["text"], each["severity"]) for each in effects]


ON = "autoretry_for=(requests.RequestException,)"


@pytest.mark.parametrize(
    ("options", "body", "cause", "severity"),
    [
        # Only what comes before the effect can raise the exception.
        (ON, (READ, SEND), ACCIDENT, "warning"),
        (f"{ON}, acks_late=True", (READ, SEND), LOST, "warning"),
        (ON, (READ, CHARGE), ACCIDENT, "warning"),
        (f"{ON}, acks_late=True", (READ, CHARGE), LOST, "error"),
        ("autoretry_for=(requests.ConnectTimeout,)", (POST,), ACCIDENT, "warning"),
        # What comes after it, or it itself, can.
        (ON, (SEND, READ), RETRY, "warning"),
        (ON, (CHARGE, READ), RETRY, "error"),
        (ON, (POST,), RETRY, "error"),
        (f"{ON}, acks_late=True", (READ, SEND, READ), RETRY, "warning"),
        ("autoretry_for=(Exception,)", (READ, CHARGE), RETRY, "error"),
        # Nobody knows what can raise it.
        ("autoretry_for=(ValueError,)", (READ, CHARGE), RETRY, "error"),
        ("autoretry_for=(requests.RequestException,)", (CHARGE,), RETRY, "error"),
    ],
)
def test_the_cause_can_come_after_the_effect(
    tmp_path: Path, options: str, body: tuple[str, ...], cause: str, severity: str
) -> None:
    ((text, loud),) = told(tmp_path, options, *body)
    assert cause in text
    assert loud == severity
