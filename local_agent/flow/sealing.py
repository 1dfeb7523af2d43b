"""Makes the seal of a proposed operation: everything that one approval will cover (P2)."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from common.clock import Clock
from common.ids import new_uuid
from common.seal import Seal, Source
from common.strict_json import canonical
from local_agent.actions.operation import Sealable
from local_agent.safety.policy import Policy
from local_agent.store.tasks import Task

_NONCE_BYTES: Final = 16


@dataclass(frozen=True, slots=True)
class Sealer:
    """Seals operations for one machine.

    Attributes:
        agent_id: This machine's id at its gateway; empty while it is not paired.
        approval_hours: How long a person may take, at most 72 (24 by default).
        settings: The local settings under which operations are proposed; their hash is sealed.
    """

    clock: Clock
    agent_id: str
    approval_hours: int
    settings: Mapping[str, Any]

    def seal(
        self,
        task: Task,
        what: Sealable,
        *,
        policy: Policy,
        version: int,
        waits_ms: int | None = None,
        tells: tuple[str, ...] | None = None,
    ) -> Seal:
        """Return the seal of one operation, valid from now on.

        Args:
            policy: The person's policy for the workspace.
            version: Number of this proposal within its task, from 1.
            waits_ms: How long it waits, where that is less than as set for this machine.
            tells: What the chat hears of the run that asks; None where no run does.
        """
        now = self.clock.now().wall_ms
        longest = self.approval_hours * 3_600_000
        discloses = what.discloses if tells is None else tells
        return Seal(
            approval_id=new_uuid(),
            task_id=task.task_id,
            short_id=task.short_id,
            version=version,
            agent_id=self.agent_id,
            workspace=what.workspace,
            git_head=what.git_head,
            source=Source(
                channel=task.channel,
                claimed_user=task.claimed_user,
                gateway_key_id=task.gateway_key_id or "",
                envelope_sha256=task.envelope_sha256 or "",
            ),
            policy_sha256=self.policy_sha256(policy),
            action=what.action,
            payload=what.payload,
            base=what.base,
            undo=what.undo,
            discloses=discloses if task.source == "wecom" else (),
            created_at=now,
            expires_at=now + min(waits_ms or longest, longest),
            nonce=secrets.token_hex(_NONCE_BYTES),
        )

    def policy_sha256(self, policy: Policy) -> str:
        """Return the hash over the machine's settings and the policy of the workspace."""
        rules = {"settings": dict(self.settings), "policy": policy.sha256}
        return hashlib.sha256(canonical(rules)).hexdigest()

    def is_same(self, seal: Seal, what: Sealable, policy: Policy) -> bool:
        """Tell whether sealing the operation now would cover the very same thing."""
        sealed = _subject(seal, policy_sha256=seal.policy_sha256)
        now = _subject(what, policy_sha256=self.policy_sha256(policy))
        return hmac.compare_digest(sealed, now)


def _subject(what: Seal | Sealable, *, policy_sha256: str) -> bytes:
    place = what.workspace
    return canonical(
        {
            "action": what.action,
            "payload": dict(what.payload),
            "workspace": [place.path, str(place.dev), str(place.ino)],
            "git_head": what.git_head,
            "base": dict(what.base),
            "policy": policy_sha256,
        }
    )
