"""What the last days came to, with what models cost at the prices that are configured."""

from __future__ import annotations

import asyncio

from local_agent.faces.control.modelling import Models, model_use
from local_agent.store.journal import JournalThread
from local_agent.store.statistics import Days, name_of_day, state_times
from local_agent.views.statistics import ModelDay, StatisticsView


async def read_statistics(
    db: JournalThread, models: Models, *, now_ms: int, days: int, utc_offset_minutes: int
) -> StatisticsView:
    """Return the last days as a view.

    Args:
        db: The journal's thread; others get at it between the parts of this.
        models: What is configured, for the prices.
        now_ms: Milliseconds since the epoch.
        days: How many, from 1 to 90.
        utc_offset_minutes: How far the clock of whoever looks is ahead of UTC (a browser's
            ``getTimezoneOffset`` tells how far it is behind).

    Raises:
        ValueError: ``days`` is out of range.
    """
    span = Days.until(now_ms, days=days, utc_offset_minutes=utc_offset_minutes)
    configured = {one.name: one for one in await asyncio.to_thread(models.configured)}
    counted = db.journal.statistics
    used = await db.run(
        db.journal.turns.used_by_day,
        span.since_ms,
        until_ms=span.until_ms,
        offset_ms=span.offset_ms,
    )
    return StatisticsView(
        days=span.names,
        outcomes=await db.run(counted.outcomes, span),
        states=state_times([await db.run(counted.times_in_states, day) for day in span.each()]),
        approvals=await db.run(counted.waits, span),
        models=tuple(
            ModelDay(
                day=name_of_day(day),
                model=one.model,
                used=model_use(configured.get(one.model), one),
            )
            for day, one in used
        ),
    )
