"""Looks at what is this installation's own: folders, settings, keys, workspaces, journal, agent."""

from __future__ import annotations

import asyncio
import os
import pwd
import re
import shlex
import sqlite3
import stat
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, closing, suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Final
from urllib.parse import quote

from common.audit import base_of, broken, verify_chain
from common.clock import SystemClock
from common.doctor import Finding, Fix, Tone
from common.errors import CodexBridgeError, ConfigError, StateError
from common.home import Home, close_to_others, private_dir
from common.locks import open_lock
from common.private_database import is_emptied
from common.sentences import Sentence
from local_agent.doctor.installation import Installation
from local_agent.errors import ModelError
from local_agent.faces.control import wire
from local_agent.faces.control.client import stream
from local_agent.link.keys import LOCAL_KEY, OwnKeys
from local_agent.link.pairing import FILE as PAIRING
from local_agent.link.pairing import KEYS, Pairing, load_key, load_pairing, open_keys
from local_agent.models.keys import AWAY, ModelKeys
from local_agent.safety.policy import standing, stray_policies
from local_agent.sandbox.bubblewrap import Containment
from local_agent.settings import fingerprint, load_settings, settings_file
from local_agent.store.audit_log import check_signed, read_audit
from local_agent.store.database import look_through, newest_version, not_opened
from local_agent.store.lock import JOURNAL, take_lock
from local_agent.workspace.registry import FILE as WORKSPACES

FULL_BYTES: Final = 16 * 1024 * 1024  # less than this, and the next task cannot be kept
LOW_BYTES: Final = 500 * 1024 * 1024
NEWEST: Final = 256  # entries of the audit log; as many as the agent checks when it starts
JOURNAL_S: Final = 5.0  # for looking through a large one
_OTHERS: Final = 0o077
_SERVICES: Final = (
    ".config/systemd/user/codexbridge*.service",
    "Library/LaunchAgents/*codexbridge*.plist",
)
_SYSTEM_SERVICES: Final = "etc/systemd/system/codexbridge*.service"
_OF_UNIT: Final = re.compile(r"^(ExecStart|User)=(.*\S)", re.MULTILINE)
_SHOW: Final = (
    *("/usr/bin/systemctl", "--user", "show"),
    "--property=LoadState,ActiveState,SubState,UnitFileState",
)

MAKE: Final = Sentence(en="Create {path}, private to you?", zh="创建仅你可访问的 {path}？")
CLOSE: Final = Sentence(en="Make {path} private to you?", zh="将 {path} 设为仅你可访问？")
REMOVE: Final = Sentence(en="Remove the left-over socket {path}?", zh="删除残留的套接字 {path}？")


# --- folders and the disk --------------------------------------------------------------------


async def home(here: Installation) -> Finding:
    """Look whether our folders are there, ours, private and writable."""
    return await asyncio.to_thread(_home, here.places)


def _home(places: Home) -> Finding:
    folders = (places.config, places.state)
    there = [folder for folder in folders if folder.exists()]
    for folder in there:
        found = folder.stat()
        if not stat.S_ISDIR(found.st_mode):
            return Finding("home.no-folder", Tone.BAD, {"path": folder})
        if _is_foreign(folder):
            return _foreign(folder)
        needed = os.W_OK if folder == places.state else os.R_OK
        if not os.access(folder, needed | os.X_OK):
            return Finding("home.read-only", Tone.BAD, {"path": folder})
    if opened := [path for path in there if _is_open(path)]:
        return _closable("home.open", Tone.WARN, opened)
    if (ill := _files(places)) is not None:
        return ill
    if links := [path for path in folders if path.is_symlink()]:
        return Finding("home.link", Tone.WARN, {"path": _listed(links)})
    if places.config in there and not os.access(places.config, os.W_OK):
        return Finding("home.config-read-only", Tone.WARN, {"path": places.config})
    if missing := [folder for folder in folders if folder not in there]:
        fix = Fix(MAKE, lambda: [private_dir(folder) for folder in missing])
        return Finding("home.new", facts={"path": _listed(missing)}, fix=fix)
    return Finding("home.ok", facts={"path": places.state})


def _files(places: Home) -> Finding | None:
    with suppress(OSError), tempfile.NamedTemporaryFile(dir=places.state) as file:
        try:
            if (lock := open_lock(Path(file.name))) is not None:
                os.close(lock)
        except ConfigError as error:
            return Finding("home.no-locks", Tone.BAD, error.facts)
    files = (places.config / PAIRING, places.config / WORKSPACES, places.state / JOURNAL)
    beside = (places.state / f"{JOURNAL}-{part}" for part in ("wal", "shm"))
    if foreign := [path for path in (*files, *beside) if _is_foreign(path)]:
        return _foreign(foreign[0])
    if opened := [path for path in files if _is_open(path)]:
        return _closable("home.files-open", Tone.BAD, opened)
    if links := [path for path in files if path.is_symlink()]:
        return Finding("home.files-link", Tone.BAD, {"path": _listed(links)})
    return None


