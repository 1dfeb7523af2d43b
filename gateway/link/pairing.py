"""The endpoint where a machine uses its pairing code (R9, R10), once.

Whatever is wrong — no such code, a wrong proof, too late, too often, already used — the answer is
the same, and so is the work done before it: one read, one proof checked, one durable write.  The
true reason is in the log and the audit.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Callable
from typing import Any, Final

from aiohttp import web

from common.clock import Clock
from common.errors import AuthError, InputError, RemoteProtocolError, StateError, StoreError
from common.ids import new_uuid
from common.logs import Log
from common.protocol.codec import NONCE_BYTES
from common.protocol.pairing import SECRET_BYTES, check_request, gateway_answer
from common.records import read_object
from common.signing import SigningKey
from gateway.base.addresses import UNHEARD
from gateway.link import Note
from gateway.store import Store, pairings
from gateway.store.pairings import Pairing

PAIR_PATH: Final = "/agent/v1/pair"
MAX_BYTES: Final = 4096  # a request has about 600
READ_S: Final = 5.0


class PairingEndpoint:
    """Answers one path.

    Args:
        key: Gives the gateway's current key, which the machine pins.  Blocks.
        url: The public address that the machine must have used.
        note: Told of ``pairing.used-again``, ``pairing.wrong-proof`` and ``pairing.unknown-code``.
    """

    def __init__(
        self,
        key: Callable[[], SigningKey],
        url: str,
        *,
        store: Store,
        clock: Clock,
        note: Note,
        log: Log,
    ) -> None:
        self._key = key
        self._url = url
        self._store = store
        self._clock = clock
        self._note = note
        self._log = log
        # An unknown code is checked against this one, so that it takes as long as a wrong proof.
        self._nobody = secrets.token_bytes(SECRET_BYTES)

    def routes(self) -> list[web.RouteDef]:
        """Return the one route."""
        return [web.post(PAIR_PATH, self.handle)]

    async def handle(self, request: web.Request) -> web.Response:
        """Enrol the machine that holds the code, or refuse."""
        if "Origin" in request.headers:
            return web.Response(status=403)
        try:
            answer = await self._answer(await _record(request), request.remote or "")
        except (AuthError, InputError, RemoteProtocolError, StateError) as error:
            if not request.get(UNHEARD):  # or whoever goes on and on would fill the log
                self._log.warning("pairing.refused", why=error.code)
            return _json({"error": "refused"}, status=403)
        except StoreError as error:
            self._log.error("pairing.store-failed", why=error.code)
            return _json({"error": "unavailable"}, status=503)
        return _json(answer, status=200)

    async def _answer(self, record: dict[str, Any], address: str) -> dict[str, Any]:
        name = record.get("pairing")
        at_ms = self._clock.now().wall_ms
        named = name if isinstance(name, str) else ""
        found = await self._store.read(pairings.find, named)
        usable = None if found is None else found.usable_secret(at_ms)
        secret = self._nobody if usable is None else usable
        try:
            agent_key = check_request(secret, record, url=self._url)
        except AuthError:
            await self._store.write(pairings.count_wrong_try, named, at_ms=at_ms)
            self._note_refusal(found, address, is_usable=usable is not None)
            raise
        agent_id, key = new_uuid(), await asyncio.to_thread(self._key)
        try:
            # One transaction uses the code, stores the record and binds it; a second one fails.
            used = await self._store.write(
                pairings.complete,
                named,
                agent_id=agent_id,
                public_key=agent_key,
                at_ms=at_ms,
                gateway_key_id=key.public.key_id,
            )
        except StateError as error:
            if error.code == "pairing.over" and found is not None:
                self._note_again(found, address)
            raise
        self._log.info(
            "pairing.completed", agent=agent_id, machine=used.machine, key=agent_key.key_id
        )
        return gateway_answer(
            secret,
            record,
            key=key,
            nonce=secrets.token_bytes(NONCE_BYTES),
            agent_id=agent_id,
            machine=used.machine,
        )

    def _note_refusal(self, found: Pairing | None, address: str, *, is_usable: bool) -> None:
        if found is None or not (is_usable or found.used_at is not None):
            # Not by its name: there is no end of those that one could make up.
            self._note("pairing.unknown-code", address=address)
        elif is_usable:
            self._note("pairing.wrong-proof", pairing=found.pairing_id, address=address)
        else:
            self._note_again(found, address)

    def _note_again(self, found: Pairing, address: str) -> None:
        machine, name = found.machine, found.pairing_id
        self._note("pairing.used-again", pairing=name, machine=machine, address=address)


async def _record(request: web.Request) -> dict[str, Any]:
    try:
        async with asyncio.timeout(READ_S):
            raw = await _body(request)
    except (TimeoutError, ConnectionError, web.RequestPayloadError):
        raise RemoteProtocolError("json.malformed") from None
    return read_object(raw, max_bytes=MAX_BYTES)


async def _body(request: web.Request) -> bytes:
    raw = bytearray()
    async for chunk in request.content.iter_chunked(MAX_BYTES):
        raw += chunk
        if len(raw) > MAX_BYTES:
            raise RemoteProtocolError("json.too-large", limit=MAX_BYTES)
    return bytes(raw)


def _json(record: dict[str, Any], *, status: int) -> web.Response:
    return web.Response(
        text=json.dumps(record, separators=(",", ":")),
        status=status,
        content_type="application/json",
        headers={"Cache-Control": "no-store"},
    )
