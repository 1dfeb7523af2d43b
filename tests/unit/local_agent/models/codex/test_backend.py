"""The backend against a scripted program that misbehaves in every way it can."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from local_agent.errors import ModelError
from local_agent.models.backend import MAX_COMMANDS, ModelEvent, Refusal, Suggestion, Usage
from local_agent.models.codex import session
from local_agent.models.codex.backend import CodexBackend
from tests.codex_desk import KEY, FolderScratch, Heard, Scripted, new_backend, question

pytestmark = pytest.mark.heavy

SCHEMA = {"type": "object", "properties": {}, "additionalProperties": False, "required": []}
Starting = Callable[..., tuple[CodexBackend, Scripted]]


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"do": "text", "text": words, **more}


def change(*changes: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"do": "change", "changes": changes, **more}


def add(path: str, words: str = "new\n") -> dict[str, Any]:
    return {"op": "add", "path": path, "text": words}


def update(path: str, words: str, to: str | None = None) -> dict[str, Any]:
    return {"op": "update", "path": path, "text": words, "to": to}


HANG: dict[str, Any] = {"do": "hang"}


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Starting]:
    """Give a way to make a backend for a script; each is closed after the test."""
    made = []

    def starting(
        *turns: list[dict[str, Any]],
        script: dict[str, Any] | None = None,
        **facts: Any,
    ) -> tuple[CodexBackend, Scripted]:
        scripted = Scripted(tmp_path / "script", *turns, **(script or {}))
        made.append(new_backend(tmp_path / "codex", scripted.program, **facts))
        return made[-1], scripted

    yield starting
    for backend in made:
        await backend.aclose()
    assert not list((tmp_path / "codex").glob("*"))


@pytest.fixture
def scratch(tmp_path: Path) -> FolderScratch:
    root = tmp_path / "scratch"
    (root / ".git").mkdir(parents=True)
    (root / "app.py").write_text("old\n", encoding="utf-8")
    return FolderScratch(root)


def tree(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


async def code_of(asking: Any) -> str:
    with pytest.raises(ModelError) as failed:
        await asyncio.wait_for(asking, 30)
    return failed.value.code


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - of files there is no event to wait for
            await asyncio.sleep(0.01)


async def test_words_come_as_they_are_said_and_whole_at_the_end(start: Starting) -> None:
    backend, scripted = start(
        [text("First."), text("A sum was a difference."), {"do": "usage", "input": 7, "output": 3}]
    )
    heard = Heard()
    reply = await backend.ask(question(), heard)
    assert reply.text == "A sum was a difference."
    assert heard.text == "First.A sum was a difference."
    assert reply.usage == Usage(7, 3, 1)
    assert (reply.commands, reply.refused) == ((), ())
    assert ModelEvent("alive") in heard.events
    (thread,), (turn,) = scripted.sent("thread/start"), scripted.sent("turn/start")
    assert thread["developerInstructions"] == "Our rules."
    assert turn["input"] == [{"type": "text", "text": "Fix the sum."}]


async def test_each_question_has_a_thread_of_its_own_that_may_write_nothing(
    start: Starting, scratch: FolderScratch
) -> None:
    backend, scripted = start([text("done")])
    await backend.ask(question(), Heard())
    await backend.ask(question(want="edits", scratch=scratch), Heard())
    without, lent = scripted.sent("thread/start")
    for thread in (without, lent):
        assert thread["sandbox"] == "read-only"
        assert thread["approvalPolicy"] == "on-request"
        assert thread["approvalsReviewer"] == "user"
        assert thread["ephemeral"] is True
    for thread in (without, lent):
        assert not Path(thread["cwd"]).is_relative_to(scratch.root.parent)
        assert not Path(thread["cwd"]).exists()  # noqa: ASYNC240 - the turn is over


async def test_edits_that_build_on_each_other_are_made_in_the_copy(
    start: Starting, scratch: FolderScratch
) -> None:
    backend, _ = start(
        [
            change(update("app.py", "newer\n"), add("deep/er/new.py")),
            change(update("app.py", "newest\n", to="main.py")),
            change({"op": "delete", "path": "deep/er/new.py"}),
            text("Done."),
        ]
    )
    reply = await backend.ask(question(want="edits", scratch=scratch), Heard())
    assert (reply.text, reply.refused) == ("Done.", ())
    assert tree(scratch.root) == {"main.py": b"newest\n"}


OURS = ("script/", "codex/")  # what the scripted program itself is made of, and runs in
OUTSIDE = [
    ("/tmp/of-no-model", "scratch.outside", "/tmp/of-no-model"),
    ("../outside", "scratch.outside", "../outside"),
    ("link/new", "scratch.outside", "link/new"),
    (".git/config", "scratch.forbidden", ".git/config"),
]


@pytest.mark.requirement("R62")
@pytest.mark.parametrize(("path", "code", "told"), OUTSIDE)
async def test_an_edit_outside_of_the_copy_is_declined_and_not_made(
    start: Starting, scratch: FolderScratch, path: str, code: str, told: str
) -> None:
    (scratch.root / "link").symlink_to("..")
    backend, scripted = start(
        [change(add("fine.py"), add(path)), change(update("app.py", "x", to=path)), text("Sorry.")]
    )
    reply = await backend.ask(question(want="edits", scratch=scratch), Heard())
    assert reply.refused == (Refusal(told, code), Refusal(told, code))
    assert [answer["result"] for answer in scripted.answers] == [{"decision": "decline"}] * 2
    around = {
        name: body for name, body in tree(scratch.root.parent).items() if not name.startswith(OURS)
    }
    assert around == {"scratch/app.py": b"old\n"}
    assert not Path("/tmp/of-no-model").exists()  # noqa: ASYNC240 - nothing else is going on


@pytest.mark.requirement("R62")
@pytest.mark.parametrize(
    "step",
    [
        {"do": "ask", "method": "item/fileChange/requestApproval", "params": {"itemId": "none"}},
        change(add("a"), then="item/fileChange/patchUpdated"),
        change(add("a"), **{"with": {"grantRoot": "/"}}),
        change(add("a"), **{"with": {"itemId": "other"}}),
        change({"op": "link", "path": "a"}),
        change(),
    ],
)
async def test_an_edit_that_was_not_told_of_is_declined(
    start: Starting, scratch: FolderScratch, step: dict[str, Any]
) -> None:
    backend, scripted = start([step, text("Sorry.")])
    reply = await backend.ask(question(want="edits", scratch=scratch), Heard())
    assert len(reply.refused) == 1
    assert scripted.answers[-1]["result"] == {"decision": "decline"}
    assert tree(scratch.root) == {"app.py": b"old\n"}


@pytest.mark.requirement("R62")
async def test_of_two_edits_under_one_name_neither_is_made(
    start: Starting, scratch: FolderScratch, tmp_path: Path
) -> None:
    # The name comes from the provider; what is asked for by it could be the other one.
    outside = {"path": str(tmp_path / "outside"), "kind": {"type": "add"}, "diff": "new\n"}
    item = {"type": "fileChange", "id": "item_1", "changes": [outside]}
    told = {"do": "tell", "method": "item/started", "params": {"item": item}}
    backend, scripted = start([told, change(add("a")), text("Sorry.")])
    reply = await backend.ask(question(want="edits", scratch=scratch), Heard())
    assert [one.code for one in reply.refused] == ["scratch.unreadable"]
    assert scripted.answers[-1]["result"] == {"decision": "decline"}
    assert tree(scratch.root) == {"app.py": b"old\n"}


async def test_an_edit_that_the_program_could_not_make_is_told(
    start: Starting, scratch: FolderScratch
) -> None:
    backend, _ = start([change(add("a"), breaks=True), text("Hm.")])
    reply = await backend.ask(question(want="edits", scratch=scratch), Heard())
    assert reply.refused == (Refusal("a", "scratch.failed"),)


async def test_without_a_copy_every_edit_is_declined(start: Starting, tmp_path: Path) -> None:
    backend, scripted = start([change(add(str(tmp_path / "new"))), text("Sorry.")])
    reply = await backend.ask(question(), Heard())
    assert reply.refused == (Refusal(str(tmp_path / "new"), "scratch.forbidden"),)
    assert scripted.answers[-1]["result"] == {"decision": "decline"}
    assert not (tmp_path / "new").exists()


class Breaking(FolderScratch):
    """Cannot say what may be edited."""

    def inside(self, path: str | Path) -> str:
        raise PermissionError(13, "no", path)


async def test_where_nothing_can_be_judged_nothing_is_accepted(
    start: Starting, scratch: FolderScratch
) -> None:
    backend, _ = start([change(add("a")), text("Sorry.")])
    lent = Breaking(scratch.root)
    reply = await backend.ask(question(want="edits", scratch=lent), Heard())
    assert reply.refused == (Refusal("", "scratch.unreadable"),)
    assert tree(scratch.root) == {"app.py": b"old\n"}


@pytest.mark.requirement("R62")
async def test_a_command_is_declined_and_becomes_a_suggestion(start: Starting) -> None:
    method = "item/commandExecution/requestApproval"
    steps = [
        {"do": "ask", "method": method, "params": {"command": f"make {n}", "reason": "why"}}
        for n in range(MAX_COMMANDS + 2)
    ]
    backend, scripted = start([*steps, {"do": "ask", "method": method}, text("Run them.")])
    reply = await backend.ask(question(), Heard())
    assert len(reply.commands) == MAX_COMMANDS
    assert reply.commands[0] == Suggestion("make 0", "why")
    assert {json.dumps(answer["result"]) for answer in scripted.answers} == {
        '{"decision": "decline"}'
    }


@pytest.mark.requirement("R62")
async def test_nothing_else_that_the_program_asks_for_is_given(start: Starting) -> None:
    methods = (
        "item/tool/requestUserInput",
        "mcpServer/elicitation/request",
        "item/permissions/requestApproval",
        "item/tool/call",
        "account/chatgptAuthTokens/refresh",
        "attestation/generate",
        "applyPatchApproval",
        "execCommandApproval",
        "of/tomorrow",
    )
    backend, scripted = start([*({"do": "ask", "method": one} for one in methods), text("done")])
    assert (await backend.ask(question(), Heard())).text == "done"
    codes = [answer.get("error", {}).get("code") for answer in scripted.answers]
    assert dict(zip(methods, codes, strict=True)) == dict.fromkeys(methods, -32601)


async def test_what_is_asked_for_another_thread_is_refused(
    start: Starting, scratch: FolderScratch
) -> None:
    step = change(add("a"), **{"with": {"threadId": "of-somebody-else"}})
    backend, scripted = start([step, text("done")])
    await backend.ask(question(want="edits", scratch=scratch), Heard())
    assert scripted.answers[0]["error"]["code"] == -32601
    assert tree(scratch.root) == {"app.py": b"old\n"}


@pytest.mark.requirement("R62")
@pytest.mark.parametrize(
    "loosened",
    [
        {"approvalPolicy": "never"},
        {"approvalsReviewer": "auto_review"},
        {"sandbox": {"type": "workspaceWrite"}},
        {"sandbox": {"type": "readOnly", "networkAccess": True}},
        {"sandbox": "read-only"},
        {"instructionSources": ["/etc/codex/AGENTS.md"]},
    ],
)
async def test_a_program_that_is_not_locked_down_is_asked_nothing(
    start: Starting, loosened: dict[str, Any]
) -> None:
    backend, scripted = start([text("done")], script={"thread": loosened})
    with pytest.raises(ModelError) as refused:
        await backend.ask(question(), Heard())
    assert (refused.value.code, refused.value.facts["why"]) == ("model.program", "lockdown")
    assert scripted.sent("turn/start") == []


async def test_events_that_are_not_known_are_let_be(start: Starting) -> None:
    odd = [
        {"do": "tell", "method": "of/tomorrow", "params": {"x": [1.5, None]}},
        {"do": "tell", "method": "item/started", "params": {"item": 5}},
        {"do": "tell", "method": "item/completed", "params": {"item": {"type": "new"}}},
        {"do": "tell", "method": "item/agentMessage/delta", "params": {"delta": 5}},
        {"do": "tell", "method": "thread/tokenUsage/updated", "params": {"tokenUsage": "much"}},
        {"do": "raw", "line": '{"method":"no/thread"}'},
        {"do": "raw", "line": '{"id":999,"result":{}}'},
    ]
    backend, _ = start([*odd, text("done")])
    reply = await backend.ask(question(), Heard())
    assert (reply.text, reply.usage) == ("done", Usage())


@pytest.mark.parametrize("line", ["not json", "[]", '{"method":"x","method":"y"}', ""])
async def test_a_line_that_cannot_be_read_ends_the_program(start: Starting, line: str) -> None:
    backend, scripted = start([{"do": "raw", "line": line}, HANG], [text("done")])
    assert await code_of(backend.ask(question(), Heard())) == "model.ended"
    assert (await backend.ask(question(), Heard())).text == "done"
    assert len(scripted.starts) == 2


@pytest.mark.requirement("R62")
async def test_a_line_of_fifty_megabytes_is_too_much(start: Starting) -> None:
    long = {"do": "raw", "line": "x" * 1000, "times": 50_000}
    backend, _ = start([long], [text("done")])
    assert await code_of(backend.ask(question(), Heard())) == "model.too-large"
    assert (await backend.ask(question(), Heard())).text == "done"


@pytest.mark.requirement("R62")
async def test_an_answer_without_end_is_cut_off(start: Starting) -> None:
    pieces = [
        {"do": "tell", "method": "item/agentMessage/delta", "params": {"delta": "x" * 900_000}}
        for _ in range(5)
    ]
    backend, scripted = start([*pieces, HANG], [text("done")])
    heard = Heard()
    assert await code_of(backend.ask(question(), heard)) == "model.too-large"
    assert len(heard.text) == 3_600_000
    assert (await backend.ask(question(), Heard())).text == "done"
    assert len(scripted.sent("turn/interrupt")) == 1


async def test_edits_count_as_part_of_the_answer(start: Starting, scratch: FolderScratch) -> None:
    large = [change(add(name, "x" * 1_500_000)) for name in "abc"]
    backend, _ = start([*large, text("done")])
    asking = backend.ask(question(want="edits", scratch=scratch), Heard())
    assert await code_of(asking) == "model.too-large"
    assert set(tree(scratch.root)) == {"app.py", "a", "b"}


async def test_a_hang_is_interrupted_and_the_program_stays(start: Starting) -> None:
    backend, scripted = start([text("half"), HANG], [text("done")], idle_s=0.3)
    assert await code_of(backend.ask(question(), Heard())) == "model.stalled"
    assert (await backend.ask(question(), Heard())).text == "done"
    assert (len(scripted.sent("turn/interrupt")), len(scripted.starts)) == (1, 1)


async def test_a_program_that_will_not_be_interrupted_is_ended(start: Starting) -> None:
    backend, scripted = start([{"do": "hang", "deaf": True}], [text("done")], idle_s=0.3)
    assert await code_of(backend.ask(question(), Heard())) == "model.stalled"
    assert (await backend.ask(question(), Heard())).text == "done"
    assert len(scripted.starts) == 2


async def test_a_turn_ends_at_its_deadline_however_lively_it_is(start: Starting) -> None:
    backend, _ = start([HANG], deadline_s=0.6)
    assert await code_of(backend.ask(question(), Heard())) == "model.deadline"


async def test_a_crash_is_told_and_the_next_question_gets_a_new_program(start: Starting) -> None:
    backend, scripted = start([text("half"), {"do": "crash"}], [text("done")])
    assert await code_of(backend.ask(question(), Heard())) == "model.ended"
    assert (await backend.ask(question(), Heard())).text == "done"
    assert len(scripted.starts) == 2


@pytest.mark.requirement("R44")
@pytest.mark.thorough
async def test_who_clings_to_life_is_killed_with_all_that_it_started(
    start: Starting, tmp_path: Path
) -> None:
    tells = tmp_path / "pid"
    backend, _ = start([{"do": "cling", "tells": str(tells)}])
    asking = asyncio.ensure_future(backend.ask(question(), Heard()))
    await until(lambda: tells.exists() and tells.read_text(encoding="utf-8") != "")
    grandchild = psutil.Process(int(tells.read_text(encoding="utf-8")))
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(asking, 30)
    assert not grandchild.is_running()


async def test_cancelling_interrupts_the_model(
    start: Starting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "STOP_S", 30.0)  # a busy machine is not a deaf program
    backend, scripted = start([text("half"), HANG], [text("done")])
    heard = Heard()
    asking = asyncio.ensure_future(backend.ask(question(), heard))
    await until(lambda: bool(heard.text))  # by then it is known which turn to interrupt
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert (await backend.ask(question(), Heard())).text == "done"
    assert len(scripted.starts) == 1


class Slow(FolderScratch):
    """Takes its time to say what may be edited."""

    asked = threading.Event()
    goes_on = threading.Event()

    def inside(self, path: str | Path) -> str:
        self.asked.set()
        assert self.goes_on.wait(30)
        return super().inside(path)


@pytest.mark.requirement("R62")
async def test_an_edit_that_is_judged_when_the_task_is_cancelled_is_not_made(
    start: Starting, scratch: FolderScratch
) -> None:
    backend, scripted = start([change(add("a")), HANG])
    slow = Slow(scratch.root)
    asking = asyncio.ensure_future(backend.ask(question(want="edits", scratch=slow), Heard()))
    assert await asyncio.to_thread(slow.asked.wait, 5)
    asking.cancel()
    await asyncio.sleep(0)
    slow.goes_on.set()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert {"decision": "accept"} not in [answer.get("result") for answer in scripted.answers]
    assert tree(scratch.root) == {"app.py": b"old\n"}


async def test_an_approval_that_is_open_when_the_backend_closes_is_not_given(
    start: Starting, scratch: FolderScratch
) -> None:
    never = {"do": "ask", "method": "item/tool/call"}
    backend, scripted = start([change(add("a"), **{"with": {"itemId": "other"}}), never, HANG])
    asking = asyncio.ensure_future(backend.ask(question(want="edits", scratch=scratch), Heard()))
    await until(lambda: len(scripted.answers) == 2)
    asking.cancel()
    await backend.aclose()
    assert tree(scratch.root) == {"app.py": b"old\n"}
    assert await code_of(backend.ask(question(), Heard())) == "model.ended"


async def test_an_answer_without_words_and_without_edits_is_none(
    start: Starting, scratch: FolderScratch
) -> None:
    backend, _ = start([], [text(" \n")], [change(add("a"))])
    assert await code_of(backend.ask(question(), Heard())) == "model.answer"
    assert await code_of(backend.ask(question(), Heard())) == "model.answer"
    reply = await backend.ask(question(want="edits", scratch=scratch), Heard())
    assert (reply.text, reply.refused) == ("", ())


async def test_two_turns_at_once_each_get_their_own(
    start: Starting, scratch: FolderScratch, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    waits = {"do": "ask", "method": "item/tool/call"}
    backend, scripted = start(
        [waits, change(add("one")), text("first")], [waits, change(add("two")), text("second")]
    )
    heard = Heard(), Heard()
    replies = await asyncio.gather(
        backend.ask(question(want="edits", scratch=scratch), heard[0]),
        backend.ask(question(want="edits", scratch=FolderScratch(other)), heard[1]),
    )
    assert {reply.text for reply in replies} == {"first", "second"}
    assert [one.text for one in heard] == [reply.text for reply in replies]
    made = [set(tree(scratch.root)) - {"app.py"}, set(tree(other))]
    assert made == [{"one"}, {"two"}] or made == [{"two"}, {"one"}]
    assert len(scripted.starts) == 1


async def test_a_program_is_replaced_after_some_turns(start: Starting) -> None:
    backend, scripted = start([text("done")], max_turns=2)
    for _ in range(3):
        assert (await backend.ask(question(), Heard())).text == "done"
    assert len(scripted.starts) == 2


async def test_a_program_that_is_replaced_ends_with_its_last_turn(start: Starting) -> None:
    backend, scripted = start([text("done")], max_turns=1)
    replies = await asyncio.gather(*(backend.ask(question(), Heard()) for _ in range(3)))
    assert [reply.text for reply in replies] == ["done"] * 3
    assert len(scripted.starts) == 3


async def test_a_program_that_nobody_needs_is_ended(start: Starting, tmp_path: Path) -> None:
    backend, scripted = start([text("done")], unused_s=0.05)
    await backend.ask(question(), Heard())
    await until(lambda: not list((tmp_path / "codex").iterdir()))
    await backend.ask(question(), Heard())
    assert len(scripted.starts) == 2


async def test_another_version_is_not_started(start: Starting) -> None:
    backend, scripted = start([text("done")], script={"version": "codex-cli 0.170.1"})
    with pytest.raises(ModelError) as refused:
        await backend.ask(question(), Heard())
    assert refused.value.facts["why"] == "version"
    assert scripted.starts == []


async def test_a_program_in_a_workspace_is_not_started(start: Starting, tmp_path: Path) -> None:
    backend, scripted = start([text("done")], workspaces=[tmp_path])
    with pytest.raises(ModelError) as refused:
        await backend.ask(question(), Heard())
    assert refused.value.facts["why"] == "workspace"
    assert scripted.starts == []


async def test_a_program_that_will_not_begin_is_told_with_its_own_words(start: Starting) -> None:
    backend, _ = start([], script={"refuses": ["initialize"], "complains": f"no such key {KEY}"})
    with pytest.raises(ModelError) as refused:
        await backend.ask(question(), Heard())
    assert refused.value.code == "model.program"
    assert KEY not in str(refused.value)
    assert refused.value.facts["why"] == "said"


@pytest.mark.parametrize("method", ["thread/start", "turn/start"])
async def test_a_refused_request_fails_the_question_alone(start: Starting, method: str) -> None:
    backend, _ = start([text("done")], script={"refuses": [method]})
    with pytest.raises(ModelError) as refused:
        await backend.ask(question(), Heard())
    assert (refused.value.code, refused.value.facts["said"]) == (
        "model.program",
        "scripted refusal",
    )


async def test_a_turn_that_fails_is_told_by_its_own_name(start: Starting) -> None:
    error = {"message": f"bad key {KEY}", "codexErrorInfo": "unauthorized"}
    backend, _ = start([{"do": "fail", "error": error}], [text("done")])
    with pytest.raises(ModelError) as failed:
        await backend.ask(question(), Heard())
    assert failed.value.code == "model.key"
    assert KEY not in str(failed.value)
    assert (await backend.ask(question(), Heard())).text == "done"


@pytest.mark.requirement("R43")
async def test_the_key_is_in_the_environment_of_the_program_and_nowhere_else(
    start: Starting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OF_THE_AGENT", "x")
    backend, scripted = start([text("done")])
    await backend.ask(question(), Heard())
    (env,) = scripted.starts
    assert env.pop("CODEXBRIDGE_MODEL_KEY") == KEY
    assert set(env) - {"LC_CTYPE", "PWD"} == {"PATH", "LANG", "HOME", "CODEX_HOME", "TMPDIR"}
    files = [file for file in (tmp_path / "codex").rglob("*") if file.is_file()]
    assert any(file.name == "config.toml" for file in files)
    assert all(KEY.encode() not in file.read_bytes() for file in files)


async def test_what_a_killed_agent_has_left_is_removed(start: Starting, tmp_path: Path) -> None:
    left = tmp_path / "codex/run-of-yesterday/codex"
    left.mkdir(parents=True)
    backend, _ = start([text("done")])
    await backend.ask(question(), Heard())
    assert not left.exists()
    assert (tmp_path / "codex").stat().st_mode & 0o777 == 0o700


async def test_who_fails_to_listen_is_not_left_waiting(
    start: Starting, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: ModelEvent) -> None:
        raise ValueError("of the reader")

    backend, _ = start([text("done")])
    assert await code_of(backend.ask(question(), fail)) == "model.ended"
    assert "codex client failed" in caplog.text
    assert (await backend.ask(question(), Heard())).text == "done"


async def test_closing_ends_what_is_running(start: Starting) -> None:
    backend, scripted = start([HANG])
    asking = asyncio.ensure_future(backend.ask(question(), Heard()))
    await until(lambda: bool(scripted.sent("turn/start")))
    await asyncio.wait_for(backend.aclose(), 30)
    assert await code_of(asking) == "model.ended"


async def test_json_is_asked_for_by_its_schema(start: Starting) -> None:
    backend, scripted = start([text('{"kind": "change", "sure": 0.9}')])
    reply = await backend.ask(question(want="json", schema=SCHEMA), Heard())
    assert json.loads(reply.text) == {"kind": "change", "sure": 0.9}
    assert scripted.sent("turn/start")[0]["outputSchema"] == SCHEMA


async def test_what_is_no_json_is_asked_for_once_more(start: Starting) -> None:
    backend, scripted = start([text("Sure!")], [text("```json\n{}\n```")], [text("Sure!")])
    assert (await backend.ask(question(want="json", schema=SCHEMA), Heard())).text == "{}"
    first, second = scripted.sent("turn/start")
    assert first["threadId"] == second["threadId"]
    assert await code_of(backend.ask(question(want="json", schema=SCHEMA), Heard())) == (
        "model.answer"
    )
    assert len(scripted.sent("turn/start")) == 4


async def test_a_check_tells_model_version_and_time(start: Starting) -> None:
    backend, _ = start([text("ready")])
    health = await backend.check()
    assert (health.model, health.version) == ("acme-coder-9", "0.169.0")
    assert health.latency_ms >= 0
    assert backend.name == "scripted"
