"""How a task ended, on this terminal and in its language: words, last lines, changed files (R46).

The words come in both languages from the agent, the rest as facts.  Whatever others wrote, the
command's output and the names of its files included, is shown with nothing hidden (R26).

Found lines and changed files stay as they are, ``path:line: text``, for a program that reads them.
On a terminal each file is named once, above its lines, and counts stand below one another.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Final

from common.sentences import LANGS, Sentence, say
from common.terminal import cells, fold, on_one_line, pad, table
from common.text import reveal
from local_agent.cards.words import FROM, OPS
from local_agent.cli import words
from local_agent.cli.screen import Screen
from local_agent.propose import words as propose_words

if TYPE_CHECKING:
    from local_agent.views.task import Run, TaskView, TouchedFile, TouchedFiles, WrittenFile

COMMA: Final = Sentence(en=", ", zh="，")
NO_OUTPUT: Final = Sentence(en="It printed nothing.", zh="没有输出。")
OUTPUT_WHOLE: Final = Sentence(
    en="its whole output: codexbridge show {task} --log",
    zh="完整输出：codexbridge show {task} --log",
)
OUTPUT_BEFORE: Final = Sentence(
    en="… {size} before this; codexbridge show {task} --log",
    zh="…… 前面还有 {size}；codexbridge show {task} --log",
)
OUTPUT_NOT_KEPT: Final = Sentence(
    en="… {size} before this, which could not be kept", zh="…… 前面还有 {size}，未能保存"
)
FILES_NONE: Final = Sentence(
    en="No file in the workspace changed while it ran.", zh="运行期间工作区中没有文件变化。"
)
FILES: Final = Sentence(
    en="{count} {count:file|files} in the workspace changed while it ran: {parts}",
    zh="运行期间工作区中有 {count} 个文件变化：{parts}",
)
FILES_OF_KIND: Final = Sentence(en="{count} {kind}", zh="{kind} {count}")
FILE_IS: Final = {
    "new": Sentence(en="new", zh="新增"),
    "changed": Sentence(en="changed", zh="修改"),
    "deleted": Sentence(en="deleted", zh="删除"),
}
FILE_LINK: Final = Sentence(en="symbolic link", zh="符号链接")
FILE_SURFACE: Final = Sentence(
    en="other programs run or obey it, or it lends its owner's rights",
    zh="其他程序会运行它或读取其指令，或它会让人以其所有者的权限运行",
)
FILES_MORE_HERE: Final = Sentence(
    en="… and {count} more: codexbridge show {task}",
    zh="…… 另有 {count} 个：codexbridge show {task}",
)
FILES_INCOMPLETE: Final = Sentence(
    en="The workspace has too many files to compare them all; more may have changed.",
    zh="工作区文件过多，未能全部比较；可能还有其他变化。",
)
FILES_ELSEWHERE: Final = Sentence(
    en="It ran without a sandbox: what it changed outside the workspace is not listed.",
    zh="它运行时未隔离：工作区之外的改动没有列出。",
)
STANDING: Final = {
    "new": Sentence(en="as changed", zh="已改动"),
    "old": Sentence(en="as before", zh="原样"),
    "foreign": Sentence(en="by somebody else", zh="他人写入"),
    "beside": Sentence(en="temporary file", zh="临时文件"),
}
IN_COPY: Final = Sentence(
    en="Only in the copy of a dry run; the workspace was not changed.",
    zh="仅限试运行的副本，工作区没有改动。",
)
CAN_UNDO: Final = Sentence(
    en="Can be undone for {days} days: codexbridge undo {task}",
    zh="{days} 天内可以撤销：codexbridge undo {task}",
)
CAN_UNDO_REST: Final = Sentence(
    en="{left} of {count} files can still be undone for {days} days: codexbridge undo {task}",
    zh="{count} 个文件中还有 {left} 个可在 {days} 天内撤销：codexbridge undo {task}",
)
TAKEN_BACK: Final = Sentence(
    en="Taken back since; there is nothing left of it to undo.",
    zh="之后已全部撤销，没有剩余内容可以撤销。",
)

FEW: Final = 20  # names after a run; `codexbridge show` has all that are kept
LAST_LINES: Final = 6  # of the output after a run
_HIT: Final = re.compile(r"(?P<path>[^\s:][^:]{0,1023}):(?P<line>\d{1,9}): (?P<text>.*)")
_COUNTED: Final = re.compile(
    r"(?P<sign>[AMDR?·]) (?P<path>.{1,1100}) (?:\+(?P<added>\d{1,9}) −(?P<removed>\d{1,9})"
    rf"|(?P<other>{'|'.join(re.escape(say(propose_words.NOT_COUNTED, lang)) for lang in LANGS)}))"
)
_STYLES: Final = {"A": "green", "D": "red", "?": "green"}
_NARROWEST: Final = 20  # cells for a text, however narrow the terminal is


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
        yield screen.say(NO_OUTPUT)
        return
    lines = reveal(output.tail).split("\n")
    if most is not None and _is_read(run):
        if output.log_sha256:
            yield screen.ink("dim", screen.say(OUTPUT_WHOLE, task=task.short_id))
        return
    shown = lines if most is None else lines[-most:]
    left_out = sum(len(line.encode()) + 1 for line in lines[: len(lines) - len(shown)])
    if before := output.before + left_out:
        from local_agent.words import render_size

        kept = OUTPUT_BEFORE if output.log_sha256 else OUTPUT_NOT_KEPT
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
    rows = [(f"  {screen.say(FILE_IS[file.change])}", on_one_line(file.path)) for file in shown]
    for line, file in zip(table(rows), shown, strict=True):
        yield line + _marks(screen, file)
    if rest := total - len(shown):
        more = FILES_MORE_HERE if len(shown) < len(files.listed) else words.FILES_MORE
        yield f"  {screen.say(more, count=rest, task=task.short_id)}"
    if files.incomplete:
        yield screen.ink("red", screen.say(FILES_INCOMPLETE))
    if run.sandbox == "none":
        yield screen.ink("red", screen.say(FILES_ELSEWHERE))


def _count(screen: Screen, files: TouchedFiles, total: int) -> str:
    if not total:
        return screen.say(FILES_NONE)
    counts = {"new": files.new, "changed": files.changed, "deleted": files.deleted}
    counted = [
        screen.say(FILES_OF_KIND, count=count, kind=screen.say(FILE_IS[kind]))
        for kind, count in counts.items()
        if count
    ]
    parts = screen.say(COMMA).join(counted)
    return screen.say(FILES, count=total, parts=parts)


def _marks(screen: Screen, file: TouchedFile) -> str:
    marks = []
    if file.link:
        marks.append(screen.say(FILE_LINK))
    if file.surface:
        marks.append(screen.say(FILE_SURFACE))
    return screen.ink("red", "  ← " + screen.say(COMMA).join(marks)) if marks else ""


def changed_lines(screen: Screen, task: TaskView, *, most: int) -> Iterator[str]:
    """Give each file of what was changed or taken back, and how that is taken back.

    Of several steps some may have been carried out before one failed.

    Args:
        screen: Where they will stand.
        task: What was asked.
        most: How many files are named; the others are counted.
    """
    change = task.ended.change
    if not change or not (task.reason == "completed" or _is_left(task)):
        return
    files = change.files
    for line in table([_row(file, screen) for file in files[:most]]):
        yield f"  {line}"
    if (rest := len(files) - most) > 0:
        yield f"  {screen.say(FILES_MORE_HERE, count=rest, task=task.short_id)}"
    yield _how_to_undo(screen, task, len(files))


def mixed_lines(screen: Screen, task: TaskView) -> Iterator[str]:
    """Give each file of a change that was cut off and then edited, by what it is now."""
    change = task.ended.change
    mixture = change.mixture if change else None
    if mixture is None:
        return
    for paths, label in (
        (mixture.new, STANDING["new"]),
        (mixture.old, STANDING["old"]),
        (mixture.foreign, STANDING["foreign"]),
        (mixture.beside, STANDING["beside"]),
    ):
        for line in table([(screen.say(label), on_one_line(path)) for path in paths]):
            yield f"  {line}"


def _how_to_undo(screen: Screen, task: TaskView, count: int) -> str:
    from local_agent.safety.backups import KEPT_DAYS
    from local_agent.views.task import ShownTask
    from local_agent.workspace.registry import is_copy

    if is_copy(task.workspace):
        return screen.say(IN_COPY)
    # A task that has only just ended is told without it: all of it is left.
    paths = task.left_to_undo if isinstance(task, ShownTask) else None
    left = count if paths is None else len(paths)
    if not left:
        return screen.say(TAKEN_BACK)
    facts = {"task": task.short_id, "days": KEPT_DAYS}
    if left < count:
        return screen.say(CAN_UNDO_REST, left=left, count=count, **facts)
    return screen.say(CAN_UNDO, **facts)


def _is_left(task: TaskView) -> bool:
    """Tell whether something was carried out, though not all of it."""
    from local_agent.views.task import ShownTask

    return isinstance(task, ShownTask) and task.left_to_undo is not None


def _row(file: WrittenFile, screen: Screen) -> tuple[str, str]:
    name = on_one_line(file.path)
    if file.op in ("rename", "copy"):
        name += f"  {screen.say(FROM, path=on_one_line(file.old_path or ''))}"
    return screen.say(OPS[file.op]), name


def laid_out(screen: Screen, lines: Iterable[str]) -> Iterator[str]:
    """Give the lines of an answer as this screen shows them."""
    if not screen.live:
        yield from lines
        return
    for shape, group in groupby(lines, _shape):
        match shape:
            case "hit":
                yield from _hits(screen, group)
            case "changed":
                yield from _counted(screen, list(group))
            case _:
                yield from group


def _shape(line: str) -> str:
    if _HIT.fullmatch(line):
        return "hit"
    return "changed" if _COUNTED.fullmatch(line) else ""


def _hits(screen: Screen, lines: Iterable[str]) -> Iterator[str]:
    found = [match for line in lines if (match := _HIT.fullmatch(line))]
    width = max(len(match["line"]) for match in found)
    for path, group in groupby(found, lambda match: match["path"]):
        yield screen.ink("bold", path)
        for match in group:
            head = f"  {match['line']:>{width}}  "
            first, *rest = fold(match["text"], max(screen.width - len(head), _NARROWEST))
            yield screen.ink("dim", head) + first
            yield from (" " * len(head) + piece for piece in rest)


def _counted(screen: Screen, lines: Iterable[str]) -> Iterator[str]:
    found = [match for line in lines if (match := _COUNTED.fullmatch(line))]
    added, removed = (
        max(len(match[name] or "") for match in found) + 1 for name in ("added", "removed")
    )
    room = max(screen.width - added - removed - 6, _NARROWEST)
    widest = min(max(cells(match["path"]) for match in found), room)
    for match in found:
        *before, path = fold(match["path"], room)
        sign = screen.ink(_STYLES.get(match["sign"], "bold"), match["sign"])
        yield from (f"  {sign} {piece}" for piece in before)
        yield f"  {sign} {pad(path, widest)} {_amount(screen, match, added, removed)}"


def _amount(screen: Screen, match: re.Match[str], added: int, removed: int) -> str:
    if match["other"]:
        return screen.ink("dim", match["other"])
    plus, minus = f"+{match['added']}", f"−{match['removed']}"
    return f"{screen.ink('green', f'{plus:>{added}}')} {screen.ink('red', f'{minus:>{removed}}')}"
