"""The bubblewrap profile: what it binds in which order, and what a real one lets through."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from common.errors import InputError, StateError
from common.home import Home
from local_agent.sandbox import bubblewrap as module
from local_agent.sandbox import bubblewrap as sandbox
from local_agent.sandbox.bubblewrap import (
    NOT_SANDBOXED,
    OBEYED,
    PROTECTED,
    Containment,
    Profile,
    bubblewrap_profile,
    find_bubblewrap,
    system_sockets,
)
from local_agent.sandbox.process import Exit, run_child
from local_agent.sandbox.seccomp import build_filter
from tests.machine import Machine

BWRAP = "/usr/bin/bwrap"
BASES = (Path(sys.base_prefix), Path(sys.base_prefix).resolve())
PYTHON = Path(sys.executable).resolve()


def _profile(machine: Machine, *read_only: Path, network: bool = False) -> Profile:
    around = machine.around
    return bubblewrap_profile(
        BWRAP,
        workspace=machine.path,
        home=around.home,
        read_only=read_only,
        private=(around.places.config, around.places.state, around.places.run),
        network=network,
    )


def _mounts(profile: Profile) -> list[tuple[str, str]]:
    words = profile.options
    kinds = ("--bind", "--ro-bind", "--tmpfs")
    return [(word, words[at + 1]) for at, word in enumerate(words) if word in kinds]


async def _sh(machine: Machine, script: str, *read_only: Path, network: bool = False) -> Exit:
    profile = await asyncio.to_thread(_profile, machine, *read_only, network=network)
    argv = profile.wrap(["/bin/sh", "-c", script], cwd=machine.path)
    return await run_child(
        argv,
        cwd=machine.path,
        env={"PATH": "/usr/bin:/bin"},
        contained=True,
        seccomp=profile.seccomp,
    )


def _out(ended: Exit) -> str:
    assert ended.ok, ended.stderr.parts()[0].decode()
    return ended.stdout.parts()[0].decode()


# The description


@pytest.mark.heavy
@pytest.mark.requirement("R47")
def test_the_profile_isolates_everything_and_has_no_network(sandboxed: Machine) -> None:
    options = _profile(sandboxed).options
    wanted = "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-net"
    wanted += " --disable-userns --die-with-parent --new-session --remount-ro"
    assert set(wanted.split()) <= set(options)
    assert options[options.index("--cap-drop") + 1] == "ALL"
    assert ("--tmpfs", str(sandboxed.around.home)) in _mounts(_profile(sandboxed))
    assert ("--ro-bind", "/") not in _mounts(_profile(sandboxed))


@pytest.mark.heavy
@pytest.mark.requirement("R51")
def test_the_network_is_shared_only_when_asked_for_and_the_hash_tells(sandboxed: Machine) -> None:
    without, with_network = _profile(sandboxed), _profile(sandboxed, network=True)
    assert "--unshare-net" not in with_network.options
    assert without.sha256 != with_network.sha256


@pytest.mark.heavy
def test_the_hash_is_of_the_options_and_steady(sandboxed: Machine) -> None:
    assert _profile(sandboxed).sha256 == _profile(sandboxed).sha256
    (sandboxed.path / ".git").mkdir()
    first = _profile(sandboxed)
    (sandboxed.path / ".vscode").mkdir()
    assert _profile(sandboxed).sha256 != first.sha256
    assert NOT_SANDBOXED.sha256 != first.sha256


@pytest.mark.heavy
def test_no_sandbox_wraps_nothing() -> None:
    assert NOT_SANDBOXED.wrap(["/bin/true"], cwd=Path("/")) == ["/bin/true"]


@pytest.mark.heavy
def test_outer_mounts_come_before_inner_ones(sandboxed: Machine) -> None:
    for name in PROTECTED:
        (sandboxed.path / name).mkdir()
    venv = sandboxed.path / ".venv"
    venv.mkdir()
    pyenv = sandboxed.around.home / ".pyenv/versions/3.11"
    pyenv.mkdir(parents=True)
    places = [place for _, place in _mounts(_profile(sandboxed, venv, pyenv))]
    home, workspace = places.index(str(sandboxed.around.home)), places.index(str(sandboxed.path))
    assert home < workspace < places.index(str(venv))
    assert home < places.index(str(pyenv))
    assert all(workspace < places.index(str(sandboxed.path / name)) for name in PROTECTED)


@pytest.mark.heavy
def test_what_the_system_shows_anyway_is_not_bound_twice(sandboxed: Machine) -> None:
    tools = sandboxed.root / "tools"
    (tools / "inner").mkdir(parents=True)
    mounts = _mounts(_profile(sandboxed, Path("/usr/lib"), tools / "inner", tools, tools))
    assert ("--ro-bind", "/usr/lib") not in mounts
    assert mounts.count(("--ro-bind", str(tools))) == 1
    assert ("--ro-bind", str(tools / "inner")) not in mounts


@pytest.mark.heavy
def test_our_own_directories_are_hidden_where_another_bind_would_show_them(
    sandboxed: Machine,
) -> None:
    state = sandboxed.around.places.state
    assert ("--tmpfs", str(state)) not in _mounts(_profile(sandboxed))
    assert ("--tmpfs", str(state)) in _mounts(_profile(sandboxed, state.parent))


@pytest.mark.heavy
@pytest.mark.parametrize("name", PROTECTED)
def test_a_protected_name_that_is_a_link_is_refused(sandboxed: Machine, name: str) -> None:
    (sandboxed.path / name).symlink_to("/etc")
    with pytest.raises(InputError) as caught:
        _profile(sandboxed)
    assert caught.value.code == "sandbox.link"


@pytest.mark.heavy
def test_a_toolchain_of_the_workspace_that_was_turned_into_a_link_is_refused(
    sandboxed: Machine,
) -> None:
    (sandboxed.path / "tools").symlink_to(sandboxed.root)
    with pytest.raises(InputError) as caught:
        _profile(sandboxed, sandboxed.path / "tools/cb")
    assert caught.value.code == "sandbox.link"


@pytest.mark.heavy
def test_a_home_that_cannot_be_hidden_is_refused(sandboxed: Machine) -> None:
    with pytest.raises(InputError) as caught:
        bubblewrap_profile(BWRAP, workspace=sandboxed.path, home=Path("/"))
    assert caught.value.code == "sandbox.home"


@pytest.mark.heavy
@pytest.mark.requirement("R40")
def test_bubblewrap_is_not_looked_up_by_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\n", encoding="utf-8")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_bubblewrap() != str(fake)


@pytest.mark.heavy
def test_there_is_no_bubblewrap_but_on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert find_bubblewrap() is None


@pytest.mark.heavy
def test_folders_that_are_no_links_into_usr_are_bound(
    sandboxed: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "_MERGED", ("/usr/bin", "/no/such/folder"))
    mounts = _mounts(_profile(sandboxed))
    assert ("--ro-bind", "/usr/bin") in mounts
    assert ("--ro-bind", "/no/such/folder") not in mounts


@pytest.mark.heavy
def test_a_toolchain_that_went_away_is_not_bound(sandboxed: Machine) -> None:
    gone = sandboxed.root / "gone"
    assert ("--ro-bind", str(gone)) not in _mounts(_profile(sandboxed, gone))


# The real one


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R47")
async def test_the_workspace_can_be_written_and_nothing_else_arrives(sandboxed: Machine) -> None:
    home = sandboxed.around.home
    (home / "secret").write_text("secret", encoding="utf-8")
    (sandboxed.around.places.state / "key").write_text("key", encoding="utf-8")
    script = f"""
        echo written > here
        echo lost > {home}/there; echo lost > {sandboxed.root}/there
        for place in / /usr /etc; do
            (: > $place/there) 2>/dev/null && echo "wrote $place"
        done
        cat {home}/secret {sandboxed.around.places.state}/key 2>/dev/null
        ls -A {home}; ls -A /run
    """
    told = _out(await _sh(sandboxed, script))
    assert (sandboxed.path / "here").read_text(encoding="utf-8") == "written\n"
    assert not (home / "there").exists()
    assert not (sandboxed.root / "there").exists()
    assert told.split() == ["project", "there"]


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R47")
async def test_what_runs_later_outside_stays_read_only(sandboxed: Machine) -> None:
    for name in PROTECTED:
        (sandboxed.path / name).mkdir()
    (sandboxed.path / ".git/config").write_text("[core]\n", encoding="utf-8")
    script = "for name in .git .codex .codexbridge .vscode .github; do : > $name/x; done; "
    script += "echo x >> .git/config; mv .git .old; rm -rf .github; exit 0"
    await _sh(sandboxed, script)
    assert [*(sandboxed.path / ".git").iterdir()] == [sandboxed.path / ".git/config"]
    assert (sandboxed.path / ".git/config").read_text(encoding="utf-8") == "[core]\n"
    assert (sandboxed.path / ".github").is_dir()


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
async def test_a_git_file_of_a_worktree_is_protected_too(sandboxed: Machine) -> None:
    (sandboxed.path / ".git").write_text("gitdir: /elsewhere\n", encoding="utf-8")
    await _sh(sandboxed, "echo gitdir: /evil > .git; rm -f .git; exit 0")
    assert (sandboxed.path / ".git").read_text(encoding="utf-8") == "gitdir: /elsewhere\n"


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
async def test_a_missing_protected_name_leaves_nothing_on_the_host(sandboxed: Machine) -> None:
    _out(await _sh(sandboxed, "true"))
    assert [*sandboxed.path.iterdir()] == []


@pytest.fixture
def doors(sandboxed: Machine) -> Iterator[tuple[int, str, str]]:
    """Listening sockets of the host: a TCP port, a path and an abstract name."""
    path = str(sandboxed.root / "s")
    # A path below pytest's own can be too long for a socket's name.
    name = os.path.relpath(path)
    abstract = f"codexbridge-test-{os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as unix,
        socket.socket(socket.AF_UNIX) as hidden,
    ):
        unix.bind(name)
        unix.listen()
        hidden.bind(f"\0{abstract}")
        hidden.listen()
        yield tcp.getsockname()[1], path, abstract


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R47")
async def test_no_socket_of_the_host_can_be_reached(
    sandboxed: Machine, doors: tuple[int, str, str]
) -> None:
    port, path, abstract = doors
    script = f"""
