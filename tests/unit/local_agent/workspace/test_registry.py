"""Which folders are open to tasks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from common.errors import ConfigError, InputError
from common.home import Home
from local_agent.sandbox.toolchains import Toolchain
from local_agent.workspace.registry import FILE, Registry


@pytest.fixture
def home(tmp_path: Path) -> Path:
    path = tmp_path.resolve() / "home"
    (path / "project").mkdir(parents=True)
    return path


@pytest.fixture
def registry(home: Path) -> Registry:
    places = Home(home / ".config/cb", home / ".local/cb", home / ".run/cb")
    return Registry(places, home=home)


def _file(home: Path) -> Path:
    return home / ".config/cb" / FILE


def test_an_added_workspace_is_found_again_by_name(registry: Registry, home: Path) -> None:
    (home / "tools/bin").mkdir(parents=True)
    tool = Toolchain(
        kind="x", paths=(home / "tools",), bin_dirs=(home / "tools/bin",), env=(("A", "1"),)
    )
    added = registry.add(
        home / "project",
        name="web",
        test_command="pytest -q",
        confirmed=(tool,),
        pass_env=("DATABASE_URL",),
        deny=("private/*",),
    )
    assert registry.find("web") == added
    assert registry.load() == [added]
    assert (added.path, added.toolchains, added.default) == (home / "project", (tool,), True)


@pytest.mark.requirement("R3")
def test_the_list_is_a_private_file_of_the_config_directory(registry: Registry, home: Path) -> None:
    registry.add(home / "project")
    assert _file(home).stat().st_mode & 0o777 == 0o600
    _file(home).chmod(0o644)
    with pytest.raises(ConfigError) as caught:
        registry.load()
    assert caught.value.code == "config.file-readable-by-others"


@pytest.mark.parametrize(
    ("folder", "name"),
    [("My Project", "my-project"), ("a__b", "a-b"), ("项目", "workspace"), ("x" * 40, "x" * 32)],
)
def test_the_name_comes_from_the_folder(
    registry: Registry, home: Path, folder: str, name: str
) -> None:
    (home / folder).mkdir()
    assert registry.add(home / folder).name == name


def test_the_first_is_the_default_until_another_is_made_so(registry: Registry, home: Path) -> None:
    for name in ("one", "two"):
        (home / name).mkdir()
        registry.add(home / name)
    assert registry.find().name == "one"
    assert registry.make_default("two").default
    assert registry.find().name == "two"
    assert [entry.default for entry in registry.load()] == [False, True]


def test_removing_the_default_makes_another_one_it(registry: Registry, home: Path) -> None:
    for name in ("one", "two"):
        (home / name).mkdir()
        registry.add(home / name)
    registry.remove("one")
    assert registry.find().name == "two"
    registry.remove("two")
    assert registry.load() == []
    assert (home / "two").is_dir()


def test_adding_it_again_by_name_or_by_folder_keeps_what_is_not_given(
    registry: Registry, home: Path
) -> None:
    tool = Toolchain(kind="x", paths=(home / "project",), bin_dirs=())
    first = registry.add(
        home / "project", name="web", deny=("a",), pass_env=("B",), confirmed=(tool,)
    )
    again = registry.add(home / "project", name="web", test_command="make test")
    assert again == replace(first, test_command="make test")
    assert registry.add(home / "project", deny=()) == replace(again, deny=())
    assert registry.add(home / "project", confirmed=()).toolchains == ()
    assert [entry.name for entry in registry.load()] == ["web"]
    assert again.default


def test_another_folder_takes_a_name_over_only_when_it_is_given(
    registry: Registry, home: Path
) -> None:
    (home / "other/project").mkdir(parents=True)
    tool = Toolchain(kind="x", paths=(home / "project",), bin_dirs=())
    registry.add(home / "project", test_command="make", confirmed=(tool,))
    with pytest.raises(InputError) as caught:
        registry.add(home / "other/project")
    assert caught.value.code == "workspace.name-taken"
    moved = registry.add(home / "other/project", name="project")
    assert (moved.path, moved.test_command) == (home / "other/project", "make")
    assert moved.toolchains == (), "they belong to the folder"
    assert registry.load() == [moved]


def test_of_several_names_of_a_folder_the_default_is_meant(registry: Registry, home: Path) -> None:
    registry.add(home / "project", name="one")
    registry.add(home / "project", name="two")
    for name in ("one", "two"):
        registry.make_default(name)
        known = registry.known(home / "project")
        assert known is not None
        assert known.name == name


def test_a_path_is_stored_as_the_real_one(registry: Registry, home: Path) -> None:
    (home / "link").symlink_to(home / "project")
    assert registry.add(home / "link").path == home / "project"


@pytest.mark.requirement("P8")
@pytest.mark.parametrize(
    ("path", "code"),
    [
        (".", "workspace.forbidden"),
        ("..", "workspace.forbidden"),
        ("/", "workspace.forbidden"),
        ("/etc/ssl", "workspace.forbidden"),
        ("/proc/self", "workspace.forbidden"),
        ("link-home", "workspace.forbidden"),
        (".config", "workspace.nested"),
        (".config/cb", "workspace.nested"),
        (".local/cb/inner", "workspace.nested"),
        ("file", "workspace.not-a-folder"),
        ("absent", "workspace.not-a-folder"),
        ("loop", "workspace.not-a-folder"),
    ],
)
def test_a_folder_that_must_not_be_open_is_refused(
    registry: Registry, home: Path, path: str, code: str
) -> None:
    (home / "link-home").symlink_to(home)
    (home / "loop").symlink_to(home / "loop")
    (home / "file").touch()
    for name in (".config/cb", ".local/cb/inner", ".run/cb"):
        (home / name).mkdir(parents=True)
    with pytest.raises(InputError) as caught:
        registry.add(home / path)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        ({"name": "Web"}, "workspace.name"),
        ({"name": "a b"}, "workspace.name"),
        ({"name": "x" * 33}, "workspace.name"),
        ({"name": "web\n"}, "workspace.name"),
        ({"test_command": ""}, "workspace.command"),
        ({"test_command": "x" * 20_001}, "workspace.command"),
        ({"pass_env": ("A B",)}, "workspace.variable"),
        ({"pass_env": ("LD_PRELOAD",)}, "workspace.variable"),
        ({"pass_env": ("1A",)}, "workspace.variable"),
    ],
)
def test_what_cannot_be_stored_is_refused(
    registry: Registry, home: Path, facts: dict[str, str], code: str
) -> None:
    with pytest.raises(InputError) as caught:
        registry.add(home / "project", **facts)  # type: ignore[arg-type]  # wrong on purpose
    assert caught.value.code == code
    assert registry.load() == []


def test_a_toolchain_that_is_too_wide_is_refused(registry: Registry, home: Path) -> None:
    wide = Toolchain(kind="x", paths=(home,), bin_dirs=())
    with pytest.raises(InputError) as caught:
        registry.add(home / "project", confirmed=(wide,))
    assert caught.value.code == "toolchain.too-wide"


def test_there_is_an_end_to_workspaces(
    registry: Registry, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("local_agent.workspace.registry.MAX_WORKSPACES", 1)
    registry.add(home / "project", name="one")
    with pytest.raises(InputError) as caught:
        registry.add(home / "project", name="two")
    assert caught.value.code == "workspace.too-many"


def test_unknown_names_are_told_apart_from_none(registry: Registry, home: Path) -> None:
    codes = []
    for name in (None, "web"):
        with pytest.raises(InputError) as caught:
            registry.find(name)
        codes.append(caught.value.code)
    with pytest.raises(InputError) as caught:
        registry.make_default("web")
    assert [*codes, caught.value.code] == [
        "workspace.none",
        "workspace.unknown",
        "workspace.unknown",
    ]


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "not json", '{"v":2,"workspaces":[]}', '{"v":1,"workspaces":[{}]}']
)
def test_a_file_that_is_not_ours_is_one_clear_error(
    registry: Registry, home: Path, text: str
) -> None:
    registry.add(home / "project")
    _file(home).write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        registry.load()
    assert caught.value.code == "workspace.file"


def test_the_file_is_plain_json(registry: Registry, home: Path) -> None:
    registry.add(home / "project")
    assert json.loads(_file(home).read_text(encoding="utf-8"))["workspaces"][0]["name"] == "project"


def test_toolchains_are_found_for_the_person_to_confirm(registry: Registry, home: Path) -> None:
    (home / "project/Cargo.toml").touch()
    (home / ".cargo/bin").mkdir(parents=True)
    (home / ".cargo/bin/cargo").touch()
    assert [found.kind for found in registry.inspect(home / "project", {})] == ["cargo"]
    with pytest.raises(InputError):
        registry.inspect(home, {})


@pytest.mark.parametrize(("first", "second"), [("out", "out/in"), ("out/in", "out")])
def test_a_workspace_inside_another_is_refused(
    registry: Registry, home: Path, first: str, second: str
) -> None:
    (home / "out/in").mkdir(parents=True)
    kept = registry.add(home / first, name="first")
    with pytest.raises(InputError) as caught:
        registry.add(home / second, name="second")
    assert caught.value.code == "workspace.overlaps"
    assert registry.load() == [kept]


@pytest.mark.requirement("R53")
def test_a_workspace_discloses_summaries_until_the_person_says_otherwise(
    registry: Registry, home: Path
) -> None:
    added = registry.add(home / "project", name="web", test_command="pytest -q")
    assert (added.disclosure, added.daily_reads, added.daily_bytes) == ("summary", 50, 100_000)
    changed = registry.set_disclosure("web", level="ask", daily_reads=5)
    assert changed == replace(added, disclosure="ask", daily_reads=5)
    assert registry.set_disclosure("web", daily_bytes=0) == replace(changed, daily_bytes=0)
    assert registry.find("web") == replace(changed, daily_bytes=0)


def test_adding_a_workspace_again_keeps_what_it_discloses(registry: Registry, home: Path) -> None:
    registry.add(home / "project", name="web")
    registry.set_disclosure("web", level="full", daily_reads=7, daily_bytes=9)
    again = registry.add(home / "project", name="web", test_command="make test")
    assert (again.disclosure, again.daily_reads, again.daily_bytes) == ("full", 7, 9)


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ({"daily_reads": -1}, "workspace.daily-reads"),
        ({"daily_reads": 10_001}, "workspace.daily-reads"),
        ({"daily_bytes": -1}, "workspace.daily-bytes"),
        ({"daily_bytes": 10_000_001}, "workspace.daily-bytes"),
    ],
)
def test_a_budget_has_bounds(
    registry: Registry, home: Path, wanted: dict[str, int], code: str
) -> None:
    kept = registry.add(home / "project", name="web")
    with pytest.raises(InputError) as caught:
        registry.set_disclosure(
            "web", daily_reads=wanted.get("daily_reads"), daily_bytes=wanted.get("daily_bytes")
        )
    assert caught.value.code == code
    assert registry.load() == [kept]


def test_only_a_known_workspace_can_be_set(registry: Registry) -> None:
    with pytest.raises(InputError) as caught:
        registry.set_disclosure("nowhere", level="full")
    assert caught.value.code == "workspace.unknown"


def _with(home: Path, **fields: object) -> None:
    stored = json.loads(_file(home).read_text(encoding="utf-8"))
    stored["workspaces"][0] |= fields
    _file(home).write_text(json.dumps(stored), encoding="utf-8")


def test_a_file_of_before_there_were_levels_discloses_summaries(
    registry: Registry, home: Path
) -> None:
    added = registry.add(home / "project")
    stored = json.loads(_file(home).read_text(encoding="utf-8"))
    for name in ("disclosure", "daily_reads", "daily_bytes"):
        del stored["workspaces"][0][name]
    _file(home).write_text(json.dumps(stored), encoding="utf-8")
    assert registry.load() == [added]


@pytest.mark.requirement("R4")
@pytest.mark.parametrize(
    "fields",
    [
        {"disclosure": "everything"},
        {"disclosure": None},
        {"daily_reads": "50"},
        {"daily_reads": True},
        {"daily_bytes": -1},
        {"daily_bytes": 10_000_001},
    ],
)
def test_a_level_nobody_knows_opens_nothing(
    registry: Registry, home: Path, fields: dict[str, object]
) -> None:
    registry.add(home / "project")
    _with(home, **fields)
    with pytest.raises(ConfigError) as caught:
        registry.load()
    assert caught.value.code == "workspace.file"


def test_what_linters_leave_is_named_and_kept(registry: Registry, home: Path) -> None:
    registry.add(home / "project", name="shop")
    changed = registry.set_diagnostics("shop", ["build/ruff.txt", "build/ruff.txt", "mypy.log"])
    assert changed.diagnostics == ("build/ruff.txt", "mypy.log")
    assert registry.find("shop") == changed
    assert registry.add(home / "project", test_command="make").diagnostics == changed.diagnostics
    assert registry.set_diagnostics("shop", []).diagnostics == ()


@pytest.mark.requirement("R52")
@pytest.mark.parametrize("path", ["/etc/passwd", "../up", ".env", "a//b", ""])
def test_a_file_that_may_not_be_read_cannot_be_named_for_diagnostics(
    registry: Registry, home: Path, path: str
) -> None:
    registry.add(home / "project", name="shop")
    for files in ([path], ["a"] * 11):
        with pytest.raises(InputError) as caught:
            registry.set_diagnostics("shop", files)
        assert caught.value.code == "workspace.diagnostics"
    assert registry.find("shop").diagnostics == ()


def test_a_list_of_before_there_were_diagnostics_is_read(registry: Registry, home: Path) -> None:
    registry.add(home / "project", name="shop")
    stored = json.loads(_file(home).read_text(encoding="utf-8"))
    del stored["workspaces"][0]["diagnostics"]
    _file(home).write_text(json.dumps(stored), encoding="utf-8")
    assert registry.find("shop").diagnostics == ()
