"""Sessions of a local page: single-use launch links, and what a browser proves itself with.

A session has two halves, and every request needs both.  The cookie is HttpOnly, so no script can
read it; but a browser sends it to every port of the host.  The token lies in the storage of the
page's own origin, which other ports cannot read, and goes along as a header; but a script of the
page could read it.  Neither half is kept here, only their SHA-256.

Pure: moments come in as milliseconds since the epoch, and what is kept goes out as JSON.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from common.errors import AuthError
from common.records import SHA256_HEX, integer, list_of, record_of

LAUNCH_MS: Final = 5 * 60_000
IDLE_MS: Final = 12 * 3_600_000
LASTS_MS: Final = 7 * 24 * 3_600_000
MAX_LAUNCHES: Final = 8  # that wait to be used; the oldest gives way
MAX_SESSIONS: Final = 16  # browsers; the one not seen for longest gives way
SECRET_CHARS: Final = 43  # 256 bits in URL-safe base64
_MOMENT: Final = integer(0, 2**53)
_are_sessions: Final = list_of(
    record_of(
        {
            "cookie_sha256": SHA256_HEX,
            "token_sha256": SHA256_HEX,
            "since_ms": _MOMENT,
            "seen_ms": _MOMENT,
        }
    )
)


@dataclass(frozen=True, slots=True)
class Launch:
    """What a launch link is for.

    Attributes:
        purpose: Where the page goes on to.
    """

    secret_sha256: str
    purpose: str
    until_ms: int


@dataclass(frozen=True, slots=True)
class Session:
    """One browser's session."""

    cookie_sha256: str
    token_sha256: str
    since_ms: int
    seen_ms: int

    @property
    def binding(self) -> bytes:
        """What names it and opens nothing: a hash over those of both halves."""
        return hashlib.sha256(f"{self.cookie_sha256}{self.token_sha256}".encode()).digest()

    def is_live(self, now_ms: int) -> bool:
        """Tell whether it still counts; a clock that went back by a day ends it."""
        return (
            now_ms - self.seen_ms < IDLE_MS
            and now_ms - self.since_ms < LASTS_MS
            and self.since_ms - now_ms < IDLE_MS
        )


@dataclass(frozen=True, slots=True)
class Granted:
    """Both halves of a new session, told to the browser once.

    Attributes:
        purpose: As the launch link was made for.
    """

    cookie: str
    token: str
    purpose: str


class Sessions:
    """All sessions of one page, and the launch links that wait to be used."""

    def __init__(self, kept: Iterable[Session] = ()) -> None:
        self._launches: list[Launch] = []
        self._sessions = list(kept)[-MAX_SESSIONS:]

    def new_launch(self, now_ms: int, *, purpose: str = "") -> str:
        """Return the secret of a link that can be used once, within five minutes."""
        secret = secrets.token_urlsafe(32)
        self._launches = [one for one in self._launches if now_ms < one.until_ms]
        self._launches.append(Launch(_hashed(secret), purpose, now_ms + LAUNCH_MS))
        del self._launches[:-MAX_LAUNCHES]
        return secret

    def redeem(self, secret: str, now_ms: int) -> Granted:
        """Use a launch link up, and begin a session.

        Raises:
            AuthError: ``page.launch``: it was used, is too old, or was never made.
        """
        given, found = _hashed(secret), None
        for one in self._launches:  # all of them, in the same time whichever it is
            if _same(one.secret_sha256, given):
                found = one
        if found is None or now_ms >= found.until_ms:
            raise AuthError("page.launch")
        self._launches.remove(found)
        cookie, token = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        if len(self._sessions) >= MAX_SESSIONS:
            self._sessions.remove(min(self._sessions, key=lambda one: one.seen_ms))
        self._sessions.append(Session(_hashed(cookie), _hashed(token), now_ms, now_ms))
        return Granted(cookie, token, found.purpose)

    def find(self, cookie: str, now_ms: int) -> Session | None:
        """Return the live session of a cookie, and note that it is in use."""
        given, found = _hashed(cookie), None
        for one in self._sessions:
            if _same(one.cookie_sha256, given):
                found = one
        if found is None or not found.is_live(now_ms):
            return None
        if found.seen_ms < now_ms:
            seen = replace(found, seen_ms=now_ms)
            self._sessions[self._sessions.index(found)] = seen
            return seen
        return found

    def lives(self, session: Session, now_ms: int) -> bool:
        """Tell whether a session that was found before still counts."""
        return any(
            one.cookie_sha256 == session.cookie_sha256 and one.is_live(now_ms)
            for one in self._sessions
        )

    def end(self, session: Session) -> None:
        """End one session."""
        self._sessions = [
            one for one in self._sessions if one.cookie_sha256 != session.cookie_sha256
        ]

    def end_all(self) -> None:
        """End every session, and forget the links."""
        self._sessions.clear()
        self._launches.clear()

    def is_awaited(self, now_ms: int) -> bool:
        """Tell whether any session lives, or may begin."""
        self._sessions = [one for one in self._sessions if one.is_live(now_ms)]
        return bool(self._sessions) or any(now_ms < one.until_ms for one in self._launches)

    def to_json(self) -> list[dict[str, Any]]:
        """Return what is kept of the sessions."""
        return [asdict(one) for one in self._sessions]


def has_token(session: Session, token: str) -> bool:
    """Tell whether a token is the other half of a session."""
    return _same(session.token_sha256, _hashed(token))


def read_sessions(raw: Any) -> list[Session]:
    """Return the sessions that `Sessions.to_json` wrote; none where that cannot be read."""
    return [Session(**one) for one in raw] if _are_sessions(raw) else []


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())
