"""Where private keys rest (R60): the OS keyring when it is one we know, else a 0600 file.

Keyring by itself would silently take a plain-text backend, so only backends on a list are used.
Each key has one file in a 0700 directory: it holds the key itself, or says which keyring does.  So
an agent started where its keyring is out of reach says so, and does not seem unpaired.

Everything here blocks, on the disk or on D-Bus: call it from a thread.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Final, Protocol

from common.errors import ConfigError, LocalProtocolError, UnavailableError
from common.home import read_private, write_private

_LINUX: Final = {
    "keyring.backends.SecretService.Keyring": "SecretService",
    "keyring.backends.libsecret.Keyring": "libsecret",
    "keyring.backends.kwallet.DBusKeyring": "KWallet",
}
_MACOS: Final = {"keyring.backends.macOS.Keyring": "macOS"}
_WINDOWS: Final = {"keyring.backends.Windows.WinVaultKeyring": "Windows"}
ALLOWED_BACKENDS: Final = {"darwin": _MACOS, "win32": _WINDOWS}.get(sys.platform, _LINUX)
_MAX_SECRET: Final = 4096
_MAX_FILE: Final = 8192
_ELSEWHERE: Final = b"keyring:"  # a colon never occurs in base64
_NAME: Final = re.compile(r"[a-z0-9-]{1,64}")


class Keystore(Protocol):
    """Keeps small secrets by name."""

    @property
    def where(self) -> str:
        """``file`` or ``keyring:<backend>``: where the key last used is, or the next will be."""
        ...

    @property
    def warning(self) -> bool:
        """Whether the person should be told that keys rest in a file for want of a keyring."""
        ...

    def get(self, name: str) -> bytes | None:
        """Return a secret, or None when there never was one.

        Raises:
            UnavailableError: ``keystore.keyring-away``: it is in a keyring out of reach.
            ConfigError: ``config.key-file-broken`` or ``config.file-readable-by-others``.
        """
        ...

    def put(self, name: str, secret: bytes) -> None:
        """Keep a secret of at most 4 KiB, in place of any earlier one of that name."""
        ...

    def delete(self, name: str) -> None:
        """Forget a secret; none of that name is no error."""
        ...


class FileKeystore:
    """Secrets in 0600 files.

    Args:
        directory: Becomes 0700 with the first secret.
        warning: Whether this is for want of a keyring.  A gateway has its file by design.
    """

    where = "file"

    def __init__(self, directory: Path, *, warning: bool = False) -> None:
        self._directory = directory
        self.warning = warning

    def get(self, name: str) -> bytes | None:
        """See `Keystore`."""
        raw = _read(self._path(name))
        if raw is None:
            return None
        if raw.startswith(_ELSEWHERE):
            backend = raw[len(_ELSEWHERE) :].decode("ascii", "replace")
            raise UnavailableError("keystore.keyring-away", backend=backend)
        return _decoded(raw, self._path(name))

    def put(self, name: str, secret: bytes) -> None:
        """See `Keystore`."""
        write_private(self._path(name), _encoded(secret) + b"\n")

    def delete(self, name: str) -> None:
        """See `Keystore`."""
        self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return _path_of(self._directory, name)


class Backend(Protocol):
    """What of a keyring backend is used here."""

    def get_password(self, service: str, username: str) -> str | None:
        """Return the secret text."""
        ...

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep the secret text."""
        ...

    def delete_password(self, service: str, username: str) -> None:
        """Forget the secret text."""
        ...


