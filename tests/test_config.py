"""Settings: what is read, what wins, and what is said about what nobody can obey."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idemlint.config import Config, ConfigError, FailOn, Layer, Pattern, Scope, load, rebased
from idemlint.diagnostic import Confidence, Severity


@dataclasses.dataclass(frozen=True)
class Rule:
    name: str
    code: str


KEY = Rule("unstable-idempotency-key", "IDM102")
MESSAGE = Rule("unguarded-message", "IDM104")
UPDATE = Rule("read-modify-write", "IDM301")
APPEND = Rule("append-on-replay", "IDM303")
RULES = (KEY, MESSAGE, UPDATE, APPEND)
EVERY_RULE = frozenset(rule.name for rule in RULES)


def configured(start: Path, *given: str, options: Layer | None = None, isolated: bool = False) -> Config:
    return load(start, rules=RULES, cwd=start, given=given, options=options, isolated=isolated)


def wrong(start: Path, *given: str, options: Layer | None = None) -> str:
    with pytest.raises(ConfigError) as raised:
        configured(start, *given, options=options)
    return str(raised.value)


def written(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_without_a_file_the_standard_settings_hold(tmp_path: Path) -> None:
    assert configured(tmp_path, isolated=True) == Config(rules=EVERY_RULE)


def test_every_key_is_read(tmp_path: Path) -> None:
    written(tmp_path / "acme.toml", "")
    file = written(
        tmp_path / "pyproject.toml",
        """
        [tool.idemlint]
        select = ["IDM1", "read-modify-write"]
        ignore = ["IDM104"]
        extend-select = ["append-on-replay"]
        exclude = ["legacy/"]
        source-roots = ["src"]
        settings-module = "shop.settings"
        catalogs = ["tools/../acme.toml"]
        min-severity = "note"
        min-confidence = "low"
        fail-on = "never"
        scope = "project"

        [tool.idemlint.severity]
        IDM3 = "note"
        read-modify-write = "error"

        [tool.idemlint.per-file-ignores]
        "scripts/*.py" = ["IDM3"]
        """,
    )
    assert configured(tmp_path) == Config(
        rules=frozenset({KEY.name, UPDATE.name, APPEND.name}),
        per_file_ignores=((Pattern(tmp_path, "scripts/*.py"), frozenset({UPDATE.name, APPEND.name})),),
        severity=((APPEND.name, Severity.NOTE), (UPDATE.name, Severity.ERROR)),
        exclude=(Pattern(tmp_path, "legacy/"),),
        source_roots=(tmp_path / "src",),
        settings_module="shop.settings",
        catalogs=(tmp_path / "acme.toml",),
        min_severity=Severity.NOTE,
        min_confidence=Confidence.LOW,
        fail_on=FailOn.NEVER,
        scope=Scope.PROJECT,
        sources=(file,),
    )


def test_of_the_files_in_one_folder_the_hidden_one_wins_then_idemlint_toml(tmp_path: Path) -> None:
    written(tmp_path / "pyproject.toml", '[tool.idemlint]\nfail-on = "error"')
    assert configured(tmp_path).fail_on is FailOn.ERROR
    written(tmp_path / "idemlint.toml", 'fail-on = "warning"')
    assert configured(tmp_path).fail_on is FailOn.WARNING
    written(tmp_path / ".idemlint.toml", 'fail-on = "never"')
    assert configured(tmp_path).fail_on is FailOn.NEVER


def test_the_nearest_folder_wins_and_nothing_is_merged(tmp_path: Path) -> None:
    written(tmp_path / "idemlint.toml", 'fail-on = "error"\nmin-severity = "note"')
    near = written(tmp_path / "shop" / "idemlint.toml", 'fail-on = "never"')
    assert configured(near.parent) == Config(rules=EVERY_RULE, fail_on=FailOn.NEVER, sources=(near,))


def test_a_pyproject_that_does_not_speak_of_idemlint_is_passed_over(tmp_path: Path) -> None:
    written(tmp_path / "idemlint.toml", 'fail-on = "error"')
    written(tmp_path / "shop" / "pyproject.toml", '[project]\nname = "idemlint-plugin"')
    written(tmp_path / "shop" / "api" / "pyproject.toml", "this is not TOML")
    assert configured(tmp_path / "shop" / "api").fail_on is FailOn.ERROR


def test_a_file_extends_another_and_says_the_last_word(tmp_path: Path) -> None:
    written(tmp_path / "pyproject.toml", '[tool.idemlint]\nfail-on = "error"\nmin-severity = "note"\nexclude = ["a"]')
    written(tmp_path / "shop" / "idemlint.toml", 'extend = "../pyproject.toml"\nfail-on = "never"\nexclude = ["b"]')
    config = configured(tmp_path / "shop")
    assert (config.fail_on, config.min_severity) == (FailOn.NEVER, Severity.NOTE)
    assert config.exclude == (Pattern(tmp_path, "a"), Pattern(tmp_path / "shop", "b"))


def test_the_catalogs_of_all_files_hold_that_of_the_nearest_last(tmp_path: Path) -> None:
    for name in ("common.toml", "general.toml", "shop/own.toml"):
        written(tmp_path / name, "")
    written(tmp_path / "pyproject.toml", '[tool.idemlint]\ncatalogs = ["common.toml", "general.toml"]')
    written(
        tmp_path / "shop" / "idemlint.toml", 'extend = "../pyproject.toml"\ncatalogs = ["own.toml", "../common.toml"]'
    )
    assert configured(tmp_path / "shop").catalogs == (
        tmp_path / "general.toml",
        tmp_path / "shop" / "own.toml",
        tmp_path / "common.toml",
    )


def test_options_beat_assignments_and_assignments_beat_files(tmp_path: Path) -> None:
    written(tmp_path / "idemlint.toml", 'fail-on = "error"\nmin-severity = "note"\nscope = "project"')
    options = Layer(folder=tmp_path, source=None, fail_on=FailOn.NOTE)
    config = configured(tmp_path, 'fail-on = "never"', 'min-severity = "error"', options=options)
    assert (config.fail_on, config.min_severity, config.scope) == (FailOn.NOTE, Severity.ERROR, Scope.PROJECT)


def test_a_named_file_replaces_the_one_that_would_be_found(tmp_path: Path) -> None:
    written(tmp_path / "idemlint.toml", 'fail-on = "error"')
    other = written(tmp_path / "ci" / "strict.toml", 'min-severity = "note"')
    assert configured(tmp_path, "ci/strict.toml") == Config(
        rules=EVERY_RULE, min_severity=Severity.NOTE, sources=(other,)
    )


def test_isolated_reads_no_file_but_takes_assignments(tmp_path: Path) -> None:
    written(tmp_path / "idemlint.toml", 'fail-on = "error"\nmin-severity = "note"')
    assert configured(tmp_path, "fail-on=never", isolated=True) == Config(rules=EVERY_RULE, fail_on=FailOn.NEVER)
    with pytest.raises(ConfigError, match=r"idemlint\.toml cannot be read with --isolated"):
        configured(tmp_path, "idemlint.toml", isolated=True)


@pytest.mark.parametrize("assignment", ['fail-on="never"', "fail-on=never", " fail-on = never "])
def test_an_assignment_may_have_lost_its_quotes_to_the_shell(tmp_path: Path, assignment: str) -> None:
    assert configured(tmp_path, assignment).fail_on is FailOn.NEVER


def test_an_assignment_reaches_into_tables(tmp_path: Path) -> None:
    config = configured(tmp_path, 'severity.IDM301 = "note"', 'per-file-ignores."tools/" = ["ALL"]')
    assert config.severity == ((UPDATE.name, Severity.NOTE),)
    assert config.per_file_ignores == ((Pattern(tmp_path, "tools/"), EVERY_RULE),)


def layer(select: str | None = None, ignore: str = "", extend_select: str = "") -> Layer:
    return Layer(
        folder=Path("/"),
        source=None,
        select=None if select is None else tuple(select.split()),
        ignore=tuple(ignore.split()),
        extend_select=tuple(extend_select.split()),
    )


@pytest.mark.parametrize(
    ("file", "options", "running"),
    [
        ("", layer(), {KEY, MESSAGE, UPDATE, APPEND}),
        ("select = ['IDM1']", layer(), {KEY, MESSAGE}),
        ("select = ['ALL']\nignore = ['IDM1', 'IDM301']", layer(), {APPEND}),
        ("select = ['IDM104']\nignore = ['IDM1']", layer(), {MESSAGE}),
        ("select = ['IDM1']\nignore = ['IDM104']", layer(), {KEY}),
        ("select = ['IDM104']\nignore = ['unguarded-message']", layer(), set()),
        ("select = ['IDM1']", layer(extend_select="IDM301"), {KEY, MESSAGE, UPDATE}),
        ("select = ['IDM1']", layer(ignore="IDM104"), {KEY}),
        ("ignore = ['IDM301']", layer(select="IDM301"), {UPDATE}),
        ("ignore = ['IDM301']", layer(extend_select="read-modify-write"), {KEY, MESSAGE, UPDATE, APPEND}),
        ("ignore = ['IDM301']", layer(ignore="IDM1"), {APPEND}),
    ],
)
def test_the_more_specific_selector_wins_and_the_command_line_last(
    tmp_path: Path, file: str, options: Layer, running: set[Rule]
) -> None:
    written(tmp_path / "idemlint.toml", file)
    assert configured(tmp_path, options=options).rules == frozenset(rule.name for rule in running)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("slect = ['IDM1']", 'idemlint.toml:1: slect: unknown key; did you mean "select"?'),
        ("zzz = 1", "idemlint.toml:1: zzz: unknown key"),
        ("select = 'IDM1'", "idemlint.toml:1: select: expected a list of strings, found a string"),
        ("select = ['IDM1', 2]", "idemlint.toml:1: select[1]: expected a string, found an integer"),
        ("settings-module = true", "idemlint.toml:1: settings-module: expected a string, found a boolean"),
        ("severity = ['IDM1']", "idemlint.toml:1: severity: expected a table, found a list"),
        (
            "fail-on = 'eror'",
            "idemlint.toml:1: fail-on: expected one of note, warning, error, never, "
            'found "eror"; did you mean "error"?',
        ),
        (
            "severity.IDM301 = 'off'",
            'idemlint.toml:1: severity.IDM301: expected one of note, warning, error, found "off"',
        ),
        (
            "select = ['read-modify-wrte']",
            'idemlint.toml:1: select: unknown rule "read-modify-wrte"; did you mean "read-modify-write"?',
        ),
        ("ignore = ['idm301']", 'idemlint.toml:1: ignore: unknown rule "idm301"; did you mean "IDM301"?'),
        ("severity.IDM9 = 'note'", 'idemlint.toml:1: severity: unknown rule "IDM9"'),
        (
            "per-file-ignores.'a/*' = ['IDM9']",
            'idemlint.toml:1: per-file-ignores."a/*": unknown rule "IDM9"',
        ),
        ("per-file-ignores.'a/*' = 'IDM1'", 'idemlint.toml:1: per-file-ignores."a/*": expected a list of strings'),
        ("catalogs = 'a.toml'", "idemlint.toml:1: catalogs: expected a list of strings, found a string"),
        (
            "catalogs = ['idemlnt.toml']",
            'idemlint.toml:1: catalogs[0]: there is no file "idemlnt.toml"; did you mean "idemlint.toml"?',
        ),
        ("catalogs = ['none/here.toml']", 'idemlint.toml:1: catalogs[0]: there is no file "none/here.toml"'),
        ("extend = 3", "idemlint.toml:1: extend: expected a string, the path of a file"),
        ("extend = 'none.toml'", "none.toml: cannot be read: No such file or directory"),
        ("extend = 'idemlint.toml'", "idemlint.toml: extend: idemlint.toml extends itself"),
        ("select = [", "idemlint.toml:1: not valid TOML"),
    ],
)
def test_a_mistake_is_named_with_file_and_key(tmp_path: Path, file: str, said: str) -> None:
    written(tmp_path / "idemlint.toml", file)
    assert wrong(tmp_path).startswith(said)


def test_a_mistake_in_pyproject_is_named_with_its_table(tmp_path: Path) -> None:
    written(tmp_path / "shop" / "pyproject.toml", "[tool.idemlint")
    with pytest.raises(ConfigError, match=r"^shop/pyproject\.toml:1: not valid TOML"):
        load(tmp_path / "shop", rules=RULES, cwd=tmp_path)
    written(tmp_path / "pyproject.toml", "[tool.idemlint]\nmin-confidnce = 'low'")
    said = 'pyproject.toml:2: tool.idemlint.min-confidnce: unknown key; did you mean "min-confidence"?'
    assert wrong(tmp_path) == said


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("ignore = ['IDM101']\n\nselect = [\n  'IDM101',\n  3,\n]\n", "idemlint.toml:3: select[1]"),
        ("# a\n[severity]\nIDM101 = 'note'\nIDM102 = 'off'\n", "idemlint.toml:4: severity.IDM102"),
        ("[per-file-ignores]\n'a.py' = []\n'b/*.py' = 1\n", 'idemlint.toml:3: per-file-ignores."b/*.py"'),
        ("ignore = []\r\nslect = []\r\n", "idemlint.toml:2: slect"),
        ("ignore = []\nselect = 'IDM101\n", "idemlint.toml:2: not valid TOML"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str, place: str) -> None:
    (tmp_path / "idemlint.toml").write_bytes(text.encode())
    assert wrong(tmp_path).startswith(f"{place}: ")


def test_a_mistake_on_the_command_line_is_named_with_its_option(tmp_path: Path) -> None:
    assert wrong(tmp_path, options=layer(select="IDM9")).startswith('--select: unknown rule "IDM9"')
    assert wrong(tmp_path, "fial-on=never") == '--config: fial-on: unknown key; did you mean "fail-on"?'
    assert wrong(tmp_path, "fail-on=[").startswith("--config: 'fail-on=[' is neither a file nor KEY=VALUE in TOML")
    assert wrong(tmp_path, "none.toml") == "none.toml: cannot be read: No such file or directory"


@pytest.mark.parametrize(
    ("folder", "glob", "root", "seen"),
    [
        ("/repo", "gen/", "/repo", "gen/"),
        ("/repo", "gen/", "/repo/shop", "gen/"),
        ("/repo", "/gen/", "/repo", "/gen/"),
        ("/repo", "shop/gen/*.py", "/repo/shop", "/gen/*.py"),
        ("/repo", "!shop/gen/*.py", "/repo/shop", "!/gen/*.py"),
        ("/repo", "*/gen", "/repo/shop", "/gen"),
        ("/repo", "**/gen/x.py", "/repo/shop", "/**/gen/x.py"),
        ("/repo", "**/shop/x.py", "/repo/shop", "/**/shop/x.py /x.py"),
        ("/repo", "api/gen", "/repo/shop", ""),
        ("/repo", "/shop", "/repo/shop", ""),
        ("/repo/shop", "gen", "/repo", "/shop/**/gen"),
        ("/repo/shop", "/gen", "/repo", "/shop/gen"),
        ("/repo/shop", "a/gen", "/repo", "/shop/a/gen"),
        ("/elsewhere", "a/gen", "/repo", "a/gen"),
    ],
)
def test_a_pattern_keeps_its_meaning_in_another_folder(folder: str, glob: str, root: str, seen: str) -> None:
    assert rebased(Pattern(Path(folder), glob), Path(root)) == tuple(seen.split())


@given(
    depth=st.integers(0, 2),
    glob=st.lists(st.sampled_from(["a", "b", "gen", "*", "**"]), min_size=2, max_size=4).map("/".join),
    path=st.lists(st.sampled_from(["a", "b", "gen"]), min_size=1, max_size=3).map("/".join),
)
def test_a_rebased_pattern_matches_the_same_files(depth: int, glob: str, path: str) -> None:
    pattern = Pattern(Path("/repo"), glob)
    root = pattern.folder.joinpath(*["a", "b"][:depth])
    file = root / path / "x.py"
    # A pattern that covers the root itself is none for what is named on the command line.
    if not any(pattern.matches(folder) for folder in (root, *root.parents)):
        assert any(Pattern(root, seen).matches(file) for seen in rebased(pattern, root)) == pattern.matches(file)


def test_a_pattern_covers_the_files_of_its_own_folder_only() -> None:
    pattern = Pattern(Path("/repo/shop"), "tasks/")
    assert pattern.matches(Path("/repo/shop/tasks/a.py"))
    assert pattern.matches(Path("/repo/shop/api/tasks/a.py"))
    assert not pattern.matches(Path("/repo/tasks/a.py"))
