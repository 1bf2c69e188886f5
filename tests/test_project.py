"""A project is found whole, its files are named as Python names them, whatever part of it was asked for."""

import os
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from idemlint.project import Project, ProjectError, discover, find_root


def lay(root: Path, *files: str, **texts: str) -> Path:
    for path in files:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(texts.get(path, ""))
    return root


def paths(project: Project) -> list[str]:
    return [file.path for file in project.files]


def modules(project: Project) -> dict[str, str]:
    return {file.path: file.module for file in project.files}


def path_of(project: Project, module: str, near: str = "") -> str | None:
    file = project.named(module, near)
    return file.path if file else None


@pytest.mark.parametrize("mark", ["pyproject.toml", "idemlint.toml", ".idemlint.toml", ".git/HEAD"])
def test_root_is_the_nearest_folder_that_says_so(tmp_path: Path, mark: str) -> None:
    lay(tmp_path, ".git/HEAD", f"inner/{mark}", "inner/shop/tasks.py")
    assert find_root([tmp_path / "inner/shop/tasks.py"]) == tmp_path / "inner"
    assert find_root([tmp_path / "inner/shop"]) == tmp_path / "inner"
    assert find_root([tmp_path / "inner"]) == tmp_path / "inner"
    assert find_root([tmp_path / "inner/shop"], root=tmp_path) == tmp_path


def test_root_is_that_of_the_working_folder_if_nothing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(tmp_path, "pyproject.toml", "shop/tasks.py", "a.py")
    monkeypatch.chdir(tmp_path / "shop")
    assert paths(discover([])) == ["a.py", "shop/tasks.py"]
    monkeypatch.chdir(tmp_path)
    assert paths(discover([Path("shop"), Path("a.py")])) == ["a.py", "shop/tasks.py"]


def test_root_without_any_mark_is_the_folder_named(tmp_path: Path) -> None:
    lay(tmp_path, "shop/tasks.py")
    assert find_root([tmp_path / "shop/tasks.py"]) == tmp_path / "shop"


def test_whole_project_is_found_whichever_part_is_named(tmp_path: Path) -> None:
    lay(tmp_path, "pyproject.toml", "b/x.py", "a/x.py", "c.py", "notes.txt", "stub.pyi")
    for part in ("", "a", "b", "c.py"):
        assert paths(discover([tmp_path / part])) == ["a/x.py", "b/x.py", "c.py"]


def test_isolated_project_is_what_was_named(tmp_path: Path) -> None:
    lay(tmp_path, "pyproject.toml", "shop/__init__.py", "shop/tasks.py", "other.py")
    folder = discover([tmp_path / "shop"], isolated=True)
    assert (folder.root, modules(folder)) == (tmp_path / "shop", {"__init__.py": "shop", "tasks.py": "shop.tasks"})
    file = discover([tmp_path / "shop/tasks.py"], isolated=True)
    assert (file.root, modules(file)) == (tmp_path / "shop", {"tasks.py": "shop.tasks"})
    both = discover([tmp_path / "shop/tasks.py", tmp_path / "other.py"], isolated=True)
    assert (both.root, paths(both)) == (tmp_path, ["other.py", "shop/tasks.py"])


def test_report_can_be_held_to_what_was_named(tmp_path: Path) -> None:
    project = discover([lay(tmp_path, "shop/a.py", "shop/b.py", "shopping.py", "c.py")])

    def asked(*named: str) -> list[str]:
        return list(filter(project.within([tmp_path / name for name in named]), paths(project)))

    assert asked() == asked(".") == paths(project)
    assert asked("shop") == ["shop/a.py", "shop/b.py"]
    assert asked("shop/b.py", "c.py") == ["c.py", "shop/b.py"]


def test_hidden_file_is_read_if_it_is_named(tmp_path: Path) -> None:
    lay(tmp_path, "pyproject.toml", "a.py", "build/b.py", "build/c.py", "old/d.py", "old/e.txt")
    (tmp_path / ".gitignore").write_text("old\n")
    assert paths(discover([tmp_path / "build/b.py"])) == ["a.py", "build/b.py"]
    assert paths(discover([tmp_path / "old"], exclude=["a.py"])) == ["old/d.py"]


def test_program_without_a_suffix_is_read_if_it_is_named(tmp_path: Path) -> None:
    lay(tmp_path, "a.py", "worker", "Makefile", "notes.txt", worker="#!/usr/bin/env python3\n")
    assert paths(discover([tmp_path])) == ["a.py"]
    named = [tmp_path / name for name in ("worker", "Makefile", "notes.txt", "a.py")]
    assert modules(discover(named)) == {"a.py": "a", "worker": "worker"}


