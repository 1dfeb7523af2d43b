"""How a task ended, on this terminal and in its language: words, last lines, changed files (R46).

The words come in both languages from the agent, the rest as facts.  Whatever others wrote, the
command's output and the names of its files included, is shown with nothing hidden (R26).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from common.terminal import exact, table
from common.text import reveal
from local_agent.cli import words
from local_agent.cli.listing import laid_out
from local_agent.cli.screen import Screen

FEW: Final = 20  # names after a run; `codexbridge show` has all that are kept
LAST_LINES: Final = 6  # of the output after a run
_KINDS: Final = ("new", "changed", "deleted")
_ENDLESS: Final = 1 << 30  # cells: the terminal itself breaks the line


def ending_lines(screen: Screen, task: Mapping[str, Any]) -> Iterator[str]:
    """Give what a person reads once the task that they followed has ended."""
    if task.get("answered") and task.get("details"):
        # The chat was told less of it.
        yield from laid_out(screen, reveal(task["details"]).split("\n"))
    else:
        for line in headline(screen, task):
            yield from screen.prose(line)
    yield from output_lines(screen, task, most=LAST_LINES)
    yield from file_lines(screen, task, most=FEW)
    if task.get("change"):
        from local_agent.cli.changed import changed_lines

        yield from changed_lines(screen, task, most=FEW)


def headline(screen: Screen, task: Mapping[str, Any]) -> list[str]:
    """Return how it ended in this terminal's language, or what the chat was told."""
    said = (task.get("said") or {}).get(screen.lang) or task["summary"] or ""
    lines = reveal(said).split("\n") if said else []
    # The chat gets some of the files as text; here all of them follow (`changed`).
    return lines[:1] if task.get("change") and task["reason"] == "completed" else lines


def output_lines(
    screen: Screen, task: Mapping[str, Any], *, most: int | None = None
) -> Iterator[str]:
    """Give the last lines that a command printed, and how to see those before.

    Args:
        most: How many lines; none of them where a report tells what they say.  None: all kept.
    """
    run = task.get("run")
    if not run or not run["started"]:
        return
    output = run["output"]
    if not output["tail"] and not output["before"]:
        yield screen.say(words.NO_OUTPUT)
        return
    lines = reveal(output["tail"]).split("\n")
    if most is not None and _is_read(run):
        if output["log_sha256"]:
            yield screen.ink("dim", screen.say(words.OUTPUT_WHOLE, task=task["short_id"]))
        return
    shown = lines if most is None else lines[-most:]
    left_out = sum(len(line.encode()) + 1 for line in lines[: len(lines) - len(shown)])
    if before := output["before"] + left_out:
        from local_agent.replies import render_size

        kept = words.OUTPUT_BEFORE if output["log_sha256"] else words.OUTPUT_NOT_KEPT
        size = render_size(before)
        yield screen.ink("dim", screen.say(kept, size=size, task=task["short_id"]))
    yield from (f"  {line}" for line in shown)


def _is_read(run: Mapping[str, Any]) -> bool:
    """Tell whether what a runner reported is in the words already."""
    if not run.get("report"):
        return False
    from local_agent.report_texts import from_facts, tells_why

    return tells_why(from_facts(run["report"]))


def file_lines(screen: Screen, task: Mapping[str, Any], *, most: int) -> Iterator[str]:
    """Give which files of the workspace changed while a command ran.

    Args:
        most: How many are named; the others are counted.
    """
    run = task.get("run")
    if not run or run["files"] is None:
        return
    files = run["files"]
    total = sum(files[kind] for kind in _KINDS)
    yield _count(screen, files, total)
    shown = files["listed"][:most]
    rows = [(f"  {screen.say(words.FILE_IS[file['change']])}", _name(file)) for file in shown]
    for line, file in zip(table(rows), shown, strict=True):
        yield line + _marks(screen, file)
    if rest := total - len(shown):
        more = words.FILES_MORE_HERE if len(shown) < len(files["listed"]) else words.FILES_MORE
        yield f"  {screen.say(more, count=rest, task=task['short_id'])}"
    if files["incomplete"]:
        yield screen.ink("red", screen.say(words.FILES_INCOMPLETE))
    if run["sandbox"] == "none":
        yield screen.ink("red", screen.say(words.FILES_ELSEWHERE))


def _count(screen: Screen, files: Mapping[str, Any], total: int) -> str:
    if not total:
        return screen.say(words.FILES_NONE)
    counted = [
        screen.say(words.FILES_OF_KIND, count=files[kind], kind=screen.say(words.FILE_IS[kind]))
        for kind in _KINDS
        if files[kind]
    ]
    parts = screen.say(words.COMMA).join(counted)
    return screen.say(words.FILES, count=total, parts=parts)


def _name(file: Mapping[str, Any]) -> str:
    return "".join(exact(file["path"], width=_ENDLESS))


def _marks(screen: Screen, file: Mapping[str, Any]) -> str:
    marks = []
    if file["link"]:
        marks.append(screen.say(words.FILE_LINK))
    if file["surface"]:
        marks.append(screen.say(words.FILE_SURFACE))
    return screen.ink("red", "  ← " + screen.say(words.COMMA).join(marks)) if marks else ""
