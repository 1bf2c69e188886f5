"""The form for reading: each finding with its failure story, the steps in columns."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len
from rich.text import Text

from idemlint.diagnostic import Diagnostic, Report, Step, StepKind, TaskName
from idemlint.report.closing import closing
from idemlint.report.heading import heading
from idemlint.report.printable import printable
from idemlint.report.sheet import Sheet, drawn

_LABELS = {
    StepKind.CAUSE: "because",
    StepKind.FIRST: "first run",
    StepKind.CUT: "cut",
    StepKind.AGAIN: "again",
    StepKind.RESULT: "result",
}
_COLORS = {StepKind.CAUSE: "yellow", StepKind.CUT: "magenta", StepKind.AGAIN: "yellow", StepKind.RESULT: "bold red"}
_INDENT = 2
_AFTER_LABEL = 4
_BEFORE_PLACE = 3
_BEFORE_MORE = 8
# Below this a column of text reads worse than places on lines of their own.
_NARROWEST = 28


def render(report: Report, sheet: Sheet) -> str:
    """The report as a person reads it, and the closing line."""
    lines = [line for finding in report.findings for line in _finding(finding, sheet)]
    return drawn([*lines, Text().append(closing(report), style="bold")] if sheet.closing else lines, sheet)


def _finding(finding: Diagnostic, sheet: Sheet) -> Iterator[Text]:
    yield heading(finding, sheet)
    yield Text(printable(finding.message))
    yield Text()
    if finding.steps:
        yield from _story(finding.steps, sheet)
        yield Text()
    if finding.other_tasks:
        yield from _named(
            "also", "reached from " + ", ".join(_task(task, sheet) for task in finding.other_tasks), sheet
        )
    yield from _remedy(finding, sheet)
    yield Text()


def _story(steps: tuple[Step, ...], sheet: Sheet) -> Iterator[Text]:
    labels = _labels(steps)
    places = [_place(step, sheet) for step in steps]
    texts = [printable(step.text) for step in steps]
    number_width = len(str(len(steps)))
    label_width = max(map(len, labels))
    start = _INDENT + number_width + 2 + label_width + _AFTER_LABEL
    beside = sheet.width - start - _BEFORE_PLACE - max(map(cell_len, places))
    in_columns = beside >= _NARROWEST
    text_width = min(max(map(cell_len, texts)), beside if in_columns else max(sheet.width - start, _NARROWEST))

    for number, (step, label, text, place) in enumerate(zip(steps, labels, texts, places, strict=True), start=1):
        first, *rest = _wrapped(text, text_width)
        line = Text(" " * _INDENT)
        line.append(f"{number:>{number_width}}  ", style="dim")
        line.append(label.ljust(label_width), style=_COLORS.get(step.kind, ""))
        line.append(" " * _AFTER_LABEL)
        line.append(first, style="bold" if step.kind is StepKind.RESULT else "")
        if place and in_columns:
            line.append(" " * (max(text_width - cell_len(first), 0) + _BEFORE_PLACE))
            line.append(place, style="cyan")
        yield line
        yield from (Text(" " * start + more) for more in rest)
        if place and not in_columns:
            yield Text(" " * start).append(place, style="cyan")


def _labels(steps: tuple[Step, ...]) -> list[str]:
    labels = [_LABELS[step.kind] for step in steps]
    kinds = [step.kind for step in steps]
    # A story in which nothing runs again (a transaction's, a setting's) is not about delivery.
    if StepKind.CAUSE in kinds and StepKind.AGAIN in kinds:
        labels[kinds.index(StepKind.CAUSE)] = "delivered again"
    return labels


def _place(step: Step, sheet: Sheet) -> str:
    return f"{printable(sheet.place(step.span.path))}:{step.span.line}" if step.span else ""


def _task(task: TaskName, sheet: Sheet) -> str:
    return f"{printable(task.name)} ({printable(sheet.place(task.path))}:{task.line})"


def _remedy(finding: Diagnostic, sheet: Sheet) -> Iterator[Text]:
    more = f"more: idemlint rule {finding.rule}"
    if finding.fix is None:
        yield Text(" " * _INDENT).append(more, style="dim")
        return
    *above, last = _named("fix", printable(finding.fix.title), sheet)
    yield from above
    if not above and last.cell_len + _BEFORE_MORE + len(more) <= sheet.width:
        yield last.append(" " * _BEFORE_MORE).append(more, style="dim")
    else:
        yield last
        yield Text(" " * (_INDENT + 6)).append(more, style="dim")


def _named(word: str, text: str, sheet: Sheet) -> Iterator[Text]:
    """`text` under a word in the margin, wrapped beside it."""
    start = _INDENT + 6
    first, *rest = _wrapped(text, max(sheet.width - start, _NARROWEST))
    yield Text(" " * _INDENT).append(word.ljust(6), style="bold green").append(first)
    yield from (Text(" " * start + line) for line in rest)


def _wrapped(text: str, width: int) -> list[str]:
    """`text` in lines of at most `width` cells, broken at spaces only: a path or a name stays whole."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and cell_len(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
