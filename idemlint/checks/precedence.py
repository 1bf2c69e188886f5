"""Which rule speaks when several could: one table, the first that matches an effect wins."""

from __future__ import annotations

from collections.abc import Iterable

from idemlint.replay import Finding

ORDER = (
    "unstable-idempotency-key",
    "shared-idempotency-key",
    "external-call-in-transaction",
    "expiring-guard",
    "lock-as-guard",
    "process-local-guard",
    "effect-loop",
    "unguarded-message",
    "unkeyed-external-call",
    "journal-apart-from-effect",
    "journal-without-unique-key",
    "check-then-create",
    "get-or-create-without-unique-key",
    "racy-state-check",
    "create-without-unique-key",
    "unhandled-duplicate",
    "append-on-replay",
    "read-modify-write",
    "unguarded-increment",
    "enqueue-in-transaction",
    "effect-without-outbox",
    "duplicate-fan-out",
)
"""Names of rules that speak about one effect, strongest claim first."""

BESIDE = frozenset({("external-call-in-transaction", "unkeyed-external-call", "money")})
"""Pairs that may both speak about one effect when it has these stakes."""


PER_WRITE = frozenset({"append-on-replay", "read-modify-write", "unguarded-increment"})
"""Of these, which speak about one column each, several may speak about one effect that writes several."""


PER_TASK = ("replayed-steps", "retry-after-effect")
"""Of these, which speak about a task as a whole, the first that matches."""


def choose(findings: Iterable[Finding], stakes: dict[int, str]) -> list[Finding]:
    """The findings of one root that may stay; `stakes` says who an effect hurts, by its id."""
    chosen: list[Finding] = []
    by_subject: dict[int, list[Finding]] = {}
    for finding in findings:
        if finding.subject is None or finding.rule not in ORDER:
            chosen.append(finding)
        else:
            by_subject.setdefault(finding.subject, []).append(finding)
    tasks = {finding.task: finding.rule for finding in chosen if finding.rule in PER_TASK[:1]}
    chosen = [
        finding
        for finding in chosen
        if finding.rule not in PER_TASK or tasks.get(finding.task, finding.rule) == finding.rule
    ]
    for subject, competing in by_subject.items():
        competing.sort(key=lambda finding: ORDER.index(finding.rule))
        first = competing[0]
        for finding in competing:
            beside = (first.rule, finding.rule, stakes.get(subject, "")) in BESIDE
            if {first.rule, finding.rule} <= PER_WRITE and finding.site != first.site:
                beside = True
            if finding.rule == first.rule or beside:
                chosen.append(finding)
    return chosen
