"""late-bound-commit-hook: every hook registered in a loop sees the loop's last value."""

from collections.abc import Iterator

from idemlint.checks.rule import Rule
from idemlint.diagnostic import Applicability, Confidence, Fix, Severity, StepKind
from idemlint.replay import Finding, Mark, Replay

NAME = "late-bound-commit-hook"


def check(replay: Replay) -> Iterator[Finding]:
    for hook in replay.summary.hooks:
        name = hook.late[0]
        yield Finding(
            rule=NAME,
            site=hook.site,
            severity=Severity.ERROR,
            confidence=Confidence.HIGH,
            message=(
                f"The commit hook looks up '{name}' when it runs, after the loop has ended: every hook acts on the "
                "last item, the others are left out."
            ),
            steps=(
                Mark(StepKind.CAUSE, f"the hook is registered in a loop over '{name}': {{code}}", hook.site),
                Mark(StepKind.FIRST, f"the loop goes on and binds '{name}' anew"),
                Mark(StepKind.FIRST, f"after the commit each hook reads '{name}'", hook.site),
                Mark(StepKind.RESULT, "the last item is handled once for every turn, the others never"),
            ),
            fix=Fix(
                f"bind the value now: functools.partial(f, {name}), or lambda {name}={name}: f({name})",
                Applicability.DISPLAY,
            ),
            about=hook.function,
            task=replay.task.id if replay.task else None,
        )


RULE = Rule(NAME, "IDM403", Severity.ERROR, "commit hook that closes over a loop variable", "0.1", check)
