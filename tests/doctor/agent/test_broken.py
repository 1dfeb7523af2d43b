"""Broken installations as data: each is told as what it is, and nothing else is told."""

from __future__ import annotations

import json
import os
import secrets
import socket
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TypeAlias

import pygit2
import pytest

from common.keystore import FileKeystore
from common.signing import SigningKey
from local_agent.store.lock import take_lock
from tests.doctor.agent.conftest import Good
from tests.doctor.agent.house import (
    House,
    copy_of,
    gateway_of,
    ills,
    make_certificate,
    page_server,
)
from tests.e2e.place import free_ports

pytestmark = [
    pytest.mark.needs("bubblewrap"),
    pytest.mark.needs("git"),
    pytest.mark.needs("a small tmpfs (root, unshare)"),
    pytest.mark.needs("a screen (xvfb, openbox, xdotool, Tk)"),
]

Break: TypeAlias = Callable[[House, ExitStack], object]
STRANGER = 54321  # a user id of nobody
# The words of bubblewrap and of the kernel, as they were seen.
NO_MAP = "#!/bin/sh\necho 'bwrap: setting up uid map: Permission denied' >&2; exit 1\n"
NO_PROC = (
    "#!/bin/sh\n"
    'echo "bwrap: Can\'t mount proc on /newroot/proc: Operation not permitted" >&2; exit 1\n'
)


def kernel_says(house: House, name: str, value: str) -> None:
    """Let the kernel have a setting that this one may not even know."""
    house.write(f"kernel/{name}", f"{value}\n")
    house.around += f"mount --bind {house.root}/kernel /proc/sys/kernel\n"


def no_namespaces(house: House, _: ExitStack) -> None:
    house.own = ("user",)
    house.around = "echo 0 > /proc/sys/user/max_user_namespaces"


def apparmor(house: House, _: ExitStack) -> None:
    kernel_says(house, "apparmor_restrict_unprivileged_userns", "1")
    house.cover("/usr/bin/bwrap", NO_MAP)


def namespaces_off(house: House, _: ExitStack) -> None:
    kernel_says(house, "unprivileged_userns_clone", "0")
    house.cover("/usr/bin/bwrap", NO_MAP)


def container(house: House, _: ExitStack) -> None:
    house.around = "mount -t tmpfs none /run\ntouch /run/.containerenv\n"
    house.cover("/usr/bin/bwrap", NO_PROC)


def no_tk(house: House, _: ExitStack) -> None:
    import _tkinter

    house.cover(str(_tkinter.__file__))


def no_rights(house: House, _: ExitStack) -> None:
    house.extra |= {"DISPLAY": ":987", "XAUTHORITY": str(house.root / "gone")}


def read_only(house: House, _: ExitStack) -> None:
    house.around = f"mount --bind {house.root} {house.root}\nmount -o remount,bind,ro {house.root}"


def full(house: House, _: ExitStack, *, room: str = "size=6m") -> None:
    state = house.state
    house.around = (
        f"cp -a {state} {state}.kept\nmount -t tmpfs -o {room},mode=700 none {state}\n"
        f"cp -a {state}.kept/. {state}/"
    )


def full_of_files(house: House, ending: ExitStack) -> None:
    full(house, ending, room="size=600m,nr_inodes=99")
    house.around += f"\nn=0; while (: > {house.state}/keys/$n) 2>/dev/null; do n=$((n+1)); done"


def key_of_another(house: House, _: ExitStack) -> None:
    name = house.key_file().stem
    FileKeystore(house.state / "keys").put(name, SigningKey.generate().private_bytes())


def linked(name: str) -> Break:
    def change(house: House, _: ExitStack) -> None:
        """Move something away, readable by all, and let a link lead there."""
        path, away = house.root / name, house.root / "away"
        path.rename(away)
        away.chmod(0o755 if away.is_dir() else 0o644)
        path.symlink_to(away)

    return change


def no_pairing(house: House, _: ExitStack) -> None:
    (house.config / "pairing.json").unlink()


def no_loopback(house: House, ending: ExitStack) -> None:
    no_pairing(house, ending)
    local = SigningKey.generate().private_bytes()
    FileKeystore(house.state / "keys").put("agent-local", local)
    house.own = ("network",)


def nobody_listens(house: House, _: ExitStack) -> None:
    house.pair_with(url=f"http://127.0.0.1:{free_ports(1)[0]}")


def self_signed(house: House, ending: ExitStack) -> None:
    pem = house.root / "self.pem"
    make_certificate(pem, expired=False)
    house.pair_with(url=ending.enter_context(page_server(tls=pem)))


