"""When new secrets are looked for, and what becomes of those that could not be taken."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import Final

import pytest

from common.logs import open_log
from gateway.app.renewal import Renewal
from gateway.base.settings import GatewaySettings, load_settings

SETTINGS: Final = """[limits]
groups = { interns = 5 }
[wecom]
corp_id = "ww1"
agent_id = 1
"""


@pytest.mark.requirement("P3")
async def test_what_could_not_be_taken_is_tried_again_and_told_once(tmp_path: Path) -> None:
    file, folder, said = tmp_path / "gateway.toml", tmp_path / "secrets", io.StringIO()
    await asyncio.to_thread(_write, file, folder)

    def read() -> GatewaySettings:
        return load_settings(file=file, environ={}, secrets_dir=folder)

    full, taken = [OSError(28, "No space left on device")] * 3, asyncio.Event()

    async def take(settings: GatewaySettings) -> None:
        if full:
            raise full.pop()
        assert settings.wecom.token.get_secret_value() == "another"
        taken.set()

    served = await asyncio.to_thread(read)
    log = open_log("gateway", stream=said)
    renewal = Renewal(served, read=read, folder=lambda: folder, take=take, log=log, look_s=0.01)
    looking = asyncio.create_task(renewal.run())
    await asyncio.sleep(0.05)
    await asyncio.to_thread((folder / "wecom__token").write_text, "another", encoding="utf-8")
    async with asyncio.timeout(10):
        await taken.wait()
    looking.cancel()
    assert said.getvalue().count("secrets-not-renewed") == 1
    assert "code=disk.enospc" in said.getvalue()


def _write(file: Path, folder: Path) -> None:
    file.write_text(SETTINGS, encoding="utf-8")
    folder.mkdir(mode=0o700)
    secrets = {"token": "one", "encoding_aes_key": "a" * 43, "corp_secret": "secret"}
    for name, text in secrets.items():
        (folder / f"wecom__{name}").write_text(text, encoding="utf-8")
        (folder / f"wecom__{name}").chmod(0o600)
