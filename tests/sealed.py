"""Tasks, seals, envelopes and journals for the tests of the trusted core."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from common.clock import ManualClock
from common.ids import new_uuid
from common.model.state import Reason, TaskState
from common.protocol.envelope import (
    Envelope,
    HeadBody,
    agent_name,
    gateway_name,
    seal_envelope,
)
from common.seal import Place, Seal, Source, digest
from common.sentences import Lang
from common.signing import APPROVAL, SigningKey, VerifyKey
from local_agent.actions.registry import seal_bytes
from local_agent.actions.run_command.payload import Executable, command_payload
from local_agent.safety.decision import Statement
from local_agent.store.approvals import StoredApproval
from local_agent.store.database import Database
from local_agent.store.journal import Journal
from local_agent.store.outbox import Kind, Peer
from local_agent.store.tasks import Change, NewTask, TaskSource

AGENT = SigningKey(bytes([1]) * 32)
GATEWAY = SigningKey(bytes([2]) * 32)
AGENT_ID = "agent-1"
ZEROS = "0" * 64
PYTEST = ("pytest", "-q")


@dataclass(frozen=True, slots=True)
class Wish(NewTask):
    """A task to create."""

    task_id: str = "task-1"
    short_id: str = "T-7K3F"
    source: TaskSource = "wecom"
    channel: str = "wecom_app"
    claimed_user: str = "zhang"
    thread_id: str = "thread-1"
    text: str = "@dev test"
    lang: Lang = "en"
    envelope_sha256: str | None = ZEROS
    gateway_key_id: str | None = GATEWAY.public.key_id


@dataclass(frozen=True, slots=True)
class Step(Change):
    """A change of a task."""

    task_id: str = "task-1"
    expected: TaskState = TaskState.RECEIVED
    state: TaskState = TaskState.ROUTED
    at_ms: int = 1_760_000_000_000


def a_payload(**changes: Any) -> dict[str, Any]:
    """Return the sealed form of the test command; ``script=`` makes it a shell line."""
    what: dict[str, Any] = {
        "argv": None if "script" in changes else list(PYTEST),
        "shell": "/bin/sh" if "script" in changes else None,
        "cwd": ".",
        "env": {"PATH": "/usr/bin", "LANG": "C.UTF-8"},
        "executable": Executable("/usr/bin/pytest", 2049, 2**63 + 5, None),
        "sandbox_level": "bubblewrap",
        "profile_sha256": ZEROS,
        "network": False,
        "timeout_s": 600,
        "output_cap": 1_000_000,
    }
    return command_payload(**what | changes)


def a_seal(clock: ManualClock, **changes: Any) -> Seal:
    """Return a seal made now, good for a day."""
    now = clock.now().wall_ms
    seal = Seal(
        approval_id=new_uuid(),
        task_id="task-1",
        short_id="T-7K3F",
        version=1,
        agent_id=AGENT_ID,
        workspace=Place("/home/zhang/项目", 2049, 2**63 + 1),
        git_head=None,
        source=Source("wecom_app", "zhang", GATEWAY.public.key_id, ZEROS),
        policy_sha256=ZEROS,
        action="run_command",
        payload=a_payload(),
        base={"pyproject.toml": ZEROS, "setup.cfg": "absent"},
        undo="no",
        discloses=("output-tail",),
        created_at=now,
        expires_at=now + 86_400_000,
        nonce="n" * 32,
    )
    return replace(seal, **changes)


def as_stored(seal: Seal, **changes: Any) -> StoredApproval:
    """Return the row of a seal, as the gate would store it."""
    raw = seal_bytes(seal)
    stored = StoredApproval(
        approval_id=seal.approval_id,
        task_id=seal.task_id,
        digest=digest(raw),
        seal=raw,
        subject_sha256=ZEROS,
        gateway=seal.source.gateway_key_id,
        requester=seal.source.claimed_user,
        risk="normal",
        risk_reasons="",
        created_at=seal.created_at,
        expires_at=seal.expires_at,
    )
    return replace(stored, **changes)


def decided(
    journal: Journal,
    stored: StoredApproval,
    at_ms: int,
    state: Literal["approved", "rejected"] = "approved",
) -> bool:
    """Decide past the gate, as it would: for tests of what lies below or after it."""
    words = Statement(
        stored.approval_id,
        stored.digest,
        "approve" if state == "approved" else "reject",
        "terminal",
        None,
        at_ms=at_ms,
        risk=stored.risk,
    ).raw
    return journal.approvals.decide(
        stored.approval_id,
        stored.digest,
        state=state,
        at_ms=at_ms,
        approver="terminal",
        reason=None,
        statement=words,
        signature=AGENT.sign(APPROVAL, words),
        public_key=AGENT.public.raw,
    )


def a_peer(clock: ManualClock) -> Peer:
    """Return the paired gateway, with the agent's real signature on each frame."""

    def sign(
        kind: Kind,
        seq: int,
        jti: str,
        body: Mapping[str, Any],
        exp: int,
        *,
        own: str | None,
        gateway: bytes | None,
    ) -> bytes:
        return seal_envelope(
            AGENT,
            typ=kind,
            iss=agent_name(AGENT_ID),
            aud=gateway_name(VerifyKey(gateway) if gateway else GATEWAY.public),
            jti=jti,
            seq=seq,
            iat=clock.now().wall_s,
            exp=exp,
            body=body,
        ).frame

    return Peer(f"{GATEWAY.public.key_id}/{AGENT_ID}", sign)