import socket
for family, address in (
    (socket.AF_INET, ("127.0.0.1", {port})),
    (socket.AF_UNIX, {path!r}),
    (socket.AF_UNIX, "\\0" + {abstract!r}),
):
    try:
        with socket.socket(family) as link:
            link.connect(address)
            print("reached", address)
    except OSError:
        print("closed")
"""
    (sandboxed.path / "probe.py").write_text(script, encoding="utf-8")
    told = _out(await _sh(sandboxed, f"{PYTHON} -I -S probe.py", *BASES))
    assert told.split() == ["closed"] * 3


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R51")
async def test_with_the_network_loopback_is_the_hosts(
    sandboxed: Machine, doors: tuple[int, str, str]
) -> None:
    script = "cat /proc/net/tcp"
    assert f":{doors[0]:04X} " in _out(await _sh(sandboxed, script, network=True))
    assert f":{doors[0]:04X} " not in _out(await _sh(sandboxed, script))


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
async def test_no_process_of_the_host_is_seen(sandboxed: Machine) -> None:
    told = _out(await _sh(sandboxed, "ls -d /proc/[0-9]* | wc -l; id -u"))
    assert int(told.split()[0]) < 8
    assert told.split()[1] == str(os.getuid())


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R47")
async def test_no_setting_of_the_kernel_can_be_written_even_by_root(sandboxed: Machine) -> None:
    script = "find /proc/sys /proc/irq /proc/bus /proc/fs -type f -writable 2>/dev/null | wc -l"
    assert _out(await _sh(sandboxed, script)) == "0\n"


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of system calls")
async def test_the_keys_of_the_persons_session_stay_outside(sandboxed: Machine) -> None:
    kernel = ctypes.CDLL(None)
    search = "import ctypes; print(ctypes.CDLL(None).syscall(250, 10, -3, b'user', b'cb-test', 0))"
    number = kernel.syscall(248, b"user", b"cb-test", b"secret", 6, -3)  # add_key, session
    assert number > 0
    try:
        assert kernel.syscall(250, 10, -3, b"user", b"cb-test", 0) == number
        (sandboxed.path / "probe.py").write_text(search, encoding="utf-8")
        assert _out(await _sh(sandboxed, f"{PYTHON} -I -S probe.py", *BASES)) == "-1\n"
    finally:
        kernel.syscall(250, 3, number)  # KEYCTL_REVOKE


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
async def test_no_namespace_can_be_made_inside(sandboxed: Machine) -> None:
    ended = await _sh(sandboxed, "unshare --user true")
    assert not ended.ok


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
async def test_localhost_resolves_inside(sandboxed: Machine) -> None:
    assert "localhost" in _out(await _sh(sandboxed, "getent hosts localhost"))


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R44")
async def test_everything_inside_ends_with_the_command(sandboxed: Machine) -> None:
    mark = f"{30 + os.getpid() / 1e6:.6f}"
    ended = await _sh(sandboxed, f"setsid sleep {mark} & (setsid sleep {mark} &); sleep 0.05")
    assert ended.code == 0
    assert ended.survivors == 0
    assert not [found for found in psutil.process_iter(["cmdline"]) if mark in str(found.info)]


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
async def test_a_toolchain_under_the_home_is_readable_and_read_only(sandboxed: Machine) -> None:
    tool = sandboxed.around.home / ".tools/bin/tool"
    tool.parent.mkdir(parents=True)
    tool.write_text("#!/bin/sh\necho ran\n", encoding="utf-8")
    tool.chmod(0o755)
    script = f"{tool}; (echo x >> {tool}) 2>/dev/null || echo kept"
    assert _out(await _sh(sandboxed, script, tool.parents[1])) == "ran\nkept\n"


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
async def test_a_toolchain_named_through_a_link_is_found_by_both_names(
    sandboxed: Machine,
) -> None:
    tools = sandboxed.around.home / "tools"
    (tools / "v1.2.3").mkdir(parents=True)
    (tools / "v1.2.3/file").write_text("x\n", encoding="utf-8")
    (tools / "v1").symlink_to("v1.2.3")
    script = f"cat {tools}/v1/file {tools}/v1.2.3/file"
    assert _out(await _sh(sandboxed, script, tools / "v1", tools / "v1.2.3")) == "x\nx\n"


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
async def test_our_state_stays_hidden_inside_a_bound_folder(sandboxed: Machine) -> None:
    places: Home = sandboxed.around.places
    (places.state / "key").write_text("key", encoding="utf-8")
    (places.state.parent / "tool").write_text("tool\n", encoding="utf-8")
    told = _out(
        await _sh(
            sandboxed, f"cat {places.state.parent}/tool; ls -A {places.state}", places.state.parent
        )
    )
    assert told == "tool\n"


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R47")
async def test_other_execution_surfaces_stay_read_only_and_a_link_among_them_is_passed_over(
    sandboxed: Machine,
) -> None:
    for name in OBEYED:
        (sandboxed.path / name).write_text("as it was\n", encoding="utf-8")
    (sandboxed.path / "CLAUDE.md").unlink()
    (sandboxed.path / "CLAUDE.md").symlink_to("AGENTS.md")
    names = " ".join(OBEYED)
    await _sh(sandboxed, f"for name in {names}; do echo evil > $name; rm -f $name; done; exit 0")
    real = [name for name in OBEYED if name != "CLAUDE.md"]
    texts = {(sandboxed.path / name).read_text(encoding="utf-8") for name in real}
    assert texts == {"as it was\n"}


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R47")
async def test_the_git_folder_of_a_repository_further_down_stays_read_only(
    sandboxed: Machine,
) -> None:
    (sandboxed.path / "vendor/.git/hooks").mkdir(parents=True)
    prepared = await sandboxed.prepare("sh -c 'touch vendor/.git/hooks/x vendor/y'")
    await sandboxed.executor().run(sandboxed.grant(prepared), workspace=sandboxed.workspace)
    assert [*(sandboxed.path / "vendor/.git/hooks").iterdir()] == []
    assert (sandboxed.path / "vendor/y").exists()


@pytest.mark.heavy
def test_a_repository_that_is_gone_is_not_protected(sandboxed: Machine) -> None:
    (sandboxed.path / "file").touch()
    around = sandboxed.around
    profile = bubblewrap_profile(
        BWRAP,
        workspace=sandboxed.path,
        home=around.home,
        repositories=("gone/.git", "file/.git"),
    )
    assert not [place for _, place in _mounts(profile) if place.endswith(".git")]


@pytest.mark.heavy
def test_the_hash_covers_the_filter_of_system_calls(sandboxed: Machine) -> None:
    profile = _profile(sandboxed)
    assert replace(profile, seccomp=b"").sha256 != profile.sha256


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R47")
async def test_only_the_standard_descriptors_get_inside(sandboxed: Machine) -> None:
    told = _out(
        await _sh(
            sandboxed,
            f"{PYTHON} -I -S -c 'import os; print(os.listdir(\"/proc/self/fd\"))'",
            *BASES,
        )
    )
    assert told.strip() == "['0', '1', '2', '3']"  # the last is the listing's own


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R47")
async def test_no_device_of_the_machine_can_be_changed_and_all_of_them_work(
    sandboxed: Machine,
) -> None:
    # To the mode that they have: where this does not hold, nothing is broken.
    script = """
        for name in null zero full random urandom tty stdin; do
            chmod 666 /dev/$name && echo changed $name
        done
        touch /dev/new && echo made
        echo x > /dev/null; cat /dev/null; cat; head -c 2 /dev/zero | wc -c
        ls /dev/shm
    """
    assert _out(await _sh(sandboxed, script)) == "2\n"


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R45")
async def test_a_crash_leaves_no_core_file_and_calls_no_core_program(sandboxed: Machine) -> None:
    ended = await _sh(sandboxed, "ulimit -Hc; kill -SEGV $$")
    assert ended.code == 128 + 11
    told = await _sh(
        sandboxed, f"{PYTHON} -I -S -c 'import resource as r; print(r.getrlimit(4))'", *BASES
    )
    assert _out(told) == "(1, 1)\n", "1 alone is obeyed by a core_pattern that names a program"


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R47")
async def test_python_processes_and_its_event_loop_work_inside(sandboxed: Machine) -> None:
    (sandboxed.path / "work.py").write_text(
        """
