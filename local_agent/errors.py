"""The agent's own leaves of the error tree (`common.errors`)."""

from __future__ import annotations

from collections.abc import Sequence

from common.errors import CodexBridgeError, ConfigError, StateError


class RefusedError(StateError):
    """Policy forbids it on this machine; no approval can change that.  Outcome ``refused``.

    Args:
        reasons: Codes of `local_agent.safety.authority`, each with a sentence in `risk_words.RISK`.
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


class ModelError(CodexBridgeError):
    """A model gave nothing that can be used.  Outcome ``failed``.

    ``model.unreachable`` (away), ``model.key`` (401, 403, no key), ``model.quota`` (nothing left of
    what was paid for), ``model.busy`` (429), ``model.server`` (5xx), ``model.context`` (more than
    it can read), ``model.not-found`` (no such model), ``model.request`` (another 4xx),
    ``model.cut`` (the answer broke off), ``model.stalled`` (no sign of work), ``model.deadline``,
    ``model.too-large`` (an answer over the bound), ``model.answer`` (not in the form asked for, nor
    when asked again; fact ``why``), ``model.declined`` (its provider would not answer),
    ``model.program`` (a program that cannot be used; fact ``why``), ``model.ended`` (the program
    ended by itself), ``model.uncontained`` (no sandbox to run the program in).
    """
