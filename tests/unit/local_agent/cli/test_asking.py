"""The commands that ask the running agent: tasks, show, ask, approve, reject, cancel, status."""

from __future__ import annotations

import io
import json
import os
import re
from typing import Any

import pytest

import codexbridge
from common.clock import ManualClock, SystemClock
from common.errors import StateError, UnavailableError
from common.home import Home
from common.model.state import Reason, final_of
from common.seal import digest, short_code
from common.sentences import Lang, Sentence, say
from common.terminal import Ink
from local_agent.actions.registry import seal_bytes
from local_agent.cli import decide, show, status, tasks
from local_agent.cli.screen import Screen
from local_agent.views import from_json
from local_agent.views.task import ListedTask
from local_agent.words import DISCLOSURES, REASONS
from tests.each import each
from tests.sealed import a_payload, a_seal
from tests.unit.local_agent.cli.conftest import TASK, AgentDouble, filled
from tests.unit.local_agent.cli.terminal import in_front, reads

pytestmark = pytest.mark.heavy

ENDED = TASK | {"state": "COMPLETED", "reason": "completed", "summary": "5 passed"}


def an_approval(**changes: Any) -> dict[str, Any]:
    clock = ManualClock(SystemClock().now().wall_ms)
    seal = a_seal(clock, payload=changes.pop("payload", None) or a_payload())
    raw = seal_bytes(seal)
    told: dict[str, Any] = {
        "approval_id": seal.approval_id,
        "short_id": "T-7K3F",
        "digest": digest(raw),
        "seal": raw.decode(),
        "state": "pending",
        "risk": "normal",
        "reasons": [],
        "blocked": "",
        "expires_at": seal.expires_at,
        "text": "@dev test",
        "machine": "build-1",
        "workspace": "shop",
    }
    return told | changes


def a_workspace(policy: str, **blamed: str) -> dict[str, Any]:
    standing = {"state": policy, "code": None, "file": None, "key": None} | blamed
    return {"name": "shop", "path": "/w/shop", "default": True, "policy": standing}


def a_status(**changes: Any) -> dict[str, Any]:
    gateway = {"url": "https://gw.example", "state": "connected", "why": "", "since_ms": 0}
    status: dict[str, Any] = {
        "machine": "build-1",
        "gateway": gateway | {"retry_s": 0, "skew_s": 0} | changes.pop("gateway", {}),
        "key_storage": "keyring:SecretService",
        "audit": {"entries": 12, "gateway_keeps": 9, "forked_at": None},
        "workspaces": [a_workspace("none")],
        "stray_policies": [],
        "sandbox": "bubblewrap",
        "sandbox_reason": "sandbox.ok",
        "windows": {"state": "on", "why": ""},
        "open_tasks": 1,
        "approvals": [],
    }
    return status | changes


Captured = pytest.CaptureFixture[str]