class KeyringKeystore:
    """Secrets in an OS keyring; where that refuses one, in a file, and `warning` turns true.

    Args:
        directory: Of the files that say where each key is.  Its path is part of the entry's name,
            so that two installations of one person (CODEXBRIDGE_HOME) never share a key.
        service: The name shown in the keyring's own window.
        backend: An allowed one.
        name: Its short name.
    """

    def __init__(self, directory: Path, *, service: str, backend: Backend, name: str) -> None:
        self._files = FileKeystore(directory)
        self._directory = directory
        self._service = service
        self._backend = backend
        self._name = name
        self._marker = _ELSEWHERE + name.encode()
        self._home = hashlib.sha256(str(directory.absolute()).encode()).hexdigest()[:12]
        self.warning = False

    @property
    def where(self) -> str:
        """See `Keystore`."""
        return "file" if self.warning else f"keyring:{self._name}"

    def get(self, name: str) -> bytes | None:
        """See `Keystore`."""
        path = _path_of(self._directory, name)
        if _read(path) != self._marker:
            secret = self._files.get(name)
            self.warning = secret is not None
            return secret
        self.warning = False
        try:
            text = self._backend.get_password(self._service, self._entry(name))
        except Exception as error:  # each backend raises errors of its own
            raise UnavailableError("keystore.keyring-away", backend=self._name) from error
        if text is None:
            raise UnavailableError("keystore.keyring-away", backend=self._name)
        return _decoded(text.encode("ascii", "replace"), path)

    def put(self, name: str, secret: bytes) -> None:
        """See `Keystore`."""
        path = _path_of(self._directory, name)
        text = _encoded(secret).decode("ascii")
        try:
            self._backend.set_password(self._service, self._entry(name), text)
        except Exception:  # noqa: BLE001  locked with nobody there, or an error of its own kind
            self._files.put(name, secret)
            self.warning = True
            return
        write_private(path, self._marker + b"\n")
        self.warning = False

    def delete(self, name: str) -> None:
        """See `Keystore`."""
        if _read(_path_of(self._directory, name)) == self._marker:
            try:
                if self._backend.get_password(self._service, self._entry(name)) is not None:
                    self._backend.delete_password(self._service, self._entry(name))
            except Exception as error:  # each backend raises errors of its own
                raise UnavailableError("keystore.keyring-away", backend=self._name) from error
        self._files.delete(name)

    def _entry(self, name: str) -> str:
        return f"{name}@{self._home}"


class MachineKeystore:
    """Secrets in the keyring of this machine when it is an allowed one, else in files.

    The keyring is looked for once a key rests there or is to be put there: that takes 0.1 s and
    4 MB, which an agent whose key is in a file need not spend.  Opening reads nothing yet.

    Args:
        directory: Of the files that hold each key, or say where it is.
        service: The name shown in the keyring's own window.
    """

    def __init__(self, directory: Path, *, service: str) -> None:
        self._directory = directory
        self._service = service
        self._files = FileKeystore(directory, warning=True)
        self._last: Keystore | None = None

    @property
    def where(self) -> str:
        """See `Keystore`."""
        return (self._last or self._found).where

    @property
    def warning(self) -> bool:
        """See `Keystore`."""
        return (self._last or self._found).warning

    def get(self, name: str) -> bytes | None:
        """See `Keystore`."""
        if _read(_path_of(self._directory, name)) is None:
            return None
        self._last = self._holding(name)
        return self._last.get(name)

    def put(self, name: str, secret: bytes) -> None:
        """See `Keystore`."""
        self._last = self._found
        self._last.put(name, secret)

    def delete(self, name: str) -> None:
        """See `Keystore`."""
        self._holding(name).delete(name)

    def _holding(self, name: str) -> Keystore:
        raw = _read(_path_of(self._directory, name))
        return self._found if raw is not None and raw.startswith(_ELSEWHERE) else self._files

    @cached_property
    def _found(self) -> Keystore:
        if (found := _chosen_backend()) is None:
            return self._files
        backend, name = found
        return KeyringKeystore(self._directory, service=self._service, backend=backend, name=name)


def _chosen_backend() -> tuple[Backend, str] | None:
    # What the person has set for keyring comes first.  Where nothing is set, keyring would load all
    # backends that are installed; that of macOS calls gcc and ld to look for its libraries.
    try:
        from keyring import core

        chosen = core.load_env() or core.load_config()
        for backend in getattr(chosen, "backends", [chosen]) if chosen else _usable_backends():
            kind = type(backend)
            if name := ALLOWED_BACKENDS.get(f"{kind.__module__}.{kind.__qualname__}"):
                return backend, name
    except Exception:  # noqa: BLE001  any backend of the system may fail to load in its own way
        return None
    return None


def _usable_backends() -> Iterator[Backend]:
    from keyring import core

    found = []
    for name in ALLOWED_BACKENDS:
        with suppress(Exception):  # as many ways to say that it is not there
            found.append(core.load_keyring(name))
    yield from sorted(found, key=lambda backend: backend.priority, reverse=True)


def _path_of(directory: Path, name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise LocalProtocolError("keystore.name", name=name)
    return directory / f"{name}.key"


def _read(path: Path) -> bytes | None:
    try:
        return read_private(path, max_bytes=_MAX_FILE).strip()
    except FileNotFoundError:
        return None
    except OSError:  # a symbolic link, a directory, another's file
        raise ConfigError("config.key-file-broken", path=path) from None


def _encoded(secret: bytes) -> bytes:
    if not 0 < len(secret) <= _MAX_SECRET:
        raise LocalProtocolError("keystore.secret-size", limit=_MAX_SECRET)
    return base64.b64encode(secret)


def _decoded(raw: bytes, path: Path) -> bytes:
    try:
        return base64.b64decode(raw, validate=True)
    except (binascii.Error, ValueError):
        raise ConfigError("config.key-file-broken", path=path) from None
