"""What the last days came to, counted from the tables that there are anyway.

Steps of runs count as the run that they belong to, except where a person decided on one of them.
What models cost is not known here (`local_agent.faces.control.statistics`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal

from common.model.state import FINAL, Reason, TaskState
from local_agent.store.database import Database
from local_agent.views.statistics import ApprovalWaits, DayOutcomes, StateTimes, WaitTimes

MAX_DAYS: Final = 90  # as long as events are kept
BOUNDS_S: Final = (10, 60, 300, 900, 3_600, 14_400, 86_400)
WAITING_STATES: Final = tuple(state for state in TaskState if state not in FINAL)

_DAY_MS: Final = 86_400_000
_EPOCH: Final = date(1970, 1, 1).toordinal()
_OUTCOMES: Final = """SELECT (created_at + ?) / 86400000 AS day, reason, count(*) FROM tasks
  WHERE step IS NULL AND created_at >= ? AND created_at < ? GROUP BY day, reason"""
_STATES: Final = """SELECT tasks.task_id, tasks.created_at, events.at,
  json_extract(events.body, '$.state') FROM tasks JOIN events USING (task_id)
  WHERE tasks.step IS NULL AND tasks.created_at >= ? AND tasks.created_at < ?
  AND json_extract(events.body, '$.type') = 'task_state'
  ORDER BY tasks.created_at, tasks.task_id, events.seq"""
# What was approved and expired before it began has a decision; what nobody decided has none.
_WAITS: Final = """SELECT state, created_at, expires_at, decided_at FROM approvals
  WHERE created_at >= ? AND created_at < ? AND (decided_at IS NOT NULL OR state = 'expired')"""

Decision = Literal["approved", "rejected", "expired"]


@dataclass(frozen=True, slots=True)
class Days:
    """Some days in a row, as whoever looks counts them.

    Attributes:
        first: The first, counted from 1970-01-01.
        count: How many.
        offset_ms: How far their clock is ahead of UTC.
    """

    first: int
    count: int
    offset_ms: int

    @classmethod
    def until(cls, now_ms: int, *, days: int, utc_offset_minutes: int) -> Days:
        """Return the last days, of which this is the last.

        Args:
            now_ms: Milliseconds since the epoch.
            days: How many, from 1 to `MAX_DAYS`.
            utc_offset_minutes: How far the clock of whoever looks is ahead of UTC: 480 in China.
                It is taken for all of the days, also where the clocks were changed meanwhile.

        Raises:
            ValueError: there are more days than events are kept, or none.
        """
        if not 1 <= days <= MAX_DAYS:
            raise ValueError(days)
        offset_ms = utc_offset_minutes * 60_000
        return cls((now_ms + offset_ms) // _DAY_MS - days + 1, days, offset_ms)

    @property
    def since_ms(self) -> int:
        """When the first began, in milliseconds since the epoch."""
        return self.first * _DAY_MS - self.offset_ms

    @property
    def until_ms(self) -> int:
        """When the last one ends."""
        return self.since_ms + self.count * _DAY_MS

    @property
    def names(self) -> tuple[str, ...]:
        """Their names, oldest first."""
        return tuple(map(name_of_day, range(self.first, self.first + self.count)))

    def each(self) -> Iterator[Days]:
        """Give them one by one, for what is better not read at once."""
        for number in range(self.first, self.first + self.count):
            yield Days(number, 1, self.offset_ms)


def name_of_day(number: int) -> str:
    """Return the name of a day that is counted from 1970-01-01."""
    return date.fromordinal(_EPOCH + number).isoformat()


class Statistics:
    """Counts what is in the journal."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def outcomes(self, days: Days) -> tuple[DayOutcomes, ...]:
        """Return how the tasks ended that were asked on each of these days."""
        rows = self._db.all(_OUTCOMES, days.offset_ms, days.since_ms, days.until_ms)
        counts = {(int(day), reason): int(count) for day, reason, count in rows}
        return tuple(
            DayOutcomes(
                day=name_of_day(day),
                open=counts.get((day, None), 0),
                **{reason.value: counts.get((day, reason.value), 0) for reason in Reason},
            )
            for day in range(days.first, days.first + days.count)
        )

    def times_in_states(self, days: Days) -> Mapping[str, Sequence[int]]:
        """Return how long each task that was asked then was in each state that it has left."""
        times: dict[str, list[int]] = defaultdict(list)
        current, state, since = "", "", 0
        for task_id, created_at, at, entered in self._db.all(_STATES, days.since_ms, days.until_ms):
            if task_id != current:
                current, state, since = task_id, TaskState.RECEIVED.value, created_at
            if entered != state:  # else it was told of once more
                times[state].append(max(at - since, 0))
                state, since = entered, at
        return times

    def waits(self, days: Days) -> ApprovalWaits:
        """Return how long the approvals waited that were asked for then and are decided."""
        times: dict[Decision, list[int]] = {"approved": [], "rejected": [], "expired": []}
        for state, created_at, expires_at, decided_at in self._db.all(
            _WAITS, days.since_ms, days.until_ms
        ):
            ended = expires_at if decided_at is None else decided_at
            times[_decision(state, decided_at)].append(max(ended - created_at, 0))
        return ApprovalWaits(
            bounds_s=BOUNDS_S, **{name: _wait_times(found) for name, found in times.items()}
        )


def state_times(parts: Iterable[Mapping[str, Sequence[int]]]) -> tuple[StateTimes, ...]:
    """Return what `Statistics.times_in_states` gave, of one or several days, for each state."""
    times: dict[str, list[int]] = defaultdict(list)
    for part in parts:
        for state, found in part.items():
            times[state] += found
    return tuple(_state_times(state, sorted(times[state.value])) for state in WAITING_STATES)


def _state_times(state: TaskState, times: Sequence[int]) -> StateTimes:
    return StateTimes(
        state=state.value,
        count=len(times),
        median_ms=_percentile(times, 50),
        p90_ms=_percentile(times, 90),
    )


def _wait_times(times: Sequence[int]) -> WaitTimes:
    bounds = [bound * 1_000 for bound in BOUNDS_S]
    counts = Counter(bisect_left(bounds, time) for time in times)
    return WaitTimes(
        counts=tuple(counts[place] for place in range(len(bounds) + 1)),
        count=len(times),
        median_ms=_percentile(sorted(times), 50),
    )


def _decision(state: str, decided_at: int | None) -> Decision:
    if decided_at is None:
        return "expired"
    return "rejected" if state == "rejected" else "approved"


def _percentile(ordered: Sequence[int], percent: int) -> int | None:
    """Return the least value that so many of a hundred do not exceed."""
    return ordered[(len(ordered) * percent - 1) // 100] if ordered else None