import asyncio, multiprocessing, socket
def square(x):
    return x * x
async def serve():
    server = await asyncio.start_server(lambda _, w: (w.write(b"hi"), w.close()), "127.0.0.1", 0)
    reader, _ = await asyncio.open_connection(*server.sockets[0].getsockname())
    child = await asyncio.create_subprocess_exec("/bin/true")
    print(await reader.read(), await child.wait(), bool(socket.if_nameindex()))
if __name__ == "__main__":
    for how in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(how).Pool(2) as pool:
            print(pool.map(square, [1, 2]))
    asyncio.run(serve())
""",
        encoding="utf-8",
    )
    told = _out(await _sh(sandboxed, f"{PYTHON} work.py", *BASES))
    assert told.splitlines() == ["[1, 4]"] * 3 + ["b'hi' 0 True"]


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
@pytest.mark.needs("git")
async def test_git_works_inside(sandboxed: Machine) -> None:
    script = """
        export HOME=/tmp; git config --global user.email a@b; git config --global user.name a
        git init -q sub && cd sub && touch a && git add a && git commit -qm x && git log --format=%s
    """
    assert _out(await _sh(sandboxed, script)) == "x\n"


_LENDING = """
import ctypes, json, os, platform, sys
libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == "x86_64"
HERE, MADE, HIDDEN = -100, 0o101, 0o20200002  # AT_FDCWD, O_CREAT | O_WRONLY, O_TMPFILE | O_RDWR
calls = {
    "fchmod": (91 if x86 else 52, os.open("mine", os.O_WRONLY), 0o4755),
    "fchmodat": (268 if x86 else 53, HERE, b"mine", 0o2755),
    "fchmodat2": (452, HERE, b"mine", 0o6755, 0),
    "openat": (257 if x86 else 56, HERE, b"one", MADE, 0o4755),
    "openat, unnamed": (257 if x86 else 56, HERE, b".", HIDDEN, 0o4755),
    "openat2": (437, HERE, b"two", (ctypes.c_uint64 * 3)(MADE, 0o4755, 0), 24),
    "mknodat": (259 if x86 else 33, HERE, b"three", 0o104755, 0),
    "mkdirat": (258 if x86 else 34, HERE, b"four", 0o2755),
}
if x86:
    calls |= {
        "chmod": (90, b"mine", 0o4755),
        "open": (2, b"five", MADE, 0o4755),
        "creat": (85, b"six", 0o4755),
        "mknod": (133, b"seven", 0o104755, 0),
        "mkdir": (83, b"eight", 0o2755),
    }