def _is_foreign(path: Path) -> bool:
    return path.exists() and path.stat().st_uid != os.getuid()


def _foreign(path: Path) -> Finding:
    owner, user = _name_of(path.stat().st_uid), _name_of(os.getuid())
    return Finding("home.foreign", Tone.BAD, {"path": path, "owner": owner, "user": user})


def _is_open(path: Path) -> bool:
    with suppress(OSError):
        mode = path.lstat().st_mode
        return bool(mode & _OTHERS) and not stat.S_ISLNK(mode)  # what a link says, says nothing
    return False


def _closable(code: str, tone: Tone, paths: Sequence[Path]) -> Finding:
    command = f"chmod go-rwx {shlex.join(map(str, paths))}"
    facts = {"path": _listed(paths), "command": command}
    found = {path: path.lstat() for path in paths}

    def close() -> None:
        for path, before in found.items():
            close_to_others(path, before)

    return Finding(code, tone, facts, Fix(CLOSE, close))


def _listed(items: Iterable[object]) -> str:
    return ", ".join(map(str, items))


def _name_of(uid: int) -> str:
    with suppress(KeyError):
        return pwd.getpwuid(uid).pw_name
    return str(uid)


async def disk(here: Installation) -> Finding:
    """Look for room where the journal grows."""
    return await asyncio.to_thread(_disk, here.places.state)


def _disk(state: Path) -> Finding:
    found = os.statvfs(next(path for path in (state, *state.parents) if path.exists()))
    free = found.f_bavail * found.f_frsize
    facts = {"path": state, "free": f"{free // 1_000_000:,} MB"}
    if free < FULL_BYTES:
        return Finding("disk.full", Tone.BAD, facts)
    if found.f_files and not found.f_favail:
        return Finding("disk.no-inodes", Tone.BAD, facts)
    if free < LOW_BYTES:
        return Finding("disk.low", Tone.WARN, facts)
    return Finding("disk.ok", facts=facts)


async def settings(here: Installation) -> Finding:
    """Read the settings; every error of theirs is a finding."""
    file = settings_file(here.places, here.environ, here.file)
    here.settings = await asyncio.to_thread(load_settings, here.places, here.environ, here.file)
    return Finding("settings.ok", facts={"file": file}) if file else Finding("settings.none")


# --- pairing and key -------------------------------------------------------------------------


async def pairing(here: Installation) -> Finding:
    """Read how this machine is paired."""
    here.pairing = await asyncio.to_thread(load_pairing, here.places)
    if here.pairing is not None:
        facts = {"url": here.pairing.url, "machine": here.pairing.machine}
        return Finding("pairing.ok", facts=facts)
    alone = here.places.state / KEYS / f"{LOCAL_KEY}.key"
    if await asyncio.to_thread(alone.exists):
        return Finding("pairing.alone")  # it has run without a gateway already
    return Finding("pairing.none", Tone.WARN)


async def key(here: Installation) -> Finding:
    """Load the key that belongs to the pairing; every error of the keystore is a finding."""
    if here.pairing is None:
        return Finding("key.none")
    return await asyncio.to_thread(_key, here.places, here.pairing)


def _key(places: Home, pairing: Pairing) -> Finding:
    keys = open_keys(places)
    _, name = keys_in_use(places, pairing)
    try:
        load_key(name, keys)
    except ConfigError as error:
        path = places.state / KEYS / f"{name}.key"
        if error.code == "config.file-readable-by-others" and path.lstat().st_uid == os.getuid():
            return _closable("key.readable", Tone.BAD, [path])
        raise
    if keys.where == "file":
        return Finding("key.in-file")
    return Finding("key.in-keyring", facts={"where": keys.where.removeprefix("keyring:")})


def keys_in_use(places: Home, pairing: Pairing) -> tuple[bytes, str]:
    """Return the gateway's key and the name of our own, as pairing and journal have them."""
    row = None
    with suppress(sqlite3.Error), closing(read_only(places.state / JOURNAL)) as opened:
        asked = "SELECT gateway_key, own_key_name FROM peers WHERE peer = ?"
        row = opened.execute(asked, (pairing.peer_name,)).fetchone()
    gateway, own = row or (None, None)
    return gateway or pairing.gateway_key.raw, own or pairing.key_name


def read_only(path: Path) -> sqlite3.Connection:
    """Open a journal for reading, whether or not its agent runs.

    Raises:
        sqlite3.Error: there is none, or it cannot be read.
    """
    return sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True)


