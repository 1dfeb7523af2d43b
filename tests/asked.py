"""Approvals of changes, undo and pushes, as the agent tells them to a dialog."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from common.clock import ManualClock
from common.diff.model import FileDiff
from common.diff.parse import parse_diff
from common.seal import Mode, Seal, SealedChange, SealedCommit, digest
from local_agent.actions.changes.payload import change_payload, undo_payload
from local_agent.actions.git_sync.payload import SyncStep, sync_payload
from local_agent.actions.registry import seal_bytes
from local_agent.cards import question as questions
from local_agent.faces.control import tasks
from local_agent.faces.control.tasks import listed_task
from local_agent.store.tasks import Task
from local_agent.store.turns import StoredTurn
from local_agent.views import from_json, to_json
from local_agent.views.question import ApprovalView, Question
from tests.sealed import ZEROS, a_seal

PATCH = """\
diff --git a/login.py b/login.py
--- a/login.py
+++ b/login.py
@@ -1,3 +1,4 @@ def login():
 def login():
-    retry = 3
+    retry = 5
+    wait = 1
     return retry
diff --git a/notes/新.md b/notes/新.md
new file mode 100644
--- /dev/null
+++ b/notes/新.md
@@ -0,0 +1 @@
+hello
\\ No newline at end of file
diff --git a/old.sh b/tools/new.sh
old mode 100644
new mode 100755
rename from old.sh
rename to tools/new.sh
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-one
-two
""".encode()
OID = "1a2b3c4d5e6f" + "0" * 28
USUAL: dict[str, Any] = {
    "approval_id": "approval-1",
    "short_id": "T-7K3F",
    "blocked": "",
    "expires_at": 0,
    "can_narrow": False,
    "can_check": False,
}


def sealed_changes(patch: bytes) -> tuple[SealedChange, ...]:
    """Return what a seal says of each file of a patch; the hashes are made up."""
    return tuple(_sealed(file) for file in parse_diff(patch).files)


def a_change(patch: bytes = PATCH, **changes: Any) -> Seal:
    """Return the seal of a change."""
    payload = change_payload(_name(patch), sealed_changes(patch))
    return _seal("apply_diff", payload, **{"undo": "yes"} | changes)


def an_undo(patch: bytes = PATCH, **changes: Any) -> Seal:
    """Return the seal of an undo; the patch is the reverse change."""
    payload = undo_payload(
        _name(patch), sealed_changes(patch), approval_id="approval-0", short_id="T-0AB1"
    )
    return _seal("undo", payload, **{"undo": "yes"} | changes)


def a_sync(patch: bytes | None = PATCH, **changes: Any) -> Seal:
    """Return the seal of a commit and push; of a push alone when there is no patch."""
    commit = _commit(patch) if patch is not None else None
    steps = [SyncStep("check", "read-only")]
    if commit is not None:
        steps += [SyncStep("add", "local-write"), SyncStep("commit", "local-write")]
    facts: dict[str, Any] = {
        "branch": "main",
        "remote": "origin",
        "url": "https://git.example.com/shop/api.git",
        "ref": "refs/heads/main",
        "remote_oid": OID,
        "head": OID,
        "ahead": 1,
        "behind": 0,
        "commit": commit,
        "steps": [*steps, SyncStep("push", "remote-write")],
        "timeout_s": 120,
    }
    payload = sync_payload(**facts | changes)
    return _seal("git_sync", payload, undo="no")


def told(seal: Seal, **changes: Any) -> dict[str, Any]:
    """Return what the agent tells of a seal."""
    raw = seal_bytes(seal)
    shown: dict[str, Any] = {
        "approval_id": seal.approval_id,
        "short_id": seal.short_id,
        "digest": digest(raw),
        "seal": raw.decode(),
        "state": "pending",
        "risk": "normal",
        "reasons": [],
        "blocked": "",
        "expires_at": seal.expires_at,
        "text": "@dev patch fix.diff",
        "machine": "build-1",
        "workspace": "shop",
    }
    return shown | changes


def read_question(told: ApprovalView | Mapping[str, Any], *, diff: bytes | None = None) -> Question:
    """Return the question of what the agent told; what every approval has stands in by default."""
    if not isinstance(told, ApprovalView):
        told = from_json(ApprovalView, USUAL | dict(told))
    return questions.read_question(told, diff=diff)


def task_row(task: Task) -> dict[str, Any]:
    """Return a task as a program reads it in any list."""
    row = to_json(listed_task(task, expires_at=None))
    del row["expires_at"]
    return row


def whole_task(task: Task, turns: Sequence[StoredTurn]) -> dict[str, Any]:
    """Return all of a task as a program reads it."""
    return to_json(tasks.whole_task(task, turns))


def _commit(patch: bytes) -> SealedCommit:
    return SealedCommit(
        message="Retry five times\n\nand wait",
        tree=OID,
        author="Zhang Wei",
        email="zhang@example.com",
        diff_sha256=_name(patch),
        changes=sealed_changes(patch),
    )


def _seal(action: str, payload: dict[str, Any], **changes: Any) -> Seal:
    seal = a_seal(changes.pop("clock", ManualClock()), discloses=("outcome", "file-list"))
    return replace(seal, **{"action": action, "payload": payload} | changes)


def _sealed(file: FileDiff) -> SealedChange:
    old_mode: Mode | None = None if file.op == "add" else file.old_mode or "100644"
    new_mode: Mode | None = None if file.op == "delete" else file.new_mode or "100644"
    return SealedChange(
        op=file.op,
        path=file.path,
        old_path=file.old_path,
        old_sha256=None if file.op == "add" else ZEROS,
        old_mode=old_mode,
        new_sha256=None if file.op == "delete" else ZEROS,
        new_mode=new_mode,
        size=0 if file.op == "delete" else 6,
    )


def _name(patch: bytes) -> str:
    return hashlib.sha256(patch).hexdigest()
