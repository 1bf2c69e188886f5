"""Why and when a job of APScheduler runs again."""

from __future__ import annotations

from delivering import causes, delivered


def test_a_job_runs_once_in_each_process() -> None:
    found = delivered("apscheduler", {"max_instances": 3})
    assert (causes(found), found.cap.name) == ("early-ack", "NOTE")
    assert "every process" in found.causes[0].text


def test_a_framework_nobody_models_may_deliver_twice() -> None:
    found = delivered("pigeons")
    assert (causes(found), found.cap.name) == ("early-ack", "WARNING")
    assert found.unknown == ("how pigeons delivers is not modelled",)
