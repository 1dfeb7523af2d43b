"""What came of a command: in words for the chat and this machine, and as facts for this machine.

Pure.  Machine and task ID are not named here: the gateway puts them in front.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any, Final

from common.model.state import Reason
from common.redact import redact
from common.sentences import Lang, Sentence, say
from common.text import clip_bytes, one_line, reveal
from local_agent.actions.operation import CANCELLED, render_drift, render_names
from local_agent.actions.run_command.perform import Outcome, Progress
from local_agent.reports import words as report_words
from local_agent.views.task import DOUBT
from local_agent.words import render_duration
from local_agent.workspace.manifest import Differences

CANCELLED_RUNNING = Sentence(
    en="`{command}` was stopped after {duration}. What it had done by then stays.",
    zh="`{command}` 运行 {duration}后已停止；此前完成的操作不会撤回。",
)
UNKNOWN = Sentence(
    en="`{command}` was approved and may have run, wholly or in part. It is not run again by "
    "itself: check at the machine first.",
    zh="`{command}` 已获批准，可能已全部或部分运行。不会自动重新运行：请先在开发机上检查。",
)
RAN_OK = Sentence(en="`{command}` succeeded ({duration})", zh="`{command}` 成功（{duration}）")
RAN_BADLY = Sentence(
    en="`{command}` failed with exit code {exit_code} ({duration})",
    zh="`{command}` 失败，退出码 {exit_code}（{duration}）",
)
KILLED = Sentence(
    en="`{command}` was ended by {signal} after {duration}",
    zh="`{command}` 运行 {duration}后因信号 {signal} 终止",
)
# Of what a command, or it and all that it started, took more than it may.
EXCEEDED: Final[dict[str, Sentence]] = {
    "command.timeout": Sentence(
        en="`{command}` reached its time limit and was stopped after {duration}. Ask for a smaller "
        "part of it, or run it at the machine.",
        zh="`{command}` 超时，运行 {duration}后已停止。请缩小范围，或在开发机上运行。",
    ),
    "command.too-many-processes": Sentence(
        en="`{command}` started too many processes and was stopped after {duration}. Run fewer at "
        "once.",
        zh="`{command}` 启动的进程过多，运行 {duration}后已停止。请减少并行数量。",
    ),
    "command.too-much-memory": Sentence(
        en="`{command}` used too much memory and was stopped after {duration}. Run a smaller part "
        "of it.",
        zh="`{command}` 占用内存过多，运行 {duration}后已停止。请缩小运行范围。",
    ),
    "command.disk-full": Sentence(
        en="`{command}` was stopped after {duration}, before the disk was full. Make room, then "
        "ask again.",
        zh="`{command}` 运行 {duration}后已停止，以免写满磁盘。请腾出空间后重新提出。",
    ),
}
NOT_STARTED: Final[dict[str, Sentence]] = {
    "command.cannot-start": Sentence(
        en="`{command}` could not be started: the system refused its program, or what the first "
        "line of a script names. Check at the machine that it can run there.",
        zh="`{command}` 无法启动：系统拒绝运行该程序，或脚本首行指定的解释器。"
        "请在开发机上确认它能够运行。",
    ),
    "command.sandbox-failed": Sentence(
        en="The sandbox could not be set up, so `{command}` did not run. See at the machine: "
        "codexbridge status",
        zh="无法建立沙箱，`{command}` 没有运行。请在开发机上查看：codexbridge status",
    ),
}
NO_OUTPUT = Sentence(en="It printed nothing.", zh="没有输出。")
RUNNING = Sentence(
    en="still running · {duration} · {lines} {lines:line|lines}",
    zh="仍在运行 · {duration} · {lines} 行",
)
SURVIVORS = Sentence(
    en="{count} {count:process|processes} it started could not be ended; look at the machine.",
    zh="它启动的 {count} 个进程无法终止；请查看开发机。",
)
RIGHTS_TAKEN = Sentence(
    en="It gave others rights to {count} {count:file|files} (access lists or capabilities); they "
    "were taken back: {paths}",
    zh="它给 {count} 个文件加了访问控制列表或特权，已收回：{paths}",
)


CHAT_LINES: Final = 7
COMMAND_BYTES: Final = 200
_RIGHTS_NAMED: Final = 3
_FACT_COMMAND_BYTES: Final = 400
_FACT_NAME_BYTES: Final = 300  # of each file's path: 200 of them must fit into one answer
_CHANGES: Final = {"+": "new", "-": "deleted", "~": "changed"}


def render_outcome(outcome: Outcome, command: str, lang: Lang) -> str:
    """Return what came of a command, short enough for a phone: the verdict first.

    What a runner reported is told by its counts and first failures; the raw last lines only where
    no report tells why.
    """
    lines = [*_verdict(outcome, command, lang, most=report_words.CHAT_FAILURES)]
    is_told = outcome.report is not None and report_words.tells_why(outcome.report)
    if started(outcome) and not is_told:
        room = max(CHAT_LINES - len(lines), 1)
        last = "\n".join(outcome.brief.split("\n")[-room:])
        lines.append(last or ("" if outcome.tail else say(NO_OUTPUT, lang)))
    return "\n".join(filter(None, lines))


def render_ending(outcome: Outcome, command: str, lang: Lang) -> str:
    """Return how a command ended and what it reported, without its output."""
    return "\n".join(_verdict(outcome, command, lang, most=report_words.HERE_FAILURES))


def started(outcome: Outcome) -> bool:
    """Tell whether the command began, so that there may be output of it."""
    return not (
        outcome.code in NOT_STARTED or outcome.reason is Reason.DRIFTED or _never_began(outcome)
    )


def render_progress(progress: Progress, lang: Lang) -> str:
    """Return where a running command stands."""
    duration = render_duration(progress.elapsed_s * 1000, lang)
    return say(RUNNING, lang, duration=duration, lines=progress.lines)


def render_interruption(command: str | None, lang: Lang) -> str:
    """Return that nobody knows how it ended."""
    shown = one_line(redact(command or "?"), COMMAND_BYTES)
    return say(UNKNOWN, lang, command=shown)


def run_facts(outcome: Outcome, command: str, *, sandbox: str) -> dict[str, Any]:
    """Return how a command ended, what it reported, its last lines, and the changed files (R46).

    Args:
        outcome: From the executor.
        command: On one line, as people know it.
        sandbox: Level it ran at; ``none`` means that it could change more than is listed.
    """
    return {
        "command": one_line(command, _FACT_COMMAND_BYTES),
        "sandbox": sandbox,
        "started": started(outcome),
        "code": outcome.code,
        "exit_code": outcome.exit_code,
        "signal": outcome.signal,
        "duration_ms": outcome.duration_ms,
        "survivors": outcome.survivors,
        "drift": list(outcome.drift),
        "report": report_words.to_facts(outcome.report) if outcome.report else None,
        "output": {
            "lines": outcome.lines,
            "tail": outcome.tail,
            "before": outcome.output_before,
            "log_sha256": outcome.log_sha256,
        },
        "files": _file_facts(outcome.differences) if outcome.differences else None,
    }


def _verdict(outcome: Outcome, command: str, lang: Lang, *, most: int) -> Iterator[str]:
    """Give the lines that tell how a command ended; the first stands for itself."""
    if outcome.reason is Reason.DRIFTED:
        yield render_drift(outcome.drift, lang)
    elif _never_began(outcome):
        yield say(CANCELLED, lang)
    elif outcome.report is not None:
        said = report_words.verdict(outcome.report, lang, duration_ms=outcome.duration_ms)
        yield DOUBT + said if outcome.report.exit_code == 0 else said
        yield from report_words.failure_lines(outcome.report, lang, most=most)
    else:
        yield say(
            _ending(outcome),
            lang,
            command=one_line(redact(command), COMMAND_BYTES),
            duration=render_duration(outcome.duration_ms, lang),
            exit_code=_exit_code(outcome.exit_code or 0),
            signal=_signal(outcome.signal),
        )
    if outcome.survivors:
        yield say(SURVIVORS, lang, count=outcome.survivors)
    if outcome.differences and (paths := outcome.differences.rights):
        named = render_names(paths[:_RIGHTS_NAMED], lang)
        yield say(RIGHTS_TAKEN, lang, count=len(paths), paths=named)


def _exit_code(code: int) -> str:
    """Return the code, with the signal that a shell means by it."""
    name = _signal(code - 128) if code > 128 else ""
    return f"{code} ({name})" if name.startswith("SIG") else str(code)


def _signal(number: int | None) -> str:
    known = {int(one): one.name for one in signal.Signals}
    return known.get(number or 0, str(number))


def _never_began(outcome: Outcome) -> bool:
    cancelled = outcome.reason is Reason.CANCELLED
    return cancelled and outcome.exit_code is None and not outcome.signal


def _ending(outcome: Outcome) -> Sentence:
    if outcome.reason is Reason.CANCELLED:
        return CANCELLED_RUNNING
    for table in (NOT_STARTED, EXCEEDED):
        if outcome.code in table:
            return table[outcome.code]
    if outcome.signal:
        return KILLED
    return RAN_OK if outcome.exit_code == 0 else RAN_BADLY


def _file_facts(found: Differences) -> dict[str, Any]:
    links, surfaces = set(found.links), set(found.surfaces)
    return {
        "new": found.added,
        "changed": found.changed,
        "deleted": found.removed,
        "incomplete": found.incomplete,
        "rights_taken": [clip_bytes(reveal(path), _FACT_NAME_BYTES) for path in found.rights],
        "listed": [
            {
                "path": clip_bytes(reveal(name[2:]), _FACT_NAME_BYTES),
                "change": _CHANGES[name[0]],
                "link": name[2:] in links,
                "surface": name[2:] in surfaces,
            }
            for name in found.names
        ],
    }
