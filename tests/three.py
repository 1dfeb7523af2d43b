"""An action of tests alone: three operations, one after the other, under one question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest

from common.clock import ManualClock
from common.records import LIST, filled
from common.seal import Seal, SealedChange, check_record
from local_agent.actions.changes.payload import change_payload
from local_agent.actions.operation import Operation, Parts
from local_agent.actions.registry import ACTIONS, Row
from local_agent.actions.run_command import card
from local_agent.safety.action_facts import SealedPart
from tests.sealed import ZEROS, a_payload, a_seal

WORD: Final[Any] = "three"  # none of the words that a seal knows
COUNT: Final = 3


def command(argv: str) -> dict[str, Any]:
    """Return a part that runs a command."""
    return {"action": "run_command", "payload": a_payload(argv=[argv]), "base": {}}


def change(*changes: SealedChange) -> dict[str, Any]:
    """Return a part that changes files."""
    return {
        "action": "apply_diff",
        "payload": change_payload(ZEROS, changes),
        "base": {"a.py": ZEROS, "b.py": "absent"},
    }


def commands() -> dict[str, Any]:
    """Return the payload of three commands."""
    return {"steps": [command(argv) for argv in ("first", "second", "third")]}


def a_seal_of_three(clock: ManualClock, **changes: Any) -> Seal:
    """Return a seal of three commands."""
    return a_seal(clock, **{"action": WORD, "payload": commands()} | changes)


def register(patch: pytest.MonkeyPatch, make: Any = None) -> None:
    """Make the action known while a test lasts."""
    row = Row(
        check_payload=_check,
        card=card.CARD,
        reaches="parts",
        parts=_parts,
        make=make or _no_operation,
    )
    patch.setitem(ACTIONS, WORD, row)


def _check(payload: Mapping[str, Any]) -> None:
    check_record("payload", payload, {"steps": filled(LIST)})


def _parts(payload: Mapping[str, Any]) -> Sequence[SealedPart]:
    return [SealedPart(**step) for step in payload["steps"]]


def _no_operation(parts: Parts) -> Operation:
    raise NotImplementedError
