"""Passkeys: added in a ceremony that a terminal begins and ends, then used to approve (R31).

    terminal: add ─▶ link ─▶ page: options, finish ─▶ its code ─▶ terminal: confirm ─▶ kept
    page: approval_options (a touch, `touches`) ─▶ approve ─▶ spent, verified, counted ─▶ gate

Nothing that the page alone can do adds a passkey: what it registered is thrown away unless the
person types, at the terminal, the code that their own page shows.  A passkey signs the digest of
one approval and so approves nothing else; it never rejects.  Of the answers of authenticators only
what was verified and approved is kept, with the approval; none is logged.  What is verified in them
stands in `local_agent.faces.page.authenticator`.
"""

from __future__ import annotations

import asyncio
import hmac
import re
import secrets
from collections.abc import AsyncIterator, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol, TypeVar

from common.assertion import challenge_of
from common.clock import Clock, Instant
from common.errors import InputError, StateError, UnavailableError
from common.records import encode_bytes
from common.seal import code_matches, short_code
from common.text import has_hidden
from local_agent.faces.control.tasks import Answer
from local_agent.faces.page.authenticator import (
    check_origin,
    creation_options,
    credential_id_of,
    refused,
    request_options,
    require_library,
    verify_assertion,
    verify_registration,
)
from local_agent.faces.page.touches import WRONG_CODES, Touches, later, seconds_left
from local_agent.faces.window.program import Windows
from local_agent.flow.approvals import PendingApproval, check_standing, question
from local_agent.flow.gate import Entrance
from local_agent.store.journal import JournalThread
from local_agent.store.passkeys import Passkey
from local_agent.views.question import Text
from local_agent.views.status import PasskeyList, PasskeyView

CEREMONY_SECONDS: Final = 600.0
MAX_NAME_CHARS: Final = 40

_MAX_TYPED: Final = 64
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_APPROVAL_ID: Final = re.compile(r"[0-9A-Za-z-]{1,64}")

_T = TypeVar("_T")


class Launch(Protocol):
    """Gives a link that opens the page, once."""

    async def __call__(self, *, purpose: str) -> str:
        """Return the link; ``purpose`` is ``passkey``."""
        ...


@dataclass(frozen=True, slots=True)
class Registered:
    """What the page shows of a passkey that is not accepted yet.

    Attributes:
        name: As it was called at the terminal.
        code: Its fingerprint for people, such as ``7K3F-9Q2M``; its first group is typed there.
    """

    name: str
    code: str


@dataclass(slots=True, eq=False)
class _Ceremony:
    """One passkey on its way.

    Attributes:
        token: Known to the terminal that began it.
        until: When it is over, by whichever clock says so first.
        challenge: For the next answer of the page; each is good for one.
        candidate: What the page registered.
        wrong: How often a wrong code was typed.
        taken: Whether nothing more may be typed: the right one was, or a wrong one too often.
        accepted: Whether it was kept.
    """

    name: str
    token: str
    until: Instant
    challenge: bytes | None = None
    candidate: Passkey | None = None
    wrong: int = 0
    taken: bool = False
    accepted: bool = False
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    ended: asyncio.Event = field(default_factory=asyncio.Event)


