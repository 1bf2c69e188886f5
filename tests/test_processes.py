"""Another process that helps: what it finds comes back, and nothing depends on whether it does."""

import os
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from idemlint import engine
from idemlint.catalog import load
from idemlint.config import Config
from idemlint.diagnostic import Report
from idemlint.link import link
from idemlint.link.forecast import forecast, foreseen
from idemlint.processes import Beside
from idemlint.project import Project, discover
from idemlint.summarize import from_the_last, summarize
from idemlint.syntax import facts as f
from idemlint.syntax.reader import READER

FIXTURES = Path(__file__).parent / "fixtures"
SHOP = FIXTURES.parent.parent / "examples" / "shop"


def shop() -> Project:
    return discover([SHOP], isolated=True)


def waited(beside: Beside, key: object, patience: float = 60) -> object:
    """The value under a key, once it has come."""
    end = time.monotonic() + patience
    while (value := beside.take(key)) is None and time.monotonic() < end:
        time.sleep(0.01)
    return value


def squares() -> Iterator[tuple[int, int]]:
    for number in range(1, 2000):
        yield number, number * number


def failing() -> Iterator[tuple[int, int]]:
    yield 1, 1
    raise ValueError


def endless() -> Iterator[tuple[int, bytes]]:
    for number in range(1, 1 << 40):
        yield number, b"x" * 100_000


def test_values_come_from_another_process() -> None:
    def numbered() -> Iterator[tuple[str, int]]:
        yield "process", os.getpid()

    with Beside(numbered()) as beside:
        assert waited(beside, "process") not in (None, os.getpid())


def test_values_come_under_their_keys_in_whatever_pieces_the_pipe_brings_them() -> None:
    with Beside(squares()) as beside:
        assert waited(beside, 1999) == 1999 * 1999
        assert [beside.take(number) for number in (1, 7, 1000)] == [1, 49, 1_000_000]
        assert beside.take("never") is None


def test_what_came_before_a_failure_is_kept_and_no_more_comes() -> None:
    with Beside(failing()) as beside:
        assert waited(beside, 1) == 1
        assert waited(beside, 2, patience=0.2) is None


def test_a_process_that_nobody_listens_to_is_ended() -> None:
    with Beside(endless()) as beside:
        assert waited(beside, 1) == b"x" * 100_000
        child = beside._process
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


def test_a_process_with_threads_is_not_copied() -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        with Beside(squares()) as beside:
            assert waited(beside, 1, patience=0.2) is None
    finally:
        done.set()
        thread.join()


def test_where_processes_cannot_be_copied_no_value_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    with Beside(squares()) as beside:
        assert waited(beside, 1, patience=0.2) is None


def test_what_is_foreseen_is_what_reading_gives() -> None:
    project = shop()
    told = dict(forecast(project, load(())))
    asked: set[str] = set()

    def facts(text: str) -> f.Body:
        asked.add(text)
        return READER.facts(text)

    link(project, load(()), reader=replace(READER, facts=facts))
    with Beside(iter(told.items())) as beside:
        waited(beside, list(told)[-1])
        ahead = foreseen(beside)
        for text in asked:
            assert ahead.facts(text) == READER.facts(text)
        for source in project.files:
            assert ahead.fault(project.text(source.path)) is READER.fault(project.text(source.path)) is None
    facts_told = sum(kind == "facts" for kind, _ in told)
    assert facts_told > len(asked) / 2, "so few pieces are foreseen that nobody is helped"


def test_summaries_are_the_same_from_whichever_process(monkeypatch: pytest.MonkeyPatch) -> None:
    catalog = load(())
    program = link(shop(), catalog)
    alone = summarize(program, catalog)
    with Beside(from_the_last(program, catalog)) as beside:
        waited(beside, 0)  # the last that it comes to
        monkeypatch.setattr("idemlint.summarize.CursorWalk", None)  # nothing is left to be done here
        assert summarize(program, catalog, beside=beside) == alone


@pytest.mark.parametrize("folder", [SHOP, *sorted(path for path in FIXTURES.iterdir() if path.is_dir())], ids=str)
def test_the_report_is_the_same_with_two_processes(folder: Path) -> None:
    def report(jobs: int) -> Report:
        return engine.check(discover([folder], isolated=True), Config(), unknown=True, jobs=jobs)

    assert report(2) == report(1)
