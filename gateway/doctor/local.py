"""Looks at what lies on this machine: settings, secrets, state folder, disk and store."""

from __future__ import annotations

import asyncio
import os
import platform
import pwd
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, TypeVar
from urllib.parse import urlsplit

from common.audit_check import STARTED
from common.doctor import Finding, Fix, Tone
from common.errors import ConfigError
from common.home import close_to_others
from common.settings import readable_by_others
from gateway.base.identity import KEYS, KeyRing
from gateway.base.messages import URL_CHECKED
from gateway.base.settings import admins_of, check_servable, setting_of, zone_of
from gateway.channels.wecom_app import cryptos_of
from gateway.doctor.subject import Subject, few, named
from gateway.doctor.words import CREATE_FOLDER, MAKE_PRIVATE
from gateway.flow.alarms import SENTENCES, UNREADABLE, read_noted
from gateway.store import Connection, agents, audit, inbound, members
from gateway.store.runner import open_admin
from gateway.store.sqlite import HEAD, check_whole, stored_revision
from gateway.wecom.crypto import RANDOM_BYTES

EXAMPLE_CORP: Final = "ww0123456789abcdef"
EXAMPLE_HOSTS: Final = (".example.com", ".example.org", ".example.net", ".example")
LEAST_BYTES: Final = 10_000_000  # below it a day's messages may not fit
FEW_BYTES: Final = 200_000_000
MAX_SECRET_BYTES: Final = 8_192
DAY_MS: Final = 86_400_000

_OTHER_CORP: Final = "callback.receive-id"
_SIGNATURE: Final = "callback.signature"
UNREAD: Final = (*UNREADABLE, _SIGNATURE)
_ALARMS: Final = {*SENTENCES, "store.was-full"} - UNREADABLE - {"app.restored"}
_HELD: Final = """
    SELECT COUNT(*) AS count, MAX(code) AS code, MIN(created_at) AS since FROM outbox
    WHERE state = 'queued' AND code IS NOT NULL AND code <> 'wecom.pace'"""
_FAILED: Final = """
    SELECT COUNT(*) AS count, MAX(code) AS code, MIN(ended_at) AS since FROM outbox
    WHERE state = 'failed' AND ended_at > :after"""

P = ParamSpec("P")
T = TypeVar("T")