# --- the running agent -----------------------------------------------------------------------


async def control_socket(here: Installation) -> Finding:
    """Look at the socket over which the command line asks the agent."""
    path = wire.socket_path(here.places, here.environ)
    found = await asyncio.to_thread(_socket, path)
    if isinstance(found, Finding):
        return found
    with suppress(CodexBridgeError, OSError):
        if await here.running() is None:
            fix = Fix(REMOVE, partial(_remove_socket, path, found, here.places.state))
            return Finding("socket.stale", Tone.WARN, {"path": path}, fix)
    return Finding("socket.ok", facts={"path": path})


def _remove_socket(path: Path, found: os.stat_result, state: Path) -> None:
    with ExitStack() as ending, suppress(FileNotFoundError):  # gone already: as well
        if state.is_dir():  # else no agent runs; while we have the lock, none begins to
            ending.callback(os.close, take_lock(state / JOURNAL))
        now = path.lstat()
        if (now.st_dev, now.st_ino) != (found.st_dev, found.st_ino):
            raise StateError("doctor.changed", path=path)
        path.unlink()


def _socket(path: Path) -> Finding | os.stat_result:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return Finding("socket.none")
    if found.st_uid != os.getuid():
        owner = _name_of(found.st_uid)
        return Finding("socket.foreign", Tone.BAD, {"path": path, "owner": owner})
    if not stat.S_ISSOCK(found.st_mode):
        return Finding("socket.no-socket", Tone.WARN, {"path": path})
    opened = [one for one in (path.parent, path) if _is_open(one)]
    return _closable("socket.open", Tone.BAD, opened) if opened else found


async def agent(here: Installation) -> Finding:
    """Ask the agent how it is."""
    if (status := await here.running()) is None:
        return Finding("agent.stopped", Tone.WARN)
    if status.settings and here.settings and status.settings != fingerprint(here.settings):
        return Finding("agent.other-settings", Tone.WARN)
    return Finding("agent.ok", facts={"machine": status.machine, "open": status.open_tasks})


async def approvals(here: Installation) -> Finding:
    """Tell what waits for the person."""
    status = await here.status()
    if status is None:
        return Finding("approvals.unseen")
    if not status.approvals:
        return Finding("approvals.none")
    names = _listed(one.short_id for one in status.approvals)
    return Finding("approvals.waiting", facts={"count": len(status.approvals), "tasks": names})


async def service(here: Installation) -> Finding:
    """Look for a unit that starts the agent."""
    units = await asyncio.to_thread(_units, here.home)
    if not units:
        return Finding("service.none")
    found = [path for path, gone in units.items() if gone is None]
    if not found:
        path, gone = next(iter(units.items()))
        return Finding("service.gone", Tone.BAD, {"file": path, "program": gone})
    facts = {"file": _listed(found)}
    shown = await here.tool(*_SHOW, found[0].stem) if found[0].suffix == ".service" else None
    of = dict(line.partition("=")[::2] for line in (shown or "").splitlines())
    if of.get("LoadState") != "loaded":
        return Finding("service.installed", facts=facts)  # another system's, or cannot be asked
    if of["ActiveState"] == "failed" or of["SubState"].startswith("auto-restart"):
        return Finding("service.failed", Tone.BAD, facts)
    if of["ActiveState"] != "active":
        return Finding("service.stopped", Tone.WARN, facts)
    if of["UnitFileState"] != "enabled":
        return Finding("service.by-hand", Tone.WARN, facts)
    return Finding("service.ok", facts=facts)


def _units(home: Path) -> dict[Path, str | None]:
    """Return the units that start our agent, each with its program where that is gone."""
    own = sorted(path for pattern in _SERVICES for path in home.glob(pattern))
    us = (str(os.getuid()), _name_of(os.getuid()))
    found: dict[Path, str | None] = {}
    for path in (*own, *sorted(Path("/").glob(_SYSTEM_SERVICES))):
        user, command = _unit(path)
        if "gateway" in command or not (path in own or user in us or "%" in user):
            continue
        program = command[0] if command else ""
        known = program.startswith("/") and not {"%", "$"} & {*program}
        found[path] = program if known and not os.access(program, os.X_OK) else None
    return found


def _unit(path: Path) -> tuple[str, list[str]]:
    """Return whom a unit of systemd runs as, and its command, as far as they can be read."""
    text = ""
    for file in (path, *sorted(path.parent.glob(f"{path.name}.d/*.conf"))):
        with suppress(OSError):
            text += file.read_text("utf-8", "replace") + "\n"
    told = dict(_OF_UNIT.findall(text.replace("\\\n", " ")))
    command: list[str] = []
    with suppress(ValueError):  # quotes without an end
        command = shlex.split(told.get("ExecStart", "").lstrip("@-:+!"))
    return told.get("User", "root"), command


