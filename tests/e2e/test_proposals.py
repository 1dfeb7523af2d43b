"""A change by a model, whole: asked in the chat, proposed, approved by hand, applied, taken back.

The same request goes through every kind of backend, each against a scripted model service, and
comes out as the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests import model_script as script
from tests.codex_desk import Scripted
from tests.codex_program import PROGRAM
from tests.e2e.place import CODE, Place, wait_until
from tests.e2e.proposing import LOGIN, Shop, codex, content, exact, http, repository, requests
from tests.model_server import Started, started

FILES = {
    "login.py": LOGIN,
    "notes.txt": "one\ntwo\nthree\n",
    "old.md": "# Login\nIt asks for a name.\nIt tries three times.\nThen it stops.\n",
}
NEW_DOC = "# 登录\n最多重试五次。\n"
FIXED = LOGIN.replace("3", "5")
WORDS = "model-says-it-raised-the-retry"
EDITS = (
    {"path": "login.py", "action": "edit", "search": "retry = 3\n", "replace": "retry = 5\n"},
    {"path": "docs/登录.md", "action": "create", "content": NEW_DOC},
    {"path": "notes.txt", "action": "delete"},
    {"path": "old.md", "action": "edit", "search": "three", "replace": "five"},
    {"path": "old.md", "action": "rename", "to": "docs/login.md"},
)
PATCH = """\
*** Begin Patch
*** Update File: login.py
@@ def login():
-    retry = 3
+    retry = 5
*** Add File: docs/登录.md
+# 登录
+最多重试五次。
*** Delete File: notes.txt
*** Update File: old.md
*** Move to: docs/login.md
@@
-It tries three times.
+It tries five times.
*** End Patch"""
CHANGES = [
    {"op": "update", "path": "login.py", "text": FIXED},
    {"op": "add", "path": "docs/登录.md", "text": NEW_DOC},
    {"op": "delete", "path": "notes.txt"},
    {
        "op": "update",
        "path": "old.md",
        "to": "docs/login.md",
        "text": FILES["old.md"].replace("three", "five"),
    },
]
CHANGE = {"do": "change", "changes": CHANGES}
DIFF = """\
diff --git a/old.md b/docs/login.md
rename from old.md
rename to docs/login.md
--- a/old.md
+++ b/docs/login.md
@@ -1,4 +1,4 @@
 # Login
 It asks for a name.
-It tries three times.
+It tries five times.
 Then it stops.
diff --git a/docs/登录.md b/docs/登录.md
new file mode 100644
--- /dev/null
+++ b/docs/登录.md
@@ -0,0 +1,2 @@
+# 登录
+最多重试五次。
diff --git a/login.py b/login.py
--- a/login.py
+++ b/login.py
@@ -1,3 +1,3 @@
 def login():
-    retry = 3
+    retry = 5
     return retry
