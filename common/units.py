"""The units by which systemd and launchd run a half: their texts, where they lie, their writing.

The agent is a service of one person's login, the gateway one of the machine.  The text of a unit
for systemd stands with its half; here it is filled in.  What is done with a unit is in `service`.
"""

from __future__ import annotations

import os
import plistlib
import re
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from common.errors import InputError
from common.sentences import Lang, say
from common.service_words import WORDS

MARK: Final = "Written by CodexBridge."
_PLAIN: Final = re.compile(r"[\w./:@+,=-]+", re.ASCII)
_STEPS_SINCE: Final = 254  # systemd's version that knows RestartSteps=


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What is installed, and by whom.

    Attributes:
        name: Of the unit, without its ending.
        system: Whether it is the machine's, not a login's.
        verb: The commands that care for it, such as ``codexbridge service``.
        template: Text of the unit, with ``@MARKS@``.
        marks: Lines that the half fills in; those that all have are added here.
        command: What it runs.
        environment: Of what it runs; never a secret.
        user: Whom the machine's service runs as.
        home: Of the person, or the root of the system.
        is_ready: Asks whether it answers.
        lang: Of what is told.
        environ: Of whoever asks.
        tell: Prints a line.
        ask: Puts a question to the person; None where nobody can answer.
        launchd: Whether this is macOS.
    """

    name: str
    system: bool
    verb: str
    template: str
    marks: Mapping[str, Sequence[str]]
    command: Sequence[str]
    environment: Mapping[str, str]
    user: str = ""
    home: Path
    is_ready: Callable[[], bool]
    lang: Lang
    environ: Mapping[str, str]
    tell: Callable[[str], None]
    ask: Callable[[str], str] | None
    launchd: bool = sys.platform == "darwin"

    @property
    def file(self) -> Path:
        """Where the unit is written."""
        if self.launchd:
            folder = "Library/LaunchDaemons" if self.system else "Library/LaunchAgents"
            return self.home / folder / f"{self.name}.plist"
        folder = "etc/systemd/system" if self.system else ".config/systemd/user"
        return self.home / folder / f"{self.name}.service"

    @property
    def log(self) -> Path:
        """Where launchd puts what it prints."""
        return self.home / ("var/log" if self.system else "Library/Logs") / f"{self.name}.log"

    def say(self, name: str, **facts: object) -> None:
        """Print a sentence of `service_words`."""
        self.tell(say(WORDS[name], self.lang, verb=self.verb, file=self.file, **facts))


def unit_text(service: Service, version: int = 0) -> str:
    """Return the unit for a version of systemd.

    Raises:
        InputError: ``service.characters`` (given).
    """
    backoff = ["RestartSec=15"]
    if version >= _STEPS_SINCE:
        backoff = ["RestartSec=2", "RestartSteps=6", "RestartMaxDelaySec=60"]
    environment = [
        f"Environment={word(f'{name}={value}')}" for name, value in service.environment.items()
    ]
    text = service.template.replace("@USER@", service.user).replace(
        "@COMMAND@", " ".join(word(one).replace("$", "$$") for one in service.command)
    )
    for mark, lines in {**service.marks, "BACKOFF": backoff, "ENVIRONMENT": environment}.items():
        # The whole line: a path of the command may end in the same words.
        said = "".join(f"{line}\n" for line in lines)
        text = re.sub(rf"^@{mark}@\n", said.replace("\\", r"\\"), text, flags=re.MULTILINE)
    return text


def plain(text: object) -> str:
    """Return a path or name as a unit takes it where no quotes are read.

    Raises:
        InputError: ``service.characters`` (given).
    """
    if not str(text).isprintable():
        raise InputError("service.characters", given=text)
    return str(text).replace("%", "%%")


def word(text: object) -> str:
    """Return the same as one word of several, in quotes where it needs them."""
    escaped = plain(text).replace("\\", "\\\\").replace('"', '\\"')
    return escaped if _PLAIN.fullmatch(escaped) else f'"{escaped}"'


def plist_text(service: Service) -> str:
    """Return the same for launchd, which knows no exit code that is not tried again."""
    keys: dict[str, Any] = {
        "Label": service.name,
        "ProgramArguments": [*service.command],
        "EnvironmentVariables": {**service.environment},
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 15,
        "ExitTimeOut": 30,
        "StandardOutPath": str(service.log),
        "StandardErrorPath": str(service.log),
    }
    if service.system:
        keys |= {"UserName": service.user, "Umask": 0o077, "HardResourceLimits": {"Core": 0}}
    else:
        keys |= {"ProcessType": "Interactive", "LimitLoadToSessionType": "Aqua"}
    head, first, rest = plistlib.dumps(keys, sort_keys=False).decode().partition("<plist")
    return f"{head}<!-- {MARK} `{service.verb} install` writes it anew. -->\n{first}{rest}"


def is_ours(file: Path) -> bool:
    return not file.is_symlink() and MARK in file.read_text("utf-8", "replace")


def write(file: Path, text: str) -> None:
    """Write whole or not at all; systemd reads it, and others may."""
    file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
    beside = file.with_name(f".{file.name}.{secrets.token_hex(8)}.tmp")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            os.fchmod(stream.fileno(), 0o644)
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(file)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