found = {}
for name, call in calls.items():
    ctypes.set_errno(0)
    found[name] = (libc.syscall(*call), ctypes.get_errno())
os.chmod("mine", 0o755)
json.dump(found, sys.stdout)
"""


@pytest.mark.heavy
@pytest.mark.requirement("R47")
async def test_no_call_leaves_a_program_that_runs_with_our_rights(sandboxed: Machine) -> None:
    workspace = sandboxed.path
    (workspace / "mine").write_bytes(b"")
    (workspace / "lend.py").write_text(_LENDING, encoding="utf-8")
    found = json.loads(_out(await _sh(sandboxed, f"{PYTHON} -I lend.py", *BASES)))
    assert found.pop("openat2") == [-1, errno.ENOSYS]
    assert {name: result for name, result in found.items() if result != [-1, errno.EPERM]} == {}
    assert (workspace / "mine").stat().st_mode & 0o7777 == 0o755, "ordinary modes are set"
    assert [path.name for path in workspace.rglob("*") if path.stat().st_mode & 0o6000] == []
    installed = await _sh(sandboxed, "install -m 4755 mine lent")
    assert not installed.ok
    assert b"not permitted" in installed.stderr.parts()[0], "the program itself is told"


# --- coding agents ---------------------------------------------------------------------------


@pytest.fixture
def box(tmp_path: Path) -> Containment:
    root = tmp_path.resolve()
    home = root / "home"
    for folder in ("tools/bin", "tools/lib", "state/scratch", "state/own", "config", "shop"):
        (home / folder).mkdir(parents=True)
    (home / "tools/bin/agent").touch()
    places = Home(home / "config", home / "state", root / "run")
    return Containment(places, home, "bubblewrap", lambda: (home / "shop",))


def wrapped(box: Containment, program: Path, *read_only: Path) -> list[str]:
    argv, _ = box.contain(
        [str(program), "--acp"],
        scratch=box.home / "state/scratch",
        own=box.home / "state/own",
        read_only=read_only,
    )
    return argv


def binds(argv: list[str], kind: str) -> list[str]:
    return [argv[at + 1] for at, word in enumerate(argv) if word == kind]


@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R62")
def test_scratch_and_home_are_written_its_program_is_read(box: Containment) -> None:
    tools = box.home / "tools"
    argv = wrapped(box, tools / "bin/agent", tools / "lib")
    assert binds(argv, "--bind") == [str(box.home / "state/scratch"), str(box.home / "state/own")]
    assert binds(argv, "--ro-bind")[-2:] == [str(tools / "bin"), str(tools / "lib")]
    assert str(box.home) in binds(argv, "--tmpfs")
    assert argv[-3:] == ["--", str(tools / "bin/agent"), "--acp"]
    assert "--unshare-net" not in argv


@pytest.mark.needs("bubblewrap")
def test_the_folder_behind_a_link_is_read_as_well(box: Containment) -> None:
    (box.home / "bin").mkdir()
    (box.home / "bin/agent").symlink_to(box.home / "tools/bin/agent")
    argv = wrapped(box, box.home / "bin/agent")
    assert {str(box.home / "bin"), str(box.home / "tools/bin")} <= set(binds(argv, "--ro-bind"))


@pytest.mark.needs("bubblewrap")
def test_programs_of_the_system_need_no_folder(box: Containment) -> None:
    argv = wrapped(box, Path("/usr/bin/env"))
    assert not [path for path in binds(argv, "--ro-bind") if path.startswith(str(box.home))]


@pytest.mark.needs("bubblewrap")
def test_a_workspace_within_what_is_read_is_hidden(box: Containment) -> None:
    (box.home / "tools/lib/shop").mkdir()
    inner = replace(box, workspaces=lambda: (box.home / "tools/lib/shop",))
    argv = wrapped(inner, box.home / "tools/bin/agent", box.home / "tools/lib")
    assert str(box.home / "tools/lib/shop") in binds(argv, "--tmpfs")


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("folder", [".", "..", "state", "config", "state/own"])
def test_nothing_of_ours_and_no_whole_home_is_read(box: Containment, folder: str) -> None:
    with pytest.raises(InputError) as refused:
        wrapped(box, box.home / "tools/bin/agent", box.home / folder)
    assert refused.value.code == "toolchain.too-wide"


@pytest.mark.needs("bubblewrap")
def test_a_program_that_lies_in_the_home_itself_is_refused(box: Containment) -> None:
    (box.home / "agent").touch()
    with pytest.raises(InputError) as refused:
        wrapped(box, box.home / "agent")
    assert refused.value.code == "toolchain.too-wide"


@pytest.mark.needs("bubblewrap")
def test_a_folder_that_is_not_there_is_told(box: Containment) -> None:
    with pytest.raises(InputError) as refused:
        wrapped(box, box.home / "tools/bin/agent", box.home / "missing")
    assert refused.value.code == "toolchain.missing"


@pytest.mark.needs("bubblewrap")
def test_without_a_sandbox_that_held_there_is_none(box: Containment) -> None:
    with pytest.raises(StateError) as refused:
        wrapped(replace(box, level="none"), box.home / "tools/bin/agent")
    assert refused.value.code == "sandbox.none"


@pytest.mark.needs("bubblewrap")
def test_calls_are_filtered_as_for_a_command_with_the_network(box: Containment) -> None:
    _, calls = box.contain(
        ["/usr/bin/env"], scratch=box.home / "state/scratch", own=box.home / "state/own"
    )
    assert calls == build_filter(os.uname().machine, network=True)


# --- sockets in the system's own folders -----------------------------------------------------


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of the system, with a socket that a program listens at."""
    folder = tmp_path / "opt"
    (folder / "db").mkdir(parents=True)
    monkeypatch.setattr(module, "SYSTEM", (folder.resolve(),))
    with ExitStack() as closing:
        for name in ("db/a door", "door"):
            door = closing.enter_context(socket.socket(socket.AF_UNIX))
            door.bind(str(folder / name))
        yield folder.resolve()


