"""How the agent is doing, its models and passkeys: for ``status``, ``models``, ``passkey list``.

It is read even from an agent of another version, which is asked before it is started anew: what
that one does not tell has a default here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from local_agent.views.task import WaitingTask


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How the connection to the gateway stands; as `local_agent.link.condition`.

    Attributes:
        url: None while this machine has no gateway.
        state: ``unpaired``, ``connected``, ``connecting``, or what keeps it from that.
        why: Why it is not connected.
        since_ms: Since when it stands so, in milliseconds since the epoch.
        retry_s: Seconds until the next try, when it was last told.
        skew_s: Seconds the gateway's clock is ahead of ours, where that keeps it.
    """

    url: str | None
    state: str
    why: str = ""
    since_ms: int = 0
    retry_s: int = 0
    skew_s: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyStanding:
    """How the policy of a workspace stands.

    Attributes:
        state: Whether there is one; ``broken`` refuses everything in the workspace.
        code: Why it is broken, one of ``policy.*``.
        file: The broken file, from the config directory.
        key: The key to blame, where there is one.
    """

    state: Literal["none", "in-force", "broken"]
    code: str | None = None
    file: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWorkspace:
    """A folder that the agent works in.

    Attributes:
        disclosure: What the chat may be told of it; empty from an older agent.
    """

    name: str
    path: str
    default: bool = False
    disclosure: str = ""
    policy: PolicyStanding


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowsStanding:
    """Whether approvals are asked in windows.

    Attributes:
        state: ``on``, ``off``, or ``looking`` until it is known.
        why: Why there are none.
    """

    state: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditStanding:
    """How the audit log stands.

    Attributes:
        gateway_keeps: Number of our newest entry that the gateway has signed for; 0 for none.
        forked_at: Since when the gateway signs what contradicts, in milliseconds since the epoch.
    """

    entries: int
    gateway_keeps: int
    forked_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the agent stands in: machine, gateway, key, workspaces and sandbox.

    Attributes:
        key_storage: Where this machine's key is kept; None while it has no gateway.
        public_key: Of the present key.
        stray_policies: Files that belong to no workspace, so that nothing reads them.
        sandbox: Level at which commands run.
        sandbox_reason: Why it is no better.
        settings: Fingerprint of those that it was started with; empty from an older agent.
    """

    machine: str
    gateway: Connection
    key_storage: str | None
    public_key: str = ""
    workspaces: tuple[OpenWorkspace, ...]
    stray_policies: tuple[str, ...]
    sandbox: str
    sandbox_reason: str
    windows: WindowsStanding
    settings: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusView(Surroundings):
    """How the agent is doing, on one screen.

    Attributes:
        model: Name of the model that is asked; None where none is configured, empty from an older
            agent.
        approvals: What waits for a decision.
    """

    model: str | None = ""
    audit: AuditStanding
    open_tasks: int
    approvals: tuple[WaitingTask, ...]


# -- models --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelUse:
    """What a model has used in some days.

    Attributes:
        cost: In ``currency``; None where its prices are not known.
    """

    turns: int
    failed: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFailure:
    """How a model last failed, and when."""

    at: int
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelView:
    """A model that is configured.

    Attributes:
        name: What the person calls it.
        model: Its name at its provider.
        asked: It is the one that is asked.
        key: Where its key is kept; None where there is none.
        last_failure: None where it did not fail.
    """

    name: str
    kind: str
    model: str
    asked: bool
    key: str | None
    needs_key: bool
    used: ModelUse
    last_failure: ModelFailure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelList:
    """All models that are configured, with what they used in the last days."""

    days: int
    models: tuple[ModelView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelAnswer:
    """What a model is, when asked for itself; as `local_agent.models.backend`."""

    name: str
    model: str
    version: str
    latency_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeyView:
    """A passkey that may approve.

    Attributes:
        code: Its fingerprint, as it was compared when it was added.
        created_at: When it was added, in milliseconds since the epoch.
        last_used_at: When it last signed for an approval; None for never.
    """

    name: str
    code: str
    created_at: int
    last_used_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeyList:
    """All of them, oldest first.

    Attributes:
        codes_in: What would show a one-time code now: ``terminal``, ``window`` or nothing.
    """

    passkeys: tuple[PasskeyView, ...]
    codes_in: str = ""
