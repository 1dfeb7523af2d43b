"""This machine's private keys, and whom they are used with: the pairing and what was rotated since.

What is in use stands in the journal (`local_agent.store.peers`), the keys are in the keystore; here
they meet.  The agent opens the journal with `AgentKeys.begin` as its first act, and asks for
`present` whenever it signs.
"""

from __future__ import annotations

import hmac
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from common.errors import ConfigError, LocalProtocolError
from common.home import Home
from common.keystore import Keystore
from common.signing import KEY_BYTES, SigningKey, VerifyKey
from local_agent.link.pairing import KEYS, Pairing, key_name, load_key, open_keys
from local_agent.store.peers import KeysInUse

LOCAL_KEY: Final = "agent-local"  # signs decisions while the machine is not paired


@dataclass(frozen=True, slots=True)
class LinkKeys:
    """What one try to connect needs.

    Attributes:
        gateway: The key to pin.
        own: This machine's, in the order to try them: while the gateway has not acknowledged the
            new one, it may know either.
    """

    gateway: VerifyKey
    own: Sequence[SigningKey]


class AgentKeys:
    """The keys in memory.  What touches the keystore blocks: call it from a thread.

    Args:
        keystore: Where they rest.
        pairing: How this machine is paired, if it is.
    """

    def __init__(self, keystore: Keystore, pairing: Pairing | None) -> None:
        self._keystore = keystore
        self._pairing = pairing
        self._first = pairing.key_name if pairing else LOCAL_KEY
        self._present = self._first
        self._held: dict[str, SigningKey] = {}

    @property
    def where(self) -> str:
        """``file`` or ``keyring:<backend>``."""
        return self._keystore.where

    def open_local(self) -> None:
        """Load the key of a machine that is not paired, making it when there is none.  Blocks."""
        raw = self._keystore.get(LOCAL_KEY)
        if raw is None:
            raw = SigningKey.generate().private_bytes()
            self._keystore.put(LOCAL_KEY, raw)
        self._held[LOCAL_KEY] = SigningKey(raw)

    def begin(self, used: KeysInUse) -> None:
        """Load the keys in use with the paired gateway.  Blocks.

        Raises:
            ConfigError: ``pair.key-missing``.
            UnavailableError: ``keystore.keyring-away``.
        """
        self._present = used.own or self._first
        self._held[self._present] = load_key(self._present, self._keystore)
        if used.old is not None and used.handing_over:
            try:
                self._held[used.old] = load_key(used.old, self._keystore)
            except ConfigError:
                pass  # thrown away already, as is done once the gateway has acknowledged the new

    def present(self) -> SigningKey:
        """Return the key that signs now."""
        return self._held[self._present]

    def name_of_present(self) -> str:
        """Return its name in the keystore."""
        return self._present

    def named(self, name: str | None) -> SigningKey:
        """Return the key of a name, None for that of the pairing; the present one when it is gone.

        A key is thrown away only after the gateway took its successor, and takes nothing signed
        with it any more.
        """
        return self._held.get(name or self._first) or self.present()

    def holding(self, public: bytes) -> SigningKey:
        """Return the key with this public half.

        Raises:
            LocalProtocolError: ``outbox.key-missing``.
        """
        for key in self._held.values():
            if key.public.raw == public:
                return key
        raise LocalProtocolError("outbox.key-missing")

    def holds(self, public: bytes) -> bool:
        """Tell whether a public key is one in memory, or that of before the pairing.  Blocks."""
        raw = self._keystore.get(LOCAL_KEY)
        local = [SigningKey(raw)] if raw is not None and len(raw) == KEY_BYTES else []
        return any(key.public.raw == public for key in (*self._held.values(), *local))

    def held(self) -> Collection[SigningKey]:
        """Return every key in memory: what must never be told to anybody."""
        return tuple(self._held.values())

    def for_link(self, used: KeysInUse) -> LinkKeys:
        """Return what a try to connect needs."""
        own = [self.named(used.own)]
        if used.handing_over and used.old in self._held:
            own.insert(0, self.named(used.old))
        return LinkKeys(self.gateway(used.gateway), own)

    def gateway(self, raw: bytes | None) -> VerifyKey:
        """Return the gateway's key: this one, or for None that of the pairing.

        Raises:
            LocalProtocolError: ``outbox.unpaired``.
        """
        if raw is not None:
            return VerifyKey(raw)
        if self._pairing is None:
            raise LocalProtocolError("outbox.unpaired")
        return self._pairing.gateway_key

    def make(self) -> str:
        """Make another key, keep it, and return its name; nothing signs with it yet.  Blocks."""
        key = SigningKey.generate()
        name = key_name(key.public.key_id)
        self._keystore.put(name, key.private_bytes())
        self._held[name] = key
        return name

    def use(self, name: str) -> None:
        """Sign with this key from now on: the journal says so."""
        self._present = name

    def discard(self, name: str) -> None:
        """Throw a key away for good.  Blocks.

        Raises:
            UnavailableError: ``keystore.keyring-away``: it is still there.
        """
        self._keystore.delete(name)
        self._held.pop(name, None)


class OwnKeys:
    """The public keys whose private half this machine holds; asks the keystore each time."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._keys: Keystore | None = None

    def exist(self) -> bool:
        """Tell whether this machine has a key of its own, without asking the keyring for any."""
        return any((self._home.state / KEYS).glob("agent-*.key"))

    def __contains__(self, public_key: object) -> bool:
        """Tell whether this machine holds the private half.

        Raises:
            UnavailableError: ``keystore.keyring-away``.
            ConfigError: ``config.key-file-broken`` and the like.
        """
        if not isinstance(public_key, bytes) or len(public_key) != KEY_BYTES:
            return False
        self._keys = self._keys or open_keys(self._home)
        for name in (key_name(VerifyKey(public_key).key_id), LOCAL_KEY):
            raw = self._keys.get(name)
            if raw is not None and len(raw) == KEY_BYTES:
                found = SigningKey(raw).public.raw
                if hmac.compare_digest(found, public_key):
                    return True
        return False