class Local:
    """The checks that need no network."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    async def version(self) -> Finding:
        """Say what runs."""
        facts = {"version": version("codexbridge"), "python": platform.python_version()}
        return Finding("version.fine", facts=facts)

    async def secrets(self) -> Finding:
        """Look at the files of the secrets, whatever else of the settings is wrong."""
        folder = self._subject.secrets_folder
        if folder is None:
            return Finding("secrets.no-folder")
        return await asyncio.to_thread(_look_at_secrets, folder)

    async def settings(self) -> Finding:
        """Read the settings as the server does."""
        subject = self._subject
        loaded = subject.served
        if loaded is None:
            loaded = await asyncio.to_thread(subject.read)
        check_servable(loaded)
        subject.loaded = loaded
        apps = loaded.wecom.every()
        for name, app in apps.items():
            if app.corp_id == EXAMPLE_CORP:
                path = ".".join(setting_of(name, "corp_id"))
                return Finding("settings.example", Tone.BAD, {"name": path})
        if f".{urlsplit(loaded.public_url).hostname}".endswith(EXAMPLE_HOSTS):
            return Finding("settings.example", Tone.BAD, {"name": "public_url"})
        corps = dict.fromkeys(app.corp_id for app in apps.values())
        return Finding("settings.fine", facts={"corp": tuple(corps)})

    async def callback_keys(self, app: str) -> Finding:
        """Look at the form of Token and EncodingAESKey, and go both ways with them."""
        for crypto in cryptos_of(self._subject.app(app), app, strict=True):
            crypto.decrypt(crypto.encrypt(b"echo", random=secrets.token_bytes(RANDOM_BYTES)))
        return Finding("callback-keys.fine")

    async def state(self) -> Finding:
        """Look at the state folder: whose it is, and who can read what is in it."""
        return await asyncio.to_thread(_look_at_state, self._subject.state)

    async def disk(self) -> Finding:
        """Look for room where the store is, by writing a little."""
        return await asyncio.to_thread(_look_at_disk, self._subject.state)

    async def store(self) -> Finding:
        """Look through the store; it is neither made nor migrated."""
        return await asyncio.to_thread(_look_at_store, self._subject.store)

    async def audit_log(self) -> Finding:
        """Check the chain of the newest entries, as the server's start does."""
        await self._read(audit.check_newest)
        return Finding("audit-log.fine")

    async def keys(self) -> Finding:
        """Look at the gateway's own keys; none is made."""
        folder = self._subject.state / KEYS
        names = await asyncio.to_thread(KeyRing(folder).reload)
        if not names and len(await self._read(agents.everyone)) > 0:
            return Finding("keys.lost", Tone.BAD, {"path": folder})
        return Finding("keys.fine" if names else "keys.none-yet", facts={"count": len(names)})

    async def members(self) -> Finding:
        """Count who may write, and look for somebody who is told of alarms."""
        if not (count := await self._read(members.count)):
            raise ConfigError("config.no-members")
        facts: dict[str, object] = {"count": count}
        by_role = await self._read(members.admins)
        if not (by_role or admins_of(self._subject.settings)):
            return Finding("members.no-admin", Tone.WARN, facts)
        return Finding("members.fine", facts=facts)

    async def machines(self) -> Finding:
        """Look for a machine that is there for a member."""
        known = await self._read(agents.everyone)
        valid = [agent for agent in known if agent.revoked_at is None]
        if not valid:
            return Finding("machines.revoked" if known else "machines.none", Tone.WARN)
        bound = await self._read(members.by_machine)
        serving = [agent for agent in valid if agent.agent_id in bound]
        idle = [agent.machine for agent in valid if agent not in serving]
        unbound = Finding("machines.unbound", Tone.WARN, {"names": few(idle)})
        if not serving:
            return unbound
        away = [agent.machine for agent in serving if not agent.online]
        # What was noted of a gateway that does not run says nothing.
        if len(away) == len(serving) and self._subject.running:
            return Finding("machines.away", Tone.WARN, {"names": away})
        theirs = {person for agent in serving for person in bound[agent.agent_id]}
        everyone = [one.person for one in await self._read(members.everyone)]
        if without := [str(person) for person in everyone if person not in theirs]:
            return Finding("machines.lacking", Tone.WARN, {"names": few(without)})
        if idle:
            return unbound
        facts = {"count": len(valid), "online": len(valid) - len(away)}
        return Finding("machines.fine", facts=facts)

    async def messages(self, app: str) -> Finding:
        """Look at what came for an app since the start, and whether it could be read."""
        noted = await asyncio.to_thread(read_noted, self._subject.state, app)
        heard = await self._read(inbound.last_heard, app)
        readable = max(heard, noted.get(URL_CHECKED, 0))
        # A wrong signature anybody can send: it hides nothing.
        unread = noted.keys() & {*UNREAD}
        for event in sorted(unread, key=lambda one: (one == _SIGNATURE, -noted[one])):
            facts = {"at": self._moment(noted[event]), **named(app)}
            if event == _OTHER_CORP and self._subject.is_unknown_corp:
                continue  # told already, by WeCom itself
            # One that is right and came since says that all is well.
            if noted[event] > readable:
                return Finding(event, Tone.WARN if event == _SIGNATURE else Tone.BAD, facts)
        known = await self._read(audit.newest_events, app=app)
        # Another address takes a restart: what came after it came to the one of now.
        if readable <= next((at_ms for event, at_ms in known if event == STARTED), -1):
            ours = f"{self._subject.settings.public_url}{self._subject.app(app).callback_path}"
            checked = await self._read(audit.newest_facts, URL_CHECKED, app=app)
            if (saved := checked.get("url", ours)) != ours:
                return Finding("messages.other-url", Tone.WARN, {"saved": saved, "url": ours})
        if not heard:
            if not any(event == URL_CHECKED for event in (*noted, *dict(known))):
                return Finding("messages.not-saved", Tone.WARN)
            return Finding("messages.none-yet")
        return Finding("messages.fine", facts={"at": self._moment(heard)})

    async def outbox(self) -> Finding:
        """Look for messages that could not be sent."""
        lately = self._subject.clock.now().wall_ms - DAY_MS
        for name, sql in (("held", _HELD), ("failed", _FAILED)):
            count, code, since = await self._read(_counted, sql, lately)
            if count:
                facts = {"count": count, "code": code, "at": self._moment(since)}
                return Finding(f"outbox.{name}", Tone.WARN, facts)
        return Finding("outbox.fine")

    async def alarms(self) -> Finding:
        """Look for alarms of the last day in the audit log."""
        since = self._subject.clock.now().wall_ms - DAY_MS
        found = await self._read(audit.newest_events)
        names = sorted({event for event, at_ms in found if event in _ALARMS and at_ms >= since})
        if not names:
            return Finding("alarms.fine")
        return Finding("alarms.recent", Tone.WARN, {"names": names})

    async def _read(
        self, fn: Callable[Concatenate[Connection, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        def read() -> T:
            with open_admin(self._subject.store) as store:
                return store.read(fn, *args, **kwargs)

        return await asyncio.to_thread(read)

    def _moment(self, at_ms: int) -> str:
        zone = zone_of(self._subject.settings.time_zone)
        return datetime.fromtimestamp(at_ms / 1000, zone).strftime("%Y-%m-%d %H:%M")


def _look_at_secrets(folder: Path) -> Finding:
    try:
        files = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
        found = {path: path.lstat() for path in files}
    except OSError as error:
        raise ConfigError("config.no-file", file=error.filename, why=error.strerror) from None
    links = [path for path in files if stat.S_ISLNK(found[path].st_mode)]
    own = {path: found[path] for path in files if path not in links}
    if folders := [path for path in files if path.is_dir()]:
        return Finding("secrets.folder", Tone.BAD, {"path": folders[0]})
    for path in own:
        if found[path].st_uid not in (0, os.getuid()):
            facts = {"path": path, "owner": _owner(found[path])}
            return Finding("secrets.owner", Tone.BAD, facts)
    if exposed := {path: at for path, at in own.items() if readable_by_others(at)}:
        return _exposed("secrets.exposed", exposed, folder)
    for path in files:
        if ill := _look_at_value(path):
            return Finding(ill, Tone.BAD, {"path": path})
    if links:
        return Finding("secrets.link", Tone.WARN, _named(links, folder))
    return Finding("secrets.fine", facts={"path": folder, "count": len(files)})


def _look_at_value(path: Path) -> str | None:
    with path.open("rb") as stream:
        value = stream.read(MAX_SECRET_BYTES + 1).rstrip(b"\r\n")
    if not value.strip():
        return "secrets.empty"
    return None if all(0x20 < byte < 0x7F for byte in value) else "secrets.blanks"


def _look_at_state(state: Path) -> Finding:
    try:
        found = state.stat()
    except FileNotFoundError:
        create = Fix(CREATE_FOLDER, lambda: state.mkdir(mode=0o700, parents=True))
        return Finding("state.missing", Tone.BAD, {"path": state}, create)
    if not stat.S_ISDIR(found.st_mode):
        return Finding("state.no-folder", Tone.BAD, {"path": state})
    places = dict(_places(state))
    links = [path for path in places if stat.S_ISLNK(places[path].st_mode)]
    for path in links:
        del places[path]
    for path, own in places.items():
        if own.st_uid != os.getuid():
            return Finding("state.owner", Tone.BAD, {"path": path, "owner": _owner(own)})
    if exposed := {path: own for path, own in places.items() if own.st_mode & 0o077}:
        return _exposed("state.exposed", exposed, state)
    if links:
        return Finding("state.link", Tone.WARN, _named(links, state))
    return _fine("state.fine", state)


def _places(state: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for path in (state, *state.iterdir(), *(state / KEYS).glob("*.key")):
        with suppress(FileNotFoundError):  # a temporary file, or one of SQLite's own
            yield path, path.lstat()


def _look_at_disk(state: Path) -> Finding:
    free = shutil.disk_usage(state).free
    facts: dict[str, object] = {"path": state, "free": f"{free // 1_000_000} MB"}
    try:
        with tempfile.TemporaryFile(dir=state) as file:
            file.write(bytes(65_536))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        return Finding("disk.unwritable", Tone.BAD, facts | {"why": error.strerror or ""})
    if free < LEAST_BYTES:
        return Finding("disk.full", Tone.BAD, facts)
    if free < FEW_BYTES:
        return Finding("disk.little", Tone.WARN, facts)
    return Finding("disk.fine", facts=facts)


def _look_at_store(path: Path) -> Finding:
    if not path.exists():
        return Finding("store.none-yet", Tone.BAD, {"path": path})
    revision = stored_revision(path)
    if revision is not None and revision > HEAD:
        raise ConfigError("config.store-newer", path=path, revision=revision)
    if revision != HEAD:
        return Finding("store.older", Tone.BAD, {"path": path})
    check_whole(path)
    return _fine("store.fine", path)


def _exposed(code: str, found: Mapping[Path, os.stat_result], folder: Path) -> Finding:
    def hide() -> None:
        for path, before in found.items():
            close_to_others(path, before)

    return Finding(code, Tone.BAD, _named(found, folder), Fix(MAKE_PRIVATE, hide))


def _named(paths: Iterable[Path], folder: Path) -> dict[str, object]:
    return {"names": [path.name for path in paths], "path": folder}


def _fine(code: str, path: Path) -> Finding:
    return Finding(code, facts={"path": path})


def _owner(found: os.stat_result) -> str:
    try:
        return pwd.getpwuid(found.st_uid).pw_name
    except KeyError:
        return str(found.st_uid)


def _counted(conn: Connection, sql: str, after: int) -> tuple[int, str, int]:
    row = conn.one(sql, after=after)
    return (row["count"], row["code"] or "", row["since"] or 0) if row else (0, "", 0)
