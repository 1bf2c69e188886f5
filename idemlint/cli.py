"""The command line: arguments in, exit code out. The only place that ends the process."""

from __future__ import annotations

import gc
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import click

from idemlint import checks, pages
from idemlint.catalog import CatalogError
from idemlint.config import Config, ConfigError, FailOn, Layer, choices, chosen, load, one, rebased
from idemlint.diagnostic import Confidence, Report, Severity
from idemlint.project import Project, ProjectError, discover, find_root, repository
from idemlint.report import FORMATS, listing
from idemlint.report.closing import closing
from idemlint.report.page import page
from idemlint.report.progress import progress_bar
from idemlint.report.remarks import remarks
from idemlint.report.scan import NO_SCAN, Scan
from idemlint.report.settings import settings
from idemlint.report.sheet import Sheet, seen_from, unlinked
from idemlint.report.terminal import WIDTH_OF_A_FILE, takes_color, width
from idemlint.shown import fails, shown

CLEAN, FOUND, FAILED, INTERRUPTED = 0, 1, 2, 130

_FOR_PEOPLE = ("full", "concise")

_MANY = 200
"""Python files."""

E = TypeVar("E", bound=Enum)


def main() -> None:
    """Run the command that the process was started with, and end the process."""
    # What a run makes lives until its end: looking for cycles in it takes a tenth of the time and frees nothing.
    gc.disable()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line. Returns the exit code: 0 clean, 1 findings, 2 whatever kept us from looking."""
    try:
        return int(app.main(arguments, prog_name="idemlint", standalone_mode=False) or CLEAN)
    except click.ClickException as error:
        return _failed(error.format_message())
    except (CatalogError, ConfigError, ProjectError) as error:
        return _failed(str(error))
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED


def _choice(kind: type[Enum]) -> click.Choice[str]:
    return click.Choice(choices(kind))


_color_option = click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Colour; auto asks NO_COLOR, FORCE_COLOR and the terminal.",
)


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="idemlint", message="%(prog)s %(version)s")
@click.pass_context
def app(context: click.Context) -> None:
    """Tell what breaks when a background task runs twice."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
        context.exit(FAILED)


@dataclass(frozen=True, slots=True)
class _Options:
    """What `idemlint check` was told, as it was told."""

    paths: tuple[Path, ...]
    output_format: str
    output_file: Path | None
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    extend_select: tuple[str, ...]
    config: tuple[str, ...]
    min_severity: str | None
    min_confidence: str | None
    fail_on: str | None
    exit_zero: bool
    exclude: tuple[str, ...]
    force_exclude: bool
    report_only_paths: bool
    root: Path | None
    isolated: bool
    sarif_category: str | None
    sarif_root: Path | None
    jobs: int | None
    color: str
    quiet: bool
    verbose: bool
    show_settings: bool
    show_files: bool
    statistics: bool
    show_suppressed: bool


