"""One approval of each kind, with everything in it fixed: what the golden files are made from.

Every import of the product that a payload needs stands here, so that the other modules of this
folder know seals by their names alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from common.clock import ManualClock
from common.seal import Place, ReadFile, Seal, SealedChange, SealedCommit, Source
from common.sentences import Lang
from local_agent.actions.changes.payload import change_payload, undo_payload
from local_agent.actions.disclose.payload import disclose_payload
from local_agent.actions.git_sync.payload import SyncStep, sync_payload
from local_agent.actions.run_command.payload import Executable, SealedCopy
from local_agent.actions.steps.payload import steps_payload
from local_agent.cards.question import read_question
from local_agent.faces.window.wire import Order
from local_agent.safety.action_facts import SealedPart
from local_agent.views.question import Question
from local_agent.workspace.survey import CONTENT, STAMPS
from tests import windows
from tests.golden import golden
from tests.sealed import a_payload, a_seal

Risk = Literal["normal", "high"]

NOW_MS: Final = ManualClock().now().wall_ms
HERE: Final = Source("terminal", "zhang", "", "")
ONE_CHANGE: Final = golden.stored("input/one-change.diff")
ALL_OPERATIONS: Final = golden.stored("input/all-operations.diff")
DIFFS: Final = {
    "change": ONE_CHANGE,
    "change-all-operations": ALL_OPERATIONS,
    "undo": ONE_CHANGE,
    "sync-commit": ONE_CHANGE,
    "sync-first-commit": ONE_CHANGE,
    "steps": ONE_CHANGE,
}
ANSWER: Final = "登录失败时会重试。\n\n`backoff` doubles the delay:\n\tmin(base * 2**n, cap)"
_TOLD: Final = json.loads(golden.stored("input/told.json"))
_HEAD: Final = "3f2a9c41d0" * 4


def order(name: str, lang: Lang, risk: Risk, *, here: bool) -> Order:
    """Return what a dialog is told of the seal of this name.

    Args:
        name: Of `SEALS`.
        lang: Of the dialog.
        risk: With ``high`` come the reasons.
        here: Asked at this machine, without anything that only explains; else from afar.
    """
    seal = replace(SEALS[name], source=HERE) if here else SEALS[name]
    told = {} if here else _TOLD[name].get("told", {})
    if seal.action == "disclose":
        told = told | {"answer": ANSWER}
    reasons = tuple(_TOLD[name].get("reasons", ())) if risk == "high" else ()
    return windows.an_order(seal, risk=risk, reasons=reasons, lang=lang, **told)


def question(name: str, shown: Order) -> Question:
    """Return the question that a dialog makes of an order."""
    return read_question(shown.shown, diff=DIFFS.get(name))


def _sha256(data: str | bytes) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def sealed_changes(diff: bytes) -> tuple[SealedChange, ...]:
    """Return the files of a diff as sealed, each side with a hash of its own."""
    return tuple(
        replace(
            change,
            old_sha256=change.old_sha256 and _sha256(f"old {change.old_path}"),
            new_sha256=change.new_sha256 and _sha256(f"new {change.path}"),
            size=0 if change.path == "empty.txt" else change.size,
        )
        for change in windows.sealed_changes(diff)
    )


def _sync(commit: SealedCommit | None, **changes: Any) -> dict[str, Any]:
    told: dict[str, Any] = {
        "branch": "login-retry",
        "remote": "origin",
        "url": "git@github.com:example/shop-api.git",
        "ref": "refs/heads/login-retry",
        "remote_oid": "0c" * 20,
        "head": _HEAD,
        "ahead": 1,
        "behind": 0,
        "steps": _STEPS,
        "timeout_s": 120,
    }
    return sync_payload(commit=commit, **told | changes)


def _disclose(files: tuple[ReadFile, ...], **told: Any) -> dict[str, Any]:
    return disclose_payload(ANSWER.encode(), files, **told)


def _seal(action: str, payload: dict[str, Any], **changes: Any) -> Seal:
    is_change = action in ("apply_diff", "undo")
    fixed: dict[str, Any] = {
        "short_id": "T-7F3K",
        "workspace": Place("/home/zhang/项目/shop", 2049, 2**63 + 1),
        "git_head": _HEAD,
        "action": action,
        "payload": payload,
        "base": {"shop/login.py": _sha256("old shop/login.py"), "shop/retry.py": "absent"},
        "undo": "yes" if is_change else "no",
        "discloses": ("outcome", "file-list") if is_change else ("outcome", "output-tail"),
    }
    return a_seal(ManualClock(), **fixed | changes)


_STEPS: Final = (
    SyncStep("check", "read-only"),
    SyncStep("add", "local-write"),
    SyncStep("commit", "local-write"),
    SyncStep("push", "remote-write"),
)
_COMMIT: Final = SealedCommit(
    message="Retry logins on server errors\n\nDelays double up to five seconds.",
    tree="ab" * 20,
    author="张伟",
    email="zhangwei@example.com",
    diff_sha256=_sha256(ONE_CHANGE),
    changes=sealed_changes(ONE_CHANGE),
)
_UNSANDBOXED: Final = a_payload(
    script="make clean && make 2>&1 | tee out.txt\n./deploy '生产'; rm -rf build",
    cwd="sub/dir",
    env={},
    executable=Executable("/home/zhang/项目/shop/sh", 2049, 12, _sha256("sh")),
    sandbox_level="none",
    network=True,
    timeout_s=3600,
    output_cap=512,
    uncompared=(".git/", "node_modules/", "…"),
)
_COPY: Final = a_payload(copy=SealedCopy("approval-9", "T-9Z2K", _sha256("diff")))
_ALL: Final = change_payload(_sha256(ALL_OPERATIONS), sealed_changes(ALL_OPERATIONS))
_CHANGE: Final = (_sha256(ONE_CHANGE), sealed_changes(ONE_CHANGE))
_PUSH: Final[dict[str, Any]] = {"remote_oid": None, "ahead": 3, "steps": [_STEPS[0], _STEPS[3]]}
_FILES: Final = (ReadFile("shop/login.py", _sha256("shown")), ReadFile("shop/名.py"))
_STEPS_OF_A_PLAYBOOK: Final = steps_payload(
    run="0199c0de-0000-7000-8000-000000000100",
    definition_sha256=_sha256("playbook"),
    indexes=[2, 4],
    parts=[
        SealedPart("run_command", a_payload(argv=["ruff", "check", "."]), {".": _sha256("all")}),
        SealedPart("apply_diff", change_payload(*_CHANGE), {"shop/": _sha256("shop")}),
    ],
)
_BARE: Final[dict[str, Any]] = {"git_head": None, "base": {}}
_BY_STAMPS: Final[dict[str, Any]] = {
    "git_head": None,
    "base": {
        CONTENT: _sha256("read"),
        STAMPS: _sha256("too large"),
        "build/run.sh": _sha256("ignored"),
        "/opt/公司/deploy.sh": _sha256("behind a link"),
    },
}
_ASKED: Final[Mapping[str, Seal]] = {
    "command-argv": _seal("run_command", a_payload(argv=["pytest", "-q", "tests/a b.py", "$HOME"])),
    "command-shell": _seal("run_command", _UNSANDBOXED, **_BY_STAMPS, discloses=()),
    "command-copy": _seal("run_command", _COPY),
    "change": _seal("apply_diff", change_payload(*_CHANGE)),
    "change-all-operations": _seal("apply_diff", _ALL, undo="partly"),
    "undo": _seal("undo", undo_payload(*_CHANGE, approval_id="approval-0", short_id="T-3H2W")),
    "sync-commit": _seal("git_sync", _sync(_COMMIT)),
    "sync-push": _seal("git_sync", _sync(None, url="/srv/git/shop.git", behind=2, **_PUSH)),
    "sync-first-commit": _seal("git_sync", _sync(_COMMIT, head=None, ahead=0), git_head=None),
    "disclose": _seal(
        "disclose",
        _disclose(_FILES, more=3, channel="wecom_app", claimed_user="zhang"),
        **_BARE,
        discloses=("answer",),
    ),
    "disclose-nothing-read": _seal(
        "disclose",
        _disclose((), more=0, channel="other", claimed_user="李"),
        **_BARE,
        discloses=("answer",),
    ),
    "steps": _seal("steps", _STEPS_OF_A_PLAYBOOK, undo="partly"),
}
SEALS: Final = {
    name: replace(seal, approval_id=f"0199c0de-0000-7000-8000-{number:012}")
    for number, (name, seal) in enumerate(_ASKED.items())
}
