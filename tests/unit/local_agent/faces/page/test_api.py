"""What the page can read and ask, path by path, over a real journal, gate and engine."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from common.ids import new_uuid
from common.model.state import TaskState
from common.seal import short_code
from local_agent.faces.control.tasks import Answer
from local_agent.faces.control.wire import Request
from local_agent.faces.page import reading
from local_agent.faces.page.words import catalogue
from local_agent.store.approvals import StoredApproval
from local_agent.store.passkeys import Passkey
from local_agent.views import from_json
from local_agent.views.audit import AuditCheck, AuditView
from local_agent.views.files import FileView, FolderView
from local_agent.views.page import PageBoot, PagePlaybooks, PageRows, PageTask
from local_agent.views.question import ApprovalView, Text
from local_agent.views.settings import SettingsView
from local_agent.views.statistics import StatisticsView
from local_agent.views.status import StatusView
from tests import filled_journal
from tests.page_desk import png
from tests.run_desk import GATE, write
from tests.sealed import Wish
from tests.unit.local_agent.faces.page.conftest import Place, Tab

pytestmark = pytest.mark.heavy

OLD = "".join(f"line {n}\n" for n in range(40))
PATCH = """\
diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 line 0
-line 1
+line one
 line 2
@@ -30,3 +30,4 @@
 line 29
 line 30
+line and a half
 line 31
