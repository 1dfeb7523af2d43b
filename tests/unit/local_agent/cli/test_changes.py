"""The commands about changes: apply, diff, undo, approve with files, show, over the real socket."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

import codexbridge
from common.clock import ManualClock, SystemClock
from common.errors import InputError, StateError
from common.home import Home
from common.seal import short_code
from local_agent.actions.run_command.payload import SealedCopy
from local_agent.workspace.registry import Registry
from tests.asked import PATCH, a_change, told
from tests.sealed import a_payload, a_seal
from tests.unit.local_agent.cli.conftest import TASK, AgentDouble
from tests.unit.local_agent.cli.terminal import in_front, reads

pytestmark = pytest.mark.heavy

Captured = pytest.CaptureFixture[str]
WAITING = TASK | {"source": "local_ui", "proposed": "Proposed: 4 files."}
CHANGE: dict[str, Any] = {
    "code": None,
    "drift": [],
    "undoes": None,
    "files": [
        {"op": "modify", "path": "login.py", "old_path": "login.py"},
        {"op": "rename", "path": "tools/新.sh", "old_path": "old\u202e.sh"},
    ],
}
DONE = TASK | {"state": "COMPLETED", "reason": "completed", "summary": "done", "change": CHANGE}


def an_approval(**changes: Any) -> dict[str, Any]:
    return told(a_change(clock=ManualClock(SystemClock().now().wall_ms)), **changes)


def holds(agent: AgentDouble, diff: bytes) -> None:
    """Let the agent have this diff for every task."""
    pieces = [diff[start : start + 100] for start in range(0, len(diff), 100)]
    agent.events["diff"] = [{"diff": base64.b64encode(piece).decode()} for piece in pieces]
    agent.answers["diff"] = {"bytes": len(diff), "sha256": hashlib.sha256(diff).hexdigest()}
    agent.answers.setdefault("show", {"task": TASK, "approval": None})


# -- apply -----------------------------------------------------------------------------------


def test_apply_sends_the_exact_bytes_and_says_what_waits(
    agent: AgentDouble, tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "fix.diff"
    file.write_bytes(PATCH)
    agent.answers["apply"] = {"task": WAITING}
    assert codexbridge.main(["apply", str(file)]) == 0
    assert "codexbridge approve T-7K3F" in capsys.readouterr().out
    (sent,) = agent.asked
    assert sent.body == PATCH
    assert sent.args == {"name": "fix.diff", "lang": "en", "workspace": ""}


def test_apply_reads_standard_input_and_names_the_workspace(
    agent: AgentDouble, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(PATCH), encoding="utf-8"))
    agent.answers["apply"] = {"task": WAITING}
    assert codexbridge.main(["apply", "-", "--workspace", "shop", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["short_id"] == "T-7K3F"
    assert agent.args_of("apply") == {"name": "stdin", "lang": "en", "workspace": "shop"}


def test_the_workspace_of_the_current_folder_is_meant(
    agent: AgentDouble, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "shop" / "src"
    folder.mkdir(parents=True)
    (tmp_path / "fix.diff").write_bytes(PATCH)
    Registry(home, home=Path.home()).add(tmp_path / "shop", confirmed=())
    monkeypatch.chdir(folder)
    agent.answers["apply"] = {"task": WAITING}
    assert codexbridge.main(["apply", str(tmp_path / "fix.diff")]) == 0
    assert agent.args_of("apply")["workspace"] == "shop"


@pytest.mark.requirement("R32")
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_diff_that_cannot_be_read_is_refused_in_one_line_and_not_sent(
    agent: AgentDouble,
    tmp_path: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
    lang: str,
) -> None:
    monkeypatch.setenv("CODEXBRIDGE_LANG", lang)
    file = tmp_path / "fix.diff"
    for bad in (b"", b"hello\n", PATCH.replace(b"100755", b"120000"), b"x" * 2_000_001):
        file.write_bytes(bad)
        assert codexbridge.main(["apply", str(file)]) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "internal" not in said
        assert "wrong inside" not in said
    assert agent.asked == []
    assert codexbridge.main(["apply", str(tmp_path / "none.diff")]) == 1


# -- diff ------------------------------------------------------------------------------------


def test_diff_shows_every_line_with_nothing_hidden(agent: AgentDouble, capsys: Captured) -> None:
    holds(agent, PATCH.replace(b"hello", "hel\u202elo".encode()))
    assert codexbridge.main(["diff", "t-7k3f"]) == 0
    out = capsys.readouterr().out
    assert "2 │+    retry = 5" in out
    assert "hel⟨U+202E⟩lo" in out
    assert agent.args_of("diff") == {"task": "T-7K3F"}


def test_the_raw_diff_is_byte_for_byte(
    agent: AgentDouble, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    latin = PATCH.replace(b"hello", b"h\xe9llo\r")
    holds(agent, latin)
    assert codexbridge.main(["diff", "T-7K3F", "--raw"]) == 0
    assert capfdbinary.readouterr().out == latin


@pytest.mark.requirement("R26")
def test_raw_bytes_are_not_written_to_a_terminal(agent: AgentDouble) -> None:
    holds(agent, PATCH)
    with in_front("diff", "T-7K3F", "--raw") as screen:
        assert "retry" not in reads(screen, "FILE")


def test_diff_for_programs_tells_the_files(agent: AgentDouble, capsys: Captured) -> None:
    holds(agent, PATCH)
    assert codexbridge.main(["diff", "T-7K3F", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["diff"].encode() == PATCH
    assert [(file["op"], file["added"], file["removed"]) for file in found["files"]] == [
        ("modify", 2, 1),
        ("add", 1, 0),
        ("rename", 0, 0),
        ("delete", 0, 2),
    ]


def test_a_task_without_a_diff_is_told(agent: AgentDouble, capsys: Captured) -> None:
    agent.answers["diff"] = StateError("diff.none", task="T-7K3F")
    assert codexbridge.main(["diff", "T-7K3F"]) == 1
    assert "changes no file" in capsys.readouterr().err


# -- undo ------------------------------------------------------------------------------------


def test_undo_asks_for_all_of_it_or_for_some_files(agent: AgentDouble, capsys: Captured) -> None:
    agent.answers["undo"] = {"task": WAITING}
    assert codexbridge.main(["undo", "T-7K3F"]) == 0
    assert "codexbridge approve" in capsys.readouterr().out
    assert agent.args_of("undo") == {"task": "T-7K3F", "only": [], "lang": "en"}
    assert codexbridge.main(["undo", "7k3f", "--only", "a b", "c", "--only", "d", "--json"]) == 0
    assert agent.args_of("undo")["only"] == ["a b", "c", "d"]


def test_an_undo_that_is_refused_is_exit_code_1(agent: AgentDouble, capsys: Captured) -> None:
    refused = TASK | {"state": "REJECTED", "reason": "refused", "summary": "it changed since"}
    agent.answers["undo"] = {"task": refused}
    assert codexbridge.main(["undo", "T-7K3F"]) == 1
    assert "it changed since" in capsys.readouterr().out


# -- approve and show ------------------------------------------------------------------------


@pytest.mark.requirement("P5")
@pytest.mark.parametrize(
    ("left", "said"),
    [
        (["login.py", "tools/新.sh"], "Can be undone for 90 days"),
        (["login.py"], "1 of 2 files can still be undone"),
        ([], "Taken back since"),
    ],
)
def test_show_says_what_can_still_be_undone(
    agent: AgentDouble, capsys: Captured, left: list[str], said: str
) -> None:
    agent.answers["show"] = {"task": DONE | {"left_to_undo": left}, "approval": None}
    assert codexbridge.main(["show", "T-7K3F"]) == 0
    out = capsys.readouterr().out
    assert said in out
    assert ("codexbridge undo T-7K3F" in out) == bool(left)


@pytest.mark.requirement("P2")
@pytest.mark.requirement("R25")
def test_approve_shows_the_diff_that_was_sealed(agent: AgentDouble) -> None:
    agent.answers["show"] = {"task": TASK, "approval": (approval := an_approval())}
    agent.answers["follow"] = {"task": DONE}
    holds(agent, PATCH)
    with in_front("approve", "T-7K3F") as screen:
        shown = reads(screen, "Code for T-7K3F: ")
        assert "2 │+    retry = 5" in re.sub(r"\x1b\[[0-9;]*m", "", shown)
        code = re.search(r"([0-9A-Z]{4})-[0-9A-Z]{4}", shown)
        assert code
        os.write(screen, code[1].encode() + b"\n")
        ended = reads(screen, "Can be undone")
        assert "login.py" in ended
    assert agent.args_of("decide")["digest"] == approval["digest"]


@pytest.mark.requirement("P2")
@pytest.mark.requirement("R24")
def test_another_diff_than_was_sealed_is_not_asked_about(agent: AgentDouble) -> None:
    agent.answers["show"] = {"task": TASK, "approval": an_approval()}
    holds(agent, PATCH.replace(b"retry = 5", b"retry = 9"))
    with in_front("approve", "T-7K3F") as screen:
        assert "Code for" not in reads(screen, "not what waits now")
    assert all(asked.op != "decide" for asked in agent.asked)


def test_some_files_alone_are_asked_for_before_anything_is_shown(agent: AgentDouble) -> None:
    first, narrowed = an_approval(), an_approval(text="narrowed")
    agent.answers["show"] = {"task": TASK, "approval": first}
    agent.answers["narrow"] = {"task": TASK, "approval": narrowed}
    holds(agent, PATCH)
    with in_front("approve", "T-7K3F", "--only", "login.py", "gone.txt") as screen:
        assert "narrowed" in reads(screen, "Code for T-7K3F: ")
        os.write(screen, b"\n")
        reads(screen, "stays waiting")
    sent = agent.args_of("narrow")
    assert (sent["digest"], sent["keep"]) == (first["digest"], ["login.py", "gone.txt"])


def test_files_that_are_not_in_the_change_are_told(agent: AgentDouble) -> None:
    agent.answers["show"] = {"task": TASK, "approval": an_approval()}
    agent.answers["narrow"] = InputError("approval.narrow", path="other.py")
    with in_front("approve", "T-7K3F", "--only", "other.py") as screen:
        assert "Code for" not in reads(screen, "name some of the files")


def test_a_question_that_ended_while_it_was_looked_at_is_told(agent: AgentDouble) -> None:
    gone = an_approval(state="superseded")
    ended = TASK | {"reason": "drifted", "summary": "login.py has changed\nand much more"}
    agent.answers["refresh"] = {"task": ended, "approval": gone}
    with in_front("approve", "T-7K3F") as screen:
        told = reads(screen, "no longer waits: login.py has changed\r\n")
    assert "Code for" not in told


def test_show_prints_the_whole_question_of_a_change(agent: AgentDouble, capsys: Captured) -> None:
    agent.answers["show"] = {"task": TASK, "approval": an_approval()}
    holds(agent, PATCH)
    assert codexbridge.main(["show", "T-7K3F"]) == 0
    out = capsys.readouterr().out
    assert "Apply this change on build-1?" in out
    assert "2 │+    retry = 5" in out


@pytest.mark.requirement("P5")
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_show_tells_what_a_change_did_and_that_it_can_be_undone(
    agent: AgentDouble, capsys: Captured, monkeypatch: pytest.MonkeyPatch, lang: str
) -> None:
    monkeypatch.setenv("CODEXBRIDGE_LANG", lang)
    agent.answers["show"] = {"task": DONE, "approval": an_approval(state="consumed")}
    assert codexbridge.main(["show", "T-7K3F"]) == 0
    out = capsys.readouterr().out
    assert "login.py" in out
    assert "tools/新.sh" in out
    assert "old⟨U+202E⟩.sh" in out
    assert "codexbridge undo T-7K3F" in out


@pytest.mark.parametrize("reason", ["failed", "drifted", "unknown"])
def test_what_was_not_carried_out_whole_is_not_offered_for_undo(
    agent: AgentDouble, capsys: Captured, reason: str
) -> None:
    ended = DONE | {"state": "FAILED", "reason": reason}
    agent.answers["show"] = {"task": ended, "approval": an_approval(state="consumed")}
    assert codexbridge.main(["show", "T-7K3F"]) == 0
    assert "codexbridge undo" not in capsys.readouterr().out


@pytest.mark.requirement("P5", "P7")
def test_what_some_of_several_steps_changed_is_told_though_a_later_one_failed(
    agent: AgentDouble, capsys: Captured
) -> None:
    ended = DONE | {"state": "FAILED", "reason": "failed", "left_to_undo": ["login.py"]}
    agent.answers["show"] = {"task": ended, "approval": an_approval(state="consumed")}
    assert codexbridge.main(["show", "T-7K3F"]) == 0
    out = capsys.readouterr().out
    assert "login.py" in out
    assert "codexbridge undo T-7K3F" in out


def test_of_many_changed_files_the_rest_is_counted(agent: AgentDouble, capsys: Captured) -> None:
    files = [{"op": "add", "path": f"f{n}", "old_path": None} for n in range(25)]
    agent.events["follow"] = []
    agent.answers["apply"] = {"task": DONE | {"change": CHANGE | {"files": files}}}
    agent.answers["undo"] = agent.answers["apply"]
    assert codexbridge.main(["undo", "T-7K3F"]) == 0
    out = capsys.readouterr().out
    assert "5 more" in out
    assert "f24" not in out


# -- tried out first -------------------------------------------------------------------------


@pytest.mark.requirement("P1")
def test_a_check_is_approved_by_itself_and_the_change_is_shown_again(agent: AgentDouble) -> None:
    change, check = an_approval(), a_check()
    passed = {"task": "T-9999", "state": "passed", "exit_code": 0, "duration_ms": 1200}
    agent.answers["show"] = {"task": TASK, "approval": change | {"check": passed}}
    agent.answers["check"] = {"task": TASK | {"short_id": "T-9999"}, "approval": check}
    agent.answers["follow"] = {"task": DONE}
    holds(agent, PATCH)
    with in_front("approve", "T-7K3F", "--check") as screen:
        shown = reads(screen, "Code for T-9999: ")
        assert "Try the change of T-7K3F out" in shown
        os.write(screen, short_code(check["digest"]).encode() + b"\n")
        shown = reads(screen, "Code for T-7K3F: ")
        assert "passed on a copy" in " ".join(shown.split())
        os.write(screen, short_code(change["digest"]).encode() + b"\n")
        reads(screen, "Can be undone")
    decided = [asked.args["digest"] for asked in agent.asked if asked.op == "decide"]
    assert decided == [check["digest"], change["digest"]]
    assert agent.args_of("check") == {
        "approval_id": change["approval_id"],
        "digest": change["digest"],
    }


@pytest.mark.requirement("P1")
def test_a_check_that_is_not_approved_ends_it_there(agent: AgentDouble) -> None:
    agent.answers["show"] = {"task": TASK, "approval": an_approval()}
    agent.answers["check"] = {"task": TASK | {"short_id": "T-9999"}, "approval": a_check()}
    holds(agent, PATCH)
    with in_front("approve", "T-7K3F", "--check") as screen:
        reads(screen, "Code for T-9999: ")
        os.write(screen, b"\n")
        reads(screen, "stays waiting")
    assert all(asked.op != "decide" for asked in agent.asked)


def test_why_nothing_can_be_tried_out_is_told(agent: AgentDouble) -> None:
    agent.answers["show"] = {"task": TASK, "approval": an_approval()}
    agent.answers["check"] = StateError("check.not-sandboxed")
    with in_front("approve", "T-7K3F", "--check") as screen:
        assert "Code for" not in reads(screen, "bubblewrap sandbox")


def a_check() -> dict[str, Any]:
    clock = ManualClock(SystemClock().now().wall_ms)
    copied = a_payload(copy=SealedCopy("approval-1", "T-7K3F", "0" * 64))
    return told(a_seal(clock, short_id="T-9999", payload=copied), short_id="T-9999")
