"""What proposals must have left in an agent's journal: of versions, and of what the chat was told.

As in `tests.truth`, no function of the product is used.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def wrong_versions(tasks: Sequence[Row]) -> Iterator[str]:
    """Of a proposal and what was made of it anew one is applied at most, and one waits at most."""
    by_name = {task["short_id"]: task for task in tasks}
    for revised in {_result(task).get("revises") for task in tasks} - {None}:
        group = [task for task in tasks if _result(task).get("revises") == revised]
        if revised in by_name:
            group.append(by_name[revised])
        for standing, what in (("completed", "applied"), (None, "open")):
            found = [
                task["short_id"]
                for task in group
                if task["reason"] == standing and task["state"] in ("COMPLETED", "WAITING_APPROVAL")
            ]
            if len(found) > 1:
                yield f"{revised}: of its versions {', '.join(found)} are {what}"


def wrong_disclosures(
    tasks: Sequence[Row], charged: Sequence[Row], audit: Sequence[bytes]
) -> Iterator[str]:
    """What the chat was told of a workspace is charged once, audited, and that very text.

    Args:
        tasks: All of them.
        charged: The rows of what was read for whom.
        audit: The bodies of the entries.
    """
    by_id = {task["task_id"]: task for task in tasks}
    answered = _answered(audit)
    for row in charged:
        task = by_id[row["task_id"]]
        said = _said(task)
        name = f"{task['short_id']} ({task['text']!r})"
        entry = answered.get(row["task_id"])
        if said is None:
            continue
        if entry is None:
            yield f"{name}: its answer is in no audit log"
            continue
        if row["bytes"] != len(said.encode()) or entry["bytes"] != row["bytes"]:
            yield f"{name}: {row['bytes']} bytes are charged, {len(said.encode())} are told"
        if entry["answer_sha256"] != hashlib.sha256(said.encode()).hexdigest():
            yield f"{name}: something else is told than was audited"
        released = _result(task)["proposal"]["type"] == "release"
        if released and (task["summary"] == said) != (task["reason"] == "completed"):
            yield f"{name}: ended {task['reason']}, and told {task['summary']!r}"
    for task_id in answered.keys() - {row["task_id"] for row in charged}:
        yield f"{by_id[task_id]['short_id']}: it was told, and nobody is charged for it"


def _answered(audit: Sequence[bytes]) -> dict[str, Row]:
    """Return what the last entry says of each answer; an earlier one is of a turn that was lost."""
    entries = [json.loads(body) for body in audit]
    return {
        entry["facts"]["task_id"]: entry["facts"]
        for entry in entries
        if entry["event"] == "disclosure.answered"
    }


def _said(task: Row) -> str | None:
    """Return what is told of a proposal, at once or once it is released; None before there is one.

    A refused one tells why, which costs nothing.
    """
    result = _result(task)
    if not result or result.get("notDone"):
        return None
    found: str = (
        result["proposal"]["text"] if result["proposal"]["type"] == "release" else result["summary"]
    )
    return found


def _result(task: Row) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(task["proposal_json"] or "{}")
    return found
