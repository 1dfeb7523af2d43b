"""What a person can send to somebody who helps: one file, and nothing in it that is a secret.

It is put together from what is known to be harmless, never by taking things away from all there is:
no table of texts is read, and of a log only lines of our own form.  What names a person, a machine
or a place has a stand-in, the same one throughout, so that it can still be followed.
"""

from __future__ import annotations

import asyncio
import errno
import getpass
import json
import os
import platform
import re
import socket
import sqlite3
import stat
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path, PurePath
from typing import Any, Final
from urllib.parse import urlsplit

from common.doctor import Doctor, Examined, examine
from common.redact import redact
from common.settings import leaves
from local_agent.doctor.checks import checks
from local_agent.doctor.installation import Installation
from local_agent.doctor.own import read_only
from local_agent.faces.page.settings import effective_settings
from local_agent.link.pairing import open_keys
from local_agent.models.keys import ModelKeys
from local_agent.safety.policy import Policy
from local_agent.settings import AgentSettings, ModelSettings, settings_file
from local_agent.store.lock import JOURNAL

LOG_LINES: Final = 200
LOG_BYTES: Final = 256 * 1024
_PARTS: Final = ("codexbridge", "aiohttp", "websockets", "cryptography", "pydantic", "pygit2")
# What a person wrote there may hold anything; that it is set is all that helps.
_UNSHOWN: Final = re.compile(
    r"default_test_command|prefix|model|models\..*\.(args|read_only|program|base_url|model|effort|key_variable)"
)
_LINE: Final = re.compile(
    r"\d{4}-\d\d-\d\dT[\d:.]+\S* +(debug|info|warning|error|critical) +agent +[a-z][\w.-]+( |$)"
)
# Facts of our log that are words of ours or numbers; of all others only the name is kept.
_FACTS: Final = re.compile(
    r"(code|why|state|detail|skew_s|retry_s|check|checks|sandbox|task|kind)=[\w.:-]{1,64}"
)
_COUNTED: Final = ("inbox", "outbox", "events", "approvals", "effects", "audit", "runs", "turns")


async def new_report(here: Installation, doctor: Doctor, *, log: Path | None) -> dict[str, Any]:
    """Return the report, by sections.

    Args:
        here: What it is about.
        doctor: Words what is found.
        log: A log of the agent that the person named.

    Raises:
        OSError: that log cannot be read.
    """
    found = await examine(checks(here))
    status = await here.status()
    sections: dict[str, Any] = {
        "versions": await asyncio.to_thread(_versions),
        "doctor": doctor.to_json(found),
        "settings": await asyncio.to_thread(_settings, here),
        "link": asdict(status.gateway) if status else None,
        "sandbox": asdict(here.sandbox) if here.sandbox else None,
        "journal": await asyncio.to_thread(_journal, here.places.state / JOURNAL),
        "log": await asyncio.to_thread(_log, log),
    }
    hide = await asyncio.to_thread(Hide, here, found)
    return {name: hide.value(section) for name, section in sections.items()}


def write_report(path: Path, report: Mapping[str, Any]) -> int:
    """Write it to a new file that its owner alone can read, and return its size.

    Raises:
        OSError: it is there already, or cannot be written.
    """
    data = json.dumps(report, ensure_ascii=False, indent=1).encode() + b"\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    return len(data)


def _versions() -> dict[str, str]:
    found = {"python": sys.version, "sqlite": sqlite3.sqlite_version}
    for name in _PARTS:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    with suppress(OSError):
        found["distribution"] = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    return found | {"system": f"{platform.system()} {platform.release()} {platform.machine()}"}


def _settings(here: Installation) -> list[dict[str, Any]] | None:
    if here.settings is None:
        return None  # what is wrong with them, the doctor says
    file = settings_file(here.places, here.environ, here.file)
    rows = effective_settings(here.settings, file=file, environ=here.environ).settings
    return [
        {
            "name": row.name,
            "value": "<set>" if row.value and _UNSHOWN.fullmatch(row.name) else row.value,
            "source": row.source,
        }
        for row in rows
    ]


def _journal(path: Path) -> dict[str, Any] | None:
    """Return how much there is of what, and nothing of what it says."""
    if not path.is_file():
        return None
    found: dict[str, Any] = {
        "bytes": {part.name: part.stat().st_size for part in path.parent.glob(f"{path.name}*")}
    }
    try:
        with closing(read_only(path)) as opened:
            found["version"] = opened.execute("PRAGMA user_version").fetchone()[0]
            states = opened.execute("SELECT state, reason, count(*) FROM tasks GROUP BY 1, 2")
            found["tasks"] = {f"{state} {reason or ''}".strip(): n for state, reason, n in states}
            for name in _COUNTED:
                count = opened.execute(f"SELECT count(*) FROM {name}")  # noqa: S608 - names of ours
                found[name] = count.fetchone()[0]
    except sqlite3.Error as error:
        found["error"] = getattr(error, "sqlite_errorname", type(error).__name__)
    return found


