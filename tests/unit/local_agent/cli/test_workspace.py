"""``codexbridge workspace``: what is found is offered; what a person confirms is stored."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path

import pygit2
import pytest

import codexbridge
from common.errors import RemoteProtocolError
from common.home import Home
from local_agent.cli import workspace_words
from local_agent.error_texts import ERRORS
from local_agent.propose.scratch import Scratches
from local_agent.words import DISCLOSURES
from local_agent.workspace.registry import Registry, Workspace
from tests.unit.local_agent.cli.conftest import AgentDouble

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
    program = folder / ".venv/bin/pytest"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
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


def kept_trees(home: Home) -> list[str]:
    return sorted(path.name for path in (home.state / "scratch").glob("*"))


def keeps_a_tree(home: Home, folder: Path) -> None:
    """Lend a scratch copy once, as the agent does; the tree stays for the next time."""

    async def lend() -> None:
        workspace = Workspace(name="shop", path=folder)
        async with Scratches(home).lend(workspace, whole=True):
            pass

    asyncio.run(lend())
    assert len(kept_trees(home)) == 1


def test_with_a_workspace_its_copies_go(home: Home, project: Path) -> None:
    assert codexbridge.main(["workspace", "add", str(project), "--name", "shop"]) == 0
    keeps_a_tree(home, project)
    assert codexbridge.main(["workspace", "add", str(project), "--name", "shop"]) == 0
    assert len(kept_trees(home)) == 1
    assert codexbridge.main(["workspace", "remove", "shop"]) == 0
    assert kept_trees(home) == []


def test_with_the_folder_of_a_name_its_copies_go(home: Home, project: Path) -> None:
    assert codexbridge.main(["workspace", "add", str(project), "--name", "shop"]) == 0
    keeps_a_tree(home, project)
    other = project.parent / "other"
    other.mkdir()
    assert codexbridge.main(["workspace", "add", str(other), "--name", "shop"]) == 0
    assert kept_trees(home) == []


@pytest.mark.parametrize("answer", [{}, RemoteProtocolError("control.malformed")])
def test_an_agent_that_runs_removes_the_copies_itself(
    home: Home, project: Path, agent: AgentDouble, answer: dict[str, object] | Exception
) -> None:
    agent.answers["workspaces_changed"] = answer
    assert codexbridge.main(["workspace", "add", str(project), "--name", "shop"]) == 0
    keeps_a_tree(home, project)
    assert codexbridge.main(["workspace", "remove", "shop"]) == 0
    assert [asked.op for asked in agent.asked] == ["workspaces_changed"]
    assert len(kept_trees(home)) == 1


@pytest.mark.parametrize(("typed", "kinds"), [("y\n", ["venv"]), ("是\n", ["venv"]), ("n\n", [])])
def test_each_toolchain_is_confirmed_at_the_keyboard(
    home: Home, project: Path, monkeypatch: pytest.MonkeyPatch, typed: str, kinds: list[str]
) -> None:
    monkeypatch.setattr("sys.stdin", Keyboard(typed))
    assert codexbridge.main(["workspace", "add", str(project)]) == 0
    assert stored(home) == {"shop-api": kinds}


@pytest.mark.parametrize(
    "typed", ["", "\n", "no\n", "不\n", "all\n", "Y es\n", "maybe\nn\n", "x" * 16 + "y\nn\n"]
)
def test_only_yes_allows_and_anything_else_is_asked_again_or_no(
    home: Home, project: Path, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    monkeypatch.setattr("sys.stdin", Keyboard(typed))
    assert codexbridge.main(["workspace", "add", str(project)]) == 0
    assert stored(home) == {"shop-api": []}


def test_what_is_neither_yes_nor_no_is_asked_again(
    home: Home, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr("sys.stdin", Keyboard("maybe\ny\n"))
    assert codexbridge.main(["workspace", "add", str(project)]) == 0
    assert stored(home) == {"shop-api": ["venv"]}
    assert capsys.readouterr().out.count("[y/N]") == 2


class Interrupted(Keyboard):
    """Whoever sits there presses Ctrl-C."""

    def readline(self, size: int | None = -1) -> str:  # type: ignore[override]  # typeshed: IOBase and TextIO differ
        raise KeyboardInterrupt


def test_ctrl_c_adds_nothing_and_says_so_on_its_own_line(
    home: Home, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr("sys.stdin", Interrupted())
    assert codexbridge.main(["workspace", "add", str(project)]) == 130
    assert stored(home) == {}
    assert capsys.readouterr().out.endswith(f"\n{workspace_words.NOTHING_ADDED.en}\n")


def test_toolchains_that_open_the_same_folder_are_one_question(
    home: Home, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    version = tmp_path / "nobody/.pyenv/versions/3.11.7"
    for file in ("bin/python", "lib/python3.11/os.py"):
        (version / file).parent.mkdir(parents=True)
        (version / file).write_text("#!/bin/sh\n", encoding="utf-8")
    (project / ".python-version").write_text("3.11.7\n", encoding="utf-8")
    (project / ".venv/pyvenv.cfg").write_text(f"home = {version}/bin\n", encoding="utf-8")
    (project / ".venv/bin/python").symlink_to(version / "bin/python")
    (version / "bin/python").chmod(0o755)
    monkeypatch.setattr("sys.stdin", Keyboard("y\n"))
    assert codexbridge.main(["workspace", "add", str(project)]) == 0
    assert stored(home) == {"shop-api": ["venv", "pyenv"]}
    out = capsys.readouterr().out
    assert (out.count("[y/N]"), out.count(str(version))) == (1, 1)


@pytest.mark.requirement("R41", "P7")
@pytest.mark.parametrize(("answer", "kinds"), [("y\n", ["git"]), ("n\n", [])])
def test_git_folders_outside_are_asked_about_and_what_lacks_is_told(
    home: Home, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured,
    answer: str, kinds: list[str],
) -> None:  # fmt: skip
    tmp_path = project.parent
    author = pygit2.Signature("a", "a@example.com")
    main = pygit2.init_repository(tmp_path / "main")
    main.create_commit("HEAD", author, author, "first", main.TreeBuilder().write(), [])
    main.add_worktree("wt", str(tmp_path / "wt"))
    outside = str(tmp_path / "main/.git")
    assert codexbridge.main(["workspace", "add", str(tmp_path / "wt")]) == 0
    out, err = capsys.readouterr()
    assert "git" in out
    assert outside in err
    monkeypatch.setattr("sys.stdin", Keyboard(answer))
    assert codexbridge.main(["workspace", "add", str(tmp_path / "wt")]) == 0
    assert stored(home) == {"wt": kinds}
    assert f"git's folder {outside}" in capsys.readouterr().out
    assert codexbridge.main(["workspace", "list"]) == 0
    assert (outside in capsys.readouterr().err) is not bool(kinds)


# --- the test command ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("foo bar baz", "workspace.test-not-found"),
        ("./absent", "workspace.test-not-found"),
        (".venv/pyvenv.cfg", "workspace.test-not-executable"),
        ("../outside", "workspace.test-hidden"),
        ("pytest 'a", "workspace.test-unreadable"),
        ("", "workspace.test-unreadable"),
    ],
)
def test_a_test_command_that_could_not_start_is_refused_at_once(
    home: Home, project: Path, capsys: Captured, command: str, code: str
) -> None:
    add = ["workspace", "add", str(project), "--toolchains", "all", "--test", command]
    assert codexbridge.main(add) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"codexbridge: {ERRORS[code].en.split(':')[0]}")
    assert said.err.count("\n") == 1
    assert stored(home) == {}


@pytest.mark.parametrize(
    "command", ["sh t.sh", ".venv/bin/pytest -q", "./.venv/bin/pytest", "cd x && make check"]
)
def test_a_test_command_that_can_start_is_taken(home: Home, project: Path, command: str) -> None:
    add = ["workspace", "add", str(project), "--toolchains", "none", "--test", command]
    assert codexbridge.main(add) == 0
    assert Registry(home, home=Path.home()).find().test_command == command


def test_a_program_of_a_toolchain_that_is_not_allowed_is_not_found(
    home: Home, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".venv/bin/pytest").rename(project / ".venv/bin/shop-test")
    add = ["workspace", "add", str(project), "--test", "shop-test"]
    monkeypatch.setattr("sys.stdin", Keyboard("n\n"))
    assert codexbridge.main(add) == 2
    assert stored(home) == {}
    monkeypatch.setattr("sys.stdin", Keyboard("y\n"))
    assert codexbridge.main(add) == 0


# --- adding it again -----------------------------------------------------------------------------


def test_adding_a_folder_again_keeps_what_is_not_given_and_says_so(
    home: Home, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    first = ["--name", "shop", "--test", "pytest -q", "--toolchains", "all", "--pass-env", "CI_URL"]
    assert codexbridge.main(["workspace", "add", str(project), *first]) == 0
    capsys.readouterr()
    monkeypatch.setattr("sys.stdin", Keyboard(""))  # nothing is asked: it was answered before
    assert codexbridge.main(["workspace", "add", str(project), "--deny", "private/**"]) == 0
    out = capsys.readouterr().out
    assert "[y/N]" not in out
    changed, _, kept = out.partition("Kept:")
    assert "private/**" in changed
    for part in ("pytest -q", "venv", "CI_URL"):
        assert part in kept
    assert workspace_words.ADDED_NO_TEST.en not in out
    entry = Registry(home, home=Path.home()).find("shop")
    assert (entry.test_command, entry.deny, entry.pass_env) == (
        "pytest -q",
        ("private/**",),
        ("CI_URL",),
    )
    assert stored(home) == {"shop": ["venv"]}


def test_a_kept_test_command_that_cannot_start_any_more_is_told(
    home: Home, project: Path, capsys: Captured
) -> None:
    add = ["workspace", "add", str(project), "--toolchains"]
    assert codexbridge.main([*add, "all", "--test", "pytest"]) == 0
    assert codexbridge.main([*add, "none"]) == 0
    assert "`pytest`" in capsys.readouterr().out.splitlines()[-1]
    assert stored(home) == {"shop-api": []}


def test_a_toolchain_that_went_away_is_not_kept(
    home: Home, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert codexbridge.main(["workspace", "add", str(project), "--toolchains", "all"]) == 0
    (project / ".venv").rename(project / "venv")
    monkeypatch.setattr("sys.stdin", Keyboard("n\n"))
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


def test_the_list_tells_how_the_policy_of_each_workspace_stands(
    home: Home, project: Path, capsys: Captured
) -> None:
    add = ["workspace", "add", str(project), "--name", "shop", "--toolchains", "none"]
    assert codexbridge.main(add) == 0
    policies = home.config / "policies"
    policies.mkdir(mode=0o700)
    for name in ("shop.toml", "nosuch.toml"):
        (policies / name).write_text("max_file = 3\n", encoding="utf-8")
        (policies / name).chmod(0o600)
    capsys.readouterr()
    assert codexbridge.main(["workspace", "list"]) == 0
    said = capsys.readouterr()
    assert "BROKEN (policies/shop.toml, max_file)" in said.out
    assert "policies/nosuch.toml" in said.err
    assert codexbridge.main(["workspace", "list", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert listed["policy"] == {
        "state": "broken",
        "code": "policy.unknown-key",
        "file": "policies/shop.toml",
        "key": "max_file",
    }


@pytest.mark.requirement("R53")
def test_what_the_chat_may_be_told_is_set_and_listed(
    home: Home, project: Path, capsys: Captured
) -> None:
    add = ["workspace", "add", str(project), "--name", "shop", "--toolchains", "none"]
    assert codexbridge.main(add) == 0
    change = ["workspace", "set", "shop", "--disclosure", "ask", "--daily-reads", "5"]
    assert codexbridge.main([*change, "--daily-bytes", "2000"]) == 0
    assert "ask" not in capsys.readouterr().err
    assert codexbridge.main(["workspace", "list", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    told = (listed["disclosure"], listed["daily_reads"], listed["daily_bytes"])
    assert told == ("ask", 5, 2000)
    assert codexbridge.main(["workspace", "list"]) == 0
    assert DISCLOSURES["ask"].en in capsys.readouterr().out


def test_the_test_command_is_set_alone_and_must_start(
    home: Home, project: Path, capsys: Captured
) -> None:
    add = ["workspace", "add", str(project), "--name", "shop", "--toolchains", "none"]
    assert codexbridge.main(add) == 0
    assert codexbridge.main(["workspace", "set", "shop", "--disclosure", "ask"]) == 0
    capsys.readouterr()
    assert codexbridge.main(["workspace", "set", "shop", "--test", "sh -c true"]) == 0
    assert capsys.readouterr().out == "shop: a bare `@dev test` runs `sh -c true` from now on.\n"
    assert codexbridge.main(["workspace", "set", "shop", "--test", "no-such-program"]) == 2
    (opened,) = Registry(home, home=Path.home()).load()
    assert (opened.test_command, opened.disclosure, opened.default) == ("sh -c true", "ask", True)


def test_opening_everything_says_what_that_means(
    home: Home, project: Path, capsys: Captured
) -> None:
    add = ["workspace", "add", str(project), "--name", "shop", "--toolchains", "none"]
    assert codexbridge.main(add) == 0
    capsys.readouterr()
    assert codexbridge.main(["workspace", "set", "shop", "--disclosure", "full"]) == 0
    assert workspace_words.FULL_MEANS.en in capsys.readouterr().out
    assert codexbridge.main(["workspace", "set", "shop", "--disclosure", "summary"]) == 0
    assert workspace_words.FULL_MEANS.en not in capsys.readouterr().out


@pytest.mark.parametrize(
    "change",
    [
        ["nowhere", "--disclosure", "ask"],
        ["shop", "--disclosure", "everything"],
        ["shop", "--daily-reads", "-1"],
        ["shop", "--daily-bytes", "99999999999"],
    ],
)
def test_what_cannot_be_set_changes_nothing(home: Home, project: Path, change: list[str]) -> None:
    add = ["workspace", "add", str(project), "--name", "shop", "--toolchains", "none"]
    assert codexbridge.main(add) == 0
    before = Registry(home, home=Path.home()).load()
    assert _code(["workspace", "set", *change]) == 2
    assert Registry(home, home=Path.home()).load() == before


def _code(argv: list[str]) -> int:
    try:
        return codexbridge.main(argv)
    except SystemExit as ended:  # how argparse refuses
        return int(ended.code or 0)


def test_files_of_diagnostics_are_named_and_taken_back(
    home: Home, project: Path, capsys: Captured
) -> None:
    codexbridge.main(["workspace", "add", str(project), "--name", "shop", "--toolchains", "none"])
    capsys.readouterr()
    change = ["workspace", "set", "shop", "--diagnostics"]
    assert codexbridge.main([*change, "build/ruff.txt", "mypy.log"]) == 0
    said = capsys.readouterr().out
    assert "build/ruff.txt, mypy.log" in said
    assert len(said.splitlines()) == 1
    assert codexbridge.main(["workspace", "list", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert listed["diagnostics"] == ["build/ruff.txt", "mypy.log"]
    assert codexbridge.main([*change, "../up"]) == 2
    assert codexbridge.main(change) == 0
    assert Registry(home, home=Path.home()).find("shop").diagnostics == ()
    capsys.readouterr()
    assert codexbridge.main([*change, "a.txt", "--disclosure", "ask"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_files_in_no_known_encoding_are_named_and_the_encoding_asked_for(
    home: Home, project: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "old.c").write_bytes("// 注释\n".encode("gbk"))
    add = ["workspace", "add", str(project), "--toolchains", "none"]
    assert codexbridge.main(add) == 0
    assert "codexbridge workspace set shop-api --encoding gbk" in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", Keyboard("rot13\ngbk\n"))
    assert codexbridge.main(add) == 0
    assert "encoding rot13 is not supported" in capsys.readouterr().out
    registry = Registry(home, home=Path.home())
    assert registry.find("shop-api").encoding == "gbk"
    assert codexbridge.main(add) == 0
    assert "old.c" not in capsys.readouterr().out, "it is known by now"
    assert codexbridge.main(["workspace", "set", "shop-api", "--encoding", "utf-8"]) == 0
    assert registry.find("shop-api").encoding is None


def test_a_repository_that_begins_above_is_named(
    home: Home, project: Path, capsys: Captured
) -> None:
    (project.parent / ".git").mkdir()
    assert codexbridge.main(["workspace", "add", str(project), "--toolchains", "none"]) == 0
    assert f"in {project.parent}" in capsys.readouterr().out
    assert Registry(home, home=Path.home()).find("shop-api").path == project
