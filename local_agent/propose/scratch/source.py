"""The workspace as a scratch copy is made of it: what may be read into one (R52), and edited there.

A name is refused by its spelling first, then by what lies on the way to it (`tree`): nothing is
reached through a link.  What agents obey by themselves is neither lent nor taken back, so that no
edit of today gives orders to a model of tomorrow.  Blocking.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from common import redact
from common.diff.names import checked_path, twin_key
from common.errors import InputError
from local_agent.workspace import paths
from local_agent.workspace.git.opening import opens_at_once
from local_agent.workspace.listing import Ignores
from local_agent.workspace.registry import Workspace

MAX_DEPTH: Final = 64  # folders above a file

# Folders and files that coding agents and their tools read as orders or settings, by their folded
# names.
AGENT_FOLDERS: Final = frozenset(
    (
        *(".codex", ".codexbridge", ".claude", ".cursor", ".gemini", ".windsurf", ".continue"),
        *(".opencode", ".aider", ".amp", ".roo", ".kiro", ".qwen", ".trae", ".junie", ".augment"),
        *(".goose", ".crush", ".clinerules"),
    )
)
AGENT_FILES: Final = frozenset(
    (
        *("agents.md", "agents.override.md", "claude.md", "claude.local.md", "gemini.md"),
        *("qwen.md", "crush.md", ".mcp.json", ".cursorrules", ".cursorignore", ".windsurfrules"),
        *(".clinerules", ".roorules", ".rules", ".goosehints", ".aider.conf.yml", ".aiderignore"),
        *("opencode.json", "opencode.jsonc", ".opencode.json", "copilot-instructions.md"),
        paths.DENY_FILE,
    )
)


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file of the workspace.

    Attributes:
        content: None where it is no text.
        encoding: In which it is text; empty for none, where its bytes are lent as they are.
        declared: In which it was tried first.
    """

    status: os.stat_result
    content: bytes | None
    encoding: str
    declared: str

    @property
    def executable(self) -> bool:
        """Tell whether its owner may execute it, which is all that git keeps of a mode."""
        return bool(self.status.st_mode & stat.S_IXUSR)


class Source:
    """One workspace, open (`open_source`).

    Attributes:
        deny: Patterns of what is denied in it: the person's and the workspace's.
        encodings: In which its files may be text.
    """

    def __init__(self, path: Path, root: paths.Root) -> None:
        self.deny = root.deny
        self.encodings = root.encodings
        self._path = path
        self._root = root
        self._ignores: Ignores | None = None

    def status(self, path: str) -> os.stat_result | None:
        """Return what a file is, None where there is none; to be compared, not believed."""
        try:
            return os.stat(path, dir_fd=self._root.handle, follow_symlinks=False)
        except OSError:
            return None

    def exists(self, path: str) -> bool:
        """Tell whether anything bears this name, whatever it is and whoever may read it."""
        try:
            os.stat(path, dir_fd=self._root.handle, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True
        return True

    def fetch(self, parts: tuple[str, ...]) -> Fetched | None:
        """Return a file that may be read, None where there is none.

        Raises:
            InputError: ``path.denied``, ``path.link``, ``path.not-regular`` or ``path.too-large``.
        """
        try:
            handle = paths.open_file(self._root, parts)
        except InputError as error:
            if error.code == "path.missing":
                return None
            raise
        with os.fdopen(handle, "rb") as file:
            # Before it is read: what changes meanwhile has another stamp afterwards.
            status = os.fstat(handle)
            content = file.read(paths.MAX_FILE_BYTES + 1)
        if len(content) > paths.MAX_FILE_BYTES:
            raise InputError("path.too-large", limit=paths.MAX_FILE_BYTES)
        # The whole of it: a diff can tell no NUL, wherever it is.
        path = "/".join(parts)
        encoding = self.encodings.of(path, content) or ""
        text = None if b"\0" in content else content
        return Fetched(status, text, encoding, self.declared(path))

    def declared(self, path: str) -> str:
        """Return what is declared of the encoding of a file, whatever it holds."""
        return " ".join((*self.encodings.declared(path), self.encodings.usual or ""))

    def is_ignored(self, parts: Sequence[str]) -> bool:
        """Tell whether git leaves a file out, or the folder that it is in."""
        if self._ignores is None:
            self._ignores = Ignores(self._path)
        for depth in range(len(parts)):
            # libgit2 would wait for ever for one that is a FIFO.
            if not opens_at_once(self._path.joinpath(*parts[:depth], ".gitignore")):
                self._ignores.give_up()
        return self._ignores.leaves_out("/".join(parts))


@contextmanager
def open_source(workspace: Workspace) -> Iterator[Source]:
    """Give a workspace, opened.

    Raises:
        InputError: ``path.missing``.
    """
    with workspace.opened() as root:
        yield Source(workspace.path, root)


def without_secrets(content: bytes) -> bytes | None:
    """Return a text with its secrets taken out, line by line; None where the lines do not stay."""
    text = redact.redact_lines(content.decode("utf-8", "surrogateescape"))
    shown = text.encode("utf-8", "surrogateescape")
    return shown if _lines(shown) == _lines(content) else None


@cache
def secret_rules() -> str:
    """Return by which rules secrets are taken out: another value, where the rules are others."""
    rules = hashlib.sha256()
    for file in sorted(Path(redact.__file__).parent.glob("*.py")):
        rules.update(file.read_bytes())
    return rules.hexdigest()


def relative(root: Path, path: str | Path) -> tuple[str, ...]:
    """Return the parts of a path below a folder, given relative to it or absolute.

    Raises:
        InputError: ``scratch.outside``: it is not below, or says ``..``; ``path.malformed``.
    """
    text = str(path)
    if text.startswith("/"):
        above = f"{root}/"
        if not text.startswith(above):
            raise InputError("scratch.outside")
        text = text[len(above) :]
    parts = tuple(part for part in text.split("/") if part not in ("", "."))
    if ".." in parts:
        # What comes after a link is not where the name says; nobody needs it in an edit.
        raise InputError("scratch.outside")
    if not parts:
        raise InputError("path.malformed")
    return parts


def check_name(parts: Sequence[str], deny: Sequence[str]) -> str:
    """Return the path of a name that may be edited.

    Args:
        parts: Of a relative path.
        deny: Patterns of what may not even be read.

    Raises:
        InputError: ``scratch.forbidden``: git's own, or what agents obey; ``path.denied``: it may
            not be read; ``path.malformed``: no diff can name it (R34).
    """
    path = "/".join(parts)
    try:
        checked_path(path.encode("utf-8", "surrogatepass"))
    except InputError as error:
        git = error.facts.get("why") == "git"
        raise InputError("scratch.forbidden" if git else "path.malformed") from None
    if len(parts) > MAX_DEPTH + 1 or not all(map(paths.is_plain, parts)):
        raise InputError("path.malformed")
    if is_agent_config(parts):
        raise InputError("scratch.forbidden")
    if paths.is_denied(parts, deny):
        raise InputError("path.denied")
    return path


def is_agent_config(parts: Sequence[str]) -> bool:
    """Tell whether a path is, or lies in, what agents obey by themselves."""
    names = [twin_key(part) for part in parts]
    return names[-1] in AGENT_FILES or not AGENT_FOLDERS.isdisjoint(names)


def _lines(content: bytes) -> tuple[int, bool]:
    return content.count(b"\n"), content[-1:] not in (b"", b"\n")
