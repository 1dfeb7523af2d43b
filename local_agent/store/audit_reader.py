"""Opens the audit log past the journal: for a check, beside a running agent or without one."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import quote

from common.audit_reader import AuditReader, one_view
from common.errors import ConfigError
from local_agent.store.database import newest_version

_KEPT: Final = "SELECT peer, seq, hash, own_seq, own_hash, public_key, frame, at FROM heads"


@contextmanager
def read_audit(path: Path) -> Iterator[AuditReader]:
    """Open the journal for reading.

    Raises:
        ConfigError: ``audit.none``, ``config.store-newer`` or ``audit.store-older``.
        StoreError: ``audit.unreadable``: the file is damaged.
    """
    if not path.is_file():
        raise ConfigError("audit.none", path=path)
    address = f"file:{quote(str(path.absolute()))}?mode=ro"
    connect = partial(sqlite3.connect, address, uri=True, isolation_level=None)
    with one_view(connect, path, kept=_KEPT) as log:
        _check_version(log.version(), path)
        yield log


def _check_version(found: int, path: Path) -> None:
    known = newest_version()
    if found > known:
        raise ConfigError("config.store-newer", path=path, found=found, known=known)
    if found < known:
        raise ConfigError("audit.store-older", path=path)
