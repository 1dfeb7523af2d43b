"""What an action states of itself, for safety to read, judge and take back by.

The actions lie above: their registry states these facts and is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from common.seal import Seal, read_seal

# What an action acts on; each has a table of risks (`local_agent.safety.authority`).
Reaches = Literal["processes", "files", "remote", "chat"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionFacts:
    """What holds of every operation of an action.

    Attributes:
        check_payload: Returns when a payload is of the action's closed shape, else raises.
        reaches: What it acts on: ``processes`` seals a command, ``files`` seals changes, ``remote``
            seals a push, ``chat`` seals an answer.
        undoable: What it did can be taken back.
    """

    check_payload: Callable[[Mapping[str, Any]], None]
    reaches: Reaches
    undoable: bool = False


Known = Mapping[str, ActionFacts]


def read_known(raw: bytes, known: Known) -> Seal:
    """Read the stored seal of a known action; as `common.seal.read_seal`."""
    return read_seal(raw, {action: facts.check_payload for action, facts in known.items()})
