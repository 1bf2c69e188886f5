"""A rule as SARIF describes it, with the help that GitHub shows beside an alert."""

from __future__ import annotations

import re
from typing import Any

from idemlint import pages
from idemlint.diagnostic import Severity
from idemlint.report.scan import Ruled

LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}

_PROBLEM = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "recommendation"}
# By the first digit of the code.
_SUBJECTS = {
    "1": "external-effects",
    "2": "records",
    "3": "updates",
    "4": "transactions",
    "5": "composition",
    "6": "delivery",
    "7": "guards",
    "8": "observability",
    "9": "configuration",
}
# GitHub takes no more.
_LONGEST = 1024


def descriptor(rule: Ruled) -> dict[str, Any]:
    """The `reportingDescriptor` of a rule. The help comes from its page; a rule without one has its summary."""
    summary = _sentence(rule.summary)
    url = pages.url(rule.name)
    page = _page(rule.name)
    opening = _plain(_opening(page)) or summary
    cure = _plain(_section(page, "Fix"))
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": _shortened(summary)},
        "fullDescription": {"text": _shortened(opening)},
        "help": {
            "text": "\n\n".join(part for part in (opening, cure, f"More: {url}") if part),
            "markdown": f"{page or summary}\n\n[The page of {rule.name}]({url})",
        },
        "helpUri": url,
        "defaultConfiguration": {"enabled": True, "level": LEVELS[rule.severity]},
        "properties": {
            "tags": ["reliability", "idempotency", _SUBJECTS[rule.code[3]]],
            "precision": "high",
            "problem.severity": _PROBLEM[rule.severity],
        },
    }


def _page(name: str) -> str:
    """The page of a rule without its title; empty if there is none."""
    try:
        return pages.page(name).partition("\n")[2].strip()
    except LookupError:
        return ""


def _opening(page: str) -> str:
    return page.partition("\n## ")[0]


def _section(page: str, title: str) -> str:
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def _plain(markdown: str) -> str:
    """Paragraphs as lines; code blocks, which say nothing without their setting, left out."""
    prose = re.sub(r"^```.*?^```$", "", markdown, flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", prose)
    paragraphs = (" ".join(part.split()) for part in prose.split("\n\n"))
    return "\n".join(part for part in paragraphs if part)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if not text.endswith(".") else text


def _shortened(text: str) -> str:
    """Whole sentences, as many as GitHub takes."""
    if len(text) <= _LONGEST:
        return text
    cut = text[:_LONGEST].rfind(". ")
    return text[: cut + 1] if cut > 0 else f"{text[: _LONGEST - 3]}..."
