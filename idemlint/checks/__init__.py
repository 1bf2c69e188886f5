"""One file a rule. `ALL` is the list of them, in the order of their codes."""

from __future__ import annotations

from idemlint.checks import (
    append_on_replay,
    check_then_create,
    create_without_unique_key,
    effect_loop,
    enqueue_in_transaction,
    external_call_in_transaction,
    get_or_create_without_unique_key,
    integrity_error_in_transaction,
    late_bound_commit_hook,
    racy_state_check,
    read_modify_write,
    replayed_steps,
    retry_after_effect,
    run_dependent_input,
    shared_idempotency_key,
    unguarded_increment,
    unguarded_message,
    unhandled_duplicate,
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
    shared_idempotency_key.RULE,
    unguarded_message.RULE,
    run_dependent_input.RULE,
    create_without_unique_key.RULE,
    get_or_create_without_unique_key.RULE,
    check_then_create.RULE,
    unhandled_duplicate.RULE,
    integrity_error_in_transaction.RULE,
    read_modify_write.RULE,
    unguarded_increment.RULE,
    append_on_replay.RULE,
    racy_state_check.RULE,
    external_call_in_transaction.RULE,
    enqueue_in_transaction.RULE,
    late_bound_commit_hook.RULE,
    replayed_steps.RULE,
    effect_loop.RULE,
    retry_after_effect.RULE,
    unparsable_file.RULE,
    unused_suppression.RULE,
    unknown_rule_in_suppression.RULE,
)

__all__ = ["ALL", "Rule"]
