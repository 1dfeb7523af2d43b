"""The keys of models: in the keystore of this machine, under ``model-NAME``, and nowhere else.

A key that was read is remembered for as long as the agent runs: it is a known secret, which is
taken out of everything that leaves (R54).
"""

from __future__ import annotations

import base64
import re
import threading
from collections.abc import Iterable
from typing import Final

from common.errors import ConfigError, InputError, UnavailableError
from common.keystore import Keystore
from local_agent.settings import MODEL_NAME

MAX_INPUT_CHARS: Final = 8192  # that are looked at of what a person puts in
MAX_KEY_CHARS: Final = 4096  # what a keystore takes
_KEY: Final = re.compile(rf"[!-~]{{1,{MAX_KEY_CHARS}}}", re.ASCII)  # what a header can hold
AWAY: Final = "away"  # in a keyring that cannot be reached now


class ModelKeys:
    """The keys, by the names of their models.  All but `held` blocks.

    Args:
        keystore: Of this machine's agent.
    """

    def __init__(self, keystore: Keystore) -> None:
        self._keystore = keystore
        self._lock = threading.Lock()
        self._held: set[str] = set()

    def get(self, name: str) -> str | None:
        """Return the key of a model, or None when it has none.

        Raises:
            UnavailableError: ``keystore.keyring-away``.
            ConfigError: ``config.key-file-broken``, ``config.file-readable-by-others``.
        """
        with self._lock:
            raw = self._keystore.get(_entry(name))
        if raw is None:
            return None
        key = raw.decode("ascii", "replace")
        self._held.add(key)
        return key

    def where(self, name: str) -> str | None:
        """Return where the key of a model lies: ``file``, ``keyring:…``, ``away``; None without.

        Raises:
            ConfigError: as of `get`.
        """
        try:
            found = self.get(name)
        except UnavailableError:
            return AWAY
        with self._lock:
            return self._keystore.where if found is not None else None

    def put(self, name: str, key: str) -> str:
        """Keep the key of a model; return where it lies now."""
        with self._lock:
            self._keystore.put(_entry(name), key.encode("ascii"))
            return self._keystore.where

    def delete(self, name: str) -> None:
        """Forget the key of a model.

        Raises:
            UnavailableError: ``keystore.keyring-away``: it is still there.
        """
        with self._lock:
            self._keystore.delete(_entry(name))

    def load(self, names: Iterable[str]) -> None:
        """Read the keys of all these, so that they are known secrets from the start."""
        for name in names:
            try:
                self.get(name)
            except (UnavailableError, ConfigError):
                pass  # told by whoever asks the model; the agent starts without it

    def held(self) -> tuple[str, ...]:
        """Return how each key that was read may be written: what must never be told to anybody."""
        keys = tuple(self._held)
        return (*keys, *(base64.b64encode(key.encode()).decode() for key in keys))


def parse_key(text: str) -> str:
    """Return a key as a person gave it, without the blanks around it.

    Raises:
        InputError: ``models.key-form`` (why: ``empty``, ``long``, or ``characters``).
    """
    key = text.strip()
    if _KEY.fullmatch(key):
        return key
    why = "characters"
    if not key:
        why = "empty"
    elif len(key) > MAX_KEY_CHARS:
        why = "long"
    raise InputError("models.key-form", why=why)


def _entry(name: str) -> str:
    # As the names of tables: whatever else a person types names no key.
    if not re.fullmatch(MODEL_NAME, name):
        raise InputError("models.unknown", name=name, known="-")
    return f"model-{name}"
