"""How a task ended, on this terminal and in its language: words, last lines, changed files (R46).

The words come in both languages from the agent, the rest as facts.  Whatever others wrote, the
command's output and the names of its files included, is shown with nothing hidden (R26).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from common.terminal import on_one_line, table
from common.text import reveal
from local_agent.cards.words import FROM, OPS
from local_agent.cli import change_words, words
from local_agent.cli.listing import laid_out
from local_agent.cli.screen import Screen

if TYPE_CHECKING:
    from local_agent.views.task import Run, TaskView, TouchedFile, TouchedFiles, WrittenFile

FEW: Final = 20  # names after a run; `codexbridge show` has all that are kept
LAST_LINES: Final = 6  # of the output after a run


def ending_lines(screen: Screen, task: TaskView) -> Iterator[str]:
    """Give what a person reads once the task that they followed has ended."""
    if task.answered and task.details:
        # The chat was told less of it.
        yield from laid_out(screen, reveal(task.details).split("\n"))
    else:
        for line in headline(screen, task):
            yield from screen.prose(line)
    yield from output_lines(screen, task, most=LAST_LINES)
    yield from file_lines(screen, task, most=FEW)
    if task.ended.change:
        yield from changed_lines(screen, task, most=FEW)


def headline(screen: Screen, task: TaskView) -> list[str]:
    """Return how it ended in this terminal's language, or what the chat was told."""
    ended = task.ended
    said = (ended.said or {}).get(screen.lang) or task.summary or ""
    lines = reveal(said).split("\n") if said else []
    # The chat gets some of the files as text; here all of them follow (`changed`).
    return lines[:1] if ended.change and task.reason == "completed" else lines


def output_lines(screen: Screen, task: TaskView, *, most: int | None = None) -> Iterator[str]:
    """Give the last lines that a command printed, and how to see those before.

    Args:
        most: How many lines; none of them where a report tells what they say.  None: all kept.
    """
    run = task.ended.run
    if not run or not run.started:
        return
    output = run.output
    if not output.tail and not output.before:
        yield screen.say(words.NO_OUTPUT)
        return
    lines = reveal(output.tail).split("\n")
    if most is not None and _is_read(run):
        if output.log_sha256:
            yield screen.ink("dim", screen.say(words.OUTPUT_WHOLE, task=task.short_id))
        return
    shown = lines if most is None else lines[-most:]
    left_out = sum(len(line.encode()) + 1 for line in lines[: len(lines) - len(shown)])
    if before := output.before + left_out:
        from local_agent.words import render_size

        kept = words.OUTPUT_BEFORE if output.log_sha256 else words.OUTPUT_NOT_KEPT
        size = render_size(before)
        yield screen.ink("dim", screen.say(kept, size=size, task=task.short_id))
    yield from (f"  {line}" for line in shown)


def _is_read(run: Run) -> bool:
    """Tell whether what a runner reported is in the words already."""
    if not run.report:
        return False
    from local_agent.reports.words import from_facts, tells_why

    return tells_why(from_facts(run.report))


def file_lines(screen: Screen, task: TaskView, *, most: int) -> Iterator[str]:
    """Give which files of the workspace changed while a command ran.

    Args:
        most: How many are named; the others are counted.
    """
    run = task.ended.run
    if not run or run.files is None:
        return
    files = run.files
    total = files.new + files.changed + files.deleted
    yield _count(screen, files, total)
    shown = files.listed[:most]
    rows = [
        (f"  {screen.say(words.FILE_IS[file.change])}", on_one_line(file.path)) for file in shown
    ]
    for line, file in zip(table(rows), shown, strict=True):
        yield line + _marks(screen, file)
    if rest := total - len(shown):
        more = words.FILES_MORE_HERE if len(shown) < len(files.listed) else words.FILES_MORE
        yield f"  {screen.say(more, count=rest, task=task.short_id)}"
    if files.incomplete:
        yield screen.ink("red", screen.say(words.FILES_INCOMPLETE))
    if run.sandbox == "none":
        yield screen.ink("red", screen.say(words.FILES_ELSEWHERE))


def _count(screen: Screen, files: TouchedFiles, total: int) -> str:
    if not total:
        return screen.say(words.FILES_NONE)
    counts = {"new": files.new, "changed": files.changed, "deleted": files.deleted}
    counted = [
        screen.say(words.FILES_OF_KIND, count=count, kind=screen.say(words.FILE_IS[kind]))
        for kind, count in counts.items()
        if count
    ]
    parts = screen.say(words.COMMA).join(counted)
    return screen.say(words.FILES, count=total, parts=parts)


def _marks(screen: Screen, file: TouchedFile) -> str:
    marks = []
    if file.link:
        marks.append(screen.say(words.FILE_LINK))
    if file.surface:
        marks.append(screen.say(words.FILE_SURFACE))
    return screen.ink("red", "  ← " + screen.say(words.COMMA).join(marks)) if marks else ""


def changed_lines(screen: Screen, task: TaskView, *, most: int) -> Iterator[str]:
    """Give each file of a change or undo that was carried out, and how it is taken back.

    Args:
        screen: Where they will stand.
        task: What was asked.
        most: How many files are named; the others are counted.
    """
    change = task.ended.change
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
    change = task.ended.change
    mixture = change.mixture if change else None
    if mixture is None:
        return
    for paths, label in (
        (mixture.new, change_words.STANDING["new"]),
        (mixture.old, change_words.STANDING["old"]),
        (mixture.foreign, change_words.STANDING["foreign"]),
        (mixture.beside, change_words.STANDING["beside"]),
    ):
        for line in table([(screen.say(label), on_one_line(path)) for path in paths]):
            yield f"  {line}"


def _how_to_undo(screen: Screen, task: TaskView, count: int) -> str:
    from local_agent.safety.backups import KEPT_DAYS
    from local_agent.views.task import ShownTask

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
