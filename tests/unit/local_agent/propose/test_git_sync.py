"""A wish to push becomes a proposal with paths and counts, or a truthful no."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from common.diff.parse import parse_diff
from common.errors import InputError
from common.model.intent import TaskIntent, TaskKind
from common.model.proposal import DiffFileSummary, GitSync, LocalApproval, NoRequirement
from common.seal import Op, SealedChange, SealedCommit
from local_agent.propose.base import CHAT_ROWS, Asked
from local_agent.propose.git_sync import GitSyncProposer, find_message
from local_agent.workspace.git.changes import FileChange
from local_agent.workspace.git.preflight import SyncPlan, Upstream
from local_agent.workspace.git.remote_url import read_url
from local_agent.workspace.registry import Workspace

SHOP = Workspace(name="shop", path=Path("/w/shop"))
DIFF = b"--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n-1\n+2\n+secret line\n"
UPSTREAM = Upstream("origin", read_url("/srv/x.git"), "refs/heads/main", None, None)
PUSH_ONLY = SyncPlan(branch="main", head="1" * 40, upstream=UPSTREAM, ahead=2)


def a_change(path: str, op: Op = "modify", size: int = 3) -> FileChange:
    facts = dict.fromkeys(("old_path", "old_sha256", "old_mode", "new_sha256", "new_mode"))
    return FileChange(SealedChange(op=op, path=path, size=size, **facts), b"")


def a_plan(*changes: FileChange, ahead: int = 0) -> SyncPlan:
    commit = SealedCommit(
        message="fix it",
        tree="2" * 40,
        author="Zhang",
        email="z@example.com",
        diff_sha256="0" * 64,
        changes=tuple(change.sealed for change in changes),
    )
    return replace(
        PUSH_ONLY,
        ahead=ahead,
        commit=commit,
        changes=changes,
        diff=DIFF,
        model=parse_diff(DIFF),
    )


class Planned:
    """Gives one plan, or raises; keeps the messages that it was asked with."""

    def __init__(self, found: SyncPlan | InputError) -> None:
        self.found = found
        self.messages: list[str | None] = []

    async def __call__(self, workspace: Workspace, message: str | None) -> SyncPlan:
        assert workspace is SHOP
        self.messages.append(message)
        if isinstance(self.found, InputError):
            raise self.found
        return self.found


def asked(**changes: Any) -> Asked:
    intent = TaskIntent(kind=TaskKind.GIT_SYNC, confidence=1, summary="s")
    request = Asked(task_id="t", intent=intent, text="commit and push", lang="en", workspace=SHOP)
    return replace(request, **changes)


async def test_a_commit_and_push_is_proposed_with_paths_and_counts_alone() -> None:
    plan = Planned(a_plan(a_change("a.py"), a_change("logo.png", "add", 9), ahead=3))
    proposed = await GitSyncProposer(plan).propose(asked(text="commit and push: fix it"))
    assert plan.messages == ["fix it"]
    assert proposed.proposal == GitSync(
        message="fix it",
        files=(
            DiffFileSummary(path="a.py", additions=2, deletions=1),
            DiffFileSummary(path="logo.png", additions=0, deletions=0),
        ),
    )
    assert proposed.requires == LocalApproval(action="git_sync")
    assert not proposed.not_done
    assert "M a.py +2 −1" in proposed.summary
    assert "A logo.png" in proposed.summary
    assert "3 earlier commits" in proposed.summary
    assert "secret line" not in proposed.summary + (proposed.details or "")


async def test_a_push_alone_is_said_to_be_one() -> None:
    proposed = await GitSyncProposer(Planned(PUSH_ONLY)).propose(asked())
    assert proposed.proposal == GitSync()
    assert proposed.requires == LocalApproval(action="git_sync")
    assert "2 commits" in proposed.summary


async def test_many_files_are_counted_in_the_chat_and_listed_here() -> None:
    changes = [a_change(f"{number}.py") for number in range(CHAT_ROWS + 2)]
    proposed = await GitSyncProposer(Planned(a_plan(*changes))).propose(asked(lang="zh"))
    assert "16.py" not in proposed.summary
    assert "2 个文件" in proposed.summary
    assert "16.py" in (proposed.details or "")


@pytest.mark.requirement("P7")
@pytest.mark.parametrize("code", ["sync.nothing-to-do", "sync.behind", "diff.refused"])
async def test_what_cannot_be_done_is_told_and_not_proposed(code: str) -> None:
    proposed = await GitSyncProposer(Planned(InputError(code, count=2))).propose(asked())
    assert proposed.not_done
    assert proposed.requires == NoRequirement()
    assert proposed.summary


async def test_without_a_workspace_nothing_is_looked_up() -> None:
    plan = Planned(PUSH_ONLY)
    proposed = await GitSyncProposer(plan).propose(asked(workspace=None))
    assert (proposed.not_done, plan.messages) == (True, [])


async def test_another_failure_is_the_engines_to_tell() -> None:
    with pytest.raises(InputError):
        await GitSyncProposer(Planned(InputError("path.missing"))).propose(asked())


@pytest.mark.parametrize(
    ("text", "is_message", "message"),
    [
        ("commit and push", False, None),
        ("commit and push: fix: the login", False, "fix: the login"),
        ("提交并推送：修复登录", False, "修复登录"),
        ('commit "fix it" and push', False, "fix it"),
        ("commit and push with the message fix it", False, "fix it"),
        ("sync to https://github.com/zhang/shop", False, None),
        ("fix the login", True, "fix the login"),
        ('"fix the login"', True, "fix the login"),
        ("“修复登录”", True, "修复登录"),
        ('say "hello"', True, 'say "hello"'),
        (": fix it", True, "fix it"),
        ("with message fix it", True, "fix it"),
        ("", True, None),
    ],
)
def test_the_message_is_what_was_quoted_or_follows_a_colon(
    text: str, is_message: bool, message: str | None
) -> None:
    assert find_message(text, is_message=is_message) == message
