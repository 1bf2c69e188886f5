"""A rule's page -> the projects it shows and what idemlint is to say of each.

A page has these headings, in this order:

    # rule-name              what is wrong, and what the user of the system sees: one paragraph
    ## Bad                   projects, each finding marked on its line with `# error`
    ## Story                 a `text` block: what `idemlint check` prints of the first bad project
    ## Good                  projects on which it is silent
    ## Fix                   prose
    ## When it is wrong      prose
    ## Known misses          projects that should be spoken of and are not, each line marked with `# miss`

A project is one or more code blocks, each under a line that holds its path in backticks and a colon. A `###` heading
begins another project. A file that a project does not show is the one of the first bad project. `# error: other-rule`
expects a finding of another rule. Every folder is a package.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

HEADINGS = ("Bad", "Story", "Good", "Fix", "When it is wrong", "Known misses")
RUN = ("Bad", "Good", "Known misses")

_PATH = re.compile(r"`([^`\s]+)`:$")
_MARK = re.compile(r"[ \t]*# (error|miss)(?:: ([a-z-]+))?[ \t]*$")
_STORY = re.compile(r"(?<=\n## Story\n)(.*?\n```text\n)(.*?)(```\n)", re.DOTALL)


class PageError(Exception):
    """A page is not written as pages are."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A line that a page speaks of: the rule expected there, or missed there."""

    path: str
    line: int
    rule: str


@dataclass(frozen=True, slots=True)
class Example:
    """One project of a page, marks taken out. `title` is its `###` heading, "" where there is none."""

    page: str
    section: str
    title: str
    files: Mapping[str, str]
    errors: frozenset[Mark]
    misses: frozenset[Mark]

    def __str__(self) -> str:
        return "-".join(re.sub(r"\W+", " ", part).strip().replace(" ", "-") for part in self._named if part)

    @property
    def _named(self) -> tuple[str, str, str]:
        return self.page, self.section, self.title

    def write(self, folder: Path) -> None:
        """Lay the project out in `folder`."""
        for path, text in self.files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            for package in list(PurePosixPath(path).parents)[:-1]:
                (folder / package / "__init__.py").touch()


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it is read: its title, the paragraph under it, its headings in order, the story and the projects."""

    name: str
    summary: str
    headings: tuple[str, ...]
    story: str
    examples: tuple[Example, ...]

    def of(self, section: str) -> tuple[Example, ...]:
        return tuple(example for example in self.examples if example.section == section)


def read(text: str) -> Page:
    """The page that `text` is. PageError where it cannot be one."""
    title = text.partition("\n")[0].removeprefix("# ")
    told = _STORY.search(text)
    opening, *parts = re.split(r"^## (.*)\n", text, flags=re.MULTILINE)
    sections = dict(zip(parts[::2], parts[1::2], strict=True))
    examples: list[Example] = []
    for section in RUN:
        for example in examples_in(title, section, sections.get(section, "")):
            first = examples[0] if examples else example
            examples.append(_completed(example, first))
    return Page(
        name=title,
        summary=opening.partition("\n")[2].strip(),
        headings=tuple(parts[::2]),
        story=told[2].rstrip("\n") if told else "",
        examples=tuple(examples),
    )


def retold(text: str, story: str) -> str:
    """The text of a page with another story in it."""
    return _STORY.sub(lambda found: f"{found[1]}{story}\n{found[3]}", text, count=1)


def examples_in(page: str, section: str, text: str) -> Iterator[Example]:
    """The projects that a section shows."""
    opening, *parts = re.split(r"^### (.*)\n", text, flags=re.MULTILINE)
    for title, body in (("", opening), *zip(parts[::2], parts[1::2], strict=True)):
        blocks = dict(_blocks(body, f"{page}, {section} {title}"))
        if blocks:
            marks = {mark for path, lines in blocks.items() for mark in _marks(page, path, lines)}
            yield Example(
                page,
                section,
                title,
                {path: "".join(f"{_MARK.sub('', line)}\n" for line in lines) for path, lines in blocks.items()},
                frozenset(mark for kind, mark in marks if kind == "error"),
                frozenset(mark for kind, mark in marks if kind == "miss"),
            )


def _blocks(text: str, where: str) -> Iterator[tuple[str, list[str]]]:
    """Code blocks by the path that stands above each."""
    path: str | None = None
    block: list[str] | None = None
    for line in text.splitlines():
        if block is not None:
            if line.startswith("```"):
                assert path is not None
                yield path, block
                path, block = None, None
            else:
                block.append(line)
        elif line.startswith("```"):
            if path is None:
                raise PageError(f"{where}: a code block without a file above it")
            block = []
        elif line.strip():
            named = _PATH.match(line)
            path = named[1] if named else None
    if block is not None:
        raise PageError(f"{where}: a code block that does not end")


def _marks(page: str, path: str, lines: list[str]) -> Iterator[tuple[str, Mark]]:
    for number, line in enumerate(lines, start=1):
        found = _MARK.search(line)
        if found:
            yield found[1], Mark(path, number, found[2] or page)


def _completed(example: Example, first: Example) -> Example:
    """With the files of the page's first project that it does not show itself, and what is expected there."""
    kept = {path: text for path, text in first.files.items() if path not in example.files}
    found = {mark for mark in first.errors if mark.path in kept and example.section != "Good"}
    return replace(example, files={**kept, **example.files}, errors=example.errors | found)
