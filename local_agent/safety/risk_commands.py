"""The table of commands: which facts make one high risk, and which refuse it (R26, R29, R42)."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from common.text import has_hidden
from local_agent.safety.risk import Circumstances, Finding, Row, Table, findings

MAX_COMMAND_BYTES: Final = 20_000  # R26
SANDBOXES: Final = ("bubblewrap", "none")

_BIDI: Final = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# fmt: off
_DESTRUCTIVE: Final = frozenset({
    "rm", "rmdir", "unlink", "shred", "truncate", "dd", "mkfs", "wipefs", "fdisk", "parted", "mv",
    "chmod", "chown", "chattr", "kill", "pkill", "killall", "shutdown", "reboot", "halt",
    "poweroff", "systemctl", "crontab", "iptables", "nft", "mount", "umount",
})
_PRIVILEGE: Final = frozenset({
    "sudo", "su", "doas", "pkexec", "run0", "runuser", "setpriv", "chroot", "nsenter",
})
_SHELLS: Final = frozenset({
    "sh", "bash", "rbash", "dash", "zsh", "rzsh", "ksh", "rksh", "mksh", "lksh", "ash", "csh",
    "tcsh", "fish", "yash", "elvish", "nu", "xonsh", "pwsh",
})
# fmt: on
# They run the program that they are given.
_LAUNCHERS: Final = frozenset(
    {"env", "busybox", "toybox", "timeout", "nice", "ionice", "nohup", "time", "setsid", "stdbuf"}
    | {"xargs", "find", "flock", "script", "watch", "unshare", "taskset", "chrt", "prlimit"}
    | {"strace", "ltrace", "setarch", "numactl", "fakeroot", "unbuffer", "parallel", "systemd-run"}
    | {"xvfb-run", "dbus-run-session", "uv", "poetry", "pdm", "pipenv", "bundle", "npx", "npm"}
    | {"pnpm", "yarn", "bunx", "sg", "valgrind", "faketime", "linux32", "linux64", "i386", "x86_64"}
    | _PRIVILEGE
)
# What they are given after an option, or with it, is a command line: by that option's letter, and
# those of others that take a value.
_READ_A_LINE: Final = {
    "env": ("S", "uCa"),
    "su": ("c", "sgGwT"),
    "runuser": ("c", "sgGuwT"),
    "script": ("c", "EIOBTmo"),
    "flock": ("c", "wE"),
    "fish": ("c", "CdDfo"),
    "npx": ("c", "pw"),
    "npm": ("c", "pw"),
    "sg": ("c", ""),
}
MOST_STARTED: Final = 16  # programs in one command; one with more counts as what hides a shell
# Those that a link of another name would hide; the names of the last two say what they do.
_RUN_OTHERS: Final = (_SHELLS | _LAUNCHERS | _READ_A_LINE.keys()) - {"busybox", "toybox"}
_LINE_OPTIONS: Final = ("--command", "--session-command", "--split-string", "--call")
_LONG_VALUES: Final = frozenset({"--rcfile", "--init-file", "--interval"})
_PUBLISHES: Final = frozenset(
    {
        ("git", "push"),
        ("npm", "publish"),
        ("pnpm", "publish"),
        ("yarn", "publish"),
        ("cargo", "publish"),
        ("twine", "upload"),
        ("uv", "publish"),
        ("docker", "push"),
        ("podman", "push"),
        ("gh", "release"),
    }
)
_DESTROYS: Final = frozenset(
    {("git", "clean"), ("git", "reset"), ("git", "checkout"), ("git", "restore"), ("git", "rm")}
)


@dataclass(frozen=True, slots=True)
class CommandFacts:
    """A command as the table looks at it."""

    words: tuple[str, ...]
    is_shell: bool
    cwd: str
    sandbox: str
    network: bool
    allowed: Collection[tuple[str, ...]] = ()
    stdin: str | None = None

    @property
    def program(self) -> str:
        """The program's name without its folder."""
        return posixpath.basename(self.words[0])

    def mentions(self, names: Collection[str]) -> bool:
        """Tell whether any word, or the end of any path, is one of the names."""
        return not self._bare().isdisjoint(names)

    def mentions_pair(self, pairs: Collection[tuple[str, str]]) -> bool:
        """Tell whether a program and one of its commands occur, options between them or not."""
        bare = self._bare()
        return any(program in bare and command in bare for program, command in pairs)

    def _bare(self) -> frozenset[str]:
        # Words inside words count too (`sh -c "rm -rf x"`): too many marks do no harm here.
        words = re.split(r"[\s;&|()<>`$'\"=]+", " ".join(self.words))
        return frozenset(map(posixpath.basename, words))


def command_facts(payload: Mapping[str, Any], around: Circumstances) -> CommandFacts:
    """Return the facts of a sealed command."""
    is_line = "script" in payload
    words = (payload["shell"], payload["script"]) if is_line else tuple(payload["argv"])
    stdin = payload.get("stdin")
    reads = shell_at if stdin is not None else script_at  # a shell may run what it reads
    return CommandFacts(
        words=words,
        is_shell=is_line or reads(started(payload)) is not None,
        stdin=stdin,
        cwd=payload["cwd"],
        sandbox=payload["sandbox"]["level"],
        network=payload["network"],
        allowed={tuple(argv) for argv in around.allowed},
    )


def hides(link: str, target: str) -> bool:
    """Tell whether a link, by its name, hides that a shell, or what starts one, is started."""
    name, real = _name(link), _name(target)
    return real in _RUN_OTHERS and name != real and not {name, real} <= _SHELLS