def expired(house: House, ending: ExitStack) -> None:
    pem = house.root / "expired.pem"
    make_certificate(pem, expired=True)
    house.extra["SSL_CERT_FILE"] = str(pem)
    house.pair_with(url=ending.enter_context(page_server(tls=pem)))


def html(house: House, ending: ExitStack) -> None:
    house.pair_with(url=ending.enter_context(page_server()))


def busy(house: House, ending: ExitStack) -> None:
    house.pair_with(url=ending.enter_context(page_server(503)))


def clock_off(house: House, ending: ExitStack) -> None:
    key = SigningKey.generate()
    url = ending.enter_context(gateway_of(key, ahead_s=600))
    house.pair_with(url=url, gateway_key=key.public.raw.hex())


def challenges_with(body: str) -> Break:
    def change(house: House, ending: ExitStack) -> None:
        house.pair_with(url=ending.enter_context(gateway_of(SigningKey.generate(), body=body)))

    return change


def other_gateway(house: House, _: ExitStack) -> None:
    house.pair_with(gateway_key=SigningKey.generate().public.raw.hex())


def workspace(house: House) -> Path:
    """Return where the copy's workspace lies."""
    import json

    kept = json.loads((house.config / "workspaces.json").read_bytes())
    return Path(kept["workspaces"][0]["path"])


def move_workspace(house: House, path: Path) -> None:
    """Let the list name another folder."""
    file = house.config / "workspaces.json"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(str(workspace(house)), str(path)), encoding="utf-8")


def foreign_log(house: House, _: ExitStack) -> None:
    house.write("state/journal.db-wal", "")
    os.chown(house.state / "journal.db-wal", STRANGER, STRANGER)


def foreign_workspace(house: House, _: ExitStack) -> None:
    folder = house.root / "theirs"
    folder.mkdir()
    os.chown(folder, STRANGER, STRANGER)
    move_workspace(house, folder)


def moved_workspace(house: House, _: ExitStack) -> None:
    (house.root / "disk/shop").mkdir(parents=True)
    (house.root / "projects").symlink_to("disk")
    move_workspace(house, house.root / "projects/shop")


def spoilt_index(house: House, _: ExitStack) -> None:
    folder = house.root / "torn"
    pygit2.init_repository(str(folder))
    (folder / ".git" / "index").write_bytes(b"DIRC\0\0")
    move_workspace(house, folder)


def read_only_workspace(house: House, _: ExitStack) -> None:
    folder = workspace(house)
    house.around = f"mount --bind {folder} {folder}\nmount -o remount,bind,ro {folder}"


def unreadable_workspace(house: House, _: ExitStack) -> None:
    folder = house.root / "closed"
    folder.mkdir(mode=0o300)
    move_workspace(house, folder)
    if os.getuid() == 0:  # who else may read everything
        house.started_by = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")


def tried_by(command: str | None) -> Break:
    def change(house: House, _: ExitStack) -> None:
        file = house.config / "workspaces.json"
        text = file.read_text(encoding="utf-8")
        assert '"true"' in text
        file.write_text(text.replace('"true"', json.dumps(command)), encoding="utf-8")

    return change


def tool_that_is_not_here(house: House, ending: ExitStack) -> None:
    folder = house.root / "crate"
    folder.mkdir()
    (folder / "Cargo.toml").write_text('[package]\nname = "crate"\n', encoding="utf-8")
    tried_by(None)(house, ending)
    move_workspace(house, folder)
    if Path("/usr/bin/cargo").exists():
        house.cover("/usr/bin/cargo")


def script_of_nothing(house: House, ending: ExitStack) -> None:
    folder = house.root / "scripts"
    folder.mkdir()
    (folder / "check").write_text("#!/no/such/python -I\n", encoding="utf-8")
    (folder / "check").chmod(0o755)
    tried_by("./check")(house, ending)
    move_workspace(house, folder)


def agent_toml(house: House) -> str:
    """Return the settings as they are."""
    return (house.config / "agent.toml").read_text(encoding="utf-8")


def no_model_key(house: House, _: ExitStack) -> None:
    lines = [
        'base_url = "https://models.example.com/v1"' if line.startswith("base_url") else line
        for line in agent_toml(house).splitlines()
    ]
    house.write("config/agent.toml", "\n".join(lines) + "\n")


def broken_model_key(house: House, ending: ExitStack) -> None:
    no_model_key(house, ending)
    house.write("state/keys/model-chat.key", "not base64 at all!\n")


