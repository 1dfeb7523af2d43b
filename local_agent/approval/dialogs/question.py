"""What an approval dialog puts before a person: read from the sealed bytes, from nothing else.

Every dialog (terminal now) starts from a `Question` and shows all of it.  The digest is computed
here, over the bytes that are shown; what the agent says it is only has to agree.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from common import seal as sealing
from common.errors import AuthError, RemoteProtocolError


@dataclass(frozen=True, slots=True)
class Question:
    """One pending approval as a person must see it.

    Attributes:
        seal: Read from the sealed bytes.
        digest: Computed from the sealed bytes, here.
        text: The request as it arrived.
        machine: This machine's name.
        workspace: The workspace's name; its path is sealed.
        high_risk: Whether both groups of the code are needed.
        reasons: Codes of why the risk is high.
        pending: Whether a decision is still open.
    """

    seal: sealing.Seal
    digest: str
    text: str
    machine: str
    workspace: str
    high_risk: bool
    reasons: tuple[str, ...]
    pending: bool

    @property
    def code(self) -> str:
        """The fingerprint shown on every face."""
        return sealing.short_code(self.digest)

    def accepts(self, typed: str) -> bool:
        """Tell whether ``typed`` is the code of what is shown, as far as the risk demands."""
        return sealing.code_matches(typed, self.digest, both_groups=self.high_risk)


def read_question(shown: Mapping[str, Any]) -> Question:
    """Build the question from what the agent told over its control socket.

    Raises:
        AuthError: ``approval.digest-mismatch``: told digest and sealed bytes disagree.
        RemoteProtocolError: something is missing, or the seal cannot be read.
    """
    try:
        sealed = shown["seal"].encode("ascii")
        told = shown["digest"].encode("ascii")
        risk: Literal["normal", "high"] = shown["risk"]
        reasons = tuple(str(reason) for reason in shown["reasons"])
        texts = {name: str(shown[name]) for name in ("text", "machine", "workspace")}
        state = shown["state"]
    except (KeyError, AttributeError, UnicodeEncodeError, TypeError):
        raise RemoteProtocolError("control.malformed") from None
    digest = sealing.digest(sealed)
    if not hmac.compare_digest(digest.encode(), told):
        raise AuthError("approval.digest-mismatch")
    return Question(
        seal=sealing.read_seal(sealed),
        digest=digest,
        # Whatever is not plainly of ordinary risk counts as high.
        high_risk=risk != "normal",
        reasons=reasons,
        pending=state == "pending",
        **texts,
    )