def test_tasks_are_listed_with_who_asked_and_the_time_left(
    agent: AgentDouble, capsys: Captured
) -> None:
    soon = SystemClock().now().wall_ms + 3_600_500
    agent.answers["tasks"] = {
        "tasks": [TASK | {"expires_at": soon}, ENDED | {"source": "local_ui"}]
    }
    assert codexbridge.main(["tasks", "--all"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.split()[0] == "T-7K3F"
    assert "zhangwei" in first
    assert re.search(r"1 h 0 min left|59 min left", first)
    assert "this machine" in second
    assert agent.args_of("tasks") == {"all": True, "limit": 100}


def test_a_cut_list_says_how_to_see_more(agent: AgentDouble, capsys: Captured) -> None:
    agent.answers["tasks"] = {"tasks": [TASK], "more": True}
    assert codexbridge.main(["tasks", "--all", "--limit", "1"]) == 0
    assert "--limit" in capsys.readouterr().out.splitlines()[-1]
    assert agent.args_of("tasks") == {"all": True, "limit": 1}
    assert codexbridge.main(["tasks", "--limit", "201"]) == 2
    assert codexbridge.main(["tasks", "--limit", "0"]) == 2


def test_every_end_is_listed_with_its_reason(agent: AgentDouble, capsys: Captured) -> None:
    ends = [TASK | {"state": final_of(end)[0].value, "reason": end.value} for end in Reason]
    agent.answers["tasks"] = {"tasks": ends, "more": False}
    assert codexbridge.main(["tasks", "--all"]) == 0
    lines = capsys.readouterr().out.splitlines()
    for end, line in zip(Reason, lines, strict=True):
        assert REASONS[end.value].en in line


def test_without_tasks_that_is_said(agent: AgentDouble, capsys: Captured) -> None:
    agent.answers["tasks"] = {"tasks": []}
    assert codexbridge.main(["tasks"]) == 0
    assert capsys.readouterr().out == tasks.NO_TASKS.en + "\n"
    assert codexbridge.main(["tasks", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_another_persons_words_cannot_draw_on_the_terminal(
    agent: AgentDouble, capsys: Captured
) -> None:
    hostile = TASK | {
        "text": "\x1b[2Jx\u202ey\nz",
        "claimed_user": "a\x1b]0;t\x07",
        "summary": "\x1b[A",
    }
    agent.answers["tasks"] = {"tasks": [hostile]}
    agent.answers["show"] = {"task": hostile, "approval": None}
    agent.answers["cancel"] = {}
    for arguments in (["tasks"], ["show", "T-7K3F"]):
        assert codexbridge.main(arguments) == 0
        out = capsys.readouterr().out
        assert all(line.isprintable() for line in out.splitlines())


@pytest.mark.requirement("R26")
def test_json_holds_nothing_that_a_terminal_obeys(agent: AgentDouble, capsys: Captured) -> None:
    hostile = TASK | {"text": "\x1b[2J\x9b2J\x7f\u202e\u200b\u3000\U000e0041测试 é"}
    agent.answers["tasks"] = {"tasks": [hostile]}
    assert codexbridge.main(["tasks", "--json"]) == 0
    out = capsys.readouterr().out
    assert all(line.isprintable() for line in out.splitlines())
    assert "测试 é" in out
    assert json.loads(out) == [filled(ListedTask, hostile)]


def test_show_prints_what_would_run_and_asks_nothing(agent: AgentDouble, capsys: Captured) -> None:
    approval = an_approval()
    agent.answers["show"] = {"task": TASK, "approval": approval}
    assert codexbridge.main(["show", "t7k3f"]) == 0
    out = capsys.readouterr().out
    assert "0 │ pytest" in out
    assert "codexbridge approve T-7K3F" in out
    assert agent.args_of("show") == {"task": "T-7K3F"}
    assert codexbridge.main(["show", "T-7K3F", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["approval"]["digest"] == approval["digest"]


@pytest.mark.requirement("P7")
@pytest.mark.parametrize(
    ("state", "approver", "told"),
    [
        ("consumed", "desktop", "approved at this machine (window), 2023-"),
        ("rejected", "terminal", "rejected at this machine (terminal), 2023-"),
        ("consumed", "dry-run", "not by a person"),
    ],
)
def test_show_says_who_decided_and_when(
    agent: AgentDouble, capsys: Captured, state: str, approver: str, told: str
) -> None:
    decided = an_approval(state=state) | {"approver": approver, "decided_at": 1_700_000_000_000}
    agent.answers["show"] = {"task": ENDED, "approval": decided}
    assert codexbridge.main(["show", "T-7K3F"]) == 0
    out = capsys.readouterr().out
    assert told in out
    assert "0 │ pytest" in out
    assert say(show.DECIDED_ON, "en", code=short_code(decided["digest"])) in out
    sandbox = next(line for line in out.splitlines() if "Sandbox" in line)
    assert "can change this workspace" in sandbox


@pytest.mark.parametrize("approval", [None, an_approval(state="expired")])
def test_show_of_what_does_not_wait_is_the_task(
    agent: AgentDouble, capsys: Captured, approval: dict[str, Any] | None
) -> None:
    agent.answers["show"] = {"task": ENDED | {"workspace": "shop"}, "approval": approval}
    assert codexbridge.main(["show", "T-7K3F"]) == 0
    out = capsys.readouterr().out
    assert "5 passed" in out
    assert "shop" in out


def test_show_has_the_whole_of_an_answer_that_the_chat_was_told_in_part(
    agent: AgentDouble, capsys: Captured
) -> None:
    task = ENDED | {"details": "The model says:\nIt retries.\u202e\n    retry = 3"}
    agent.answers["show"] = {"task": task, "approval": None}
    assert codexbridge.main(["show", "T-7K3F"]) == 0
    out = capsys.readouterr().out
    assert show.HERE_ALONE.en in out
    assert "It retries.⟨U+202E⟩\n" in out
    assert "    retry = 3" in out
    agent.answers["show"] = {"task": ENDED | {"details": ENDED["summary"]}, "approval": None}
    assert codexbridge.main(["show", "T-7K3F"]) == 0
    assert show.HERE_ALONE.en not in capsys.readouterr().out


def test_a_word_that_is_no_task_id_is_one_line_and_exit_code_2(
    agent: AgentDouble, capsys: Captured
) -> None:
    for arguments in (["show", "nonsense!"], ["cancel", "T-7"], ["reject", "…"]):
        assert codexbridge.main(arguments) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert agent.asked == []


def test_ask_follows_to_the_answer(agent: AgentDouble, capsys: Captured) -> None:
    agent.events["ask"] = [
        {"type": "task_start", "intent": {"confidence": 0.9}},
        {"type": "task_state", "state": "ROUTED"},
        {"type": "task_state", "state": "EXECUTING", "message": "still running"},
    ]
    agent.answers["ask"] = {"task": ENDED}
    assert codexbridge.main(["ask", "测试", "--workspace", "shop"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines() == [
        "understood",
        "still running",
        "T-7K3F  completed",
        "5 passed",
    ]
    assert agent.args_of("ask") == {"text": "测试", "lang": "zh", "workspace": "shop"}


@pytest.mark.parametrize("rest", ["", "\na.py +1 −0\nb.py +2 −0"])
def test_what_is_proposed_is_told_once(agent: AgentDouble, capsys: Captured, rest: str) -> None:
    said = f"Proposed: two files.{rest}"
    agent.events["ask"] = [{"type": "task_state", "state": "PROPOSAL_READY", "message": said}]
    agent.answers["ask"] = {"task": TASK | {"proposed": said}}
    assert codexbridge.main(["ask", "test"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"{said}\n")
    assert out.count("two files") == 1
    assert out.count("a.py") == bool(rest)


def test_ask_that_needs_a_person_says_how_to_approve(agent: AgentDouble, capsys: Captured) -> None:
    agent.answers["ask"] = {"task": TASK}
    assert codexbridge.main(["ask", "test"]) == 0
    assert "codexbridge approve T-7K3F" in capsys.readouterr().out
    assert codexbridge.main(["ask", "test", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "WAITING_APPROVAL"


@each("words", [("ask", "test"), ("apply", "T-7K3F"), ("undo", "T-7K3F"), ("retry", "T-7K3F")])
@each("ended", [("FAILED", "failed"), ("REJECTED", "refused"), ("FAILED", "drifted")])
def test_a_task_that_failed_is_exit_code_1_with_json_too(
    agent: AgentDouble, words: tuple[str, ...], ended: tuple[str, str]
) -> None:
    task = TASK | {"state": ended[0], "reason": ended[1]}
    agent.answers |= {name: {"task": task} for name in ("ask", "want", "undo", "retry", "show")}
    assert codexbridge.main([*words]) == 1
    assert codexbridge.main([*words, "--json"]) == 1


def test_undo_takes_the_files_that_follow(agent: AgentDouble) -> None:
    agent.answers["undo"] = {"task": TASK}
    assert codexbridge.main(["undo", "T-7K3F", "a.py", "--only", "b.py"]) == 0
    assert agent.args_of("undo")["only"] == ["a.py", "b.py"]


def test_reject_sends_the_digest_and_the_reason(agent: AgentDouble) -> None:
    approval = an_approval()
    agent.answers["show"] = {"task": TASK, "approval": approval}
    assert codexbridge.main(["reject", "T-7K3F", "--reason", "明天"]) == 0
    sent = agent.args_of("decide")
    assert (sent["decision"], sent["reason"], sent["typed"]) == ("reject", "明天", "")
    assert sent["digest"] == approval["digest"]


def test_cancel_names_the_task(agent: AgentDouble) -> None:
    assert codexbridge.main(["cancel", "＃t-7k3f。"]) == 0
    assert agent.args_of("cancel") == {"task": "T-7K3F"}
    agent.answers["cancel"] = StateError("task.over", task="T-7K3F")
    assert codexbridge.main(["cancel", "T-7K3F"]) == 1


@pytest.mark.parametrize(("command", "op"), [("approve", "refresh"), ("reject", "show")])
def test_without_an_id_the_only_waiting_one_is_meant(
    agent: AgentDouble, capsys: Captured, command: str, op: str
) -> None:
    agent.answers["tasks"] = {"tasks": [TASK | {"state": "ROUTED", "short_id": "T-0000"}, TASK]}
    agent.answers["show"] = {"task": TASK, "approval": an_approval()}
    codexbridge.main([command])
    assert agent.args_of(op) == {"task": "T-7K3F"}
    agent.answers["tasks"] = {"tasks": [TASK, TASK | {"short_id": "T-0001"}]}
    capsys.readouterr()
    assert codexbridge.main([command]) == 2
    said = capsys.readouterr()
    assert "T-0001" in said.out
    assert said.err.count("\n") == 1


@pytest.mark.parametrize(("typed", "ended"), [("y", 0), ("", 1), ("no", 1)])
def test_the_only_waiting_one_is_shown_and_rejected_once_that_is_meant(
    agent: AgentDouble, monkeypatch: pytest.MonkeyPatch, capsys: Captured, typed: str, ended: int
) -> None:
    agent.answers["tasks"] = {"tasks": [TASK]}
    agent.answers["show"] = {"task": TASK, "approval": an_approval(text="@dev run make clean")}
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert codexbridge.main(["reject"]) == 2, "nobody is there to be asked"
    monkeypatch.setattr(decide, "at_keyboard", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{typed}\n"))
    assert codexbridge.main(["reject"]) == ended
    assert "T-7K3F: @dev run make clean\n" in capsys.readouterr().out
    assert any(asked.op == "decide" for asked in agent.asked) is (ended == 0)


def test_nothing_to_reject_is_said(agent: AgentDouble, capsys: Captured) -> None:
    agent.answers["tasks"] = {"tasks": []}
    assert codexbridge.main(["reject"]) == 1
    assert capsys.readouterr().out == decide.NONE_WAITS.en + "\n"


@pytest.mark.parametrize("command", ["approve", "reject"])
def test_what_does_not_wait_cannot_be_decided(agent: AgentDouble, command: str) -> None:
    for approval in (None, an_approval(state="consumed")):
        agent.answers["show"] = {"task": ENDED, "approval": approval}
        assert codexbridge.main([command, "T-7K3F"]) == 1  # as `cancel` of what ended


@pytest.mark.requirement("R30")
def test_approve_without_a_terminal_is_refused_with_2(
    agent: AgentDouble, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    agent.answers["show"] = {"task": TASK, "approval": (approval := an_approval())}
    monkeypatch.setattr("sys.stdin", io.StringIO(approval["digest"][:4] + "\n"))
    assert codexbridge.main(["approve", "T-7K3F"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert all(asked.op != "decide" for asked in agent.asked)


@pytest.mark.requirement("R30")
@pytest.mark.requirement("R25")
def test_approve_shows_all_takes_the_code_and_follows_to_the_end(agent: AgentDouble) -> None:
    agent.answers["show"] = {"task": TASK, "approval": (approval := an_approval())}
    agent.events["follow"] = [{"type": "task_state", "state": "EXECUTING"}]
    agent.answers["follow"] = {"task": ENDED}
    with in_front("approve", "T-7K3F") as screen:
        shown = reads(screen, "Code for T-7K3F: ")
        assert "0 │ " in shown
        code = re.search(r"([0-9A-Z]{4})-[0-9A-Z]{4}", shown)
        assert code
        os.write(screen, b"0000\n")
        reads(screen, "Code for T-7K3F: ")
        assert all(asked.op != "decide" for asked in agent.asked), "a wrong code is not even sent"
        os.write(screen, code[1].encode() + b"\n")
        assert "completed" in reads(screen, "5 passed")
    sent = agent.args_of("decide")
    assert (sent["decision"], sent["typed"]) == ("approve", code[1])
    assert sent["digest"] == approval["digest"]


@pytest.mark.requirement("P1")
@pytest.mark.parametrize("keys", [b"\n", b"\x04", b"\x03"])
def test_leaving_decides_nothing(agent: AgentDouble, keys: bytes) -> None:
    agent.answers["show"] = {"task": TASK, "approval": an_approval()}
    with in_front("approve", "T-7K3F") as screen:
        reads(screen, "Code for T-7K3F: ")
        os.write(screen, keys)
        reads(screen, "stays waiting, .*left")
    assert all(asked.op != "decide" for asked in agent.asked)


@pytest.mark.requirement("P2")
def test_bytes_that_do_not_fit_their_digest_are_not_asked_about(
    agent: AgentDouble,
) -> None:
    agent.answers["show"] = {"task": TASK, "approval": an_approval(digest="0" * 64)}
    with in_front("approve", "T-7K3F") as screen:
        assert "Code for" not in reads(screen, "not what waits now")


def test_while_nothing_can_be_approved_nothing_is_asked(agent: AgentDouble) -> None:
    blocked = an_approval(blocked="unsandboxed-runs")
    agent.answers["show"] = {"task": TASK, "approval": blocked}
    with in_front("approve", "T-7K3F") as screen:
        assert "Code for" not in reads(screen, "an unsandboxed command is running")


def test_what_the_agent_refuses_is_told_in_one_line(agent: AgentDouble) -> None:
    agent.answers["show"] = {"task": TASK, "approval": an_approval()}
    agent.answers["decide"] = StateError("approval.expired")
    with in_front("approve", "T-7K3F") as screen:
        shown = reads(screen, "Code for T-7K3F: ")
        code = re.search(r"([0-9A-Z]{4})-[0-9A-Z]{4}", shown)
        assert code
        os.write(screen, code[1].encode() + b"\n")
        reads(screen, "has expired")


def test_status_is_one_screen(agent: AgentDouble, capsys: Captured) -> None:
    until = SystemClock().now().wall_ms + 90_500
    agent.answers["status"] = a_status(approvals=[TASK | {"expires_at": until, "risk": "high"}])
    assert codexbridge.main(["status"]) == 0
    out = capsys.readouterr().out
    for expected in ("build-1", "https://gw.example", "/w/shop", "bubblewrap", "1 min left"):
        assert expected in out
    assert codexbridge.main(["status", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["running"], told["connected"], told["clock_skew_seconds"]) == (True, True, None)


@pytest.mark.requirement("R53")
@pytest.mark.parametrize("level", ["summary", "ask", "full"])
def test_status_tells_what_the_chat_may_be_told(
    agent: AgentDouble, capsys: Captured, level: str
) -> None:
    shop = a_workspace("none") | {"disclosure": level}
    agent.answers["status"] = a_status(workspaces=[shop])
    assert codexbridge.main(["status"]) == 0
    assert DISCLOSURES[level].en in capsys.readouterr().out


@pytest.mark.requirement("MJ-8")
@pytest.mark.parametrize(
    ("gateway", "expected"),
    [
        ({"state": "unpaired", "url": None}, "codexbridge pair"),
        ({"state": "connecting"}, "connecting"),
        ({"state": "refused", "why": "auth", "retry_s": 7}, "does not admit"),
        ({"state": "refused", "why": "sequence-gap", "retry_s": 7}, "pair this machine again"),
        ({"state": "clock", "skew_s": 3600}, "3600"),
        ({"state": "waiting", "why": "connect", "retry_s": 7}, "nothing answers"),
        ({"state": "waiting", "why": "tls", "retry_s": 7}, "certificate"),
        ({"state": "waiting", "why": "new-reason", "retry_s": 7}, "7 s"),
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_connection_is_told_plainly(
    agent: AgentDouble,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    gateway: dict[str, Any],
    expected: str,
    lang: str,
) -> None:
    monkeypatch.setenv("CODEXBRIDGE_LANG", lang)
    agent.answers["status"] = a_status(gateway=gateway)
    assert codexbridge.main(["status"]) == 0
    out = capsys.readouterr().out
    assert lang == "zh" or expected in out
    assert "?" not in out


@pytest.mark.requirement("R60")
def test_a_key_in_a_file_and_a_missing_sandbox_are_told(
    agent: AgentDouble, capsys: Captured
) -> None:
    agent.answers["status"] = a_status(key_storage="file", sandbox="none", workspaces=[])
    assert codexbridge.main(["status"]) == 0
    out = capsys.readouterr().out
    assert "keyring" in out
    assert "NOT SANDBOXED" in out
    assert "workspace add" in out


def test_status_without_an_agent_is_exit_code_3(home: Home, capsys: Captured) -> None:
    assert codexbridge.main(["status", "--json"]) == 3
    said = capsys.readouterr()
    assert json.loads(said.out) == {"running": False}
    assert "codexbridge init" in said.err, "nothing is set up here"
    home.state.mkdir()
    assert codexbridge.main(["status"]) == 3
    assert "codexbridge agent" in capsys.readouterr().err


def test_an_agent_that_cannot_answer_is_exit_code_1(agent: AgentDouble) -> None:
    agent.answers["status"] = UnavailableError("store.failed", why="disk")
    assert codexbridge.main(["status"]) == 1


def test_a_proposal_that_was_told_on_the_way_is_not_told_twice(
    agent: AgentDouble, capsys: Captured
) -> None:
    agent.events["ask"] = [
        {"type": "task_state", "state": "WAITING_APPROVAL", "message": "Proposed: `pytest -q`."}
    ]
    agent.answers["ask"] = {"task": TASK | {"proposed": "Proposed: `pytest -q`."}}
    assert codexbridge.main(["ask", "test"]) == 0
    assert capsys.readouterr().out.count("Proposed: `pytest -q`.") == 1


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    ("state", "why", "sentence"),
    [
        ("on", "", status.ASKS_BOTH),
        ("looking", "", status.ASKS_LOOKING),
        *(("off", why, sentence) for why, sentence in status.NO_WINDOWS.items()),
    ],
)
def test_status_tells_where_questions_are_asked(
    agent: AgentDouble,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    lang: Lang,
    state: str,
    why: str,
    sentence: Sentence,
) -> None:
    monkeypatch.setenv("CODEXBRIDGE_LANG", lang)
    agent.answers["status"] = a_status(windows={"state": state, "why": why})
    assert codexbridge.main(["status"]) == 0
    assert say(sentence, lang) in capsys.readouterr().out


def test_status_tells_how_the_policies_stand(agent: AgentDouble, capsys: Captured) -> None:
    broken = a_workspace("broken", code="policy.value", file="policies/shop.toml", key="max_files")
    agent.answers["status"] = a_status(
        workspaces=[broken, a_workspace("in-force")], stray_policies=["policies/nosuch.toml"]
    )
    assert codexbridge.main(["status"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert any("BROKEN (policies/shop.toml, max_files)" in row for row in rows)
    assert any(row.endswith("policy: yes") for row in rows)
    assert any("policies/nosuch.toml" in row for row in rows)


def test_on_a_narrow_terminal_what_was_asked_has_a_line(capsys: Captured) -> None:
    listed = from_json(ListedTask, filled(ListedTask, TASK | {"text": "@dev search for retry"}))
    for width, live, between in ((50, True, "\n  "), (100, True, "  "), (70, False, "  ")):
        tasks.print_tasks(Screen("en", Ink(on=False), width, live), [listed])
        assert f"zhangwei{between}@dev search" in capsys.readouterr().out, "a pipe has one line"
