"""What an action states of itself, for safety to read, judge and take back by.

The actions lie above: their registry states these facts and is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from common.seal import BASE, Action, Seal, read_seal, require

# What an action acts on; each has a table of risks (`local_agent.safety.authority`).
Reaches = Literal["processes", "files", "remote", "chat", "parts"]


@dataclass(frozen=True, slots=True)
class SealedPart:
    """One of several operations under one question, as the payload of the whole holds it.

    Attributes:
        base: As `Seal.base`, for this part alone.
    """

    action: Action
    payload: Mapping[str, Any]
    base: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionFacts:
    """What holds of every operation of an action.

    Attributes:
        check_payload: Returns when a payload is of the action's closed shape, else raises.
        reaches: What it acts on: ``processes`` seals a command, ``files`` seals changes, ``remote``
            seals a push, ``chat`` seals an answer, ``parts`` seals operations of other actions.
        undoable: What it did can be taken back.
        parts: Gives the operations in a checked payload, in their order, where it covers several.
    """

    check_payload: Callable[[Mapping[str, Any]], None]
    reaches: Reaches
    undoable: bool = False
    parts: Callable[[Mapping[str, Any]], Sequence[SealedPart]] | None = None


Known = Mapping[str, ActionFacts]


def read_known(raw: bytes, known: Known) -> Seal:
    """Read the stored seal of a known action, and its parts; as `common.seal.read_seal`."""
    seal = read_seal(raw, {action: facts.check_payload for action, facts in known.items()})
    parts_of(seal, known)
    return seal


def parts_of(seal: Seal, known: Known) -> tuple[Seal, ...]:
    """Return the operations that a seal covers, each as a seal; for most actions that is itself.

    A part is the whole with its own action, payload and base.  Part 0 bears the approval's id, and
    each further one the id with its index: whatever an operation keeps under that name, such as a
    backup, is kept for each part, and an undo names the part it takes back.

    Raises:
        RemoteProtocolError: ``seal.malformed``: one is not of a known action that is a single
            operation, of that action's shape.
    """
    parts = known[seal.action].parts
    if parts is None:
        return (seal,)
    found = parts(seal.payload)
    if not found:
        return (seal,)  # it asks whether to go on, and does nothing itself
    for part in found:
        facts = known.get(part.action)
        require("parts.action", facts is not None and facts.parts is None)
        known[part.action].check_payload(part.payload)
        require("parts.base", all(map(BASE, part.base.values())))
    return tuple(
        replace(
            seal,
            approval_id=part_id(seal.approval_id, index),
            action=part.action,
            payload=part.payload,
            base=part.base,
        )
        for index, part in enumerate(found)
    )


def part_id(approval_id: str, index: int) -> str:
    """Return the name of a part."""
    return f"{approval_id}/{index}" if index else approval_id