def silent_model(house: House, _: ExitStack) -> None:
    lines = [
        f'base_url = "http://127.0.0.1:{free_ports(1)[0]}/v1"'
        if line.startswith("base_url")
        else line
        for line in agent_toml(house).splitlines()
    ]
    house.write("config/agent.toml", "\n".join(lines) + "\n")
    house.options = ("--models",)


def left_socket(house: House, _: ExitStack) -> None:
    (house.root / "run").mkdir(mode=0o700)
    with closing(socket.socket(socket.AF_UNIX)) as left:
        left.bind(str(house.root / "run/agent.sock"))
    (house.root / "run/agent.sock").chmod(0o600)


def open_socket(house: House, ending: ExitStack) -> None:
    left_socket(house, ending)
    (house.root / "run/agent.sock").chmod(0o666)


def foreign_socket(house: House, ending: ExitStack) -> None:
    left_socket(house, ending)
    os.chown(house.root / "run/agent.sock", STRANGER, STRANGER)


def other_agent(house: House, ending: ExitStack) -> None:
    held = take_lock(house.state / "journal.db")
    ending.callback(os.close, held)


def in_journal(sql: str) -> Break:
    def change(house: House, _: ExitStack) -> None:
        with closing(sqlite3.connect(house.state / "journal.db")) as journal:
            journal.executescript(sql)
            journal.commit()

    return change


def damaged(house: House, _: ExitStack) -> None:
    path = house.state / "journal.db"
    data = bytearray(path.read_bytes())
    data[4096 : 4096 * 20] = secrets.token_bytes(4096 * 19)
    path.write_bytes(data)


def with_(**extra: str | None) -> Break:
    return lambda house, _: house.extra.update(extra)


def covered(target: str, script: str | None = None) -> Break:
    return lambda house, _: house.cover(target, script)


def written(name: str, text: str) -> Break:
    return lambda house, _: house.write(name, text)


def around(script: str) -> Break:
    def change(house: House, _: ExitStack) -> None:
        house.around = script.format(root=house.root)

    return change


CHANGED = """
    DROP TRIGGER audit_stays;
    UPDATE audit SET body = CAST(replace(CAST(body AS TEXT), 'a', 'b') AS BLOB) WHERE seq = 1"""
