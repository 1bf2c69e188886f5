"""Which rule speaks when several could: one table, the first that matches an effect wins."""

from __future__ import annotations

from collections.abc import Iterable

from idemlint.replay import Finding

ORDER = (
    "unstable-idempotency-key",
    "external-call-in-transaction",
    "unguarded-message",
    "unkeyed-external-call",
    "create-without-unique-key",
    "read-modify-write",
    "enqueue-in-transaction",
)
"""Names of rules that speak about one effect, strongest claim first."""

BESIDE = frozenset({("external-call-in-transaction", "unkeyed-external-call", "money")})
"""Pairs that may both speak about one effect when it has these stakes."""


def choose(findings: Iterable[Finding], stakes: dict[int, str]) -> list[Finding]:
    """The findings of one root that may stay; `stakes` says who an effect hurts, by its id."""
    chosen: list[Finding] = []
    by_subject: dict[int, list[Finding]] = {}
    for finding in findings:
        if finding.subject is None or finding.rule not in ORDER:
            chosen.append(finding)
        else:
            by_subject.setdefault(finding.subject, []).append(finding)
    for subject, competing in by_subject.items():
        competing.sort(key=lambda finding: ORDER.index(finding.rule))
        first = competing[0]
        for finding in competing:
            beside = (first.rule, finding.rule, stakes.get(subject, "")) in BESIDE
            if finding.rule == first.rule or beside:
                chosen.append(finding)
    return chosen
