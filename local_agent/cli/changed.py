"""What a task that has ended did to files, or pushed, and whether that can be undone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from common.terminal import exact, table
from local_agent.cards.words import FROM, OPS
from local_agent.cli import change_words, words
from local_agent.cli.screen import Screen
from local_agent.safety.backups import KEPT_DAYS

_ENDLESS: Final = 1 << 30  # cells: the terminal itself breaks the line


def changed_lines(screen: Screen, task: Mapping[str, Any], *, most: int) -> Iterator[str]:
    """Give each file of a change or undo that was carried out, and how it is taken back.

    Args:
        screen: Where they will stand.
        task: As the agent told it.
        most: How many files are named; the others are counted.
    """
    change = task.get("change")
    if not change or task["reason"] != "completed":
        return
    files = change["files"]
    for line in table([_row(file, screen) for file in files[:most]]):
        yield f"  {line}"
    if (rest := len(files) - most) > 0:
        yield f"  {screen.say(words.FILES_MORE_HERE, count=rest, task=task['short_id'])}"
    yield _how_to_undo(screen, task, len(files))


def mixed_lines(screen: Screen, task: Mapping[str, Any]) -> Iterator[str]:
    """Give each file of a change that was cut off and then edited, by what it is now."""
    mixture = (task.get("change") or {}).get("mixture") or {}
    for kind, label in change_words.STANDING.items():
        for line in table([(screen.say(label), _exact(path)) for path in mixture.get(kind, ())]):
            yield f"  {line}"


def _how_to_undo(screen: Screen, task: Mapping[str, Any], count: int) -> str:
    # A task that has only just ended is told without it: all of it is left.
    left = count if (paths := task.get("left_to_undo")) is None else len(paths)
    if not left:
        return screen.say(change_words.TAKEN_BACK)
    facts = {"task": task["short_id"], "days": KEPT_DAYS}
    if left < count:
        return screen.say(change_words.CAN_UNDO_REST, left=left, count=count, **facts)
    return screen.say(change_words.CAN_UNDO, **facts)


def _row(file: Mapping[str, Any], screen: Screen) -> tuple[str, str]:
    name = _exact(file["path"])
    if file["op"] in ("rename", "copy"):
        name += f"  {screen.say(FROM, path=_exact(file['old_path'] or ''))}"
    return screen.say(OPS[file["op"]]), name


def _exact(text: str) -> str:
    return "".join(exact(text, width=_ENDLESS))
