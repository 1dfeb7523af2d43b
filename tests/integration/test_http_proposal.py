"""A change by a model behind HTTP, in a real scratch copy: the same diff, however it was asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from local_agent.models.backend import Refusal
from local_agent.models.http.config import Api
from tests import model_script as script
from tests.http_models import APIS, scripted
from tests.scratching import Lending, snapshot

FILES = {
    "app.py": "def add(a, b):\n    return a - b\n",
    "old.txt": "one\r\ntwo\r\nthree",
    ".env": "PASSWORD=hunter2hunter2\n",
}
EDITS: tuple[dict[str, Any], ...] = (
    {"path": "app.py", "action": "edit", "search": "a - b\n", "replace": "a + b\n"},
    {"path": "old.txt", "action": "edit", "search": "two\n", "replace": "zwei\n"},
    {"path": "old.txt", "action": "rename", "to": "new.txt"},
    {"path": "docs/加法.md", "action": "create", "content": "# add\n"},
)
DIFF = """\
diff --git a/app.py b/app.py
--- a/app.py
+++ b/app.py
@@ -1,2 +1,2 @@
 def add(a, b):
-    return a - b
+    return a + b
diff --git a/docs/加法.md b/docs/加法.md
new file mode 100644
--- /dev/null
+++ b/docs/加法.md
@@ -0,0 +1 @@
+# add
diff --git a/old.txt b/new.txt
rename from old.txt
rename to new.txt
--- a/old.txt
+++ b/new.txt
@@ -1,3 +1,3 @@
 one\r
-two\r
+zwei\r
 three
\\ No newline at end of file
"""
every_api = pytest.mark.parametrize("api", APIS)


@pytest.fixture
def lending(tmp_path: Path) -> Lending:
    return Lending(tmp_path, FILES)


@pytest.mark.requirement("P1")
@every_api
@pytest.mark.parametrize("json_mode", ["schema", "object", "prompt"])
@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_the_same_edits_make_the_same_diff_and_touch_no_file(
    lending: Lending, api: Api, json_mode: str, *, stream: bool
) -> None:
    before = snapshot(lending.path)
    step = script.edits("Adds.", *EDITS)
    async with (
        scripted(api, step, json_mode=json_mode, stream=stream) as (asked, _),
        lending.scratches.lend(lending.workspace, whole=False) as scratch,
    ):
        reply = await asked.ask(want="edits", scratch=scratch)
        made = await scratch.diff()
    assert made.diff.decode() == DIFF
    assert (reply.text, reply.refused, made.refused) == ("Adds.", (), ())
    assert snapshot(lending.path) == before


@pytest.mark.requirement("R52")
@every_api
async def test_what_no_model_may_touch_is_left_out(lending: Lending, api: Api) -> None:
    paths = ["../x.py", "/etc/passwd", ".git/config", ".codex/config.toml", "AGENTS.md", ".env"]
    outside = [{"path": path, "action": "create", "content": "x\n"} for path in paths]
    guess = {"path": ".env", "action": "edit", "search": "PASSWORD", "replace": "P"}
    async with (
        scripted(api, script.edits("s", *outside, guess, EDITS[0])) as (asked, server),
        lending.scratches.lend(lending.workspace, whole=False) as scratch,
    ):
        reply = await asked.ask(want="edits", scratch=scratch)
        made = await scratch.diff()
    assert [one.path for one in reply.refused] == [*paths, ".env"]
    assert reply.refused[0] == Refusal("../x.py", "scratch.outside")
    assert made.diff.decode().count("diff --git") == 1
    assert "hunter2" not in server.sent_to_it + made.diff.decode()
