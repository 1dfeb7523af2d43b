"""The gateway's own signing keys, each a 0600 file beside the store: the first and its successors.

A server has no keyring to unlock; where the files lie on an encrypted disk is the admin's choice.

The files are numbered (``gateway-key``, ``gateway-key-2``, ``gateway-key-3`` …), the highest number
is the current key.  A number is given out once and its file never changes, so whoever knows the
names knows the keys: an admin's command adds and drops keys beside a running server, which reads
the names again when it needs to (`KeyRing.reload`).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from common.errors import ConfigError
from common.keystore import FileKeystore
from common.protocol.envelope import Envelope, agent_name, gateway_name, seal_envelope
from common.protocol.frames import EnvelopeType
from common.protocol.handshake import MAX_GATEWAY_KEYS
from common.signing import KEY_BYTES, SigningKey

KEYS: Final = "keys"  # folder in the gateway's state
_FIRST: Final = "gateway-key"
_FILE: Final = re.compile(r"gateway-key(?:-([1-9][0-9]{0,8}))?\.key")


def open_identity(state: Path) -> KeyRing:
    """Return the gateway's keys, making the first when there is none yet.  Blocks.

    Machines pin one of these keys: without it, every one of them has to be paired again.

    Raises:
        ConfigError: ``config.key-file-broken``, ``config.file-readable-by-others`` (path).
    """
    ring = KeyRing(state / KEYS)
    if not ring.reload():
        ring.add()
    return ring


class KeyRing:
    """The gateway's keys.  Any thread may use it; what reads or writes files says so.

    Args:
        directory: Of the key files.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._files = FileKeystore(directory)
        self._lock = threading.Lock()
        # Replaced whole and never changed, so that readers need no lock.
        self._keys: dict[int, SigningKey] = {}

    @property
    def current(self) -> SigningKey:
        """The newest key."""
        keys = self._keys
        return keys[max(keys)]

    def newest(self) -> SigningKey:
        """Read again which keys there are, and return the current one.  Blocks."""
        self.reload()
        return self.current

    def offered(self) -> tuple[SigningKey, ...]:
        """Return the keys to name to agents, the current one first."""
        keys = self._keys
        return tuple(keys[number] for number in sorted(keys, reverse=True)[:MAX_GATEWAY_KEYS])

    def signing(self, key_id: str | None) -> SigningKey:
        """Return the key of this name; None stands for the very first.

        A key that is gone signs nothing any more: the current one takes its place, and a machine
        that does not pin that one refuses it.  Blocks where the name is not known yet.
        """
        keys = self._keys
        if (found := _named(keys, key_id)) is None:
            self.reload()
            keys = self._keys
            found = _named(keys, key_id)
        return self.current if found is None else found

    def holds(self, public: bytes) -> bool:
        """Tell whether a public key is ours.  Blocks where it is not known yet."""
        if not self._has(public):
            self.reload()
        return self._has(public)

    def reload(self) -> Collection[str]:
        """Read again which keys there are, and return their names.  Blocks.

        What goes wrong with a file does not stop whoever has keys already; the next start tells.

        Raises:
            ConfigError: as of `open_identity`; only while there is no key yet.
        """
        with self._lock:
            found = ((number, self._known(number)) for number in self._numbers())
            keys = {number: key for number, key in found if key is not None}
            self._keys = keys or self._keys
            return frozenset(key.public.key_id for key in self._keys.values())

    def add(self) -> SigningKey:
        """Make the next key, keep it durably, and return it: the current one from now on.  Blocks.

        Two processes must not do so at one time; the caller holds the store's lock for writing.
        """
        with self._lock:
            key = SigningKey.generate()
            number = max(self._numbers(), default=0) + 1
            self._files.put(_name(number), key.private_bytes())
            self._keys = {**self._keys, number: key}
        return key

    def unused(self, pinned: Collection[str | None]) -> tuple[str, ...]:
        """Return the names of the keys that no machine needs any more, the oldest first.  Blocks.

        What lies between the oldest key that is pinned and the current one stays: a machine that
        was away goes from each to the next.

        Args:
            pinned: Names of the keys that machines pin; None stands for the very first.
        """
        self.reload()
        keys = self._keys
        needed = [
            number
            for number, key in keys.items()
            if key.public.key_id in pinned or (number == 1 and None in pinned)
        ]
        oldest = min(needed, default=max(keys))
        return tuple(keys[number].public.key_id for number in sorted(keys) if number < oldest)

    def drop(self, names: Collection[str]) -> None:
        """Delete keys for good, but never the current one.  Blocks."""
        with self._lock:
            newest = max(self._keys)
            gone = [
                number
                for number, key in self._keys.items()
                if key.public.key_id in names and number != newest
            ]
            for number in gone:
                self._files.delete(_name(number))
            self._keys = {number: key for number, key in self._keys.items() if number not in gone}

    def _has(self, public: bytes) -> bool:
        return any(key.public.raw == public for key in self._keys.values())

    def _numbers(self) -> list[int]:
        if not self._directory.is_dir():
            return []
        names = (_FILE.fullmatch(path.name) for path in self._directory.iterdir())
        return [int(name[1] or 1) for name in names if name]

    def _known(self, number: int) -> SigningKey | None:
        if key := self._keys.get(number):
            return key
        try:
            return self._read(number)
        except ConfigError:
            if self._keys:
                return None
            raise

    def _read(self, number: int) -> SigningKey | None:
        kept = self._files.get(_name(number))
        if kept is None:
            return None  # dropped since its name was read
        if len(kept) != KEY_BYTES:
            raise ConfigError("config.key-file-broken", path=self._directory)
        return SigningKey(kept)


class Seal(Protocol):
    """Signs an envelope of this gateway for an agent."""

    def __call__(
        self,
        typ: EnvelopeType,
        agent_id: str,
        *,
        key_id: str | None,
        seq: int,
        jti: str,
        iat: int,
        exp: int,
        body: Mapping[str, Any],
    ) -> Envelope:
        """Return the envelope; times in seconds since the epoch.

        ``key_id`` names the gateway's key to sign with; None stands for its first.
        """
        ...


def sealer(signing: Callable[[str | None], SigningKey]) -> Seal:
    """Return what signs this gateway's envelopes for its agents (R16).

    Args:
        signing: Gives the gateway's key of a name; None stands for its first.
    """

    def seal(
        typ: EnvelopeType,
        agent_id: str,
        *,
        key_id: str | None,
        seq: int,
        jti: str,
        iat: int,
        exp: int,
        body: Mapping[str, Any],
    ) -> Envelope:
        key = signing(key_id)
        return seal_envelope(
            key,
            typ=typ,
            iss=gateway_name(key.public),
            aud=agent_name(agent_id),
            jti=jti,
            seq=seq,
            iat=iat,
            exp=exp,
            body=body,
        )

    return seal


def _name(number: int) -> str:
    return _FIRST if number == 1 else f"{_FIRST}-{number}"


def _named(keys: dict[int, SigningKey], key_id: str | None) -> SigningKey | None:
    if key_id is None:
        return keys.get(1)
    return next((key for key in keys.values() if key.public.key_id == key_id), None)