class Passkeys:
    """Adds passkeys and takes their approvals.

    Args:
        db: The journal's thread.
        entrance: Where approvals by passkey enter the gate; of this face alone.
        clock: For expiry and records.
        windows: Show one-time codes, where they can be opened.
        launch: Gives the page's link; None while there is no page.

    Attributes:
        launch: The same; set by the page once it listens.
        touches: What is asked of passkeys at this moment.
    """

    def __init__(
        self,
        db: JournalThread,
        entrance: Entrance,
        clock: Clock,
        *,
        windows: Windows,
        launch: Launch | None = None,
    ) -> None:
        self._db = db
        self._entrance = entrance
        self._clock = clock
        self.launch = launch
        self.touches = Touches(clock, windows)
        self._ceremony: _Ceremony | None = None

    # --- at the terminal ---

    async def add(self, name: str) -> AsyncIterator[Answer]:
        """Begin to add a passkey, and tell how it goes; the ceremony lasts as long as this.

        Yields:
            ``{"url", "ceremony"}``: the link to open, and what `confirm` asks for; ``{"ends"}``:
            the second group of the code, once the page has registered; at last the passkey, once
            it is accepted.

        Raises:
            InputError: ``passkey.name``, ``passkey.name-taken``, ``passkey.too-many``.
            ConfigError: ``passkey.not-installed``.
            UnavailableError: ``passkey.no-page``.
            StateError: ``passkey.busy``: another is being added; ``passkey.timed-out``;
                ``passkey.not-accepted``: wrong codes, or it could not be kept.
        """
        chosen = parse_name(name)
        await asyncio.to_thread(require_library)
        if self.launch is None:
            raise UnavailableError("passkey.no-page")
        if self._ceremony is not None:
            raise StateError("passkey.busy")
        ceremony = _Ceremony(
            chosen, secrets.token_hex(16), later(self._clock.now(), CEREMONY_SECONDS)
        )
        self._ceremony = ceremony
        try:
            await self._db.run(self._db.journal.passkeys.check_new, chosen)
            url = await self._within(ceremony, self.launch(purpose="passkey"))
            yield False, {"url": url, "ceremony": ceremony.token}
            await self._within(ceremony, ceremony.arrived.wait())
            yield False, {"ends": _code(_arrived(ceremony))[5:]}
            try:
                await self._within(ceremony, ceremony.ended.wait())
            except StateError:
                if not ceremony.taken:
                    raise
                await ceremony.ended.wait()  # it is being kept at this very moment
            if not ceremony.accepted:
                raise StateError("passkey.not-accepted")
        finally:
            self._ceremony = None
        yield True, _view(_arrived(ceremony))

    async def confirm(self, token: str, typed: str) -> Mapping[str, Any]:
        """Keep what the page registered, when its code was typed at the terminal.

        Args:
            token: What `add` told as ``ceremony``.
            typed: The first group of the code that the page shows, or all of it.

        Raises:
            StateError: ``passkey.no-ceremony``; ``passkey.not-accepted``: wrong once too often.
            InputError: ``passkey.wrong-code``: it may be typed again; ``passkey.known``,
                ``passkey.name-taken``: it cannot be kept.
        """
        ceremony = self._ceremony
        if ceremony is None or not _same(ceremony.token, token) or self._is_over(ceremony):
            raise StateError("passkey.no-ceremony")
        new = ceremony.candidate
        if new is None or ceremony.taken:
            raise StateError("passkey.no-ceremony")
        if not code_matches(typed, new.fingerprint, both_groups=False):
            ceremony.wrong += 1
            if ceremony.wrong < WRONG_CODES:
                raise InputError("passkey.wrong-code", left=WRONG_CODES - ceremony.wrong)
            ceremony.taken = True
            ceremony.ended.set()
            raise StateError("passkey.not-accepted")
        ceremony.taken = True
        try:
            ceremony.candidate = kept = replace(new, created_at=self._clock.now().wall_ms)
            await self._db.run(self._db.journal.passkeys.add, kept)
            ceremony.accepted = True
        finally:
            ceremony.ended.set()
        return {}

    async def listed(self) -> PasskeyList:
        """Return those that may approve."""
        live = await self._db.run(self._db.journal.passkeys.live)
        shown_by = self.touches.shown_by
        return PasskeyList(passkeys=tuple(_view(one) for one in live), codes_in=shown_by)

    async def remove(self, name: str) -> Mapping[str, Any]:
        """Let one approve nothing any more.

        Raises:
            InputError: ``passkey.unknown``.
        """
        now = self._clock.now()
        await self._db.run(self._db.journal.passkeys.revoke, name, now.wall_ms)
        return {}

    # --- on the page ---

    async def registration_options(self) -> dict[str, Any]:
        """Return what ``navigator.credentials.create`` takes, for one answer.

        Raises:
            StateError: ``passkey.no-ceremony``: no terminal waits for a registration.
        """
        ceremony = self._waiting()
        known = await self._db.run(self._db.journal.passkeys.live)
        ceremony.challenge = challenge = secrets.token_bytes(32)
        return await asyncio.to_thread(
            creation_options,
            name=ceremony.name,
            user_id=secrets.token_bytes(32),
            challenge=challenge,
            known=[one.credential_id for one in known],
        )

    async def finish_registration(self, answer: object, origin: str) -> Registered:
        """Take what the browser registered; it is kept once `confirm` says so, and not before.

        Args:
            answer: ``PublicKeyCredential.toJSON()`` of the new credential.
            origin: The server's own, ``http://localhost:PORT``; never the browser's header.

        Raises:
            StateError: ``passkey.no-ceremony``: no terminal waits for one, or it has one already.
            AuthError: ``passkey.refused``.
        """
        check_origin(origin)
        ceremony = self._waiting()
        challenge, ceremony.challenge = ceremony.challenge, None
        if challenge is None:
            raise refused()
        made = await asyncio.to_thread(
            verify_registration, answer, challenge=challenge, origin=origin
        )
        if self._waiting() is not ceremony:
            raise StateError("passkey.no-ceremony")
        ceremony.candidate = new = Passkey(
            credential_id=made.credential_id,
            public_key=made.public_key,
            sign_count=made.sign_count,
            name=ceremony.name,
            aaguid=made.aaguid,
            created_at=0,
        )
        ceremony.arrived.set()
        return Registered(ceremony.name, _code(new))

    async def approval_options(
        self, approval_id: str, digest: str, *, session: bytes, title: Text
    ) -> dict[str, Any]:
        """Return what ``navigator.credentials.get`` takes to approve what waits, once.

        Args:
            approval_id: Which approval.
            digest: The digest of what was shown to the person.
            session: What names the session that asks; no other may answer.
            title: What is asked, for whatever shows the one-time code of high risk.

        Raises:
            StateError: ``approval.unknown``, ``approval.not-pending``, ``approval.expired``;
                ``passkey.none``: there is no passkey; ``passkey.no-display``.
            InputError: ``approval.digest-mismatch``; ``approval.paused``: too many codes.
            ConfigError: ``passkey.not-installed``.
            AuthError: ``approval.changed``; ``passkey.refused``: these name no approval.
        """
        await asyncio.to_thread(require_library)
        asked = await self._asked(approval_id, digest)
        live = await self._db.run(self._db.journal.passkeys.live)
        if not live:
            raise StateError("passkey.none")
        return await asyncio.to_thread(
            request_options,
            challenge=self.touches.open(session, asked, title),
            known=[one.credential_id for one in live],
        )

    async def approve(
        self,
        approval_id: str,
        digest: str,
        answer: object,
        *,
        origin: str,
        typed: str,
        session: bytes,
    ) -> None:
        """Approve what a passkey signed for.

        Args:
            approval_id: Which approval.
            digest: The digest that was shown to the person.
            answer: ``PublicKeyCredential.toJSON()`` of the assertion.
            origin: The server's own, ``http://localhost:PORT``; never the browser's header.
            typed: The one-time code for high risk; else it may be empty.
            session: What names the session that answers.

        Raises:
            AuthError: ``passkey.refused``, for whatever does not verify; ``approval.changed``.
            ConfigError: ``passkey.not-installed``.
            InputError: as `Entrance.decide`; ``passkey.wrong-once``: it may be typed again.
            StateError: as `Entrance.decide`; ``passkey.no-touch``: it must be asked for again.
        """
        check_origin(origin)
        if type(typed) is not str or len(typed) > _MAX_TYPED:
            raise refused()
        await asyncio.to_thread(require_library)
        # Spent before anything is waited for: what comes twice at once finds it over.
        random = self.touches.spend(session, _named(approval_id), _hashed(digest), typed)
        drawn = {"session": session, "random": random}
        asked = await self._asked(approval_id, digest)
        found = await self._db.run(self._db.journal.passkeys.find, credential_id_of(answer))
        if found is None:
            raise refused()
        count, signed = await asyncio.to_thread(
            verify_assertion,
            answer,
            challenge=challenge_of(asked.digest, **drawn),
            origin=origin,
            public_key=found.public_key,
        )
        # A use is on record before the gate decides.
        await self._use(found, count, asked.approval_id)
        kept = {name: encode_bytes(value) for name, value in drawn.items()}
        await self._entrance.decide(
            asked.approval_id,
            asked.digest,
            decision="approve",
            assertion={**signed, **kept, "passkey": found.fingerprint},
        )

    async def _use(self, found: Passkey, count: int, approval_id: str) -> None:
        use, at_ms = self._db.journal.passkeys.use, self._clock.now().wall_ms
        if not await self._db.run(use, found, count, approval_id=approval_id, at_ms=at_ms):
            raise refused()

    async def _asked(self, approval_id: str, digest: str) -> PendingApproval:
        """Return the question as the gate holds it now."""
        stored = await self._db.run(self._db.journal.approvals.get, _named(approval_id))
        check_standing(stored, _hashed(digest))
        if self._clock.now().wall_ms >= stored.expires_at:
            raise StateError("approval.expired", approval_id=approval_id)
        return question(stored)

    def _waiting(self) -> _Ceremony:
        """Return the ceremony that waits for a registration."""
        ceremony = self._ceremony
        if ceremony is None or ceremony.candidate is not None or self._is_over(ceremony):
            raise StateError("passkey.no-ceremony")
        return ceremony

    def _is_over(self, ceremony: _Ceremony) -> bool:
        return self._left(ceremony) <= 0

    def _left(self, ceremony: _Ceremony) -> float:
        return seconds_left(ceremony.until, self._clock.now())

    async def _within(self, ceremony: _Ceremony, step: Coroutine[Any, Any, _T]) -> _T:
        try:
            async with asyncio.timeout(max(self._left(ceremony), 0)):
                return await step
        except TimeoutError:
            raise StateError("passkey.timed-out") from None