NO_TK = "desktop.no-tk" if sys.base_prefix == "/usr" else "desktop.built-without-tk"
OLD_GIT = "#!/bin/sh\necho git version 2.20.1\n"
MORE = "no_such_setting = 1\n"
STOPPED = "agent.stopped"
# How it is broken, and the codes of all that is told besides that the agent does not run.
CASES: dict[str, tuple[Break, set[str]]] = {
    "nothing": (lambda _house, _: None, set()),
    # the machine
    "no bubblewrap": (covered("/usr/bin/bwrap"), {"sandbox.not-installed"}),
    "user namespaces: none may be made": (no_namespaces, {"sandbox.no-namespaces"}),
    "user namespaces: off by Debian's setting": (namespaces_off, {"sandbox.namespaces-off"}),
    "user namespaces: kept off by AppArmor": (apparmor, {"sandbox.apparmor"}),
    "in a container": (container, {"sandbox.container"}),
    "no git": (covered("/usr/bin/git"), {"git.missing"}),
    "an old git": (covered("/usr/bin/git", OLD_GIT), {"git.old"}),
    "no Tk": (no_tk, {NO_TK}),
    "a display that is gone": (with_(DISPLAY=":987"), {"desktop.no-answer"}),
    "no display": (with_(DISPLAY=None), {"desktop.no-display"}),
    "Wayland alone": (
        with_(DISPLAY=None, WAYLAND_DISPLAY="wayland-0"),
        {"desktop.only-wayland"},
    ),
    "no rights to the display": (no_rights, {"desktop.no-rights"}),
    "no Chinese fonts": (
        around(
            "for one in $(fc-list :lang=zh file | sed 's,/[^/]*$,,' | sort -u); do\n"
            "mount -t tmpfs none $one; done"
        ),
        {"fonts.no-chinese"},
    ),
    "no fonts": (around("mount -t tmpfs none /usr/share/fonts"), {"desktop.no-fonts"}),
    "loopback is down": (no_loopback, {"page.no-loopback"}),
    # folders and settings
    "a folder that others may enter": (lambda h, _: h.state.chmod(0o755), {"home.open"}),
    "a folder of another user": (
        lambda h, _: os.chown(h.state, STRANGER, STRANGER),
        {"home.foreign"},
    ),
    "a journal's log of another user": (foreign_log, {"home.foreign"}),
    "a read-only file system": (read_only, {"home.read-only"}),
    "settings on a read-only file system": (
        around("mount --bind {root}/config {root}/config\nmount -o remount,bind,ro {root}/config"),
        {"home.config-read-only"},
    ),
    "a file in the place of a folder": (
        lambda h, _: (h.state.rename(h.root / "old"), h.write("state", "")),
        {"home.no-folder"},
    ),
    "a folder that is a link": (linked("state"), {"home.link"}),
    "a pairing that is a link": (linked("config/pairing.json"), {"home.files-link"}),
    "a full disk": (full, {"disk.full"}),
    "a disk full of files": (full_of_files, {"disk.no-inodes"}),
    "a setting that there is not": (
        lambda h, _: h.write("config/agent.toml", MORE + agent_toml(h)),
        {"config.unknown-setting"},
    ),
    "settings that are no TOML": (
        written("config/agent.toml", "model = [\n"),
        {"config.broken-toml"},
    ),
    "a variable that there is not": (
        with_(CODEXBRIDGE_AGENT__NO_SUCH="1"),
        {"config.unknown-variable"},
    ),
    # pairing and key
    "not paired": (no_pairing, {"pairing.none"}),
    "a pairing that is damaged": (written("config/pairing.json", "{"), {"pair.file"}),
    "a pairing that others may read": (
        lambda h, _: (h.config / "pairing.json").chmod(0o644),
        {"home.files-open"},
    ),
    "no key": (lambda h, _: h.key_file().unlink(), {"pair.key-missing"}),
    "the key of another pairing": (key_of_another, {"pair.key-missing"}),
    "a key that others may read": (lambda h, _: h.key_file().chmod(0o644), {"key.readable"}),
    "a key of another user": (
        lambda h, _: os.chown(h.key_file(), STRANGER, STRANGER),
        {"config.file-readable-by-others"},
    ),
    "a key that is damaged": (
        lambda h, _: h.key_file().write_text("%%%", encoding="utf-8"),
        {"config.key-file-broken"},
    ),
    "a key in a keyring that is away": (
        lambda h, _: h.key_file().write_text("keyring:SecretService", encoding="utf-8"),
        {"keystore.keyring-away"},
    ),
    # the gateway
    "a gateway that does not run": (nobody_listens, {"gateway.connect"}),
    "a name that nobody has": (
        lambda h, _: h.pair_with(url="https://gateway.invalid"),
        {"gateway.name"},
    ),
    "an expired certificate": (expired, {"gateway.certificate-expired"}),
    "a self-signed certificate": (self_signed, {"gateway.certificate-unknown"}),
    "a web page in the gateway's place": (html, {"gateway.http"}),
    "a challenge with a number for its keys": (
        challenges_with('{"gw_key_ids":5}'),
        {"gateway.http"},
    ),
    "a challenge with nothing for its keys": (
        challenges_with('{"gw_key_ids":null}'),
        {"gateway.http"},
    ),
    "a gateway with no room": (busy, {"gateway.busy"}),
    "a clock ten minutes off": (clock_off, {"clock.off"}),
    "a gateway with another key": (other_gateway, {"gateway.wrong-gateway"}),
    # workspaces, policies, models
    "no workspace": (lambda h, _: (h.config / "workspaces.json").unlink(), {"workspaces.none"}),
    "a list of workspaces that is damaged": (
        written("config/workspaces.json", "[]x"),
        {"workspace.file"},
    ),
    "a workspace that is gone": (
        lambda h, _: move_workspace(h, h.root / "gone"),
        {"workspaces.gone"},
    ),
    "a workspace that was moved, with a link left": (moved_workspace, {"workspaces.moved"}),
    "a workspace of another user": (foreign_workspace, {"workspaces.foreign"}),
    "a workspace that cannot be written": (read_only_workspace, {"workspaces.read-only"}),
    "a git index that was cut off": (spoilt_index, {"workspaces.git-unread"}),
    "a test command that is not there": (
        tried_by("no-such-program --all"),
        {"workspaces.test-lost"},
    ),
    "a test script whose interpreter is not there": (script_of_nothing, {"workspaces.test-lost"}),
    "a test command of the files that is not there": (
        tool_that_is_not_here,
        {"workspaces.test-lost"},
    ),
    "no test command, and none in the files": (tried_by(None), {"workspaces.no-test"}),
    "a workspace that cannot be read": (unreadable_workspace, {"workspaces.unreadable"}),
    "commands that are switched off": (
        lambda h, _: h.write("config/agent.toml", "allow_run_terminal = false\n" + agent_toml(h)),
        {"workspaces.test-refused"},
    ),
    "a policy that refuses commands": (
        written("config/policies/shop.toml", 'refuse_actions = ["run_command"]\n'),
        {"workspaces.test-refused"},
    ),
    "a policy that refuses the test's program": (
        written("config/policies/shop.toml", 'refuse_programs = ["true"]\n'),
        {"workspaces.test-refused"},
    ),
    "a policy that refuses the shell which the test is given to": (
        lambda h, e: (
            tried_by("sh -c true")(h, e),
            h.write("config/policies/shop.toml", "refuse_shell = true\n"),
        ),
        {"workspaces.test-refused"},
    ),
    "a broken policy": (written("config/policies/shop.toml", "refuse = ["), {"policies.broken"}),
    "a policy of no workspace": (
        written("config/policies/shpo.toml", "require_typed = true\n"),
        {"policies.stray"},
    ),
    "no model": (written("config/agent.toml", ""), {"models.unset"}),
    "a model without a key": (no_model_key, {"models.key-missing"}),
    "a model whose key is damaged": (broken_model_key, {"models.key-broken"}),
    "a coding agent that is not there": (
        written("config/agent.toml", '[models.m]\nkind = "acp"\nprogram = "/no/agent"\n'),
        {"model.program"},
    ),
    "a model that does not answer": (silent_model, {"model.unreachable"}),
    # the agent and what it keeps
    "a socket that is left over": (left_socket, {"socket.stale"}),
    "a file in the place of the socket": (
        written("run/agent.sock", "notes"),
        {"socket.no-socket"},
    ),
    "a socket that others may reach": (open_socket, {"socket.open"}),
    "a socket of another user": (foreign_socket, {"socket.foreign"}),
    "another agent on the same journal": (other_agent, {"agent.not-listening"}),
    "a journal of a newer release": (
        in_journal("PRAGMA user_version = 99"),
        {"config.store-newer"},
    ),
    "a damaged journal": (damaged, {"config.journal-damaged"}),
    "an emptied journal": (
        lambda h, _: (h.state / "journal.db").write_bytes(b""),
        {"config.journal-damaged"},
    ),
    "an audit log that was changed": (in_journal(CHANGED), {"audit.broken"}),
}
# Where the agent cannot be asked, that it is stopped is not told either.
UNASKED = {
    *("home.foreign", "home.read-only", "home.no-folder", "home.files-open"),
    "home.files-link",
    *("socket.open", "socket.foreign", "agent.not-listening"),
}


