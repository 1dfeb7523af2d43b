"""``service install|remove|status|logs`` of both halves, by the programs of the system.

That is ``systemctl`` and ``journalctl``, or ``launchctl``.  Texts of units are in `units`, what is
told in `service_words`.  Only the command line comes here, never a running agent or gateway.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from common.clock import SystemClock
from common.errors import ConfigError, InputError, StateError, UnavailableError
from common.sentences import Lang, say
from common.service_words import EXITS, RESULTS, WORDS
from common.terminal import table
from common.text import one_line
from common.units import Service, is_ours, plist_text, unit_text, write

if TYPE_CHECKING:
    import argparse

AGENT: Final = "codexbridge-agent"
GATEWAY: Final = "codexbridge-gateway"
READY_S: Final = 20.0
BOOTED: Final = Path("/run/systemd/system")
# What a service started by systemd cannot know of the environment in which it was installed.
CARRIED: Final = ("CODEXBRIDGE_HOME", "SSL_CERT_DIR", "SSL_CERT_FILE")
# Programs of the system only, never what PATH names: in a project it may name the project's own.
TOOLS: Final = "/usr/bin:/bin:/run/current-system/sw/bin"
_TOLD: Final = ("HOME", "USER", "LOGNAME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "TERM")
_TOOL_S: Final = 90.0  # longer than a service takes to stop
_LOOK_S: Final = 0.2
_TOLD_LINES: Final = 12
_ASKED: Final = (
    *("ActiveEnterTimestamp", "ActiveState", "ExecMainCode", "ExecMainStatus", "LoadState"),
    *("MainPID", "NRestarts", "Result", "SubState", "UnitFileState"),
)


@dataclass(frozen=True, slots=True)
class Standing:
    """How a service stands."""

    installed: bool
    enabled: bool = False
    state: str = "inactive"
    since: str = ""
    pid: int = 0
    restarts: int = 0
    result: str = "success"
    code: int = 0
    signal: int = 0


# --- the command line -------------------------------------------------------------------------


def add_actions(
    parser: argparse.ArgumentParser, lang: Lang
) -> Mapping[str, argparse.ArgumentParser]:
    """Declare ``install``, ``remove``, ``status`` and ``logs``; they come as ``care``."""
    actions = parser.add_subparsers(dest="care", required=True, metavar="COMMAND")
    made = {}
    for name in ("install", "remove", "status", "logs"):
        about = say(WORDS[f"help-{name}"], lang)
        made[name] = actions.add_parser(name, help=about, description=about)
    for name, option, *flags in (
        ("install", "dry-run", "--dry-run", "--print"),
        ("status", "json", "--json"),
        ("logs", "follow", "-f", "--follow"),
    ):
        help_text = say(WORDS[f"help-{option}"], lang)
        made[name].add_argument(*flags, action="store_true", help=help_text)
    made["logs"].add_argument(
        "-n", "--lines", type=int, default=50, metavar="N", help=say(WORDS["help-lines"], lang)
    )
    return made


def run(service: Service, args: argparse.Namespace) -> int:
    """Carry out what `add_actions` declared, and return the exit code.

    Raises:
        CodexBridgeError: ``service.…``, told by the launcher.
        OSError: the unit cannot be written or removed.
    """
    match args.care:
        case "install":
            return install(service, only_show=args.dry_run)
        case "remove":
            return remove(service)
        case "status":
            return status(service, as_json=args.json)
        case _:
            return logs(service, lines=args.lines, follow=args.follow)


def is_managed() -> bool:
    """Tell whether something runs services here: launchd, or the systemd that booted this."""
    return sys.platform == "darwin" or BOOTED.is_dir()


def own_command(*arguments: str) -> tuple[str, ...]:
    """Return how this installation is started from anywhere, whatever lies in a folder there.

    Raises:
        ConfigError: ``service.not-installed`` (python).
    """
    command = (sys.executable, "-I", "-m", "codexbridge")
    tried = subprocess.run(
        [*command, "--version"], cwd="/", stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if tried.returncode:
        raise ConfigError("service.not-installed", python=sys.executable)
    return (*command, *arguments)


def carried(
    environ: Mapping[str, str], lang: Lang, names: Sequence[str] = CARRIED
) -> dict[str, str]:
    """Return what the service keeps of the environment in which it is installed."""
    kept = {name: environ[name] for name in names if environ.get(name)}
    return {"CODEXBRIDGE_LANG": lang, **kept}


# --- install, remove, status, logs ------------------------------------------------------------


def install(service: Service, *, only_show: bool) -> int:
    """Write the unit, start it at every login or boot from now on, and wait until it answers.

    Raises:
        UnavailableError: ``service.no-systemd``, ``service.no-user-bus``, ``service.tool``.
        StateError: ``service.runs-elsewhere``.
        InputError: ``service.foreign``, ``service.characters``.
        OSError: of writing the unit.
    """
    text = (
        plist_text(service)
        if service.launchd
        else unit_text(service, _version(service, only_show=only_show))
    )
    if only_show:
        service.say("would-write")
        service.tell(text.rstrip())
        service.say("would-run", command=" ".join(service.command))
        return 0
    before = None
    if service.file.is_symlink() or service.file.exists():
        before = service.file.read_text("utf-8", "replace") if is_ours(service.file) else ""
    if before == "" and not _may(service):
        raise InputError("service.foreign", file=service.file)
    if standing(service).state != "active" and service.is_ready():
        raise StateError("service.runs-elsewhere", verb=service.verb)
    if before == text:
        service.say("as-it-was")
    else:
        write(service.file, text)
        service.tell(text.rstrip())
        service.say("written" if before is None else "rewritten")
    service.say("would-run", command=" ".join(service.command))
    _start(service, rewritten=before is not None and before != text)
    return _tell_start(service)


def _may(service: Service) -> bool:
    if service.ask is None:
        return False
    question = say(WORDS["overwrite"], service.lang, file=service.file)
    return service.ask(question).strip().lower() in ("y", "yes", "是")


def _start(service: Service, *, rewritten: bool) -> None:
    if service.launchd:
        if rewritten or standing(service).state != "unloaded":
            _tool(service, "launchctl", "bootout", f"{_domain(service)}/{service.name}")
        _must(service, "launchctl", "bootstrap", _domain(service), str(service.file))
        return
    _must(service, *_systemctl(service), "daemon-reload")
    if rewritten:
        _must(service, *_systemctl(service), "enable", service.name)
        _must(service, *_systemctl(service), "restart", service.name)
    else:
        _must(service, *_systemctl(service), "enable", "--now", service.name)


def _tell_start(service: Service) -> int:
    clock = SystemClock()
    until = clock.now().mono + READY_S
    while clock.now().mono < until:
        now = standing(service)
        if now.state == "active" and service.is_ready():
            service.say("answers", pid=now.pid)
            if not service.system and not service.launchd:
                service.say("linger", user=_user(service))
            return 0
        if now.state in ("failed", "restarting"):
            break
        time.sleep(_LOOK_S)
    service.say("no-answer")
    for line in _newest(service):
        service.tell(f"  {line}")
    service.say("see-status")
    return 1


def remove(service: Service) -> int:
    """Stop it, start it no more, and remove its unit; all else stays.

    Raises:
        UnavailableError: as `install`.
        InputError: ``service.not-ours``.
        OSError: of removing the unit.
    """
    if not service.file.is_symlink() and not service.file.exists():
        service.say("none")
        return 0
    if not is_ours(service.file):
        raise InputError("service.not-ours", file=service.file)
    if service.launchd:
        _tool(service, "launchctl", "bootout", f"{_domain(service)}/{service.name}")
        service.file.unlink()
    else:
        _version(service)
        _must(service, *_systemctl(service), "disable", "--now", service.name)
        service.file.unlink()
        _must(service, *_systemctl(service), "daemon-reload")
        _tool(service, *_systemctl(service), "reset-failed", service.name)
    service.say("removed")
    return 0


def status(service: Service, *, as_json: bool) -> int:
    """Tell how it stands; exit code 3 where it does not run.

    Raises:
        UnavailableError: as `install`.
    """
    if not service.launchd:
        _version(service)
    now = standing(service)
    code = 0 if now.state == "active" else 3
    if as_json:
        import json

        service.tell(json.dumps({"unit": str(service.file), **asdict(now)}, indent=2))
        return code
    lang = service.lang
    boot = "boot" if service.system else "login"
    rows = [("unit", str(service.file) if now.installed else say(WORDS["missing"], lang))]
    if now.installed:
        rows.append(("enabled", say(WORDS[f"at-{boot}" if now.enabled else "by-hand"], lang)))
    running = WORDS.get(f"state-{now.state}", WORDS["state-inactive"])
    rows.append(("state", say(running, lang, since=now.since or "?", pid=now.pid)))
    if now.installed:
        rows += [("restarts", str(now.restarts)), ("last-exit", _ending(now, lang))]
    if not service.system and not service.launchd and now.installed:
        asked = ("loginctl", "show-user", _user(service), "--property=Linger", "--value")
        lingers = _tool(service, *asked).stdout.strip() == "yes"
        rows.append(("lingers", say(WORDS["lingers-yes" if lingers else "lingers-no"], lang)))
    rows.append(("next", say(WORDS[_next(now)], lang, verb=service.verb)))
    for line in table([(say(WORDS[label], lang), value) for label, value in rows]):
        service.tell(line)
    return code


def _next(now: Standing) -> str:
    if not now.installed:
        return "next-install"
    if now.state == "active":
        return "next-none" if now.enabled else "next-enable"
    if now.state in ("failed", "restarting"):
        return "next-settings" if now.code == 2 and not now.signal else "next-logs"
    return "next-start"


def _ending(now: Standing, lang: Lang) -> str:
    if now.signal:
        text = say(WORDS["by-signal"], lang, signal=now.signal)
    elif now.code:
        about = EXITS.get(now.code)
        text = say(WORDS["by-code"], lang, code=now.code, about=say(about, lang) if about else "?")
    else:
        text = say(WORDS["ended-well"], lang)
    return say(RESULTS[now.result], lang, ending=text) if now.result in RESULTS else text


def logs(service: Service, *, lines: int, follow: bool) -> int:
    """Show what it logged, as the system's program does.

    Raises:
        UnavailableError: ``service.no-systemd``.
    """
    if not (service.launchd or BOOTED.is_dir()):
        raise UnavailableError("service.no-systemd", verb=service.verb)
    asked = ["-n", str(lines), *(["-f"] if follow else [])]
    if service.launchd:
        argv = ["tail", *asked, str(service.log)]
    else:
        argv = ["journalctl", *_journal_of(service), *asked]
    program = _program(service, argv[0])
    return subprocess.run([program, *argv[1:]], env=_environ(service), check=False).returncode


def standing(service: Service) -> Standing:
    """Return how it stands; of a system that cannot be asked, that it does not run."""
    if service.launchd:
        return _read_launchd(
            _tool(service, "launchctl", "print", f"{_domain(service)}/{service.name}").stdout,
            service,
        )
    asked = [f"--property={name}" for name in _ASKED]
    return read_standing(_tool(service, *_systemctl(service), "show", service.name, *asked).stdout)


def read_standing(shown: str) -> Standing:
    """Return what ``systemctl show`` printed of a unit."""
    of = dict(line.partition("=")[::2] for line in shown.splitlines())
    state, sub = of.get("ActiveState", "inactive"), of.get("SubState", "")
    code = int(of.get("ExecMainStatus") or 0)
    is_signal = of.get("ExecMainCode") in ("2", "3")  # CLD_KILLED, CLD_DUMPED
    return Standing(
        installed=of.get("LoadState", "not-found") != "not-found",
        enabled=of.get("UnitFileState") == "enabled",
        state="restarting" if sub.startswith("auto-restart") else state,
        since=of.get("ActiveEnterTimestamp", "").partition(" ")[2],
        pid=int(of.get("MainPID") or 0),
        restarts=int(of.get("NRestarts") or 0),
        result=of.get("Result", "success"),
        code=0 if is_signal else code,
        signal=code if is_signal else 0,
    )


def _read_launchd(shown: str, service: Service) -> Standing:
    of = dict(re.findall(r"(?m)^\t(state|pid|runs|last exit code) = (\S+)", shown))
    running = of.get("state") == "running"
    stopped = "inactive" if of else "unloaded"
    return Standing(
        installed=service.file.exists(),
        enabled=bool(of),
        state="active" if running else stopped,
        pid=int(of.get("pid", 0)),
        restarts=max(int(of.get("runs", 1)) - 1, 0),
        code=int(code) if (code := of.get("last exit code", "0")).isdigit() else 0,
    )


# --- the programs of the system ---------------------------------------------------------------


def _version(service: Service, *, only_show: bool = False) -> int:
    """Return the version of the systemd that would run it.

    Raises:
        UnavailableError: there is none that can be asked; 0 where nothing is to be run.
    """
    try:
        asked = _tool(service, *_systemctl(service), "show", "--property=Version", "--value")
    except UnavailableError:
        if only_show:
            return 0
        raise
    if found := re.match(r"\d+", asked.stdout):
        return int(found[0])
    if only_show:
        return 0
    if service.system or not BOOTED.is_dir():
        raise UnavailableError("service.no-systemd", verb=service.verb)
    raise UnavailableError("service.no-user-bus", user=_user(service), uid=os.getuid())


def _systemctl(service: Service) -> tuple[str, ...]:
    return ("systemctl",) if service.system else ("systemctl", "--user")


def _journal_of(service: Service) -> tuple[str, ...]:
    # Not `--user`: without a persistent journal, a person's entries are in the system's.
    return ("--unit" if service.system else "--user-unit", service.name)


def _domain(service: Service) -> str:
    return "system" if service.system else f"gui/{os.getuid()}"


def _user(service: Service) -> str:
    return service.environ.get("USER") or str(os.getuid())


def _newest(service: Service) -> list[str]:
    argv = ["journalctl", *_journal_of(service), "--no-pager", "--output=cat"]
    if service.launchd:
        argv = ["tail", str(service.log)]
    found = _tool(service, *argv, "-n", str(_TOLD_LINES)).stdout
    return [one_line(line) for line in found.splitlines()]


def _must(service: Service, *argv: str) -> None:
    done = _tool(service, *argv)
    if done.returncode:
        why = (done.stderr.strip() or "?").splitlines()[-1]
        raise UnavailableError("service.tool", command=" ".join(argv), why=why)


def _tool(service: Service, *argv: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [_program(service, argv[0]), *argv[1:]],
            env=_environ(service) | {"LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_TOOL_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UnavailableError(
            "service.tool", command=" ".join(argv), why=f"> {_TOOL_S:.0f} s"
        ) from None


def _environ(service: Service) -> dict[str, str]:
    return {name: service.environ[name] for name in _TOLD if name in service.environ}


def _program(service: Service, name: str) -> str:
    found = shutil.which(name, path=TOOLS)
    if found is None:
        raise UnavailableError("service.no-systemd", verb=service.verb)
    return found