# --- workspaces, policies, models ------------------------------------------------------------


async def policies(here: Installation) -> Finding:
    """Read the policy of each workspace, and look for those of none."""
    return await asyncio.to_thread(_policies, here.places, [one.name for one in here.workspaces])


def _policies(places: Home, names: Sequence[str]) -> Finding:
    found = [standing(places, name) for name in names]
    for one in found:
        if one.state == "broken":
            facts = {"file": places.config / (one.file or ""), "key": one.key or "—"}
            return Finding("policies.broken", Tone.BAD, facts)
    if stray := stray_policies(places, names):
        return Finding("policies.stray", Tone.WARN, {"files": _listed(stray)})
    count = sum(one.state == "in-force" for one in found)
    return Finding("policies.ok" if count else "policies.none", facts={"count": count})


async def models(here: Installation) -> Finding:
    """Look at each model, its key and its program; ask it, where that is wanted."""
    from local_agent.models.registry import Around, Models

    if here.settings is None or not here.settings.models:
        return Finding("models.unset", Tone.WARN)
    level = here.sandbox.level if here.sandbox else "none"
    around = Around(
        places=here.places,
        environ=here.environ,
        workspaces=lambda: tuple(one.path for one in here.workspaces),
        contain=Containment(here.places, here.home, level, tuple).contain,
    )
    known = Models(here.settings, keys=ModelKeys(open_keys(here.places)), around=around)
    for one in await asyncio.to_thread(known.configured):
        tone = Tone.BAD if one.is_asked else Tone.WARN
        if one.key in (AWAY, "broken") or (one.key is None and one.needs_key):
            return Finding(f"models.key-{one.key or 'missing'}", tone, {"name": one.name})
        try:
            await asyncio.to_thread(known.look, one.name)
        except ModelError as error:  # along PATH, the agent may find what is not found here
            by_path = here.settings.models[one.name].program is None
            return Finding(error.code, Tone.WARN if by_path else tone, error.facts)
    if here.ask_models:
        try:
            for name in here.settings.models:
                if await here.status() is None:
                    await known.check(name)
                else:
                    steps = stream(here.places, here.environ, "models_test", name=name)
                    await asyncio.to_thread(list, steps)
        finally:
            await known.aclose()
    facts = {"name": here.settings.asked_model, "count": len(here.settings.models)}
    return Finding("models.answer" if here.ask_models else "models.ok", facts=facts)


# --- journal and audit log -------------------------------------------------------------------


async def journal(here: Installation) -> Finding:
    """Look through the journal, for some seconds at most."""
    return await asyncio.to_thread(_journal, here.places.state / JOURNAL)


def _journal(path: Path) -> Finding:
    if not path.exists():
        return Finding("journal.none")
    if is_emptied(path):
        raise ConfigError("config.journal-damaged", path=path, why="empty")
    if not os.access(path, os.R_OK | os.W_OK):
        raise ConfigError("config.journal-denied", path=path, why="EACCES")
    try:
        with closing(read_only(path)) as opened:
            version = int(opened.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.Error as error:
        raise not_opened(error, path) from error
    if version > newest_version():
        raise ConfigError("config.store-newer", path=path, found=version, known=newest_version())
    now = SystemClock().now
    until = now().mono + JOURNAL_S
    look_through(path, lambda: now().mono > until)
    size = f"{path.stat().st_size / 1_000_000:.1f} MB"
    return Finding("journal.ok", facts={"version": version, "size": size})


async def audit(here: Installation) -> Finding:
    """Check the newest entries of the audit log, or all."""
    path = here.places.state / JOURNAL
    if not await asyncio.to_thread(path.exists):
        return Finding("audit.empty")
    try:
        count = await asyncio.to_thread(_audit, here.places, path, whole=here.whole_audit)
    except ConfigError as error:
        if error.code == "audit.store-older":  # brought up to date by the next start
            return Finding("audit.older")
        raise
    return Finding("audit.whole" if here.whole_audit else "audit.ok", facts={"count": count})


def _audit(places: Home, path: Path, *, whole: bool) -> int:
    keys = OwnKeys(places)
    with read_audit(path) as log:
        if whole:
            return log.check(keys=keys, to_the_end=True).head.seq
        signed = next(iter(log.signed()), None)
        rows = log.entries(signed.seq - NEWEST if signed else None)
        first = next(rows, None)
        if first is None:
            return 0
        head = verify_chain(chain([first], rows), after=base_of(first))
        check_signed(signed, head)
        if signed is not None and signed.public_key not in keys:
            raise broken(head.seq, "key")
        return head.seq
