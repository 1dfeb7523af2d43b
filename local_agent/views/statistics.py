"""What the last days came to: how tasks ended, where they waited, and what models used.

A day is one of whoever looks, such as ``2026-05-04``; durations are in milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

from local_agent.views.status import ModelUse


@dataclass(frozen=True, slots=True, kw_only=True)
class DayOutcomes:
    """How the tasks that were asked on one day ended, counted.

    Attributes:
        unknown: Interrupted; they may or may not have happened.
        open: They have not ended.
    """

    day: str
    completed: int
    failed: int
    rejected: int
    expired: int
    refused: int
    cancelled: int
    drifted: int
    unknown: int
    open: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StateTimes:
    """How long tasks were in one state, of those that have left it.

    Attributes:
        count: How many there were.
        median_ms: None where there were none; ``p90_ms`` as well.
        p90_ms: Nine of ten left it within that time.
    """

    state: str
    count: int
    median_ms: int | None
    p90_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitTimes:
    """How long approvals waited that ended in one way.

    Attributes:
        counts: One for each bound of `ApprovalWaits`, and one for what was longer than the last.
        count: All of them.
        median_ms: None where there were none.
    """

    counts: tuple[int, ...]
    count: int
    median_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalWaits:
    """How long people took to decide.

    Attributes:
        bounds_s: In seconds; a wait is counted under the first that it does not exceed.
        approved: Whatever came of it.
        expired: Nobody decided in time.
    """

    bounds_s: tuple[int, ...]
    approved: WaitTimes
    rejected: WaitTimes
    expired: WaitTimes


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDay:
    """What one model used on one day."""

    day: str
    model: str
    used: ModelUse


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticsView:
    """The last days.

    Attributes:
        days: All of them, oldest first; the last one is today.
        outcomes: One for each day.
        states: One for each state that is not final, in their order.
        models: Of the days on which one was asked, by day and name.
    """

    days: tuple[str, ...]
    outcomes: tuple[DayOutcomes, ...]
    states: tuple[StateTimes, ...]
    approvals: ApprovalWaits
    models: tuple[ModelDay, ...]
