"""The state machine of a task (seed 002 §6): rules here as words, then one table.

- The happy path is one line: RECEIVED, ROUTED, CONTEXT_COLLECTED, PROPOSING, PROPOSAL_READY.
- From PROPOSAL_READY a safe proposal completes; one that needs approval waits, then executes.
- Execution is reached from WAITING_APPROVAL and from nowhere else (P1).
- Any state that is not final may fail or be rejected; a final state never changes.
- A reason stands beside the final state (P7) and decides it.

Who may change a state is not told here: on the agent it is `local_agent.flow.task`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, Literal

from common.errors import StateError


class TaskState(StrEnum):
    """The ten states of the seed."""

    RECEIVED = "RECEIVED"
    ROUTED = "ROUTED"
    CONTEXT_COLLECTED = "CONTEXT_COLLECTED"
    PROPOSING = "PROPOSING"
    PROPOSAL_READY = "PROPOSAL_READY"
    WAITING_APPROVAL = "WAITING_APPROVAL"
    EXECUTING = "EXECUTING"
    COMPLETED = "COMPLETED"
    FAILED = "FAILED"
    REJECTED = "REJECTED"


class Reason(StrEnum):
    """Why a task ended (P7)."""

    COMPLETED = "completed"
    FAILED = "failed"
    REJECTED = "rejected"  # by a person
    EXPIRED = "expired"
    REFUSED = "refused"  # by policy, or as it cannot be done here, as without a model
    CANCELLED = "cancelled"
    DRIFTED = "drifted"  # what would run is no longer what was approved
    UNKNOWN = "unknown"  # interrupted: it may or may not have happened


Status = Literal["ok", "error", "rejected"]

_S = TaskState
_ENDS: Final = frozenset({_S.FAILED, _S.REJECTED})

TRANSITIONS: Final[dict[TaskState, frozenset[TaskState]]] = {
    _S.RECEIVED: _ENDS | {_S.ROUTED},
    _S.ROUTED: _ENDS | {_S.CONTEXT_COLLECTED},
    _S.CONTEXT_COLLECTED: _ENDS | {_S.PROPOSING},
    _S.PROPOSING: _ENDS | {_S.PROPOSAL_READY},
    _S.PROPOSAL_READY: _ENDS | {_S.WAITING_APPROVAL, _S.COMPLETED},
    _S.WAITING_APPROVAL: _ENDS | {_S.EXECUTING},
    _S.EXECUTING: _ENDS | {_S.COMPLETED},
    _S.COMPLETED: frozenset(),
    _S.FAILED: frozenset(),
    _S.REJECTED: frozenset(),
}

FINAL: Final = frozenset(state for state, following in TRANSITIONS.items() if not following)

_OUTCOMES: Final[dict[Reason, tuple[TaskState, Status]]] = {
    Reason.COMPLETED: (_S.COMPLETED, "ok"),
    Reason.FAILED: (_S.FAILED, "error"),
    Reason.DRIFTED: (_S.FAILED, "error"),
    Reason.UNKNOWN: (_S.FAILED, "error"),
    Reason.REJECTED: (_S.REJECTED, "rejected"),
    Reason.EXPIRED: (_S.REJECTED, "rejected"),
    Reason.REFUSED: (_S.REJECTED, "rejected"),
    Reason.CANCELLED: (_S.REJECTED, "rejected"),
}


def next_state(current: TaskState, wanted: TaskState) -> TaskState:
    """Return ``wanted`` when the table allows it.

    Raises:
        StateError: ``task.illegal-transition``; nothing was changed.
    """
    if wanted not in TRANSITIONS[current]:
        raise StateError("task.illegal-transition", current=current.value, wanted=wanted.value)
    return wanted


def may_follow(current: TaskState, told: TaskState) -> bool:
    """Tell whether an event of state ``told`` may come after ``current``.

    For whoever reads another's events (the gateway, R18): besides the table's transitions an open
    state may be told again with a new message, such as the progress of a command.
    """
    return told in TRANSITIONS[current] or (told is current and current not in FINAL)


def final_of(reason: Reason) -> tuple[TaskState, Status]:
    """Return the final state of a reason, and the ``task_end`` status the seed gives it."""
    return _OUTCOMES[reason]
