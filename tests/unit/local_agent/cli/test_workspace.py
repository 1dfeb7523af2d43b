"""``codexbridge workspace``: what is found is offered; what a person confirms is stored."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import codexbridge
from common.home import Home
from local_agent.workspace.registry import Registry

Captured = pytest.CaptureFixture[str]


class Keyboard(io.StringIO):
    """Standard input with a person at it."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def project(tmp_path: Path, home: Home, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Whatever toolchains the machine of this test has, only the workspace's own are found.
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "nobody")
    for name in ("VIRTUAL_ENV", "PYENV_ROOT", "NVM_DIR", "NVM_BIN", "CARGO_HOME", "GOPATH"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "shop-api"
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\n", encoding="utf-8")
    return folder


def stored(home: Home) -> dict[str, list[str]]:
    registry = Registry(home, home=Path.home())
    return {item.name: [found.kind for found in item.toolchains] for item in registry.load()}


def test_a_workspace_is_added_listed_and_removed(
    home: Home, project: Path, capsys: Captured
) -> None:
    add = ["workspace", "add", str(project), "--name", "shop", "--test", "pytest -q"]
    assert codexbridge.main([*add, "--toolchains", "all"]) == 0
    assert codexbridge.main(["workspace", "list"]) == 0
    out = capsys.readouterr().out
    assert str(project) in out
    assert "pytest -q" in out
    assert codexbridge.main(["workspace", "list", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert (listed["name"], listed["default"]) == ("shop", True)
    assert [found["kind"] for found in listed["toolchains"]] == ["venv"]
    assert codexbridge.main(["workspace", "remove", "shop"]) == 0
    assert stored(home) == {}
    assert project.is_dir()


@pytest.mark.parametrize(("typed", "kinds"), [("y\n", ["venv"]), ("是\n", ["venv"]), ("n\n", [])])
def test_each_toolchain_is_confirmed_at_the_keyboard(
    home: Home, project: Path, monkeypatch: pytest.MonkeyPatch, typed: str, kinds: list[str]
) -> None:
    monkeypatch.setattr("sys.stdin", Keyboard(typed))
    assert codexbridge.main(["workspace", "add", str(project)]) == 0
    assert stored(home) == {"shop-api": kinds}


@pytest.mark.parametrize("typed", ["", "\n", "all\n", "Y es\n"])
def test_anything_but_yes_is_no(
    home: Home, project: Path, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    monkeypatch.setattr("sys.stdin", Keyboard(typed))
    assert codexbridge.main(["workspace", "add", str(project)]) == 0
    assert stored(home) == {"shop-api": []}


def test_where_nobody_can_be_asked_nothing_is_allowed_and_that_is_said(
    home: Home, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert codexbridge.main(["workspace", "add", str(project)]) == 0
    assert stored(home) == {"shop-api": []}
    assert "venv" in capsys.readouterr().out


@pytest.mark.parametrize(("chosen", "kinds"), [("none", []), ("venv", ["venv"])])
def test_toolchains_can_be_named_beforehand(
    home: Home, project: Path, chosen: str, kinds: list[str]
) -> None:
    assert codexbridge.main(["workspace", "add", str(project), "--toolchains", chosen]) == 0
    assert stored(home) == {"shop-api": kinds}


def test_a_toolchain_that_was_not_found_is_refused(
    home: Home, project: Path, capsys: Captured
) -> None:
    assert codexbridge.main(["workspace", "add", str(project), "--toolchains", "venv,rust"]) == 2
    assert "rust" in capsys.readouterr().err
    assert stored(home) == {}


def test_the_default_can_be_chosen(home: Home, project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    none = ["--toolchains", "none"]
    assert codexbridge.main(["workspace", "add", str(project), *none]) == 0
    assert codexbridge.main(["workspace", "add", str(other), "--default", *none]) == 0
    assert Registry(home, home=Path.home()).find().name == "other"


@pytest.mark.parametrize("path", ["/", "/etc", "/nowhere/at/all"])
def test_a_folder_that_cannot_be_one_is_one_line_and_exit_code_2(
    home: Home, capsys: Captured, path: str
) -> None:
    assert codexbridge.main(["workspace", "add", path]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_an_empty_list_says_what_to_do(home: Home, capsys: Captured) -> None:
    assert codexbridge.main(["workspace", "list"]) == 0
    assert "workspace add" in capsys.readouterr().out
    assert codexbridge.main(["workspace", "remove", "x"]) == 2
