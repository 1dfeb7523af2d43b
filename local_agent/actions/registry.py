"""The actions: one row for each thing that a person can approve, by the seal's word for it.

Reading a seal needs no operation: the faces import this, and pay for no part that carries out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from common import seal as sealing
from common.seal import Seal
from local_agent.actions.changes.payload import check_change
from local_agent.actions.disclose.payload import check_release
from local_agent.actions.git_sync.payload import check_sync
from local_agent.actions.run_command.payload import check_command
from local_agent.actions.undo.payload import check_undo
from local_agent.safety.action_facts import ActionFacts, read_known


def read_seal(raw: bytes) -> Seal:
    """Read a stored seal of any of the actions; as `common.seal.read_seal`."""
    return read_known(raw, ACTIONS)


def seal_bytes(seal: Seal) -> bytes:
    """Return the stored form of a seal of any of the actions; as `common.seal.seal_bytes`."""
    return sealing.seal_bytes(seal, {word: row.check_payload for word, row in ACTIONS.items()})


ACTIONS: Final[Mapping[str, ActionFacts]] = {
    "run_command": ActionFacts(check_payload=check_command, reaches="processes"),
    "apply_diff": ActionFacts(check_payload=check_change, reaches="files", undoable=True),
    "undo": ActionFacts(check_payload=check_undo, reaches="files", undoable=True),
    "git_sync": ActionFacts(check_payload=check_sync, reaches="remote"),
    "disclose": ActionFacts(check_payload=check_release, reaches="chat"),
}