def parse_name(text: str) -> str:
    """Return what a person calls a passkey.

    Raises:
        InputError: ``passkey.name``.
    """
    name = text.strip()
    if not 0 < len(name) <= MAX_NAME_CHARS or not name.isprintable() or has_hidden(name):
        raise InputError("passkey.name", limit=MAX_NAME_CHARS)
    return name


def _named(approval_id: str) -> str:
    return _checked(approval_id, _APPROVAL_ID)


def _hashed(digest: str) -> str:
    return _checked(digest, _DIGEST)


def _checked(text: str, form: re.Pattern[str]) -> str:
    if type(text) is not str or not form.fullmatch(text):
        raise refused()
    return text


def _same(ours: str, given: str) -> bool:
    return hmac.compare_digest(ours.encode(), given.encode("utf-8", "replace"))


def _arrived(ceremony: _Ceremony) -> Passkey:
    assert ceremony.candidate is not None  # noqa: S101 - set before `arrived` is
    return ceremony.candidate


def _code(passkey: Passkey) -> str:
    return short_code(passkey.fingerprint)


def _view(passkey: Passkey) -> PasskeyView:
    return PasskeyView(
        name=passkey.name,
        code=_code(passkey),
        created_at=passkey.created_at,
        last_used_at=passkey.last_used_at,
    )