@pytest.mark.parametrize(
    ("path", "meant"),
    [("shp", "shop"), ("shop/task.py", "shop/tasks.py"), ("shp/tasks.py", "shop/tasks.py"), ("shop/zebra.py", "")],
)
def test_missing_path_is_an_error_with_a_suggestion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, meant: str
) -> None:
    monkeypatch.chdir(lay(tmp_path, "shop/tasks.py"))
    with pytest.raises(ProjectError) as caught:
        discover([Path(path)])
    assert str(caught.value) == f"no such file or folder: {path}" + (f" (did you mean {meant}?)" if meant else "")


def test_a_folder_that_is_closed_to_us_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(folder: Path) -> None:
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.chdir(lay(tmp_path, "shop/tasks.py"))
    monkeypatch.setattr(os, "scandir", closed)
    with pytest.raises(ProjectError) as caught:
        discover([Path("shop")])
    assert str(caught.value) == "shop: cannot be read: Permission denied"


def test_project_without_python_is_an_error(tmp_path: Path) -> None:
    lay(tmp_path, "pyproject.toml", "docs/index.md")
    with pytest.raises(ProjectError, match="no Python file in"):
        discover([tmp_path])
    lay(tmp_path, "a.py")
    with pytest.raises(ProjectError, match=r"no Python file in .*docs"):
        discover([tmp_path / "docs"])


def test_place_outside_of_the_project_is_an_error(tmp_path: Path) -> None:
    lay(tmp_path, "one/pyproject.toml", "one/a.py", "two/b.py")
    with pytest.raises(ProjectError, match=r"two is outside of the project in .*one"):
        discover([tmp_path / "one", tmp_path / "two"])
    with pytest.raises(ProjectError, match="the root is not a folder"):
        discover([tmp_path / "one"], root=tmp_path / "one/a.py")


def test_links_neither_lead_in_circles_nor_read_a_file_twice(tmp_path: Path) -> None:
    root = lay(tmp_path / "root", "shop/tasks.py")
    lay(tmp_path, "elsewhere.py")
    (root / "shop/again").symlink_to(root, target_is_directory=True)
    (root / "tasks.py").symlink_to("shop/tasks.py")
    (root / "outside.py").symlink_to(tmp_path / "elsewhere.py")
    (root / "twice.py").symlink_to(tmp_path / "elsewhere.py")
    (root / "self.py").symlink_to("self.py")
    (root / "broken.py").symlink_to("nothing.py")
    assert paths(discover([root])) == ["outside.py", "shop/tasks.py"]


def test_link_that_is_named_means_its_target(tmp_path: Path) -> None:
    root = lay(tmp_path / "root", "pyproject.toml", "shop/tasks.py", "other.py")
    (root / "link.py").symlink_to("shop/tasks.py")
    (tmp_path / "way").symlink_to(root / "shop", target_is_directory=True)
    for named in (root / "link.py", tmp_path / "way", tmp_path / "way/tasks.py"):
        project = discover([named])
        assert (project.root, paths(project)) == (root, ["other.py", "shop/tasks.py"])
        assert list(filter(project.within([named]), paths(project))) == ["shop/tasks.py"]


def test_pipe_with_the_name_of_a_source_is_not_opened(tmp_path: Path) -> None:
    lay(tmp_path, "a.py")
    os.mkfifo(tmp_path / "b.py")
    assert paths(discover([tmp_path])) == ["a.py"]


@pytest.mark.parametrize(
    ("path", "beside", "module"),
    [
        ("tasks.py", [], "tasks"),
        ("shop/tasks.py", ["shop/__init__.py"], "shop.tasks"),
        ("shop/__init__.py", [], "shop"),
        ("shop/a/__init__.py", ["shop/__init__.py"], "shop.a"),
        ("src/shop/tasks.py", ["src/shop/__init__.py"], "shop.tasks"),
        ("shop/loose/tasks.py", ["shop/__init__.py"], "tasks"),
        ("shop/migrations/0001_initial.py", ["shop/migrations/__init__.py"], "migrations.0001_initial"),
        ("my-app/shop/tasks.py", ["my-app/__init__.py", "my-app/shop/__init__.py"], "shop.tasks"),
        ("my-app/__init__.py", [], "__init__"),
        ("web/shop/tasks.py", ["web/__init__.py", "web/manage.py", "web/shop/__init__.py"], "shop.tasks"),
    ],
)
def test_module_name_starts_below_the_first_folder_that_is_no_package(
    tmp_path: Path, path: str, beside: list[str], module: str
) -> None:
    project = discover([lay(tmp_path, path, *beside)])
    assert modules(project)[path] == module
    assert path_of(project, module) == path


