"""The table of releases: an answer that a person lets go to the chat.

Releasing changes nothing on the machine, and is of ordinary risk; what was told is told for ever,
which its dialog says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from common.text import CHAT_BYTES
from local_agent.safety.risk import Circumstances, Finding, Row, Table, findings
from local_agent.safety.risk_changes import is_secret_file


def judge_disclosure(payload: Mapping[str, Any], _around: Circumstances) -> list[Finding]:
    """Return what the table says of a sealed release."""
    return findings(DISCLOSURE, payload)


def _rests_on_secret(payload: Mapping[str, Any]) -> bool:
    return any(is_secret_file(file["path"]) for file in payload["files"])


DISCLOSURE: Final[Table[Mapping[str, Any]]] = (
    Row("refused", "answer-too-large", lambda payload: payload["bytes"] > CHAT_BYTES),
    Row("high", "secret-file", _rests_on_secret),
)
