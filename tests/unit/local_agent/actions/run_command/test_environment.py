"""The environment from scratch, and what a command's first word means."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from common.errors import InputError
from local_agent.actions.run_command import environment
from local_agent.actions.run_command.environment import build_environment, resolve_program
from local_agent.actions.run_command.payload import Executable
from local_agent.sandbox.toolchains import Toolchain
from local_agent.workspace.registry import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    path = tmp_path.resolve() / "project"
    (path / "src").mkdir(parents=True)
    return Workspace(name="project", path=path)


def _tool(path: Path, text: str = "#!/bin/sh\n", mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def _resolve(
    word: str, workspace: Workspace, cwd: str = ".", *, sandboxed: bool = True
) -> Executable:
    return resolve_program(word, workspace, cwd=workspace.path / cwd, sandboxed=sandboxed)


@pytest.mark.requirement("R43")
def test_the_environment_holds_nothing_of_the_agents_own(workspace: Workspace) -> None:
    environ = {"PATH": "/evil", "AWS_SECRET_ACCESS_KEY": "x", "LANG": "de_DE", "LD_PRELOAD": "x"}
    env = build_environment(workspace, environ, home=Path("/home/zhang"), cwd=workspace.path)
    assert env == {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/home/zhang",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "TMPDIR": "/tmp",
        "CI": "1",
        "PWD": str(workspace.path),
    }


@pytest.mark.requirement("R43")
def test_only_listed_variables_are_passed_on_and_none_replaces_ours(workspace: Workspace) -> None:
    entry = Workspace(
        name="project", path=workspace.path, pass_env=("DATABASE_URL", "HOME", "ABSENT")
    )
    environ = {"DATABASE_URL": "sqlite://", "HOME": "/evil", "OTHER": "x"}
    env = build_environment(entry, environ, home=Path("/home/zhang"), cwd=workspace.path)
    assert env["DATABASE_URL"] == "sqlite://"
    assert env["HOME"] == "/home/zhang"
    assert not {"OTHER", "ABSENT"} & env.keys()


def test_toolchains_come_first_on_the_path_and_the_nearest_one_wins(workspace: Workspace) -> None:
    near = Toolchain(
        kind="venv", paths=(Path("/t/a"),), bin_dirs=(Path("/t/a/bin"),), env=(("X", "near"),)
    )
    far = Toolchain(
        kind="pyenv",
        paths=(Path("/t/b"),),
        bin_dirs=(Path("/t/b/bin"), Path("/t/a/bin")),
        env=(("X", "far"), ("Y", "far")),
    )
    entry = Workspace(name="project", path=workspace.path, toolchains=(near, far))
    env = build_environment(entry, {}, home=Path("/home/zhang"), cwd=workspace.path)
    assert env["PATH"].startswith("/t/a/bin:/t/b/bin:/usr/local/sbin:")
    assert (env["X"], env["Y"]) == ("near", "far")


def test_a_bare_name_is_found_in_the_system_alone(workspace: Workspace) -> None:
    found = _resolve("sh", workspace)
    status = Path("/bin/sh").stat()
    assert Path(found.path).name == "sh"
    assert (found.dev, found.ino, found.sha256) == (status.st_dev, status.st_ino, None)


@pytest.mark.requirement("R40")
def test_a_program_of_the_workspace_is_never_found_by_its_bare_name(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    _tool(workspace.path / "sh")
    _tool(workspace.path / "only-here")
    monkeypatch.setenv("PATH", f"{workspace.path}:/usr/bin")
    monkeypatch.chdir(workspace.path)
    assert not Path(_resolve("sh", workspace).path).is_relative_to(workspace.path)
    with pytest.raises(InputError) as caught:
        _resolve("only-here", workspace)
    assert caught.value.code == "command.not-found"


def test_a_program_of_the_workspace_is_named_with_a_dot_and_hashed(workspace: Workspace) -> None:
    tool = _tool(workspace.path / "src/run", "#!/bin/sh\necho hi\n")
    found = _resolve("./run", workspace, "src")
    assert found.path == str(tool)
    assert found.sha256 == hashlib.sha256(tool.read_bytes()).hexdigest()
    assert _resolve("../src/run", workspace, "src") == found
    assert _resolve("src/run", workspace) == found
    assert _resolve(str(tool), workspace) == found


def test_a_venvs_python_is_started_by_its_link_and_known_by_its_target(
    workspace: Workspace, tmp_path: Path
) -> None:
    base = tmp_path.resolve() / "base"
    real = _tool(base / "bin/python3")
    link = workspace.path / ".venv/bin/python"
    link.parent.mkdir(parents=True)
    link.symlink_to(real)
    venv = Toolchain(kind="venv", paths=(workspace.path / ".venv", base), bin_dirs=(link.parent,))
    found = _resolve("python", Workspace(name="p", path=workspace.path, toolchains=(venv,)))
    assert found.path == str(link)
    assert (found.ino, found.sha256) == (real.stat().st_ino, None)


@pytest.mark.parametrize("word", [".venv/bin/python", "./.venv/bin/python"])
def test_a_venv_of_the_systems_python_may_be_named_by_its_path(
    workspace: Workspace, word: str
) -> None:
    link = workspace.path / ".venv/bin/python"
    link.parent.mkdir(parents=True)
    link.symlink_to("/bin/sh")
    found = _resolve(word, workspace)
    assert (found.path, found.sha256) == (str(link), None)
    assert found.ino == Path("/bin/sh").stat().st_ino


def test_without_a_sandbox_a_link_of_the_workspace_still_leads_nowhere_else(
    workspace: Workspace, tmp_path: Path
) -> None:
    _tool(tmp_path.resolve() / "elsewhere/tool")
    (workspace.path / "tool").symlink_to(tmp_path.resolve() / "elsewhere/tool")
    with pytest.raises(InputError) as caught:
        _resolve("./tool", workspace, sandboxed=False)
    assert caught.value.code == "command.outside"


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("no-such-program", "command.not-found"),
        ("./absent", "command.not-found"),
        ("/no/such/program", "command.not-found"),
        ("src/absent", "command.not-found"),
        ("src/../../outside", "command.outside"),
        ("../outside", "command.outside"),
        ("./out-by-link", "command.not-visible"),
        ("out/outside", "command.outside"),
        ("src/..", "command.not-executable"),
        ("./plain", "command.not-executable"),
        ("./src", "command.not-executable"),
        ("/usr", "command.not-executable"),
    ],
)
def test_what_is_no_program_is_refused(workspace: Workspace, word: str, code: str) -> None:
    _tool(workspace.path / "plain", mode=0o644)
    _tool(workspace.path / "src/run")
    _tool(workspace.path.parent / "outside")
    (workspace.path / "out-by-link").symlink_to(workspace.path.parent / "outside")
    (workspace.path / "out").symlink_to(workspace.path.parent)
    with pytest.raises(InputError) as caught:
        _resolve(word, workspace)
    assert caught.value.code == code


def test_a_program_that_the_sandbox_hides_is_refused_beforehand(
    workspace: Workspace, tmp_path: Path
) -> None:
    hidden = _tool(tmp_path.resolve() / "elsewhere/tool")
    with pytest.raises(InputError) as caught:
        _resolve(str(hidden), workspace)
    assert caught.value.code == "command.not-visible"
    assert _resolve(str(hidden), workspace, sandboxed=False).path == str(hidden)


def test_a_program_too_large_to_hash_is_refused(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    _tool(workspace.path / "run", "#!/bin/sh\n" + "#" * 100)
    monkeypatch.setattr(environment, "MAX_PROGRAM_BYTES", 50)
    with pytest.raises(InputError) as caught:
        _resolve("./run", workspace)
    assert caught.value.code == "command.program-too-large"
