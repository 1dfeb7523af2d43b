"""Names of files in a diff (R34): unquoted as git quotes them, then held to what is safe anywhere.

A name must mean the same file on Linux, macOS and Windows, and must not be able to mean ``.git``
on any of them.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from common.errors import InputError
from common.text import has_hidden

MAX_PATH_BYTES: Final = 1024
MAX_NAME_BYTES: Final = 255

_ESCAPE: Final = re.compile(rb'\\(?:([0-3][0-7]{2})|([abfnrtv"\\]))|\\')
_MEANS: Final = {
    b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v",
    b'"': b'"', b"\\": b"\\",
}  # fmt: skip
# Code points that HFS+ leaves out when it compares names (git, utf8.c: next_hfs_char).
_HFS_IGNORED: Final = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]
)
_GIT: Final = re.compile(r"\.?git(?:~[0-9]+)?[. ]*")
_DEVICE: Final = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?"
)


def unquote(token: bytes) -> bytes:
    """Return the bytes of a name that git put into double quotes; any other comes back as it is.

    Raises:
        InputError: ``diff.name``: the quoting is broken.
    """
    if not token.startswith(b'"'):
        return token
    inner = token[1:-1]
    if len(token) < 2 or not token.endswith(b'"') or b'"' in _ESCAPE.sub(b"", inner):
        raise InputError("diff.name", why="quoting")
    return _ESCAPE.sub(_meaning, inner)


def _meaning(match: re.Match[bytes]) -> bytes:
    if match[1] is not None:
        return bytes([int(match[1], 8)])
    if match[2] is not None:
        return _MEANS[match[2]]
    raise InputError("diff.name", why="quoting")


def checked_path(raw: bytes) -> str:
    """Return a relative path that is safe to look for inside a workspace.

    Raises:
        InputError: ``diff.name`` with ``why``: ``encoding``, ``too-long``, ``hidden``,
            ``character``, ``absolute``, ``component``, ``git`` or ``device``.
    """
    try:
        path = raw.decode("utf-8", "strict")
    except UnicodeDecodeError:
        raise InputError("diff.name", why="encoding") from None
    if not path or len(raw) > MAX_PATH_BYTES:
        raise InputError("diff.name", why="too-long" if path else "component")
    if has_hidden(path) or "\n" in path or "\t" in path:
        raise InputError("diff.name", why="hidden")
    if "\\" in path or ":" in path:
        raise InputError("diff.name", why="character")
    if path.startswith("/"):
        raise InputError("diff.name", why="absolute")
    for part in path.split("/"):
        _check_component(part)
    return path


def _check_component(part: str) -> None:
    if part in ("", ".", "..") or part[0] == " " or part[-1] in " .":
        raise InputError("diff.name", why="component")
    if len(part.encode()) > MAX_NAME_BYTES:
        raise InputError("diff.name", why="too-long")
    folded = unicodedata.normalize("NFKC", part.translate(_HFS_IGNORED)).casefold()
    if "/" in folded or "\\" in folded or ":" in folded:
        raise InputError("diff.name", why="character")
    folded = folded.strip(" ")
    if folded != "git" and _GIT.fullmatch(folded):
        raise InputError("diff.name", why="git")
    if _DEVICE.fullmatch(folded):
        raise InputError("diff.name", why="device")


def twin_key(path: str) -> str:
    """Return a key that two paths share when some file system takes them for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", path).casefold())