diff --git a/notes.txt b/notes.txt
deleted file mode 100644
--- a/notes.txt
+++ /dev/null
@@ -1,3 +0,0 @@
-one
-two
-three
"""
FIX = script.edits(WORDS, *EDITS)
RETRY = {"path": "login.py", "action": "edit", "search": "retry = 5", "replace": "retry = 7"}
needs_codex = pytest.mark.needs("codex (make codex)")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Started]:
    """What the models behind HTTP answer; each step waits for the words that it belongs to."""
    asked = {
        "ask-the-responses": [FIX],
        "ask-the-chat": [FIX],
        "ask-the-codex": [script.apply_patch(PATCH), script.text(WORDS)],
        "tries seven times": [script.edits(WORDS, RETRY)],
        "first-version": [FIX],
        "killed-while-at-work": [script.hang(after="Let me see"), FIX],
        "killed-while-it-rests": [FIX],
    }
    steps = [script.only(step, when=when) for when, steps in asked.items() for step in steps]
    with started(tmp_path_factory.mktemp("service"), *steps) as server:
        yield server


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Scripted:
    """A program that hangs in its first turn."""
    return Scripted(tmp_path_factory.mktemp("slow"), [{"do": "hang"}], [CHANGE])


@pytest.fixture(scope="module")
def shop(
    tmp_path_factory: pytest.TempPathFactory, service: Started, slow: Scripted
) -> Iterator[Shop]:
    """One installation for all tests here; each leaves the workspace as it was."""
    folder = tmp_path_factory.mktemp("proposals")
    program = Scripted(folder / "scripted", [CHANGE, {"do": "text", "text": WORDS}]).program
    models = {
        "responses": http(service, "responses"),
        "chat": http(service, "chat"),
        "codex": codex(PROGRAM, service),
        "scripted": codex(program),
        "slow": codex(slow.program),
    }
    place = Place.at(folder / "home")
    try:
        yield Shop(place, repository(folder / "shop-api", FILES), models).open("chat")
    finally:
        place.stop()


@pytest.mark.requirement("P1")
@pytest.mark.requirement("P7")
@pytest.mark.requirement("NL-12.2")
@pytest.mark.requirement("NL-12.3")
@pytest.mark.parametrize(
    "model", ["responses", "chat", pytest.param("codex", marks=needs_codex), "scripted"]
)
def test_one_request_becomes_the_same_diff_through_every_model(shop: Shop, model: str) -> None:
    shop.change_model(model)
    shop.join(f"asks-{model}")
    untouched, before = exact(shop.workspace), content(shop.workspace)
    asked = f"fix the login retry in login.py so that it tries five times (ask-the-{model})"
    short_id = shop.ask(f"@dev {asked}")

    assert shop.raw_diff(short_id) == DIFF
    assert exact(shop.workspace) == untouched, "nothing is written before it is approved"
    told = shop.hears(short_id, "Proposal ready; waiting for local approval on dev-1")
    code = CODE.search(told)
    assert code
    assert code[0] in shop.place.run("show", short_id).stdout
    for row in ("4 files, +4 −5", "login.py +1 −1", "docs/登录.md +2 −0", "notes.txt +0 −3"):
        assert row in told, row

    assert WORDS in shop.shown(short_id)["task"]["details"]
    shop.place.approve(short_id)
    assert shop.place.final(short_id)["reason"] == "completed"
    after = content(shop.workspace)
    assert after["login.py"][1] == FIXED.encode()
    assert after["docs/登录.md"][1] == NEW_DOC.encode()
    assert not {"notes.txt", "old.md"} & set(after)
    shop.hears(f"{short_id} ✓")

    shop.say(f"@dev undo {short_id}")
    undo = shop.in_state(f"undo {short_id}", "WAITING_APPROVAL")
    assert content(shop.workspace) == after, "a message changes nothing"
    shop.place.approve(undo)
    assert shop.place.final(undo)["reason"] == "completed"
    assert content(shop.workspace) == before
    shop.hears(f"{undo} ✓")
    for never in (WORDS, "retry = 3", "retry = 5", "最多重试五次", "tries five times."):
        assert never not in shop.chat, never


@pytest.mark.requirement("P1")
@pytest.mark.requirement("P7")
def test_a_next_version_builds_on_the_one_before_and_replaces_it(shop: Shop) -> None:
    shop.change_model("chat")
    shop.join("revises")
    before, untouched = content(shop.workspace), exact(shop.workspace)
    first = shop.ask("@dev fix the retry in login.py (first-version)")
    shop.say(f"@dev revise {first} so that it tries seven times")
    second = shop.in_state(f"revise {first}", "WAITING_APPROVAL")
    assert second != first
    assert shop.raw_diff(second) == DIFF.replace("retry = 5", "retry = 7")
    assert shop.place.final(first)["reason"] == "cancelled"
    assert second in shop.hears(first, "cancelled on dev-1")
    assert shop.place.run("approve", first, check=False).returncode != 0

    shop.say(f"@dev apply {second}")
    shown_again = wait_until(lambda: t if (t := shop.task(f"apply {second}")).get("reason") else {})
    assert shown_again["reason"] != "completed"
    assert "codexbridge approve" in shop.hears(shown_again["short_id"], second)
    assert exact(shop.workspace) == untouched, "apply shows it again and approves nothing"

    shop.place.approve(second)
    assert shop.place.final(second)["reason"] == "completed"
    assert content(shop.workspace)["login.py"][1] == LOGIN.replace("3", "7").encode()
    undo = undone(shop, second)
    assert shop.place.final(undo)["reason"] == "completed"
    assert content(shop.workspace) == before


@pytest.mark.requirement("P3")
def test_an_agent_killed_at_any_moment_of_a_proposal_loses_nothing_and_applies_once(
    shop: Shop, service: Started
) -> None:
    shop.change_model("chat")
    shop.join("loses-nothing")
    before = content(shop.workspace)
    words = "killed-while-at-work"
    shop.say(f"@dev fix the retry in login.py ({words})")
    wait_until(lambda: asked_with(service, words) == 1)
    shop.place.kill("agent")
    shop.place.start_agent()
    short_id = shop.in_state(words, "WAITING_APPROVAL")
    code = CODE.search(shop.hears(short_id, "waiting for local approval"))
    assert asked_with(service, words) == 2, "asked again, once"

    shop.place.kill("agent")
    shop.place.start_agent()
    shown = shop.place.run("show", short_id).stdout
    assert code
    assert code[0] in shown, "the same sealed bytes"
    assert content(shop.workspace) == before
    shop.place.approve(short_id)
    assert shop.place.final(short_id)["reason"] == "completed"
    after = exact(shop.workspace)
    shop.place.kill("agent")
    shop.place.start_agent()
    assert shop.task(words)["reason"] == "completed"
    assert exact(shop.workspace) == after
    assert asked_with(service, words) == 2
    undone(shop, short_id)
    assert content(shop.workspace) == before


@pytest.mark.requirement("P1")
@pytest.mark.requirement("P3")
def test_a_change_asked_at_the_machine_rests_until_it_is_applied_there(
    shop: Shop, service: Started
) -> None:
    shop.change_model("chat")
    untouched, before = exact(shop.workspace), content(shop.workspace)
    words = "killed-while-it-rests"
    asked = f"fix the retry in login.py ({words})"
    short_id = json.loads(shop.place.run("ask", asked, "--json").stdout)["short_id"]
    shop.place.kill("agent")
    shop.place.start_agent()
    assert shop.in_state(words, "PROPOSAL_READY") == short_id
    assert shop.place.run("approve", short_id, check=False).returncode != 0
    assert shop.raw_diff(short_id) == DIFF
    assert exact(shop.workspace) == untouched
    shop.place.run("apply", short_id)
    assert shop.in_state(words, "WAITING_APPROVAL") == short_id
    assert exact(shop.workspace) == untouched, "to apply is to be asked"
    shop.place.approve(short_id)
    assert shop.place.final(short_id)["reason"] == "completed"
    assert asked_with(service, words) == 1
    undone(shop, short_id)
    assert content(shop.workspace) == before


@pytest.mark.requirement("P3")
@pytest.mark.requirement("R62")
def test_a_program_at_work_ends_with_an_agent_that_is_killed(shop: Shop, slow: Scripted) -> None:
    shop.change_model("slow")
    shop.join("kills")
    before = exact(shop.workspace)
    words = "killed-with-its-program"
    shop.say(f"@dev fix the retry in login.py ({words})")
    wait_until(lambda: slow.sent("turn/start"))
    running = [child for child in shop.children() if "app-server" in " ".join(child.cmdline())]
    assert running
    shop.place.kill("agent")
    wait_until(lambda: not any(child.is_running() for child in running))
    shop.place.start_agent()
    short_id = shop.in_state(words, "WAITING_APPROVAL")
    assert shop.raw_diff(short_id) == DIFF
    assert exact(shop.workspace) == before
    shop.place.run("reject", short_id)
    assert shop.place.final(short_id)["reason"] == "rejected"


def asked_with(service: Started, words: str) -> int:
    """Return how many requests held these words."""
    return sum(words in json.dumps(body) for body in requests(service))


def undone(shop: Shop, short_id: str) -> str:
    """Take a change back as a person at the machine does."""
    task = json.loads(shop.place.run("undo", short_id, "--json").stdout)
    shop.place.approve(task["short_id"])
    return str(task["short_id"])
