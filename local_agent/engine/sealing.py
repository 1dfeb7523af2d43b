"""Makes the seal of a proposed command: everything that one approval will cover (P2)."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from common.clock import Clock
from common.ids import new_uuid
from common.seal import Seal, Source
from common.strict_json import canonical
from local_agent.execution.description import Prepared
from local_agent.store.tasks import Task

# What a remote request is told afterwards; the dialog shows it before the decision.
REMOTE_DISCLOSES: Final = ("outcome", "output-tail")
_NONCE_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Sealer:
    """Seals commands for one machine.

    Attributes:
        agent_id: This machine's id at its gateway; empty while it is not paired.
        approval_hours: How long a person may take, at most 72 (24 by default).
        policy: The local settings under which commands are proposed; their hash is sealed.
    """

    clock: Clock
    agent_id: str
    approval_hours: int
    policy: Mapping[str, Any]

    def seal(self, task: Task, prepared: Prepared, *, version: int) -> Seal:
        """Return the seal of one command, valid from now on.

        Args:
            version: Number of this proposal within its task, from 1.
        """
        now = self.clock.now().wall_ms
        return Seal(
            approval_id=new_uuid(),
            task_id=task.task_id,
            short_id=task.short_id,
            version=version,
            agent_id=self.agent_id,
            workspace=prepared.workspace,
            git_head=prepared.git_head,
            source=Source(
                channel=task.channel,
                claimed_user=task.claimed_user,
                gateway_key_id=task.gateway_key_id or "",
                envelope_sha256=task.envelope_sha256 or "",
            ),
            policy_sha256=hashlib.sha256(canonical(dict(self.policy))).hexdigest(),
            action="run_command",
            payload=prepared.payload,
            base={},
            undo="no",
            discloses=REMOTE_DISCLOSES if task.source == "wecom" else (),
            created_at=now,
            expires_at=now + self.approval_hours * 3_600_000,
            nonce=secrets.token_hex(_NONCE_BYTES),
        )
