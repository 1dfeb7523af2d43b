"""The agent's own leaves of the error tree (`common.errors`)."""

from __future__ import annotations

from collections.abc import Sequence

from common.errors import ConfigError, StateError


class RefusedError(StateError):
    """Policy forbids it on this machine; no approval can change that.  Outcome ``refused``.

    Args:
        reasons: Codes of `local_agent.safety.authority`, each with a sentence in `replies.RISK`.
        path: The file to blame, where the reason is one.
    """

    def __init__(self, reasons: Sequence[str], *, path: str | None = None) -> None:
        super().__init__("policy.refused", reasons=",".join(reasons))
        self.reasons = tuple(reasons)
        self.path = path


class FloodedError(StateError):
    """Too many approvals are asked for (R28); the person is not to be worn down."""


class PolicyError(ConfigError):
    """The policy file of a workspace cannot be read whole, so nothing may be done there (R4).

    Outcome ``refused``.  Its facts name the file within the config directory, and the key.
    """
