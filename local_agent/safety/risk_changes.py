"""The table of changes, and of undos, which are changes too: which facts make one high risk (R38).

The facts are the sealed list of files and what the diff adds to them.  Whether a file is where the
diff says, and whether a link stands in the way, is the writer's matter; names are looked at here
once more all the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from common.diff.model import DiffModel
from common.diff.names import checked_path, is_recased
from common.diff.view import marks
from common.errors import InputError
from common.seal import SealedChange, read_changes
from common.text import has_confusable
from local_agent.safety.risk import Circumstances, Finding, Row, Table, findings
from local_agent.workspace.git.config import is_hook
from local_agent.workspace.paths import is_denied, is_execution_surface

MAX_FILES: Final = 500
MANY_FILES: Final = 50  # R29

# What decides which code of others is installed, by exact name or by ending.
_LOCKS: Final = re.compile(
    r".*[.-]lock(?:\.json|\.yaml|\.hcl|b|file)?|npm-shrinkwrap\.json|go\.(?:sum|mod)"
    r"|package\.resolved|.*(?:requirements|constraints).*\.(?:txt|in)",
    re.DOTALL,
)


# Brackets, braces alone and "$" alone are let pass: routes of web frameworks are named so.
_SHELL_NAME: Final = re.compile(r"""\$[({]|[`*?|&;<>"'\n]""")


@dataclass(frozen=True, slots=True)
class ChangeFacts:
    """A change as the table looks at it.

    Attributes:
        diff: What its sealed diff says, or None when nobody read it.
        marks: Codes of `common.diff.view.marks` that its added lines carry.
        moved: How many blocks stand elsewhere than their author said.
        hooks: Where git takes hooks from.
    """

    changes: tuple[SealedChange, ...]
    diff: DiffModel | None
    marks: frozenset[str]
    moved: int
    hooks: tuple[str, ...]

    @property
    def paths(self) -> list[str]:
        """Every name that is written, taken away or copied from."""
        return [
            name for one in self.changes for name in (one.path, one.old_path) if name is not None
        ]

    def touches(self, is_such: Callable[[str], bool]) -> bool:
        """Tell whether any of the names is such a one."""
        return any(map(is_such, self.paths))


def change_facts(changes: tuple[SealedChange, ...], around: Circumstances) -> ChangeFacts:
    """Return the facts of sealed changes."""
    encodings = {one.path: one.encoding for one in changes}
    found = marks(around.diff.in_encodings(encodings)) if around.diff else ()
    codes = frozenset(mark.code for mark in found)
    return ChangeFacts(changes, around.diff, codes, around.moved, around.hooks)


def judge_change(payload: Mapping[str, Any], around: Circumstances) -> list[Finding]:
    """Return what the table says of a sealed change or undo."""
    return findings(CHANGES, change_facts(read_changes(payload), around))


def _touches_surface(facts: ChangeFacts) -> bool:
    return facts.touches(is_execution_surface) or facts.touches(
        lambda path: is_hook(path, facts.hooks)
    )


def is_dotfile(path: str) -> bool:
    """Tell whether a path is hidden, or lies in a hidden folder, and is none we know better."""
    hidden = any(part.startswith(".") for part in path.split("/"))
    return hidden and not is_execution_surface(path)


def is_lock_file(path: str) -> bool:
    """Tell whether a file decides which code of others is installed."""
    return _LOCKS.fullmatch(path.rpartition("/")[2].casefold()) is not None


def is_shell_name(path: str) -> bool:
    """Tell whether a shell or a program may take a file's name for a pattern, code or an option."""
    return any(part.startswith(("-", "~")) for part in path.split("/")) or (
        _SHELL_NAME.search(path) is not None
    )


def is_secret_file(path: str) -> bool:
    """Tell whether a file looks like a secret by its name (R52)."""
    return is_denied(path.split("/"))


def _name_fault(path: str) -> str | None:
    """Return why no diff may bear this name (R34), or None."""
    try:
        checked_path(path.encode("utf-8", "surrogatepass"))
    except InputError as error:
        return str(error.facts.get("why", ""))
    return None


def _is_git(path: str) -> bool:
    return _name_fault(path) == "git"


def _leaves(path: str) -> bool:
    return path.startswith("/") or not {"", ".", ".."}.isdisjoint(path.split("/"))


def _is_unsafe(path: str) -> bool:
    return _name_fault(path) not in (None, "git") and not _leaves(path)


def _agrees(facts: ChangeFacts) -> bool:
    """Tell whether the diff that was read and the list that was sealed name the same."""
    if facts.diff is None or len(facts.diff.files) != len(facts.changes):
        return False
    return all(
        (file.op, file.path, file.old_path) == (one.op, one.path, one.old_path)
        and file.new_mode in (None, one.new_mode)
        for file, one in zip(facts.diff.files, facts.changes, strict=True)
    )


def _becomes_executable(changes: Sequence[SealedChange]) -> bool:
    return any(one.new_mode == "100755" and _was(one) != "100755" for one in changes)


def _is_recased(change: SealedChange) -> bool:
    return is_recased(change.op, change.old_path, change.path)


def _was(change: SealedChange) -> str | None:
    # A copy is a new file, whatever the bit of the one it was made from.
    return None if change.op == "copy" else change.old_mode


GIT_FOLDER: Final[Row[ChangeFacts]] = Row("refused", "git-folder", lambda f: f.touches(_is_git))
OUTSIDE: Final[Row[ChangeFacts]] = Row("refused", "outside-workspace", lambda f: f.touches(_leaves))
UNSAFE_NAME: Final[Row[ChangeFacts]] = Row(
    "refused", "unsafe-name", lambda f: f.touches(_is_unsafe)
)
TOO_MANY: Final[Row[ChangeFacts]] = Row(
    "refused", "too-many-files", lambda f: len(f.changes) > MAX_FILES
)
CONTENT: Final[Table[ChangeFacts]] = (
    Row("high", "many-files", lambda f: len(f.changes) > MANY_FILES),
    Row("high", "secret-file", lambda f: f.touches(is_secret_file)),
    Row("high", "secret-content", lambda f: "secret-looking" in f.marks),
    Row("high", "hidden-characters", lambda f: "hidden-characters" in f.marks),
    Row(
        "high",
        "look-alike-characters",
        lambda f: "confusable" in f.marks or f.touches(has_confusable),
    ),
    Row("high", "shell-name", lambda f: f.touches(is_shell_name)),
    Row("high", "other-encoding", lambda f: "encoding" in f.marks),
    Row("high", "long-lines", lambda f: "long-line" in f.marks),
)
CHANGES: Final[Table[ChangeFacts]] = (
    Row("refused", "unread-diff", lambda f: not _agrees(f)),
    GIT_FOLDER,
    OUTSIDE,
    UNSAFE_NAME,
    TOO_MANY,
    Row("high", "deletes", lambda f: any(one.op == "delete" for one in f.changes)),
    Row("high", "case-rename", lambda f: any(map(_is_recased, f.changes))),
    Row("high", "execution-surface", _touches_surface),
    Row("high", "dotfile", lambda f: f.touches(is_dotfile)),
    Row("high", "lock-file", lambda f: f.touches(is_lock_file)),
    Row("high", "executable", lambda f: _becomes_executable(f.changes)),
    Row("high", "moved", lambda f: f.moved > 0),
    *CONTENT,
)