diff --git a/b.txt b/b.txt
new file mode 100644
--- /dev/null
+++ b/b.txt
@@ -0,0 +1 @@
+new
"""


async def applied(place: Place, **changes: Any) -> str:
    """Let a person at the machine bring the change, wait until it waits; return the short ID."""
    await asyncio.to_thread((place.desk.place / "a.txt").write_bytes, OLD.encode())
    task_id = await place.desk.apply(PATCH.encode(), workspace="shop", **changes)
    await place.desk.waiting(task_id)
    return (await place.desk.task(task_id)).short_id


async def waits(place: Place, short_id: str) -> Any:
    """Return the task once it waits for a decision."""
    named = await place.desk.db.run(place.desk.db.journal.tasks.named, short_id)
    return await place.desk.until(named.task_id, TaskState.WAITING_APPROVAL)


async def approve(place: Place, short_id: str, word: Any = "approve") -> Any:
    task = await waits(place, short_id)
    await place.desk.decide(await place.desk.waiting(task.task_id), word)
    return await place.desk.until(task.task_id, TaskState.COMPLETED, TaskState.REJECTED)


async def newest(place: Place, short_id: str) -> StoredApproval:
    """Return the newest approval of a task."""
    journal = place.desk.db.journal
    task = await place.desk.db.run(journal.tasks.named, short_id)
    stored = await place.desk.db.run(journal.approvals.newest_of, task.task_id)
    assert stored is not None
    return stored


# -- reading --------------------------------------------------------------------------------------


async def test_a_tab_is_told_all_that_it_needs_to_begin(place: Place, tab: Tab) -> None:
    boot = from_json(PageBoot, await tab.read("/api/boot"))
    assert (boot.lang, boot.theme, boot.prefix, boot.passkeys) == ("en", "auto", "@dev", False)
    assert dict(boot.words) == {key: one.en for key, one in catalogue().items()}
    assert boot.status.machine == "build-1"
    assert "help" in {verb.name for verb in boot.verbs} or boot.verbs
    place.preferences |= {"lang": "zh", "theme": "dark"}
    again = await tab.read("/api/boot")
    assert (again["lang"], again["theme"], again["life"]) == ("zh", "dark", boot.life)
    assert again["words"] == {key: one.zh for key, one in catalogue().items()}
    place.preferences.clear()
    for asked, lang in (("zh-CN,zh;q=0.9", "zh"), ("en-GB", "en"), ("fr,zh", "en")):
        tab.headers["Accept-Language"] = asked
        assert (await tab.read("/api/boot"))["lang"] == lang, "that of the browser until one is set"


async def test_what_was_kept_of_another_version_is_not_preferred(place: Place, tab: Tab) -> None:
    place.preferences |= {"lang": "xx", "theme": "<script>"}
    boot = await tab.read("/api/boot")
    assert (boot["lang"], boot["theme"]) == ("en", "auto")


async def test_the_status_is_the_agent_s(place: Place, tab: Tab) -> None:
    await applied(place)
    status = from_json(StatusView, await tab.read("/api/status"))
    assert [one.state for one in status.approvals] == ["WAITING_APPROVAL"]


async def test_the_list_is_told_page_by_page_newest_first(place: Place, tab: Tab) -> None:
    tasks = await place.desk.db.run(
        lambda: filled_journal.fill(
            place.desk.db.journal.tasks._db, tasks=260, events_per_task=12, seed=1, days=3
        )
    )
    found: list[str] = []
    path = "/api/tasks?limit=100"
    while True:
        page = from_json(PageRows, await tab.read(path))
        found += [row.task_id for row in page.tasks]
        if not page.more:
            break
        path = f"/api/tasks?limit=100&before={found[-1]}"
    assert found == [*reversed(tasks)]
    assert len((await tab.read("/api/tasks?limit=999999"))["tasks"]) == reading.MAX_PAGE
    assert len((await tab.read("/api/tasks?limit=0"))["tasks"]) == 1
    assert len((await tab.read("/api/tasks"))["tasks"]) == 50
    opened = await tab.read("/api/tasks?open=1&limit=200")
    assert {row["reason"] for row in opened["tasks"]} == {None}
    words = await tab.read("/api/tasks?find=%E4%BF%AE%E5%A4%8D&limit=200")
    assert words["tasks"]
    assert all("修复" in row["text"] for row in words["tasks"])
    short_id = opened["tasks"][0]["short_id"]
    assert (await tab.read(f"/api/tasks?find={short_id.lower()}"))["tasks"][0]["short_id"]
    # Each of them can be looked at, whatever became of it.
    for row in page.tasks[:40] + from_json(PageRows, opened).tasks[:5]:
        from_json(PageTask, await tab.read(f"/api/tasks/{row.short_id}"))


async def test_a_task_is_told_with_its_question_and_its_files(place: Place, tab: Tab) -> None:
    short_id = await applied(place)
    told = from_json(PageTask, await tab.read(f"/api/tasks/{short_id.lower()}"))
    assert told.approval is not None
    assert told.question is not None
    assert (told.approval.state, told.approval.unreadable) == ("pending", None)
    assert (told.approval.can_narrow, told.question.action) == (True, "apply_diff")
    assert [(file.path, file.op, file.hunks) for file in told.files] == [
        ("a.txt", "modify", 2),
        ("b.txt", "add", 1),
    ]
    assert [moment.state for moment in told.timeline if moment.state][-1] == "WAITING_APPROVAL"
    assert (told.kind is not None, told.steps, told.streaming) == (True, (), "")
    stored = await place.desk.db.run(place.desk.db.journal.approvals.get, told.approval.approval_id)
    assert told.approval.code == told.question.code == short_code(stored.digest)
    assert told.row.expires_at == stored.expires_at


async def test_lines_are_told_file_by_file(place: Place, tab: Tab) -> None:
    short_id = await applied(place)
    for _ in range(2):  # read, and at hand
        told = await tab.read(f"/api/tasks/{short_id}/rows?file=0")
        assert [row["kind"] for row in told["rows"]].count("hunk") == 2
        assert (told["first"], told["more"]) == (0, 0)
    from_2 = await tab.read(f"/api/tasks/{short_id}/rows?file=0&first=2")
    assert from_2["rows"] == told["rows"][2:]
    assert len((await tab.read(f"/api/tasks/{short_id}/rows?file=1"))["rows"]) == 2
    beyond = await tab.get(f"/api/tasks/{short_id}/rows?file=2")
    assert (beyond.status, beyond.json["error"]["code"]) == (409, "diff.none")


async def test_the_lines_of_a_few_tasks_stay_at_hand(place: Place, tab: Tab) -> None:
    names = [await applied(place) for _ in range(reading.KEPT_DIFFS + 1)]
    for short_id in names:
        assert (await tab.read(f"/api/tasks/{short_id}/rows?file=0"))["rows"]
    place.blobs.lost = True
    gone = await tab.get(f"/api/tasks/{names[0]}/rows?file=0")
    assert (gone.status, gone.json["error"]["code"]) == (503, "blob.missing")
    assert (await tab.read(f"/api/tasks/{names[-1]}/rows?file=0"))["rows"]


async def test_a_question_whose_diff_is_kept_no_longer_says_so(place: Place, tab: Tab) -> None:
    short_id = await applied(place)
    place.blobs.lost = True
    told = from_json(PageTask, await tab.read(f"/api/tasks/{short_id}"))
    assert (told.question, told.files) == (None, ())
    assert told.approval is not None
    assert told.approval.unreadable is not None
    assert told.approval.unreadable.en
    assert told.approval.unreadable.zh


async def test_a_question_that_was_tampered_with_is_not_shown(place: Place, tab: Tab) -> None:
    short_id = await applied(place)
    real = place.parts.teller

    class Forger:
        async def tell(self, approval_id: str) -> ApprovalView:
            told = await real.tell(approval_id)
            return replace(told, seal=told.seal.replace("b.txt", "c.txt"))

    object.__setattr__(place.parts, "teller", Forger())
    answer = await tab.get(f"/api/tasks/{short_id}/rows?file=0")
    assert (answer.status, answer.json["error"]["code"]) == (403, "approval.digest-mismatch")


async def test_a_change_that_is_only_proposed_has_its_files(place: Place, tab: Tab) -> None:
    desk = place.desk
    name = await asyncio.to_thread(desk.blobs.put, PATCH.encode())
    await desk.db.run(desk.db.journal.tasks.create, Wish(short_id="T-0001"), 1)
    proposal = {"proposal": {"type": "diff", "diffId": name}, "summary": "x"}

    def write_down() -> None:
        desk.db.journal.tasks._db.run(
            "UPDATE tasks SET proposal_json = ? WHERE short_id = 'T-0001'", json.dumps(proposal)
        )

    await desk.db.run(write_down)
    told = from_json(PageTask, await tab.read("/api/tasks/T-0001"))
    assert (told.approval, told.question) == (None, None)
    assert [file.path for file in told.files] == ["a.txt", "b.txt"]
    assert (await tab.read("/api/tasks/T-0001/rows?file=1"))["rows"]
    # Nothing is proposed by this one.
    await desk.db.run(desk.db.journal.tasks.create, Wish(task_id="task-2", short_id="T-0002"), 1)
    assert (await tab.read("/api/tasks/T-0002"))["files"] == []
    none = await tab.get("/api/tasks/T-0002/rows?file=0")
    assert (none.status, none.json["error"]["code"]) == (409, "diff.none")


def test_each_diff_of_several_steps_is_found() -> None:
    parts = [{"proposal": {"diffId": "a"}}, {"proposal": {}}, {"proposal": {"diffId": "b"}}]
    task: Any = type("Task", (), {"proposal_json": json.dumps({"proposal": {"parts": parts}})})
    assert reading._diffs_of(task) == ("a", "b")


async def test_receipts_and_logs_are_told(place: Place, tab: Tab) -> None:
    short_id = await applied(place)
    receipt = await tab.get(f"/api/tasks/{short_id}/receipt")
    assert (receipt.kind, receipt.body) == ("text/plain", f"receipt of {short_id}".encode())
    none = await tab.get(f"/api/tasks/{short_id}/log")
    assert (none.status, none.json["error"]["code"]) == (409, "log.none")


async def test_the_log_of_a_command_is_told_whole(place: Place, tab: Tab) -> None:
    begun = await tab.act("/api/ask", {"text": "run echo hello", "workspace": "shop"})
    await approve(place, begun["short_id"])
    told = await tab.get(f"/api/tasks/{begun['short_id']}/log")
    assert (told.status, told.kind) == (200, "text/plain")
    assert "hello" in told.body.decode()


async def test_playbooks_are_listed_with_what_is_broken(place: Place, tab: Tab) -> None:
    folder = place.desk.places.config / "playbooks"

    def lay() -> None:
        folder.mkdir(mode=0o700, parents=True)
        (folder / "mine.md").write_text(f"---\nname: mine\nsteps:\n  - {{{GATE}}}\n---\n", "utf-8")
        (folder / "broken.md").write_text("---\nname: [\n---\n", "utf-8")

    await asyncio.to_thread(lay)
    told = from_json(PagePlaybooks, await tab.read("/api/playbooks"))
    by_name = {one.name: one for one in told.playbooks}
    assert by_name["mine"].broken is None
    assert [step.type for step in by_name["mine"].steps] == ["gate"]
    broken = by_name["broken"].broken
    assert broken is not None
    assert broken.en
    assert broken.zh
    shipped = by_name["weekly-report"]
    assert shipped.origin == "shipped"
    assert shipped.about == Text("Weekly report from the commits", "根据提交写周报")
    assert told.runs == ()


async def test_files_are_shown_by_workspace(place: Place, tab: Tab) -> None:
    def lay() -> None:
        (place.desk.place / "src").mkdir()
        (place.desk.place / "src" / "a b.py").write_bytes(b"x = 1\ny = 2\n")
        (place.desk.place / "logo.png").write_bytes(png())

    await asyncio.to_thread(lay)
    for where in ("", "?workspace=shop", "?workspace="):
        folder = from_json(FolderView, await tab.read(f"/api/folder{where}"))
        assert {entry.name for entry in folder.entries} >= {"src", "logo.png"}
    file = from_json(FileView, await tab.read("/api/file?path=src/a%20b.py&first=2"))
    assert file
    assert (await tab.get("/api/file?path=src/a%20b.py&first=0")).status == 200
    image = await tab.get("/api/image?path=logo.png")
    assert (image.kind, image.body) == ("image/png", png())
    for path in ("/api/folder?workspace=other", "/api/file?path=../x", "/api/file?path=%00"):
        assert (await tab.get(path)).status == 400, path


async def test_the_audit_log_is_shown_and_checked(place: Place, tab: Tab) -> None:
    await applied(place)
    page = from_json(AuditView, await tab.read("/api/audit"))
    assert page.entries
    older = await tab.read(f"/api/audit?before={page.entries[-1].seq}")
    assert all(entry["seq"] < page.entries[-1].seq for entry in older["entries"])
    from_json(AuditCheck, await tab.act("/api/audit/verify"))


async def test_settings_and_statistics_are_shown(place: Place, tab: Tab) -> None:
    told = await tab.read("/api/settings")
    from_json(SettingsView, told["settings"])
    assert [one["name"] for one in told["workspaces"]["workspaces"]] == ["shop"]
    assert all(en and zh for en, zh in told["described"].values())
    for query in ("", "?days=1", "?days=90&offset=-480", "?offset=840"):
        from_json(StatisticsView, await tab.read(f"/api/statistics{query}"))


async def test_what_is_hidden_in_a_request_is_made_visible(place: Place, tab: Tab) -> None:
    hidden = "\u202esh.tset\u200b"
    wish = Wish(short_id="T-7K3F", text=f"@dev run {hidden}", claimed_user="li\u2066")
    await place.desk.db.run(place.desk.db.journal.tasks.create, wish, 1)
    await applied(place, claimed_user=hidden)
    playbooks = place.desk.places.config / "playbooks"
    playbooks.mkdir(mode=0o700, parents=True)
    await asyncio.to_thread((playbooks / f"{hidden}.md").write_bytes, b"---\nname: [\n---\n")
    for path in ("boot", "status", "tasks", "tasks/T-7K3F", "playbooks"):
        told = (await tab.get(f"/api/{path}")).body.decode()
        assert not set("\u202e\u200b\u2066") & set(told), path
        assert "⟨" in told, path


# -- asking ---------------------------------------------------------------------------------------


async def test_a_request_becomes_a_task_of_this_machine(place: Place, tab: Tab) -> None:
    told = await tab.act("/api/ask", {"text": "run true", "workspace": "shop", "lang": "zh"})
    task = await place.desk.db.run(place.desk.db.journal.tasks.named, told["short_id"])
    assert (task.source, task.claimed_user, task.lang) == ("local_ui", "zhang", "zh")
    assert task.text == "@dev run true"
    # It goes on although nobody waits for its end.
    await waits(place, told["short_id"])


async def test_a_task_is_cancelled_once(place: Place, tab: Tab) -> None:
    short_id = await applied(place)
    assert await tab.act(f"/api/tasks/{short_id}/cancel") == {}
    task = await place.desk.db.run(place.desk.db.journal.tasks.named, short_id)
    await place.desk.until(task.task_id, TaskState.REJECTED)
    again = await tab.post(f"/api/tasks/{short_id}/cancel")
    assert (again.status, again.json["error"]["code"]) == (409, "task.over")


async def test_a_change_is_undone_and_a_request_made_once_more(place: Place, tab: Tab) -> None:
    short_id = await applied(place)
    await approve(place, short_id)
    assert (place.desk.place / "b.txt").exists()
    part = await tab.act(f"/api/tasks/{short_id}/undo", {"only": ["b.txt"]})
    await approve(place, part["short_id"])
    assert not (place.desk.place / "b.txt").exists()
    begun = await tab.act("/api/ask", {"text": "run true"})
    await approve(place, begun["short_id"], "reject")
    again = await tab.act(f"/api/tasks/{begun['short_id']}/retry", {"lang": "zh"})
    assert again["short_id"] != begun["short_id"]
    await waits(place, again["short_id"])


async def test_what_was_proposed_is_wanted_by_a_task_of_its_own(place: Place, tab: Tab) -> None:
    short_id = await applied(place)
    told = await tab.act(f"/api/tasks/{short_id}/want")
    assert told["short_id"] != short_id


async def test_a_question_is_brought_before_the_person(place: Place, tab: Tab) -> None:
    short_id = await applied(place)
    place.windows.turn_off("no-screen")
    assert await tab.act(f"/api/tasks/{short_id}/remind") == {"window": False, "why": "no-screen"}
    shown: list[str] = []
    place.windows.turn_on(shown.append)
    assert await tab.act(f"/api/tasks/{short_id}/remind") == {"window": True, "why": ""}
    told = await tab.read(f"/api/tasks/{short_id}")
    assert shown == [told["approval"]["approval_id"]]
    await approve(place, short_id, "reject")
    over = await tab.post(f"/api/tasks/{short_id}/remind")
    assert (over.status, over.json["error"]["code"]) == (409, "approve.not-waiting")
    assert len(shown) == 1


async def test_a_part_of_a_change_is_asked_for_alone(place: Place, tab: Tab) -> None:
    short_id = await applied(place)
    asked = (await tab.read(f"/api/tasks/{short_id}"))["question"]
    approval_id = (await tab.read(f"/api/tasks/{short_id}"))["approval"]["approval_id"]
    named = {"approval_id": approval_id, "code": asked["code"]}
    chosen = named | {"keep": ["a.txt"], "hunks": {"a.txt": [1]}}
    assert await tab.act(f"/api/tasks/{short_id}/narrow", chosen) == {}
    task = await place.desk.db.run(place.desk.db.journal.tasks.named, short_id)
    await place.desk.waiting(task.task_id, older=approval_id)
    told = from_json(PageTask, await tab.read(f"/api/tasks/{short_id}"))
    assert [(file.path, file.hunks) for file in told.files] == [("a.txt", 1)]
    assert told.question is not None
    assert told.question.code != asked["code"]
    # What stands no longer cannot be narrowed.
    again = await tab.post(f"/api/tasks/{short_id}/narrow", chosen)
    assert again.status in (403, 409)


async def test_a_try_without_a_test_command_is_refused(place: Place, tab: Tab) -> None:
    short_id = await applied(place)
    told = await tab.read(f"/api/tasks/{short_id}")
    body = {"approval_id": told["approval"]["approval_id"], "code": told["question"]["code"]}
    answer = await tab.post(f"/api/tasks/{short_id}/check", body)
    assert 400 <= answer.status < 500
    assert answer.json["error"]["en"] != answer.json["error"]["zh"]


async def test_a_change_is_tried_by_a_task_of_its_own(place: Place, tab: Tab) -> None:
    short_id = await applied(place)
    real, asked = place.parts.operations, []

    class Checked:
        async def answer(self, request: Request) -> AsyncIterator[Answer]:
            asked.append(request)
            async for step in real.answer(Request("show", {"task": short_id})):
                yield step

    object.__setattr__(place.parts, "operations", Checked())
    stored = await newest(place, short_id)
    body = {"approval_id": stored.approval_id, "code": short_code(stored.digest)}
    assert await tab.act(f"/api/tasks/{short_id}/check", body) == {"short_id": short_id}
    named = {"approval_id": stored.approval_id, "digest": stored.digest}
    assert [(one.op, one.args) for one in asked] == [("check", named)]
    other = await tab.post(f"/api/tasks/{short_id}/check", body | {"code": "0000-0000"})
    assert (other.status, other.json["error"]["code"]) == (400, "approval.digest-mismatch")


async def test_a_run_is_begun_carried_on_and_taken_back(place: Place, tab: Tab) -> None:
    folder = place.desk.places.config / "playbooks"

    def lay() -> None:
        folder.mkdir(mode=0o700, parents=True)
        steps = f"  - {{{write('new.txt', 'hello')}}}\n  - {{{GATE}}}\n"
        (folder / "mine.md").write_text(f"---\nname: mine\nsteps:\n{steps}---\n", "utf-8")

    await asyncio.to_thread(lay)
    begun = await tab.act("/api/playbooks/mine/play", {"workspace": "shop", "lang": "en"})
    await place.desk.asked()
    told = from_json(PageTask, await tab.read(f"/api/tasks/{begun['short_id']}"))
    (step,) = told.steps
    assert step.is_step
    assert (await tab.read(f"/api/tasks/{step.short_id}"))["steps"] == []
    await place.desk.answer("approve", "reject")
    task = await place.desk.db.run(place.desk.db.journal.tasks.named, begun["short_id"])
    await place.desk.until(task.task_id, TaskState.REJECTED, TaskState.FAILED)
    runs = (await tab.read("/api/playbooks"))["runs"]
    assert [run["short_id"] for run in runs] == [begun["short_id"]]
    on = await tab.act(f"/api/tasks/{begun['short_id']}/resume", {"lang": "en"})
    assert on["short_id"] != begun["short_id"]
    await place.desk.answer("reject")
    task = await place.desk.db.run(place.desk.db.journal.tasks.named, on["short_id"])
    await place.desk.until(task.task_id, TaskState.REJECTED, TaskState.FAILED)
    back = await tab.act(f"/api/tasks/{on['short_id']}/roll_back")
    assert back["short_id"] not in (on["short_id"], begun["short_id"])
    await place.desk.answer("approve")
    task = await place.desk.db.run(place.desk.db.journal.tasks.named, back["short_id"])
    await place.desk.until(task.task_id, TaskState.COMPLETED, TaskState.FAILED)
    assert not (place.desk.place / "new.txt").exists()


async def test_a_playbook_that_is_not_there_cannot_be_run(place: Place, tab: Tab) -> None:
    for name in ("nothing", "..%2f..%2fetc%2fpasswd", "%E5%89%A7"):
        told = await tab.post(f"/api/playbooks/{name}/play", {"workspace": "shop"})
        assert told.status == 400, name
    runs = (await tab.read("/api/playbooks"))["runs"]
    assert runs == []


async def test_what_the_person_prefers_is_kept(place: Place, tab: Tab) -> None:
    assert await tab.act("/api/preferences", {"lang": "zh"}) == {}
    assert await tab.act("/api/preferences", {"theme": "dark", "lang": "en"}) == {}
    assert place.preferred == [{"lang": "zh"}, {"theme": "dark", "lang": "en"}]
    bad: list[dict[str, Any]] = [
        {"lang": "fr"},
        {"lang": ["en"]},
        {"lang": {}},
        {"theme": None},
        {"port": "1"},
        {"lang": "en", "cookie": "x"},
    ]
    for body in bad:
        assert (await tab.post("/api/preferences", body)).status == 400, body
    assert len(place.preferred) == 2


# -- what is refused ------------------------------------------------------------------------------

BODIES: dict[str, dict[str, Any]] = {
    "ask": {"text": "run true", "workspace": "", "lang": "en"},
    "playbooks/weekly-report/play": {
        "client": "local",
        "message": "",
        "workspace": "shop",
        "lang": "en",
        "dry": False,
    },
    "tasks/{task}/cancel": {"lang": "en"},
    "tasks/{task}/undo": {"lang": "en", "only": []},
    "tasks/{task}/retry": {"lang": "en", "may_have_run": False},
    "tasks/{task}/want": {"lang": "en"},
    "tasks/{task}/resume": {"lang": "en"},
    "tasks/{task}/roll_back": {"lang": "en"},
    "tasks/{task}/narrow": {"approval_id": "x", "code": "x", "keep": [], "hunks": {}},
    "tasks/{task}/check": {"approval_id": "x", "code": "x"},
}
NO_TEXT: tuple[Any, ...] = (None, 1, True, [], {}, ["x"])
NO_LIST: tuple[Any, ...] = (None, 1, True, "x", {}, [1], [None], [[]])
NO_FLAG: tuple[Any, ...] = (None, 1, "x", [], {})
NO_HUNKS: tuple[Any, ...] = (None, 1, "x", [], {"a": 1}, {"a": [True]}, {"a": ["1"]}, {"a": [-1]})
WRONG = {
    "only": NO_LIST,
    "keep": NO_LIST,
    "hunks": NO_HUNKS,
    "dry": NO_FLAG,
    "may_have_run": NO_FLAG,
}


@pytest.mark.parametrize("path", BODIES)
async def test_a_field_of_another_type_is_refused(place: Place, tab: Tab, path: str) -> None:
    short_id = await applied(place)
    before = (await tab.read("/api/tasks"))["tasks"]
    where = f"/api/{path.format(task=short_id)}"
    for name in BODIES[path]:
        for value in WRONG.get(name, NO_TEXT):
            told = await tab.post(where, BODIES[path] | {name: value})
            # Whether it can be done at all is looked at first by some.
            assert told.status in (400, 409), (name, value, told)
            assert told.status == 409 or told.json["error"]["code"] == "control.malformed", name
    assert [row["short_id"] for row in (await tab.read("/api/tasks"))["tasks"]] == [
        row["short_id"] for row in before
    ]
    assert place.log.events == []


RAW = (
    b"",
    b"x",
    b"null",
    b"[]",
    b'"x"',
    b"1",
    b'{"text":"x","text":"y"}',
    b'{"text":NaN}',
    b'{"text":1e999}',
    b'{"text":"\\ud800"}',
    b'{"text":"\xff"}',
    b"[" * 100_000,
    b'{"a":' * 50_000,
)


@pytest.mark.parametrize("path", [*BODIES, "preferences"])
async def test_a_body_that_is_no_object_is_refused(place: Place, tab: Tab, path: str) -> None:
    await place.desk.db.run(place.desk.db.journal.tasks.create, Wish(short_id="T-7K3F"), 1)
    for raw in RAW:
        told = await tab.post(f"/api/{path.format(task='T-7K3F')}", raw=raw)
        assert told.status == 400, (raw[:40], told)
        error = told.json["error"]
        assert error["en"]
        assert error["zh"]
        assert "\n" not in error["en"] + error["zh"]
    assert place.log.events == []


async def test_a_query_of_any_kind_is_answered_in_one_line(place: Place, tab: Tab) -> None:
    short_id = await applied(place)
    bad = (
        "tasks?limit=x",
        "tasks?limit=-1",
        "tasks?limit=",
        "tasks?limit=1e3",
        "tasks?limit=%EF%BC%91",
        "tasks?limit=99999999999",
        "tasks/nonsense",
        "tasks/%00",
        "tasks/%F0%9F%92%A9",
        f"tasks/{short_id}/rows",
        f"tasks/{short_id}/rows?file=-1",
        f"tasks/{short_id}/rows?file=0&first=x",
        "audit?before=x",
        "audit?before=",
        "statistics?days=0",
        "statistics?days=91",
        "statistics?days=x",
        "statistics?offset=x",
        "statistics?offset=99999",
        "file?path=a.txt&first=x",
        "file?path=/etc/passwd",
        "folder?path=..",
        "image?path=a.txt",
    )
    for query in bad:
        told = await tab.get(f"/api/{query}")
        assert told.status == 400, (query, told)
        error = told.json["error"]
        assert "\n" not in error["en"] + error["zh"], query
        assert error["en"], query
        assert error["en"] != error["zh"] or error["code"] == "", query
    # What no sentence can find is nothing that is wrong.
    for query in ("tasks?find=%ff%fe", "tasks?find=%00", "tasks?find=%25_%5C%27", "tasks?find=%20"):
        assert (await tab.get(f"/api/{query}")).status == 200, query
    assert place.log.events == []


async def test_what_is_not_there_is_told_as_such(place: Place, tab: Tab) -> None:
    for path, code in (
        ("tasks/T-0000", "task.unknown"),
        (f"tasks?before={new_uuid()}", "task.unknown"),
        ("tasks?before=%00", "task.unknown"),
    ):
        told = await tab.get(f"/api/{path}")
        assert (told.status, told.json["error"]["code"]) == (409, code), path
    await applied(place)
    for path in ("nothing", "tasks/T-7K01/nothing", "tasks/T-7K01/rows/0"):
        assert (await tab.get(f"/api/{path}")).status in (404, 405), path
    told = await tab.post("/api/tasks/T-7K01/burn")
    assert told.status in (404, 409)
    assert (await tab.post("/api/boot")).status == 405
    assert (await tab.get("/api/ask")).status == 405


async def test_nothing_on_the_page_decides(place: Place, tab: Tab) -> None:
    short_id = await applied(place)
    told = await tab.read(f"/api/tasks/{short_id}")
    body = {
        "approval_id": told["approval"]["approval_id"],
        "decision": "approve",
        "code": told["question"]["code"],
    }
    for path in ("decide", "approve", "reject", f"tasks/{short_id}/decide"):
        assert (await tab.post(f"/api/{path}", body)).status == 404
    for path in (f"tasks/{short_id}/approve", f"tasks/{short_id}/reject"):
        assert (await tab.post(f"/api/{path}", body)).status == 404
    assert (await tab.read(f"/api/tasks/{short_id}"))["approval"]["state"] == "pending"


@pytest.mark.requirement("P2")
async def test_the_page_is_sent_a_digest_with_the_touch_alone(place: Place, tab: Tab) -> None:
    open_, other = await applied(place), await applied(place)
    digests = {name: (await newest(place, name)).digest for name in (open_, other)}
    journal = place.desk.db.journal
    key = Passkey(
        credential_id=b"\1" * 16,
        public_key=b"\2" * 77,
        sign_count=0,
        name="laptop",
        aaguid="00",
        created_at=1,
    )
    await place.desk.db.run(journal.passkeys.add, key)
    sent = [json.dumps(await tab.read(f"/api/{path}")) for path in READS]
    sent += [json.dumps(await tab.read(f"/api/tasks/{name}")) for name in digests]
    async with tab.live() as live:
        sent.append(json.dumps(await live.hear()))
        place.server._live.changed((await newest(place, other)).task_id)
        sent.append(json.dumps(await live.until(type="task")))
    told = await tab.read(f"/api/tasks/{open_}")
    approval_id, code = told["approval"]["approval_id"], told["approval"]["code"]
    body = {"code": code, "keep": ["a.txt", "b.txt"], "hunks": {}}
    asked = await tab.act(f"/api/approvals/{approval_id}/options", body)
    assert asked["digest"] == digests[open_]
    assert digests[other] not in json.dumps(asked)
    for one in sent:
        assert not any(digest in one for digest in digests.values()), one[:80]


READS = (
    "boot",
    "status",
    "tasks",
    "audit",
    "settings",
    "statistics",
    "passkeys",
    "playbooks",
)


@pytest.mark.requirement("P2")
async def test_what_is_not_chosen_whole_is_neither_signed_nor_asked_for(
    place: Place, tab: Tab
) -> None:
    short_id = await applied(place)
    stored = await newest(place, short_id)
    shown: list[str] = []
    place.windows.turn_on(shown.append)
    named = {"approval_id": stored.approval_id, "code": short_code(stored.digest)}
    whole: dict[str, Any] = {"keep": ["b.txt", "a.txt"], "hunks": {}}
    paths = (f"tasks/{short_id}/remind", f"approvals/{stored.approval_id}/options")
    chosen: dict[str, Any]
    for chosen in (
        {"keep": ["a.txt"]},
        {"keep": []},
        {"keep": ["a.txt", "b.txt", "c.txt"]},
        {"keep": {"a.txt": True}},
        {"keep": [{}, []]},
        {"keep": None},
        whole | {"hunks": {"a.txt": [0]}},
        whole | {"hunks": {"a.txt": []}},
    ):
        for path in paths:
            told = await tab.post(f"/api/{path}", named | chosen)
            assert (told.status, told.json["error"]["code"]) == (400, "approval.not-whole"), chosen
    other = await tab.post(f"/api/{paths[1]}", named | whole | {"code": "0000-0000"})
    assert other.json["error"]["code"] == "approval.digest-mismatch"
    assert not shown
    assert (await tab.act(f"/api/{paths[0]}", named | whole))["window"]
    told = await tab.post(f"/api/{paths[1]}", named | whole)
    assert told.json["error"]["code"] == "passkey.none"  # that was all that is missing


@pytest.mark.requirement("P6")
async def test_what_was_approved_stays_told_once_it_has_ended(place: Place, tab: Tab) -> None:
    task_id = await place.desk.ask("@dev run true x", workspace="shop")
    short_id = (await place.desk.task(task_id)).short_id
    asked = await place.desk.waiting(task_id)
    await place.desk.decide(asked)
    await place.desk.until(task_id, TaskState.COMPLETED)
    told = await tab.read(f"/api/tasks/{short_id}")
    approval, question = told["approval"], told["question"]
    assert (approval["approver"], approval["code"]) == ("terminal", asked.code)
    assert approval["decided_at"] > 0
    parts = [part for section in question["parts"] for part in section]
    assert [part["parts"] for part in parts if part["type"] == "lines"] == [["true", "x"]]
    (sandbox,) = [part for part in parts if part.get("kind") == "sandbox"]
    assert sandbox["values"][0]["text"]["en"] == "NOT SANDBOXED"


async def test_a_narrowed_change_is_told_as_what_is_left_of_it(place: Place, tab: Tab) -> None:
    short_id = await applied(place)
    before = (await tab.read(f"/api/tasks/{short_id}"))["task"]
    assert "2 files, +3 −1" in before["own"]
    stored = await newest(place, short_id)
    named = {"approval_id": stored.approval_id, "code": short_code(stored.digest)}
    chosen = named | {"keep": ["a.txt"], "hunks": {"a.txt": [1]}}
    await tab.act(f"/api/tasks/{short_id}/narrow", chosen)
    await place.desk.waiting(stored.task_id, older=stored.approval_id)
    task = (await tab.read(f"/api/tasks/{short_id}"))["task"]
    for text in (task["own"], task["proposed"]):
        assert "1 file, +1 −0" in text
        assert "2 files" not in text
        assert "b.txt" not in text


async def test_an_agent_that_says_nothing_more_has_not_answered(place: Place, tab: Tab) -> None:
    async def none(_request: Any) -> Any:
        return
        yield

    await place.desk.db.run(place.desk.db.journal.tasks.create, Wish(short_id="T-7K3F"), 1)
    operations: Any = type("Silent", (), {"answer": staticmethod(none)})()
    object.__setattr__(place.parts, "operations", operations)
    for told in (await tab.get("/api/status"), await tab.post("/api/ask", {"text": "x"})):
        assert (told.status, told.json["error"]["code"]) == (503, "agent.no-answer")
