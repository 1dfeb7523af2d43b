"""The sealed description of a command, and the drift that any change of reality is."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pygit2
import pytest

from common.errors import InputError
from common.seal import Seal
from local_agent.actions.run_command import prepare
from local_agent.actions.run_command.payload import Executable
from local_agent.actions.run_command.prepare import (
    build_environment,
    describe_sealed,
    find_drift,
    resolve_program,
)
from local_agent.sandbox.seccomp import build_filter
from local_agent.sandbox.toolchains import Toolchain
from local_agent.workspace import survey
from local_agent.workspace.registry import Workspace
from local_agent.workspace.survey import MAX_FILE_BYTES
from tests.machine import Machine


async def _drift(machine: Machine, seal: Seal) -> tuple[str, ...]:
    now = await asyncio.to_thread(describe_sealed, machine.around, machine.workspace, seal)
    return find_drift(seal, now)


async def test_a_command_is_described_whole(machine: Machine) -> None:
    (machine.path / "src").mkdir()
    prepared = await machine.prepare("cat 'a b' c", cwd="src", timeout_s=7)
    payload = prepared.payload
    assert payload["argv"] == ["cat", "a b", "c"]
    assert payload["cwd"] == "src"
    assert payload["env_names"] == sorted(prepared.env)
    assert (payload["timeout"], payload["network"]) == (7, False)
    assert payload["sandbox"]["level"] == "none"
    assert prepared.display == "cat 'a b' c"
    assert prepared.cwd == machine.path / "src"
    assert prepared.env["PWD"] == str(machine.path / "src")
    assert prepared.argv[1:] == ("a b", "c")
    assert Path(prepared.argv[0]).is_absolute()
    assert prepared.git_head is None


async def test_a_shell_line_is_sealed_as_one(machine: Machine) -> None:
    prepared = await machine.prepare("echo $HOME | wc -l")
    assert "argv" not in prepared.payload
    assert (prepared.payload["shell"], prepared.payload["script"]) == (
        "/bin/sh",
        "echo $HOME | wc -l",
    )
    assert prepared.argv == ("/bin/sh", "-c", "echo $HOME | wc -l")


@pytest.mark.needs("bubblewrap")
async def test_a_sandboxed_command_starts_with_the_sealed_profile(sandboxed: Machine) -> None:
    prepared = await sandboxed.prepare("cat x")
    assert prepared.payload["sandbox"]["level"] == "bubblewrap"
    assert Path(prepared.argv[0]).name == "bwrap"
    assert prepared.argv[-2:] == (prepared.payload["executable"]["path"], "x")


async def test_no_value_of_the_environment_is_in_the_seal(machine: Machine) -> None:
    entry = replace(machine.workspace, pass_env=("TOKEN",))
    around = replace(machine.around, environ={"TOKEN": "very-secret-value"})
    prepared = await replace(machine, workspace=entry, around=around).prepare("cat x")
    assert "very-secret-value" not in str(prepared.payload)
    assert "TOKEN" in prepared.payload["env_names"]


@pytest.mark.parametrize(
    ("cwd", "code"),
    [("..", "command.outside"), ("link", "command.outside"), ("absent", "command.folder")],
)
async def test_a_folder_outside_of_the_workspace_is_refused(
    machine: Machine, cwd: str, code: str
) -> None:
    (machine.path / "link").symlink_to(machine.root)
    with pytest.raises(InputError) as caught:
        await machine.prepare("cat x", cwd=cwd)
    assert caught.value.code == code


@pytest.mark.parametrize("timeout_s", [0, -1, 3601])
async def test_a_timeout_out_of_range_is_refused(machine: Machine, timeout_s: int) -> None:
    with pytest.raises(InputError) as caught:
        await machine.prepare("cat x", timeout_s=timeout_s)
    assert caught.value.code == "command.timeout-range"


async def test_a_workspace_that_went_away_is_told(machine: Machine) -> None:
    machine.path.rmdir()
    with pytest.raises(InputError) as caught:
        await machine.prepare("cat x")
    assert caught.value.code == "workspace.gone"
    (machine.root / "elsewhere").mkdir()
    machine.path.symlink_to(machine.root / "elsewhere")
    with pytest.raises(InputError) as caught:
        await machine.prepare("cat x")
    assert caught.value.code == "workspace.moved"


def _edit_program(machine: Machine) -> Machine:
    (machine.path / "run").write_text("#!/bin/sh\necho evil\n", encoding="utf-8")
    return machine


def _edit_file(machine: Machine) -> Machine:
    (machine.path / "input").write_text("b", encoding="utf-8")
    return machine


def _add_file(machine: Machine) -> Machine:
    (machine.path / "conftest.py").touch()
    return machine


def _add_huge_file(machine: Machine) -> Machine:
    with (machine.path / "conftest.py").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    return machine


def _replace_program(machine: Machine) -> Machine:
    text = (machine.path / "run").read_text(encoding="utf-8")
    machine.program("new", text)
    (machine.path / "new").replace(machine.path / "run")
    return machine


def _replace_workspace(machine: Machine) -> Machine:
    aside = machine.root / "aside"
    machine.path.rename(aside)
    machine.path.mkdir()
    for name in ("run", "input"):
        os.link(aside / name, machine.path / name)
    return machine


def _change_variable(machine: Machine) -> Machine:
    return replace(machine, around=replace(machine.around, environ={"GIVEN": "other"}))


def _add_toolchain(machine: Machine) -> Machine:
    tool = Toolchain(kind="x", paths=(machine.root / "t",), bin_dirs=(machine.root / "t/bin",))
    return machine.with_workspace(toolchains=(tool,))


def _gain_sandbox(machine: Machine) -> Machine:
    return replace(machine, around=replace(machine.around, level="bubblewrap"))


@pytest.mark.requirement("P2")
@pytest.mark.requirement("R24b")
@pytest.mark.parametrize(
    ("change", "drift"),
    [
        (_edit_program, ("base", "executable")),
        (_edit_file, ("base",)),
        (_add_file, ("base",)),
        (_add_huge_file, ("base",)),
        (_replace_program, ("executable",)),
        (_replace_workspace, ("workspace",)),
        (_change_variable, ("env_sha256",)),
        (_add_toolchain, ("env_sha256",)),
        pytest.param(_gain_sandbox, ("sandbox",), marks=pytest.mark.needs("bubblewrap")),
    ],
)
async def test_any_change_of_what_would_run_is_drift(
    machine: Machine, change: Callable[[Machine], Machine], drift: tuple[str, ...]
) -> None:
    machine = replace(machine, around=replace(machine.around, environ={"GIVEN": "one"}))
    machine = machine.with_workspace(pass_env=("GIVEN",))
    machine.program("run", "#!/bin/sh\necho good\n")
    (machine.path / "input").write_text("a", encoding="utf-8")
    seal = machine.grant(await machine.prepare("./run")).seal
    assert await _drift(machine, seal) == ()
    after = await asyncio.to_thread(change, machine)
    assert await _drift(after, seal) == drift


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("P2")
async def test_another_profile_is_drift(sandboxed: Machine) -> None:
    seal = sandboxed.grant(await sandboxed.prepare("cat x")).seal
    (sandboxed.path / ".vscode").mkdir()
    assert await _drift(sandboxed, seal) == ("sandbox",)


async def test_another_workspace_of_the_same_name_is_drift(machine: Machine) -> None:
    seal = machine.grant(await machine.prepare("cat x")).seal
    other = machine.root / "other"
    other.mkdir()
    assert "workspace" in await _drift(machine.with_workspace(path=other), seal)


async def test_the_description_survives_the_stored_form(machine: Machine) -> None:
    prepared = await machine.prepare("echo '測試 ☃' | cat")
    seal = machine.grant(prepared).seal
    assert dict(seal.payload) == prepared.payload


@pytest.mark.requirement("P2")
async def test_another_commit_than_the_one_shown_is_drift(machine: Machine) -> None:
    seal = machine.grant(await machine.prepare("cat x")).seal
    assert await _drift(machine, replace(seal, git_head="f" * 40)) == ("git_head",)


@pytest.mark.requirement("R24b")
async def test_the_files_it_starts_from_are_described(machine: Machine) -> None:
    (machine.path / "input").write_text("a", encoding="utf-8")
    prepared = await machine.prepare("cat input")
    assert list(prepared.base) == ["."]


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R47")
async def test_a_socket_in_the_workspace_is_closed_and_is_no_drift(
    sandboxed: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    seal = sandboxed.grant(await sandboxed.prepare("true")).seal
    monkeypatch.chdir(sandboxed.path)  # a socket's name is short
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("door.sock")
    assert await _drift(sandboxed, seal) == ()
    prepared = await sandboxed.prepare("true")
    at = prepared.argv.index(str(sandboxed.path / "door.sock"))
    assert prepared.argv[at - 2 : at] == ("--ro-bind", "/dev/null")


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R47")
async def test_among_too_many_sockets_to_close_none_can_be_reached(
    sandboxed: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = os.uname().machine
    assert (await sandboxed.prepare("true")).seccomp == build_filter(machine, network=False)
    monkeypatch.chdir(sandboxed.path)  # a socket's name is short
    for name in ("a.sock", "b.sock"):
        with socket.socket(socket.AF_UNIX) as door:
            door.bind(name)
    monkeypatch.setattr(survey, "MAX_FOUND", 1)
    assert (await sandboxed.prepare("true")).seccomp == build_filter(machine, network=True)


@pytest.mark.needs("bubblewrap")
async def test_a_socket_in_our_own_directories_is_hidden_with_these(
    sandboxed: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = sandboxed.path / "run"
    run.mkdir()
    monkeypatch.chdir(run)
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("door.sock")
    around = replace(sandboxed.around, places=replace(sandboxed.around.places, run=run))
    prepared = await replace(sandboxed, around=around).prepare("true")
    assert str(run / "door.sock") not in prepared.argv
    outcome = await replace(sandboxed, around=around).run("ls run")
    assert (outcome.exit_code, outcome.tail) == (0, "")


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R47")
async def test_other_workspaces_are_hidden_where_a_bind_would_show_them(
    sandboxed: Machine,
) -> None:
    tools, shown = sandboxed.root / "tools", sandboxed.root / "tools/shown"
    other = tools / "other"
    for folder in (other, shown / "bin"):
        folder.mkdir(parents=True)
    (other / "secret").write_text("secret", encoding="utf-8")
    kinds = [
        Toolchain(kind=kind, paths=(path,), bin_dirs=())
        for kind, path in (("nvm", tools), ("go", shown / "bin"))
    ]
    around = replace(sandboxed.around, workspaces=lambda: (sandboxed.path, other, shown))
    workspace = replace(sandboxed.workspace, toolchains=tuple(kinds))
    machine = replace(sandboxed, around=around, workspace=workspace)
    outcome = await machine.run(f"ls {other} {shown}")
    assert (outcome.exit_code, "secret" in outcome.tail, "bin" in outcome.tail) == (0, False, True)


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R46", "R47")
async def test_configured_hooks_cannot_be_written_and_new_ones_are_told(
    sandboxed: Machine,
) -> None:
    repository = pygit2.init_repository(str(sandboxed.path))
    repository.config["core.hooksPath"] = "tools/hooks"
    outcome = await sandboxed.run("mkdir -p tools/hooks && touch tools/hooks/pre-push")
    assert outcome.exit_code == 0
    assert outcome.differences is not None
    assert outcome.differences.surfaces == ("tools/hooks/pre-push",)
    outcome = await sandboxed.run("echo more >> tools/hooks/pre-push")
    assert outcome.exit_code != 0
    assert (sandboxed.path / "tools/hooks/pre-push").read_bytes() == b""


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
    link.symlink_to("/bin/ls")
    found = _resolve(word, workspace)
    assert (found.path, found.sha256) == (str(link), None)
    assert found.ino == Path("/bin/ls").stat().st_ino


@pytest.mark.parametrize("program", ["/bin/sh", "/usr/bin/env"])
def test_a_link_hides_no_shell(workspace: Workspace, program: str) -> None:
    for name in ("tool", "nice"):
        (workspace.path / name).symlink_to(program)
        assert _resolve(f"./{name}", workspace).path == os.path.realpath(program)


def test_a_link_that_says_what_it_is_is_started_as_it_is(workspace: Workspace) -> None:
    (workspace.path / "bash").symlink_to("/bin/sh")
    assert _resolve("./bash", workspace).path == str(workspace.path / "bash")
    assert _resolve("/usr/bin/linux64", workspace).path == "/usr/bin/linux64"


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
        ("/no/such/program", "command.not-visible"),
        ("src/absent", "command.not-found"),
        ("src/../../outside", "command.outside"),
        ("../outside", "command.outside"),
        ("./out-by-link", "command.not-visible"),
        ("out/outside", "command.outside"),
        ("src/..", "command.not-found"),
        ("./plain", "command.not-found"),
        ("./src", "command.not-found"),
        ("/usr", "command.not-found"),
        ("./loop", "command.not-found"),
        (f"./{'a' * 300}", "command.not-found"),
        ("a" * 300, "command.not-found"),
        ("./loop/run", "command.not-found"),
    ],
)
def test_what_is_no_program_is_refused(workspace: Workspace, word: str, code: str) -> None:
    _tool(workspace.path / "plain", mode=0o644)
    _tool(workspace.path / "src/run")
    _tool(workspace.path.parent / "outside")
    (workspace.path / "out-by-link").symlink_to(workspace.path.parent / "outside")
    (workspace.path / "out").symlink_to(workspace.path.parent)
    (workspace.path / "loop").symlink_to("loop")
    with pytest.raises(InputError) as caught:
        _resolve(word, workspace)
    assert caught.value.code == code


@pytest.mark.requirement("P4")
def test_of_what_lies_elsewhere_nobody_is_told_whether_it_is_there(
    workspace: Workspace, tmp_path: Path
) -> None:
    home = tmp_path.resolve() / "home"
    _tool(home / "tool")
    _tool(home / "notes", mode=0o600)
    (home / "to-system").symlink_to("/bin/sh")
    (home / "to-loop").symlink_to("to-loop")
    told = set()
    for name in ("tool", "notes", "absent", "to-system", "to-loop", "notes/absent", "."):
        for word in (f"{home}/{name}", f"/usr/../{home}/{name}", f"../home/{name}"):
            with pytest.raises(InputError) as caught:
                _resolve(word, workspace)
            told.add((word.startswith("/"), caught.value.code, *(caught.value.facts.keys())))
    assert told == {
        (True, "command.not-visible", "program"),
        (False, "command.outside", "program"),
    }


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
    monkeypatch.setattr(prepare, "MAX_PROGRAM_BYTES", 50)
    with pytest.raises(InputError) as caught:
        _resolve("./run", workspace)
    assert caught.value.code == "command.program-too-large"


# --- files that nothing but the command names -----------------------------------------------

UNSEEN = (
    "build/run.sh",
    "build/sub/go.py",
    ".git/hooks/pre-commit.lib",
    ".git/info/run.sh",
    "my args.log",
    "*",
)


def _unseen(machine: Machine) -> None:
    """Put files where git ignores them, and into its own folder."""
    pygit2.init_repository(str(machine.path))
    (machine.path / ".gitignore").write_text("build/\n*.log\n/[*]\n", "utf-8")
    for name in UNSEEN:
        (machine.path / name).parent.mkdir(parents=True, exist_ok=True)
        (machine.path / name).write_text("exit 0\n", "utf-8")
    for number in range(9):
        (machine.path / "build" / str(number)).mkdir(exist_ok=True)


@pytest.mark.requirement("P2", "R24b")
async def test_a_file_that_a_command_names_is_compared_wherever_it_lies(machine: Machine) -> None:
    _unseen(machine)
    named: list[tuple[str | list[str], str]] = [
        ("sh build/run.sh", "build/run.sh"),
        ("sh ./build/../build/run.sh", "build/run.sh"),
        (f"sh {machine.path}/build/run.sh", "build/run.sh"),
        ("cat --require=build/run.sh", "build/run.sh"),
        ("cat -fbuild/run.sh", "build/run.sh"),
        ("cat @build/run.sh", "build/run.sh"),
        ("env -C build sh run.sh", "build/run.sh"),
        ("env A=1 sh build/run.sh", "build/run.sh"),
        ("cat build/run.sh::test_x", "build/run.sh"),
        ("cd build && sh run.sh; true", "build/run.sh"),
        ("sh bu'il'd/run.sh | cat", "build/run.sh"),
        (["sh", "-c", "true; . build/run.sh"], "build/run.sh"),
        (["cat", "-c", "exec(open('build/run.sh').read())"], "build/run.sh"),
        ("sh .git/info/run.sh", ".git/info/run.sh"),
        (["sh", "my args.log"], "my args.log"),
        (["sh", "*"], "*"),
        ("cat build/*.sh | sh", "build/run.sh"),
        ("D=build; sh $D/run.sh", "build/run.sh"),
        ("sh $(pwd)/build/run.sh", "build/run.sh"),
        ("for n in run; do sh build/${n}.sh; done", "build/run.sh"),
        ("bash -c 'sh build/{run,x}.sh'", "build/run.sh"),
        ("cd build && cd sub && sh go.py", "build/sub/go.py"),
        (["env", "-C", "build/sub", "cat", "-m", "go"], "build/sub/go.py"),
        (["cat", "-m", "build.sub.go"], "build/sub/go.py"),
        (["cat", "*\\0", "\\ud800*", "build/run.sh"], "build/run.sh"),
        (f"ls {' '.join(f'build/{n}' for n in range(9))} build; cd build; sh run.sh", UNSEEN[0]),
    ]
    for command, path in named:
        prepared = await machine.executor().prepare(machine.workspace, command)
        seal = machine.grant(prepared).seal
        key = "./*" if path == "*" else path
        assert prepared.base[key] == hashlib.sha256(b"exit 0\n").hexdigest(), command
        assert await _drift(machine, seal) == (), command
        for text in ("exit 1\n", None):
            target = machine.path / path
            target.unlink() if text is None else target.write_text(text, "utf-8")
            assert await _drift(machine, seal) == ("base",), command
        _unseen(machine)


@pytest.mark.requirement("P2")
async def test_what_a_program_runs_in_a_folder_that_is_named_is_compared(machine: Machine) -> None:
    _unseen(machine)
    for name in ("__main__.py", "Makefile"):
        (machine.path / "build" / name).touch()
    for command, cwd in (("cat build", "."), ("cat -C build", "."), ("true", "build")):
        base = (await machine.prepare(command, cwd=cwd)).base
        assert base.keys() == {".", "build/__main__.py", "build/Makefile"}, command


@pytest.mark.requirement("P2")
async def test_what_is_compared_anyway_has_no_line_of_its_own(machine: Machine) -> None:
    _unseen(machine)
    (machine.path / "own.sh").touch()
    for command in ("sh own.sh", "sh .git/hooks/pre-commit.lib", "ls build", "sh /etc/hostname"):
        prepared = await machine.prepare(command)
        assert list(prepared.base) == ["."], command


@pytest.mark.requirement("P2")
async def test_a_link_that_a_command_names_is_compared_by_what_it_leads_to(
    machine: Machine,
) -> None:
    _unseen(machine)
    link, outside = machine.path / "build/link.sh", machine.root / "outside.sh"
    outside.write_text("exit 0\n", "utf-8")
    cases = [("run.sh", "build/run.sh"), (str(outside), str(outside))]
    for target, key in cases:
        link.symlink_to(target)
        prepared = await machine.prepare("sh build/link.sh")
        seal = machine.grant(prepared).seal
        assert prepared.base.keys() == {".", "build/link.sh", key}
        link.unlink()
        link.symlink_to("../.git/info/run.sh")
        assert await _drift(machine, seal) == ("base",), "turned elsewhere"
        link.unlink()
        link.symlink_to(target)
        assert await _drift(machine, seal) == ()
        (machine.path / "build" / target).write_text("exit 1\n", "utf-8")
        assert await _drift(machine, seal) == ("base",)
        link.unlink()
    for name in ("own.sh", "other.sh"):
        (machine.path / name).write_text(name, "utf-8")
    link.symlink_to("../own.sh")
    seal = machine.grant(await machine.prepare("sh build/link.sh")).seal
    link.unlink()
    link.symlink_to("../other.sh")
    assert await _drift(machine, seal) == ("base",), "from one of its own to another"


async def test_a_named_file_that_is_large_is_compared_by_stamp_and_named(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    _unseen(machine)
    monkeypatch.setattr(survey, "MAX_NAMED_BYTES", 3)
    prepared = await machine.prepare("sh build/run.sh")
    assert prepared.payload["uncompared"] == ["run.sh", ".git/", "build/", "…"]
    seal = machine.grant(prepared).seal
    assert await _drift(machine, seal) == ()
    (machine.path / "build/run.sh").write_text("exit 1\n", "utf-8")
    assert await _drift(machine, seal) == ("base",)


@pytest.mark.requirement("P7")
async def test_what_is_not_compared_stays_as_the_approver_saw_it(machine: Machine) -> None:
    _unseen(machine)
    seal = machine.grant(await machine.prepare("true")).seal
    assert seal.payload["uncompared"][:2] == [".git/", "build/"]
    (machine.path / "more.log").touch()
    (machine.path / "sub/build").mkdir(parents=True)
    assert await _drift(machine, seal) == ()


@pytest.mark.requirement("P2")
async def test_a_named_file_in_a_folder_that_cannot_be_entered_is_refused(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    _unseen(machine)
    closed, stat = machine.path / "build", os.stat

    def refuse(path: Any, *args: Any, **kwargs: Any) -> os.stat_result:
        # As for an ordinary user after `chmod 0`; to root every folder is open.
        if str(path).startswith(f"{closed}/"):
            raise PermissionError(errno.EACCES, "no")
        return stat(path, *args, **kwargs)

    monkeypatch.setattr(os, "stat", refuse)
    monkeypatch.setattr(survey, "_follow", refuse)
    await machine.prepare("true")
    with pytest.raises(InputError) as refused:
        await machine.prepare("chmod 755 build; sh build/run.sh")
    assert refused.value.code == "workspace.unreadable"
