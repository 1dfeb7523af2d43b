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
# fmt: on
_SHELLS: Final = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh"}
)
# They run the program that they are given.
_LAUNCHERS: Final = frozenset(
    {"env", "busybox", "toybox", "timeout", "nice", "ionice", "nohup", "time", "setsid", "stdbuf"}
    | {"xargs", "find"}
    | _PRIVILEGE
)
_TAKE_VALUE: Final = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file"})
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
    return CommandFacts(
        words=words,
        is_shell=is_line or script_at(words) is not None,
        cwd=payload["cwd"],
        sandbox=payload["sandbox"]["level"],
        network=payload["network"],
        allowed={tuple(argv) for argv in around.allowed},
    )


def shell_at(argv: Sequence[str]) -> int | None:
    """Return which word is a shell that is started, also by another program; None for none."""
    launched = posixpath.basename(argv[0]) in _LAUNCHERS
    shell = next((at for at, word in enumerate(argv) if posixpath.basename(word) in _SHELLS), None)
    return None if shell and not launched else shell


def script_at(argv: Sequence[str]) -> int | None:
    """Return which argument a shell runs, as in ``sh -c "rm -rf x"``; None where none does."""
    shell = shell_at(argv)
    if shell is None:
        return None
    is_script = skip = False
    for at, word in enumerate(argv[shell + 1 :], shell + 1):
        if skip:
            skip = False
        elif not word.startswith(("-", "+")):
            return at if is_script else None
        else:
            skip = word in _TAKE_VALUE
            is_script |= word == "--command" or bool(re.match(r"-[a-zA-Z]*c", word))
    return None


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
    Row("high", "not-the-test-command", lambda f: f.words not in f.allowed),
    Row("high", "other-folder", lambda f: posixpath.normpath(f.cwd) != "."),
    Row("high", "destructive", lambda f: f.mentions(_DESTRUCTIVE) or f.mentions_pair(_DESTROYS)),
    Row("high", "privilege", lambda f: f.mentions(_PRIVILEGE)),
    Row("high", "publishes", lambda f: f.mentions_pair(_PUBLISHES)),
    Row("high", "hidden-characters", lambda f: any(map(has_hidden, f.words))),
    Row("high", "look-alike-program", lambda f: not f.program.isascii()),
)