def started(payload: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the words of a sealed command, the first one as what a link of that name leads to."""
    program, *rest = payload["argv"]
    name = posixpath.basename(payload["executable"]["path"])
    return (name if _name(name) in _RUN_OTHERS else program, *rest)


def shell_at(argv: Sequence[str]) -> int | None:
    """Return which word is a shell that is started, also by another program; None for none."""
    found = _shell(argv)
    return found and found[0]


def script_at(argv: Sequence[str]) -> int | None:
    """Return which argument a shell runs, as in ``sh -c "rm -rf x"``; None where none does."""
    found = _shell(argv)
    return found and found[1]


def _shell(argv: Sequence[str]) -> tuple[int, int | None] | None:
    """Return which word is a shell, or has one read a line, and which argument that is."""
    names = map(_name, argv if _name(argv[0]) in _LAUNCHERS else argv[:1])
    known = _SHELLS | _READ_A_LINE.keys() | {"watch"}
    found = [(at, name) for at, name in enumerate(names) if name in known]
    if len(found) > MOST_STARTED:  # each is looked at to the end of the command
        return found[0][0], found[-1][0]
    first = None
    for at, name in found:
        line = _line_of(argv, at + 1, name) if name in _READ_A_LINE else None
        if line is None and (name in _SHELLS or name == "watch"):
            line = _script_of(argv, at + 1, is_watch=name == "watch")
        if line is not None:
            return at, line
        if name in _SHELLS and first is None:
            first = (at, None)
    return first


def _name(word: str) -> str:
    """Return a program's name without its folder and version."""
    return re.sub(r"(?<=[a-z])-?[\d.]+\Z", "", posixpath.basename(word))


def _script_of(argv: Sequence[str], start: int, *, is_watch: bool) -> int | None:
    """Return the first operand; of a shell, where an option says that it is to run it."""
    is_script, skip = is_watch, 0
    for at, word in enumerate(argv[start:], start):
        if skip:
            skip -= 1
        elif not word.startswith(("-", "+")):
            return at if is_script else None
        else:
            is_script |= word == "--command" or bool(re.match(r"-[a-zA-Z]*c", word))
            skip = int(word in _LONG_VALUES)
            if re.fullmatch(r"[-+][a-zA-Z]+", word):  # each takes a word, wherever it stands
                skip = sum(map(word.count, "nqs" if is_watch else "oO"))
    return None


def _line_of(argv: Sequence[str], start: int, name: str) -> int | None:
    """Return the value of the option that has a line read."""
    line, values = _READ_A_LINE[name]
    either = f"(?:(?P<line>{line})|[{values}])"
    option = re.compile(f"-[^-{line}{values}]*{either}(?P<value>.*)", re.DOTALL)
    skip = False
    for at, word in enumerate(argv[start:], start):
        if skip:
            skip = False
        elif _is_line_option(word):
            return at if "=" in word else _there(argv, at + 1)
        elif found := option.fullmatch(word):
            if found["line"]:
                return at if found["value"] else _there(argv, at + 1)
            skip = not found["value"]
        elif name == "env" and not word.startswith("-"):
            return None  # a variable, or the program
        else:
            skip = word.startswith("--") and "=" not in word and word != "--"
    return None


def _is_line_option(word: str) -> bool:
    name = word.partition("=")[0]  # long ones may be cut short
    return len(name) > len("--") and any(known.startswith(name) for known in _LINE_OPTIONS)


def _there(argv: Sequence[str], at: int) -> int | None:
    return at if at < len(argv) else None


def judge_command(payload: Mapping[str, Any], around: Circumstances) -> list[Finding]:
    """Return what the table says of a sealed command."""
    return findings(COMMANDS, command_facts(payload, around))


def has_control(text: str) -> bool:
    """Tell of NUL, CR, ESC and their like, bidi controls and lone surrogates (R26)."""
    return _BIDI.search(text) is not None or any(
        char not in "\n\t" and unicodedata.category(char) in ("Cc", "Cs") for char in text
    )


def _size(facts: CommandFacts) -> int:
    return sum(len(word.encode("utf-8", "surrogatepass")) + 1 for word in facts.words)


def _leaves(cwd: str) -> bool:
    return posixpath.isabs(cwd) or posixpath.normpath(cwd).split("/")[0] == ".."


COMMANDS: Final[Table[CommandFacts]] = (
    Row("refused", "too-long", lambda f: _size(f) > MAX_COMMAND_BYTES),
    Row("refused", "control-character", lambda f: any(map(has_control, f.words))),
    Row("refused", "empty-program", lambda f: not f.words[0].strip()),
    Row("refused", "outside-workspace", lambda f: _leaves(f.cwd)),
    Row("refused", "unknown-sandbox", lambda f: f.sandbox not in SANDBOXES),
    Row("high", "shell", lambda f: f.is_shell),
    Row("high", "not-sandboxed", lambda f: f.sandbox == "none"),
    Row("high", "network", lambda f: f.network),
    Row("high", "not-the-test-command", lambda f: f.words not in f.allowed or f.stdin is not None),
    Row("high", "other-folder", lambda f: posixpath.normpath(f.cwd) != "."),
    Row("high", "destructive", lambda f: f.mentions(_DESTRUCTIVE) or f.mentions_pair(_DESTROYS)),
    Row("high", "privilege", lambda f: f.mentions(_PRIVILEGE)),
    Row("high", "publishes", lambda f: f.mentions_pair(_PUBLISHES)),
    Row("high", "hidden-characters", lambda f: any(map(has_hidden, (*f.words, f.stdin or "")))),
    Row("high", "look-alike-program", lambda f: not f.program.isascii()),
)
