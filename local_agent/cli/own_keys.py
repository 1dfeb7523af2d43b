"""Which public keys are this machine's: those whose private half is in its keystore."""

from __future__ import annotations

import hmac

from common.home import Home
from common.keystore import Keystore
from common.signing import KEY_BYTES, SigningKey, VerifyKey
from local_agent.link.keys import LOCAL_KEY
from local_agent.link.pairing import KEYS, key_name, open_keys


class OwnKeys:
    """A container of public keys; looks into the keystore when it is asked."""

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
