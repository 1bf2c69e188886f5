"""What `-v` says of the analysis itself."""

from pathlib import Path

import pytest

from idemlint.cli import run

HEAD = "import requests\nfrom celery import shared_task\n\n\n@shared_task(acks_late=True)\ndef tell(order_id):\n"


@pytest.mark.parametrize(("calls", "partly"), [(3, False), (100, True)])
def test_a_task_that_does_more_than_is_followed_is_named(
    calls: int, partly: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = "".join(f'    requests.post("https://api.test/{number}", timeout=5)\n' for number in range(calls))
    (tmp_path / "tasks.py").write_text(HEAD + body, encoding="utf-8")
    run(["check", str(tmp_path), "--isolated", "--verbose"])
    assert ("tasks.tell does so much that it was followed in part only" in capsys.readouterr().err) is partly


def test_a_task_whose_hook_does_too_much_as_well_is_named_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = [f'requests.post("https://api.test/{number}", timeout=5)\n' for number in range(100)]
    hook = "".join(f"        {call}" for call in calls)
    body = "".join(f"    {call}" for call in calls)
    (tmp_path / "tasks.py").write_text(
        "import requests\nfrom celery import Task, shared_task\n\n\n"
        f"class Telling(Task):\n    def on_success(self, retval, task_id, args, kwargs):\n{hook}\n\n"
        f"@shared_task(base=Telling, acks_late=True)\ndef tell(order_id):\n{body}",
        encoding="utf-8",
    )
    run(["check", str(tmp_path), "--isolated", "--verbose"])
    assert capsys.readouterr().err.count("followed in part only") == 1
