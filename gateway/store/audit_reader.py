"""Opens the audit log for a check, beside a running server or without one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from common.audit_reader import AuditReader, one_view
from common.errors import ConfigError
from gateway.store.sqlite import connect
from gateway.store.upgrade import ensure_current

_KEPT: Final = """
    SELECT agent_id, seq, hash, own_seq, own_hash, public_key, frame, at FROM heads
    ORDER BY agent_id"""


@contextmanager
def read_audit(path: Path) -> Iterator[AuditReader]:
    """Open the store for reading.

    Raises:
        ConfigError: ``audit.none``, or as of `ensure_current`.
        StoreError: ``audit.unreadable``: the file is damaged.
    """
    if not path.is_file():
        raise ConfigError("audit.none", path=path)
    ensure_current(path)
    with one_view(partial(connect, path, read_only=True), path, kept=_KEPT) as log:
        yield log
