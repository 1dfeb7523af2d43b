"""Takes up secrets that an admin changed while the gateway runs; all other settings stay."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from common.errors import CodexBridgeError
from common.logs import Log
from gateway.base.settings import GatewaySettings, check_servable, secrets_of, with_secrets

LOOK_S: Final = 2.0

Marks: TypeAlias = frozenset[tuple[str, int, int, int]]
Take: TypeAlias = Callable[[GatewaySettings], Awaitable[None]]


class Renewal:
    """Looks at the files of the secrets, and hands on what has changed in them.

    Args:
        settings: As they are served.
        read: Reads all settings anew.  Blocks.
        folder: Where the secrets lie as files now, if they do.
        take: Gets the served settings with the new secrets; raises ConfigError for what is none.
        log: For the admin who waits to see that it was enough.
        look_s: Seconds between two looks.
    """

    def __init__(
        self,
        settings: GatewaySettings,
        *,
        read: Callable[[], GatewaySettings],
        folder: Callable[[], Path | None],
        take: Take,
        log: Log,
        look_s: float = LOOK_S,
    ) -> None:
        self._settings = settings
        self._read = read
        self._folder = folder
        self._take = take
        self._log = log
        self._look_s = look_s

    async def run(self) -> None:
        """Look until cancelled; what could not be taken is tried again, and told once."""
        taken: Marks | None = None
        before = await asyncio.to_thread(_marks, self._folder)
        told = ""
        while True:
            await asyncio.sleep(self._look_s)
            marks = await asyncio.to_thread(_marks, self._folder)
            # Two that belong together are written one after the other: it waits for the second.
            if marks == before and (told or marks != taken):
                taken, told = marks, await self._renew(told)
            before = marks

    async def _renew(self, told: str) -> str:
        """Return why nothing was taken; empty when it was, or nothing is new."""
        facts: Mapping[str, Any] = {}
        try:
            found = with_secrets(self._settings, await asyncio.to_thread(self._read))
            if secrets_of(found) == secrets_of(self._settings):
                return ""
            check_servable(found)
            await self._take(found)
        except CodexBridgeError as error:  # the old ones go on
            why, facts = error.code, error.facts
        except OSError as error:
            why = f"disk.{errno.errorcode.get(error.errno or 0, 'unknown').lower()}"
        else:
            self._settings = found
            self._log.info("secrets-renewed")
            return ""
        if why != told:
            self._log.error("secrets-not-renewed", code=why, **facts)
        return why


def _marks(folder: Callable[[], Path | None]) -> Marks:
    """Return what changes with a file."""
    try:
        place = folder()
        found = [(one.name, one.stat()) for one in os.scandir(place)] if place else []
    except OSError:
        return frozenset()
    return frozenset((name, at.st_ino, at.st_mtime_ns, at.st_size) for name, at in found)
