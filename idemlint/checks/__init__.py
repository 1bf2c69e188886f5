"""One file a rule. `ALL` is the list of them, in the order of their codes."""

from __future__ import annotations

from idemlint.checks import (
    create_without_unique_key,
    enqueue_in_transaction,
    external_call_in_transaction,
    late_bound_commit_hook,
    read_modify_write,
    unguarded_message,
    unkeyed_external_call,
    unknown_rule_in_suppression,
    unparsable_file,
    unstable_idempotency_key,
    unused_suppression,
)
from idemlint.checks.rule import Rule

ALL: tuple[Rule, ...] = (
    unkeyed_external_call.RULE,
    unstable_idempotency_key.RULE,
    unguarded_message.RULE,
    create_without_unique_key.RULE,
    read_modify_write.RULE,
    external_call_in_transaction.RULE,
    enqueue_in_transaction.RULE,
    late_bound_commit_hook.RULE,
    unparsable_file.RULE,
    unused_suppression.RULE,
    unknown_rule_in_suppression.RULE,
)

__all__ = ["ALL", "Rule"]
