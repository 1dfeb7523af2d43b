"""What a task that has ended did to files, or pushed, and whether that can be undone."""

from __future__ import annotations

from collections.abc import Iterator

from common.terminal import table
from local_agent.cards.words import FROM, OPS
from local_agent.cli import change_words, words
from local_agent.cli.screen import Screen
from local_agent.faces.shown import on_one_line
from local_agent.safety.backups import KEPT_DAYS
from local_agent.views.task import Mixture, ShownTask, TaskView, WrittenFile


def changed_lines(screen: Screen, task: TaskView, *, most: int) -> Iterator[str]:
    """Give each file of a change or undo that was carried out, and how it is taken back.

    Args:
        screen: Where they will stand.
        task: What was asked.
        most: How many files are named; the others are counted.
    """
    change = task.change
    if not change or task.reason != "completed":
        return
    files = change.files
    for line in table([_row(file, screen) for file in files[:most]]):
        yield f"  {line}"
    if (rest := len(files) - most) > 0:
        yield f"  {screen.say(words.FILES_MORE_HERE, count=rest, task=task.short_id)}"
    yield _how_to_undo(screen, task, len(files))


def mixed_lines(screen: Screen, task: TaskView) -> Iterator[str]:
    """Give each file of a change that was cut off and then edited, by what it is now."""
    mixture = (task.change and task.change.mixture) or Mixture()
    for paths, label in (
        (mixture.new, change_words.STANDING["new"]),
        (mixture.old, change_words.STANDING["old"]),
        (mixture.foreign, change_words.STANDING["foreign"]),
        (mixture.beside, change_words.STANDING["beside"]),
    ):
        for line in table([(screen.say(label), on_one_line(path)) for path in paths]):
            yield f"  {line}"


def _how_to_undo(screen: Screen, task: TaskView, count: int) -> str:
    # A task that has only just ended is told without it: all of it is left.
    paths = task.left_to_undo if isinstance(task, ShownTask) else None
    left = count if paths is None else len(paths)
    if not left:
        return screen.say(change_words.TAKEN_BACK)
    facts = {"task": task.short_id, "days": KEPT_DAYS}
    if left < count:
        return screen.say(change_words.CAN_UNDO_REST, left=left, count=count, **facts)
    return screen.say(change_words.CAN_UNDO, **facts)


def _row(file: WrittenFile, screen: Screen) -> tuple[str, str]:
    name = on_one_line(file.path)
    if file.op in ("rename", "copy"):
        name += f"  {screen.say(FROM, path=on_one_line(file.old_path or ''))}"
    return screen.say(OPS[file.op]), name
