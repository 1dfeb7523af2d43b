"""The main job through real processes, from an independent callback to the chat."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.place import CODE, Place, Terminal


def runs(workspace: Path) -> int:
    """How often the test command ran."""
    marks = workspace / "ran.txt"
    return len(marks.read_text(encoding="utf-8").splitlines()) if marks.exists() else 0


@pytest.mark.requirement("MJ-2")
@pytest.mark.requirement("P1")
@pytest.mark.requirement("P7")
@pytest.mark.requirement("NL-8.3")
@pytest.mark.requirement("NL-10")
@pytest.mark.requirement("NL-12.4")
def test_a_message_becomes_an_approval_a_run_and_a_summary(running: Place, workspace: Path) -> None:
    assert running.callback("@dev test") == 200
    waiting = running.waiting()
    short_id = waiting["short_id"]
    told = running.hears(short_id, "waiting for local approval on dev-1")
    assert runs(workspace) == 0

    shown = running.approve(short_id)
    assert "zhangwei" in shown
    assert "count.sh" in shown
    code = CODE.search(shown)
    assert code
    assert code[0] in told, "the chat shows the same fingerprint as the machine"

    ended = running.final(short_id)
    assert (ended["state"], ended["reason"]) == ("COMPLETED", "completed")
    summary = running.hears(f"{short_id} ✓", "1 passed")
    over = running.hears(f"{short_id} · dev-1", "completed")
    assert sorted(text for text in running.chat() if "sent to" not in text) == sorted(
        (over, summary)
    ), "a short task is told twice, after at most the receipt that a slow machine gets"
    assert len(summary.encode()) <= 2048
    assert runs(workspace) == 1
    (task,) = running.gateway_tasks()
    assert (task["short_id"], task["state"]) == (short_id, "COMPLETED")


@pytest.mark.requirement("R46")
@pytest.mark.requirement("R55")
def test_what_a_run_did_is_told_at_the_machine_in_its_language(
    running: Place, workspace: Path
) -> None:
    (workspace / "count.sh").write_text(
        "seq 1 9999; rm login.py; ln -s /usr out\n", encoding="utf-8"
    )
    running.callback("@dev 测试")
    short_id = running.waiting()["short_id"]
    for shown in (running.approve(short_id), running.run("show", short_id).stdout):
        assert "`sh count.sh` succeeded" in shown
        assert "2 files in the workspace changed while it ran: 1 new, 1 deleted" in shown
        assert "symbolic link" in shown
        assert f"before this; codexbridge show {short_id} --log" in shown
    assert "成功" in running.hears(short_id, "9999")
    assert all("login.py" not in told for told in running.chat())
    log = running.run("show", short_id, "--log").stdout
    assert log.split() == [str(number) for number in range(1, 10_000)]


def test_a_rejection_with_its_reason_reaches_the_chat(running: Place, workspace: Path) -> None:
    running.callback("@dev 跑一下测试")
    short_id = running.waiting()["short_id"]
    running.run("reject", short_id, "--reason", "明天再跑")
    assert running.final(short_id)["reason"] == "rejected"
    running.hears(short_id, "明天再跑")
    assert runs(workspace) == 0


@pytest.mark.requirement("R30")
def test_approving_without_a_terminal_is_refused(running: Place, workspace: Path) -> None:
    running.callback("@dev test")
    short_id = running.waiting()["short_id"]
    done = running.run("approve", short_id, stdin="7K3F\n", check=False)
    assert done.returncode == 2
    assert running.waiting()["short_id"] == short_id
    assert runs(workspace) == 0


@pytest.mark.requirement("R22")
def test_a_wrong_code_and_a_closed_terminal_decide_nothing(running: Place, workspace: Path) -> None:
    running.callback("@dev test")
    short_id = running.waiting()["short_id"]
    with Terminal(running.environ, "approve", short_id) as terminal:
        shown = terminal.read_until(":", "：", after=CODE)
        code = CODE.search(shown)
        assert code
        terminal.type("0000" if code[1] != "0000" else "1111")
        terminal.shown = ""
    assert running.waiting()["short_id"] == short_id
    assert runs(workspace) == 0


def test_help_status_search_and_review_answer_in_the_chat(running: Place, workspace: Path) -> None:
    running.callback("@dev help")
    running.hears("@dev test")
    running.callback("@dev status")
    running.hears("dev-1")
    running.callback("@dev search retry")
    found = running.hears("login.py")
    assert "retry = 3" not in found, "paths and counts only, until disclosure levels exist"
    running.callback("@dev fix the login retry")
    running.hears("– refused on dev-1", "model is configured")
    assert runs(workspace) == 0


def test_a_failing_command_is_told_as_failed_with_its_exit_code(
    running: Place, workspace: Path
) -> None:
    (workspace / "count.sh").write_text("echo boom >&2; exit 3\n", encoding="utf-8")
    running.callback("@dev test")
    short_id = running.waiting()["short_id"]
    running.approve(short_id)
    assert running.final(short_id)["reason"] == "failed"
    running.hears(short_id, "3", "boom")


@pytest.mark.requirement("R24")
@pytest.mark.requirement("P2")
def test_a_command_that_changed_after_it_was_shown_is_not_run(
    running: Place, workspace: Path
) -> None:
    script = workspace / "tool.sh"
    script.write_text("#!/bin/sh\necho first\n", encoding="utf-8")
    script.chmod(0o755)
    running.callback('@dev test --cmd="./tool.sh"')
    short_id = running.waiting()["short_id"]
    with Terminal(running.environ, "approve", short_id) as terminal:
        code = CODE.search(terminal.read_until(":", "：", after=CODE))
        assert code
        script.write_text("#!/bin/sh\necho run >> ran.txt\n", encoding="utf-8")
        terminal.type(code[0])
        terminal.read_to_end()
    assert running.final(short_id)["reason"] == "drifted"
    assert runs(workspace) == 0
    running.hears(short_id, "Changed since it was shown")


def test_a_request_from_the_terminal_takes_the_same_way(running: Place, workspace: Path) -> None:
    with Terminal(running.environ, "ask", "@dev test") as terminal:
        short_id = running.waiting()["short_id"]
        running.approve(short_id)
        assert running.final(short_id)["reason"] == "completed"
        terminal.read_to_end()
    assert runs(workspace) == 1
    assert running.gateway_tasks() == [], "what was asked here is nobody else's business"
