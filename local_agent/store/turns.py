"""What models have used: one row for each turn, written when it begins and filled in at its end.

So that a turn which a kill cuts off is in the account, too: what it used is then not known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from local_agent.store.database import Database

OK: Final = "ok"
BEGUN: Final = "begun"
CUT_OFF: Final = "cut-off"
CANCELLED: Final = "cancelled"
_NO_FAILURES: Final = (OK, BEGUN, CUT_OFF, CANCELLED)  # nothing that the model did
_USED_BY_DAY: Final = """SELECT (at + ?) / 86400000 AS day, model, count(*),
  sum(outcome NOT IN (?, ?, ?, ?)), sum(input_tokens), sum(output_tokens) FROM turns
  WHERE at >= ? AND at < ? GROUP BY day, model ORDER BY day, model"""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTurn:
    """One turn of a model.

    Attributes:
        model: What the person calls it in the settings.
        at: When it ended, or began where its end is not known; in milliseconds since the epoch.
        calls: Requests that were made of the provider.
        outcome: ``ok``, ``begun``, ``cut-off``, ``cancelled``, or the code of what went wrong.
    """

    task_id: str
    model: str
    at: int
    duration_ms: int
    input_tokens: int
    output_tokens: int
    calls: int
    outcome: str


@dataclass(frozen=True, slots=True)
class Used:
    """What one model has used since a moment."""

    model: str
    turns: int
    failed: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The last turn of one model that gave nothing.

    Attributes:
        at: In milliseconds since the epoch.
        outcome: The code of what went wrong.
    """

    model: str
    at: int
    outcome: str


class Turns:
    """The account of all turns.

    Args:
        db: Opened by nobody else: a turn that has no end by now was cut off.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._db.run("UPDATE turns SET outcome = ? WHERE outcome = ?", CUT_OFF, BEGUN)

    def begin(self, turn: StoredTurn) -> int:
        """Write a turn and return its number, for its end."""
        with self._db.transaction():  # whole, with the reading of its number
            ((number,),) = self._db.all(
                "INSERT INTO turns (task_id, model, at, duration_ms, input_tokens, output_tokens,"
                " calls, outcome) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING turn",
                turn.task_id,
                turn.model,
                *_measured(turn),
            )
        return int(number)

    def end(self, number: int, turn: StoredTurn) -> None:
        """Write how a turn ended and what it used."""
        self._db.run(
            "UPDATE turns SET at = ?, duration_ms = ?, input_tokens = ?, output_tokens = ?,"
            " calls = ?, outcome = ? WHERE turn = ?",
            *_measured(turn),
            number,
        )

    def of_task(self, task_id: str) -> Sequence[StoredTurn]:
        """Return the turns of a task, oldest first."""
        rows = self._db.all(
            "SELECT task_id, model, at, duration_ms, input_tokens, output_tokens, calls, outcome"
            " FROM turns WHERE task_id = ? ORDER BY turn",
            task_id,
        )
        return [_turn(row) for row in rows]

    def used_since(self, at_ms: int) -> Sequence[Used]:
        """Return what each model has used since then, by name."""
        rows = self._db.all(
            "SELECT model, count(*), sum(outcome NOT IN (?, ?, ?, ?)), sum(input_tokens),"
            " sum(output_tokens) FROM turns WHERE at >= ? GROUP BY model ORDER BY model",
            *_NO_FAILURES,
            at_ms,
        )
        return [Used(str(row[0]), *map(int, row[1:])) for row in rows]

    def used_by_day(
        self, since_ms: int, *, until_ms: int, offset_ms: int
    ) -> Sequence[tuple[int, Used]]:
        """Return what each model has used on each day, by day and name.

        Args:
            since_ms: When the first day began, in milliseconds since the epoch.
            until_ms: When the last one ends.
            offset_ms: How far the clock by which days are counted is ahead of UTC; the days come as
                numbers, counted from 1970-01-01.
        """
        rows = self._db.all(_USED_BY_DAY, offset_ms, *_NO_FAILURES, since_ms, until_ms)
        return [(int(row[0]), Used(str(row[1]), *map(int, row[2:]))) for row in rows]

    def failed_since(self, at_ms: int) -> Sequence[Failed]:
        """Return the last failure of each model since then, by name."""
        rows = self._db.all(
            "SELECT model, at, outcome FROM turns WHERE turn IN (SELECT max(turn) FROM turns"
            " WHERE outcome NOT IN (?, ?, ?, ?) AND at >= ? GROUP BY model) ORDER BY model",
            *_NO_FAILURES,
            at_ms,
        )
        return [Failed(str(model), int(at), str(outcome)) for model, at, outcome in rows]


def _measured(turn: StoredTurn) -> tuple[int | str, ...]:
    used = (turn.duration_ms, turn.input_tokens, turn.output_tokens, turn.calls)
    return (turn.at, *used, turn.outcome)


def _turn(row: tuple[Any, ...]) -> StoredTurn:
    task_id, model, at, duration_ms, input_tokens, output_tokens, calls, outcome = row
    return StoredTurn(
        task_id=task_id,
        model=model,
        at=at,
        duration_ms=duration_ms,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        calls=calls,
        outcome=outcome,
    )