@cache
def _template() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="codexbridge-test-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "journal.db"
    with ThreadPoolExecutor(1) as thread:  # whoever asks may be on the event loop
        thread.submit(lambda: Database(path).close()).result()
    return path


def fresh_journal(path: Path) -> Path:
    """Lay down a journal of the newest version, unless there is one: the cost of migrating once."""
    if not path.exists():
        path.parent.mkdir(mode=0o700, exist_ok=True)
        shutil.copy(_template(), path)
    return path


def a_journal(folder: Path, clock: ManualClock, *, paired: bool = True) -> Journal:
    """Open the journal of a test."""
    path = fresh_journal(folder / "state" / "journal.db")
    peer = a_peer(clock) if paired else None
    return Journal(path, clock=clock, key=lambda: AGENT, peer=peer)


def from_gateway(clock: ManualClock, seq: int, **changes: Any) -> Envelope:
    """Return a verified task envelope as the link hands it over.

    ``typ``, ``jti`` and ``expired`` change the envelope, anything else the body.
    """
    typ = changes.pop("typ", "task")
    jti = changes.pop("jti", f"jti-{seq}")
    expired = changes.pop("expired", False)
    now = clock.now().wall_s
    body: dict[str, Any] = {} if typ in ("head", "rekey") else {"task_id": f"task-{seq}"}
    if typ == "cancel":
        body["claimed_user"] = "zhang"
    if typ == "task":
        body |= {
            "short_id": f"T-7K3{seq % 10}",
            "thread_id": "thread-1",
            "channel": "wecom_app",
            "claimed_user": "zhang",
            "text": "@dev test",
            "lang": "zh",
            "received_at": clock.now().wall_ms,
        }
    envelope = seal_envelope(
        changes.pop("key", GATEWAY),
        typ=typ,
        iss=gateway_name(GATEWAY.public),
        aud=agent_name(AGENT_ID),
        jti=jti,
        seq=seq,
        iat=now,
        exp=now + 200,
        body=body | changes,
    )
    return replace(envelope, expired=expired)


LINE = (
    TaskState.RECEIVED,
    TaskState.ROUTED,
    TaskState.CONTEXT_COLLECTED,
    TaskState.PROPOSING,
    TaskState.PROPOSAL_READY,
    TaskState.WAITING_APPROVAL,
    TaskState.EXECUTING,
)


def to_waiting(journal: Journal, wish: Wish | None = None) -> str:
    """Create a task, take it to WAITING_APPROVAL, and return its id."""
    task = journal.tasks.create(wish or Wish(), 1_760_000_000_000)
    return walk(journal, task.task_id, TaskState.WAITING_APPROVAL)


def walk(journal: Journal, task_id: str, until: TaskState) -> str:
    """Take a task along the happy line."""
    position = LINE.index(journal.tasks.get(task_id).state)
    for expected, state in zip(LINE[position:], LINE[position + 1 :], strict=False):
        if expected is until:
            break
        journal.tasks.change(Step(task_id=task_id, expected=expected, state=state))
    return task_id


def ending(reason: Reason, expected: TaskState, state: TaskState, **changes: Any) -> Step:
    """Return the change that ends the task."""
    return replace(Step(expected=expected, state=state, reason=reason), **changes)


def a_head(clock: ManualClock, number: int, said: HeadBody, **changes: Any) -> Envelope:
    """Return a head that the gateway signed, as the link hands it over under its number."""
    now = clock.now().wall_s
    envelope = seal_envelope(
        changes.pop("key", GATEWAY),
        typ="head",
        iss=gateway_name(GATEWAY.public),
        aud=agent_name(AGENT_ID),
        jti=f"head-{number}",
        seq=number,
        iat=now,
        exp=now + 200,
        body=said.to_dict(),
    )
    return replace(envelope, **changes)


def answered(journal: Journal, clock: ManualClock, number: int, *, seq: int = 5) -> HeadBody:
    """Let the gateway answer: it keeps our end, and its own log has ``seq`` entries."""
    own = journal.audit.head()
    said = HeadBody(seq, f"{seq:064x}", own.seq, own.hash.hex(), clock.now().wall_ms)
    journal.inbox.accept(a_head(clock, number, said))
    return said
