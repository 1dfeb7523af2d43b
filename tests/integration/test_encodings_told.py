"""What the chat hears of an edit that no encoding takes: the reason, the file and the setting."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from common.model.state import Reason
from local_agent.models.backend import Chosen, Reply
from tests.desk import Desk
from tests.scripted_model import ScriptedModel, writes


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "old.c").write_bytes("// 注释\n".encode("gbk"))
    async with Desk(folder) as desk:
        yield desk


@pytest.mark.requirement("P7")
async def test_the_chat_hears_why_an_edit_was_refused(desk: Desk) -> None:
    desk.chosen = Chosen(ScriptedModel([writes("old.c", "// 注释\n// more\n"), Reply("Done.")]))
    done = await desk.done("@dev change old.c: add a comment")
    assert done.reason is Reason.REFUSED, done.summary
    assert "old.c is text neither in UTF-8" in (done.summary or "")
    assert "--encoding gbk" in (done.summary or "")
