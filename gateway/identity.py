"""The gateway's own signing key: made at the first start, kept as a 0600 file beside the store.

A server has no keyring to unlock; where the file lies on an encrypted disk is the admin's choice.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from common.errors import ConfigError
from common.keystore import FileKeystore
from common.signing import KEY_BYTES, SigningKey

_NAME: Final = "gateway-key"


def open_identity(state: Path) -> SigningKey:
    """Return the gateway's key, making it when there is none yet.  Blocks.

    Machines pin this key: with another one, every one of them has to be paired again.

    Raises:
        ConfigError: ``config.key-file-broken``, ``config.file-readable-by-others`` (path).
    """
    keystore = FileKeystore(state / "keys")
    kept = keystore.get(_NAME)
    if kept is None:
        key = SigningKey.generate()
        keystore.put(_NAME, key.private_bytes())
        return key
    if len(kept) != KEY_BYTES:
        raise ConfigError("config.key-file-broken", path=state / "keys")
    return SigningKey(kept)