def _log(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {"where": "standard error of `codexbridge agent`; to add its newest lines: --log"}
    # Not blocking: a pipe of that name would have nothing to say, for ever.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(path))
        file.seek(max(found.st_size - LOG_BYTES, 0))
        lines = file.read(LOG_BYTES).decode("utf-8", "replace").splitlines()[-LOG_LINES:]
    ours = [line for line in lines if _LINE.match(line)]
    return {"lines": list(map(_bare, ours)), "left_out": len(lines) - len(ours)}


def _bare(line: str) -> str:
    """Return a line of our log without the facts that could be of somebody."""
    head = _LINE.match(line)
    assert head is not None  # noqa: S101  # narrows: it is one of ours
    kept = re.findall(r'[\w.-]+=(?:"(?:[^"\\]|\\.)*"|\S*)', line[head.end() :])
    told = (one if _FACTS.fullmatch(one) else one.partition("=")[0] for one in kept)
    return " ".join([head[0].rstrip(), *told])


def _stray_names(found: Sequence[Examined]) -> dict[str, str]:
    """Return stand-ins for what the findings name and nothing else here knows."""
    named: dict[str, str] = {}
    for one in found:
        facts = one.finding.facts
        if one.finding.code == "policies.stray":
            for number, file in enumerate(str(facts["files"]).split(", "), start=1):
                stem = PurePath(file).stem
                named |= {file: f"<policy {number}>", stem: f"<policy {number}>"}
        for fact in _THEIR_WORDS.get(one.finding.code, ()):
            said = facts[fact]
            words = said if isinstance(said, tuple) else str(said).split(".")
            named |= {word: "<setting>" for word in words if word not in _OUR_WORDS}
        if kind := _THEIR_NAMES.get(one.finding.code):
            named |= dict.fromkeys(str(facts[kind]).split(", "), f"<{kind}>")
    return named


# Where a finding names what a person wrote, which may be anything that was pasted there.
_THEIR_WORDS: Final = {
    "config.unknown-setting": ("name",),
    "config.invalid": ("name",),
    "models.unknown": ("name", "known"),
    "models.several": ("known",),
    "models.not-for-kind": ("name",),
    "models.incomplete": ("name",),
    "models.base-url": ("name",),
    "policies.broken": ("key",),
}
_THEIR_NAMES: Final = {
    "gateway.proxy-away": "proxy",
    "gateway.proxy-refused": "proxy",
    "workspaces.moved": "real",
    "workspaces.test-lost": "lacked",
}
_OUR_WORDS: Final = frozenset(
    (
        *(word for path, _ in leaves(AgentSettings) for word in path),
        *ModelSettings.model_fields,
        *(field.name for field in fields(Policy)),
    )
)


class Hide:
    """Puts stand-ins in the place of names and paths, and takes out what looks like a secret."""

    def __init__(self, here: Installation, found: Sequence[Examined]) -> None:
        named = _stray_names(found)
        for number, one in enumerate(here.workspaces, start=1):
            named |= {str(one.path): f"<workspace {number}>", one.name: f"<name {number}>"}
        if here.pairing is not None:
            host = urlsplit(here.pairing.url).hostname or ""
            named |= {host: "<gateway>", here.pairing.machine: "<machine>"}
        for number, name in enumerate(here.settings.models if here.settings else (), start=1):
            named[name] = f"<model {number}>"
        places = here.places
        named |= {str(places.config): "<config>", str(places.state): "<state>"}
        named |= {
            str(places.run): "<run>",
            str(here.home): "<home>",
            socket.gethostname(): "<host>",
        }
        with suppress(OSError, KeyError):
            named[getpass.getuser()] = "<user>"
        if moved := here.environ.get("CODEXBRIDGE_HOME"):
            named[moved] = "<codexbridge home>"
        file = settings_file(places, here.environ, here.file)
        if file is not None and not file.is_relative_to(places.config):
            named[str(file)] = "<settings file>"
        self._named = {name: named[name] for name in sorted(named, key=len, reverse=True) if name}
        # A name is hidden where it stands alone; “ann” is no part of “channel”.
        words = (rf"(?<![\w-]){re.escape(name)}(?![\w-])" for name in self._named)
        self._all = re.compile("|".join(words))
        keys = ModelKeys(open_keys(places))
        keys.load(here.settings.models if here.settings else ())
        self._secrets = keys.held()

    def value(self, value: Any) -> Any:
        """Return the same, with every text in it hidden."""
        if isinstance(value, Mapping):
            return {name: self.value(one) for name, one in value.items()}  # names of ours
        if isinstance(value, list | tuple):
            return [self.value(one) for one in value]
        return self.text(value) if isinstance(value, str) else value

    def text(self, text: str) -> str:
        """Return a text with stand-ins."""
        for secret in self._secrets:
            text = text.replace(secret, "[redacted]")
        return self._all.sub(lambda found: self._named[found[0]], redact(text))
