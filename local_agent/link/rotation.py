"""How this machine changes its own key: the gateway is told by the key that it knows so far.

    key in the keystore ─▶ one transaction: `rekey` numbered, everything later by the new key
    ─▶ the gateway acknowledges ─▶ the old key is thrown away

After a crash between any two of these the link works: before the transaction nobody knows the new
key (it lies in the keystore, of no use), and until the acknowledgement both keys are tried.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, Protocol

from common.clock import Clock
from common.errors import StateError, UnavailableError
from common.records import encode_bytes
from common.signing import SIGNATURE_BYTES
from local_agent.link.keys import AgentKeys, LinkKeys
from local_agent.store.journal import JournalThread
from local_agent.store.peers import KeysInUse

PAUSE_MS: Final = 600_000  # between two rotations


class Log(Protocol):
    """What a rotation needs of a logger."""

    def warning(self, event: str, *args: Any, **facts: Any) -> Any:
        """Record something that a person may have to look at."""
        ...


class Rotation:
    """Changes the key of a paired machine, and clears away what was rotated.

    Args:
        db: The journal's thread.
        keys: This machine's keys.
        clock: Tells the moment.
        log: Told of a key that could not be thrown away.
    """

    def __init__(self, db: JournalThread, keys: AgentKeys, *, clock: Clock, log: Log) -> None:
        self._db = db
        self._keys = keys
        self._clock = clock
        self._log = log
        self._one_at_a_time = asyncio.Lock()

    async def link_keys(self) -> LinkKeys:
        """Return what the next try to connect needs."""
        return self._keys.for_link(await self._db.run(self._db.journal.peers.in_use))

    async def rotate(self) -> str:
        """Make a new key, sign with it from now on, and return its name.

        Raises:
            StateError: ``rotate.pending``: the gateway has not taken the last one over yet;
                ``rotate.too-soon`` (minutes).
        """
        async with self._one_at_a_time:
            self._check(await self._db.run(self._db.journal.peers.in_use))
            # First of all: a gateway must never know a key that a crash has taken from us.
            name = await asyncio.to_thread(self._keys.make)
            await self._db.run(self._hand_over, name)
        return self._keys.present().public.key_id

    async def acked(self) -> None:
        """Throw the old key away, when what the gateway has just acknowledged is the new one."""
        if len(self._keys.held()) > 1:
            await self.settle()

    async def settle(self) -> None:
        """Throw away the keys that were rotated and are spent.  Call it at the start."""
        for name in await self._db.run(self._db.journal.peers.spent):
            try:
                # Before the journal forgets it: else a crash in between would leave it for ever.
                await asyncio.to_thread(self._keys.discard, name)
            except UnavailableError as error:
                self._log.warning("rotation.key-not-discarded", key=name, code=error.code)
            else:
                await self._db.run(self._db.journal.peers.forget, name)

    def _check(self, used: KeysInUse) -> None:
        if used.handing_over:
            raise StateError("rotate.pending")
        wait_ms = (used.rotated_at or 0) + PAUSE_MS - self._clock.now().wall_ms
        if used.rotated_at is not None and 0 < wait_ms <= PAUSE_MS:
            raise StateError("rotate.too-soon", minutes=-(-wait_ms // 60_000))

    def _hand_over(self, name: str) -> None:
        journal = self._db.journal
        old, new = self._keys.present(), self._keys.named(name)
        with journal.transaction():
            self._check(journal.peers.in_use())
            journal.outbox.put("rekey", "", unproven_body(new.public.raw))
            journal.peers.take_up(
                name, old=self._keys.name_of_present(), at_ms=self._clock.now().wall_ms
            )
            journal.audit.append(
                "agent.rekeyed",
                old=old.public.key_id,
                new=new.public.key_id,
                public_key=new.public.raw.hex(),
            )
            journal.audit.sign_by(new)
        self._keys.use(name)


def unproven_body(public: bytes) -> dict[str, Any]:
    """Return the body of an announcement as the outbox keeps it; whoever signs adds the proof.

    The proof is over the header, and what waits may be addressed anew before it is sent.
    """
    return {"public_key": encode_bytes(public), "proof": encode_bytes(bytes(SIGNATURE_BYTES))}