def test_module_name_starts_above_the_root_if_the_package_does(tmp_path: Path) -> None:
    lay(tmp_path, "shop/__init__.py", "shop/a/__init__.py", "shop/a/tasks.py")
    project = discover([tmp_path / "shop/a"], root=tmp_path / "shop/a")
    assert modules(project) == {"__init__.py": "shop.a", "tasks.py": "shop.a.tasks"}
    assert path_of(project, "shop.a.tasks") == path_of(project, "tasks") == "tasks.py"


def test_module_name_starts_at_a_source_root_that_is_given(tmp_path: Path) -> None:
    lay(tmp_path, "lib/space/shop/tasks.py", "lib/__init__.py", "other/__init__.py", "other/b.py")
    project = discover([tmp_path], source_roots=[tmp_path / "lib"])
    assert modules(project)["lib/space/shop/tasks.py"] == "space.shop.tasks"
    assert modules(project)["other/b.py"] == "other.b"


def test_module_of_a_namespace_package_is_found_by_its_longer_names(tmp_path: Path) -> None:
    project = discover([lay(tmp_path, "src/space/shop/__init__.py", "src/space/shop/tasks.py", "a/b/c.py")])
    assert path_of(project, "space.shop.tasks") == "src/space/shop/tasks.py"
    assert path_of(project, "src.space.shop.tasks") == "src/space/shop/tasks.py"
    assert path_of(project, "space.shop") == "src/space/shop/__init__.py"
    assert path_of(project, "a.b.c") == "a/b/c.py"


def test_module_inside_a_package_is_not_found_by_its_last_name(tmp_path: Path) -> None:
    project = discover([lay(tmp_path, "shop/__init__.py", "shop/requests.py", "shop/x/__init__.py", "shop/x/api.py")])
    assert path_of(project, "requests") is path_of(project, "x.api") is None


def test_of_two_modules_with_one_name_the_nearer_is_meant(tmp_path: Path) -> None:
    files = [
        f"{service}/app/{name}.py" for service in ("billing", "orders") for name in ("__init__", "models", "tasks")
    ]
    project = discover([lay(tmp_path, *files, "orders/tests/test_app.py")])
    assert path_of(project, "app.models") == "billing/app/models.py"
    assert path_of(project, "app.models", "orders/app/tasks.py") == "orders/app/models.py"
    assert path_of(project, "app.models", "orders/tests/test_app.py") == "orders/app/models.py"
    assert [file.path for file in project.candidates("app.models")] == ["billing/app/models.py", "orders/app/models.py"]


def test_package_is_meant_before_the_module_beside_it(tmp_path: Path) -> None:
    project = discover([lay(tmp_path, "shop.py", "shop/__init__.py")])
    assert path_of(project, "shop") == "shop/__init__.py"


def mentioning(project: Project, words: Iterable[str]) -> list[str]:
    return [file.path for file in project.mentioning(words)]


def test_files_are_found_by_the_whole_words_in_them(tmp_path: Path) -> None:
    texts = {
        "call.py": "send.delay(1)",
        "string.py": "x = 'task.delay'",
        "longer.py": "delayed = un_delay = délay = 1",
        "accent.py": "délay = 1",
        "empty.py": "",
        "bad.py": "delay = 1",
    }
    project = discover([lay(tmp_path, *texts, **texts)])
    (tmp_path / "bad.py").unlink()
    assert mentioning(project, ["delay"]) == ["call.py", "string.py"]
    assert mentioning(project, ["délay", "x"]) == ["accent.py", "longer.py", "string.py"]
    assert mentioning(project, []) == mentioning(project, ["lay", "nothing"]) == []


def test_large_project_is_searched_in_a_breath(tmp_path: Path) -> None:
    text = "def charge_order(order_id, amount_%d):\n    return gateway.charge(order_id, amount=amount_%d)\n"
    for number in range(100):
        (tmp_path / f"m{number}.py").write_text(text % (number, number) * 1_000)
    (tmp_path / "large.py").write_text("x = 1\n" * 900_000)
    project = discover([tmp_path])
    started = time.perf_counter()
    found = mentioning(project, [f"amount_{number}" for number in range(0, 100, 2)])
    assert len(found) == 50
    assert mentioning(project, ["x"]) == ["large.py"]
    assert len(project.text("large.py")) == 5_400_000
    # About 0.3 s; the bound only tells a scan of every file for every word apart.
    assert time.perf_counter() - started < 5