@pytest.mark.requirement("R47")
@pytest.mark.needs("bubblewrap")
def test_sockets_of_the_system_are_found(system: Path) -> None:
    assert system_sockets(apart_from=()) == (system / "db/a door", system / "door")
    assert system_sockets(apart_from=(system / "db",)) == (system / "door",)


@pytest.mark.requirement("R47")
@pytest.mark.needs("bubblewrap")
def test_what_is_gone_or_no_socket_any_more_is_not_told(system: Path) -> None:
    (system / "door").unlink()
    (system / "db/a door").unlink()
    (system / "db/a door").write_bytes(b"")
    assert system_sockets(apart_from=()) == ()


@pytest.mark.requirement("R47")
@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("way", ["too many", "too long a list", "no list"])
def test_where_there_may_be_more_it_says_so(
    system: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    if way == "too many":
        monkeypatch.setattr(module, "MAX_SOCKETS", 1)
    elif way == "too long a list":
        monkeypatch.setattr(module, "_MAX_TABLE_BYTES", 10)
    else:
        monkeypatch.setattr(module, "_SOCKETS", system / "missing")
    assert system_sockets(apart_from=()) is None


@pytest.mark.requirement("R47")
@pytest.mark.needs("bubblewrap")
async def test_a_command_finds_them_covered(system: Path, sandboxed: Machine) -> None:
    prepared = await sandboxed.prepare("true")
    at = prepared.argv.index(str(system / "door"))
    assert prepared.argv[at - 2 : at] == ("--ro-bind", "/dev/null")


@pytest.mark.requirement("R47")
@pytest.mark.needs("bubblewrap")
async def test_among_too_many_no_socket_can_be_made(
    system: Path, sandboxed: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_SOCKETS", 1)
    prepared = await sandboxed.prepare("true")
    assert str(system / "door") not in prepared.argv
    assert prepared.seccomp == build_filter(os.uname().machine, network=True)


@pytest.mark.requirement("R47")
@pytest.mark.needs("bubblewrap")
async def test_in_our_own_directories_they_are_hidden_with_these(
    system: Path, sandboxed: Machine
) -> None:
    around = replace(sandboxed.around, places=replace(sandboxed.around.places, run=system / "db"))
    prepared = await replace(sandboxed, around=around).prepare("true")
    assert str(system / "db/a door") not in prepared.argv
    assert str(system / "door") in prepared.argv


# A copy in the place of the folder that it stands for


@pytest.fixture
def copied(sandboxed: Machine, tmp_path: Path) -> Path:
    """The folder that the machine's workspace is a copy of."""
    folder = tmp_path / "the-original"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine\n", encoding="utf-8")
    (sandboxed.path / ".git").mkdir()
    return folder


def _as_copy(machine: Machine, copied: Path, *read_only: Path) -> Profile:
    around = machine.around
    return bubblewrap_profile(
        BWRAP,
        workspace=machine.path,
        home=around.home,
        read_only=read_only,
        private=(around.places.config, around.places.state, around.places.run),
        also_at=copied,
    )


@pytest.mark.heavy
@pytest.mark.needs("bubblewrap")
@pytest.mark.requirement("R47")
async def test_a_copy_is_found_at_both_paths_and_what_it_stands_for_at_none(
    sandboxed: Machine, copied: Path
) -> None:
    tools = copied / ".venv"
    tools.mkdir()
    (tools / "python").write_text("tool\n", encoding="utf-8")
    profile = await asyncio.to_thread(_as_copy, sandboxed, copied, tools)
    script = f"""
        ls {copied}/mine.txt && exit 3
        echo by-its-name > {copied}/made.txt && cat made.txt {tools}/python
        echo x > {copied}/.git/x && exit 4
        echo x > .git/x && exit 5
        echo x > {tools}/x && exit 6
        true
    """
    ended = await run_child(
        profile.wrap(["/bin/sh", "-c", script], cwd=sandboxed.path),
        cwd=sandboxed.path,
        env={"PATH": "/usr/bin:/bin"},
        contained=True,
        seccomp=profile.seccomp,
    )
    assert _out(ended) == "by-its-name\ntool\n"
    assert (sandboxed.path / "made.txt").exists()
    assert sorted(os.listdir(copied)) == [".venv", "mine.txt"]  # noqa: PTH208  # see ASYNC240
    assert list((sandboxed.path / ".git").iterdir()) == []


@pytest.mark.requirement("R47")
def test_a_copy_in_which_the_place_of_a_toolchain_is_a_link_is_refused(
    sandboxed: Machine, copied: Path
) -> None:
    (copied / ".venv").mkdir()
    (sandboxed.path / ".venv").symlink_to("/usr")
    with pytest.raises(InputError, match=r"sandbox\.link"):
        _as_copy(sandboxed, copied, copied / ".venv")
