"""Which paths of a scratch copy may be edited, whoever names them and however.

A name is refused by its spelling first, then by what lies on the way to it: nothing is reached
through a link.  What agents obey by themselves is neither lent nor taken back, so that no edit of
today gives orders to a model of tomorrow.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from common.diff.names import checked_path, twin_key
from common.errors import InputError
from local_agent.workspace import paths

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
