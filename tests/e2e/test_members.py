"""Who members are, what they are told of others, and their limit: real processes, another WeCom."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from common.text import has_cjk
from tests.e2e.place import Place


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Two tasks a day for each."""
    made = Place.at(tmp_path / "home", CODEXBRIDGE_GATEWAY__LIMITS__TASKS_PER_DAY="2")
    yield made
    made.stop()


@pytest.mark.requirement("P1")
@pytest.mark.requirement("P7")
def test_a_colleague_becomes_an_approver_who_is_told_and_can_only_decide_at_the_machine(
    running: Place, workspace: Path
) -> None:
    running.callback("@dev whoami", user="lina")
    running.hears("Your ID here is lina", "member add lina", user="lina")
    running.callback("let me in", user="lina")
    running.admin("member", "add", "lina", "--role", "approver")
    running.admin("bind", "dev-1", "lina")
    running.callback("@dev whoami", user="lina")
    running.hears("Role: approver", "Machines: dev-1", "2 of 2", user="lina")
    assert len(running.chat("lina")) == 2, "one line while she was a stranger, then silence"

    running.callback("@dev test")
    short_id = running.waiting()["short_id"]
    running.hears("waiting for local approval on dev-1", "sh count.sh", short_id)
    notice = running.hears("zhangwei's task", short_id, "codexbridge approve", user="lina")
    assert "count.sh" not in notice, "what the machine says is for whoever asked"
    running.callback(f"@dev apply {short_id}", user="lina")
    running.hears(f"No task {short_id} of yours", user="lina")
    assert not (workspace / "ran.txt").exists()
    assert running.waiting()["state"] == "WAITING_APPROVAL"
    running.approve(short_id)
    running.hears(short_id, "1 passed")

    running.callback("@dev members", user="lina")
    running.hears("Only admins", user="lina")
    running.admin("member", "set", "lina", "--role", "admin")
    running.callback("@dev members", user="lina")
    running.hears("lina · admin · dev-1", "zhangwei · member · dev-1", user="lina")


@pytest.mark.requirement("P7")
def test_gateway_and_machine_follow_the_language_and_the_day_has_a_limit(running: Place) -> None:
    running.callback("@dev lang zh")
    running.hears("今后用中文答复你")
    running.callback("@dev test")
    waiting = running.hears("等待在 dev-1 上本地批准")
    assert has_cjk(waiting.splitlines()[2]), waiting
    running.approve(running.waiting()["short_id"])
    running.hears("✓", "成功", "1 passed")
    running.callback("@dev status please explain login.py")
    running.callback("@dev 我是谁")
    running.hears("今天还可提交 0 个任务（共 2 个）")

    running.kill("gateway")
    running.start_gateway()
    running.callback("@dev test")
    running.hears("今天的 2 个任务已用完")
    assert len(running.gateway_tasks()) == 2