@app.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--output-format",
    type=click.Choice(list(FORMATS)),
    default="full",
    envvar="IDEMLINT_OUTPUT_FORMAT",
    show_envvar=True,
    help="How to tell what was found.",
)
@click.option("-o", "--output-file", type=click.Path(path_type=Path), help="Write the report to this file.")
@click.option("--select", multiple=True, metavar="RULE", help="Run these rules only: names, codes or prefixes (IDM1).")
@click.option("--ignore", multiple=True, metavar="RULE", help="Do not run these rules.")
@click.option("--extend-select", multiple=True, metavar="RULE", help="Run these rules too.")
@click.option("--config", multiple=True, metavar="FILE|KEY=VALUE", help="Settings: a file, or one setting in TOML.")
@click.option("--min-severity", type=_choice(Severity), help="Show findings at least this bad (default: warning).")
@click.option("--min-confidence", type=_choice(Confidence), help="Show findings at least this sure (default: medium).")
@click.option("--fail-on", type=_choice(FailOn), help="Exit 1 for what is shown and at least this bad (default: note).")
@click.option("-e", "--exit-zero", is_flag=True, help="Exit 0 whatever is found.")
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave these files out, as .gitignore would.")
@click.option("--force-exclude", is_flag=True, help="Leave out what is excluded even where PATHS names it.")
@click.option(
    "--report-only-paths",
    is_flag=True,
    help="The project is that of the working folder; PATHS only choose what is reported.",
)
@click.option("--root", type=click.Path(path_type=Path), help="The project's folder, where it is not plain.")
@click.option("--isolated", is_flag=True, help="Read no configuration; the paths given are the whole project.")
@click.option("--sarif-category", metavar="NAME", help="Name this run beside others of the repository, for SARIF.")
@click.option("--sarif-root", type=click.Path(path_type=Path), help="The folder that SARIF's paths start at.")
@click.option(
    "-j", "--jobs", type=click.IntRange(1), help="Work with this many processes, two at the most (default: as fits)."
)
@_color_option
@click.option("-q", "--quiet", is_flag=True, help="Print findings and nothing else.")
@click.option("-v", "--verbose", is_flag=True, help="Say on standard error what is done.")
@click.option("--show-settings", is_flag=True, help="Print the settings and look at no code.")
@click.option("--show-files", is_flag=True, help="Print the files that would be read.")
@click.option("--statistics", is_flag=True, help="Print how often each rule speaks.")
@click.option("--show-suppressed", is_flag=True, help="Show what comments suppress too; it fails no run.")
def check(**given: Any) -> int:
    """Check the project that PATHS lie in (default: the working folder).

    The whole project is read. What is reported is what stands in PATHS, or is done by a task that does.
    """
    options = _Options(**given)
    try:
        return _check(options)
    except (click.ClickException, CatalogError, ConfigError, ProjectError, BrokenPipeError):
        raise
    except Exception as error:
        if options.verbose:
            traceback.print_exc()
        _say(f"internal error in {_place(error)}; please report it{'' if options.verbose else ', with what -v says'}")
        return FAILED


@app.command()
@click.argument("rule", metavar="NAME|CODE")
@_color_option
def rule(rule: str, color: str) -> None:
    """Print the page of a rule: what is wrong, an example, its story, the cure."""
    found = one(rule, checks.ALL)
    facts = f"Code {found.code}, severity {found.severity}, since {found.since}."
    try:
        markdown = pages.page(found.name)
    except LookupError as missing:
        raise click.ClickException(str(missing)) from None
    _print(page(markdown, facts, _sheet(color), is_terminal=sys.stdout.isatty()))


@app.command()
@_color_option
def rules(color: str) -> None:
    """List the rules."""
    _print(listing.rules([(rule.code, rule.name, rule.severity, rule.summary) for rule in checks.ALL], _sheet(color)))


def _check(options: _Options) -> int:
    if options.statistics and options.output_format not in _FOR_PEOPLE:
        raise click.UsageError(f"--statistics is for people, --output-format {options.output_format} is not")
    paths = options.paths or (options.root or Path(),)
    read = () if options.report_only_paths else paths
    root = find_root(read, root=options.root, isolated=options.isolated)
    config = load(
        root,
        rules=checks.ALL,
        cwd=Path.cwd(),
        isolated=options.isolated,
        given=options.config,
        options=_layer(options),
    )
    if options.show_settings:
        _print(settings(config, root=root, every_rule=[rule.name for rule in checks.ALL]))
        return CLEAN
    project = discover(
        read,
        root=options.root,
        isolated=options.isolated,
        exclude=[glob for pattern in config.exclude for glob in rebased(pattern, root)],
        source_roots=config.source_roots,
        force_exclude=options.force_exclude,
    )
    place = seen_from(Path.cwd(), root)
    in_repository = seen_from(repository(root, options.sarif_root), root)
    if options.show_files:
        _print("".join(f"{place(file.path)}\n" for file in project.files))
        return CLEAN
    report = _report(project, config, options)
    visible = shown(report, config, root=project.root, wanted=project.within(paths), suppressed=options.show_suppressed)
    if options.verbose:
        for line in remarks(report, place):
            _say(line)
        _say(f"{len(report.findings) - len(visible.findings)} findings are not shown")
    code = FOUND if fails(visible, config) and not options.exit_zero else CLEAN
    spoken = {finding.rule for finding in visible.findings}
    scan = Scan(
        rules=tuple(rule for rule in checks.ALL if config.runs(rule.name) or rule.name in spoken),
        data=project.data,
        text=project.text,
        in_repository=in_repository,
        category=options.sarif_category,
        exit_code=code,
        version=version("idemlint"),
    )
    _tell(visible, options, place, scan)
    return code


