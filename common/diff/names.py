"""Names of files in a diff (R34): unquoted as git quotes them, then held to what is safe anywhere.

A name must mean the same file on Linux, macOS and Windows, and must not be able to mean ``.git``
on any of them.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from common.errors import InputError
from common.text import has_hidden

MAX_PATH_BYTES: Final = 1024
MAX_NAME_BYTES: Final = 255

_QUOTED: Final = re.compile(rb'"((?:[^"\\]|\\[abfnrtv"\\]|\\[0-3][0-7]{2})*+)"')
_ESCAPE: Final = re.compile(rb"\\(?:([0-3][0-7]{2})|(.))", re.DOTALL)
_MEANS: Final = {
    b"a": b"\a", b"b": b"\b", b"f": b"\f", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"v": b"\v",
    b'"': b'"', b"\\": b"\\",
}  # fmt: skip
# Code points that HFS+ leaves out when it compares names (git, utf8.c: next_hfs_char).
_HFS_IGNORED: Final = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]
)
# An empty component, "." or "..", or one with a blank or dot where Windows leaves it out.
_NO_COMPONENT: Final = ("//", "/ ", " /", "./")
# What a component may not be once it is folded: ".git"; a device of Windows; the short name that
# Windows gives to a long one; the name below a file by which macOS reaches its forks.
_RESERVED: Final = re.compile(
    r"/ *(?:"
    r"(?P<git>(?:\.git|git~[0-9]+)[. ]*)"
    r"|(?P<device>(?:con|prn|aux|nul|clock\$|conin\$|conout\$|com[0-9]|lpt[0-9]) *(?:\.[^/]*)?)"
    r"|(?P<alias>(?=[^/.]{3,8}[/.])[^/.~]{1,6}~[0-9]{1,6}(?:\.[^/.]{0,3})?|\.\.namedfork)"
    r"|(?P<component>[. ]*)"
    r")(?=/)"
)


def unquote(token: bytes) -> bytes:
    """Return the bytes of a name that git may have put into double quotes.

    Raises:
        InputError: ``diff.name`` with ``why`` ``quoting``: the quotes are broken, or stand in a
            name that would have to be quoted for them.
    """
    if b'"' not in token:
        return token
    match = _QUOTED.fullmatch(token)
    if match is None:
        raise InputError("diff.name", why="quoting")
    return _ESCAPE.sub(_meaning, match[1])


def quoted(name: bytes) -> bytes:
    """Return a checked name as a diff writes it: only a double quote needs quoting."""
    return b'"' + name.replace(b'"', b'\\"') + b'"' if b'"' in name else name


def quoted_prefix(text: bytes) -> bytes:
    """Return the quoted name that the text begins with; empty where it begins with none."""
    match = _QUOTED.match(text)
    return match[0] if match else b""


@lru_cache(maxsize=8)  # the same name stands in up to four lines of a file's header
def checked_path(raw: bytes) -> str:
    """Return a relative path that is safe to look for inside a workspace.

    Raises:
        InputError: ``diff.name`` with ``why``: ``encoding``, ``too-long``, ``hidden``,
            ``character``, ``absolute``, ``component``, ``git``, ``device`` or ``alias``.
    """
    try:
        path = raw.decode("utf-8", "strict")
    except UnicodeDecodeError:
        raise InputError("diff.name", why="encoding") from None
    if len(raw) > MAX_PATH_BYTES:
        raise InputError("diff.name", why="too-long")
    if not path.isprintable() or (not path.isascii() and has_hidden(path)):
        raise InputError("diff.name", why="hidden")
    if "\\" in path or ":" in path:
        raise InputError("diff.name", why="character")
    if path.startswith("/"):
        raise InputError("diff.name", why="absolute")
    slashed = f"/{path}/"
    if any(mark in slashed for mark in _NO_COMPONENT):
        raise InputError("diff.name", why="component")
    if len(raw) > MAX_NAME_BYTES and max(map(len, raw.split(b"/"))) > MAX_NAME_BYTES:
        raise InputError("diff.name", why="too-long")
    folded = twin_key(path)
    if folded.count("/") != path.count("/") or "\\" in folded or ":" in folded:
        raise InputError("diff.name", why="character")  # as of a fullwidth slash
    if reserved := _RESERVED.search(f"/{folded}/"):
        raise InputError("diff.name", why=reserved.lastgroup)
    return path


def twin_key(path: str) -> str:
    """Return a key that two paths share when some file system may take them for one."""
    if path.isascii():
        return path.lower()
    # Folded twice, because folding can compose what normalising then takes apart again.
    return _folded(_folded(path))


def is_recased(op: str, old: str | None, new: str | None) -> bool:
    """Return True for a rename in which letters change their case, and nothing else."""
    if op != "rename" or not old or not new:
        return False
    return (old.lower(), old.upper()) == (new.lower(), new.upper())


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text.translate(_HFS_IGNORED))
    # Windows compares in upper case, where a dotless i is an I.
    return unicodedata.normalize("NFKC", plain.upper().casefold())


def _meaning(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 8)]) if match[1] is not None else _MEANS[match[2]]