# What a window that is opened to try it has to do with; to try it takes half of a look, and to try
# the sandbox a third.
ON_SCREEN = ("desktop.", "fonts.")


@contextmanager
def broken(good: Good, root: Path, break_: Break, wanted: set[str]) -> Iterator[House]:
    with ExitStack() as ending:
        house = House(
            copy_of(good.place.root, root),
            extra={"DISPLAY": good.screen},
            tries_sandbox=not wanted,  # or where the machine is broken
        )
        if wanted and not any(code.startswith(ON_SCREEN) for code in wanted):
            house.extra["CODEXBRIDGE_AGENT__WINDOWS"] = "false"
        break_(house, ending)
        yield house


@pytest.mark.parametrize("name", CASES)
def test_the_cause_is_told_and_nothing_else(name: str, good: Good, tmp_path: Path) -> None:
    break_, wanted = CASES[name]
    with broken(good, tmp_path / "home", break_, wanted) as house:
        answer = house.found()
    told = wanted if wanted & UNASKED else {*wanted, STOPPED}
    assert ills(answer) == told
    for one in answer["checks"]:
        if one["tone"] in ("bad", "warn"):  # what it is, and what mends it, in both languages
            assert all(one[lang]["said"] for lang in ("en", "zh")), one
            assert one["code"].partition(".")[0] != "internal"


def test_a_look_leaves_nothing_behind(good: Good, tmp_path: Path) -> None:
    root = copy_of(good.place.root, tmp_path / "home")
    house = House(root, extra={"DISPLAY": good.screen}, started_by=())
    before = content(house.root)
    (approvals,) = (one for one in house.found()["checks"] if one["check"] == "approvals")
    assert approvals["code"] == "approvals.unseen"
    assert content(house.root) == before


def content(root: Path) -> dict[Path, bytes]:
    """Return all files, but for those in which SQLite counts its readers."""
    beside = ("journal.db-shm", "journal.db-wal")
    files = (path for path in root.rglob("*") if path.is_file() and path.name not in beside)
    return {path: path.read_bytes() for path in files}