def _layer(options: _Options) -> Layer:
    return Layer(
        folder=Path.cwd(),
        source=None,
        select=_split(options.select) or None,
        ignore=_split(options.ignore),
        extend_select=_split(options.extend_select),
        exclude=_split(options.exclude),
        min_severity=_member(options.min_severity, Severity),
        min_confidence=_member(options.min_confidence, Confidence),
        fail_on=_member(options.fail_on, FailOn),
    )


def _split(values: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip())


def _member(word: str | None, kind: type[E]) -> E | None:
    return None if word is None else chosen(word, kind)


def _report(project: Project, config: Config, options: _Options) -> Report:
    # The analysis takes longer to import than `idemlint rules` to run.
    from idemlint.engine import check

    if options.verbose:
        _say(f"root: {project.root}")
        _say(f"settings: {', '.join(map(str, config.sources)) or 'none'}")
        _say(f"files: {len(project.files)}")
    with _progress(options) as progress:
        return check(project, config, progress, unknown=options.verbose, jobs=options.jobs or _jobs(project))


def _jobs(project: Project) -> int:
    """A second process costs a small project more than it saves, and one processor everybody."""
    return 2 if len(project.files) >= _MANY and (os.cpu_count() or 1) > 1 else 1


@contextmanager
def _progress(options: _Options) -> Iterator[Callable[[str, int, int], None] | None]:
    if options.quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    with progress_bar(sys.stderr, color=takes_color(options.color, os.environ, is_terminal=True)) as tell:
        yield tell


def _tell(report: Report, options: _Options, place: Callable[[str], str], scan: Scan) -> None:
    to_file = options.output_file is not None
    sheet = _sheet(options.color, place=place, closing=not options.quiet, to_file=to_file, scan=scan)
    if options.statistics:
        text = listing.statistics(report, sheet) + ("" if options.quiet else f"{closing(report)}\n")
    else:
        text = FORMATS[options.output_format](report, sheet)
    if options.output_file is None:
        _print(text, None if options.output_format in _FOR_PEOPLE else "utf-8")
        return
    try:
        options.output_file.write_bytes(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise click.ClickException(f"--output-file: {options.output_file}: {error.strerror}") from None
    if not options.quiet:
        _say(closing(report))


def _sheet(
    color: str,
    *,
    place: Callable[[str], str] = str,
    closing: bool = True,
    to_file: bool = False,
    scan: Scan = NO_SCAN,
) -> Sheet:
    is_terminal = sys.stdout.isatty() and not to_file
    return Sheet(
        place=place,
        width=WIDTH_OF_A_FILE if to_file else width(),
        color=takes_color(color, os.environ, is_terminal=is_terminal),
        link=pages.address if is_terminal else unlinked,
        closing=closing,
        scan=scan,
    )


def _print(text: str, encoding: str | None = None) -> None:
    """Write to standard output, in its own encoding if none is given, with escapes for what that lacks. A reader who
    has left is no error."""
    try:
        sys.stdout.buffer.write(text.encode(encoding or sys.stdout.encoding, "backslashreplace"))
        sys.stdout.flush()
    except OSError as error:
        # The interpreter flushes once more at the end, and would complain of it again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise click.ClickException(f"standard output: {error.strerror}") from None


def _say(text: str) -> None:
    click.echo(f"idemlint: {text}", err=True)


def _failed(message: str) -> int:
    _say(f"error: {' '.join(message.split())}")
    return FAILED


def _place(error: Exception) -> str:
    """Where in idemlint an error of its own arose, what it says, and what was being looked at."""
    home = Path(__file__).parent
    frames = [(Path(frame.filename), frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    file, line = [frame for frame in frames if frame[0].is_relative_to(home)][-1]
    said = " ".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())]).split()
    return f"{file.relative_to(home).as_posix()}:{line}: {' '.join(said)}"
