"""Where a push may go: the forms of URL that are understood whole, and no other.

What is not exactly one of these is refused, so that the card, git and ssh cannot read it
differently.  Pure.

    https://host/path     http://127.0.0.1:8080/path (loopback literal only)
    ssh://user@host/path  user@host:path              /absolute/path  file:///absolute/path
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from common.errors import InputError
from common.redact import redact
from common.text import has_hidden

Scheme = Literal["https", "http", "ssh", "file"]

MAX_BYTES: Final = 1024
_LONGEST_USER: Final = 39  # of the large hosts; what is longer is a token in the place of a name

_NAME: Final = r"[A-Za-z0-9_][A-Za-z0-9._-]*"
_AUTHORITY: Final = (
    rf"(?:(?P<user>(?:[^@/?#:%]|%40)*)(?P<secret>:[^@/?#]*)?@)?"
    rf"(?P<host>{_NAME}|\[[0-9a-fA-F:.]+\])"
)
_WITH_SCHEME: Final = re.compile(
    rf"(?P<scheme>https?|ssh)://{_AUTHORITY}(?::[0-9]{{1,5}})?/(?P<path>[^?#]*)"
)
_LIKE_SCP: Final = re.compile(
    rf"(?:(?P<user>{_NAME})@)?(?P<host>{_NAME}):(?P<path>[^:?#/~-].*|~.*|/[^/].*)"
)
_LOCAL: Final = re.compile(r"(?:file://)?(?P<path>/[^/].*)")
_ASCII: Final = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True)
class RemoteUrl:
    """A URL that may be pushed to.

    Attributes:
        scheme: The one transport that git is allowed for it.
        path: Absolute path of a local repository; empty for the others.
    """

    text: str
    scheme: Scheme
    path: str = ""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One ``url.BASE.insteadOf = PREFIX`` of the person's own configuration.

    Attributes:
        push: It is a ``pushInsteadOf``.
    """

    base: str
    prefix: str
    push: bool


def read_url(text: str) -> RemoteUrl:
    """Return the URL when it is one that may be pushed to.

    Raises:
        InputError: ``sync.url`` with ``why``: ``characters``, ``password``, ``plain-http``,
            ``relative`` or ``transport``.
    """
    if not text or len(text.encode()) > MAX_BYTES or has_hidden(text) or set(text) & set('"\\\n\t'):
        raise InputError("sync.url", why="characters")
    # Of these two git unescapes the whole before it looks for the host: %2F would end it early.
    if "%" in text and text.startswith(("ssh:", "file:")):
        raise InputError("sync.url", why="characters")
    if local := _LOCAL.fullmatch(text):
        return RemoteUrl(text, "file", local["path"])
    if not _ASCII.fullmatch(text):
        raise InputError("sync.url", why="characters")
    if match := _WITH_SCHEME.fullmatch(text):
        return _with_scheme(text, match)
    if "::" not in text and _LIKE_SCP.fullmatch(text):
        return RemoteUrl(text, "ssh")
    raise InputError("sync.url", why="transport" if ":" in text else "relative")


def is_folder(text: str) -> bool:
    """Tell whether a URL that `read_url` let pass is that of a folder on this machine."""
    return _LOCAL.fullmatch(text) is not None


def rewritten(url: str, rules: Sequence[Rewrite]) -> str:
    """Return the URL that git would push to by the person's own rules.

    As git does it: the longest prefix wins, those for pushes come first, and no rule follows on
    another.

    Raises:
        InputError: ``sync.url`` with ``why="rewritten"``: a rule names the result whole, and git
            would rewrite it once more.
    """
    for push in (True, False):
        matching = [rule for rule in rules if rule.push is push and url.startswith(rule.prefix)]
        if matching:
            best = max(matching, key=lambda rule: len(rule.prefix))
            url = best.base + url[len(best.prefix) :]
            break
    if any(rule.prefix == url and rule.base != url for rule in rules):
        raise InputError("sync.url", why="rewritten")
    return url


def _with_scheme(text: str, match: re.Match[str]) -> RemoteUrl:
    user = match["user"] or ""
    token = len(user) > _LONGEST_USER or redact(f"{user} ") != f"{user} "
    if match["secret"] is not None or token:
        raise InputError("sync.url", why="password")
    if user.startswith("-") or not match["path"]:
        raise InputError("sync.url", why="characters")
    scheme = match["scheme"]
    if scheme == "http" and not _is_loopback(match["host"]):
        raise InputError("sync.url", why="plain-http")
    return RemoteUrl(text, "https" if scheme == "https" else "http" if scheme == "http" else "ssh")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
