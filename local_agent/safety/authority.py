"""THE authority: what may be done at all, and what must be on disk before it is done.

Two questions and nothing else: `classify_operation` turns the facts of a sealed action into a risk
(the written table is ``docs/risk.md``), and `before_operation` consumes an approval, writes the
intent and the audit entry in one transaction (R59).  A class is advice for the person and a reason
to refuse; it never lets anything pass without an approval (R42).
"""

from __future__ import annotations

import hmac
import posixpath
import re
import unicodedata
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from common.errors import AuthError, StateError
from common.model.state import TaskState
from common.seal import Seal, digest, read_seal
from common.text import has_hidden
from local_agent.store.journal import Journal

Level = Literal["normal", "high", "refused"]

MAX_COMMAND_BYTES: Final = 20_000  # R26

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
class Risk:
    """What the facts of an action amount to.

    Attributes:
        reasons: Codes, in the order of the table; each has a sentence in ``replies.RISK``.
    """

    level: Level
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Facts:
    """A command as the table looks at it."""

    words: tuple[str, ...]
    is_shell: bool
    cwd: str
    sandbox: str
    network: bool
    allowed: Collection[tuple[str, ...]]

    @property
    def program(self) -> str:
        return posixpath.basename(self.words[0])

    def mentions(self, names: Collection[str]) -> bool:
        """Tell whether any word, or the end of any path, is one of the names."""
        return any(posixpath.basename(word) in names for word in self._bare())

    def mentions_pair(self, pairs: Collection[tuple[str, str]]) -> bool:
        """Tell whether a program and one of its commands occur, options between them or not."""
        bare = {posixpath.basename(word) for word in self._bare()}
        return any(program in bare and command in bare for program, command in pairs)

    def _bare(self) -> Sequence[str]:
        # Words inside words count too (`sh -c "rm -rf x"`): too many marks do no harm here.
        return re.split(r"[\s;&|()<>`$'\"=]+", " ".join(self.words))


_Test = Callable[[_Facts], bool]

# The table.  docs/risk.md says the same in words, and a test compares the two.
_REFUSED: Final[tuple[tuple[str, _Test], ...]] = (
    ("too-long", lambda f: _size(f) > MAX_COMMAND_BYTES),
    ("control-character", lambda f: any(_has_control(word) for word in f.words)),
    ("empty-program", lambda f: not f.words[0].strip()),
    ("outside-workspace", lambda f: _leaves(f.cwd)),
    ("unknown-sandbox", lambda f: f.sandbox not in ("bubblewrap", "none")),
)
_HIGH: Final[tuple[tuple[str, _Test], ...]] = (
    ("shell", lambda f: f.is_shell),
    ("not-sandboxed", lambda f: f.sandbox == "none"),
    ("network", lambda f: f.network),
    ("not-the-test-command", lambda f: f.is_shell or f.words not in f.allowed),
    ("other-folder", lambda f: posixpath.normpath(f.cwd) != "."),
    ("destructive", lambda f: f.mentions(_DESTRUCTIVE) or f.mentions_pair(_DESTROYS)),
    ("privilege", lambda f: f.mentions(_PRIVILEGE)),
    ("publishes", lambda f: f.mentions_pair(_PUBLISHES)),
    ("hidden-characters", lambda f: any(has_hidden(word) for word in f.words)),
    ("look-alike-program", lambda f: not f.program.isascii()),
)

REASONS: Final = (
    "unknown-action",
    *(code for code, _ in _REFUSED),
    *(code for code, _ in _HIGH),
)


def classify_operation(
    action: str, payload: Mapping[str, Any], *, allowed: Collection[Sequence[str]] = ()
) -> Risk:
    """Return the risk of an action from its facts alone; the model's words are none.

    Args:
        action: As sealed; any but ``run_command`` is refused.
        payload: As sealed (`common.seal_payloads`).
        allowed: The argv lists the person configured for this workspace: its test command.
            They are compared whole (R5), never by prefix.

    Returns:
        ``refused`` when any fact forbids it, ``high`` when any asks for a second act (R29), else
        ``normal``.  No limit makes a check milder (R6).
    """
    if action != "run_command":
        return Risk("refused", ("unknown-action",))
    is_shell = "script" in payload
    facts = _Facts(
        words=(payload["shell"], payload["script"]) if is_shell else tuple(payload["argv"]),
        is_shell=is_shell,
        cwd=payload["cwd"],
        sandbox=payload["sandbox"]["level"],
        network=payload["network"],
        allowed={tuple(argv) for argv in allowed},
    )
    if refused := _matching(_REFUSED, facts):
        return Risk("refused", refused)
    high = _matching(_HIGH, facts)
    return Risk("high" if high else "normal", high)


def before_operation(journal: Journal, approval_id: str, *, shown: str, at_ms: int) -> bytes:
    """Consume an approval and write the intent and its audit entry: one transaction (R22, R59).

    Runs on the journal's thread.  When it returns, the intent is durable and the approval can
    never be used again; when it raises, nothing was changed.

    Args:
        journal: Where the approval lies.
        approval_id: Which approval.
        shown: The digest that the person was shown and decided on.
        at_ms: Now, in milliseconds since the epoch.

    Returns:
        The stored seal bytes, whose digest is ``shown``.

    Raises:
        StateError: ``approval.not-approved``: it is not approved, was used, is too old, or is of
            another digest; ``approval.task-over``: its task has ended or is to be cancelled.
        AuthError: ``approval.changed``: the stored bytes are not those that were approved.
    """
    with journal.transaction():
        if not journal.approvals.consume(approval_id, shown, at_ms):
            raise StateError("approval.not-approved", approval_id=approval_id)
        raw = journal.approvals.get(approval_id).seal
        seal = open_seal(raw, shown)
        if seal.approval_id != approval_id:
            raise AuthError("approval.changed", approval_id=approval_id)
        task = journal.tasks.get(seal.task_id)
        if task.state is not TaskState.WAITING_APPROVAL or task.cancel_requested:
            raise StateError("approval.task-over", task_id=seal.task_id)
        journal.effects.open_effect(approval_id, seal.task_id, shown)
        return raw


def open_seal(raw: bytes, shown: str) -> Seal:
    """Return the seal that the stored bytes hold, when they are those of digest ``shown``.

    Raises:
        AuthError: ``approval.changed``.
    """
    if not hmac.compare_digest(digest(raw).encode(), shown.encode()):
        raise AuthError("approval.changed")
    return read_seal(raw)


def _matching(table: Sequence[tuple[str, _Test]], facts: _Facts) -> tuple[str, ...]:
    return tuple(code for code, test in table if test(facts))


def _size(facts: _Facts) -> int:
    return sum(len(word.encode("utf-8", "surrogatepass")) + 1 for word in facts.words)


def _has_control(word: str) -> bool:
    """Tell of NUL, CR, ESC and their like, bidi controls and lone surrogates (R26)."""
    return _BIDI.search(word) is not None or any(
        char not in "\n\t" and unicodedata.category(char) in ("Cc", "Cs") for char in word
    )


def _leaves(cwd: str) -> bool:
    return posixpath.isabs(cwd) or posixpath.normpath(cwd).split("/")[0] == ".."
